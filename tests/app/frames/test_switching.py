"""Pictures go on by the old choice while the kernels of another one are compiled; a real engine, a cache that lacks
them."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.frames import compile_job
from raygrove.app.frames import switching as switching_module
from raygrove.app.frames.contestants import as_drawn
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot, SlotExchange
from raygrove.app.frames.render_thread import RenderThread
from raygrove.app.frames.switching import IN_HASTE, Switching
from raygrove.app.frames.views import view_settings
from raygrove.app.problems.problem import Problem
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.camera import fit
from raygrove.gpu.planned_units import planned_units
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target import planning
from raygrove.gpu.target.base import CompileError, TargetOptions, UnitSource
from raygrove.gpu.target.planning import AheadCompiler
from tests.waiting import EVENT_S

RACERS = "lbvh, hploc"
SOURCES = [UnitSource(f"gpu/of_a_test_{number}.cu") for number in range(3)]


def drawn_by(frame: FinishedFrame) -> str:
    """The structure of a picture; empty of one without statistics."""
    return "" if frame.statistics is None else frame.statistics.views[0].hierarchy


def slots() -> SlotExchange:
    """Where the pictures of a view go."""
    return SlotExchange((HostSlot(48, 36), HostSlot(48, 36)))


class Shown:
    """A render thread whose pictures are taken as they come."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.frames, self.problems, self.busy = scene, list[FinishedFrame](), list[Problem](), list[str]()
        self.exchanges: tuple[SlotExchange, ...] = (slots(),)
        self.thread = RenderThread(self._hear, self.problems.append, self.busy.append)
        state = replaced(replaced(State(), "settings.render.device", "cpu"), "settings.display.refine_samples", 1)
        self.state = replaced(state, "cameras", (fit(scene.lower, scene.upper),))
        self.count, self.raced_in_haste = 0, set[UnitSource]()
        self.arrived = threading.Event()

    def _hear(self, frame: FinishedFrame) -> None:
        for exchange in self.exchanges:
            slot = exchange.newest_finished()
            if slot is not None:
                exchange.give_back(slot)
        if frame.request.state.settings.window.workspace == "race":
            self.raced_in_haste.update(self.thread._maker.target_for(frame.request.state).quick.sources)
        self.frames.append(frame)
        self.arrived.set()

    def ask(self, is_moving: bool = True) -> None:
        """For the next instant of the animation."""
        self.count += 1
        moment = Moment(self.count / 1000.0, frame_id=self.count)
        self.thread.submit(FrameRequest(self.scene, self.state, moment, self.exchanges, is_moving))

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

    def asked(self, question: Callable[[FrameMaker], Any]) -> Any:
        """The answer of what draws."""
        found, is_there = list[Any](), threading.Event()

        def take(answer: Any) -> None:
            found.append(answer)
            is_there.set()

        self.thread.ask("test", question, take)
        assert is_there.wait(EVENT_S)
        return found[0]

    def quick(self) -> set[UnitSource]:
        """The units that were compiled in haste and are drawn by."""
        return set(self.asked(lambda maker: maker.target_for(self.state).quick.sources))

    def wait_for_the_better(self) -> None:
        """Play until none of those is left."""
        end = time.monotonic() + EVENT_S
        while self.quick():
            assert time.monotonic() < end and not self.problems, (self.busy[-3:], self.problems)
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
    shown.wait_for_the_better()  # where the cache was empty before, too
    shown.busy.clear()
    empty(monkeypatch, tmp_path)


