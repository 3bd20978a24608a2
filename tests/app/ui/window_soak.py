"""A long day at the window, by chance: structures, layouts, ray types, sizes, scenes, workspaces, playing, dragging,
undo and exports, with the real engine on the host, in one process.

`python -m tests.app.ui.window_soak [--minutes N] [--seed N]`, with a display or QT_QPA_PLATFORM=offscreen. After a
quarter of the time, at most five minutes, and at the end, with the scene closed both times: memory, descriptors,
threads and temporary files; what grows is a finding, and so is a window that does not answer.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from raygrove.app.document.document import Document
from raygrove.app.document.jobs import Job
from raygrove.app.frames import exporting
from raygrove.app.settings import option_tables
from tests.campaign.soak import has_grown, taken_by

WARM_S = 300.0
ANSWER_S = 60.0
SIZES = ((900, 600), (700, 500), (1000, 640))
DEMOS = ("walker", "cloth", "explode", "orbit")


class WindowSoak:
    """A window at work. `combinations` structures with layouts and ray types are drawn by the seed."""

    def __init__(self, folder: Path, seed: int, combinations: int) -> None:
        from PySide6.QtCore import QSettings

        from raygrove.app.ui.picture.painter_view import PainterView
        from raygrove.app.ui.session.session import make_session
        from raygrove.app.ui.window.application import make_application, open_window
        from raygrove.app.ui.window.main_window import MainWindow

        QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(folder))
        self.folder, self.chance, self.counts = folder, random.Random(seed), Counter[str]()
        self.application = make_application(1)
        self.document = Document()
        for key, value in {"render.device": "cpu", "device.threads": 1, "demo.triangles": 300}.items():
            self.document.change(f"settings.{key}", value)
        self.window = MainWindow(make_session(self.document), lambda choice: PainterView())
        open_window(self.window, SIZES[0])
        pairs = [(name, layout) for name, kind in option_tables.builders().items() for layout in kind.layouts()]
        every = [(*pair, ray_type) for pair in pairs for ray_type in ("flat", "smooth", "normals", "steps")]
        self.choices = self.chance.sample(every, min(combinations, len(every)))
        self.scene()

    def step(self) -> None:
        """One thing that a person does, and some of the time after it."""
        names = ("choose", "resize", "scene", "play", "undo", "workspace", "export")
        what = self.chance.choices(names, (8, 4, 2, 4, 4, 2, 1))[0]
        self.counts[what] += 1
        getattr(self, what)()
        self.pass_time(self.chance.uniform(0.02, 0.3))

    def pass_time(self, seconds: float) -> None:
        """Let the window work."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.application.processEvents()
            time.sleep(0.002)

    def until(self, what: str, is_so: Any) -> None:
        """Let it work until something is so. Raises TimeoutError where it never is."""
        end = time.monotonic() + ANSWER_S
        while not is_so():
            if time.monotonic() > end:
                raise TimeoutError(f"the window does not answer: {what}")
            self.pass_time(0.01)

    def choose(self) -> None:
        """Another structure, layout and ray type."""
        for key, value in zip(("hierarchy", "layout", "ray_type"), self.chance.choice(self.choices), strict=True):
            self.document.change(f"settings.render.{key}", value)

    def resize(self) -> None:
        """Another size of the window."""
        self.window.resize(*self.chance.choice(SIZES))

    def scene(self) -> None:
        """Another built-in scene, whose first picture is waited for."""
        before = self.window.loop.last_frame
        self.window.open_demo(self.chance.choice(DEMOS))
        self.until("a scene", lambda: not self.document.jobs and self.document.scene is not None)
        self.until("its picture", lambda: self.window.loop.last_frame is not before or self.window.toasts.messages())

    def play(self) -> None:
        """Play or pause."""
        self.window.commands.actions["animation.play"].trigger()

    def undo(self) -> None:
        """One step back, or forth."""
        self.window.commands.actions[self.chance.choice(("edit.undo", "edit.redo"))].trigger()

    def workspace(self) -> None:
        """Other panels."""
        self.document.change("settings.window.workspace", self.chance.choice(("explore", "inspect")))

    def export(self) -> None:
        """Two pictures, or their figures, of what is shown."""
        state, scene = self.document.state, self.document.scene
        if scene is None:
            return
        out = self.folder / self.chance.choice(("p_%04d.png", "one.json"))
        exporting.export(Job("a soak's export"), state=state, scene=scene,
                         plan=exporting.plan_of(state, scene, str(out), range(2)))  # fmt: skip

    def taken(self) -> dict[str, float]:
        """What the process has, its scene closed and at rest."""
        self.document.close_scene()
        self.pass_time(1.0)
        gc.collect()
        found = taken_by(self.folder)
        self.scene()
        return found


def main(arguments: list[str] | None = None) -> int:
    """Work for the minutes, print what was done and taken; 1 where something has grown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--seed", type=int, default=1, help="another seed does other things (1)")
    parser.add_argument("--combinations", type=int, default=12, help="structures with layouts and ray types (12)")
    names = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="raygrove-soak-") as name:
        work, own = Path(name) / "work", Path(name) / "temporary"
        work.mkdir()
        own.mkdir()
        tempfile.tempdir, os.environ["XDG_CONFIG_HOME"] = str(own), str(work)
        soak, begun = WindowSoak(work, names.seed, names.combinations), time.monotonic()
        first = dict[str, float]()
        while time.monotonic() < begun + 60.0 * names.minutes:
            soak.step()
            if not first and time.monotonic() > begun + min(WARM_S, 15.0 * names.minutes):
                first = soak.taken()
                print(f"after {time.monotonic() - begun:.0f} s: {first}, {dict(soak.counts)}", flush=True)
        last = soak.taken()
        soak.window.close()
        tempfile.tempdir = None
    print(f"after {time.monotonic() - begun:.0f} s: {last}\n{dict(soak.counts)}")
    return int(has_grown(first, last))


if __name__ == "__main__":
    sys.exit(main())
