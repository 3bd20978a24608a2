"""The scene's spheres on a target: key frames of all groups, and their centres, radii and colours of this instant.

An object has a place for each sphere of its largest key frame; what is absent, hidden or not finite has a radius below
0 there (spheres.cu). Keys and nodes are pose.py's.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..hierarchy.base import Primitives
from ..hierarchy.primitives import mixed_primitives, sphere_primitives, triangle_primitives
from ..scene import ABSENT, PeriodicBox, Scene, Spheres
from ..target.base import Array, Target, TargetError, UnitSource
from .key_schedule import Keyed
from .key_stream import Part, Shape, streamed_shapes
from .simulation import check_gravity
from .structs import PeriodicCell, SphereObject
from .tables import MAX_BLOCKS, TILE_VERTICES, tiles_of

MOST_SPHERES = ((1 << 31) - 1) // 3
"""Spheres of all objects: it is their coordinates that are counted."""


@dataclasses.dataclass(frozen=True, eq=False)
class SphereSurface:
    """Spheres at one instant, on the target: `centres`, `previous` (the instant before) (S, 3), `radii` (S,) and linear
    `colours` (S, 3) float32, negative where a sphere has none of its own, None where none has. The first one is the
    scene's primitive `first_id`; they `are_colored` where colours stand for an attribute. Of a sphere that is not there
    the radius is ABSENT and the centre is not a number."""

    centres: Array
    previous: Array
    radii: Array
    colours: Array | None
    first_id: int
    are_colored: bool = False

    @property
    def count(self) -> int:
        """Places of spheres."""
        return len(self.radii)

    def read(self, target: Target) -> np.ndarray:
        """(S, 4) float32 on the host: centres and radii. Waits."""
        read = (target.download(array) for array in (self.centres, self.radii))
        return np.column_stack([rows.reshape(self.count, -1) for rows in read])


class SphereAnimator:
    """The scene's objects of spheres, whose placements begin at `first_placement`. Of each group (scene.spheres) `room`
    key frames lie on the target, all of them without it; with `are_mapped` in memory of the host that launches read.
    Raises ValueError for spheres whose parts do not fit one another, TargetError for more than can be numbered."""

    def __init__(
        self,
        target: Target,
        scene: Scene,
        first_placement: int,
        first_id: int,
        room: np.ndarray | None = None,
        are_mapped: bool = False,
    ) -> None:
        self._target, self.upload_rows = target, target.upload_mapped if are_mapped else target.upload
        self.objects = tuple(thing for thing in scene.objects if thing.spheres >= 0)
        self._groups = [scene.spheres[thing.spheres] for thing in self.objects]
        for group in self._groups:
            check_spheres(group)
        self._room = [len(times) for times in self._key_times()]
        if room is not None:
            self._room = [min(keys, int(room[o.spheres])) for keys, o in zip(self._room, self.objects, strict=True)]
        self.counts = np.array([len(group.centres) for group in self._groups], np.int64)
        self.firsts = np.cumsum(self.counts) - self.counts
        count = int(self.counts.sum())
        if count > MOST_SPHERES:
            raise TargetError(
                f"{scene.name} has {count:,} spheres in all its objects, and at most {MOST_SPHERES:,} can be drawn."
            )
        self.material_ids = np.repeat(
            np.array([group.material_id for group in self._groups], np.int32), self.counts
        ).clip(0, max(0, len(scene.materials) - 1))
        self.moves = np.array([len(times) > 1 for times in self._key_times()], bool)
        self.moves |= np.array([group.gravity is not None for group in self._groups], bool)
        self.surface: SphereSurface | None = None
        self._parts: dict[int, tuple[Part, ...]] = {}
        if not self.objects:
            return
        self._unit = target.unit(UnitSource("gpu/animate/spheres.cu"))
        self._hidden = target.zeros(len(self.objects), np.int32, "animation")
        self._upload(first_placement)
        centres, previous = (target.zeros((count, 3), np.float32, "surface") for _ in range(2))
        no_colours = np.full((count, 3), -1.0, np.float32)
        colours = target.upload(no_colours, "surface") if self._has_colours else None
        radii = target.upload(np.full(count, ABSENT, np.float32), "surface")
        self.surface = SphereSurface(centres, previous, radii, colours, first_id)

    @property
    def _has_colours(self) -> bool:
        return any(_colours_of(group) is not None for group in self._groups)

    def _key_times(self) -> list[np.ndarray]:
        """Of each object the times of its key frames, one for what has none."""
        keys = [group.key_frames for group in self._groups]
        return [np.zeros(1, np.float32) if one is None else np.asarray(one.times, np.float32) for one in keys]

    def placed(self) -> tuple[tuple[int, np.ndarray, int], ...]:
        """Of each object its node, the times of its key frames, and how many of them have room."""
        return tuple(zip((thing.node for thing in self.objects), self._key_times(), self._room, strict=True))

    def shapes(self, first_times: list[int], first: int) -> dict[int, Shape]:
        """Of each group whose key frames do not all have room what streams, by `first` and the group's number;
        `first_times` are the objects', as Pose has them."""
        return streamed_shapes(
            [thing.spheres for thing in self.objects], self._key_times(), self._room, first_times, self._parts, first
        )

    def tiles(self, objects: np.ndarray) -> Array | None:
        """The tiles of these of the objects on the target; None for none."""
        rows = tiles_of(self.firsts, self.counts, objects, TILE_VERTICES)
        return self._target.upload(rows, "animation") if len(rows) else None

    def launch(self, tiles: Array | None, placements: Array, not_finite: Array) -> None:
        """Write the spheres of the tiles; the counter grows by those that are not finite."""
        surface = self.surface
        if tiles is None or surface is None:
            return
        count = len(tiles)
        self._target.launch(
            self._unit,
            "animate_spheres",
            count,
            tiles=tiles,
            tile_count=count,
            placements=placements,
            objects=self._rows,
            hidden=self._hidden,
            source_centres=self._centres,
            source_radii=self._radii,
            source_colours=self._colours,
            cells=self._cells,
            centres=surface.centres,
            previous=surface.previous,
            radii=surface.radii,
            colours=surface.colours,
            not_finite=not_finite,
            blocks=min(count, MAX_BLOCKS),
        )

    def centres_of(self, group: int) -> Array:
        """The centres of a group without key frames, (N, 3): who writes them moves its spheres."""
        first, count = self._first_centres[group], int(self.counts[[o.spheres for o in self.objects].index(group)])
        centres: Array = self._centres
        return centres[first : first + count]

    def hide(self, are_hidden: np.ndarray) -> None:
        """Which of the objects are left out from the next launch on."""
        self._target.write(self._hidden, are_hidden.astype(np.int32))

    def has_own_colours(self, index: int) -> bool:
        """Whether an object's spheres have colours in the scene."""
        return _colours_of(self._groups[index]) is not None

    def forget_colours(self, are_needed: bool, are_colored: bool) -> None:
        """Spheres without colours of their own have the material's again, until something gives them others; where
        that `are_needed` there is an array for it."""
        surface = self.surface
        if surface is None or (surface.colours is None and not are_needed):
            return
        none, colours = np.full((surface.count, 3), -1.0, np.float32), surface.colours
        if colours is not None:
            self._target.write(colours, none)
        else:
            colours = self._target.upload(none, "surface")
        self.surface = dataclasses.replace(surface, colours=colours, are_colored=are_colored)

    # -- once a scene ---------------------------------------------------------------------------------------------
    def _upload(self, first_placement: int) -> None:
        """The keys of every group once, however many objects place it."""
        columns: dict[str, list[np.ndarray]] = {name: [] for name in COLUMNS}
        lengths = dict.fromkeys(COLUMNS, 0)
        places: dict[int, list[tuple[int, int]]] = {}
        values: dict[int, tuple[np.ndarray | None, ...]] = {}
        table = np.zeros(len(self.objects), SphereObject.dtype())
        for index, (thing, group, room) in enumerate(zip(self.objects, self._groups, self._room, strict=True)):
            if thing.spheres not in places:
                values[thing.spheres], places[thing.spheres] = _columns_of(group), []
                for name, given in zip(COLUMNS, values[thing.spheres], strict=True):
                    places[thing.spheres].append((lengths[name] if given is not None else -1, _stride(given)))
                    if given is not None:
                        kept = given[:room]
                        columns[name].append(kept.reshape(-1, *kept.shape[2:]))
                        lengths[name] += len(columns[name][-1])
            firsts, strides = zip(*places[thing.spheres], strict=True)
            table[index] = (*firsts, *strides, first_placement + index, int(self.firsts[index]))
        self._first_centres = {group: of[0][0] for group, of in places.items()}
        sources = [self._whole(rows) for rows in columns.values()]
        self._centres, self._radii, self._colours, self._cells = sources
        self._rows = self._target.upload(table.view(np.uint8), "animation")
        self._parts = {
            group: tuple(
                Part(given, source, first, stride)
                for given, source, (first, stride) in zip(values[group], sources, of, strict=True)
                if given is not None and stride
            )
            for group, of in places.items()
        }

    def _whole(self, rows: list[np.ndarray]) -> Array | None:
        """The rows of all groups on the target."""
        if not rows:
            return None
        joined = rows[0] if len(rows) == 1 else np.concatenate(rows)
        return self.upload_rows(
            joined if joined.dtype == np.uint8 else joined.astype(np.float32, copy=False), "animation"
        )


