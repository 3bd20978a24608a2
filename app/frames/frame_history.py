"""What the last frames cost, phase by phase, and what is read of them: medians and ranges of the last second, or one
frame that was pinned. Plain values.

A frame's time is divided into PARTS, which add up to it: what the clocks give to no phase is `other`.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.gpu.stats import FrameStatistics, ViewStatistics

PHASES = ("animate", "build", "refit", "optimise", "trace", "shade", "display")
"""The phases of a frame, in the order in which they stand everywhere."""

OTHER = "other"
PARTS = (*PHASES, OTHER)
MOST = 240
"""Frames that are kept."""

SECOND = 1.0

INSIDE = ("step.", "update.")
"""How the keys of figures begin that are parts of parts."""

OF_UPDATES = ("update.rebuild", "update.refit")


class Spread(NamedTuple):
    """Median, least and greatest of the values of some frames."""

    median: float
    least: float
    greatest: float


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """One frame: when it came (seconds of a clock), what it took to show it, and how the window then stood: frames per
    second, the view's size in pixels, and the way in which pictures come into it."""

    frame: FinishedFrame
    time: float
    paint_ms: float = 0.0
    fps: float = 0.0
    view_size: tuple[int, int] = (0, 0)
    way: str = ""

    @property
    def statistics(self) -> FrameStatistics | None:
        """What the target has timed; None where it has timed nothing yet."""
        return self.frame.statistics

    @property
    def view(self) -> ViewStatistics | None:
        """The first view's statistics."""
        return self.statistics.views[0] if self.statistics is not None and self.statistics.views else None

    @property
    def is_timed(self) -> bool:
        """Whether the times of phases are this frame's own (FrameStatistics.phases_age)."""
        return self.statistics is not None and self.statistics.phases_age == 0

    @functools.cached_property
    def parts(self) -> dict[str, float]:
        """Milliseconds of each of PARTS."""
        return parts_of(self.frame, self.paint_ms)

    @functools.cached_property
    def row(self) -> tuple[float, ...]:
        """The same as a row of a table."""
        return tuple(self.parts.values())

    @functools.cached_property
    def whole(self) -> float:
        """Milliseconds of the frame: all its parts. What was prepared for the first picture of its kind, kernels above
        all, is no part of it (FinishedFrame.preparing_ms)."""
        return sum(self.parts.values())

    @functools.cached_property
    def values(self) -> dict[str, float]:
        """The figures that change from frame to frame by their keys: parts, the frame, steps of phases
        (`step.build.sort`), rays and millions of them per second (`rays.shadow`, `rate.shadow`)."""
        found = {**self.parts, "frame": self.whole}
        view = self.view
        if view is not None:
            found |= {f"step.{name}": spent for name, spent in view.phases_ms.items()}
            found |= {"rays": float(view.rays), "rate": view.mrays_per_s}
            found |= {f"rays.{kind}": float(count) for kind, count in view.rays_by_kind.items()}
            found |= {f"rate.{kind}": rate for kind, rate in view.mrays_per_s_by_kind.items()}
            if view.structure.sah_cost is not None:
                found["sah"] = view.structure.sah_cost
            if view.update in ("rebuild", "refit"):
                found[f"update.{view.update}"] = view.build_ms + view.refit_ms
        return found


class FrameHistory:
    """The last MOST frames, oldest first."""

    def __init__(self) -> None:
        self._samples: collections.deque[Sample] = collections.deque(maxlen=MOST)

    def __len__(self) -> int:
        return len(self._samples)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    @property
    def newest(self) -> Sample | None:
        """The frame that came last."""
        return self._samples[-1] if self._samples else None

    def add(self, sample: Sample) -> None:
        """One more frame; the same one again takes its place. A picture that was only handed over again, for which
        nothing was traced, keeps the figures of when it was drawn: it is none."""
        newest = self.newest
        if newest is not None and newest.frame.frame_id == sample.frame.frame_id:
            self._samples.pop()
        elif newest is not None and newest.statistics is not None and _is_shown_again(sample):
            self._samples[-1] = dataclasses.replace(newest, fps=sample.fps)
            return
        self._samples.append(sample)

    def clear(self) -> None:
        """No frames."""
        self._samples.clear()

    def last_second(self) -> list[Sample]:
        """The frames of the second before the newest that were drawn with the same settings, as large, and as that one
        moving or at rest: what came before another choice says nothing of it."""
        newest, found = self.newest, []
        for sample in reversed(self._samples):
            assert newest is not None
            if sample.time < newest.time - SECOND or not _is_like(sample, newest):
                break
            found.append(sample)
        return found[::-1]