def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From now on nothing is in the cache."""
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


@pytest.mark.broad("it compiles a picture's kernels anew, which takes 5 to 9 CPU s")
def test_a_first_picture_is_compiled_in_haste_and_then_as_it_stays(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty(monkeypatch, tmp_path)
    shown.play("lbvh")
    target, quick = shown.asked(lambda maker: maker.target_for(shown.state)), shown.quick()
    assert len(quick) > 5 and all(AheadCompiler(target, is_quick=True).is_ready(source) for source in quick)
    shown.wait_for_the_better()
    assert all(AheadCompiler(target).is_ready(source) for source in quick)
    said = [sentence for sentence in shown.busy if sentence.startswith("Optimizing")]
    assert said == [f"Optimizing kernels, first use only: {done} of {len(quick)}" for done in range(len(quick) + 1)]
    assert shown.busy[-1] == "" and set(shown.structures()) == {"lbvh"}


@pytest.mark.broad("it compiles a picture's kernels anew, which takes 5 to 9 CPU s")
def test_a_race_is_drawn_by_no_kernels_compiled_in_haste(
    shown: Shown, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty(monkeypatch, tmp_path)
    monkeypatch.setattr(Switching, "improve", lambda self, target: None)  # as if its first picture were just there
    shown.play("lbvh")
    quick = shown.quick()
    assert len(quick) > 5
    raced = replaced(replaced(shown.state, "settings.window.workspace", "race"), "settings.race.contestants", RACERS)
    shown.state, shown.exchanges = raced, (slots(), slots())
    end = time.monotonic() + EVENT_S
    while len(shown.frames[-1].request.exchanges) != 2:
        assert time.monotonic() < end and not shown.problems, (shown.busy[-3:], shown.problems)
        shown.arrived.clear()
        shown.ask()
        shown.arrived.wait(1.0)
    target, drawn = shown.asked(lambda maker: maker.target_for(raced)), as_drawn(raced)
    needed = planned_units(target, shown.scene, [view_settings(drawn, place) for place in range(2)])
    assert quick.intersection(needed) and not shown.raced_in_haste.intersection(needed)
    assert all(map(AheadCompiler(target).is_ready, needed)), "both are drawn as they stay"


class SomeFail:
    """Compiles in the place of an AheadCompiler at the full level: the last of SOURCES alone."""

    tried: ClassVar[list[UnitSource]] = []
    ready: ClassVar[set[UnitSource]] = set()

    def __init__(self, target: object) -> None:
        """Of any target."""

    def is_ready(self, source: UnitSource) -> bool:
        return source in self.ready

    def compile(self, source: UnitSource, check: Callable[[], None]) -> None:
        self.tried.append(source)
        if source in SOURCES[:2]:
            raise CompileError(f"There is too little memory for {SOURCES.index(source)}.")
        self.ready.add(source)


class Quick:
    """Units that are drawn by in haste, until SomeFail has others."""

    takes = True
    sources = tuple(SOURCES)

    def exchange(self) -> None:
        self.sources = tuple(source for source in self.sources if source not in SomeFail.ready)


def test_where_units_fail_the_others_are_compiled_as_they_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that fail are left alone, and that is said once."""
    SomeFail.tried, SomeFail.ready = [], set()
    monkeypatch.setattr(planning, "AheadCompiler", SomeFail)
    monkeypatch.setattr(compile_job, "processors", lambda: 1)
    monkeypatch.setattr(compile_job, "expected_work", lambda source: -SOURCES.index(source))
    ended, said = threading.Event(), list[str]()
    monkeypatch.setattr(switching_module, "remark", said.append)
    switching = Switching(lambda sentence: None, ended.set)
    target: Any = SimpleNamespace(quick=Quick(), options=TargetOptions())
    request: Any = SimpleNamespace(state=State())
    for _ in range(3):
        switching.improve(target)
        assert switching._better is not None and ended.wait(EVENT_S)
        ended.clear()
        switching.prepare(request, target)
    assert target.quick.sources == tuple(SOURCES[:2]) and SomeFail.tried == SOURCES
    switching.improve(target)
    assert switching._better is None
    (sentence,) = said
    assert sentence.startswith(IN_HASTE) and sentence.endswith(" There is too little memory for 0.")


@pytest.mark.parametrize(("workspace", "is_filtered"), [("explore", True), ("race", False)])
def test_kernels_of_the_filter_are_compiled_for_pictures_that_are_filtered(
    monkeypatch: pytest.MonkeyPatch, workspace: str, is_filtered: bool
) -> None:
    """Those of a race are not."""
    state = replaced(replaced(State(), "settings.window.workspace", workspace), "settings.race.contestants", RACERS)
    state = replaced(state, "settings.render.ray_type", "path")
    wanted: list[Any] = []

    def job(target: Any, scene: Any, shown: list[Any], *rest: Any, **more: Any) -> Any:
        wanted.extend(shown)
        return SimpleNamespace(start=lambda: None, is_done=False)

    monkeypatch.setattr(compile_job, "scene_job", job)
    request: Any = SimpleNamespace(state=state, scene=Scene("nothing"))
    Switching(lambda sentence: None, lambda: None).compile(request, SimpleNamespace(quick=None))  # type: ignore[arg-type]
    assert wanted and {one.ray_type for one in wanted} == {"path"}
    assert {one.ray_type_options.filtered for one in wanted} == {is_filtered}


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


@pytest.mark.broad("it compiles a picture's kernels anew, which takes 5 to 9 CPU s")
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
