"""Python's collector of garbage rests while the program starts, and for nobody else."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from raygrove.app.system import starting
from tests.app.told import told_by

ROOT = Path(__file__).resolve().parents[3]

VIEW = """
import gc, json, sys
from PySide6.QtCore import QTimer
from raygrove.app.cli.main import main
from raygrove.app.ui.window import application

found, begun = [], application.make_window

def make_window(*given, **named):
    found.append([gc.isenabled(), gc.get_freeze_count() > 0])
    window = begun(*given, **named)
    def look():
        if gc.get_freeze_count():
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

OPENING = """
import json, sys
from raygrove.app.cli.main import main
from raygrove.app.document.document import Document

def open_demo(document, name):
    print(json.dumps([name, "shiboken6" in sys.modules, "PySide6.QtCore" in sys.modules]))
    sys.exit()

Document.open_demo = open_demo
main(["view", "--demo", "walker"])
"""


def test_the_binding_is_there_before_a_scene_is_read_beside_the_rest_of_qt(tmp_path: Path) -> None:
    assert told_by(OPENING, tmp_path, tmp_path) == ["walker", True, False]


def test_a_window_starts_without_the_collector_and_leaves_out_what_the_start_made(tmp_path: Path) -> None:
    assert told_by(VIEW, tmp_path, tmp_path) == [[False, False], [False, True]]


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
        starting.forget()
        assert not gc.isenabled()
    finally:
        gc.enable()


FIRST_IMPORTS = """
import json, os, sys

class Note:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            found.append(os.environ.get("OPENBLAS_NUM_THREADS"))
            sys.meta_path.remove(self)

found = []
sys.meta_path.insert(0, Note())
import raygrove.__main__
from raygrove.app.document.document import Document
print(json.dumps(found))
"""


@pytest.mark.parametrize("given", ["", "3"])
def test_products_of_matrices_take_one_thread(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numpy reads that as it is imported, in the program as a person starts it; who has said otherwise is obeyed."""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if given:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", given)
    assert told_by(FIRST_IMPORTS, tmp_path, ROOT) == [given or "1"]