@dataclasses.dataclass(frozen=True)
class FrameFigures:
    """What is told of some frames: the newest of them, each figure's median and range by its key, and how many frames
    did what to their structure."""

    sample: Sample
    found: Mapping[str, Spread]
    updates: Mapping[str, int]

    def is_there(self, key: str) -> bool:
        """Whether a figure is more than nothing in any frame."""
        return key in self.found and self.found[key].greatest > 0.0

    def ms(self, *names: str) -> float:
        """Milliseconds of some figures together."""
        return sum(self.found[name].median for name in names if name in self.found)

    @property
    def fps(self) -> float:
        """Frames per second."""
        return self.found["fps"].median if "fps" in self.found else self.sample.fps


def figures_of(samples: Sequence[Sample]) -> FrameFigures:
    """What is told of some frames, oldest first; there is one at least."""
    return FrameFigures(samples[-1], spreads(samples), updates(samples))


def figures_of_one(sample: Sample) -> FrameFigures:
    """What is told of one frame."""
    return FrameFigures(sample, exactly(sample), updates([sample]))


def sample_of(frame: FinishedFrame, paint_ms: float, fps: float, view_size: tuple[int, int], way: str) -> Sample:
    """A frame that came now, without the spheres that the window draws itself: a history shall not keep them."""
    kept = frame if frame.spheres is None else dataclasses.replace(frame, spheres=None)
    return Sample(kept, time.monotonic(), paint_ms, fps, view_size, way)


def spreads(samples: Sequence[Sample]) -> dict[str, Spread]:
    """Median and range of each figure (Sample.values) over the frames that have it, by its key.
    Where the target did not time every frame, those count that it has timed, else the newest; of an update that none of
    these made those that did, which have the times of the last one of their kind that was timed.

    Medians of parts do not add up to that of the frame. So these are of the frames in the middle, by the time that the
    whole frame took: the mean of each part over the same few frames, which adds up, and lies within its range. So are
    steps and updates that every frame has: they add up to its parts."""
    timed = _timed(samples)
    tables = [sample.values for sample in timed]
    keys = dict.fromkeys(itertools.chain.from_iterable(tables))
    found = {key: _spread([table[key] for table in tables if key in table]) for key in keys}
    always = [key for key in keys if key.startswith(INSIDE) and all(key in table for table in tables)]
    for key, value in _typical(timed, always).items():
        found[key] = found[key]._replace(median=value)
    if len(timed) < len(samples):
        found |= _of_updates([key for key in OF_UPDATES if key not in found], samples)
    return found | _rate(samples)


