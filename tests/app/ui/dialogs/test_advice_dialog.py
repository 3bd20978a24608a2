"""Tools > When to rebuild: a clip measured in the background, its answer, and what is done with it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtGui import QGuiApplication

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import State
from raygrove.app.settings.settings import Settings
from raygrove.app.ui.dialogs import advice_dialog
from raygrove.app.ui.dialogs.advice_dialog import AdviceDialog, policy_title, with_policy
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.advice import Advice, PolicyCost
from raygrove.gpu.analysis.alternatives import Alternative
from raygrove.gpu.errors import Error

POLICIES = (
    PolicyCost("every_n:n=3", 4.5, 1.125, 2), PolicyCost("cost_ratio:cost_ratio=1.4", 5.0, 1.25, 2),
    PolicyCost("rebuild", 6.0, 1.5, 5), PolicyCost("refit", 8.0, 2.0, 1),
)  # fmt: skip
ADVICE = Advice(
    "lbvh/bvh4", 5, 900, 300, (True, False, False, True, False), 4.0, 3, 1.4, POLICIES, 0.03, 1234,
    (Alternative("hploc", 3.0, 2, 500, None),),
)  # fmt: skip


@pytest.fixture
def dialog(scene_window: MainWindow) -> AdviceDialog:
    scene_window.opened_dialogs.show_advice()
    shown = scene_window.opened_dialogs.advice
    assert shown is not None
    return shown


def measured(monkeypatch: pytest.MonkeyPatch, answer: Any) -> list[tuple[State, bool, Any]]:
    """What is asked of what measures; a callable is called with the job."""
    asked: list[tuple[State, bool, Any]] = []

    def advise(job: Job, scene: Any, state: State, *, exact: bool, beside: Any) -> Advice:
        asked.append((state, exact, beside))
        found: Advice = answer(job) if callable(answer) else answer
        return found

    monkeypatch.setattr(advice_dialog, "advise", advise)
    return asked


def test_a_clip_is_measured_and_answers(
    scene_window: MainWindow, dialog: AdviceDialog, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the rays of the picture that is seen; while it is measured no picture is drawn and the animation stands."""
    document, loop = scene_window.document, scene_window.loop
    asked = measured(monkeypatch, ADVICE)
    held: list[bool] = []
    monkeypatch.setattr(loop, "hold", held.append)
    document.change("timeline", document.state.timeline.__class__(is_playing=True))
    assert not dialog.use.isEnabled() and not dialog.save.isEnabled() and "linear" in dialog.about.text().lower()
    dialog.beside.click()
    dialog.measure.click()
    assert dialog.is_measuring and dialog.measure.text() == "Cancel" and not document.state.timeline.is_playing
    qtbot.waitUntil(lambda: dialog.found is not None and not dialog.is_measuring)
    assert held == [True, False]
    ((state, exact, beside),) = asked
    render = state.settings.render
    assert (render.width, render.height) == loop.last_frame.drawn and not exact and beside == ()
    assert dialog.sentence.text().startswith("Refit, and rebuild every 3rd frame: 4.5 ms per frame instead of 6 ms")
    assert "; or rebuild when the SAH cost is 1.4 times the last rebuild's: 5 ms" in dialog.sentence.text()
    rows = dialog.policies.rows.rows
    assert (
        rows[0][1:] == ("4", "1.000", "2")
        and rows[1] == ("Rebuild every 3rd frame", "4.5", "1.125", "2")
        and len(rows) == 5
    )
    said = dialog.more.text()
    assert "From 1,234 rays per frame on" in said and "off by 3 %" in said
    assert said.index("By the best schedule of each:") < said.index("H-PLOC takes")
    assert "than Linear BVH / BVH4 from 500" in said
    assert rows[2][0] == "Rebuild when the SAH cost has grown 1.4 times"
    assert "H-PLOC takes 3 ms per frame instead of 4, 25 % less" in said and "from 500 rays per frame on" in said
    assert dialog.strip.toolTip() == "Rebuilt: 0, 3"
    assert dialog.strip.key() == (("build", "rebuilt, 2 frames"), ("refit", "refitted, 3"))
    dialog.resize(900, 600)
    table = dialog.policies
    qtbot.waitUntil(lambda: table.horizontalHeader().length() == table.viewport().width())


def test_a_policy_is_used_as_a_step_of_undo(scene_window: MainWindow, dialog: AdviceDialog) -> None:
    document = scene_window.document
    dialog.show_advice(ADVICE)
    before = document.state.settings.update
    assert dialog.chosen == "every_n:n=3"
    said: list[str] = []
    scene_window.session.notices.told.connect(lambda sentence, ms: said.append(sentence))
    dialog.use.click()
    update = document.state.settings.update
    assert (update.mode, update.n) == ("every_n", 3)
    assert said == ["Rebuild every 3rd frame is in use now."]
    document.undo()
    assert document.state.settings.update == before
    dialog.policies.selectRow(0)
    assert dialog.chosen == "" and not dialog.use.isEnabled(), "a schedule of this clip is no policy"
    dialog.policies.selectRow(4)
    dialog.use.click()
    assert document.state.settings.update.mode == "refit"