COLUMNS = ("centres", "radii", "colours", "cells")
"""What key frames of spheres have, in the order of SphereObject."""


def _columns_of(group: Spheres) -> tuple[np.ndarray | None, ...]:
    """COLUMNS of a group, each (K, rows, ...) or (1, rows, ...) where one row serves all keys; cells as bytes."""
    keys, colours = group.key_frames, _colours_of(group)
    centres = group.centres if keys is None else keys.centres
    radii = group.radii if keys is None or keys.radii is None else keys.radii
    cells = (
        None if group.box is None else cells_of(group.box).view(np.uint8).reshape(-1, 1, PeriodicCell.dtype().itemsize)
    )
    shaped = colours if colours is None or colours.ndim == 3 else colours[None]
    return centres if centres.ndim == 3 else centres[None], radii if radii.ndim == 2 else radii[None], shaped, cells


def _stride(values: np.ndarray | None) -> int:
    """Rows from one key frame to the next."""
    return values.shape[1] if values is not None and len(values) > 1 else 0


def keyed_spheres(scene: Scene) -> list[Keyed]:
    """The scene's groups as things with key frames; those that no object places take nothing."""
    placed, no_times, found = {thing.spheres for thing in scene.objects}, np.zeros(0, np.float32), []
    for index, group in enumerate(scene.spheres):
        keys = group.key_frames
        if keys is None or index not in placed:
            found.append(Keyed(no_times, 0))
            continue
        check_spheres(group)
        size = sum(
            values[0].size * (1 if values.dtype == np.uint8 else 4)
            for values in _columns_of(group)
            if values is not None and len(values) > 1
        )
        found.append(Keyed(np.asarray(keys.times, np.float32), size))
    return found


