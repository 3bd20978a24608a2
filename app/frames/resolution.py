"""How many pixels to draw while something moves, so that the picture stays fluent. Pure functions."""

from __future__ import annotations

import dataclasses
import math

SCALES = (1.0, 0.84, 0.71, 0.6, 0.5, 0.42, 0.35, 0.3, 0.25, 0.21, 0.18, 0.15, 0.125)
"""Steps of the side lengths; a step is about 0.71 of the pixels, so that the size changes seldom and never hunts."""

HEADROOM = 0.85
"""A frame is planned to take this part of the time there is, because scenes are not even."""

LEAST_SHARE = 0.15
"""Of the planned time, for the pixels; with HEADROOM the frame still keeps its rate."""

SHARE_OF_DELAY = 1 / 4
"""Of the rest of a frame that takes longer than planned, for the pixels: who waits that long anyway wants something to
see."""

SMALLEST_SIDE = 64

STILL_LIMIT_MS = 2000.0
"""The first picture that is looked at in peace may take so long; the whole one takes its place."""

WHOLE_LIMIT_MS = 50.0
"""What is left of a picture at rest is drawn at once where that takes no longer: so long a drag waits for it."""

ROWS_MS = 50.0
"""What some rows of a slower one are planned to take, between which is looked whether another is wanted."""

ROWS_LIMIT_MS = 500.0
"""A row of tiles may take so long, and nothing can stop it; a picture whose rows take longer stays smaller. A picture
of something that moves is drawn some rows at a time where it takes longer."""

PATIENCE_MS = 5000.0
"""A picture, and a row of tiles of one, that takes longer even as small as display.minimum_scale lets it is drawn
smaller after all: nothing would be seen, and nothing be stopped."""

TILE_ROWS = 8
"""Rows that cannot be drawn apart."""

PROBE_PIXELS = (1200, 5000)
"""Pixels of the pictures that show whether a new choice is slow beyond measure. The second is drawn where the first
says so: a busy machine says it of anything."""


@dataclasses.dataclass(frozen=True)
class Pace:
    """What the last frames have shown: the time that grows with the pixels and the time that does not, in ms at the
    scale drawn last."""

    scale: float = 1.0
    pixel_ms: float = 0.0
    fixed_ms: float = 0.0
    is_known: bool = False


def observed(pace: Pace, scale: float, pixel_ms: float, fixed_ms: float) -> Pace:
    """The pace after one more frame: a running mean that follows a slower frame at once and a faster one in a few."""
    if not pace.is_known:
        return Pace(scale, pixel_ms, fixed_ms, True)
    expected = pace.pixel_ms * (scale / pace.scale) ** 2
    return Pace(scale, _follow(expected, pixel_ms, 0.7), _follow(pace.fixed_ms, fixed_ms, 0.3), True)


def _follow(old: float, new: float, weight_of_slower: float) -> float:
    # What no picture size can help is followed more calmly: one late build must not make the next picture coarse.
    weight = weight_of_slower if new > old else 0.25
    return old + weight * (new - old)


def steps_above(least: float) -> tuple[float, ...]:
    """The scales to choose from where none may be below `least`, which is one of them."""
    return (*(scale for scale in SCALES if scale > least), least)


def steps_below(most: float) -> tuple[float, ...]:
    """The scales that are no larger than `most`, which is one of them."""
    return (most, *(scale for scale in SCALES if scale < most))


def least_scale(full_ms: float, minimum_scale: float) -> float:
    """The smallest scale there is for a picture that takes so long at full size: `minimum_scale`, or the largest step
    below it that is drawn within PATIENCE_MS."""
    steps = steps_below(minimum_scale)
    return next((scale for scale in steps if full_ms * scale**2 <= PATIENCE_MS), steps[-1])


