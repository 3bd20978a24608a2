"""What is kept of the last frames, and the medians and ranges that are read of them."""

from __future__ import annotations

import dataclasses
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.app.document.state import State, replaced
from raygrove.app.frames.frame_history import (
    MOST,
    OTHER,
    PARTS,
    PHASES,
    FrameHistory,
    Sample,
    exactly,
    middle,
    parts_of,
    sample_of,
    spreads,
    updates,
)
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.gpu.scene import Moment, Scene
from tests.app.stand_ins import made_statistics

SCENE = Scene("a scene")
REQUEST = FrameRequest(SCENE, State(), Moment(), (), is_moving=True)


def frame(number: int = 7, **changes: Any) -> FinishedFrame:
    """A frame that spends 17.75 ms in its phases: trace 12, shade 3, build 2, animate 0.75."""
    values = {
        "request": REQUEST, "frame_id": number, "drawn": (512, 384), "samples": 1, "samples_wanted": 4,
        "statistics": made_statistics(), "frame_ms": 19.5, "target_name": "host", "device_name": "a processor",
        **changes,
    }  # fmt: skip
    return FinishedFrame(**values)


def traced(number: int, trace_ms: float, **changes: Any) -> FinishedFrame:
    """A frame whose tracing took so long."""
    view = dataclasses.replace(made_statistics().views[0], trace_ms=trace_ms)
    return frame(number, statistics=made_statistics(views=(view,), frame_ms=trace_ms + 5.75, **changes), frame_ms=0.0)


def samples(times: list[float], **changes: Any) -> list[Sample]:
    return [Sample(traced(number, spent), 0.02 * number, **changes) for number, spent in enumerate(times)]


def test_the_parts_of_a_frame_add_up_to_it() -> None:
    found = parts_of(frame(), 0.5)
    assert found == {
        "animate": 0.75, "build": 2.0, "refit": 0.0, "optimise": 0.0, "trace": 12.0, "shade": 3.0, "display": 0.5,
        "other": 1.75,
    }  # fmt: skip
    assert tuple(found) == PARTS and sum(found.values()) == 19.5 + 0.5


def test_what_was_compiled_is_no_part_and_a_slow_device_counts() -> None:
    assert sum(parts_of(frame(frame_ms=5019.5, preparing_ms=5000.0), 0.0).values()) == pytest.approx(19.5)
    slow = frame(frame_ms=1.0, statistics=made_statistics(frame_ms=30.0))
    assert parts_of(slow, 0.0)[OTHER] == 30.0 - 17.75, "the thread that asked a GPU is done long before it"
    assert parts_of(frame(statistics=None), 2.0) == {**dict.fromkeys(PARTS, 0.0), "display": 2.0, "other": 19.5}


@pytest.mark.parametrize(("update", "whole"), [("rebuild", "build"), ("refit", "refit")])
def test_an_optimiser_is_taken_out_of_what_it_ends(update: str, whole: str) -> None:
    spent = {"build_ms": 0.0, "refit_ms": 0.0, f"{whole}_ms": 6.25}
    phases = {f"{whole}.nodes": 2.0, "optimise.treelets": 4.0, "optimise.nodes": 0.25, "trace.primary": 12.0}
    view = dataclasses.replace(made_statistics().views[0], update=update, phases_ms=phases, **spent)
    found = parts_of(frame(statistics=made_statistics(views=(view,))), 0.0)
    assert (found[whole], found["optimise"]) == (2.0, 4.25)
    assert sum(found[name] for name in ("build", "refit", "optimise")) == 6.25


@given(st.lists(st.floats(0.01, 1000.0), min_size=1, max_size=60))
def test_typical_parts_add_up_and_lie_in_their_ranges(times: list[float]) -> None:
    found = spreads(samples(times))
    assert sum(found[name].median for name in PARTS) == pytest.approx(found["frame"].median)
    for name in (*PARTS, "frame"):
        spread = found[name]
        assert spread.least - 1e-9 <= spread.median <= spread.greatest + 1e-9, name
    assert found["step.trace.primary"].median == 12.0, "steps that every frame has are those of the same frames"


@given(st.lists(st.floats(0.01, 1000.0), min_size=1, max_size=7))
def test_of_a_few_frames_the_middle_is_the_median(times: list[float]) -> None:
    assert spreads(samples(times))["trace"].median == pytest.approx(statistics.median(times))
    assert spreads(samples(times))["rate"].median == 65.5


def test_a_rare_slow_frame_does_not_move_the_median() -> None:
    quick = spreads(samples([10.0 + 0.001 * (number % 7) for number in range(60)]))
    slow = spreads(samples([10.0 + 0.001 * (number % 7) for number in range(57)] + [500.0, 600.0, 700.0]))
    assert slow["trace"].median == pytest.approx(quick["trace"].median, abs=0.005)
    assert (slow["trace"].least, slow["trace"].greatest) == (10.0, 700.0)


