"""Tools > Run a suite: what can be asked for, a run in its own process with progress and an end, and its tables."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from raygrove.app.document.suite_runs import ReportTable
from raygrove.app.settings.tree_options import TreeOptions
from raygrove.app.ui.dialogs.report_tables import ReportTables
from raygrove.app.ui.dialogs.suite_dialog import SuiteDialog
from raygrove.app.ui.session import program_job
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.face.given_trees import expect_tree
from raygrove.gpu.face.named_trees import forget_trees
from tests.app.stand_ins import take_places

SCENE = {"triangles": 5, "taken": "blob", "relation": "stand-in", "is_there": True}
SUITES = {
    "suites": [
        {
            "suite": "first2014",
            "about": "The first evaluation.",
            "takes_own": True,
            "scenes": [{**SCENE, "name": "Here"}, {**SCENE, "name": "Absent", "is_there": False}],
        },
        {"suite": "second2015", "about": "Another.", "takes_own": False, "scenes": [{**SCENE, "name": "Spheres"}]},
    ]
}
REPORT = {
    "tables": [
        {"number": "7.1", "title": "builds", "columns": ["scene", "ms"], "rows": [["<b>Here", 1.25], ["None", None]]},
        {"number": "7.2", "title": "empty", "columns": ["scene"], "rows": []},
    ]
}
PROGRAM = """case "$*" in
*--list*) cat {folder}/suites.json;;
*) echo "$@" > {folder}/words
   if [ -e {folder}/part.json ]; then cp {folder}/part.json {folder}/first2014.json; fi
   echo '{{"scene": "Here", "number": 2, "of": 4, "rows": 7, "rows_of": 14}}' >&2
   if [ -e {folder}/full ]; then echo 'error: the disk is full.' >&2; exit 1; fi
   while [ -e {folder}/wait ]; do sleep 0.05; done
   cp {folder}/report.json {folder}/first2014.json;;
