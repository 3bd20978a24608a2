"""Which spheres each tile of a picture looks at: boxes in pixels, and lists by count, scan and scatter.

A list is as long as the spheres and tiles ask for, which is known on the target alone. There is room for so many
entries as the last frames needed; where they do not fit, the lists are marked as full, the caster draws that picture
without them, and the next has more room.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from ..hierarchy.base import Primitives
from ..primitive_views import SphereView
from ..rows import Floats, Int, Ints, Struct
from ..target.base import Array, Target, Unit, UnitSource
from ..target.structs import address
from ..trace.trace import CameraRays
from .cpu_lists import sort_to_tiles
from .options import GlyphOptions
from .things import things_of

MOST_TILES = 64
"""A sphere over more tiles than this is looked at by all of them."""

FIRST_TILES_EACH = 3
"""Entries that there is room for at first, a sphere."""

GROWTH = 1.25

Constants = tuple[tuple[str, int | float | bool], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TileArrays(Struct):
    """What TileInput of tiles.cuh holds; lists of tiles and layers are put in as they are made."""

    spheres: Annotated[SphereView | np.ndarray, "class Spheres"]
    glyph_rows: Annotated[Array | None, "const float4*"]
    """Three words a glyph (gpu/device/glyph.cuh)."""
    structs: Annotated[Array | None, "const SphereStruct*"] = None
    """In place of `spheres` and `boxes`."""
    boxes: Annotated[Array | None, "const uint2*"] = None
    layers: Annotated[Array | None, "const uint8*"] = None
    """The layer of each sphere, where there are some."""
    layer_begins: Floats = None
    """No sphere of a layer is met at a smaller distance."""
    first: Ints = None
    """Where the list of each tile's layer begins in `ids`."""
    counts: Ints = None
    """Its length."""
    ids: Ints = None
    large: Ints = None
    """Spheres that every tile looks at."""
    status: Ints = None
    """Two numbers: see Status."""
    order_keys: Annotated[Array | None, "const unsigned*"] = None
    """Of boxes.cu, where near spheres are splatted first."""
    near_bound: Annotated[Array | None, "const unsigned*"] = None
    """Spheres whose order keys are below it are near."""
    covered: Annotated[Array | None, "const unsigned*"] = None
    """Of each cell of the picture, the greatest order key of what is drawn there (covered.cuh)."""
    keys: Annotated[Array, "uint64*"]
    """A hit_key a pixel of the rows drawn."""
    tile_width: Int
    tile_height: Int
    across: Int
    down: Int
    layer_count: Int
    """Tiles in depth."""
    block_x: Int
    """Threads of a block in a row of pixels."""
    rows: Int
    """Drawn, from the frame's first row on, which is row 0 of boxes, tiles and keys."""
    glyph_count: Int


