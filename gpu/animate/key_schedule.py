"""Which key frames have room on the target, and which are wanted next. Plain numbers, no target.

A sequence is all meshes and groups of spheres with the same key times: their keys come and go together.
"""

from __future__ import annotations

import bisect
import collections
import dataclasses
import math

import numpy as np

from ..scene import Mesh
from .tables import ALIGNED_VERTICES, MOST_SHAPE_VERTICES

LEAST_SLOTS = 4
"""Two key frames are shown and one is on its way, whichever way the animation turns."""

VERTEX_BYTES = 24
_ALIKE = 8.0  # steps that differ by less than this factor are of one speed: frames of a window come at uneven times


@dataclasses.dataclass(frozen=True, eq=False)
class Keyed:
    """A thing and its key frames: `times` (K,) float32, none where it keeps its shape, the bytes of a key frame on the
    target, and those of them that are vertices, which kernels number in 32 bits."""

    times: np.ndarray
    key_bytes: int
    vertex_bytes: int = 0


@dataclasses.dataclass(frozen=True, eq=False)
class Sequence:
    """Things that share key frame times: their numbers, `times` as float32 has them, `key_bytes` of one key frame of
    all of them, `slots` key frames that have room at once."""

    members: tuple[int, ...]
    times: list[float]
    key_bytes: int
    slots: int

    @property
    def streams(self) -> bool:
        """Whether its key frames do not all have room."""
        return self.slots < len(self.times)