def middle(samples: Sequence[Sample]) -> list[Sample]:
    """A quarter of the frames, those in the middle by their time: one of the few, or two where the number is even."""
    ranked = sorted(samples, key=lambda sample: sample.whole)
    count = max(len(ranked) // 4, 1)
    count += (len(ranked) - count) % 2
    first = (len(ranked) - count) // 2
    return ranked[first : first + count]


def exactly(sample: Sample) -> dict[str, Spread]:
    """The same of one frame: each value is its own range."""
    return {key: Spread(value, value, value) for key, value in {**sample.values, "fps": sample.fps}.items()}


def updates(samples: Sequence[Sample]) -> collections.Counter[str]:
    """How many frames did what to their structure: rebuild, refit, nothing."""
    return collections.Counter(sample.view.update for sample in samples if sample.view is not None)


def parts_of(frame: FinishedFrame, paint_ms: float) -> dict[str, float]:
    """Milliseconds of each of PARTS. An optimiser's steps are taken out of the build or the refit that they end.
    Showing a picture (`display`) follows on drawing it, and is added to the frame."""
    found = dict.fromkeys(PARTS, 0.0)
    drawing = max(frame.frame_ms - frame.preparing_ms, 0.0)
    if frame.statistics is not None:
        _add_phases(found, frame.statistics)
        drawing = max(drawing, frame.statistics.frame_ms)  # a GPU draws while the thread that asked it is done
    found[OTHER] = max(drawing - sum(found.values()), 0.0)
    found["display"] = paint_ms
    return found


def _add_phases(found: dict[str, float], statistics: FrameStatistics) -> None:
    found["animate"] = statistics.animate_ms
    for view in statistics.views:
        optimise = sum(spent for name, spent in view.phases_ms.items() if name.startswith("optimise."))
        of_refit = optimise if view.update == "refit" else 0.0
        found["optimise"] += optimise
        found["build"] += max(view.build_ms - (optimise - of_refit), 0.0)
        found["refit"] += max(view.refit_ms - of_refit, 0.0)
        found["trace"] += view.trace_ms
        found["shade"] += view.shade_ms


def _timed(samples: Sequence[Sample]) -> list[Sample]:
    return [sample for sample in samples if sample.is_timed] or list(samples[-1:])


def _of_updates(keys: Sequence[str], samples: Sequence[Sample]) -> dict[str, Spread]:
    """Median and range of some updates over the frames that made them; of those that none made nothing."""
    values = {key: [sample.values[key] for sample in samples if key in sample.values] for key in keys}
    return {key: _spread(found) for key, found in values.items() if found}


def _typical(timed: Sequence[Sample], inside: Sequence[str]) -> dict[str, float]:
    """Milliseconds of each of PARTS, of the whole `frame` and of what lies `inside` its parts, in the middle of some
    frames; empty without frames."""
    frames = middle(timed)
    if not frames:
        return {}
    parts = {name: sum(sample.parts[name] for sample in frames) / len(frames) for name in PARTS}
    within = {name: sum(sample.values[name] for sample in frames) / len(frames) for name in inside}
    return {**parts, **within, "frame": sum(parts.values())}


def _spread(values: list[float]) -> Spread:
    ranked = sorted(values)
    middle = len(ranked) // 2
    median = ranked[middle] if len(ranked) % 2 else (ranked[middle - 1] + ranked[middle]) / 2.0
    return Spread(median, ranked[0], ranked[-1])


def _rate(samples: Sequence[Sample]) -> dict[str, Spread]:
    """Frames per second while something moves (`fps`): how many intervals there were in the time of all of them, and
    the range of what each alone would make. The same frames give both, so that one lies within the other. Of a single
    frame it is what the window has counted."""
    if not samples or not samples[-1].frame.request.is_moving:
        return {}
    times = [sample.time for sample in samples]
    passed = [after - before for before, after in itertools.pairwise(times) if after > before]
    if not passed:
        return {"fps": Spread(samples[-1].fps, samples[-1].fps, samples[-1].fps)}
    return {"fps": Spread(len(passed) / sum(passed), 1.0 / max(passed), 1.0 / min(passed))}


def _is_like(sample: Sample, other: Sample) -> bool:
    """Whether two frames are of the same choice."""
    mine, theirs = sample.frame.request, other.frame.request
    if (sample.view_size, sample.frame.drawn) != (other.view_size, other.frame.drawn):
        return False
    if mine is theirs:
        return True
    settings = mine.state.settings is theirs.state.settings or mine.state.settings == theirs.state.settings
    return (
        settings
        and mine.scene is theirs.scene
        and mine.is_moving == theirs.is_moving
        and mine.state.views == theirs.state.views
    )


def _is_shown_again(sample: Sample) -> bool:
    """Whether no view of a frame needed a ray or anything of its structure."""
    views = sample.statistics.views if sample.statistics is not None else ()
    return bool(views) and all(view.rays == 0 and view.update == "nothing" for view in views)
