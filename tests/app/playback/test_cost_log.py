"""Costs by structure and key."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.app.playback.cost_log import FIGURES, CostLog, places_of
from raygrove.app.playback.timeline import Span
from raygrove.gpu.stats import FrameStatistics
from tests.app.stand_ins import made_statistics

KEYS = tuple(index * 0.1 for index in range(41))
SPAN = Span(4.0, 30.0, KEYS)


def statistics(time: float, sah: float | None = 50.0, **view: Any) -> FrameStatistics:
    made = made_statistics(time=time)
    mode = view.get("update_mode", "rebuild")
    structure = dataclasses.replace(made.views[0].structure, sah_cost=sah, measured_time=time, measured_mode=mode)
    return dataclasses.replace(made, views=(dataclasses.replace(made.views[0], structure=structure, **view),))


def parts(frame: FrameStatistics) -> dict[str, float]:
    """The frame's time: of its build a quarter is an optimiser's; showing it takes 1.5 ms, and 0.25 lie between."""
    view = frame.views[0]
    return {
        "animate": frame.animate_ms, "build": 0.75 * view.build_ms, "refit": view.refit_ms,
        "optimise": 0.25 * view.build_ms, "trace": view.trace_ms, "shade": view.shade_ms, "display": 1.5, "other": 0.25,
    }  # fmt: skip


def add(log: CostLog, frame: FrameStatistics, *, at_rest: bool = False) -> None:
    log.add(frame, parts(frame), at_rest)


def line(log: CostLog, structure: str, name: str) -> tuple[list[float], list[float]]:
    """The places that are known."""
    times, values = log.line(structure, name)
    known = np.isfinite(values)
    return times[known].tolist(), values[known].tolist()


def test_places_are_the_keys_and_parts_between_few_of_them() -> None:
    assert places_of(SPAN) == pytest.approx(KEYS)
    few = places_of(Span(2.0, 30.0, (0.0, 0.5, 2.0)))
    assert len(few) >= 32 and {0.0, 0.5, 2.0} <= set(few) and list(few) == sorted(set(few))
    assert places_of(Span()) == ()
    many = places_of(Span(100.0, 30.0, tuple(index / 1000 for index in range(100_000))))
    assert len(many) == 4096 and (many[0], many[-1]) == (0.0, 100.0)
    assert places_of(Span(1.0, 30.0, ()))[-1] == 1.0


def test_a_frame_counts_for_the_nearest_key_and_the_newest_lap_stays() -> None:
    log = CostLog()
    log.begin(SPAN)
    add(log, statistics(0.52, 40.0))
    add(log, statistics(0.48, 41.0, trace_ms=9.0))
    add(log, statistics(3.99, 70.0, update="nothing", build_ms=0.0))
    add(log, statistics(0.5, 41.0, update="nothing", trace_ms=99.0))
    assert line(log, "lbvh, bvh4, rebuild", "sah_cost") == (pytest.approx([0.5, 4.0]), [41.0, 70.0])
    assert line(log, "lbvh, bvh4, rebuild", "trace_ms") == (pytest.approx([0.5, 4.0]), [9.0, 12.0])
    assert line(log, "lbvh, bvh4, rebuild", "build_ms") == (pytest.approx([0.5]), [1.5]), (
        "a tree that was kept tells nothing of a build"
    )
    assert [(row["key"], row["sah_cost"], row["build_ms"]) for row in log.rows()] == [(6, 41.0, 1.5), (41, 70.0, None)]


def test_phases_of_an_earlier_frame_are_none_of_this_place() -> None:
    log = CostLog()
    log.begin(SPAN)
    add(log, statistics(0.5, 40.0))
    add(log, dataclasses.replace(statistics(0.6, 41.0), phases_age=1))
    assert line(log, "lbvh, bvh4, rebuild", "sah_cost")[1] == [40.0, 41.0]
    assert line(log, "lbvh, bvh4, rebuild", "build_ms") == (pytest.approx([0.5]), [1.5])
    assert line(log, "lbvh, bvh4, rebuild", "trace_ms") == (pytest.approx([0.5]), [12.0])


def test_a_picture_at_rest_is_no_spike_among_those_that_play() -> None:
    log = CostLog()
    log.begin(SPAN)
    add(log, statistics(0.5, trace_ms=9.0))
    for time in (0.5, 1.0):
        add(log, statistics(time, trace_ms=300.0, build_ms=3.0), at_rest=True)
    assert line(log, "lbvh, bvh4, rebuild", "trace_ms") == (pytest.approx([0.5, 1.0]), [9.0, 300.0])
    assert line(log, "lbvh, bvh4, rebuild", "build_ms") == (pytest.approx([0.5, 1.0]), [2.25, 2.25]), (
        "a tree costs the same for any picture"
    )
    add(log, statistics(1.0, trace_ms=10.0))
    assert line(log, "lbvh, bvh4, rebuild", "trace_ms") == (pytest.approx([0.5, 1.0]), [9.0, 10.0])


def test_structures_are_kept_apart() -> None:
    log = CostLog()
    log.begin(SPAN)
    add(log, statistics(1.0, 40.0))
    add(log, statistics(1.0, 90.0, update="refit", refit_ms=0.5, build_ms=0.0, update_mode="refit"))
    assert log.structures == ("lbvh, bvh4, rebuild", "lbvh, bvh4, refit") and log.current == "lbvh, bvh4, refit"
    assert line(log, "lbvh, bvh4, refit", "refit_ms")[1] == [0.5] and line(log, "lbvh, bvh4, rebuild", "sah_cost")[
        1
    ] == [40.0]
    log.begin(SPAN)
    assert log.structures == () and log.rows() == []


def test_what_is_not_known_leaves_a_gap_and_a_still_scene_nothing() -> None:
    log = CostLog()
    log.begin(SPAN)
    add(log, statistics(1.0, None, rays=0, update_mode="auto"))
    assert line(log, "lbvh, bvh4, auto", "sah_cost") == ([], []) and line(log, "lbvh, bvh4, auto", "trace_ms") == (
        [],
        [],
    )
    log.begin(Span())
    add(log, statistics(0.0))
    assert log.rows() == [] and line(log, "nobody", "sah_cost") == ([], [])


def test_a_cost_belongs_to_the_tree_that_was_measured() -> None:
    """Frames go on between two measurements, and the first frames of a choice still tell the cost of the tree
    before."""
    log = CostLog()
    log.begin(SPAN)
    add(log, statistics(1.0, 2700.0, update="refit", build_ms=0.0, refit_ms=0.5, update_mode="refit"))
    late = statistics(1.1, 2700.0)
    structure = dataclasses.replace(late.views[0].structure, measured_time=1.0, measured_mode="refit")
    add(log, dataclasses.replace(late, views=(dataclasses.replace(late.views[0], structure=structure),)))
    assert line(log, "lbvh, bvh4, rebuild", "sah_cost") == ([], []) and line(log, "lbvh, bvh4, rebuild", "build_ms")[
        1
    ] == [1.5]
    assert line(log, "lbvh, bvh4, refit", "sah_cost") == (pytest.approx([1.0]), [2700.0])
    unknown = dataclasses.replace(structure, measured_time=None)
    add(log, dataclasses.replace(late, views=(dataclasses.replace(late.views[0], structure=unknown),)))
    assert line(log, "lbvh, bvh4, rebuild", "sah_cost") == ([], [])


def test_what_was_skipped_is_a_gap() -> None:
    log = CostLog()
    log.begin(SPAN)
    for time in (0.0, 0.1, 3.9, 4.0):
        add(log, statistics(time, 50.0))
    times, values = log.line("lbvh, bvh4, rebuild", "sah_cost")
    assert len(times) == 41 and np.isnan(values[2:39]).all() and np.isfinite(values[[0, 1, 39, 40]]).all()


def test_a_line_is_seen_where_a_slow_machine_shows_few_places() -> None:
    """What lies between two frames that played one after the other is no gap, and no figure of anything."""
    log = CostLog()
    log.begin(SPAN)
    for time, sah in ((0.2, 20.0), (0.6, 60.0), (2.4, 50.0), (2.7, 80.0)):
        add(log, statistics(time, sah))
    for name, first, last in (("sah_cost", 20.0, 60.0), ("build_ms", 1.5, 1.5)):
        times, values = log.line("lbvh, bvh4, rebuild", name)
        assert times[np.isfinite(values)] == pytest.approx([0.2, 0.3, 0.4, 0.5, 0.6, 2.4, 2.5, 2.6, 2.7])
        assert values[2:7] == pytest.approx(np.linspace(first, last, 5))
    assert [row["time"] for row in log.rows()] == pytest.approx([0.2, 0.6, 2.4, 2.7])
    add(log, statistics(0.4, 10.0))
    assert log.line("lbvh, bvh4, rebuild", "sah_cost")[1][2:7] == pytest.approx([20.0, 15.0, 10.0, 35.0, 60.0])


def test_steps_of_what_rests_are_no_line() -> None:
    log = CostLog()
    log.begin(SPAN)
    for time in (0.2, 0.6):
        add(log, statistics(time), at_rest=True)
    assert line(log, "lbvh, bvh4, rebuild", "sah_cost")[0] == pytest.approx([0.2, 0.6])


def test_a_total_is_of_one_frame_that_updated_its_tree() -> None:
    log = CostLog()
    log.begin(SPAN)
    add(log, statistics(0.5))
    add(log, statistics(2.0, update="nothing", build_ms=0.0, trace_ms=9.0))
    assert line(log, "lbvh, bvh4, rebuild", "total_ms") == (pytest.approx([0.5]), [0.75 + 2.0 + 12.0 + 3.0 + 1.75])
    row = log.rows()[0]
    assert sum(row[name] for name in FIGURES if name not in ("sah_cost", "total_ms")) == row["total_ms"]
    assert (row["optimise_ms"], row["display_ms"], row["other_ms"]) == (0.5, 1.5, 0.25)
    assert line(log, "lbvh, bvh4, rebuild", "shade_ms") == (pytest.approx([0.5, 2.0]), [3.0, 3.0])
    add(log, statistics(0.5, trace_ms=300.0), at_rest=True)
    assert line(log, "lbvh, bvh4, rebuild", "total_ms")[1] == [19.5], "a larger picture at rest is no spike"
    refit = statistics(0.5, update="refit", refit_ms=0.5, build_ms=0.0, update_mode="refit")
    add(log, refit)
    assert line(log, "lbvh, bvh4, refit", "total_ms")[1] == [0.75 + 0.5 + 12.0 + 3.0 + 1.75]
