"""Medians of the last second: robust against one slow frame, of the newest frames alone, and adding up to the frame."""

from __future__ import annotations

import dataclasses
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.app.document.state import State
from raygrove.app.frames.frame_history import PARTS, parts_of
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.ui.pipeline.figures import LastSecond, Sample, is_shown_again
from raygrove.gpu.scene import Moment, Scene
from tests.app.stand_ins import made_statistics


def frame(**changes: Any) -> FinishedFrame:
    request = FrameRequest(Scene("a scene"), State(), Moment(), (), is_moving=True)
    values = {
        "request": request, "frame_id": 7, "drawn": (512, 384), "samples": 1, "samples_wanted": 4,
        "statistics": made_statistics(), "frame_ms": 19.5, "target_name": "host", "device_name": "a processor",
        **changes,
    }  # fmt: skip
    return FinishedFrame(**values)


def sample(time: float, update: str = "", **parts: float) -> Sample:
    return Sample(time, {**dict.fromkeys(PARTS, 0.0), **parts}, update)


def test_a_frame_is_its_phases_and_the_rest() -> None:
    parts = parts_of(frame(), 0.8)
    assert parts["animate"] == 0.75 and parts["build"] == 2.0 and parts["trace"] == 12.0 and parts["shade"] == 3.0
    assert parts["display"] == 0.8 and parts["other"] == pytest.approx(19.5 - 17.75)
    assert sum(parts.values()) == pytest.approx(19.5 + 0.8)


def test_what_was_compiled_for_the_first_picture_is_no_part_of_a_frame() -> None:
    parts = parts_of(frame(frame_ms=4000.0, preparing_ms=3980.0), 0.0)
    assert sum(parts.values()) == pytest.approx(20.0)


@pytest.mark.parametrize(("update", "phase"), [("rebuild", "build"), ("refit", "refit")])
def test_an_optimiser_is_taken_out_of_what_it_ends(update: str, phase: str) -> None:
    made = made_statistics()
    phases = {f"{phase}.nodes": 2.0, "optimise.treelets": 3.0, "optimise.nodes": 1.0}
    view = dataclasses.replace(
        made.views[0],
        update=update,
        phases_ms=phases,
        build_ms=6.0 if phase == "build" else 0.0,
        refit_ms=6.0 if phase == "refit" else 0.0,
    )
    parts = parts_of(frame(statistics=dataclasses.replace(made, views=(view,))), 0.0)
    assert parts[phase] == 2.0 and parts["optimise"] == 4.0


def test_without_figures_of_phases_the_frame_is_other() -> None:
    parts = parts_of(frame(statistics=None), 1.5)
    assert parts["other"] == 19.5 and parts["display"] == 1.5


def test_one_slow_frame_does_not_move_the_figures() -> None:
    second = LastSecond()
    for index in range(30):
        second.add(sample(index / 60, trace=9.0 if index == 12 else 2.0, shade=1.0))
    assert second.median("trace") == 2.0 and second.median("trace", "shade") == 3.0 and second.whole() == 3.0


def test_only_the_last_second_counts_and_ends_with_the_newest_frame() -> None:
    second = LastSecond()
    for index in range(10):
        second.add(sample(index / 10, trace=100.0))
    for index in range(15):
        second.add(sample(5.0 + index / 10, trace=1.0))
    assert second.median("trace") == 1.0 and len(second) == 11


def test_refits_and_rebuilds_are_told_apart() -> None:
    second = LastSecond()
    for index in range(9):
        is_build = index % 3 == 0
        second.add(
            sample(index / 60, "rebuild" if is_build else "refit", **{"build" if is_build else "refit": 8.0 - index})
        )
    assert second.updates() == {"rebuild": 3, "refit": 6}
    assert second.median_where("rebuild", "build") == statistics.median([8.0, 5.0, 2.0])
    assert second.median_where("refit", "refit") == statistics.median([7.0, 6.0, 4.0, 3.0, 1.0, 0.0])


@given(st.lists(st.lists(st.floats(0.0, 500.0), min_size=len(PARTS), max_size=len(PARTS)), min_size=1, max_size=40))
def test_the_parts_add_up_to_the_median_frame_or_more(rows: list[list[float]]) -> None:
    second = LastSecond()
    for index, row in enumerate(rows):
        second.add(Sample(index / 100, dict(zip(PARTS, row, strict=True))))
    parts = second.parts()
    phases = sum(value for name, value in parts.items() if name != "other")
    assert sum(parts.values()) == pytest.approx(max(statistics.median(sum(row) for row in rows), phases))


def test_no_frames_have_no_figures() -> None:
    second = LastSecond()
    assert second.whole() == 0.0 and second.updates() == {} and set(second.parts().values()) == {0.0}


def test_a_picture_that_was_handed_over_again_costs_nothing_new() -> None:
    made = made_statistics()
    again = dataclasses.replace(made.views[0], rays=0, update="nothing")
    assert is_shown_again(frame(statistics=dataclasses.replace(made, views=(again,))))
    assert not is_shown_again(frame()) and not is_shown_again(frame(statistics=None))