def test_it_is_copied_and_kept_in_files(
    scene_window: MainWindow, dialog: AdviceDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog.show_advice(ADVICE)
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == f"R{ADVICE.sentence[1:]}."
    for name in ("a.toml", "a.json"):
        dialog.write(tmp_path / name)
    assert tomllib.loads((tmp_path / "a.toml").read_text())["update"] == {"mode": "every_n", "n": 3}
    assert json.loads((tmp_path / "a.json").read_text())["policies"][0]["policy"] == "every_n:n=3"
    said: list[str] = []
    monkeypatch.setattr(scene_window.session.notices, "show", lambda kind, sentence, **more: said.append(sentence))
    dialog.write(tmp_path / "a.toml" / "b.json")  # a file is no folder
    assert len(said) == 1 and "b.json cannot be written: " in said[0]


def test_what_cannot_be_measured_is_said(
    scene_window: MainWindow, dialog: AdviceDialog, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(job: Job) -> Advice:
        raise Error("Median SAH cannot be refitted", "advise", "rebuild it in every frame")

    measured(monkeypatch, refuse)
    dialog.measure.click()
    qtbot.waitUntil(lambda: not dialog.is_measuring)
    assert "cannot be refitted" in dialog.sentence.text() and dialog.found is None and dialog.measure.isEnabled()


def test_a_policy_that_is_not_judged_is_told_with_the_reason(dialog: AdviceDialog) -> None:
    dialog.show_advice(ADVICE)
    assert "not judged" not in dialog.more.text()
    dialog.show_advice(dataclasses.replace(ADVICE, left_out="it is made by reinsertion"))
    assert "Refit and rotate every frame is not judged: it is made by Parallel reinsertion." in dialog.more.text()


def test_an_answer_that_is_far_off_says_so(dialog: AdviceDialog) -> None:
    dialog.show_advice(ADVICE)
    assert "Uncertain" not in dialog.sentence.text()
    dialog.show_advice(dataclasses.replace(ADVICE, interpolation_error=0.6))
    assert dialog.sentence.text().endswith("Uncertain: measure again while nothing else keeps this machine busy.")


@pytest.mark.parametrize("way", ["close", "cancel", "another scene"])
def test_closing_it_cancels(
    scene_window: MainWindow, dialog: AdviceDialog, qtbot: Any, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """So do its button and a scene that is opened meanwhile."""
    goes_on, ended = threading.Event(), threading.Event()

    def wait(job: Job) -> Advice:
        with contextlib.ExitStack() as stack:
            stack.callback(ended.set)
            while not goes_on.wait(0.01):
                job.report(0.25, "H-PLOC")
        return ADVICE

    measured(monkeypatch, wait)
    held: list[bool] = []
    monkeypatch.setattr(scene_window.loop, "hold", held.append)
    dialog.measure.click()
    qtbot.waitUntil(lambda: dialog.bar.isVisible() and dialog.bar.text().startswith("H-PLOC: 25"))
    ways: dict[str, Callable[[], object]] = {
        "close": dialog.close,
        "cancel": dialog.measure.click,
        "another scene": lambda: dialog._open(scene_window.document.scene),
    }
    ways[way]()
    qtbot.waitUntil(lambda: ended.is_set() and not scene_window.document.jobs)
    assert held == [True, False] and not goes_on.is_set() and dialog.found is None
    if way != "close":
        assert dialog.measure.text() == "&Measure" and dialog.measure.isEnabled()
        dialog.close()
    qtbot.waitUntil(lambda: scene_window.opened_dialogs.advice is None)


def test_policies_are_settings() -> None:
    settings = with_policy(Settings(), "cost_ratio:cost_ratio=1.75")
    assert (settings.update.mode, settings.update.cost_ratio) == ("cost_ratio", 1.75)
    assert settings.render == Settings().render and policy_title("auto") == "Adaptive"


def test_titles_of_policies_are_in_the_users_language(qapp: Any) -> None:
    class Reversed(QTranslator):
        def translate(self, context: str, text: str, *rest: Any) -> str:
            return text.upper().replace("{NTH}", "{nth}").replace("{RATIO}", "{ratio}")

    translator = Reversed()
    qapp.installTranslator(translator)
    try:
        titles = policy_title("every_n:n=7"), policy_title("cost_ratio:cost_ratio=1.3")
    finally:
        qapp.removeTranslator(translator)
    assert titles == ("REBUILD EVERY 7th FRAME", "REBUILD WHEN THE SAH COST HAS GROWN 1.3 TIMES")