def keyed_meshes(meshes: tuple[Mesh, ...]) -> list[Keyed]:
    """Meshes as things with key frames."""
    no_times, found = np.zeros(0, np.float32), []
    for mesh in meshes:
        keys, size = mesh.key_frames, VERTEX_BYTES * (-(-len(mesh.positions) // ALIGNED_VERTICES) * ALIGNED_VERTICES)
        found.append(Keyed(no_times if keys is None else np.asarray(keys.times, np.float32), size, size))
    return found


def plan_sequences(things: list[Keyed], budget: int) -> list[Sequence]:
    """The sequences of a scene, whose slots together take at most `budget` bytes and no more vertices than kernels can
    number, or LEAST_SLOTS each where that is more. All have as many slots, or as many as they have keys."""
    groups: dict[bytes, list[int]] = {}
    for index, thing in enumerate(things):
        if len(thing.times) > 1:
            groups.setdefault(thing.times.tobytes(), []).append(index)
    found = [
        (tuple(members), things[members[0]].times, [things[index] for index in members]) for members in groups.values()
    ]
    still = ALIGNED_VERTICES * VERTEX_BYTES + sum(thing.vertex_bytes for thing in things if len(thing.times) < 2)
    counts = [len(times) for _, times, _ in found]
    sizes = [sum(thing.key_bytes for thing in of) for _, _, of in found]
    vertices = [sum(thing.vertex_bytes for thing in of) for _, _, of in found]
    slots = min(
        _slots_within(counts, sizes, budget),
        _slots_within(counts, vertices, MOST_SHAPE_VERTICES * VERTEX_BYTES - still),
    )
    return [
        Sequence(members, times.tolist(), size, min(len(times), slots))
        for (members, times, _), size in zip(found, sizes, strict=True)
    ]


def slots_of(count: int, sequences: list[Sequence]) -> np.ndarray:
    """(count,) how many shapes of each thing have room: its sequence's slots, 1 for what has no sequence."""
    slots = np.ones(count, np.int64)
    for sequence in sequences:
        slots[list(sequence.members)] = sequence.slots
    return slots


def _slots_within(counts: list[int], sizes: list[int], budget: int) -> int:
    """The most slots a sequence with which all of them (keys, bytes per key) stay within the budget."""
    low, high = LEAST_SLOTS, max([LEAST_SLOTS, *counts])
    while low < high:
        middle = (low + high + 1) // 2
        fits = sum(min(keys, middle) * size for keys, size in zip(counts, sizes, strict=True)) <= budget
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def pair_at(times: list[float], time: float) -> tuple[int, int]:
    """The key frames around a time, as find_keys of animate.cuh finds them."""
    instant, last = float(np.float32(time)), len(times) - 1
    if last < 1 or not instant > times[0]:
        return 0, 0
    if instant >= times[last]:
        return last, last
    low = bisect.bisect_right(times, instant) - 1
    return low, low + 1


class Playhead:
    """Where the animation stands and how it moves: `step` seconds per frame, 0 while that is unknown or jumps. It is
    the median of the last few, so that a frame that comes late does not change what is foreseen."""

    def __init__(self) -> None:
        self._time: float | None = None
        self._lengths: collections.deque[float] = collections.deque(maxlen=5)
        self._last = 0.0
        self.step = 0.0

    def move(self, time: float, duration: float) -> None:
        """The next frame shows this time of an animation of `duration` seconds."""
        if self._time is not None and time != self._time:
            step, is_known = self._unfolded(time, self._time, duration)
            if not is_known:
                self._lengths.clear()
            self._lengths.append(abs(step))
            usual = sorted(self._lengths)[(len(self._lengths) - 1) // 2]
            self.step, self._last = (math.copysign(usual, step) if is_known else 0.0), step
        self._time = time

    def _unfolded(self, time: float, before: float, duration: float) -> tuple[float, bool]:
        """The step as it was meant, where the animation went round or turned at an end of its span, and whether it goes
        on as before."""
        step = time - before
        if self._is_alike(step):
            return step, True
        for whole in (step + duration, step - duration):
            if self._is_alike(whole) and abs(whole) < 0.5 * duration:
                return whole, True
        for turned in (2.0 * duration - time - before, -time - before):
            if self._is_alike(turned) and abs(turned) < 0.5 * duration:
                return -turned, True
        return step, False

    def _is_alike(self, step: float) -> bool:
        """Whether a step is of the last one's direction, and of about its length."""
        return self._last != 0.0 and 1.0 / _ALIKE <= step / self._last <= _ALIKE


def folded(time: float, duration: float) -> tuple[float, float]:
    """A time beyond an end of the span: as it is when the animation starts again, and when it turns round."""
    if duration <= 0.0:
        return 0.0, 0.0
    period = time % (2.0 * duration)
    return time % duration, min(period, 2.0 * duration - period)


def wanted_keys(times: list[float], time: float, step: float, duration: float, count: int) -> list[int]:
    """Up to `count` key frames, the most urgent first: those of `time`, then those of the frames to come. Past an end
    both the start over and the way back are foreseen; while the step is unknown, the neighbours on both sides are."""
    count = min(count, len(times))
    found = dict.fromkeys(pair_at(times, time))
    if not step:
        _add_neighbours(found, len(times), count)
        return list(found)[:count]
    spacing = (times[-1] - times[0]) / max(1, len(times) - 1)
    stride = max(abs(step), 0.5 * spacing) * (1.0 if step > 0.0 else -1.0)
    fills = 3.0 * abs(stride) <= spacing * count  # else only the key frames of the very frames that are to be expected
    before = [pair_at(times, time)] * 2
    for number in range(1, 2 * len(times) + 3):
        if len(found) >= count:
            break
        ahead = time + number * stride
        is_inside = 0.0 <= ahead < duration
        for way, instant in enumerate((ahead,) if is_inside else folded(ahead, duration)):
            pair = pair_at(times, instant)
            if fills:
                found.update(dict.fromkeys(_between(before[way], pair, count)))
            found.update(dict.fromkeys(pair if stride > 0.0 else pair[::-1]))
            before[way] = pair
        if is_inside:
            before[1] = before[0]
    return list(found)[:count]


def _between(last: tuple[int, int], pair: tuple[int, int], count: int) -> range:
    """Keys that lie between two pairs, in the order of the way from one to the other; none where the way leads round
    the end."""
    if abs(pair[0] - last[0]) > count // 2:
        return range(0)
    return range(last[1], pair[0]) if pair[0] > last[0] else range(last[0], pair[1], -1)


def _add_neighbours(found: dict[int, None], key_count: int, count: int) -> None:
    low, high = min(found), max(found)
    for distance in range(1, count):
        found.update(dict.fromkeys(key for key in (high + distance, low - distance) if 0 <= key < key_count))
        if len(found) >= count:
            return
