"""Python's collector of garbage rests while the program starts, and for nobody else."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from raygrove.app.system import starting
from tests.waiting import PROCESS_S

VIEW = """
import gc, json, sys
from PySide6.QtCore import QTimer
from raygrove.app.cli.main import main
from raygrove.app.ui.window import application

found, begun = [], application.make_window

def make_window(*given):
    found.append([gc.isenabled(), gc.get_freeze_count() > 0])
    window = begun(*given)
    def look():
        if gc.isenabled():
            found.append([gc.isenabled(), gc.get_freeze_count() > 10000])
            window.close()
        else:
            QTimer.singleShot(20, window, look)
    QTimer.singleShot(0, window, look)
    return window

application.make_window, application.STARTED_MS = make_window, 50
main(["view"])
print(json.dumps(found))
"""


def test_a_window_starts_without_the_collector_and_goes_on_with_it(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", VIEW],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=True,
    )
    assert json.loads(done.stdout) == [[False, False], [True, True]]


def test_who_began_nothing_ends_nothing() -> None:
    frozen = gc.get_freeze_count()
    starting.end()
    assert gc.isenabled() and gc.get_freeze_count() == frozen


def test_a_program_without_a_collector_keeps_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "freeze", lambda: pytest.fail("nothing had begun"))
    gc.disable()
    try:
        starting.begin()
        starting.end()
        assert not gc.isenabled()
    finally:
        gc.enable()
