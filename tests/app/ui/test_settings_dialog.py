"""The settings dialog is made from the dataclasses and changes the state at once."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QListWidget, QPushButton, QSpinBox

from app.document import Document
from app.settings import Settings, option_groups
from app.ui.settings_dialog import SettingsDialog, page_title
from gpu.settings import fields_of


@pytest.fixture
def dialog(qtbot: Any, document: Document) -> SettingsDialog:
    made = SettingsDialog(document)
    qtbot.addWidget(made)
    made.show()
    return made


def test_every_option_of_the_program_has_a_row(dialog: SettingsDialog) -> None:
    wanted = {(table, field.name) for table, options in option_groups(Settings()) if options is not None for field in fields_of(options)}
    shown = {(table, name) for table, page in dialog.pages.items() for name in page.form.editors}
    assert shown == wanted and len(wanted) > 25
    assert page_title("hierarchy.lbvh") == "Structure: lbvh" and "hierarchy.lbvh" in dialog.pages and "ray_type.steps" in dialog.pages


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
    assert {"brute_force", "lbvh"} <= {box.itemText(i) for i in range(box.count())}
    box.setCurrentIndex(box.findData("brute_force"))
    assert document.state.settings.render.hierarchy == "brute_force"


def test_what_an_option_does_not_take_is_said_at_its_field(dialog: SettingsDialog, document: Document) -> None:
    editor = dialog.pages["render"].form.editors["target"]
    editor.edited.emit("gpu please")
    assert document.state.settings.render.target == "auto"
    assert "gpu please" in editor.error and "cuda" in editor.error
    editor.edited.emit("host")
    assert document.state.settings.render.target == "host" and editor.error == ""


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
    qtbot.keyClick(dialog.pages["render"].form.editors["target"].input, Qt.Key.Key_Return)
    assert document.state.settings.render.samples == 5 and dialog.isVisible()


def test_save_writes_the_user_file(dialog: SettingsDialog, document: Document) -> None:
    from app.settings_file import load_settings, user_file

    document.change("settings.render.samples", 9)
    button = dialog.findChild(QPushButton, "save")
    assert button is not None
    button.click()
    assert load_settings(user_file()).render.samples == 9
    assert any(label.text() == "Saved." for label in dialog.findChildren(QLabel))


def test_a_closed_dialog_no_longer_listens(dialog: SettingsDialog, document: Document) -> None:
    dialog.close()
    document.change("settings.render.samples", 3)
    samples = dialog.pages["render"].form.editors["samples"].input
    assert isinstance(samples, QSpinBox) and samples.value() == 1
