"""The palette lists every command by itself, finds by letters, and does what is marked."""

from __future__ import annotations

import dataclasses
import functools
import sys
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QMenu

from raygrove.app.ui.dialogs import palette as palettes
from raygrove.app.ui.dialogs.palette import Entry, Palette, entries_of, rank
from raygrove.app.ui.dialogs.setting_asker import SettingAsker, written
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.scene import Clip


def entries(window: MainWindow) -> list[Entry]:
    return entries_of(window.menuBar().actions(), window.document.state.settings, window.opened_dialogs.show_settings)


def opened(window: MainWindow) -> Palette:
    window.commands.actions["help.palette"].trigger()
    palette = window.findChild(QDialog, "palette")
    assert isinstance(palette, Palette)
    return palette


def test_every_command_is_listed_and_every_setting(scene_window: MainWindow) -> None:
    texts = {entry.path[-1] for entry in entries(scene_window)}
    for action in scene_window.commands.all():
        if (
            action.isVisible() and action.isEnabled() and not action.property("menu")
        ):  # choices are listed where they are offered
            assert action.text().replace("&", "").rstrip("….") in texts, action.objectName()
    lines = {entry.text for entry in entries(scene_window)}
    assert {
        "Camera › Look from › Top",
        "Structure › Rebuild or refit › Refit every frame",
        "Settings › Camera › Field of view",
    } <= lines
    assert any(line.startswith("Render › Ray type › ") for line in lines)


def test_what_cannot_be_done_is_not_offered(scene_window: MainWindow) -> None:
    assert not scene_window.document.can_undo or scene_window.commands.actions["edit.undo"].isEnabled()
    scene_window.document.undo()
    assert "Edit › Undo" not in {entry.text for entry in entries(scene_window)}


def test_entries_taken_in_turns_are_those_taken_at_once(scene_window: MainWindow, qtbot: Any) -> None:
    menus, settings = scene_window.menuBar().actions(), scene_window.document.state.settings
    found = []
    for entry in palettes._entries(menus, settings, scene_window.opened_dialogs.show_settings):
        found.append(entry.text)
        QApplication.processEvents()  # a menu of choices that is closed lets all be chosen again
    assert found == [entry.text for entry in entries(scene_window)]


def test_a_menu_that_is_open_is_not_filled_anew(scene_window: MainWindow) -> None:
    texts = [entry.text for entry in entries(scene_window)]
    render = next(one for one in scene_window.menuBar().actions() if one.text() == "&Render")
    first, opened = render.menu(), list[QMenu]()
    assert isinstance(first, QMenu)
    menus: list[QMenu] = [first, scene_window.commands.menus["render.ray_type"]]
    for menu in menus:
        menu.popup(scene_window.mapToGlobal(QPoint(40, 40)))
        menu.aboutToShow.connect(functools.partial(opened.append, menu))
    assert [entry.text for entry in entries(scene_window)] == texts and not opened
    for menu in reversed(menus):
        menu.close()


def test_an_opened_palette_has_listed_no_more_than_it_shows(scene_window: MainWindow, qtbot: Any) -> None:
    palette = opened(scene_window)
    first = palette.found()
    assert len(palette._entries) == len(first) == palettes.SHOWN
    palette.line.setText("samples")
    assert "Settings › Render › Samples" in palette.found(), "whoever types at once misses nothing"
    palette.line.clear()
    qtbot.waitUntil(lambda: not palette._later.isActive())
    assert palette.found() == first and len(palette._entries) == len(entries(scene_window))


