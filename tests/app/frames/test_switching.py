"""Pictures go on by the old choice while the kernels of another one are compiled; a real engine, a cache that lacks
them."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.frames.pixel_slots import HostSlot, SlotExchange
from raygrove.app.frames.render_thread import RenderThread
from raygrove.app.problems.problem import Problem
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.camera import fit
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.planning import AheadCompiler
from tests.waiting import EVENT_S


def drawn_by(frame: FinishedFrame) -> str:
    """The structure of a picture; empty of one without statistics."""
    return "" if frame.statistics is None else frame.statistics.views[0].hierarchy


class Shown:
    """A render thread whose pictures are taken as they come."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.frames, self.problems, self.busy = scene, list[FinishedFrame](), list[Problem](), list[str]()
        self.exchange = SlotExchange((HostSlot(48, 36), HostSlot(48, 36)))
        self.thread = RenderThread(self._hear, self.problems.append, self.busy.append)
        state = replaced(replaced(State(), "settings.render.device", "cpu"), "settings.display.refine_samples", 1)
        self.state = replaced(state, "cameras", (fit(scene.lower, scene.upper),))
        self.count = 0
        self.arrived = threading.Event()

    def _hear(self, frame: FinishedFrame) -> None:
        slot = self.exchange.newest_finished()
        if slot is not None:
            self.exchange.give_back(slot)
        self.frames.append(frame)
        self.arrived.set()

    def ask(self, is_moving: bool = True) -> None:
        """For the next instant of the animation."""
        self.count += 1
        moment = Moment(self.count / 1000.0, frame_id=self.count)
        self.thread.submit(FrameRequest(self.scene, self.state, moment, (self.exchange,), is_moving))

    def structures(self) -> list[str]:
        """What each picture was drawn by."""
        return [name for name in map(drawn_by, self.frames) if name]

    def play(self, until: str) -> None:
        """Ask for one instant after the other until one is drawn by that structure."""
        end = time.monotonic() + EVENT_S
        while not self.frames or drawn_by(self.frames[-1]) != until:
            assert time.monotonic() < end and not self.problems, (self.structures()[-3:], self.busy, self.problems)
            self.arrived.clear()
            self.ask()
            self.arrived.wait(1.0)


@pytest.fixture
def shown() -> Iterator[Shown]:
    made = Shown(make_demo("explode", 200))
    made.thread.start()
    yield made
    assert made.thread.stop()


@pytest.fixture
def empty_cache(shown: Shown, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Pictures by lbvh were drawn, by kernels that stay, and from now on nothing is in the cache."""
    shown.play("lbvh")
    while shown.thread._maker.target_for(shown.state).quick.sources:  # where the cache was empty before, too
        shown.arrived.clear()
        shown.ask()
        shown.arrived.wait(1.0)
    shown.busy.clear()
    tmp_path.chmod(0o700)
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path))
    monkeypatch.setenv("RAYGROVE_HOST_FLAGS", "-O0")


def test_playing_goes_on_by_the_old_structure_while_another_is_compiled(shown: Shown, empty_cache: None) -> None:
    before = len(shown.frames)
    shown.state = replaced(shown.state, "settings.render.hierarchy", "hploc")
    shown.play("hploc")
    drawn = shown.structures()[before:]
    switched = drawn.index("hploc")
    assert drawn[:switched] == ["lbvh"] * switched and switched > 2, "it went on"
    assert set(drawn[switched:]) == {"hploc"}
    told = [sentence for sentence in shown.busy if sentence.startswith("Compiling")]
    assert told[0].startswith("Compiling H-PLOC, first use only: 0 of ") and shown.busy[-1] == ""
    counts = [re.fullmatch(r"Compiling H-PLOC, first use only: (\d+) of (\d+)", sentence) for sentence in told]
    assert [int(found[1]) for found in counts if found] == list(range(len(told))) and len(told) > 5
    instants = [frame.request.moment.frame_id for frame in shown.frames]
    assert instants == sorted(instants) and len(set(instants)) >= len(instants) - 2, "each of a newer instant"
    assert shown.frames[before].request.state.settings.render.hierarchy == "lbvh", "it says what it shows"


def test_a_first_picture_is_compiled_in_haste_and_then_as_it_stays(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path))
    monkeypatch.setenv("RAYGROVE_HOST_FLAGS", "-O0")
    shown.play("lbvh")
    target = shown.thread._maker.target_for(shown.state)
    quick, end = set(target.quick.sources), time.monotonic() + EVENT_S
    assert len(quick) > 5 and all(AheadCompiler(target, is_quick=True).is_ready(source) for source in quick)
    while target.quick.sources:
        assert time.monotonic() < end and not shown.problems
        shown.arrived.clear()
        shown.ask()
        shown.arrived.wait(1.0)
    assert all(AheadCompiler(target).is_ready(source) for source in quick)
    said = [sentence for sentence in shown.busy if sentence.startswith("Optimizing")]
    assert said == [f"Optimizing kernels, first use only: {done} of {len(quick)}" for done in range(len(quick) + 1)]
    assert shown.busy[-1] == "" and set(shown.structures()) == {"lbvh"}


def test_who_takes_the_choice_back_has_the_old_one_at_once(shown: Shown, empty_cache: None) -> None:
    old = shown.state
    shown.state = replaced(old, "settings.render.hierarchy", "hploc")
    while not any(sentence.startswith("Compiling") for sentence in shown.busy):
        shown.arrived.clear()
        shown.ask()
        shown.arrived.wait(1.0)
    shown.state, before = old, len(shown.frames)
    while not any(frame.request.state is old for frame in shown.frames[before:]):
        shown.arrived.clear()
        shown.ask()
        shown.arrived.wait(1.0)
    assert shown.busy[-1] == "" and set(shown.structures()[before:]) == {"lbvh"}


def test_a_picture_at_rest_is_replaced_once_the_new_structure_is_there(shown: Shown, empty_cache: None) -> None:
    shown.state = replaced(shown.state, "settings.render.hierarchy", "hploc")
    shown.ask(is_moving=False)
    end = time.monotonic() + EVENT_S
    while "hploc" not in shown.structures()[-1:]:
        assert time.monotonic() < end and not shown.problems
        time.sleep(0.01)
    found = shown.structures()
    assert found[: found.index("hploc")].count("lbvh") >= 2, "one at rest stood in for it"
    assert shown.frames[-1].request.state is shown.state
