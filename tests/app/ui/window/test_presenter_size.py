"""Presenter size: everything 1.5 times as large, at once, with what was begun kept, and again at the next start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.document.jobs import Job
from raygrove.app.ui.session.memory import Memory
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.ui.window.presenter_size import PresenterSize, presenter_size, visiting

VARIABLE = "QT_SCALE_FACTOR"

PROGRAM = """
import json, sys
from PySide6.QtWidgets import QApplication
from raygrove.app.document.document import Document
from raygrove.app.document.state import SceneReference
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.ui.window.application import run
from raygrove.app.ui.window.previews import Previews

Previews.ask = lambda self, names: None
document, seen = Document(), []

class Lesson:
    # A program that the window follows: asked thirty times a second, it works the window.
    def poll(self):
        window = next(w for w in QApplication.topLevelWidgets() if w.objectName() == "window")
        if window.loop.last_frame is None or hasattr(window, "worked"):
            return
        window.worked = True
        seen.append((window.devicePixelRatioF(), window.width() * window.devicePixelRatioF(), document.can_undo,
                     document.state.settings.window.theme, window.stack.currentWidget() is window.view))
        if len(seen) == 1:
            document.change("settings.window.theme", "light")
        if len(seen) < 3:
            window.commands.actions["view.presenter"].trigger()
        else:
            window.close()
    def has_ended(self):
        return False

document.change("settings.display.view", "painter")
document.change("settings.timeline.autoplay", False)
document.set_scene(SceneReference("demo", ("blob",)), make_demo("blob", 60))
code = run(document, None, Lesson())
print(json.dumps([code, len(document.observers), document.state.scene.kind, seen]))
"""


def test_it_takes_effect_at_once_and_what_was_begun_is_kept(tmp_path: Path) -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": str(tmp_path), VARIABLE: "1"}
    made = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    code, listening, kind, seen = json.loads(made.stdout.splitlines()[-1])
    assert (code, listening, kind) == (0, 0, "demo") and "Traceback" not in made.stderr, made.stderr
    assert [ratio for ratio, *_ in seen] == [1.0, 1.5, 1.0]
    assert len({round(width) for _, width, *_ in seen}) == 1, "as wide on the screen as before"
    begun = [False, "system", True], [True, "light", True], [True, "light", True]
    assert [rest for _, _, *rest in seen] == list(begun), "undo, what was chosen, and the picture in front"


@pytest.mark.parametrize(
    ("is_larger", "given", "factor"), [(True, None, "1.5"), (False, None, None), (True, "2", "3"), (False, "2", "2")]
)
def test_the_environment_says_what_it_is_on_top_of(
    monkeypatch: pytest.MonkeyPatch, is_larger: bool, given: str | None, factor: str | None
) -> None:
    monkeypatch.setenv(VARIABLE, "7")
    presenter_size(is_larger, given)
    assert os.environ.get(VARIABLE) == factor


def test_the_choice_is_remembered_unless_the_settings_say_something_else(window: MainWindow, qtbot: Any) -> None:
    presenter = PresenterSize(window.session, False, window)
    action = window.commands.actions["view.presenter"]
    assert not action.isChecked() and not Memory().is_presenter(False)
    action.trigger()
    assert action.isChecked() and Memory().is_presenter(False)
    action.trigger()
    assert not Memory().is_presenter(False) and Memory().is_presenter(True), "the settings changed: they count"
    qtbot.wait(20)
    assert presenter.next_place is None and window.isVisible(), "back before anything was done"


def test_what_runs_is_waited_for(window: MainWindow, qtbot: Any) -> None:
    presenter = PresenterSize(window.session, False, window)
    job = Job("a video")
    window.document.jobs.append(job)
    window.commands.actions["view.presenter"].trigger()
    qtbot.wait(20)
    assert window.isVisible() and "when a video is done" in window.toasts.messages()[0].sentence
    window.document.jobs.remove(job)
    for hear in list(window.document.on_jobs):
        hear()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert presenter.next_place is not None and presenter.next_place.size == window.size()


def test_who_has_gone_is_not_called_any_more(window: MainWindow) -> None:
    heard: list[str] = []
    with visiting(window.document):
        window.document.observe(lambda before, after: heard.append("state"))
        window.document.change("settings.render.ray_type", "flat")
    window.document.change("settings.render.ray_type", "smooth")
    assert heard == ["state"]