def surface_primitives(
    positions: Array, indices: Array, spheres: SphereSurface | None, scene_ids: Array | None = None, **versions: Any
) -> Primitives:
    """What structures are built over: triangles, spheres, or both. `scene_ids` are those of the triangles."""
    if spheres is None:
        return triangle_primitives(positions, indices, scene_ids, **versions)
    if spheres.first_id == 0:
        return sphere_primitives(spheres.centres, spheres.radii, **versions)
    return mixed_primitives(positions, indices, spheres.centres, spheres.radii, scene_ids, spheres.first_id, **versions)


def cells_of(box: PeriodicBox) -> np.ndarray:
    """(1,) or (K,) cells as spheres.cu has them."""
    vectors = np.asarray(box.vectors, np.float64).reshape(-1, 3, 3)
    cells = np.zeros(len(vectors), PeriodicCell.dtype())
    cells["edges"], cells["shares"] = vectors, np.linalg.inv(vectors).swapaxes(1, 2)
    cells["repeats"] = box.periodic
    return cells


def _colours_of(group: Spheres) -> np.ndarray | None:
    keys = group.key_frames
    return group.colours if keys is None or keys.colours is None else keys.colours


def check_spheres(spheres: Spheres) -> None:
    """ValueError where arrays do not fit one another."""
    check_gravity(spheres)
    count, keys = len(spheres.centres), spheres.key_frames
    shapes = [("radii", spheres.radii, (count,)), ("colours", spheres.colours, (count, 3))]
    if keys is not None:
        keyed = (len(keys.times), count)
        shapes += [("key centres", keys.centres, (*keyed, 3)), ("key radii", keys.radii, keyed)]
        shapes += [("key colours", keys.colours, (*keyed, 3))]
        if not len(keys.times):
            raise ValueError(f"Spheres {spheres.name!r} have key frames without a time.")
    for what, values, shape in shapes:
        if values is not None and values.shape != shape:
            raise ValueError(
                f"Spheres {spheres.name!r} have {what} of shape {values.shape}; {count} centres need {shape}."
            )