def next_scale(pace: Pace, minimum_fps: float, minimum_scale: float, enlarging_ms: float = 0.0) -> float:
    """The scale of the next moving frame: the largest step whose expected time stays below 1000 / minimum_fps, or the
    least_scale, however long that takes; it grows one step at a time. Where the rest of the frame leaves no room, the
    pixels get a share all the same, which grows with the rest: a coarser picture would not help. A picture that is
    smaller than its place takes `enlarging_ms` more."""
    if not pace.is_known:
        return 1.0
    budget = HEADROOM * 1000.0 / minimum_fps
    full_ms = pace.pixel_ms / pace.scale**2
    delay_ms = max(pace.fixed_ms - budget, 0.0)
    room = max(
        budget - pace.fixed_ms,
        LEAST_SHARE * budget,
        min(LEAST_SHARE * budget + delay_ms, SHARE_OF_DELAY * pace.fixed_ms),
    )
    steps = steps_above(least_scale(full_ms, minimum_scale))
    room_of_small = max(room - enlarging_ms, min(room, LEAST_SHARE * budget))
    rooms = ((scale, room if scale >= 1.0 else room_of_small) for scale in steps)
    wanted = next((scale for scale, most in rooms if full_ms * scale**2 <= most), steps[-1])
    larger = [scale for scale in steps if scale > pace.scale + 1e-6]
    return min(wanted, larger[-1]) if larger and wanted > pace.scale else wanted


def first_scale(full_ms: float, room_ms: float, minimum_scale: float, enlarging_ms: float) -> float:
    """The scale of the first picture of a choice, whose pixels are thought to take `full_ms` at full size and `room_ms`
    at most: full size, or the largest step that is there in time where full size is not. What cannot be in time is no
    smaller for it. Half of each side takes nearly half the time, not a quarter: rays that go through a tree together
    are further apart."""
    steps = (scale for scale in steps_above(minimum_scale) if scale < 1.0)
    in_time = (scale for scale in steps if full_ms * scale + enlarging_ms <= room_ms)
    return 1.0 if full_ms <= room_ms else next(in_time, 1.0)


def still_scale(pace: Pace, minimum_scale: float) -> float:
    """The scale of a picture while nothing moves: full size, or the largest step that is drawn within STILL_LIMIT_MS,
    or the least_scale."""
    full_ms = pace.pixel_ms / pace.scale**2
    steps = steps_above(least_scale(full_ms, minimum_scale))
    return next((scale for scale in steps if full_ms * scale**2 + pace.fixed_ms <= STILL_LIMIT_MS), steps[-1])


def refined_scale(pace: Pace, height: int, minimum_scale: float) -> float:
    """The scale of a picture that is drawn some rows at a time while nothing moves, `height` rows high at full size:
    the largest step of which a row of tiles is drawn within ROWS_LIMIT_MS; else `minimum_scale`, where one takes at
    most PATIENCE_MS, or the largest step of which it does."""
    tiles_ms = pace.pixel_ms / pace.scale**2 * TILE_ROWS / max(height, TILE_ROWS)
    larger = [scale for scale in steps_above(minimum_scale) if tiles_ms * scale <= ROWS_LIMIT_MS]
    smaller = steps_below(minimum_scale)
    return larger[0] if larger else next((scale for scale in smaller if tiles_ms * scale <= PATIENCE_MS), smaller[-1])


def rows_at_once(row_ms: float, rows: int) -> int:
    """How many of `rows` rows, each of which takes so long, to draw at once: 0 for all of them, else 8, 16, 32 ..., so
    that frames of so many rows are repeated."""
    if row_ms * rows <= WHOLE_LIMIT_MS:
        return 0
    tiles = max(1, int(ROWS_MS / (row_ms * TILE_ROWS)))
    return TILE_ROWS << (tiles.bit_length() - 1)


def whole_ms(pace: Pace) -> float:
    """What a picture of full size would take; 0 where nothing is known of that."""
    return pace.pixel_ms / pace.scale**2 + pace.fixed_ms if pace.is_known else 0.0


def probed(scale: float, pixel_ms: float, fixed_ms: float) -> Pace:
    """What a small picture tells before the first one: nothing, unless full size would take too long to be tried."""
    pace = Pace(scale, pixel_ms, fixed_ms, True)
    return pace if still_scale(pace, SCALES[-1]) < 1.0 else Pace()


def probe_size(width: int, height: int, pixels: int) -> tuple[int, int]:
    """The size of that small picture: the same shape."""
    factor = min(1.0, math.sqrt(pixels / (width * height)))
    return max(1, round(width * factor)), max(1, round(height * factor))


def scaled(width: int, height: int, scale: float) -> tuple[int, int]:
    """A picture's size at a scale: the same shape, no side under 64 pixels (or the full size, where that is
    smaller)."""
    scale = max(scale, min(1.0, SMALLEST_SIDE / max(min(width, height), 1)))
    return max(1, min(width, math.ceil(width * scale))), max(1, min(height, math.ceil(height * scale)))
