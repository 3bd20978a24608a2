"""Key frames that do not fit the device: a ring of slots on the target, filled ahead of the playing head by copies that
run beside the launches.

The kernels find a key frame's slot in `key_slots` (pose.cu), written in the order of the launches, so that captured
frames stay valid. A key is shown once its copy has been ordered before the launches; in steady play it arrived long
before (docs/decisions/streaming.md).
"""

from __future__ import annotations

import dataclasses
import weakref

import numpy as np

from ..stats import KeyStreaming
from ..target.base import Array, Target
from ..target.copies import Copy, CopyQueue, Piece
from .key_schedule import Playhead, Sequence, pair_at, wanted_keys

COPIES_AT_ONCE = 4
"""Copies under way; a jump of the playing head waits behind no more than these."""

KEYS_AHEAD = 24
"""Keys that are foreseen; what more slots there are keep what was shown last."""


@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """One kind of values of all key frames, (K, rows, ...) on the host, and where they go: rows of `source` on the
    target, for slot 0 from `first` on, `stride` rows from slot to slot."""

    values: np.ndarray
    source: Array
    first: int
    stride: int

    def piece(self, key: int, slot: int) -> Piece:
        """What a copy of a key frame into a slot moves."""
        first = self.first + slot * self.stride
        return self.source[first : first + self.values.shape[1]], self.values[key]


@dataclasses.dataclass(frozen=True, eq=False)
class Shape:
    """A thing's key frames; where its slot numbers lie, once for each object that places it."""

    parts: tuple[Part, ...]
    first_times: tuple[int, ...]


def streamed_shapes(
    groups: list[int],
    times: list[np.ndarray],
    room: list[int],
    first_times: list[int],
    parts: dict[int, tuple[Part, ...]],
    first: int,
) -> dict[int, Shape]:
    """Of objects by the group each places what streams, where key frames do not all have room: by `first` and the
    group's number."""
    found: dict[int, Shape] = {}
    for group, of, held, first_time in zip(groups, times, room, first_times, strict=True):
        if held < len(of):
            known = found.get(first + group, Shape(parts[group], ()))
            found[first + group] = dataclasses.replace(known, first_times=(*known.first_times, first_time))
    return found


class KeyRing:
    """The slots of one sequence. `shapes` are its members'."""

    def __init__(
        self,
        target: Target,
        queue: CopyQueue,
        sequence: Sequence,
        shapes: list[Shape],
        key_slots: Array,
    ) -> None:
        self._target, self._queue, self._key_slots = target, queue, key_slots
        self.sequence, self._shapes = sequence, shapes
        self._playhead = Playhead()
        self._settled: object = None
        self._key_of: list[int] = list(range(sequence.slots))  # the first key frames lie there to begin with
        self._slot_of = {key: key for key in range(sequence.slots)}
        self._under_way: dict[int, Copy] = {}
        self._written: tuple[int, int] | None = None
        self.bytes_streamed = 0

    def show(self, time: float, duration: float) -> bool:
        """The key frames of `time` are there for the launches to come, and others are on their way; returns whether the
        frame had to wait."""
        self._playhead.move(time, duration)
        shown, step = pair_at(self.sequence.times, time), self._playhead.step
        state = (shown, step > 0.0, step < 0.0)
        if state == self._settled:
            return False
        count = min(self.sequence.slots, KEYS_AHEAD)
        wanted = wanted_keys(self.sequence.times, time, step, duration, count)
        waits = False
        for key in dict.fromkeys(shown):
            if key not in self._slot_of:
                waits = True
                self._start(key, wanted)
            copy = self._under_way.pop(key, None)
            if copy is not None:
                waits |= not copy.has_arrived()
                copy.order()
        self._write_slots(shown)
        self._fetch(wanted)
        is_settled = len(wanted) == count and not self._under_way and all(key in self._slot_of for key in wanted)
        self._settled = state if is_settled else None
        return waits

    def _fetch(self, wanted: list[int]) -> None:
        """Begin copies of what will be wanted, a few at once."""
        self._under_way = {key: copy for key, copy in self._under_way.items() if not copy.has_arrived()}
        for key in wanted:
            if key not in self._slot_of and len(self._under_way) < COPIES_AT_ONCE:
                self._start(key, wanted)

    def _start(self, key: int, wanted: list[int]) -> None:
        """Copy a key frame into the slot that is least needed: of no wanted key frame, the farthest from this one."""
        kept = set(wanted)
        slot = max(
            (s for s in range(self.sequence.slots) if self._key_of[s] not in kept),
            key=lambda s: abs(self._key_of[s] - key),
        )
        old = self._key_of[slot]
        self._slot_of.pop(old, None)
        self._under_way.pop(old, None)
        self._key_of[slot], self._slot_of[key] = key, slot
        pieces = [part.piece(key, slot) for shape in self._shapes for part in shape.parts]
        self._under_way[key] = self._queue.start(pieces)
        self.bytes_streamed += sum(int(array.nbytes) for array, _ in pieces)

    def _write_slots(self, shown: tuple[int, int]) -> None:
        """Tell the kernels where the key frames shown lie, where that has changed."""
        slots = np.array([self._slot_of[key] for key in dict.fromkeys(shown)], np.int32)
        written = (shown[0], *slots.tolist())
        if written == self._written:
            return
        self._written = written
        for first_time in (first for shape in self._shapes for first in shape.first_times):
            first = first_time + shown[0]
            self._target.write(self._key_slots[first : first + len(slots)], slots)


class KeyStream:
    """All sequences of a scene that stream. `shapes` are those of their members; nothing is held where `sequences` all
    fit. With `are_mapped` slots lie in memory of the host that launches read."""

    def __init__(
        self,
        target: Target,
        sequences: list[Sequence],
        shapes: dict[int, Shape],
        key_slots: Array,
        are_mapped: bool = False,
    ) -> None:
        streamed = [sequence for sequence in sequences if sequence.streams]
        self._sequences, self._rings = sequences, []
        self._waits = self._stalls = 0
        if not streamed:
            return
        queue = target.copies(to_mapped=are_mapped)
        self._finalizer = weakref.finalize(self, queue.close)
        for sequence in streamed:
            members = [shapes[index] for index in sequence.members]
            self._rings.append(KeyRing(target, queue, sequence, members, key_slots))

    def show(self, time: float, duration: float) -> None:
        """Have the key frames of `time` there for the next launches; the animation lasts `duration` seconds."""
        waits = [ring.show(time, duration) for ring in self._rings]
        self._waits = sum(waits)
        self._stalls += any(waits)

    def statistics(self) -> KeyStreaming | None:
        """What has streamed so far; None for a scene without key frames."""
        if not self._sequences:
            return None
        return KeyStreaming(
            keys=sum(len(sequence.times) for sequence in self._sequences),
            slots=sum(sequence.slots for sequence in self._sequences),
            slot_bytes=sum(sequence.slots * sequence.key_bytes for sequence in self._sequences),
            bytes_streamed=sum(ring.bytes_streamed for ring in self._rings),
            waited=self._waits > 0,
            stalls=self._stalls,
        )

    def close(self) -> None:
        """Wait for copies under way and give their memory back."""
        if self._rings:
            self._finalizer()
