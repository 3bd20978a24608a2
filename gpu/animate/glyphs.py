"""The scene's glyphs on a target: key frames of all groups, and their rows and colours of this instant.

Key frames stream where they do not fit, as those of spheres do; keys and nodes are pose.py's, and linked glyphs go from
sphere to sphere (spheres.py)."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import numpy as np

from ..glyph_shapes import GLYPH_SHAPES, Glyphs, check_glyphs
from ..hierarchy.base import Primitives
from ..hierarchy.primitives import glyph_primitives
from ..rows import Float, Int, Struct
from ..scene import Scene
from ..target.base import Array, Target, TargetError, UnitSource
from .key_schedule import Keyed
from .key_stream import Part, Shape, streamed_shapes
from .spheres import SphereAnimator
from .tables import MAX_BLOCKS, TILE_VERTICES, tiles_of

MOST_GLYPHS = ((1 << 31) - 1) // 12
"""Glyphs in all key frames: it is their numbers that are counted."""


UNBOUNDED = 1e30
"""Longer than any link."""


@dataclasses.dataclass(frozen=True)
class GlyphObject(Struct):
    """Where an object's keys lie, in rows of the arrays of all. A stride of 0: one row serves all keys; a first row or
    pair of -1: there is none. Its glyphs from `first_slot` on, its spheres from `first_sphere`."""

    first_row: Int
    row_stride: Int
    first_colour: Int
    colour_stride: Int
    first_pair: Int
    first_sphere: Int
    placement: Int
    first_slot: Int
    shape: Int
    share: Float
    longest: Float


@dataclasses.dataclass(frozen=True, eq=False)
class GlyphSurface:
    """Glyphs at one instant, on the target: `rows` and `previous` (the instant before) (G, 12) float32 as
    gpu/device/glyph.cuh has them, linear `colours` (G, 3) float32, negative where a glyph has none of its own, None
    where none has. The first one is the scene's primitive `first_id`."""

    rows: Array
    previous: Array
    colours: Array | None
    first_id: int

    @property
    def count(self) -> int:
        """Places of glyphs."""
        return len(self.rows)


