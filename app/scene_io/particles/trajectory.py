"""Frames one after another -> spheres with key frames.

A particle keeps its place (slot) over all frames: by its id where the file has ids, else by its order. What a frame
lacks is absent there (radius `ABSENT`), and so is what has no finite position.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from raygrove.app.scene_io.errors import SceneError, display_path
from raygrove.app.scene_io.limits import ImportLimits
from raygrove.app.scene_io.origin import far_centre
from raygrove.gpu.scene import ABSENT, Material, Object, PeriodicBox, Remark, Scene, SphereKeys, Spheres

from . import attributes, colours, elements, periodic
from .as_glyphs import with_glyphs
from .flat_points import NO_RADII, as_flat_points, with_radius
from .frame import Frame, needed_bytes, room_sentence, usable
from .on_disk import Disk
from .spacing import spacing

HUGE = 1e18
FLAT_FLOATS = 13
"""Numbers of a disc in a key frame: normal, centre, turn and sizes."""
Empty = periodic.Empty
"""Makes arrays of all key frames: in memory, or on the disk."""


class Trajectory:
    """What has been read so far; positions are kept as float32 about an origin that the first frame decides. Frames
    that take more than half of an import's memory go to the disk."""

    def __init__(self, path: str, limits: ImportLimits, fps: float) -> None:
        self.path, self.limits, self.fps = path, limits, fps
        self.frames: list[Frame] = []
        self.count = self._most = 0
        self._disk: Disk | None = None
        self._last_ids: np.ndarray | None = None
        self.origin = np.zeros(3)
        self.counts = {"place": [0, 0], "twice": [0, 0], "box": [0, 0]}  # particles, and frames that have such
        self.seen = 0
        self._floats = 0
        self._pairs: np.ndarray | None = None

    def add(self, frame: Frame) -> None:
        """The next instant; `SceneError` with the figures where the frames so far take more than an import may."""
        positions = np.asarray(frame.positions)
        if not self.count:
            self._choose_origin(positions)
        kept = frame
        if not _is_usable(positions):
            good = (np.abs(positions) <= HUGE).all(axis=1)
            self._count("place", int(np.count_nonzero(~good)))
            positions = np.where(good[:, None], positions, np.nan)
        moved = (positions - self.origin if self.origin.any() else positions).astype(np.float32)
        before = self._last_ids
        if frame.ids is not None and (before is None or not np.array_equal(frame.ids, before)):
            _, first = np.unique(frame.ids, return_index=True)
            if len(first) < len(positions):
                self._count("twice", len(positions) - len(first))
                chosen = np.sort(first)
                kept, moved = attributes.picked(frame, chosen), moved[chosen]
        box = usable(kept.box)
        self._count("box", box is None and kept.box is not None and bool(np.any(kept.box.vectors)))
        if box is not None:
            box = dataclasses.replace(box, origin=box.origin - self.origin)
        if not self.count and kept is frame:
            self._pairs = frame.pairs
        kept = dataclasses.replace(kept, positions=moved, box=box, pairs=None)
        (self.frames if self._disk is None else self._disk).append(kept)
        self.count, self._last_ids, self._most = self.count + 1, kept.ids, max(self._most, len(moved))
        self._floats += attributes.float_count(kept)
        self._check_room(self._floats)

    def _count(self, what: str, particles: int) -> None:
        known = self.counts[what]
        known[:] = known[0] + particles, known[1] + (particles > 0)

    def _choose_origin(self, positions: np.ndarray) -> None:
        good = positions if _is_usable(positions) else positions[(np.abs(positions) <= HUGE).all(axis=1)]
        lower, upper = ([float(reduce(good[:, axis])) for axis in range(3)] for reduce in (_least, _most))
        centre = far_centre(np.array(lower), np.array(upper)) if len(good) else None
        self.origin = np.zeros(3) if centre is None else centre

    def _check_room(self, floats: int) -> None:
        """Go on with the disk where so many numbers do not fit in memory; `SceneError` where that may not be."""
        size, limits = needed_bytes(1, 1, floats), self.limits
        if size > max(limits.memory_mib, limits.disk_mib if self.count > 1 else 0) << 20:
            raise SceneError(
                f"{display_path(self.path)}: {self.count:,} frames of up to {self._most:,} particles take "
                f"{size >> 20:,} MiB while they are read, and an {room_sentence(limits.memory_mib, limits.disk_mib)}",
                self.path,
            )
        if size > limits.memory_mib << 19 and self.count > 1 and limits.disk_mib and self._disk is None:
            self._disk = Disk(self.path, limits)
            for frame in self.frames:
                self._disk.append(frame)
            self.frames = []

    def _empty(self, shape: tuple[int, ...], dtype: type | np.dtype) -> np.ndarray:
        return np.empty(shape, dtype) if self._disk is None else self._disk.empty(shape, dtype)

    def scene(self, name: str, remarks: Sequence[Remark]) -> Scene:
        """The scene of all frames; `SceneError` where there is no particle."""
        if self._disk is not None:
            self.frames = self._disk.frames()
        frames = self.frames
        slots, ids = _slots(frames, self._empty) if frames else ([], None)
        count = max((int(part.max()) + 1 for part in slots if len(part)), default=0) if ids is None else len(ids)
        if not count:
            raise SceneError(f"{display_path(self.path)} has no particles. Export or fetch it again.", self.path)
        self._check_room(count * sum(attributes.float_count(frame) // max(len(frame.positions), 1) for frame in frames))
        if self._disk is not None and not self.frames:  # they went there only now
            self.frames = frames = self._disk.frames()
        said = list(remarks)
        present = _present(frames, slots, count, self._empty)
        is_whole = bool(present.all())
        centres = _centres(frames, slots, present, self._empty)
        radii, key_radii = self._radii(slots, present, centres)
        tint, key_tint = _colours(frames, slots, count, self._empty)
        found, notes = attributes.together(frames, slots, count, present, self._empty)
        said += notes + self._remarks(present, key_radii)
        keys = None
        if len(frames) > 1:
            keys = SphereKeys(self._times(said), centres, key_radii, key_tint)
        elif not is_whole:
            radii = np.where(present[0], radii, np.float32(ABSENT))
        group = Spheres(name, centres[0], radii, tint, 0, ids, found, keys, _boxes(frames))
        spheres = with_radius(self._with_images(group, said), self.limits.point_radius)
        scene = Scene(
            name,
            objects=(Object(0, spheres=0),),
            spheres=(spheres,),
            materials=(Material("particles", roughness=0.5),),
            origin=(float(self.origin[0]), float(self.origin[1]), float(self.origin[2])),
            fps=self.fps if keys is not None else 0.0,
            remarks=tuple(said),
        )
        scene = with_glyphs(scene, self.limits, self._bonds(slots[0], count, len(spheres.centres)))
        if self.limits.point_shape == "sphere":
            return scene
        self._check_room(len(spheres.centres) * len(frames) * FLAT_FLOATS)
        return as_flat_points(scene, self.limits, not self._lacks_radii())

    def _lacks_radii(self) -> bool:
        """Whether neither the file nor the settings have one."""
        return not self.limits.point_radius and all(_has_none(frame) for frame in self.frames)

    def _bonds(self, slots: np.ndarray, count: int, with_copies: int) -> np.ndarray | None:
        """The bonds that the first frame lists, by places of the spheres, of each copy of them."""
        pairs = self._pairs
        if pairs is None or not len(pairs) or not 0 <= int(pairs.min()) <= int(pairs.max()) < len(slots):
            return None
        placed = slots[pairs]
        return np.concatenate([placed + first for first in range(0, with_copies, count)]).astype(np.int32)

    def _with_images(self, spheres: Spheres, said: list[Remark]) -> Spheres:
        """The spheres within their periodic box, and copied along its edges, where that is asked for."""
        limits = self.limits
        copies = (limits.copies_a, limits.copies_b, limits.copies_c)
        times = copies[0] * copies[1] * copies[2]
        if spheres.box is None and (limits.wrap or times > 1):
            said.append(Remark(1, "The file has no periodic box to put its particles into, or to copy."))
            return spheres
        if len(spheres.centres) * times > limits.max_particles:
            raise SceneError(
                f"{display_path(self.path)} has {len(spheres.centres) * times:,} particles, copies counted, and the "
                "limit is "
                f"{limits.max_particles:,}. Raise import.max_particles, or copy fewer times.",
                self.path,
            )
        self._check_room(self._floats * times)
        return periodic.copied(periodic.in_box(spheres, self._empty) if limits.wrap else spheres, copies, self._empty)

    def _radii(
        self, slots: list[np.ndarray], present: np.ndarray, centres: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Of the first instant, and of all key frames where they change or particles are absent."""
        frames = self.frames
        count = present.shape[1]
        if _have_one(frames, slots, count, lambda frame: frame.radii if frame.radii is not None else frame.elements):
            if present.all():
                return _radii_of(frames[0], 1.0), None
        default = spacing(centres[0][present[0]]) * 0.5 if any(_has_none(frame) for frame in frames) else 1.0
        rows = (_radii_of(frame, default) for frame in frames)
        values = self._empty((len(frames), count), np.float32)
        for row, slot, out, there in zip(rows, slots, values, present, strict=True):
            out[:] = ABSENT
            out[slot] = row
            out[~there] = ABSENT
        if all((key == values[0]).all() for key in values[1:]):
            return values[0], None
        return values[0], values

    def _times(self, said: list[Remark]) -> np.ndarray:
        """Seconds of the animation, from zero: the file's, or `fps` frames per second."""
        given = [frame.time for frame in self.frames]
        if all(time is not None for time in given):
            times = np.array(given, np.float64)
            times = (times - times[0]).astype(np.float32)
            if np.isfinite(times).all() and (np.diff(times) > 0.0).all():
                return times
            said.append(Remark(1, f"The times of the frames do not ascend: they are played at {self.fps:g} a second."))
        return (np.arange(len(self.frames)) / self.fps).astype(np.float32)

    def _remarks(self, present: np.ndarray, key_radii: np.ndarray | None) -> list[Remark]:
        frames, said = self.frames, []
        (lost, where), (twice, where_twice) = self.counts["place"], self.counts["twice"]
        of = f"of {len(frames):,} frames"
        if lost and len(frames) > 1:
            said.append(
                Remark(1, f"{lost:,} positions in {where:,} {of} are not finite: the particles are absent there.")
            )
        if twice:
            frames_with = f", in {where_twice:,} {of}" if len(frames) > 1 else ""
            said.append(
                Remark(1, f"{twice:,} particles with an id that their frame has before were left out{frames_with}.")
            )
        if boxes := self.counts["box"][1]:
            said.append(Remark(boxes, "The periodic box has no volume, or is not finite, and was left out."))
        sizes = [len(frame.positions) for frame in frames]
        if min(sizes) != max(sizes):
            said.append(
                Remark(1, f"Frames have {min(sizes):,} to {max(sizes):,} particles: those that come and go are absent.")
            )
        if self._lacks_radii() and self.limits.point_shape == "sphere":
            said.append(Remark(1, NO_RADII))
        unknown = max(0 if f.elements is None else int(np.count_nonzero(f.elements == 0)) for f in frames)
        if unknown:
            said.append(Remark(unknown, "Particles of no known element have the radius 2 and are pink."))
        if any(frame.is_flat for frame in frames):
            said.append(Remark(1, "The file has no column z: all particles lie in the plane z = 0."))
        if self.seen > len(frames):
            why = f"as import.every_frame is {self.limits.every_frame}"
            said.append(Remark(1, f"{len(frames):,} of {self.seen:,} frames were read, {why}."))
        bonds = max(frame.bonds for frame in frames)
        if bonds and self.limits.bonds == "none":
            said.append(Remark(bonds, "Bonds of the file are not drawn; import.bonds = file draws them."))
        stamps = [frame.stamp for frame in frames]
        if len(frames) > 1 and stamps[0] is not None and stamps[-1] is not None and frames[0].time is None:
            (first, unit), (last, _) = stamps[0], stamps[-1]
            if last > first:
                said.append(
                    Remark(1, f"{len(frames):,} frames, {unit} {first:g} to {last:g}, at {self.fps:g} a second.")
                )
        return said


def _have_one(
    frames: Sequence[Frame], slots: list[np.ndarray], count: int, array: Callable[[Frame], np.ndarray | None]
) -> bool:
    """Whether all frames have the very same array of all particles in one order."""
    first = array(frames[0])
    return first is not None and _keep_places(slots, count) and all(array(frame) is first for frame in frames)


def _keep_places(slots: list[np.ndarray], count: int) -> bool:
    """Whether every frame has all particles in one order: `_slots` then gives the same ascending places to all."""
    return len(slots[0]) == count and all(slot is slots[0] for slot in slots)


def _is_usable(positions: np.ndarray) -> bool:
    """Whether all positions are finite and within HUGE. (A comparison with NaN is false.)"""
    return not positions.size or bool(positions.min() >= -HUGE and positions.max() <= HUGE)


def _least(values: np.ndarray) -> float:
    return float(values.min(initial=np.inf))


def _most(values: np.ndarray) -> float:
    return float(values.max(initial=-np.inf))


def _has_none(frame: Frame) -> bool:
    return frame.radii is None and frame.elements is None


def _radii_of(frame: Frame, default: float) -> np.ndarray:
    """A radius for each particle, as the file has it: the sanitiser counts those that are none."""
    if frame.radii is not None:
        return attributes.float32(frame.radii)
    if frame.elements is not None:
        return elements.RADII[np.clip(frame.elements, 0, len(elements.RADII) - 1)]
    return np.full(len(frame.positions), default, np.float32)


def _slots(frames: Sequence[Frame], empty: Empty) -> tuple[list[np.ndarray], np.ndarray | None]:
    """The place of each frame's particles, and the ids of the places where all frames have ids."""
    sizes = [len(frame.positions) for frame in frames]
    if any(frame.ids is None for frame in frames):
        order = np.arange(max(sizes))
        return [order if len(set(sizes)) == 1 else order[:size] for size in sizes], None
    given = [np.asarray(frame.ids, np.int64) for frame in frames]
    if all(np.array_equal(given[0], ids) for ids in given[1:]):
        return [np.arange(len(given[0]))] * len(given), given[0]
    known = np.unique(given[0])
    for ids in given[1:]:
        known = known if len(ids) == len(known) and np.isin(ids, known).all() else np.union1d(known, ids)
    places, slots = empty((sum(sizes),), np.int64), []
    for ids, end in zip(given, np.cumsum(sizes).tolist(), strict=True):
        slots.append(places[end - len(ids) : end])
        slots[-1][:] = np.searchsorted(known, ids)
    return slots, known


def _present(frames: Sequence[Frame], slots: list[np.ndarray], count: int, empty: Empty) -> np.ndarray:
    """(K, N) bool: which particles a frame has, at a finite position."""
    present = empty((len(frames), count), np.bool_)
    for frame, slot, row in zip(frames, slots, present, strict=True):
        row[:] = False
        row[slot] = True if _is_usable(frame.positions) else np.isfinite(frame.positions).all(axis=1)
    return present


def _centres(frames: list[Frame], slots: list[np.ndarray], present: np.ndarray, empty: Empty) -> np.ndarray:
    """(K, N, 3) float32; an absent particle stays where it was, or waits where it will come."""
    centres = empty((*present.shape, 3), np.float32)
    is_plain = _keep_places(slots, present.shape[1])
    for frame, slot, rows in zip(frames, slots, centres, strict=True):
        if not is_plain:
            rows[:] = 0.0
        rows[slice(None) if is_plain else slot] = frame.positions
    for index in range(1, len(frames)):
        gone = ~present[index]
        centres[index, gone] = centres[index - 1, gone]
    if not present.all():
        first, is_ever = present.argmax(axis=0), present.any(axis=0)
        for index in range(int(first.max()) + 1):
            waits = (index < first) & is_ever
            centres[index, waits] = centres[first[waits], np.flatnonzero(waits)]
        for rows in centres:
            rows[~is_ever] = 0.0
    return centres


def _colours(
    frames: Sequence[Frame], slots: list[np.ndarray], count: int, empty: Empty
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Of the first instant, and of all key frames where they change: the file's, the elements', those of the kinds."""
    if frames[0].colours is None and frames[0].elements is not None:
        if _have_one(frames, slots, count, lambda frame: frame.elements if frame.colours is None else None):
            return _colours_of(frames[0]), None
    if all(_colours_of(frame) is None for frame in frames):
        return None, None
    values = empty((len(frames), count, 3), np.float32)
    for index, (frame, slot) in enumerate(zip(frames, slots, strict=True)):
        values[index] = values[index - 1] if index else 0.8  # of those that are absent
        row = _colours_of(frame)
        if row is not None:
            values[index, slot] = row
    changes = any(not np.array_equal(values[0][slot], values[k][slot]) for k, slot in enumerate(slots))
    if changes:
        return values[0], values
    still = values[0].copy()
    for slot, frame in zip(reversed(slots), reversed(frames), strict=True):
        row = _colours_of(frame)
        if row is not None:
            still[slot] = row
    return still, None


def _colours_of(frame: Frame) -> np.ndarray | None:
    if frame.colours is not None:
        return frame.colours
    if frame.elements is not None:
        return elements.COLOURS[np.clip(frame.elements, 0, len(elements.COLOURS) - 1)]
    kinds = next(
        (a.values for a in frame.attributes if a.name.lower() in ("type", "kind") and a.values.ndim == 1), None
    )
    if kinds is None or not np.isfinite(kinds).all():
        return None
    return colours.of_kinds(kinds)


def _boxes(frames: Sequence[Frame]) -> PeriodicBox | None:
    """The box, or that of each key frame where it changes; a frame without one has that before it."""
    given = [frame.box for frame in frames]
    first = next((box for box in given if box is not None), None)
    if first is None:
        return None
    filled: list[PeriodicBox] = []
    for box in given:
        filled.append(box if box is not None else filled[-1] if filled else first)
    origins = np.array([box.origin for box in filled], np.float32)
    vectors = np.array([box.vectors for box in filled], np.float32)
    if (origins == origins[0]).all() and (vectors == vectors[0]).all():
        return PeriodicBox(origins[0], vectors[0], first.periodic)
    return PeriodicBox(origins, vectors, first.periodic)
