"""A frame maker that draws nothing, and a render thread on it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from raygrove.app.document.state import State, replaced
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.frames.outcome import Outcome
from raygrove.app.frames.pixel_slots import HostSlot, PixelSlot, SlotExchange
from raygrove.app.frames.render_thread import RenderThread
from raygrove.app.problems.problem import Problem
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import NoDeviceError
from tests.waiting import EVENT_S


class Maker:
    """Draws nothing, remembers everything; fails for the structure brute_force, and from 1 s to 2 s for sah_events."""

    made: list[Maker] = []
    compiles_ahead = False

    def __init__(self, on_busy: Callable[[str], None]) -> None:
        self.times: list[float] = []
        self.refused: list[float] = []
        self.samples = 0
        self.is_closed = self.flushes = self.engines_closed = self.drawing = self.checks = 0
        self.check: Callable[[], None] = lambda: None
        self.asked_at: float | None = None
        self.small = 0
        """So many pictures are smaller than asked for: none of their samples counts."""
        self.parts, self.between, self.is_kept = 0, threading.Event(), False
        self.gate = threading.Event()
        self.gate.set()
        self.key: Any = None
        Maker.made.append(self)

    def draw(self, scene: Scene, state: State, moment: Moment, slots: Sequence[PixelSlot], is_moving: bool) -> Outcome:
        self.drawing += 1
        self.gate.wait(EVENT_S)
        while state.settings.render.hierarchy == "binned_sah":  # is compiled for as long as nobody wants anything else
            self.check()
            self.checks += 1
            time.sleep(0.002)
        if state.settings.render.hierarchy == "brute_force":
            raise NoDeviceError("There is no device for brute_force.")
        if state.settings.render.hierarchy == "sah_events" and 1.0 <= moment.time < 2.0:
            self.refused.append(moment.time)
            raise HierarchyError("The structure sah_events would need too much here.")
        key = (scene, state, moment.time)
        self.samples = (self.samples if key == self.key else 0) + (not self.small)
        self.small = max(self.small - 1, 0)
        self.key = key
        self.times.append(moment.time)
        if len(self.times) <= self.parts:
            self.between.wait(EVENT_S)
            return Outcome(
                *(len(self.times), self.samples - 1, 2, None, "host", "a test"),
                is_whole=False,
                is_kept=self.is_kept,
                share=0.5,
            )
        for slot in slots:
            slot.drawn = (slot.width, slot.height)
        wanted = 1 if is_moving else state.settings.render.samples
        return Outcome(len(self.times), self.samples, wanted, None, "host", "a test", drawn=slots[0].drawn)

    def flush(self) -> None:
        self.flushes += 1

    def close(self) -> None:
        self.is_closed += 1

    def close_engine(self) -> None:
        self.engines_closed += 1


class Bench:
    """A render thread with ears."""

    def __init__(self) -> None:
        self.frames: list[FinishedFrame] = []
        self.problems: list[Problem] = []
        self.thread = RenderThread(self.frames.append, self.problems.append, make_maker=Maker)  # type: ignore[arg-type]
        self.maker: Maker = self.thread._maker  # type: ignore[assignment]  # made when it is first wanted
        self.thread.start()

    def wait(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + EVENT_S
        while not condition():
            assert time.monotonic() < end, "it never came"
            time.sleep(0.002)

    def compile(self) -> None:
        """Let it compile something without an end."""
        self.thread.submit(request(0.0, settings__render__hierarchy="binned_sah"))
        self.wait(lambda: self.maker.checks > 0)

    def compile_on(self) -> None:
        """Until it has looked at its mail again, and compiled on."""
        looks = self.maker.checks
        self.wait(lambda: self.maker.checks > looks + 1)

    def shows(self, exchange: SlotExchange, samples: int) -> bool:
        """Take what is finished off the exchange; whether a picture with so many samples has arrived."""
        slot = exchange.newest_finished()
        if slot is not None:
            exchange.give_back(slot)
        return bool(self.frames) and self.frames[-1].samples == samples


SCENE = Scene("nothing")


def exchange(width: int = 8) -> SlotExchange:
    return SlotExchange((HostSlot(width, 4), HostSlot(width, 4)))


def request(time: float = 0.0, slots: SlotExchange | None = None, moving: bool = False, **changes: Any) -> FrameRequest:
    state = State()
    for path, value in changes.items():
        state = replaced(state, path.replace("__", "."), value)
    return FrameRequest(SCENE, state, Moment(time), (slots or exchange(),), moving)