class GlyphAnimator:
    """The scene's objects of glyphs, whose placements begin at `first_placement`. Of each group so many key frames as
    `room` has behind those of spheres lie on the target, with `are_mapped` in memory of the host. Raises ValueError for
    glyphs whose parts do not fit one another, TargetError for more than can be numbered."""

    def __init__(
        self,
        target: Target,
        scene: Scene,
        first_placement: int,
        first_id: int,
        spheres: SphereAnimator,
        room: np.ndarray,
        are_mapped: bool,
    ) -> None:
        self._target, self._spheres = target, spheres
        self._upload_keys = target.upload_mapped if are_mapped else target.upload
        self.objects = tuple(thing for thing in scene.objects if thing.glyphs >= 0)
        self._groups = [scene.glyphs[thing.glyphs] for thing in self.objects]
        placed = {thing.spheres for thing in scene.objects}
        sphere_counts = [len(one.centres) if index in placed else 0 for index, one in enumerate(scene.spheres)]
        for group in self._groups:
            check_glyphs(group, sphere_counts)
        self.counts = np.array([len(group.centres) for group in self._groups], np.int64)
        self._firsts = np.cumsum(self.counts) - self.counts
        materials = np.array([group.material_id for group in self._groups], np.int32)
        self.material_ids = np.repeat(materials, self.counts).clip(0, max(0, len(scene.materials) - 1))
        held = room[len(scene.spheres) :]
        self._room = [min(len(of), int(held[o.glyphs])) for of, o in zip(self._key_times(), self.objects, strict=True)]
        keys = sum(held * len(group.centres) for held, group in zip(self._room, self._groups, strict=True))
        self.surface: GlyphSurface | None = None
        self._parts: dict[int, tuple[Part, ...]] = {}
        if not self.objects:
            return
        if max(keys, int(self.counts.sum())) > MOST_GLYPHS:
            raise TargetError(
                f"{scene.name} has {keys:,} glyphs in its key frames, and at most {MOST_GLYPHS:,} can be drawn."
            )
        self._unit = target.unit(UnitSource("gpu/animate/glyphs.cu"))
        self._hidden = target.zeros(len(self.objects), np.int32, "animation")
        self._upload(first_placement)
        count = int(self.counts.sum())
        rows, previous = (target.zeros((count, 12), np.float32, "surface") for _ in range(2))
        has_colours = any(_colours_of(group) is not None or group.links is not None for group in self._groups)
        none = np.full((count, 3), -1.0, np.float32)
        colours = target.upload(none, "surface") if has_colours else None
        self.surface = GlyphSurface(rows, previous, colours, first_id)

    def placed(self) -> tuple[tuple[int, np.ndarray, int], ...]:
        """Of each object its node, the times of its key frames, and how many of them have room."""
        return tuple(zip((thing.node for thing in self.objects), self._key_times(), self._room, strict=True))

    def _key_times(self) -> list[np.ndarray]:
        """Of each object the times of its key frames, one for what has none."""
        keys = [group.key_frames for group in self._groups]
        return [np.zeros(1, np.float32) if one is None else np.asarray(one.times, np.float32) for one in keys]

    def shapes(self, first_times: list[int], first: int) -> dict[int, Shape]:
        """Of each group whose key frames do not all have room what streams, by `first` and the group's number;
        `first_times` are the objects', as Pose has them."""
        groups = [thing.glyphs for thing in self.objects]
        return streamed_shapes(groups, self._key_times(), self._room, first_times, self._parts, first)

    def moves(self, nodes: np.ndarray, spheres_move: np.ndarray) -> np.ndarray:
        """Of each object whether it moves where these nodes and these objects of spheres do."""
        moved = [
            bool(nodes[thing.node]) or len(keys) > 1
            for thing, (_, keys, _) in zip(self.objects, self.placed(), strict=True)
        ]
        linked = [g.links is not None and bool(spheres_move[self._linked(g)]) for g in self._groups]
        return np.array(moved, bool) | np.array(linked, bool)

    def tiles(self, objects: np.ndarray) -> Array | None:
        """The tiles of these of the objects on the target; None for none."""
        rows = tiles_of(self._firsts, self.counts, objects, TILE_VERTICES)
        return self._target.upload(rows, "animation") if len(rows) else None

    def launch(self, tiles: Array | None, placements: Array, not_finite: Array) -> None:
        """Write the glyphs of the tiles, after the spheres of this instant; the counter grows by those that are not
        finite."""
        surface, spheres = self.surface, self._spheres.surface
        if tiles is None or surface is None:
            return
        count = len(tiles)
        self._target.launch(
            self._unit,
            "animate_glyphs",
            count,
            tiles=tiles,
            tile_count=count,
            placements=placements,
            objects=self._objects,
            hidden=self._hidden,
            source_rows=self._rows,
            source_colours=self._colours,
            pairs=self._pairs,
            sphere_centres=None if spheres is None else spheres.centres,
            sphere_radii=None if spheres is None else spheres.radii,
            sphere_colours=None if spheres is None else spheres.colours,
            rows=surface.rows,
            previous=surface.previous,
            colours=surface.colours,
            not_finite=not_finite,
            blocks=min(count, MAX_BLOCKS),
        )

    def hide(self, hidden: Collection[int], first: int) -> None:
        """Which of the objects, the first of which is the scene's object `first`, are left out from now on."""
        if self.objects:
            flags = [first + index in hidden for index in range(len(self.objects))]
            self._target.write(self._hidden, np.array(flags, np.int32))

    # -- once a scene ---------------------------------------------------------------------------------------------
    def _linked(self, group: Glyphs) -> int:
        """Which of the objects of spheres a group is linked to."""
        assert group.links is not None
        return [thing.spheres for thing in self._spheres.objects].index(group.links.spheres)

    def _upload(self, first_placement: int) -> None:
        """The keys of every group once, however many objects place it."""
        columns = _Columns([], [np.zeros((1, 3), np.float32)])
        pairs: list[np.ndarray] = [np.zeros((1, 2), np.int32)]
        places: dict[int, _Place] = {}
        pair_count, table = 1, list[GlyphObject]()
        for index, (thing, group, room) in enumerate(zip(self.objects, self._groups, self._room, strict=True)):
            if thing.glyphs not in places:
                places[thing.glyphs] = columns.add(group, room)
            place, links, of_links = places[thing.glyphs], group.links, (-1, 0, 0.0, 0.0)
            if links is not None:
                first_sphere = int(self._spheres.firsts[self._linked(group)])
                of_links = (pair_count, first_sphere, links.share, links.longest or UNBOUNDED)
                pairs.append(np.asarray(links.pairs, np.int32))
                pair_count += len(links.pairs)
            slot, shape = int(self._firsts[index]), GLYPH_SHAPES.index(group.shape)
            table.append(
                GlyphObject(*place.numbers, *of_links[:2], first_placement + index, slot, shape, *of_links[2:])
            )
        self._rows = self._upload_keys(np.concatenate(columns.rows), "animation")
        self._colours = self._upload_keys(np.concatenate(columns.colours), "animation")
        self._pairs = self._target.upload(np.concatenate(pairs), "animation")
        self._parts = {group: place.parts(self._rows, self._colours) for group, place in places.items()}
        self._objects = self._target.upload(GlyphObject.table(table).view(np.uint8), "animation")


