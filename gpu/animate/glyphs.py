"""The scene's glyphs on a target: key frames of all groups, and their rows and colours of this instant. All key frames
lie there at once; keys and nodes are pose.py's, and linked glyphs go from sphere to sphere (spheres.py)."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import numpy as np

from ..glyph_shapes import GLYPH_SHAPES, Glyphs, check_glyphs
from ..hierarchy.base import Primitives
from ..hierarchy.primitives import glyph_primitives
from ..rows import Float, Int, Struct
from ..scene import Scene
from ..target.base import Array, OutOfMemoryError, Target, TargetError, UnitSource
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
    """The scene's objects of glyphs, whose placements begin at `first_placement`. Raises ValueError for glyphs whose
    parts do not fit one another, TargetError for more than can be numbered."""

    def __init__(
        self, target: Target, scene: Scene, first_placement: int, first_id: int, spheres: SphereAnimator
    ) -> None:
        self._target, self._spheres = target, spheres
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
        keys = sum(len(rows) for rows in map(_key_rows, self._groups)) if self._groups else 0
        self.surface: GlyphSurface | None = None
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
        """Of each object its node, the times of its key frames, and how many of them have room: all."""
        times = [np.zeros(1) if one.key_frames is None else one.key_frames.times for one in self._groups]
        return tuple(
            (thing.node, np.asarray(of, np.float32), len(of)) for thing, of in zip(self.objects, times, strict=True)
        )

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
        rows: list[np.ndarray] = []
        colours: list[np.ndarray] = [np.zeros((1, 3), np.float32)]
        pairs: list[np.ndarray] = [np.zeros((1, 2), np.int32)]
        lengths = {"rows": 0, "colours": 1, "pairs": 1}
        table: list[GlyphObject] = []
        for index, group in enumerate(self._groups):
            count, own, links = len(group.centres), _colours_of(group), group.links
            keyed = _key_rows(group)
            of_links = (-1, 0, 0.0, 0.0)
            if links is not None:
                of_links = (
                    lengths["pairs"],
                    int(self._spheres.firsts[self._linked(group)]),
                    links.share,
                    links.longest or UNBOUNDED,
                )
                pairs.append(np.asarray(links.pairs, np.int32))
                lengths["pairs"] += count
            table.append(
                GlyphObject(
                    lengths["rows"],
                    count if len(keyed) > count else 0,
                    lengths["colours"] if own is not None else -1,
                    count if own is not None and own.ndim == 3 else 0,
                    *of_links[:2],
                    first_placement + index,
                    int(self._firsts[index]),
                    GLYPH_SHAPES.index(group.shape),
                    *of_links[2:],
                )
            )
            rows.append(keyed)
            lengths["rows"] += len(keyed)
            if own is not None:
                colours.append(np.asarray(own, np.float32).reshape(-1, 3))
                lengths["colours"] += len(colours[-1])
        try:
            self._rows, self._colours, self._pairs = (
                self._target.upload(np.concatenate(of), "animation") for of in (rows, colours, pairs)
            )
        except OutOfMemoryError as error:
            what = f"{lengths['rows']:,} glyphs of all key frames, which do not stream (read fewer: import.every_frame)"
            raise OutOfMemoryError(what, error.needed, error.available) from error
        self._objects = self._target.upload(GlyphObject.table(table).view(np.uint8), "animation")


def with_glyphs(others: Primitives, glyphs: GlyphSurface | None) -> Primitives:
    """The others, and the glyphs where there are some."""
    return others if glyphs is None else glyph_primitives(others, glyphs.rows, glyphs.count, glyphs.first_id)


def _colours_of(group: Glyphs) -> np.ndarray | None:
    keys = group.key_frames
    return group.colours if keys is None or keys.colours is None else keys.colours


def _key_rows(group: Glyphs) -> np.ndarray:
    """(K N, 12) float32, a key frame after the other, as gpu/device/glyph.cuh has them."""
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
    return rows.reshape(-1, 12)