esac"""


@pytest.fixture
def dialog(window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SuiteDialog]:
    """The dialog before a program that is no suite, whose answers are files."""
    (tmp_path / "suites.json").write_text(json.dumps(SUITES))
    (tmp_path / "report.json").write_text(json.dumps(REPORT))
    script = tmp_path / "program"
    script.write_text("#!/bin/sh\n" + PROGRAM.format(folder=shlex.quote(str(tmp_path))))
    script.chmod(0o755)
    monkeypatch.setattr(program_job, "COMMAND", [str(script)])
    window.opened_dialogs.show_suites()
    shown = window.opened_dialogs.suite
    assert shown is not None
    qtbot.waitUntil(lambda: len(shown.suites) == 2)
    shown.out.setText(str(tmp_path))
    yield shown
    (tmp_path / "wait").unlink(missing_ok=True)  # a program that waits is waited for


def test_what_is_chosen_becomes_the_words_of_a_command(dialog: SuiteDialog, window: MainWindow) -> None:
    asked = dialog.asked()
    assert asked is not None and asked.scenes == ("Here",), "what is not at hand is not ticked"
    assert "not in the folder of models" in dialog.scenes.item(1).text()
    dialog.scenes.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert not dialog.begin.isEnabled() and "at least one scene" in dialog.note.text()
    dialog.scenes.item(0).setCheckState(Qt.CheckState.Checked)
    dialog.width_box.setValue(64)
    assert not dialog.begin.isEnabled() and "both sides" in dialog.note.text()
    dialog.height_box.setValue(48)
    dialog.structures.setText("lbvh@, hploc")
    assert not dialog.begin.isEnabled()
    dialog.structures.setText("")
    dialog.add_chosen.click()
    assert dialog.structures.text().startswith(window.document.state.settings.render.hierarchy)
    assert dialog.begin.isEnabled() and "stands still" in dialog.note.text()
    dialog.suite.setCurrentText("second2015")
    assert not dialog.structures.isEnabled() and not dialog.with_own.isEnabled()
    asked = dialog.asked()
    assert asked is not None and asked.structures == "" and asked.scenes == ("Spheres",)


def test_nothing_jumps_while_one_types(dialog: SuiteDialog, qtbot: Any) -> None:
    def places() -> list[object]:
        take_places()
        return [part.geometry() for part in (dialog.asked_for, dialog.note, dialog.buttons, dialog.structures)]

    dialog.resize(620, 560)
    before = places()
    for text in ("l", "lbvh@", "lbvh@refit, hploc/bvh4", "no such structure as this one, which nobody has built yet"):
        dialog.structures.setText(text)
        assert places() == before, text


def test_a_run_tells_how_far_it_is_and_shows_its_tables(
    dialog: SuiteDialog, window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []
    monkeypatch.setattr(window.session.loop, "hold", held.append)
    (tmp_path / "wait").touch()
    dialog.begin.click()
    assert dialog.is_running and not dialog.asked_for.isEnabled() and held == [True]
    qtbot.waitUntil(lambda: dialog.note.text() == "Here, scene 2 of 4, row 7 of 14")
    assert dialog.bar.value() == 375 and dialog.leave.text() == "&Cancel"
    os.unlink(tmp_path / "wait")
    qtbot.waitUntil(lambda: not dialog.is_running)
    assert held == [True, False] and not dialog.tables.isHidden() and dialog.asked_for.isHidden()
    assert [table.title for table in dialog.tables.tables] == ["7.1  builds"]
    shown = dialog.tables.shown
    assert shown is not None and shown.rows.rows == (("<b>Here", "1.25"), ("None", "-"))
    words = (tmp_path / "words").read_text().split()
    assert words[:3] == ["bench", "suite", "first2014"] and words[words.index("--scenes") + 1] == "Here"
    dialog.begin.click()
    assert dialog.tables.isHidden() and not dialog.asked_for.isHidden() and not dialog.is_running


def test_tables_fill_while_a_suite_runs_and_stay_where_it_is_cancelled(
    dialog: SuiteDialog, qtbot: Any, tmp_path: Path
) -> None:
    part = json.loads(json.dumps(REPORT))
    part["tables"][0]["rows"].pop()
    part["tables"].insert(0, {**part["tables"][0], "number": "7.0"})
    (tmp_path / "first2014.json").write_text(json.dumps(REPORT))
    os.utime(tmp_path / "first2014.json", (1.0, 1.0))
    (tmp_path / "wait").touch()
    dialog.begin.click()
    qtbot.waitUntil(lambda: "row 7 of 14" in dialog.note.text())
    assert dialog.tables.isHidden(), "a report of a run before is none of this one"
    dialog.leave.click()
    qtbot.waitUntil(lambda: not dialog.is_running)
    (tmp_path / "part.json").write_text(json.dumps(part))
    dialog.begin.click()
    qtbot.waitUntil(lambda: not dialog.tables.isHidden())
    (tmp_path / "first2014.md").touch()
    assert dialog.is_running and dialog.asked_for.isHidden() and dialog.open_report.isHidden()
    assert dialog.bar.isVisible() and dialog.bar.value() == 375 and dialog.leave.text() == "&Cancel"
    assert dialog.tables.shown is not None and dialog.tables.shown.rows.rows == (("<b>Here", "1.25"),)
    dialog.leave.click()
    qtbot.waitUntil(lambda: "what was measured is in" in dialog.note.text())
    assert not dialog.tables.isHidden() and not dialog.open_report.isHidden() and dialog.bar.isHidden()
    dialog.begin.click()
    dialog.begin.click()
    qtbot.waitUntil(lambda: dialog.is_running and not dialog.tables.isHidden())
    os.unlink(tmp_path / "wait")
    qtbot.waitUntil(lambda: "It is in" in dialog.note.text())
    assert [table.title for table in dialog.tables.tables] == ["7.1  builds"] and len(dialog.tables.tables[0].rows) == 2


def test_the_bar_says_no_share_where_nobody_knows_one(dialog: SuiteDialog, qtbot: Any, tmp_path: Path) -> None:
    script = tmp_path / "program"
    script.write_text(script.read_text().replace('"rows_of": 14', '"rows_of": null'))
    (tmp_path / "wait").touch()
    dialog.begin.click()
    qtbot.waitUntil(lambda: dialog.note.text() == "Here, scene 2 of 4, 7 rows measured")
    assert dialog.bar.maximum() == 0
    dialog.leave.click()
    qtbot.waitUntil(lambda: not dialog.is_running)


def test_the_table_that_gets_rows_is_shown_until_somebody_chooses(qtbot: Any) -> None:
    def tables(*counts: int) -> tuple[ReportTable, ...]:
        return tuple(
            ReportTable(f"{at}", ("n",), tuple((f"{n}",) for n in range(count))) for at, count in counts_of(counts)
        )

    def counts_of(counts: tuple[int, ...]) -> list[tuple[int, int]]:
        return [(at, count) for at, count in enumerate(counts) if count]

    parts = ReportTables()
    qtbot.addWidget(parts)
    parts.fill(tables(1, 0, 0))
    parts.fill(tables(1, 0, 1))
    assert parts.which.currentText() == "2"
    parts.fill(tables(1, 2, 1))
    assert parts.which.currentText() == "1" and parts.shown is not None and parts.shown.rows.rowCount() == 2
    shown = parts.shown
    parts.fill(tables(2, 3, 1))
    assert parts.shown is shown and shown.rows.rowCount() == 3, "it goes on where it was, and both got rows"
    parts.which.setCurrentIndex(2)
    parts.which.activated.emit(2)
    parts.fill(tables(2, 9, 1))
    assert parts.which.currentText() == "2" and parts.shown is not None and parts.shown.rows.rowCount() == 1
    parts.clear()
    assert parts.which.count() == 0


def test_cancel_ends_the_run_and_close_the_dialog(
    dialog: SuiteDialog, window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    (tmp_path / "wait").touch()
    dialog.begin.click()
    qtbot.waitUntil(lambda: "scene 2 of 4" in dialog.note.text())
    dialog.leave.click()
    qtbot.waitUntil(lambda: not dialog.is_running)
    assert dialog.isVisible() and dialog.tables.isHidden() and "before anything was measured" in dialog.note.text()
    assert not window.document.jobs
    dialog.begin.click()
    qtbot.waitUntil(lambda: "scene 2 of 4" in dialog.note.text())
    (tmp_path / "first2014.md").touch()
    dialog.leave.click()
    qtbot.waitUntil(lambda: "what was measured is in" in dialog.note.text())
    dialog.leave.click()
    qtbot.waitUntil(lambda: window.opened_dialogs.suite is None)


def test_a_run_that_fails_says_in_the_dialog_why(
    dialog: SuiteDialog, window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    (tmp_path / "full").touch()
    dialog.begin.click()
    qtbot.waitUntil(lambda: not dialog.is_running)
    assert dialog.note.text() == "The command failed. the disk is full."
    assert [banner.sentence for banner in window.toasts.messages()] == [dialog.note.text()]


def test_a_tree_of_a_file_is_refused_before_a_run(dialog: SuiteDialog, window: MainWindow) -> None:
    settings = window.document.state.settings
    expect_tree("theirs")
    window.document.change("settings", dataclasses.replace(settings, trees=TreeOptions("theirs=theirs.rgtree")))
    dialog.structures.setText("hploc, theirs/bvh4")
    forget_trees()
    assert dialog.note.text().startswith("theirs is the tree of a file") and not dialog.begin.isEnabled()