@dataclasses.dataclass(frozen=True, eq=False)
class _Place:
    """A group's keys, (K, N, 12) and (K or 1, N, 3), and where those that have room lie among all."""

    rows: np.ndarray
    colours: np.ndarray | None
    first_row: int
    first_colour: int

    @property
    def strides(self) -> tuple[int, int]:
        """Of rows and colours, from one key frame to the next."""
        count, colours = self.rows.shape[1], self.colours
        return count if len(self.rows) > 1 else 0, count if colours is not None and len(colours) > 1 else 0

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """As GlyphObject begins."""
        return self.first_row, self.strides[0], self.first_colour, self.strides[1]

    def parts(self, rows: Array, colours: Array) -> tuple[Part, ...]:
        """What comes and goes with a key frame."""
        found = [Part(self.rows, rows, self.first_row, self.strides[0])]
        if self.colours is not None and self.strides[1]:
            found.append(Part(self.colours, colours, self.first_colour, self.strides[1]))
        return tuple(found)


@dataclasses.dataclass(eq=False)
class _Columns:
    """Rows and colours of all groups, as many key frames of each as have room."""

    rows: list[np.ndarray]
    colours: list[np.ndarray]

    def add(self, group: Glyphs, room: int) -> _Place:
        """Put a group's key frames behind the others."""
        own = _colours_of(group)
        colours = None if own is None else np.asarray(own if own.ndim == 3 else own[None], np.float32)
        first_colour = -1 if colours is None else sum(map(len, self.colours))
        place = _Place(_key_rows(group), colours, sum(map(len, self.rows)), first_colour)
        self.rows.append(place.rows[:room].reshape(-1, 12))
        if colours is not None:
            self.colours.append(colours[:room].reshape(-1, 3))
        return place


def keyed_glyphs(scene: Scene) -> list[Keyed]:
    """The scene's groups as things with key frames; those that no object places take nothing."""
    placed, found = {thing.glyphs for thing in scene.objects}, []
    for index, group in enumerate(scene.glyphs):
        keys = group.key_frames if index in placed else None
        floats = 0 if keys is None else 12 + (0 if keys.colours is None else 3)
        times = np.zeros(0, np.float32) if keys is None else np.asarray(keys.times, np.float32)
        found.append(Keyed(times, 4 * floats * len(group.centres)))
    return found


def with_glyphs(others: Primitives, glyphs: GlyphSurface | None) -> Primitives:
    """The others, and the glyphs where there are some."""
    return others if glyphs is None else glyph_primitives(others, glyphs.rows, glyphs.count, glyphs.first_id)


def _colours_of(group: Glyphs) -> np.ndarray | None:
    keys = group.key_frames
    return group.colours if keys is None or keys.colours is None else keys.colours


def _key_rows(group: Glyphs) -> np.ndarray:
    """(K, N, 12) float32 as gpu/device/glyph.cuh has them."""
    keys = group.key_frames
    centres = group.centres[None] if keys is None else keys.centres
    shape = centres.shape[:2]
    turns, sizes = (
        own if keys is None or of_keys is None else of_keys
        for own, of_keys in (
            (group.turns, None if keys is None else keys.turns),
            (group.sizes, None if keys is None else keys.sizes),
        )
    )
    rows = np.zeros((*shape, 12), np.float32)
    rows[..., :3], rows[..., 7], rows[..., 8:11] = centres, 1.0, sizes
    if turns is not None:
        rows[..., 4:8] = turns
    rows[..., 11] = -2.0 - GLYPH_SHAPES.index(group.shape)
    return rows
