"""Measures what the window costs beside its pictures; bench's case `panels` starts it.

In one run: the processor time of the window's thread with all panels shown and with all hidden, in turns, while a scene
plays at sixty frames per second (on a processor some pictures are drawn and then handed over again: StandInMaker); the
processor time of a paused window whose film is complete, and the frames it draws; the longest pauses of the window's
thread while it opens, switches structures, shows its dialogs, exports and closes; and how soon Cancel acts. Shares are
of processor time, so that others on the machine count little.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QDeadlineTimer, QEventLoop
from PySide6.QtWidgets import QApplication, QDialog

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.frames import exporting
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.outcome import Outcome
from raygrove.app.frames.pixel_slots import HostSlot, PixelSlot
from raygrove.app.frames.render_thread import RenderThread
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.ui.dialogs.questions import copy_report
from raygrove.app.ui.measuring.heartbeat import Heartbeat
from raygrove.app.ui.measuring.job import MeasuredWindow, begin, read_job
from raygrove.app.ui.session import frame_loop
from raygrove.app.ui.window.application import make_window, open_window
from raygrove.gpu.scene import Moment, Scene

FRAME_S = 1.0 / 60.0
PICTURES = 24
SHARING = tuple(
    f"dock.{name}"
    for name in (
        *("pick", "boxes", "objects", "clip", "spheres", "materials", "lights"),
        *("ray", "tree", "build", "hot_spots", "divergence", "ranking"),
    )
)
"""Panels that are taken out of the places that they share with others, where one of them is seen."""

REST_S, LONGEST_REST_S = 3.0, 90.0
"""A paused window rests once it has drawn nothing for so long; it is not waited for longer."""

SIDE_BY_SIDE = (1400, 3200)
"""Pixels of a window in which all panels stand beside one another, each with its rows; in a lower one some become tabs.
"""


class StandInMaker(FrameMaker):
    """Draws sixty frames per second at most, as a screen would have it, and at least: while `stands_in` is set, a
    processor that cannot draw so fast draws the first PICTURES of a choice, and these are handed over again and again
    with their statistics. The window cannot tell."""

    stands_in = False
    _due = 0.0
    _choice: object = None
    _number = 0

    def draw(self, scene: Scene, state: State, moment: Moment, slots: Sequence[PixelSlot], is_moving: bool) -> Outcome:
        """One frame, not before its time."""
        now = time.perf_counter()
        if self._due > now:
            time.sleep(self._due - now)
        self._due = max(self._due, now) + FRAME_S
        if not (StandInMaker.stands_in and is_moving and all(isinstance(slot, HostSlot) for slot in slots)):
            return super().draw(scene, state, moment, slots, is_moving)
        choice = (id(scene), state.settings, slots[0].width, slots[0].height)
        if choice != self._choice:
            self._choice, self._kept = choice, list[tuple[Outcome, list[np.ndarray]]]()
        if len(self._kept) < PICTURES:
            outcome = super().draw(scene, state, moment, slots, is_moving)
            self._kept.append((outcome, [slot.pixels.copy() for slot in slots if isinstance(slot, HostSlot)]))
            return outcome
        self._number += 1
        outcome, pictures = self._kept[self._number % PICTURES]
        for slot, picture in zip(slots, pictures, strict=True):
            assert isinstance(slot, HostSlot)
            slot.drawn = (picture.shape[1], picture.shape[0])
            slot.pixels[:] = picture
        return outcome


@dataclasses.dataclass(frozen=True)
class PanelsJob:
    """How long each turn takes in seconds, how many turns and cancels there are, and the picture's pixels: few, so that
    drawing it keeps sixty frames per second."""

    device: str = "auto"
    seconds: float = 3.0
    turns: int = 3
    cancels: int = 3
    size: Sequence[int] = (320, 240)


class PanelMeasurement:
    """Does what a person does in one window, and measures."""

    def __init__(self, window: MeasuredWindow, job: PanelsJob) -> None:
        self._window, self._job, self._frames = window, job, 0
        self.heartbeat = Heartbeat(window.loop)
        self.cancels: dict[str, list[float]] = {}
        window.loop.frame_arrived.connect(self._count)

    def _count(self, frame: object) -> None:
        self._frames += 1

    def run(self, seconds: float) -> None:
        """Let the window live."""
        deadline = QDeadlineTimer(round(seconds * 1000))
        while not deadline.hasExpired():
            QApplication.processEvents(
                QEventLoop.ProcessEventsFlag.WaitForMoreEvents | QEventLoop.ProcessEventsFlag.AllEvents
            )

    def until(self, is_done: Callable[[], bool], seconds: float = 120.0) -> None:
        """Let the window live until something is done."""
        deadline = QDeadlineTimer(round(seconds * 1000))
        while not is_done():
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)
            if deadline.hasExpired():
                raise TimeoutError("The window does not come to an end with it.")

    def open_demo(self, name: str) -> None:
        """Open a built-in scene, and wait for its first picture."""
        document, seen = self._window.document, self._frames
        document.close_scene()
        self._window.open_demo(name)
        self.until(lambda: document.scene is not None and not document.jobs and self._frames > seen)

    # -- panels ---------------------------------------------------------------------------------------------------
    def _playing(self, is_shown: bool) -> tuple[float, int]:
        for dock in self._window.docks:
            dock.setVisible(is_shown)
        self.run(1.0)
        cpu, frames = time.thread_time(), self._frames
        self.run(self._job.seconds)
        return time.thread_time() - cpu, self._frames - frames

    def panels(self) -> dict[str, Any]:
        """Milliseconds of the window's thread a frame, with all panels side by side and without; medians of the
        turns."""
        self.heartbeat.rest()
        named = {dock.objectName(): dock for dock in self._window.docks}
        for name in SHARING:
            area = self._window.dockWidgetArea(named[name])
            self._window.removeDockWidget(named[name])
            self._window.addDockWidget(area, named[name])
        self._window.resize(*SIDE_BY_SIDE)
        for path, value in (("settings.render.ray_type", "steps"), ("settings.boxes.show", True)):
            self._window.document.change(path, value)
        StandInMaker.stands_in = True
        turns: dict[bool, list[tuple[float, int]]] = {True: [], False: []}
        for _ in range(self._job.turns):
            for is_shown in (True, False):
                turns[is_shown].append(self._playing(is_shown))
        ms = {
            is_shown: statistics.median(cpu * 1e3 / max(frames, 1) for cpu, frames in found)
            for is_shown, found in turns.items()
        }
        rates = [frames / self._job.seconds for found in turns.values() for _, frames in found]
        StandInMaker.stands_in = False
        self._window.document.change("settings.boxes.show", False)
        return {
            "shown_ms_a_frame": ms[True], "hidden_ms_a_frame": ms[False], "panels_ms_a_frame": ms[True] - ms[False],
            "share_of_a_frame": (ms[True] - ms[False]) / (FRAME_S * 1e3), "frames_a_second": statistics.median(rates),
            "turns_shown": turns[True], "turns_hidden": turns[False],
        }  # fmt: skip

    def idle(self) -> dict[str, float]:
        """A paused window whose film is complete: its share of a core, and the frames it draws."""
        window = self._window
        self.heartbeat.rest()
        for dock in window.docks:
            dock.show()
        window.document.change("settings.render.ray_type", "smooth")
        if window.document.state.timeline.is_playing:
            window.document.toggle_play()
        self.rest()
        cpu, frames, wall = time.process_time(), self._frames, time.perf_counter()
        self.run(self._job.seconds)
        return {
            "share_of_a_core": (time.process_time() - cpu) / (time.perf_counter() - wall),
            "frames": self._frames - frames,
        }

    def rest(self) -> None:
        """Wait until the picture has all that it gets, and a moment more."""
        end = time.perf_counter() + LONGEST_REST_S
        seen, since = -1, 0.0
        while time.perf_counter() < end and (seen != self._frames or time.perf_counter() - since < REST_S):
            if seen != self._frames:
                seen, since = self._frames, time.perf_counter()
            self.run(0.2)

    # -- pauses ---------------------------------------------------------------------------------------------------
    def pauses(self) -> None:
        """What a person does, each under its name."""
        window, beat = self._window, self.heartbeat
        for name in ("orbit", "walker", "cloth"):
            beat.begin("opening built-in scenes")
            self.open_demo(name)
        for name in ("brute_force", "lbvh"):
            beat.begin("switching structures")
            window.session.choices.choose_hierarchy(name)
            self.run(1.0)
        for command in (
            "edit.settings",
            "help.palette",
            "edit.keys",
            "file.export",
            "help.cheat_sheet",
            "help.structure",
            "help.about",
        ):
            beat.begin(window.commands.actions[command].text().replace("&", "").rstrip("…"))
            window.commands.actions[command].trigger()
            self.run(0.5)
            for dialog in window.window().findChildren(QDialog):
                dialog.close()
            self.run(0.2)
        with tempfile.TemporaryDirectory() as folder:
            beat.begin("exporting")
            self._export(folder, range(5))
            self.until(lambda: not window.document.jobs)
            for _ in range(self._job.cancels):
                self._cancel("export", lambda: self._export(folder, range(4000)))
        for _ in range(self._job.cancels):
            self._cancel("opening", lambda: window.open_demo("explode"))
        self._cancel("report", functools.partial(copy_report, window.session))
        beat.begin("full screen and back")
        for _ in range(2):
            window.toggle_full_screen()
            self.run(0.4)
        beat.begin("closing the scene")
        window.commands.actions["file.close"].trigger()
        self.run(0.5)
        beat.begin("end")

    def _export(self, folder: str, numbers: range) -> None:
        from raygrove.app.ui.dialogs.export_dialog import start_export

        document = self._window.document
        assert document.scene is not None
        start_export(
            self._window.session,
            document.state,
            exporting.plan_of(document.state, document.scene, str(Path(folder) / "p_%04d.png"), numbers),
        )

    def _cancel(self, name: str, start: Callable[[], object]) -> None:
        self.heartbeat.begin(f"cancelling: {name}")
        start()
        self.run(0.35)
        jobs = list(self._window.document.jobs)
        begin = time.perf_counter()
        self._window.cancel_jobs()
        self.until(lambda: not self._window.document.jobs)
        self.cancels.setdefault(name, []).extend([time.perf_counter() - begin] if jobs else [])


def main() -> int:
    """Measure, print."""
    job = read_job(PanelsJob)
    settings = set_option(set_option(Settings(), "render.device", job.device), "display.adapt_resolution", False)
    settings = set_option(settings, "window.compile_ahead", False)  # as where all is compiled
    for key, value in (("width", 320), ("height", 240)):
        settings = set_option(settings, f"render.{key}", value)
    setattr(frame_loop, "RenderThread", functools.partial(RenderThread, make_maker=StandInMaker))  # noqa: B010
    begin()
    window = make_window(Document(settings))
    width, height = job.size
    open_window(window, (width, height))
    window.view.setFixedSize(width, height)  # else it would grow where panels are hidden
    measured = PanelMeasurement(window, job)
    measured.open_demo("orbit")
    measured.run(2.0)
    answer: dict[str, Any] = {"panels": measured.panels(), "idle": measured.idle()}
    measured.pauses()
    window.close()
    answer["pauses"] = {name: pause.figures() for name, pause in measured.heartbeat.worst.items()}
    answer["cancel_s"] = {name: max(found) if found else None for name, found in measured.cancels.items()}
    print(
        json.dumps(
            {**answer, "view": window.view.kind, "banners": [banner.sentence for banner in window.toasts.messages()]}
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
