"""Walks through the real window by mouse and keyboard, and fails where a step does not do what is written:
`python -m tests.app.ui.walk [--screens 900x600,1280x720] [--themes dark,light] [--ways tour] [--pictures DIR]`.

Each screen and theme is a program of its own under a virtual X server; `WxH@2` is a screen with two pixels a point.
With --here the walk is in this process, on its DISPLAY, or on no screen at all with QT_QPA_PLATFORM=offscreen.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.app.ui.virtual_screen import ROOT

SCREENS = "900x600,1280x720,1920x1080,1800x1200@2"
LIMIT_S = 900.0


def read(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.app.ui.walk", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--screens", default=SCREENS)
    parser.add_argument("--themes", default="dark,light")
    parser.add_argument("--ways", default="new_user,tour,guide")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--here", action="store_true")
    parser.add_argument("--pauses", type=Path, help="a JSON file for the pauses of the window (with --here)")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Walk on each screen; 1 where one failed."""
    given = read(arguments)
    if given.here:
        return walk_here(given)
    failed = []
    for screen in given.screens.split(","):
        for theme in given.themes.split(","):
            size, _, ratio = screen.partition("@")
            pictures = ["--pictures", str(given.pictures.resolve() / f"{theme}_{screen}")] if given.pictures else []
            environment = {
                key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")
            } | {"QT_QPA_PLATFORM": "xcb", "QT_SCALE_FACTOR": ratio or "1"}
            print(f"{screen}, {theme}", flush=True)
            server = ["xvfb-run", "--auto-servernum", f"--server-args=-screen 0 {size}x24 +extension GLX"]
            walk = [sys.executable, "-m", "tests.app.ui.walk", "--here", "--themes", theme, "--ways", given.ways]
            done = subprocess.run([*server, *walk, *pictures], cwd=ROOT, env=environment, timeout=LIMIT_S, check=False)
            failed += [f"{screen}, {theme}"] * (done.returncode != 0)
    print("Failed on " + "; ".join(failed) if failed else "Every step did what is written.")
    return bool(failed)


class Walk:
    """What the window is driven by: `poll` is called again and again by its event loop, in dialogs, too. `ways` are
    those that may be walked; the usual ones where it is empty."""

    def __init__(
        self,
        given: argparse.Namespace,
        make_hands: Callable[[], object],
        folder: Path,
        ways: Mapping[str, Callable[[Any, Path], Iterator[None]]] | None = None,
    ) -> None:
        self._given, self._make_hands, self._folder, self._ways = given, make_hands, folder, ways
        self._steps: object = None
        self._beat: Any = None
        self._is_under_way = self.has_failed = self._is_over = False

    def poll(self) -> None:
        """One step further."""
        if self._is_under_way or self._is_over:
            return
        self._is_under_way = True
        if self._beat is not None:
            self._beat.beat()
        try:
            self._steps = self._steps or self._walk()
            next(self._steps)  # type: ignore[call-overload]
        except StopIteration:
            self._end()
        except Exception:
            self.has_failed = True
            traceback.print_exc()
            self._end()
        finally:
            self._is_under_way = False
            if self._beat is not None:
                self._beat.pass_over()

    def has_ended(self) -> bool:
        """Asked before each poll: the window then closes."""
        return self._is_over

    def _walk(self) -> object:
        from PySide6.QtWidgets import QApplication

        from raygrove.app.ui.measuring.heartbeat import Heartbeat
        from raygrove.app.ui.window.main_window import MainWindow
        from tests.app.ui.walk.person import Person
        from tests.app.ui.walk.ways import WAYS

        window = next(top for top in QApplication.topLevelWidgets() if isinstance(top, MainWindow))
        window.asks_before_quitting = False
        room = window.screen().availableGeometry()
        if QApplication.platformName() != "offscreen":
            window.setGeometry(room)
        person = Person(window, self._make_hands(), self._given.pictures)  # type: ignore[arg-type]
        self._person = person
        yield from person.rest(0.3)
        if self._given.pauses is not None:
            self._beat = person.beat = Heartbeat(window, watches=True)
        for name in self._given.ways.split(","):
            began = time.monotonic()
            print(name, flush=True)
            yield from (self._ways or WAYS)[name](person, self._folder)
            larger = window.frameGeometry().united(room) != room
            assert not larger or QApplication.platformName() == "offscreen", f"{window.frameGeometry()} left {room}"
            print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)

    def _end(self) -> None:
        from PySide6.QtWidgets import QApplication

        if self.has_failed and self._given.pictures is not None:
            self._person.picture("failed")
        self._is_over = True
        if self._beat is not None:
            self._beat.rest()
            self._given.pauses.write_text(json.dumps(told(self._beat)), encoding="utf-8")
        for top in QApplication.topLevelWidgets():
            if top.isModal() and top.isVisible():
                top.close()


def told(beat: Any) -> dict[str, Any]:
    """The pauses of a walk: milliseconds of each, and those that were seen, with what was done then."""
    return {"pauses_ms": [round(ms, 2) for ms in beat.all_ms], "late": [one.told() for one in beat.late]}


def walk_here(given: argparse.Namespace) -> int:
    """Walk in this process."""
    folder = Path(tempfile.mkdtemp(prefix="raygrove-walk-"))
    os.environ["XDG_CONFIG_HOME"] = str(folder / "settings")
    from raygrove.app.system import starting

    starting.begin()  # as the command does
    from raygrove.app.document.document import Document
    from raygrove.app.settings.settings import Settings, set_option
    from raygrove.app.ui.window.application import run
    from tests.app.ui.walk.hands import QtHands, XHands

    settings = set_option(set_option(Settings(), "window.theme", given.themes.split(",")[0]), "render.device", "cpu")
    is_seen = os.environ.get("QT_QPA_PLATFORM") != "offscreen"
    walk = Walk(given, XHands if is_seen else QtHands, folder)
    run(Document(settings), None, walk)
    return int(walk.has_failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
