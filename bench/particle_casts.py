"""Casts of spheres by the million, timed by every arrangement: the picture in tiles, a plain splatter, and `auto`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from raygrove.gpu.glyphs.caster import TileCaster
from raygrove.gpu.glyphs.choosing import Situation
from raygrove.gpu.glyphs.options import GlyphOptions
from raygrove.gpu.target.base import Target

from .particle_cells import Cell, Figures, millions
from .suites.soell_casts import View, auto_options, cast_times, in_morton_order, make_view, step_options, view_of
from .suites.soell_tables import READINGS, SORTED_BEST, VARIANTS

ORDERS = ("random", "Morton")
SPLATS = ("splat", "splat, in any order")
FRONT_TO_BACK = "v1, front to back"
IN_TILES = (*VARIANTS, FRONT_TO_BACK, "v2, 8 tiles in depth")
FEW_IN_TILES = ("v4", FRONT_TO_BACK, "v2, 8 tiles in depth")
"""Those that are tried on the most spheres."""
BLOCK = (16, 8)
"""Threads of a block at most, front to back."""
LONG_MS = 100.0
"""A cast that takes longer is measured once."""


def options_of(by: str, grid: int, size: tuple[int, int]) -> GlyphOptions:
    """The options of an arrangement by its name here, with so many tiles a side of a picture."""
    if by in SPLATS:
        return GlyphOptions(arrangement="splat", near_first=by == SPLATS[0])
    if by == FRONT_TO_BACK:
        # A thread without a pixel of its tile only waits for the others.
        block_x, block_y = (min(most, -(-side // grid)) for most, side in zip(BLOCK, size, strict=True))
        return GlyphOptions(
            arrangement=VARIANTS["v1"],
            lists="front_to_back",
            tiles=grid,
            block_x=block_x,
            block_y=block_y,
            box_loops=True,
        )
    variant, _, is_deep = by.partition(", ")
    found = step_options(variant, SORTED_BEST.get(variant, "sorted"), grid)
    return GlyphOptions(**{**found.__dict__, "depth_tiles": 8}) if is_deep else found


class Views:
    """The spheres of the cell that is measured, and no others: they may be gigabytes."""

    def __init__(self, target: Target, size: tuple[int, int]) -> None:
        self.target, self.size = target, size
        self._made: tuple[tuple[int, str], View] | None = None
        self._shown: tuple[tuple[int, str, int], View] | None = None

    def of(self, count: int, pixels: int, order: str) -> View:
        """Spheres of a radius at their own distance, uniform in the frustum."""
        if self._shown is None or self._shown[0] != (count, order, pixels):
            self._shown = None
            made = self._of_one_pixel(count, order)
            shown = view_of(self.target, made.centres, made.radii * pixels, made.rays)
            self._shown = ((count, order, pixels), shown)
        return self._shown[1]

    def _of_one_pixel(self, count: int, order: str) -> View:
        if self._made is None or self._made[0] != (count, order):
            self._made = None
            made = make_view(self.target, count, 1, self.size, READINGS[0])
            self._made = ((count, order), made if order == ORDERS[0] else in_morton_order(self.target, made))
        return self._made[1]


def casts(
    views: Views, count: int, radii: Sequence[int], arrangements: Sequence[str], grids: Sequence[int], runs: int
) -> Iterator[Cell]:
    """A cell for each arrangement, radius and order, `auto` last."""
    width, height = views.size
    for order in ORDERS:
        for pixels in radii:
            what = f"{millions(count)} spheres of {pixels} px, {width}x{height}"
            for by in (*SPLATS, *arrangements):
                for grid in (0,) if by in SPLATS else grids:
                    yield _cell(views, (count, pixels, order), what, by, grid, runs)
            yield _cell(views, (count, pixels, order), what, "auto", 0, runs)


def _cell(views: Views, case: tuple[int, int, str], what: str, by: str, grid: int, runs: int) -> Cell:
    count, pixels, order = case
    place = f"{by}, {grid} tiles a side" if grid else by

    def measure() -> Figures:
        view = views.of(count, pixels, order)
        if by == "auto":
            options = auto_options(views.target, view, Situation(count, pixels, view.rays.count))
        else:
            options = options_of(by, grid, views.size)
        found = cast_times(views.target, view, options, 1)
        if found["total_ms"] < LONG_MS:
            found = cast_times(views.target, view, options, runs)
        figure = found["total_ms"] if found["graph_ms"] is None else found["graph_ms"]
        taken = TileCaster(views.target, options).sentence
        yield {**found, "by": by, "order": order, "is": taken, "figure": figure, "unit": "ms"}

    return Cell("casts", what, f"{place}, {order} order", measure)


def memory_of_tiles(views: Views, count: int, radii: Sequence[int]) -> Iterator[Cell]:
    """Bytes of a sphere beyond its centre and radius while it is cast by count, scan and scatter."""
    for pixels in radii:
        yield Cell(
            "memory", "memory of a sphere in tiles", f"{millions(count)} of {pixels} px", _memory(views, count, pixels)
        )


def _memory(views: Views, count: int, pixels: int) -> Callable[[], Figures]:
    def measure() -> Figures:
        few, many = (_cast_bytes(views, number, pixels) for number in (1, count))
        yield {"figure": (many - few) / count, "unit": "bytes"}

    return measure


def _cast_bytes(views: Views, count: int, pixels: int) -> int:
    """By which a target's memory grows where spheres are cast for the first time, and a second one with the room that
    the first asked for."""
    target, view = views.target, views.of(count, pixels, ORDERS[0])
    target.forget_scratch()
    before, caster = sum(target.memory().values()), TileCaster(target, GlyphOptions(arrangement=VARIANTS["v4"]))
    for _ in range(2):
        caster.make_room(view.primitives)
        caster.cast(view.rays)
        target.synchronize()
    return sum(target.memory().values()) - before