def test_listing_lessons_imports_nothing_that_measures(
    scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "raygrove.app.ui.dialogs.lesson_dialog"
    monkeypatch.delitem(sys.modules, name, raising=False)
    assert any(entry.text.startswith("Help › Lessons › ") for entry in entries(scene_window))
    assert name not in sys.modules


@pytest.mark.parametrize(
    ("words", "better", "worse"),
    [
        ("top", "Camera › Look from › Top", "File › Stop it"),
        ("full", "View › Full screen", "A careful list"),
        ("fsc", "Full screen", "For some, c"),
    ],
)
def test_the_better_fit_comes_first(words: str, better: str, worse: str) -> None:
    first, second = rank(words, better), rank(words, worse)
    assert first is not None and (second is None or first < second)


def test_what_is_called_so_comes_first(scene_window: MainWindow) -> None:
    for words, first in (
        ("orbit", "File › Built-in scenes › Orbit"),
        ("H-PLOC", "Structure › Builder › H-PLOC (nearest neighbours along a linear BVH)"),
        ("lbvh", "Structure › Builder › Linear BVH (Morton codes)"),
        ("two_level", "Structure › Builder › Two-level BVH (one tree per object)"),
        ("depth", "Render › Ray type › Depth"),
        ("path tracing", "Render › Ray type › Path tracing"),
        ("steps", "Render › Ray type › Traversal steps"),
    ):
        palette = opened(scene_window)
        palette.line.setText(words)
        assert palette.found()[0] == first
        listed = [entry for entry in entries(scene_window) if entry.text in palette.found()]
        assert all(words.lower() in entry.searched.lower() for entry in listed if " " not in words), "no fuzzy flood"
        palette.close()


def test_scenes_structures_and_ray_types_come_before_clips_called_alike(scene_window: MainWindow) -> None:
    document = scene_window.document
    assert document.scene is not None
    clips = tuple(Clip(name, 2.0) for name in ("orbit", "depth", "h-ploc"))
    document.set_scene(document.state.scene, dataclasses.replace(document.scene, clips=clips))
    for words, first in (
        ("orbit", "File › Built-in scenes › Orbit"),
        ("depth", "Render › Ray type › Depth"),
        ("H-PLOC", "Structure › Builder › H-PLOC (nearest neighbours along a linear BVH)"),
    ):
        found = [entry.text for entry in palettes.fitting(words, entries(scene_window))]
        assert found[0] == first and f"Animation › Clip › {words.lower()}" in found


def test_a_word_of_its_sentence_finds_a_command_and_chance_letters_find_nothing(scene_window: MainWindow) -> None:
    found = [entry.text for entry in palettes.fitting("video", entries(scene_window))]
    assert found[0] == "File › Export" and len(found) < 8, found
    assert palettes.fitting("sponza", entries(scene_window)) == []
    assert rank("sponza", "Settings › HLBVH › Max leaf size structure.hlbvh.max_leaf_size") is None
    found = [entry.text for entry in palettes.fitting("structure", entries(scene_window))]
    assert not found[0].startswith("Structure › Builder"), "who types a menu's name means no choice in it"
    near = rank("fsc", "A form of some care; Full screen")
    assert near is not None and near == pytest.approx(rank("fsc", "Full screen"), abs=0.01), "where they are nearest"


def test_letters_in_another_order_do_not_fit() -> None:
    assert rank("pot", "Top") is None and rank("tp", "Top") is not None and rank("ca to", "Camera › Top") is not None


def test_typing_and_return_run_a_command_and_it_comes_first_next_time(scene_window: MainWindow, qtbot: Any) -> None:
    palette = opened(scene_window)
    QTest.keyClicks(palette.line, "look bottom")
    assert palette.found()[0] == "Camera › Look from › Bottom"
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert scene_window.document.state.camera_of(0).basis()[2] == pytest.approx([0.0, 1.0, 0.0])
    qtbot.waitUntil(lambda: scene_window.findChild(QDialog, "palette") is None)
    assert opened(scene_window).found()[0] == "Camera › Look from › Bottom"


def test_arrows_move_the_mark(scene_window: MainWindow) -> None:
    palette = opened(scene_window)
    QTest.keyClick(palette.line, Qt.Key.Key_Down)
    QTest.keyClick(palette.line, Qt.Key.Key_Down)
    assert palette.list.currentRow() == 2
    QTest.keyClick(palette.line, Qt.Key.Key_Up)
    assert palette.list.currentRow() == 1


def test_a_setting_is_changed_in_place(scene_window: MainWindow) -> None:
    document = scene_window.document
    palette = opened(scene_window)
    QTest.keyClicks(palette.line, "settings render samples")
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert (
        palette.isVisible()
        and "render.samples" in palette.said.text()
        and "a whole number from 1" in palette.said.text()
    )
    assert palette.line.text() == "1" and palette.line.selectedText() == "1"
    for wrong in ("0", "many", "2.5"):
        palette.line.setText(wrong)
        QTest.keyClick(palette.line, Qt.Key.Key_Return)
        assert palette.isVisible() and "whole number" in palette.error.text(), "said at the field"
        assert document.state.settings.render.samples == 1
    palette.line.setText("12")
    assert palette.error.text() == ""
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert document.state.settings.render.samples == 12 and not palette.isVisible()
    assert scene_window.statusBar().currentMessage() == "render.samples = 12"
    document.undo()
    assert document.state.settings.render.samples == 1


def test_choices_are_listed_and_one_of_them_taken(scene_window: MainWindow, qtbot: Any) -> None:
    palette = opened(scene_window)
    palette.ask("update.mode")
    policies = ["auto", "cost_ratio", "every_n", "ratio_optimiser", "rebuild", "refit", "refit_rotations"]
    assert palette.list.count() == len(policies) + 1
    assert [palette.list.item(row).text().split()[0] for row in range(len(policies))] == policies
    QTest.keyClicks(palette.line, "ref")
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert scene_window.document.state.settings.update.mode == "refit"
    qtbot.waitUntil(lambda: scene_window.findChild(QDialog, "palette") is None)
    palette = opened(scene_window)
    palette.ask("update.mode")
    QTest.keyClicks(palette.line, "sometimes")
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert "one of auto, cost_ratio, every_n" in palette.error.text()
    QTest.keyClick(palette, Qt.Key.Key_Escape)
    assert palette.isVisible() and palette.asked is None and len(palette.found()) > 20
    QTest.keyClick(palette, Qt.Key.Key_Escape)
    assert not palette.isVisible()


def test_a_setting_and_its_value_in_one_line(scene_window: MainWindow) -> None:
    lines: tuple[tuple[str, str, object], ...] = (
        ("render samples = 7", "render.samples", 7),
        ("timeline.speed=2.5", "timeline.speed", 2.5),
        ("render.hierarchy = brute_force", "render.hierarchy", "brute_force"),
        ("boxes show = true", "boxes.show", True),
        ("ray_type.steps.count = total", "ray_type.steps.count", "total"),
        ("start.position = 1, 2, 3", "start.position", (1.0, 2.0, 3.0)),
    )
    for line, key, value in lines:
        assert SettingAsker(scene_window.session, key).value != written(value), key
        palette = opened(scene_window)
        palette.line.setText(line)
        palette.run()
        assert palette.error.text() == "" and not palette.isVisible(), line
        assert SettingAsker(scene_window.session, key).value == written(value), line


def test_every_setting_can_be_asked_for(scene_window: MainWindow) -> None:
    for entry in entries(scene_window):
        if entry.setting:
            asker = SettingAsker(scene_window.session, entry.setting)
            assert asker.sentence and isinstance(asker.value, str) and asker.set(asker.value) == "", entry.setting


def test_the_page_of_a_setting_is_one_row_further(scene_window: MainWindow) -> None:
    palette = opened(scene_window)
    palette.ask("timeline.speed")
    palette.list.setCurrentRow(palette.list.count() - 1)
    palette.run()
    dialog = scene_window.findChild(QDialog, "settings")
    assert dialog is not None and dialog.isVisible()


def test_nothing_found_runs_nothing(scene_window: MainWindow) -> None:
    palette = opened(scene_window)
    palette.line.setText("zzzz qqqq")
    palette.run()
    assert palette.found() == [] and palette.isVisible()
