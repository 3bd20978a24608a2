"""What tiles work with, over a finished picture: their grid, and the boxes of pixels that spheres can be seen in (Soell
2015, figures 3.1 and 4.1), whoever finds the hits; none of spheres that lie wholly beyond the clipping plane."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np

from .animate.animate import Surface
from .animate.spheres import SphereSurface
from .clip import HalfSpace
from .glyphs.options import GlyphOptions, TileMarkOptions
from .glyphs.tile_lists import Tiling
from .primitive_views import SphereView
from .shade.boxes import BoxPainter, Lines
from .target.base import Array, Target, UnitSource
from .target.structs import pack
from .trace.trace import VIEW_FRAME, see_through
from .view_slot import ViewSlot

GRID, BOXES = (90, 200, 255), (255, 205, 90)
"""sRGB bytes."""

PIECES, PIECE = 64, 1024
"""Of more spheres than that these many pieces, evenly apart, are looked at: what a picture's time allows."""

Pieces = list[tuple[int, int]]


class TileMarks:
    """Draws them over one view's pictures. Boxes are read back where a picture shows anything else than the one
    before."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._painters = (BoxPainter(target), BoxPainter(target))
        self._frame = target.zeros(VIEW_FRAME.itemsize, np.uint8, "display")
        self._of: dict[str, tuple[Hashable, Lines]] = {}

    def paint(self, image: Array, slot: ViewSlot, surface: Surface, options: TileMarkOptions, only: int) -> None:
        """Draw into `image`, the picture of the slot's last frame. Boxes are those of the spheres of object `only`, of
        all where it has none. Waits where there are others than before."""
        grid, boxes = self._painters
        if options.grid:
            grid.paint(image, slot.film, self._grid(slot, options.opacity))
        if options.boxes and surface.spheres is not None:
            boxes.paint(image, slot.film, self._boxes(slot, surface, surface.spheres, options, only))

    def _grid(self, slot: ViewSlot, opacity: float) -> Lines:
        size = (slot.film.width, slot.film.height)
        tiling = Tiling.of(_drawn_by(slot), *size)

        def lines() -> Lines:
            return Lines(grid_lines(tiling, *size), GRID, opacity, True)

        return self._kept("grid", (tiling, size, opacity), lines)

    def _boxes(
        self, slot: ViewSlot, surface: Surface, spheres: SphereSurface, options: TileMarkOptions, only: int
    ) -> Lines:
        width, height = slot.film.width, slot.film.height
        frame = np.zeros((), VIEW_FRAME)
        see_through(frame, slot.view.camera, width, height)
        frame["jitter"] = 0.5
        is_printed, pieces = _drawn_by(slot).boxes == "printed", _pieces(surface, spheres, only)
        clip = slot.clip
        key = (surface.version, surface.sizing, frame.tobytes(), is_printed, tuple(pieces), options, clip)

        def lines() -> Lines:
            found = self._read(spheres, frame, pieces, is_printed, options.limit, clip)
            return Lines(box_lines(found), BOXES, options.opacity, True)

        return self._kept("boxes", key, lines)

    def _kept(self, name: str, key: Hashable, make: Callable[[], Lines]) -> Lines:
        if name not in self._of or self._of[name][0] != key:
            self._of[name] = (key, make())
        return self._of[name][1]

    def _read(
        self,
        spheres: SphereSurface,
        frame: np.ndarray,
        pieces: Pieces,
        is_printed: bool,
        limit: int,
        clip: HalfSpace | None,
    ) -> np.ndarray:
        """(M, 4) int64 first and end of x, first and end of y: of the spheres that are seen, the `limit` nearest."""
        target, count = self._target, sum(last - first for first, last in pieces)
        constants = (("PRINTED_BOXES", is_printed), ("SPHERE_STRUCTS", False), ("GLYPHS", False))
        unit = target.unit(UnitSource("gpu/glyphs/boxes.cu", constants=constants, rays_per_thread=0))
        boxes = target.scratch("marks.boxes", (max(1, count), 2), np.uint32)
        order = target.scratch("marks.order", max(1, count), np.uint32)
        target.write(self._frame, frame.reshape(1).view(np.uint8))
        done = 0
        for first, last in pieces:
            part = last - first
            view = SphereView(spheres.centres[first:last], spheres.radii[first:last], part, part)
            target.launch(
                unit, "write_boxes", part, frame=self._frame, spheres=pack(view), glyph_rows=None, glyph_count=0,
                rows=int(frame["height"]), boxes=boxes[done : done + part], structs=None,
                order_keys=order[done : done + part], prim_ids=None,
            )  # fmt: skip
            done += part
        found = target.download(boxes)[:count].view(np.uint16).reshape(-1, 4).astype(np.int64)
        is_seen = (found[:, 0] < found[:, 1]) & (found[:, 2] < found[:, 3])
        if clip is not None and count:
            is_seen &= self._reach_into(clip, spheres, pieces)
        seen = np.flatnonzero(is_seen)
        if len(seen) > limit:
            seen = np.sort(seen[np.argpartition(target.download(order)[seen], limit)[:limit]])
        return np.asarray(found[seen])

    def _reach_into(self, clip: HalfSpace, spheres: SphereSurface, pieces: Pieces) -> np.ndarray:
        """(M,) bool: which spheres of the pieces have a part in the half space."""
        parts = [
            (self._target.download(spheres.centres[first:last]), self._target.download(spheres.radii[first:last]))
            for first, last in pieces
        ]
        centres, radii = (np.concatenate(of_all).astype(np.float64) for of_all in zip(*parts, strict=True))
        return np.asarray(centres.reshape(-1, 3) @ np.array(clip[:3]) - radii <= clip[3])


def _drawn_by(slot: ViewSlot) -> GlyphOptions:
    """Where tiles find the hits what they are, with `auto` those of the arrangement taken; else what is chosen."""
    return slot.view.settings.tiles if slot.primary.caster is None else slot.primary.caster.drawn_by


def _pieces(surface: Surface, spheres: SphereSurface, only: int) -> Pieces:
    """The spheres that are looked at, from one to before another."""
    first, count = 0, spheres.count
    if 0 <= only < len(surface.objects):
        begin, of_object = surface.objects[only].first - spheres.first_id, surface.objects[only].count
        if 0 <= begin < spheres.count:
            first, count = begin, of_object
    if count <= PIECES * PIECE:
        return [(first, first + count)] if count else []
    starts = [first + (count - PIECE) * piece // (PIECES - 1) for piece in range(PIECES)]
    return [(start, start + PIECE) for start in starts]


def grid_lines(tiling: Tiling, width: int, height: int) -> np.ndarray:
    """(L, 2, 3) float32: through the first pixels of tiles, and through those after the last tile where the picture has
    any."""
    right, bottom = min(tiling.across * tiling.width, width), min(tiling.down * tiling.height, height)
    columns = [x for x in range(tiling.width, right + 1, tiling.width) if x < width]
    rows = [y for y in range(tiling.height, bottom + 1, tiling.height) if y < height]
    lines = [((x, 0), (x, bottom - 1)) for x in columns] + [((0, y), (right - 1, y)) for y in rows]
    return _through_middles(np.array(lines, np.float32).reshape(-1, 2, 2))


def box_lines(boxes: np.ndarray) -> np.ndarray:
    """(4 M, 2, 3) float32: through the outermost pixels of boxes (M, 4)."""
    left, right, top, bottom = boxes[:, 0], boxes[:, 1] - 1, boxes[:, 2], boxes[:, 3] - 1
    corners = np.stack([np.stack(one, axis=-1) for one in ((left, top), (right, top), (right, bottom), (left, bottom))])
    sides = np.stack([corners, np.roll(corners, -1, axis=0)], axis=2)
    return _through_middles(sides.reshape(-1, 2, 2).astype(np.float32))


def _through_middles(pixels: np.ndarray) -> np.ndarray:
    return np.concatenate([pixels + np.float32(0.5), np.zeros((*pixels.shape[:2], 1), np.float32)], axis=2)
