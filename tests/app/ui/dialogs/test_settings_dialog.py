"""The settings dialog is made from the dataclasses and changes the state at once."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialogButtonBox,
    QDoubleSpinBox,
    QLabel,
    QListWidget,
    QPushButton,
    QSpinBox,
    QWidget,
)

from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference
from raygrove.app.problems.problem import Problem
from raygrove.app.settings.file import overridden, user_file
from raygrove.app.settings.settings import Settings, option_groups, set_option
from raygrove.app.ui.dialogs.settings_dialog import SettingsDialog
from raygrove.app.ui.dialogs.settings_page import page_title, said_of
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import fields_of
from tests.app.ready_window import ready

pytestmark = pytest.mark.forked


@pytest.fixture
def document() -> Document:
    is_ready = ready()
    return is_ready.dialog_document if is_ready else Document()


@pytest.fixture
def dialog(qtbot: Any, document: Document) -> SettingsDialog:
    is_ready = ready()
    made = is_ready.dialog if is_ready else SettingsDialog(document)
    qtbot.addWidget(made)
    made.show()
    return made


def edit(dialog: SettingsDialog, key: str, value: Any) -> None:
    """Set a number as a person does."""
    table, _, name = key.rpartition(".")
    box = dialog.pages[table].form.editors[name].input
    assert isinstance(box, QSpinBox | QDoubleSpinBox)
    box.setValue(value)


def test_pages_made_ahead_are_seen_when_they_are_turned_to(qtbot: Any, document: Document) -> None:
    dialog = SettingsDialog(document)
    qtbot.addWidget(dialog)
    pages = dialog.pages
    dialog.show()
    assert [table for table, page in pages.items() if page.isVisible()] == ["render"]
    assert dialog._stack.count() == 1, "it asks each of its pages for their sizes"
    dialog.show_page("start")
    assert [table for table, page in pages.items() if page.isVisible()] == ["start"]
    dialog.show_page("render")
    assert [table for table, page in pages.items() if page.isVisible()] == ["render"]


def click(parent: QWidget, name: str) -> None:
    button = parent.findChild(QPushButton, name)
    assert button is not None
    button.click()


def test_every_option_of_the_program_has_a_row(dialog: SettingsDialog) -> None:
    wanted = {
        (table, field.name)
        for table, options in option_groups(Settings())
        if options is not None
        for field in fields_of(options)
    }
    shown = {(table, name) for table, page in dialog.pages.items() for name in page.form.editors}
    assert shown == wanted and len(wanted) > 25
    assert (
        page_title("hierarchy.lbvh") == "Structure: Linear BVH"
        and "hierarchy.lbvh" in dialog.pages
        and "ray_type.steps" in dialog.pages
    )


def test_a_page_begins_with_a_whole_paragraph_as_it_is_written() -> None:
    class Options:
        """Options of a builder, where `depth` < 8
        stops early.

        More for developers.
        """

    assert said_of(Options) == "Options of a builder, where <i>depth</i> &lt; 8 stops early."


def test_an_edit_changes_the_state_and_undo_changes_the_form(dialog: SettingsDialog, document: Document) -> None:
    samples = dialog.pages["render"].form.editors["samples"].input
    assert isinstance(samples, QSpinBox)
    samples.setValue(16)
    assert document.state.settings.render.samples == 16
    document.undo()
    assert document.state.settings.render.samples == 1 and samples.value() == 1


def test_the_structure_is_chosen_among_those_there_are(dialog: SettingsDialog, document: Document) -> None:
    box = dialog.pages["render"].form.editors["hierarchy"].input
    assert isinstance(box, QComboBox)
    assert {"Brute force", "Linear BVH (Morton codes)"} <= {box.itemText(i) for i in range(box.count())}
    box.setCurrentIndex(box.findData("brute_force"))
    assert document.state.settings.render.hierarchy == "brute_force"


def test_what_an_option_does_not_take_is_said_at_its_field(dialog: SettingsDialog, document: Document) -> None:
    editor = dialog.pages["render"].form.editors["device"]
    editor.edited.emit("gpu please")
    assert document.state.settings.render.device == "auto"
    assert "gpu please" in editor.error and "cuda" in editor.error
    editor.edited.emit("cpu")
    assert document.state.settings.render.device == "cpu" and editor.error == ""


def test_a_page_is_reset_in_one_step(dialog: SettingsDialog, document: Document) -> None:
    document.change("settings.timeline.speed", 2.0)
    document.change("settings.timeline.repeat", "once")
    before = document.state.settings
    button = dialog.pages["timeline"].findChild(QPushButton, "reset")
    assert button is not None
    button.click()
    assert document.state.settings == dataclasses.replace(before, timeline=Settings().timeline)
    document.undo()
    assert document.state.settings == before


def test_search_leaves_the_pages_and_rows_that_match(dialog: SettingsDialog) -> None:
    pages = dialog.findChild(QListWidget, "pages")
    assert pages is not None
    dialog.search.setText("SAH cost")
    left = [table for row, table in enumerate(dialog.pages) if not pages.item(row).isHidden()]
    assert "update" in left and "display" not in left
    assert dialog.pages["update"].form.editors["cost_ratio"].isVisible()
    dialog.search.setText("")
    assert not any(pages.item(row).isHidden() for row in range(pages.count()))


def test_return_in_a_field_presses_no_button(dialog: SettingsDialog, document: Document, qtbot: Any) -> None:
    document.change("settings.render.samples", 5)
    qtbot.keyClick(dialog.pages["render"].form.editors["device"].input, Qt.Key.Key_Return)
    assert document.state.settings.render.samples == 5 and dialog.isVisible()


def test_save_writes_the_user_file(dialog: SettingsDialog, document: Document) -> None:
    from raygrove.app.settings.file import load_settings, user_file

    document.change("settings.render.samples", 9)
    button = dialog.findChild(QPushButton, "save")
    assert button is not None
    button.click()
    assert load_settings(user_file()).render.samples == 9
    assert any(label.text() == "Saved." for label in dialog.findChildren(QLabel))


def test_a_number_out_of_range_is_said_at_its_field_and_changes_nothing(
    dialog: SettingsDialog, document: Document, qtbot: Any
) -> None:
    width = dialog.pages["render"].form.editors["width"]
    width.input.setFocus()
    width.input.selectAll()  # type: ignore[attr-defined]
    qtbot.keyClicks(width.input, "99999")
    qtbot.keyClick(width.input, Qt.Key.Key_Return)
    assert (
        "99999: it takes a whole number from 1 to 16384" in width.error and document.state.settings.render.width == 1024
    )
    edit(dialog, "render.height", 500)
    assert width.error, "another field's change leaves it"
    click(dialog.pages["render"], "reset")
    assert not width.error and document.state.settings == Settings()


def test_cancel_brings_back_what_was_there_as_one_step(
    dialog: SettingsDialog, document: Document, moving_scene: Scene
) -> None:
    document.change("settings.render.samples", 2)
    dialog.apply()
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    dialog.apply()
    before = document.state
    edit(dialog, "render.samples", 16)
    edit(dialog, "camera.field_of_view", 90.0)
    edit(dialog, "update.cost_ratio", 3.0)
    assert document.state.cameras[0].fov == 90.0, "a change is seen at once"
    after = document.state
    dialog.reject()
    assert not dialog.isVisible() and (document.state.settings, document.state.cameras) == (
        before.settings,
        before.cameras,
    )
    document.undo()
    assert (document.state.settings, document.state.cameras) == (after.settings, after.cameras), (
        "one step brings all of it again"
    )
    for _ in range(3):
        document.undo()
    assert document.state.settings == before.settings and not document.can_undo


def test_a_camera_moved_by_hand_stays_at_cancel(dialog: SettingsDialog, document: Document) -> None:
    edit(dialog, "render.samples", 16)
    moved = Camera(eye=(9.0, 9.0, 9.0))
    document.change("cameras.0", moved)
    dialog.reject()
    assert document.state.settings == Settings() and document.state.cameras == (moved,)


@pytest.mark.parametrize("way", ["ok", "escape", "close", "cancel"])
def test_only_ok_keeps_the_changes(dialog: SettingsDialog, document: Document, qtbot: Any, way: str) -> None:
    edit(dialog, "render.samples", 16)
    if way == "escape":
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    elif way == "close":
        dialog.close()
    else:
        standard = {"ok": QDialogButtonBox.StandardButton.Ok, "cancel": QDialogButtonBox.StandardButton.Cancel}[way]
        box = dialog.findChild(QDialogButtonBox)
        assert box is not None
        box.button(standard).click()
    assert not dialog.isVisible() and document.state.settings.render.samples == (16 if way == "ok" else 1)


def test_apply_keeps_what_cancel_would_take_back(dialog: SettingsDialog, document: Document) -> None:
    box, pages = dialog.findChild(QDialogButtonBox), dialog.findChild(QListWidget, "pages")
    assert box is not None and pages is not None
    apply = box.button(QDialogButtonBox.StandardButton.Apply)
    assert not apply.isEnabled()
    edit(dialog, "render.samples", 16)
    assert apply.isEnabled() and pages.item(list(dialog.pages).index("render")).text() == "Render •"
    apply.click()
    assert not apply.isEnabled() and pages.item(list(dialog.pages).index("render")).text() == "Render"
    edit(dialog, "render.samples", 64)
    dialog.reject()
    assert document.state.settings.render.samples == 16


def test_everything_is_reset_in_one_step(dialog: SettingsDialog, document: Document) -> None:
    edit(dialog, "render.samples", 16)
    edit(dialog, "update.cost_ratio", 3.0)
    document.change("settings.hierarchy.lbvh.max_leaf_size", 2)
    before = document.state.settings
    click(dialog, "reset_all")
    assert dict(option_groups(document.state.settings)) == dict(option_groups(Settings()))
    document.undo()
    assert document.state.settings == before


def test_words_that_nothing_has_are_said(dialog: SettingsDialog) -> None:
    nothing = dialog.findChild(QLabel, "nothing")
    assert nothing is not None and not nothing.isVisible()
    dialog.search.setText("octopus")
    assert nothing.isVisible()
    dialog.show_page("timeline")
    assert not nothing.isVisible() and dialog.pages["timeline"].form.isVisible()


def test_every_scene_starts_where_the_camera_stands(
    dialog: SettingsDialog, document: Document, moving_scene: Scene
) -> None:
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    document.change("cameras.0", Camera(eye=(1.0, 2.0, 3.0), look_at=(2.0, 2.0, 3.0)))
    camera = document.state.cameras[0]
    click(dialog.pages["start"], "take_camera")
    start = document.state.settings.start
    assert (start.camera, start.position, start.elevation, start.azimuth) == ("position", (1.0, 2.0, 3.0), 0.0, 90.0)
    found = document.state.cameras[0]
    assert found.eye == camera.eye and found.basis()[2] == pytest.approx(camera.basis()[2])
    document.undo()
    assert document.state.settings.start == Settings().start


def test_presets_are_kept_and_taken_back(dialog: SettingsDialog, document: Document, tmp_path: Path) -> None:
    note = dialog.findChild(QLabel, "note")
    assert note is not None
    edit(dialog, "render.samples", 16)
    dialog.presets.save("Fine")
    assert "Fine.toml" in note.text()
    click(dialog, "reset_all")
    dialog.presets.fill()
    assert "Fine" in [action.text() for action in dialog.presets.menu().actions()]
    dialog.presets.load("Fine")
    assert document.state.settings.render.samples == 16 and "Fine" in note.text()
    document.undo()
    assert document.state.settings.render.samples == 1
    dialog.presets.save("../Fine")
    assert "cannot be the name of a preset" in note.text()
    dialog.presets.delete("Fine")
    dialog.presets.load("Fine")
    assert "there is no preset 'Fine'" in note.text()
    dialog.presets.save_file(str(tmp_path / "out.toml"))
    assert (tmp_path / "out.toml").exists() and "out.toml" in note.text()
    (tmp_path / "m.env").write_text("Renderer {\nnumberOfSamples 9\naoRadius 1\n}\n")
    dialog.presets.open_file(str(tmp_path / "m.env"))
    ao, found = document.state.settings.ray_type_options("ao"), document.state.settings
    assert (ao.rays, ao.radius, ao.radius_unit, found.render.samples) == (
        9,
        1.0,
        "scene",
        1,
    ) and "is kept" not in note.text()


def test_a_file_that_is_none_is_a_problem_and_changes_nothing(
    dialog: SettingsDialog, document: Document, tmp_path: Path
) -> None:
    problems: list[Problem] = []
    document.on_problem.append(problems.append)
    (tmp_path / "bad.toml").write_text("[render]\nwidth = 0\n")
    dialog.presets.open_file(str(tmp_path / "bad.toml"))
    assert document.state.settings == Settings() and "line 2" in problems[0].sentence


def test_the_note_says_what_was_not_saved(qtbot: Any) -> None:
    started = set_option(Settings(), "render.samples", 8)
    made = SettingsDialog(Document(started, overridden(Settings(), started)))
    qtbot.addWidget(made)
    click(made, "save")
    note = made.findChild(QLabel, "note")
    assert note is not None and "render.samples" in note.text() and user_file().read_text() == ""


def test_a_closed_dialog_no_longer_listens(dialog: SettingsDialog, document: Document) -> None:
    dialog.accept()
    document.change("settings.render.samples", 3)
    samples = dialog.pages["render"].form.editors["samples"].input
    assert isinstance(samples, QSpinBox) and samples.value() == 1
