"""Colours are chosen by eye: what the button shows, what the dialog gives, and what of it is undone by Cancel."""

from __future__ import annotations

import dataclasses
import typing
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QColorDialog, QScrollArea

from raygrove.app.document.scene_edit_commands import shown_fields
from raygrove.app.edits.scene_edits import EDITED
from raygrove.app.settings.settings import Settings, option_groups
from raygrove.app.ui.dialogs.settings_dialog import SettingsDialog
from raygrove.app.ui.widgets.color_edit import ColorEdit
from raygrove.app.ui.widgets.form import Editor, OptionForm
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.settings import fields_of, option
from tests.app.stand_ins import take_places

Color = tuple[float, float, float]
SIDEWAYS = Qt.Orientation.Horizontal
PLACES = {"start.position", "clip.normal", "light.position", "light.direction"}


@dataclasses.dataclass(frozen=True)
class Tinted:
    """A colour up to white, and one that may be brighter."""

    paint: Color = option((0.1, 0.2, 0.3), "Of the wall.", minimum=0.0, maximum=1.0, is_color=True)
    lamp: Color = option((1.0, 1.0, 1.0), "Of the lamp.", minimum=0.0, maximum=50.0, is_color=True)


@pytest.fixture
def form(qtbot: Any) -> OptionForm:
    made = OptionForm(fields_of(Tinted))
    qtbot.addWidget(made)
    made.set_values(Tinted())
    made.show()
    return made


def edit_of(form: OptionForm, name: str) -> ColorEdit:
    found = form.editors[name].input
    assert isinstance(found, ColorEdit)
    return found


def dialog_of(edit: ColorEdit, qtbot: Any) -> QColorDialog:
    """The colour dialog, opened by a click."""
    qtbot.mouseClick(edit.button, Qt.MouseButton.LeftButton)
    (dialog,) = (one for one in edit.findChildren(QColorDialog) if one.isVisible())
    return dialog


def test_a_linear_colour_is_shown_in_srgb_and_stays_exactly_what_it_is(form: OptionForm, qtbot: Any) -> None:
    """Linear 0.214 is the sRGB byte 127, not 54."""
    with qtbot.assertNotEmitted(form.changed):
        form.set_values(Tinted(paint=(0.2140411, 0.0, 1.0)))
    edit = edit_of(form, "paint")
    assert edit.value() == (0.2140411, 0.0, 1.0) and edit.button.text() == "#7f00ff"
    assert edit.button.icon().pixmap(22, 14).toImage().pixelColor(11, 7) == QColor("#7f00ff")
    assert edit.button.accessibleName() == "Paint" and edit.button.accessibleDescription() == "Of the wall."
    assert edit.strength.isHidden()


def test_the_dialog_gives_linear_colours_while_one_tries_them(form: OptionForm, qtbot: Any) -> None:
    edit, heard = edit_of(form, "paint"), []
    form.changed.connect(lambda name, value: heard.append((name, value)))
    dialog = dialog_of(edit, qtbot)
    assert dialog.currentColor().name() == edit.button.text() and not heard
    dialog.setCurrentColor(QColor("#ff7f00"))
    assert heard == [("paint", (1.0, pytest.approx(0.2122, abs=1e-4), 0.0))] and edit.button.text() == "#ff7f00"
    dialog.accept()
    assert len(heard) == 1 and edit.value() == heard[0][1]


def test_cancel_brings_the_colour_back_as_it_was(form: OptionForm, qtbot: Any) -> None:
    edit, heard = edit_of(form, "paint"), []
    dialog = dialog_of(edit, qtbot)
    dialog.setCurrentColor(QColor("#ff7f00"))
    form.changed.connect(lambda name, value: heard.append(value))
    dialog.reject()
    assert heard == [(0.1, 0.2, 0.3)] and edit.value() == (0.1, 0.2, 0.3)
    dialog_of(edit, qtbot).reject()
    assert len(heard) == 1, "nothing was tried, nothing is told"


def test_what_is_brighter_than_white_has_a_strength(form: OptionForm, qtbot: Any) -> None:
    form.set_values(Tinted(lamp=(4.0, 2.0, 0.0)))
    edit, heard = edit_of(form, "lamp"), []
    form.changed.connect(lambda name, value: heard.append(value))
    assert (edit.strength.value(), edit.button.text(), edit.strength.isVisible()) == (4.0, "#ffbc00", True)
    edit.strength.setValue(10.0)
    dialog = dialog_of(edit, qtbot)
    dialog.setCurrentColor(QColor("#7f7f7f"))
    dialog.accept()
    assert heard == [(10.0, 5.0, 0.0), pytest.approx((2.122, 2.122, 2.122), abs=1e-3)]
    form.set_values(Tinted(lamp=heard[1]))
    assert edit.strength.value() == 10.0 and edit.button.text() == "#7f7f7f", "what was chosen stays apart"


def test_a_strength_that_cannot_be_is_said(form: OptionForm, qtbot: Any) -> None:
    edit = edit_of(form, "lamp")
    edit.strength.setFocus()
    edit.strength.selectAll()
    qtbot.keyClicks(edit.strength, "900")
    qtbot.keyClick(edit.strength, Qt.Key.Key_Return)
    assert form.editors["lamp"].error.endswith("1, 1, 1 stays.") and edit.value() == (1.0, 1.0, 1.0)


def test_every_colour_of_the_program_is_chosen_by_eye(qtbot: Any, document: Any) -> None:
    """Three numbers are a colour, unless they are a place or a direction."""
    named = [*option_groups(Settings()), *((group, kind()) for group, kind in EDITED.items())]
    threes = {
        f"{table}.{field.name}": field.info.is_color
        for table, options in named
        if options is not None
        for field in fields_of(options)
        if typing.get_origin(field.type) is tuple
    }
    assert {name for name, is_color in threes.items() if not is_color} == PLACES and sum(threes.values()) > 8
    for group in EDITED:
        for field in shown_fields(group):
            editor = Editor(field)
            qtbot.addWidget(editor)
            assert isinstance(editor.input, ColorEdit) == field.info.is_color
    dialog = SettingsDialog(document)
    qtbot.addWidget(dialog)
    assert isinstance(dialog.pages["ray_type.flat"].form.editors["color"].input, ColorEdit)


def test_every_editor_of_a_narrow_panel_is_seen_whole(scene_window: MainWindow, qtbot: Any) -> None:
    panel = scene_window.inspectors.materials
    scene_window.commands.actions["view.dock.materials"].trigger()
    qtbot.waitUntil(panel.isVisible)
    (area,) = panel.findChildren(QScrollArea)
    for wide in (300, 240):
        scene_window.resizeDocks([one for one in scene_window.docks if one.isAncestorOf(panel)], [wide], SIDEWAYS)
        take_places()
        assert area.widget().minimumSizeHint().width() <= area.viewport().width() <= wide


def test_a_materials_colour_is_one_step_of_undo(scene_window: MainWindow, qtbot: Any) -> None:
    document, panel = scene_window.document, scene_window.inspectors.materials
    assert panel.key, "the scene has a material"
    before = document.state.settings
    edit = panel.editors["base_color"].input
    assert isinstance(edit, ColorEdit)
    edit.choose()
    dialog = edit.findChild(QColorDialog)
    for name in ("#ff0000", "#00ff00", "#0000ff"):
        dialog.setCurrentColor(QColor(name))
    dialog.accept()
    assert document.state.settings.material[panel.key].base_color == (0.0, 0.0, 1.0)
    document.undo()
    assert document.state.settings == before
