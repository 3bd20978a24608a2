"""The resolution that keeps the frame rate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.app.frames.resolution import (
    PATIENCE_MS,
    PROBE_PIXELS,
    ROWS_LIMIT_MS,
    ROWS_MS,
    SCALES,
    STILL_LIMIT_MS,
    TILE_ROWS,
    Pace,
    first_scale,
    next_scale,
    observed,
    probe_size,
    probed,
    refined_scale,
    rows_at_once,
    scaled,
    still_scale,
)

LEAST = SCALES[-1]
"""The smallest scale that can be chosen."""


def simulate(
    full_ms: float, fixed_ms: float, minimum_fps: float, least: float = LEAST, frames: int = 40
) -> list[float]:
    """Scales of successive frames on a machine that needs `full_ms` for all pixels and `fixed_ms` beside them."""
    pace, scales = Pace(), []
    for _ in range(frames):
        scale = next_scale(pace, minimum_fps, least)
        scales.append(scale)
        pace = observed(pace, scale, full_ms * scale**2, fixed_ms)
    return scales


def test_a_fast_machine_draws_everything() -> None:
    assert set(simulate(10.0, 5.0, 20.0)) == {1.0}


@given(st.floats(1.0, 400.0), st.floats(0.0, 30.0), st.sampled_from([20.0, 30.0]))
def test_it_settles_where_the_rate_is_kept_as_far_as_pixels_can(
    full_ms: float, fixed_ms: float, minimum_fps: float
) -> None:
    scales = simulate(full_ms, fixed_ms, minimum_fps)
    settled = scales[-1]
    assert len(set(scales[-10:])) == 1, "the size must not hunt"
    budget = 1000.0 / minimum_fps
    if full_ms * SCALES[-1] ** 2 + fixed_ms <= 0.85 * budget:
        assert full_ms * settled**2 + fixed_ms <= budget
    else:
        assert settled == SCALES[-1] or full_ms * settled**2 <= max(0.15 * 0.85 * budget, 0.25 * fixed_ms)


def test_one_late_build_does_not_make_the_picture_coarse() -> None:
    pace = observed(Pace(), 1.0, 15.0, 5.0)
    assert next_scale(observed(pace, 1.0, 15.0, 70.0), 20.0, LEAST) >= 0.84


def test_a_build_that_takes_all_the_time_leaves_a_picture_to_look_at() -> None:
    assert simulate(30.0, 200.0, 20.0)[-1] > 0.4


def test_a_slow_build_does_not_leave_a_picture_of_a_few_blocks() -> None:
    """A tenth of a second of building, and pixels that would take three: the picture is no stamp, and the frame not
    much later."""
    full_ms, fixed_ms = 300.0, 120.0
    settled = simulate(full_ms, fixed_ms, 20.0)[-1]
    assert settled >= 0.3 and full_ms * settled**2 <= 0.25 * fixed_ms
    assert simulate(full_ms, 900.0, 20.0)[-1] > 0.8
    shares = [simulate(full_ms, fixed, 20.0)[-1] for fixed in (60.0, 120.0, 240.0, 480.0)]
    assert shares == sorted(shares), "the slower the rest, the finer the picture"


def test_what_enlarging_takes_is_room_that_small_pictures_lack() -> None:
    pace = Pace(0.5, 30.0, 10.0, True)  # 42.5 ms are planned, of which pixels have 32.5
    assert next_scale(pace, 20.0, LEAST) == 0.5 and next_scale(pace, 20.0, LEAST, enlarging_ms=4.0) == 0.42
    whole = Pace(1.0, 31.0, 10.0, True)
    assert next_scale(whole, 20.0, LEAST, enlarging_ms=4.0) == 1.0, "a whole one is not enlarged"
    assert next_scale(pace, 20.0, LEAST, enlarging_ms=1e3) > LEAST


def test_it_shrinks_at_once_and_grows_step_by_step() -> None:
    slow = observed(Pace(), 1.0, 300.0, 2.0)
    assert next_scale(slow, 20.0, LEAST) < 0.5
    recovered = Pace(0.25, 0.1, 0.1, True)
    assert next_scale(recovered, 20.0, LEAST) == 0.3


def test_a_still_picture_is_whole_unless_everybody_would_wait_for_it() -> None:
    assert still_scale(Pace(), LEAST) == 1.0 and still_scale(Pace(1.0, 1500.0, 100.0, True), LEAST) == 1.0
    slow = still_scale(Pace(0.25, 1000.0, 0.0, True), LEAST)
    assert slow < 1.0 and 1000.0 * (slow / 0.25) ** 2 <= STILL_LIMIT_MS
    assert still_scale(Pace(1.0, 1e9, 0.0, True), LEAST) == SCALES[-1]


def test_a_first_picture_is_as_large_as_there_is_time_for_or_whole_where_none_is_in_time() -> None:
    assert first_scale(0.0, -1.0, LEAST, 3.0) == 1.0 == first_scale(20.0, 20.0, LEAST, 3.0)
    assert first_scale(20.0, 19.9, 0.5, 3.0) == 0.84 and first_scale(20.0, 13.0, 0.5, 3.0) == 0.5
    assert first_scale(20.0, 12.9, 0.5, 3.0) == 1.0, "not even half of each side is there in time"
    assert first_scale(20.0, 12.9, 0.25, 3.0) == 0.42 and first_scale(20.0, 19.0, 1.0, 0.0) == 1.0


def test_a_probe_warns_only_of_what_is_slow_beyond_measure() -> None:
    for pixels in PROBE_PIXELS:
        size = probe_size(1000, 800, pixels)
        assert abs(size[0] * size[1] - pixels) < 100 and probe_size(20, 10, pixels) == (20, 10)
    assert probed(0.04, 1.0, 5.0) == Pace(), "a tiny picture is a poor measure of ordinary structures"
    assert next_scale(probed(0.04, 200.0, 5.0), 20.0, LEAST) == SCALES[-1]


@pytest.mark.parametrize("size", [(1024, 768), (64, 64), (1, 1), (3000, 20), (16384, 16384)])
@pytest.mark.parametrize("scale", SCALES)
def test_sizes_are_possible_and_keep_the_shape(size: tuple[int, int], scale: float) -> None:
    width, height = scaled(*size, scale)
    assert 1 <= width <= size[0] and 1 <= height <= size[1]
    assert min(width, height) >= min(64, *size)
    assert abs(width / size[0] - height / size[1]) <= 1.0 / min(size)


def test_a_picture_at_rest_is_refined_as_far_as_its_rows_can_be_waited_for() -> None:
    assert (
        refined_scale(Pace(1.0, 10_000.0, 0.0, True), 1080, LEAST) == 1.0 and refined_scale(Pace(), 1080, LEAST) == 1.0
    )
    slow = Pace(0.25, 10_000.0, 0.0, True)
    scale = refined_scale(slow, 1080, LEAST)
    assert still_scale(slow, LEAST) < scale < 1.0
    assert 160_000.0 * scale**2 * TILE_ROWS / (1080 * scale) <= ROWS_LIMIT_MS
    assert refined_scale(Pace(1.0, 1e12, 0.0, True), 1, LEAST) == SCALES[-1]


def test_rows_at_once_take_as_long_as_planned_and_are_few_numbers() -> None:
    assert rows_at_once(0.04, 1080) == 0 and rows_at_once(25.0, 2) == 0
    assert rows_at_once(0.2, 1080) == 128 and rows_at_once(1.0, 1080) == 32 and rows_at_once(100.0, 1080) == TILE_ROWS
    for row_ms in (0.1, 0.3, 0.7, 2.0, 5.0):
        rows = rows_at_once(row_ms, 4000)
        assert ROWS_MS / 2 < rows * row_ms <= ROWS_MS and rows & (rows - 1) == 0


@given(st.floats(1e-3, 1e9), st.floats(0.0, 1e4), st.floats(SCALES[-1], 1.0), st.floats(0.01, 1.0))
def test_no_picture_is_smaller_than_the_smallest_that_is_allowed_unless_nobody_would_wait_for_it(
    pixel_ms: float, fixed_ms: float, least: float, scale: float
) -> None:
    pace = Pace(scale, pixel_ms, fixed_ms, True)
    full_ms = pixel_ms / scale**2
    for chosen in (next_scale(pace, 20.0, least), still_scale(pace, least)):
        assert chosen in (*SCALES, least) and (least <= chosen or full_ms * least**2 > PATIENCE_MS)
        assert chosen <= SCALES[-1] or chosen > least or full_ms * chosen**2 <= PATIENCE_MS
    tiles_ms = full_ms * TILE_ROWS / 1080
    refined = refined_scale(pace, 1080, least)
    assert least <= refined or tiles_ms * least > PATIENCE_MS
    assert (
        tiles_ms * refined <= ROWS_LIMIT_MS
        or (tiles_ms * refined <= PATIENCE_MS and refined <= least)
        or (refined == SCALES[-1])
    )
    width, height = scaled(1920, 1080, refined)
    assert width >= refined * 1920 and height >= refined * 1080


def test_a_frame_that_is_too_slow_for_its_rate_stops_shrinking_at_the_smallest_scale() -> None:
    assert simulate(5000.0, 1.0, 20.0, 0.5)[-1] == 0.5 and simulate(5000.0, 1.0, 20.0, 0.55)[-1] == 0.55
    assert simulate(5000.0, 1.0, 20.0, 1.0)[-1] == 1.0 and simulate(100.0, 1.0, 20.0, 0.5)[-1] == 0.6
    assert simulate(80_000.0, 1.0, 20.0, 0.5)[-1] == 0.25, "half would take 20 s"
