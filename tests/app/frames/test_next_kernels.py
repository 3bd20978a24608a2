"""What may be chosen next is compiled one unit at a time, at the lowest priority, until it is cancelled."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import pytest

from raygrove.app.document.state import State
from raygrove.app.frames import next_kernels
from raygrove.app.frames.next_kernels import (
    RAY_TYPES,
    STRUCTURES,
    NextKernels,
    likely_choices,
    other_structures,
)
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.camera import fit
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy import registry
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.planned_units import planned_units
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.target import host_compiler
from raygrove.gpu.target.base import CompileError, Target, UnitSource
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.target.planning import AheadCompiler
from raygrove.gpu.update.options import UpdateOptions


def test_the_usual_choices_are_prepared_each_once_the_present_one_first(host_target: Target) -> None:
    assert set(RAY_TYPES) <= set(ray_types()) and set(STRUCTURES) <= set(registry.structures())
    settings = set_option(set_option(Settings(), "render.hierarchy", "hploc"), "update.mode", "rebuild")
    found = list(likely_choices(State(settings=settings)))
    kinds = [(one.hierarchy, one.ray_type) for one in found]
    assert kinds[0] == ("hploc", settings.render.ray_type) and len(set(kinds)) == len(kinds)
    assert {kind[1] for kind in kinds if kind[0] == "hploc"} >= set(RAY_TYPES)
    assert {kind[0] for kind in kinds} == set(STRUCTURES)
    scene = make_demo("explode", 200)
    assert any("refit" in source.path for source in planned_units(host_target, scene, found[:1])), "though rebuilt now"


class Compilers:
    """Stand-ins for compilers: how many run at a time, and what they are given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        self.loaded: list[str] = []
        self.at_a_time = self.most = 0
        self.is_endless = False
        self.began = threading.Event()
        monkeypatch.setattr(AheadCompiler, "is_ready", lambda ahead, source: source.path in self.asked)
        monkeypatch.setattr(AheadCompiler, "compile", self.compile)
        monkeypatch.setattr(next_kernels, "planned_units", self.plan)
        monkeypatch.setattr(next_kernels, "load_ahead", self.load)

    def plan(self, target: Target, scene: object, choices: list[ViewSettings]) -> list[UnitSource]:
        return [UnitSource("shared.cu"), UnitSource(f"{choices[0].hierarchy}.cu")]

    def load(self, target: Target, source: UnitSource) -> bool:
        if source.path in self.asked and source.path not in self.loaded:
            self.loaded.append(source.path)
        return source.path in self.loaded

    def compile(self, source: UnitSource, check: Callable[[], None]) -> None:
        self.at_a_time += 1
        self.most = max(self.most, self.at_a_time)
        self.began.set()
        try:
            while self.is_endless:
                check()
                threading.Event().wait(0.005)
            self.asked.append(source.path)
            if source.path == "lbvh.cu":
                raise CompileError("It does not compile.")
        finally:
            self.at_a_time -= 1


@pytest.fixture
def compilers(monkeypatch: pytest.MonkeyPatch) -> Compilers:
    return Compilers(monkeypatch)


def choices() -> list[ViewSettings]:
    return [ViewSettings(hierarchy=name) for name in ("hploc", "lbvh", "ploc")]


def test_units_are_compiled_one_at_a_time_and_a_failure_stops_none(host_target: Target, compilers: Compilers) -> None:
    job = NextKernels(host_target, make_demo("explode", 20), choices())
    job.start()
    assert job.wait(20.0) and job.done == choices()
    assert compilers.asked == ["shared.cu", "hploc.cu", "lbvh.cu", "ploc.cu"] and compilers.most == 1
    assert compilers.loaded == ["shared.cu", "hploc.cu", "ploc.cu"]


def test_of_others_what_is_there_is_loaded_and_nothing_compiled(host_target: Target, compilers: Compilers) -> None:
    compilers.asked = ["grid.cu"]
    others = [ViewSettings(hierarchy=name) for name in ("sbvh", "grid")]
    job = NextKernels(host_target, make_demo("explode", 20), [], others)
    job.start()
    assert job.wait(20.0) and job.done == others and job.compiled == 0
    assert compilers.loaded == ["grid.cu"]


def test_a_choice_that_was_loaded_ahead_loads_no_more(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its units are those that its pictures ask for, all of them."""
    scene = make_demo("explode", 200)
    choice = ViewSettings(hierarchy="median_sah", ray_type="smooth", update=UpdateOptions("rebuild"))
    draw(host_target, scene, choice)  # so that the cache has them
    target = HostTarget(host_target.options)
    job = NextKernels(target, scene, [], [choice])
    job.start()
    assert job.wait(60.0) and job.done == [choice]
    monkeypatch.setattr(target.quick, "library", lambda *given: pytest.fail("a unit was loaded in a frame"))
    draw(target, scene, choice)
    target.close()


def draw(target: Target, scene: Scene, choice: ViewSettings) -> None:
    with Engine(target, scene) as engine:
        view = View(choice, fit(scene.lower, scene.upper), ArrayPixels(target, 32, 24))
        engine.render_frame(Moment(0.0), [view])
        engine.flush()


def test_every_structure_is_a_likely_choice_or_another(host_target: Target) -> None:
    state = State()
    found = [one.hierarchy for one in (*likely_choices(state), *other_structures(state))]
    assert set(found) == set(registry.structures())


def test_a_cancelled_job_ends_its_compiler_and_begins_no_other(host_target: Target, compilers: Compilers) -> None:
    compilers.is_endless = True
    job = NextKernels(host_target, make_demo("explode", 20), choices())
    job.start()
    assert compilers.began.wait(20.0)
    job.cancel()
    assert job.wait(20.0) and job.done == [] and compilers.asked == [] and compilers.at_a_time == 0


PRIORITIES = """
import os, subprocess, sys, time
time.sleep(0.2)
inner = "import os; print(os.getpriority(os.PRIO_PROCESS, 0))"
found = {os.getpriority(os.PRIO_PROCESS, 0), int(subprocess.check_output([sys.executable, "-c", inner]))}
sys.exit(0 if found == {int(sys.argv[1])} else f"error: {found}")
"""


@pytest.mark.parametrize("is_idle", [True, False])
def test_an_idle_compiler_and_what_it_starts_have_the_lowest_priority(is_idle: bool) -> None:
    import os

    wanted = 19 if is_idle else os.getpriority(os.PRIO_PROCESS, 0)
    command = [sys.executable, "-c", PRIORITIES, str(wanted)]
    host_compiler._run_compiler(command, "", lambda: None, is_idle)
