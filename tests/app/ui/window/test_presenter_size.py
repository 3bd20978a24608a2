"""Presenter size: remembered for the next start, which Qt shows 1.5 times as large."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from raygrove.app.ui.session.memory import Memory
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.ui.window.presenter_size import VARIABLE, PresenterSize

PROGRAM = """
from raygrove.app.ui.window.presenter_size import presenter_size
import sys
presenter_size(sys.argv[1] == "large")
from raygrove.app.ui.window.application import make_application
from PySide6.QtWidgets import QLabel
application = make_application()
label = QLabel("text")
label.show()
print(label.devicePixelRatioF())
"""


@pytest.mark.parametrize(("size", "given", "ratio"), [("large", "", 1.5), ("usual", "", 1.0), ("large", "2", 3.0)])
def test_everything_is_larger(size: str, given: str, ratio: float) -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", VARIABLE: given or "1"}
    made = subprocess.run([sys.executable, "-c", PROGRAM, size], env=environment, capture_output=True, text=True)
    assert float(made.stdout) == ratio, made.stderr


def test_the_choice_is_remembered_unless_the_settings_say_something_else(window: MainWindow) -> None:
    PresenterSize(window.session, False, window)
    action = window.commands.actions["view.presenter"]
    assert not action.isChecked() and not Memory().is_presenter(False)
    action.trigger()
    assert action.isChecked() and Memory().is_presenter(False)
    assert "next start" in window.toasts.messages()[0].sentence
    action.trigger()
    assert not Memory().is_presenter(False) and Memory().is_presenter(True), "the settings changed: they count"
