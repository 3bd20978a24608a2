"""A long day at the window, by chance: structures, layouts, ray types, sizes, scenes, workspaces, playing, dragging,
undo and exports, with the real engine on the host, in one process.

`python -m tests.app.ui.window_soak [--minutes N] [--seed N]`, with a display or QT_QPA_PLATFORM=offscreen. Each choice
is met with each scene, workspace and size; a minute later (and 260 steps, which a busy machine takes longer for), each
minute and at the end, with the scene closed: memory, descriptors, threads and temporary files; what grows is a
finding, and so is a window that does not answer. All is done from within Qt's event loop, as by a person: outside of it
Qt keeps all that is to be deleted later for ever.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import itertools
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from raygrove.app.document.document import Document
from raygrove.app.document.jobs import Job
from raygrove.app.document.log import LIMIT
from raygrove.app.frames import exporting
from raygrove.app.settings import option_tables
from raygrove.app.settings.workspaces import FIRST, WORKSPACES
from raygrove.app.ui.session.scene_files import AT_REST_MS, AT_REST_TIMES
from tests.campaign import kept
from tests.campaign.soak import Looks, conclude, taken_by

ANSWER_S = 60.0
REST_S = AT_REST_TIMES * AT_REST_MS / 1e3 + 0.5
"""After a scene was closed, by when the window has given its memory back."""
STEPS = 260
"""What is done in a minute where nobody else has the processors."""
SIZES = ((900, 600), (700, 500), (1000, 640))
DEMOS = ("walker", "cloth", "explode", "orbit")
Work = Iterator[float]
"""What is done at a window: between its steps the seconds in which the window works."""


NAMES = 60_000


def fill_table_of_names() -> None:
    """Let Python's table of interned texts have the size that it comes to in use. `pathlib` interns the parts of each
    path (3.11), and a name that is gone leaves its place used: after some 200 exports, which have names of their own,
    the table is full of these and made anew twice as large, once, by 1 MiB; from then on it is made anew at that
    size."""
    for number in range(NAMES):
        sys.intern(f"a name that nobody keeps {number}")


def live(work: Work) -> None:
    """Do it in an event loop, which turns between any two steps. Raises what the work raises. One timer serves all
    steps: `QTimer.singleShot` makes a new one each time, and PySide 6.11 ends by SIGSEGV at one of some thousand of
    those when Qt deletes it (docs/reliability.md)."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop, failures, timer = QEventLoop(), list[BaseException](), QTimer(singleShot=True)

    def go_on() -> None:
        try:
            seconds = next(work)
        except StopIteration:
            loop.quit()
        except BaseException as error:  # it would end in Qt, which prints it and goes on
            failures.append(error)
            loop.quit()
        else:
            timer.start(round(seconds * 1e3))

    timer.timeout.connect(go_on)
    timer.start(0)
    loop.exec()
    if failures:
        raise failures[0]


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

    def meet(self) -> Work:
        """Each scene with each choice, in each workspace and at each size, and each of the other things with these; and
        as many changes as the log keeps, of which some can be undone. What is met for the first time takes memory,
        once."""
        steps = (self.export_pictures, self.export_figures, self.play, self.undo, self.play)
        for choice, name in itertools.product(self.choices, DEMOS):
            self.choose(choice)
            yield from self.scene(name)
            for workspace, size in zip(WORKSPACES, SIZES, strict=True):
                self.workspace(workspace)
                self.window.resize(*size)
                yield 0.2
            for step in steps:
                step()
                yield 0.1
        for number in range(LIMIT):
            self.document.change(f"settings.render.{('seed', 'samples')[number % 2]}", 1 + number // 2 % 2)
            yield 0.0

    def step(self) -> Work:
        """One thing that a person does, and some of the time after it."""
        names = ("choose", "resize", "scene", "play", "undo", "workspace", "export")
        what = self.chance.choices(names, (8, 4, 2, 4, 4, 2, 1))[0]
        self.counts[what] += 1
        yield from getattr(self, what)() or ()
        yield self.chance.uniform(0.02, 0.3)

    def until(self, what: str, is_so: Callable[[], object]) -> Work:
        """Let it work until something is so. Raises TimeoutError where it never is."""
        end = time.monotonic() + ANSWER_S
        while not is_so():
            if time.monotonic() > end:
                self.tell_where_all_is()
                raise TimeoutError(f"the window does not answer: {what}")
            yield 0.01

    def tell_where_all_is(self) -> None:
        """What each thread does, and what is asked of it, for who has to find out why."""
        faulthandler.dump_traceback(file=sys.stderr, all_threads=True)
        loop, state = self.window.loop, self.document.state
        print(f"asked for and come: {vars(loop)}", file=sys.stderr)
        print(f"asked of the render thread: {vars(loop._thread)}", file=sys.stderr)
        print(f"{state.settings.window.workspace}, {state.timeline}", file=sys.stderr)
        print(
            f"view: {loop._view}, {loop._view and loop._view.exchanges}, {self.window.size()}",
            file=sys.stderr,
            flush=True,
        )

    def choose(self, choice: tuple[str, ...] | None = None) -> None:
        """Another structure, layout and ray type."""
        values = choice or self.chance.choice(self.choices)
        for key, value in zip(("hierarchy", "layout", "ray_type"), values, strict=True):
            self.document.change(f"settings.render.{key}", value)

    def resize(self) -> None:
        """Another size of the window."""
        self.window.resize(*self.chance.choice(SIZES))

    def scene(self, name: str | None = None) -> Work:
        """Another built-in scene, whose first picture is waited for."""
        before = self.window.loop.last_frame
        self.window.open_demo(name or self.chance.choice(DEMOS))
        yield from self.until("a scene", lambda: not self.document.jobs and self.document.scene is not None)
        is_drawn = lambda: self.window.loop.last_frame is not before or self.window.toasts.messages()  # noqa: E731
        yield from self.until("its picture", is_drawn)

    def play(self) -> None:
        """Play or pause."""
        self.window.commands.actions["animation.play"].trigger()

    def undo(self) -> None:
        """One step back, or forth."""
        self.window.commands.actions[self.chance.choice(("edit.undo", "edit.redo"))].trigger()

    def workspace(self, name: str | None = None) -> None:
        """Other panels."""
        self.document.change("settings.window.workspace", name or self.chance.choice(tuple(WORKSPACES)))

    def export(self) -> None:
        """Two pictures, or their figures, of what is shown."""
        self.chance.choice((self.export_pictures, self.export_figures))()

    def export_pictures(self, out: str = "p_%04d.png") -> None:
        """Two pictures."""
        state, scene = self.document.state, self.document.scene
        if scene is not None:
            plan = exporting.plan_of(state, scene, str(self.folder / out), range(2))
            exporting.export(Job("a soak's export"), state=state, scene=scene, plan=plan)

    def export_figures(self) -> None:
        """Their figures."""
        self.export_pictures("one.json")

    def taken(self, found: dict[str, float]) -> Work:
        """What the process has, as it was at each look before: the same scene, size, workspace and choice, closed as a
        person does and at rest; into `found`."""
        if self.document.state.timeline.is_playing:
            self.play()
        self.window.resize(*SIZES[0])
        self.workspace(FIRST)
        self.choose(self.choices[0])
        yield from self.scene(DEMOS[0])
        gc.collect()
        self.window.commands.actions["file.close"].trigger()
        answers: list[object] = []
        self.window.loop.ask("soak", lambda maker: maker, answers.append)
        yield from self.until("a scene that is closed", lambda: answers)
        yield REST_S
        found.update(taken_by(self.folder))
        yield from self.scene()

    def day(self, minutes: float, looks: Looks) -> Work:
        """All of it, for as long."""
        fill_table_of_names()
        yield from self.meet()
        print(f"all met after {time.monotonic() - looks.begun:.0f} s", flush=True)
        looks.start(minutes)
        while time.monotonic() < looks.end:
            yield from self.step()
            if looks.are_due(self.counts):
                found = dict[str, float]()
                yield from self.taken(found)
                looks.add(found, self.counts)
        found = {}
        yield from self.taken(found)
        looks.add(found, self.counts)
        self.window.close()


def main(arguments: list[str] | None = None) -> int:
    """Work for the minutes, print what was done and taken; 1 where something has grown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long, once all is met (60)")
    parser.add_argument("--seed", type=int, default=1, help="another seed does other things (1)")
    parser.add_argument("--combinations", type=int, default=12, help="structures with layouts and ray types (12)")
    names = kept.parsed(parser, arguments)
    with tempfile.TemporaryDirectory(prefix="raygrove-soak-") as name:
        work, own = Path(name) / "work", Path(name) / "temporary"
        work.mkdir()
        own.mkdir()
        tempfile.tempdir, os.environ["XDG_CONFIG_HOME"] = str(own), str(work)
        looks = Looks(STEPS)
        live(WindowSoak(work, names.seed, names.combinations).day(names.minutes, looks))
        tempfile.tempdir = None
    return conclude(looks, names)


if __name__ == "__main__":
    sys.exit(main())
