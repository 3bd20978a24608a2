"""How large the next picture is, how many samples it grows to, and how many of its rows are drawn at a time.

While something moves pictures are as small as the frame rate asks. A picture at rest is first as large as can be waited
for; then the whole one takes its place, some rows at a time where it is slow, so that whoever wants another picture is
heard in between. Who was interrupted and comes with another picture sees that one for sure, or nothing would ever be
shown while a setting is dragged. No picture is smaller than display.minimum_scale says, unless it would be waited for
too long; one of something that moves and takes long at that size is drawn some rows at a time, too, and kept: only
another choice stops it.
"""

from __future__ import annotations

import collections
import dataclasses
import time
from statistics import median

from raygrove.app.frames.resolution import (
    ROWS_LIMIT_MS,
    STILL_LIMIT_MS,
    TILE_ROWS,
    Pace,
    first_scale,
    next_scale,
    observed,
    probed,
    refined_scale,
    rows_at_once,
    still_scale,
    whole_ms,
)
from raygrove.app.settings.settings import DisplayOptions
from raygrove.gpu.stats import FrameStatistics, joined

LATEST = 9
"""Of so many pictures the median says what it takes to enlarge one, and to draw boxes and the like over it."""

FIRST_SHARE = 8
"""Where no pace is known, the first rows of a picture at rest are one in so many."""

KEPT_CHOICES = 64
"""Of so many choices is remembered what they took: each step of an option that is dragged is one."""

DARED_S = 0.15
"""Seconds of rays that the first picture of a choice is given, where it can be stopped: most take a fifth of that."""

FIRST_MS = 50.0
"""From the choice to its first picture, at least a smaller one."""

SHOWING_MS = 8.0
"""Of that, behind the rays, for all that brings a picture to the screen."""

