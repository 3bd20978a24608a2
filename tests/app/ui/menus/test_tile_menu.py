"""Every option of tiles is a choice in the window."""

from __future__ import annotations

import dataclasses

from raygrove.app.ui.menus.tile_menu import NUMBERS
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.glyphs.options import GlyphOptions


def test_each_option_is_chosen_from_the_menu_and_undone(scene_window: MainWindow) -> None:
    document = scene_window.document
    for name in [field.name for field in dataclasses.fields(GlyphOptions)]:
        menu, before = scene_window.commands.menus[f"tiles.{name}"], document.state.settings.tiles
        menu.refresh()
        offered, was = [action.data() for action in menu.actions()], getattr(before, name)
        assert str(was) in offered and len(offered) > 1, name
        value = next(value for value in reversed(offered) if value != str(was))
        menu.trigger(value)
        found = getattr(document.state.settings.tiles, name)
        assert str(found) == value and type(found) is type(was), name
        document.undo()
        assert document.state.settings.tiles == before, name


def test_the_grids_of_the_thesis_are_offered_and_the_page_opens(scene_window: MainWindow) -> None:
    assert NUMBERS["tiles"] == (32, 48, 64, 80, 96, 128, 160, 192, 224, 256)
    scene_window.commands.actions["tiles.options"].trigger()
    dialog = scene_window.opened_dialogs.settings
    assert dialog is not None and dialog.isVisible()
    dialog.close()


def test_the_grid_and_the_boxes_of_spheres_are_drawn_or_not(scene_window: MainWindow) -> None:
    document = scene_window.document
    for name in ("grid", "boxes"):
        action = scene_window.commands.actions[f"tiles.draw_{name}"]
        assert action.isCheckable() and not action.isChecked()
        action.trigger()
        assert action.isChecked() and getattr(document.state.settings.tile_marks, name)
        document.undo()
        assert not action.isChecked() and not document.state.settings.tile_marks.are_on
