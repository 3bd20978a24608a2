"""A start waits for nothing that nobody sees yet."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.app.told import told_by
from tests.waiting import PROCESS_S

ROOT = Path(__file__).resolve().parents[4]

FIRST_PAGE = """
import builtins, json, sys
from PySide6.QtCore import QEvent, QObject
hook = builtins.__import__
assert hook.__name__ == "__feature_import__", "PySide6 reads sources no more: import_hook.py can go"
from raygrove.app.document.document import Document
from raygrove.app.settings.settings import Settings
from raygrove.app.ui.window.application import make_application, make_window, open_window
from raygrove.gpu.hierarchy import registry as structures
from raygrove.gpu.shade import registry as ray_types

LATER = ("gpu.face.races", "app.frames.race_report", "app.scene_io.importer", "app.ui.dialogs.palette")
LATER += ("app.ui.dialogs.settings_dialog", "app.ui.dialogs.export_dialog", "app.ui.dialogs.advice_dialog")
LATER += ("gpu.analysis.ray_racing", "app.ui.race.race_view", "app.ui.race.race_bar")
LATER += ("gpu.engine", "gpu.animate.animate", "gpu.hierarchy.bvh.bvh", "gpu.analysis.hot_spots", "app.frames.maker")
LATER += ("gpu.analysis.build_steps", "gpu.face.given_trees", "gpu.shade.base", "app.frames.compile_job")
LATER += ("app.scene_io.sanitise", "app.scene_io.particles.trajectory", "app.scene_io.demos.explode")

application = make_application()
window = make_window(Document(Settings()))

def facts():
    return {
        "foreign": [name for name in ("OpenGL", "PIL", "cupy", "importlib.metadata") if name in sys.modules],
        "early": [name for name in LATER if f"raygrove.{name}" in sys.modules],
        "structures": structures._installed.cache_info().currsize,
        "ray_types": ray_types.ray_types.cache_info().currsize,
        "panels": [dock.objectName() for dock in window.docks if dock.isVisible()],
        "reads_sources": builtins.__import__ is hook,
        "page": window.stack.currentWidget() is window.welcome,
    }

class Look(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint and not found:
            found.append(facts())
        return False

found, look = [], Look()
window.installEventFilter(look)
window.commands.completed.connect(lambda: (found.append(facts()), window.close()))
open_window(window, None)
application.exec()
found[-1]["actions"] = [name for name in window.commands.actions if name.startswith("structure.layout.")]
print(json.dumps(found))
"""


def test_the_first_page_needs_no_structures_no_pictures_and_no_opengl(tmp_path: Path) -> None:
    """Each of them takes a tenth of a start or more; what the menus offer comes once the page is painted."""
    painted, completed = told_by(FIRST_PAGE, tmp_path, ROOT)
    nothing = {"foreign": [], "early": [], "structures": 0, "ray_types": 0, "panels": []}
    assert painted == {**nothing, "reads_sources": False, "page": True}
    assert completed["structures"] == completed["ray_types"] == 1 and "structure.layout.bvh4" in completed["actions"]


TABS = """
import json, sys
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from raygrove.app.document.document import Document
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.ui.window.application import make_application, make_window, open_window

application = make_application()
QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, sys.argv[1])

def begun():
    window = make_window(Document(set_option(Settings(), "window.workspace", "inspect")))
    open_window(window, None)
    window.stack.setCurrentWidget(window.place.page)
    live()
    return window, {dock.objectName(): dock for dock in window.docks}

def live():
    for _ in range(100):
        QApplication.processEvents()

def in_front(window):
    return [dock.objectName() for dock in window.docks if not dock.visibleRegion().isEmpty()]

window, docks = begun()
first = in_front(window)
docks["dock.pick"].raise_()
live()
window.close()
live()
window, docks = begun()
print(json.dumps([first, in_front(window)]))
window.close()
"""


def test_the_tab_in_front_comes_back_from_behind_the_first_page(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", TABS, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=True,
    )
    first, again = json.loads(done.stdout)
    assert "dock.pick" not in first and "dock.pick" in again and "dock.ray" not in again


FAULT = """
import json, sys, time
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication
from raygrove.app.document.document import Document
from raygrove.app.settings.settings import Settings
from raygrove.app.ui.window.application import run
from raygrove.app.ui.window.main_window import MainWindow

shown, hook = [], sys.excepthook

class Live:
    until = time.monotonic() + 60

    def poll(self):
        if not shown:
            window = next(top for top in QApplication.topLevelWidgets() if isinstance(top, MainWindow))
            window.session.notices.shown.connect(lambda notice: shown.append([notice.kind, notice.sentence]))
            shown.append("polled")
            raise ValueError("nobody expected this")

    def has_ended(self):
        return len(shown) > 1 or time.monotonic() > self.until

code = run(Document(Settings()), None, Live())
print(json.dumps([{"code": code, "shown": shown[1:], "is_put_back": sys.excepthook is hook}]))
"""


def test_a_window_tells_errors_that_nobody_expected_and_goes_on(tmp_path: Path) -> None:
    (found,) = told_by(FAULT, tmp_path, ROOT)
    ((kind, sentence),) = found["shown"]
    assert kind == "error" and "nobody expected this" in sentence
    assert found["code"] == 0 and found["is_put_back"]