ENLARGING_MS = 3.0
"""What it is thought to take to enlarge a picture, before one was."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """A picture: the `scale` of its sides, the `samples` it grows to, and how many rows the next frame draws at most,
    0 for all that are left. One that is kept is drawn to its end before another picture of the same choice."""

    scale: float
    samples: int
    most_rows: int = 0
    is_kept: bool = False


@dataclasses.dataclass
class Progress:
    """A sample of which some rows are drawn: of which picture, how many, and what its frames were."""

    key: object
    plan: Plan
    rows: int = 0
    frames: tuple[FrameStatistics, ...] = ()
    preparing_ms: float = 0.0


class Pacing:
    """See the module. Pictures are told apart by keys; everything is of the first view."""

    def __init__(self) -> None:
        self.pace = Pace()
        self.is_first = True
        """Whether there is no whole picture of the choice yet."""
        self.progress: Progress | None = None
        self._choice: object = None
        self._scale = 0.0
        self._still_key: object = None
        self._row_ms = 0.0
        self._observed_id = self._height = 0
        self._enlarging, self._enlarging_ms = collections.deque[float](maxlen=LATEST), 0.0
        self._overlays, self._overlays_ms = collections.deque[float](maxlen=LATEST), 0.0
        self._is_owed = False
        self.is_tried = self.is_dared = self._was_left = False
        """Whether it is known that the choice is not slow beyond measure, and whether the next picture is dared."""
        self.was_stopped = self._is_seen = False
        """Whether the first picture of the choice before was stopped: who goes on choosing has seen nothing of it, and
        the next is drawn to its end. And whether something of the present choice was seen."""
        self._dared_at = self._asked_at = self._lost_ms = 0.0
        self._rays: object = None
        self._full_ms: dict[object, float] = {}
        self._thought_ms = 0.0

    def begin(self, choice: object, rays: object) -> bool:
        """The next picture is drawn by this structure (`choice`), by `rays` of this type in this scene; whether that
        is another choice, whose pace has to be learnt anew: until then it is thought to be what it was the last time,
        or that of the structure before."""
        if (choice, rays) == (self._choice, self._rays):
            return False
        if rays != self._rays:
            self._rays, self._thought_ms = rays, 0.0
            self._full_ms.clear()
        elif self.pace.is_known:
            self._thought_ms = self._pixel_ms(1.0)
            self._remember(self._choice, self._thought_ms)
        self._thought_ms = self._full_ms.get(choice, self._thought_ms)
        self.pace, self._choice, self.progress, self._still_key, self._row_ms = Pace(), choice, None, None, 0.0
        self.is_first, self.is_tried, self._was_left, self._is_seen = True, False, False, False
        return True

    def _remember(self, choice: object, full_ms: float) -> None:
        self._full_ms.pop(choice, None)
        self._full_ms[choice] = full_ms
        if len(self._full_ms) > KEPT_CHOICES:
            del self._full_ms[next(iter(self._full_ms))]

    def dare(self, may_stop: bool, asked_at: float | None) -> None:
        """Decide whether the first picture of a choice is drawn at once, without a tiny one before it: most are quick.
        It has to be one that may be stopped, and was not left for it yet. It was asked for at `asked_at`, in seconds of
        time.perf_counter(), None: now."""
        self.is_dared = may_stop and not (self.is_tried or self._was_left or self.progress is not None)
        self._dared_at = time.perf_counter()
        self._asked_at = self._dared_at if asked_at is None else asked_at

    def leave_dared(self, preparing_ms: float) -> bool:
        """A picture was stopped, for which so much had been prepared. Whether that was the dared one: then a tiny one
        has to be tried after all, and what was lost counts as preparing it."""
        is_dared, self.is_dared = self.is_dared, False
        self._was_left |= is_dared
        self._lost_ms = preparing_ms + (time.perf_counter() - self._dared_at) * 1000.0 if is_dared else 0.0
        return is_dared

    def take_lost_ms(self) -> float:
        """What was lost to a picture that was left, for the next one."""
        lost_ms, self._lost_ms = self._lost_ms, 0.0
        return lost_ms

    @property
    def patience_s(self) -> float:
        """Seconds that the rays of the picture that was planned last are given, 0: as long as they take."""
        return DARED_S if self.is_dared else 0.0

    def plan(self, display: DisplayOptions, samples: int, key: object, is_moving: bool, height: int) -> Plan:
        """The next frame of the picture `key`, which is `height` rows high at full size."""
        progress, self._height = self.progress, height
        if progress is not None and progress.key == key and (progress.plan.is_kept or not is_moving):
            rows = self._rows_at_once(round(height * progress.plan.scale) - progress.rows)
            return dataclasses.replace(progress.plan, most_rows=rows)
        is_owed = (progress is not None or self.was_stopped) and not is_moving
        self.progress, self._is_owed = None, is_owed
        scale = self._scale = self._next_scale(display, key, is_moving, height)
        still = display.still_samples if self._is_smoothed(display, scale) else 1
        wanted = 1 if is_moving else max(samples, still)
        if is_moving or is_owed:
            is_slow = self.pace.is_known and self._pixel_ms(scale) > ROWS_LIMIT_MS
            rows = self._rows_at_once(round(height * scale), scale) if is_slow else 0
            return Plan(scale, wanted, rows, is_kept=rows > 0)
        return Plan(scale, wanted, 0 if self.is_dared else self._rows_at_once(round(height * scale), scale))

    def _is_smoothed(self, display: DisplayOptions, scale: float) -> bool:
        """Whether a picture at rest is drawn again and again for smooth edges: not where that is slow."""
        return not display.adapt_resolution or (scale >= 1.0 and whole_ms(self.pace) <= STILL_LIMIT_MS)

    def _next_scale(self, display: DisplayOptions, key: object, is_moving: bool, height: int) -> float:
        if not display.adapt_resolution:
            return 1.0
        if is_moving or self._is_owed:
            pace = Pace(1.0, self._thought_ms, 0.0, self._thought_ms > 0.0) if self.is_dared else self.pace
            pace = dataclasses.replace(pace, fixed_ms=pace.fixed_ms + self._overlays_ms)
            return next_scale(pace, display.minimum_fps, display.minimum_scale, self._enlarging_ms)
        if self.is_dared:
            room_ms = FIRST_MS - SHOWING_MS - (time.perf_counter() - self._asked_at) * 1000.0
            enlarging_ms = self._enlarging_ms or ENLARGING_MS
            return first_scale(self._thought_ms, room_ms, display.minimum_scale, enlarging_ms)
        first = still_scale(self.pace, display.minimum_scale)
        if key != self._still_key or self._scale < first:
            return max(first, self._scale if key == self._still_key else 0.0)
        return max(refined_scale(self.pace, height, display.minimum_scale), self._scale)

    def grows(self, display: DisplayOptions, height: int) -> bool:
        """Whether the picture at rest that was drawn last will be followed by a larger one."""
        return self._next_scale(display, self._still_key, False, height) > self._scale

    def _rows_at_once(self, rows: int, scale: float = 0.0) -> int:
        row_ms = self._row_ms
        if scale and self.pace.is_known:
            row_ms = self._pixel_ms(scale) / max(rows, 1)
        return rows_at_once(row_ms, rows) if row_ms else max(1, rows // FIRST_SHARE // TILE_ROWS) * TILE_ROWS

    def expected_ms(self, scale: float) -> float:
        """What the pixels of a picture of this scale are thought to take; 0 where nothing is known."""
        return self._pixel_ms(scale) if self.pace.is_known else 0.0

    def _pixel_ms(self, scale: float) -> float:
        return self.pace.pixel_ms * (scale / self.pace.scale) ** 2

    def probe(self, statistics: FrameStatistics, scale: float, height: int) -> None:
        """A tiny picture has been tried, which tells little of a fast one and enough of a slow one."""
        pixel_ms, fixed_ms = split(statistics)
        self._row_ms, self.pace = pixel_ms / scale**2 / max(height, 1), probed(scale, pixel_ms, fixed_ms)

    # -- what frames took -----------------------------------------------------------------------------------------
    def draw_rows(
        self, key: object, plan: Plan, rows: int, preparing_ms: float, ms: float, frame: FrameStatistics
    ) -> None:
        """So many rows of a sample have been drawn, in `ms`; there are more to come."""
        progress = self.progress or Progress(key, plan)
        progress.rows, progress.frames = progress.rows + rows, (*progress.frames, frame)
        progress.preparing_ms += preparing_ms
        self.progress, self._row_ms = progress, ms / max(rows, 1)

    def joined(self, statistics: FrameStatistics) -> FrameStatistics:
        """The rows that are there and the last ones, drawn in the frame of `statistics`, as one frame."""
        return joined((*(self.progress.frames if self.progress is not None else ()), statistics))

    @property
    def prepared_ms(self) -> float:
        """What went into preparing the rows that are there."""
        return self.progress.preparing_ms if self.progress is not None else 0.0

    @property
    def share(self) -> float:
        """How much of the sample under way is there."""
        progress = self.progress
        return progress.rows / max(round(self._height * progress.plan.scale), 1) if progress is not None else 0.0

    @property
    def is_owed(self) -> bool:
        """Whether the picture that was planned last is one that whoever was interrupted sees for sure."""
        return self._is_owed

    def give_up(self) -> None:
        """A picture was stopped on its way; the next one is owed."""
        self.progress, self.was_stopped = Progress(object(), Plan(self._scale, 1)), not self._is_seen

    def end_sample(self, key: object, is_moving: bool) -> None:
        """A sample is whole."""
        self.is_first = self.is_dared and self._scale < 1.0  # the whole one shows the same tree
        self.progress, self._is_owed, self.is_dared, self.is_tried = None, False, False, True
        self._still_key, self.was_stopped, self._is_seen = None if is_moving else key, False, True

    def observe(self, statistics: FrameStatistics | None, width: int) -> None:
        """A frame has finished, perhaps some frames ago; full size is `width` pixels wide."""
        if statistics is None or not statistics.views or statistics.frame_id in (0, self._observed_id):
            return
        self._observed_id = statistics.frame_id
        if sum(view.rays for view in statistics.views) > 0:
            self.pace = observed(self.pace, statistics.views[0].width / width, *split(statistics))

    def observe_enlarging(self, spent_ms: float) -> None:
        """What it took to enlarge a picture, after its frame; 0: it was not enlarged."""
        if spent_ms > 0.0:
            self._enlarging.append(spent_ms)
            self._enlarging_ms = median(self._enlarging)  # a busy machine takes long now and then

    def observe_overlays(self, spent_ms: float) -> None:
        """What the processor spent on what is drawn over a picture, after its frame."""
        self._overlays.append(spent_ms)
        self._overlays_ms = median(self._overlays)  # a tree that is read back takes long now and then

    def take_at_its_word(self, statistics: FrameStatistics | None, width: int) -> None:
        """So slow a picture is waited for, and it alone says how slow: it may have been thought slower than it is."""
        if statistics is not None and sum(view.rays for view in statistics.views) > 0:
            self.pace, self._observed_id = Pace(), 0
            self.observe(statistics, width)


def split(statistics: FrameStatistics) -> tuple[float, float]:
    """A frame's milliseconds that grow with the pixels, and the others."""
    pixel_ms = sum(view.trace_ms + view.shade_ms for view in statistics.views)
    return pixel_ms, max(max(statistics.frame_ms, statistics.host_ms) - pixel_ms, 0.0)
