"""Frames whose phases were left untimed show those of the newest frame that did the same, say how old they are, and
teach nobody."""

from __future__ import annotations

from typing import Any

import pytest

from raygrove.gpu.camera import fit
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.frame_log import FrameLog, FrameRecord, ViewRecord
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.stats import HierarchyStatistics
from raygrove.gpu.target.base import FrameTiming, Target
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.update.options import UpdateOptions

from .moving_scene import moving_scene

LEARNT: list[tuple[float, float, int]] = []


def record(update: str, width: int = 64) -> FrameRecord:
    view = ViewRecord(
        *("a/", "lbvh", "bvh2", "smooth", update, "why", width * 32, width, 32, 1),
        structure=HierarchyStatistics,
        secondary_rays=lambda: None,
        learn=lambda *told: LEARNT.append(told),
    )
    return FrameRecord(0, 0.0, 12, 0.5, (view,))


@pytest.fixture
def finished() -> list[FrameTiming]:
    LEARNT.clear()
    return []


class FramesOnly:
    """What a FrameLog asks of a target, which finishes the frames that a test says."""

    name = "cuda:0"
    frames_of, _unclaimed_frames = Target.frames_of, ()

    def __init__(self, finished: list[FrameTiming]) -> None:
        self._finished = finished

    def finished_frames(self) -> list[FrameTiming]:
        taken = self._finished[:]
        self._finished.clear()
        return taken

    def memory(self) -> dict[str, int]:
        return {}

    def idle_bytes(self) -> int:
        return 0


@pytest.fixture
def target(finished: list[FrameTiming]) -> Any:
    return FramesOnly(finished)


@pytest.fixture
def log(target: Any) -> FrameLog:
    return FrameLog(target)


def test_who_asks_first_leaves_the_frames_of_others(log: FrameLog, target: Any, finished: list[FrameTiming]) -> None:
    """Two engines of one target: a frame may be finished when the other one asks."""
    other = FrameLog(target)
    for number in (7, 9, 11):
        log.add(number, record("rebuild"))
        other.add(number + 1, record("refit"))
        finished += [FrameTiming(one, {"animate": one}, 3, float(one), has_phases=True) for one in (number, number + 1)]
        assert other.collect().frame_ms == number + 1  # type: ignore[union-attr]
    told: list[float] = []
    log.on_finished = lambda statistics: told.append(statistics.frame_ms)
    assert log.collect().frame_ms == 11 and told == [7, 9, 11]  # type: ignore[union-attr]


def test_untimed_frames_show_the_phases_of_the_newest_of_their_kind(log: FrameLog, finished: list[FrameTiming]) -> None:
    def next_frame(number: int, update: str, phases: dict[str, float], width: int = 64) -> Any:
        log.add(number, record(update, width))
        finished.append(FrameTiming(number, phases, 3, 9.0 + number, has_phases=bool(phases)))
        return log.collect()

    rebuilt = next_frame(1, "rebuild", {"animate": 0.5, "a/build.sort": 2.0, "a/trace.primary": 4.0})
    refitted = next_frame(2, "refit", {"animate": 0.5, "a/refit": 1.0, "a/trace.primary": 5.0})
    assert (rebuilt.phases_age, refitted.phases_age) == (0, 0) and LEARNT == [(2.0, 4.0, 2048), (1.0, 5.0, 2048)]
    light = next_frame(4, "rebuild", {})
    assert (light.phases_age, light.frame_ms, light.animate_ms) == (3, 13.0, 0.5)
    assert (light.views[0].build_ms, light.views[0].trace_ms, light.views[0].refit_ms) == (2.0, 4.0, 0.0)
    assert light.views[0].mrays_per_s == pytest.approx(2048 / 4.0 / 1e3)
    assert next_frame(5, "refit", {}).views[0].refit_ms == 1.0
    assert next_frame(6, "rebuild", {}, width=32).views[0].phases_ms == {}, "of another size nothing is known yet"
    assert len(LEARNT) == 2, "nothing is learnt twice"


@pytest.mark.parametrize(("update", "stage"), [("rebuild", "build"), ("refit", "refit")])
def test_a_tree_is_finished_when_it_is_optimised(
    log: FrameLog, finished: list[FrameTiming], update: str, stage: str
) -> None:
    log.add(1, record(update))
    finished.append(
        FrameTiming(
            1,
            {f"a/{stage}.nodes": 2.0, "a/optimise.rotations": 5.0, "a/optimise.nodes": 0.5, "a/trace.primary": 4.0},
            3,
            12.0,
            True,
        )
    )
    statistics = log.collect()
    assert statistics is not None
    view = statistics.views[0]
    assert (view.build_ms, view.refit_ms) == ((7.5, 0.0) if stage == "build" else (0.0, 7.5)) and LEARNT == [
        (7.5, 4.0, 2048)
    ]


def test_each_phase_counts_to_its_stage_and_to_no_other(log: FrameLog, finished: list[FrameTiming]) -> None:
    """Powers of two: every sum says which phases are in it. A view whose name begins like another's has its own."""
    names = (
        "build.codes",
        "build.sort",
        "refit",
        "measure",
        "trace.primary",
        "trace.shadow",
        "shade",
        "shade.filter",
        "resolve",
    )
    phases = {f"a/{name}": float(1 << bit) for bit, name in enumerate(names)}
    log.add(1, record("rebuild"))
    finished.append(
        FrameTiming(1, {"animate": 0.5, **phases, "aa/trace.primary": 4096.0, "launch.trace_rays": 8192.0}, 9, 600.0)
    )
    statistics = log.collect()
    assert statistics is not None
    view = statistics.views[0]
    assert (statistics.animate_ms, statistics.frame_ms, statistics.launches) == (0.5, 600.0, 9)
    assert (view.build_ms, view.refit_ms, view.trace_ms, view.shade_ms) == (
        1.0 + 2.0,
        4.0,
        16.0 + 32.0,
        64.0 + 128.0 + 256.0,
    )
    assert view.phases_ms == {name: float(1 << bit) for bit, name in enumerate(names)}
    assert view.mrays_per_s == pytest.approx(2048 / 48.0 / 1e3)
    assert LEARNT == [(7.0, 48.0 + 64.0 + 128.0, 2048)]


@pytest.mark.parametrize(
    ("mode", "samples", "expected"), [("rebuild", True, True), ("rebuild", False, False), ("auto", True, False)]
)
def test_the_engine_samples_only_where_it_may(
    host_target: HostTarget, mode: str, samples: bool, expected: bool
) -> None:
    scene = moving_scene()
    engine = Engine(host_target, scene)
    engine.samples_phases = samples
    view = View(
        ViewSettings(update=UpdateOptions(mode)),
        fit(scene.lower, scene.upper, aspect=2.0),
        ArrayPixels(host_target, 16, 8),
    )
    engine.render_frame(Moment(0.0, frame_id=1), [view])
    assert host_target.samples_phases is expected
    assert engine.flush().phases_age == 0
    engine.close()
    host_target.samples_phases = False