@given(st.lists(st.floats(0.01, 1000.0), min_size=1, max_size=80))
def test_the_middle_is_a_quarter_with_as_many_on_either_side(times: list[float]) -> None:
    made = samples(times)
    chosen = middle(made)
    beside = len(made) - len(chosen)
    assert beside % 2 == 0 and 1 <= len(chosen) <= max(len(made) // 4 + 1, 2)
    ranked = np.sort([sample.whole for sample in made])
    assert [sample.whole for sample in chosen] == list(ranked[beside // 2 : len(made) - beside // 2])


def test_figures_of_older_phases_count_where_there_are_no_others() -> None:
    timed, repeated = Sample(traced(1, 10.0), 0.0), Sample(traced(2, 90.0, phases_age=1), 0.02)
    assert spreads([timed, repeated])["trace"].greatest == 10.0
    assert spreads([repeated])["trace"].median == 90.0 and spreads([]) == {}


def test_an_update_that_was_not_timed_has_the_time_of_its_kind() -> None:
    """A GPU times every eighth of the frames that it repeats: of a rebuild every tenth none in most seconds."""
    view = made_statistics().views[0]
    refit = dataclasses.replace(view, update="refit", build_ms=0.0, refit_ms=0.5)
    made = [made_statistics(views=(refit,), phases_age=number % 8) for number in range(20)]
    made[10] = made_statistics(views=(dataclasses.replace(view, build_ms=2.5),), phases_age=30)
    shown = [Sample(frame(number, statistics=one), 0.02 * number) for number, one in enumerate(made)]
    found = spreads(shown)
    assert updates(shown) == {"refit": 19, "rebuild": 1}
    assert found["update.rebuild"] == (2.5, 2.5, 2.5) and found["update.refit"].median == 0.5
    assert found["build"].greatest == 0.0, "no part of the frames that were timed"
    assert "update.rebuild" not in spreads(shown[:10])


def test_the_last_second_is_of_one_choice() -> None:
    history = FrameHistory()
    other = dataclasses.replace(REQUEST, state=replaced(State(), "settings.render.hierarchy", "hploc"))
    for number in range(120):
        request = REQUEST if number < 100 else other
        history.add(Sample(frame(number, request=request), number / 60.0))
    assert [sample.frame.frame_id for sample in history.last_second()] == list(range(100, 120))
    for number in range(120, 300):
        history.add(Sample(frame(number, request=other), number / 60.0))
    assert [sample.frame.frame_id for sample in history.last_second()] == list(range(239, 300))
    assert len(history) == MOST and next(iter(history)).frame.frame_id == 60
    still = dataclasses.replace(other, is_moving=False)
    history.add(Sample(frame(300, request=still), 5.01))
    assert len(history.last_second()) == 1, "pictures at rest have another size and other samples"
    history.add(Sample(frame(301, request=still), 5.02, view_size=(640, 480)))
    assert len(history.last_second()) == 1
    history.add(Sample(frame(302, request=still, drawn=(256, 192)), 5.02, view_size=(640, 480)))
    assert len(history.last_second()) == 1, "a smaller picture costs less"
    history.add(Sample(frame(303, request=still), 5.02, view_size=(640, 480)))
    same = dataclasses.replace(still, state=replaced(State(), "settings.render.hierarchy", "hploc"))
    history.add(Sample(frame(304, request=same), 5.03, view_size=(640, 480)))
    assert len(history.last_second()) == 2, "equal settings are the same choice"
    history.clear()
    assert history.last_second() == [] and history.newest is None


def test_a_picture_that_is_handed_over_again_keeps_its_figures() -> None:
    history, view = FrameHistory(), made_statistics().views[0]
    history.add(Sample(frame(1), 0.0, fps=30.0))
    again = dataclasses.replace(view, update="nothing", rays=0, trace_ms=0.0, mrays_per_s=0.0)
    history.add(Sample(frame(2, statistics=made_statistics(views=(again,))), 0.1, fps=60.0))
    assert len(history) == 1 and history.newest is not None
    assert (history.newest.values["trace"], history.newest.fps) == (12.0, 60.0)
    history.add(Sample(frame(3), 0.2))
    history.add(Sample(frame(3), 0.3, paint_ms=4.0))
    assert len(history) == 2 and history.newest.paint_ms == 4.0, "the same frame is one"


@given(st.lists(st.floats(0.001, 0.3), min_size=1, max_size=40), st.floats(0.5, 500.0))
def test_the_rate_of_frames_lies_within_its_range(passed: list[float], fps: float) -> None:
    """The frames of a second of which the first began after a pause: what the window has counted is less."""
    times = np.concatenate([[0.0], np.cumsum(passed)])
    found = spreads([Sample(frame(number), time, fps=fps) for number, time in enumerate(times.tolist())])["fps"]
    assert found.least * (1 - 1e-6) <= found.median <= found.greatest * (1 + 1e-6)
    assert found.median == pytest.approx(len(passed) / times[-1])


def test_rates_of_frames_are_those_between_them() -> None:
    made = [Sample(frame(number), time, fps=33.0) for number, time in enumerate((0.0, 0.02, 0.06, 0.07))]
    found = spreads(made)["fps"]
    assert found == pytest.approx((3 / 0.07, 25.0, 100.0)) and spreads(made[:1])["fps"] == (33.0, 33.0, 33.0)
    still = dataclasses.replace(REQUEST, is_moving=False)
    assert "fps" not in spreads([dataclasses.replace(one, frame=frame(request=still)) for one in made])


def test_one_frame_is_its_own_range_and_updates_are_counted() -> None:
    sample = Sample(frame(), 0.0, fps=50.0)
    found = exactly(sample)
    assert all(spread.least == spread.median == spread.greatest for spread in found.values())
    assert found["frame"].median == 19.5 and found["step.build.sort"].median == 1.5 and found["fps"].median == 50.0
    assert found["update.rebuild"].median == 2.0 and "update.refit" not in found
    refitted = dataclasses.replace(made_statistics().views[0], update="refit")
    other = Sample(frame(statistics=made_statistics(views=(refitted,))), 0.0)
    assert updates([sample, other, sample, Sample(frame(statistics=None), 0.0)]) == {"rebuild": 2, "refit": 1}


def test_a_history_keeps_no_spheres_of_the_window() -> None:
    picture: Any = object()
    made = sample_of(frame(spheres=picture), 3.0, 60.0, (512, 384), "OpenGL")
    assert made.frame.spheres is None and made.paint_ms == 3.0 and set(PHASES) < set(made.parts)