@dataclasses.dataclass(frozen=True)
class Tiling:
    """Tiles of a picture: their sizes in pixels, and how many there are across and down."""

    width: int
    height: int
    across: int
    down: int

    @classmethod
    def of(cls, options: GlyphOptions, width: int, height: int) -> Tiling:
        """As the options say, at least a pixel each. Rounded up, no tile is empty."""
        if options.tile_rounding == "printed":
            return cls(
                max(1, width // options.tiles), max(1, height // options.tiles), *_at_most(options.tiles, width, height)
            )
        tile_width, tile_height = -(-width // options.tiles), -(-height // options.tiles)
        return cls(tile_width, tile_height, -(-width // tile_width), -(-height // tile_height))

    @property
    def count(self) -> int:
        """All tiles of the picture."""
        return self.across * self.down

    @property
    def pixels(self) -> int:
        """Of a tile."""
        return self.width * self.height


def _at_most(tiles: int, width: int, height: int) -> tuple[int, int]:
    return min(tiles, width), min(tiles, height)


@dataclasses.dataclass(frozen=True, eq=False)
class Boxes:
    """Where spheres are seen: `boxes` (N, 2) uint32 or, in their place, `structs` (N, 8) float32 of spheres and boxes;
    where they are asked for keys that sort as distances do, with prim_ids."""

    boxes: Array | None
    structs: Array | None
    order_keys: Array | None
    prim_ids: Array | None

    def packed(self, target: Target) -> np.ndarray:
        """The boxes on the host, (N, 2) uint32. Waits."""
        if self.boxes is not None:
            return target.download(self.boxes)
        assert self.structs is not None
        return target.download(self.structs)[:, 4:6].view(np.uint32)


class TileLists:
    """Lists of one view's spheres. `generation` grows where memory moves, so that captured launches are made anew."""

    def __init__(self, target: Target) -> None:
        self.target, self.generation = target, 0
        self._capacity = 0
        self._ids: Array | None = None
        self._uploaded: dict[str, Array] = {}
        self._listed = target.zeros(1, np.uint64, "glyphs")
        self._needed: Callable[[], np.ndarray | None] | None = None

    @property
    def capacity(self) -> int:
        """Entries that there is room for."""
        return self._capacity

    @property
    def entries(self) -> int | None:
        """How long the lists last made are together; None where the CPU made them. Waits."""
        return None if self._uploaded else int(self.target.download(self._listed)[0])

    @property
    def is_full(self) -> Array:
        """Whether the lists last made did not fit, int32 (1,)."""
        return self.target.scratch("glyphs.status", 2, np.int32)[1:]

    def read_full(self) -> Callable[[], bool]:
        """Start asking whether the lists last made did not fit, without waiting: true once it is known that they did
        not."""
        read, capacity = self.target.read_later(self._listed), self._capacity
        return lambda: (found := read()) is not None and int(found[0]) > capacity

    def make_room(self, count: int) -> None:
        """Between frames: room for as many entries as spheres need at first, or as the last frames asked for."""
        needed = FIRST_TILES_EACH * count
        if self._capacity and self._needed is None:
            self._needed = self.target.read_later(self._listed)
        if self._needed is not None and (read := self._needed()) is not None:
            self._needed = None
            needed = max(needed, min(int(GROWTH * int(read[0])), MOST_TILES * count))
        if needed > self._capacity:
            self._capacity, self.generation = max(1, needed), self.generation + 1
            self._ids = None  # before the new one, so that they are not there at a time
            self._ids = self.target.empty(self._capacity, np.int32, "glyphs")

    def write_boxes(
        self, unit: Unit, rays: CameraRays, primitives: Primitives, as_structs: bool, has_order: bool, has_ids: bool
    ) -> Boxes:
        """Where the spheres are seen; keys of their distances (`has_order`), and prim_ids to sort by these."""
        count, scratch = primitives.count, self.target.scratch
        found = Boxes(
            None if as_structs else scratch("glyphs.boxes", (max(1, count), 2), np.uint32),
            scratch("glyphs.structs", (max(1, count), 8), np.float32) if as_structs else None,
            scratch("glyphs.order", max(1, count), np.uint32) if has_order else None,
            scratch("glyphs.by_distance", max(1, count), np.uint32) if has_ids else None,
        )
        self.target.launch(
            unit, "write_boxes", count, frame=rays.frame, **things_of(primitives).arguments, rows=rays.height,
            boxes=found.boxes, structs=found.structs, order_keys=found.order_keys, prim_ids=found.prim_ids,
        )  # fmt: skip
        return found

    def with_layers(self, unit: Unit, rays: CameraRays, tile_input: np.ndarray, count: int, boxes: Boxes) -> np.ndarray:
        """Find the layer of each sphere, and return `tile_input` with them. Launches only."""
        target, layers = self.target, int(tile_input["layer_count"])
        depths = target.scratch("glyphs.depths", 2, np.int32)
        target.fill(depths[0:1], np.iinfo(np.int32).max)
        target.fill(depths[1:2], np.iinfo(np.int32).min)
        begins = target.scratch("glyphs.layer_begins", layers, np.float32)
        of_spheres = target.scratch("glyphs.layers", max(1, count), np.uint8)
        made = make_input(tile_input, layers=of_spheres, layer_begins=begins)
        keys: dict[str, Any] = {"input": made, "order_keys": boxes.order_keys}
        target.launch(unit, "find_depths", count, depths=depths, **keys)
        target.launch(unit, "begin_layers", layers, frame=rays.frame, depths=depths, layer_count=layers, begins=begins)
        target.launch(unit, "write_layers", count, layers=of_spheres, **keys)
        return made

    def lists_by_cpu(self, tiling: Tiling, tile_input: np.ndarray, count: int, boxes: Boxes) -> np.ndarray:
        """Make the lists on the host, and return `tile_input` with them. Waits for the target; they are as long as they
        have to be."""
        target, depth = self.target, int(tile_input["layer_count"])
        layers = target.download(target.scratch("glyphs.layers", max(1, count), np.uint8)) if depth > 1 else None
        made = sort_to_tiles(
            boxes.packed(target)[:count], layers, (tiling.width, tiling.height), (tiling.across, tiling.down), depth,
            MOST_TILES,
        )  # fmt: skip
        self._uploaded = {
            name: target.upload(values if len(values) else np.zeros(1, np.int32), "glyphs")
            for name, values in {
                "first": made.first, "counts": made.counts, "ids": made.ids, "large": made.large,
                "status": np.array([len(made.large), 0], np.int32),
            }.items()
        }  # fmt: skip
        return make_input(tile_input, **self._uploaded)

    def lists_of(
        self, unit: Unit, tiling: Tiling, tile_input: np.ndarray, count: int, order: tuple[Array, Array] | None
    ) -> np.ndarray:
        """Make the lists, and return `tile_input` with them. `order`: keys and prim_ids, where lists are to be in order
        of distance. Launches only; `make_room` was called before."""
        assert self._ids is not None
        target, tiles = self.target, tiling.count * int(tile_input["layer_count"])
        numbers = target.scratch("glyphs.tiles", (3, tiles), np.int32)  # where lists begin, their lengths, filled
        first, counts, filled = numbers[0], numbers[1], numbers[2]
        status = target.scratch("glyphs.status", 2, np.int32)
        large = target.scratch("glyphs.large", max(1, count), np.int32)
        for array in (counts, filled, status, self._listed):
            target.fill(array, 0)
        made = make_input(tile_input, first=first, counts=counts, ids=self._ids, large=large, status=status)
        target.launch(
            unit, "count_in_tiles", count, input=made, counts=counts, large=large, status=status, listed=self._listed
        )
        target.exclusive_scan(counts, first, "glyphs.scan")
        target.launch(unit, "check_lists", 1, listed=self._listed, capacity=self._capacity, status=status, blocks=1)
        if order is None:
            target.launch(unit, "scatter_to_tiles", count, input=made, filled=filled, ids=self._ids)
            return made
        return make_input(made, ids=self._in_order(unit, made, tiles, count, *order))

    def _in_order(self, unit: Unit, made: np.ndarray, lists: int, count: int, keys: Array, prim_ids: Array) -> Array:
        """Entries by list, and in each by distance: spheres are sorted, and their entries stably by list."""
        target = self.target
        _, by_distance = target.sort_pairs(keys, prim_ids, (0, 32), "glyphs.sort")
        tile_counts = target.scratch("glyphs.tile_counts", count, np.int32)
        target.launch(
            unit, "count_tiles_of_spheres", count, input=made, by_distance=by_distance, tile_counts=tile_counts
        )
        target.exclusive_scan(tile_counts, tile_counts, "glyphs.scan")
        lists_of_pairs = target.scratch("glyphs.pairs", self._capacity, np.uint32)
        ids = self._ids.view(np.uint32)  # type: ignore[union-attr]
        target.launch(
            unit, "write_pairs", count, input=made, by_distance=by_distance, pair_first=tile_counts,
            listed=self._listed, capacity=self._capacity, lists_of_pairs=lists_of_pairs, ids=ids,
        )  # fmt: skip
        return target.sort_pairs(lists_of_pairs, ids, (0, int(lists).bit_length()), "glyphs.pair_sort")[1]


def make_input(before: np.ndarray, **arrays: Array | None) -> np.ndarray:
    """A TileInput with some of its arrays others."""
    made = before.copy()
    for name, array in arrays.items():
        made[name] = address(array)
    return made


def bins_unit(access: Constants) -> UnitSource:
    """The unit of bins.cu; `access`: constants of tiles.cuh."""
    return UnitSource("gpu/glyphs/bins.cu", constants=(("MOST_TILES", MOST_TILES), *access))
