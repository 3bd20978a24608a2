"""What can be chosen about casting camera rays at spheres in tiles: Soell's axes (2015), and ours."""

from __future__ import annotations

import dataclasses

from ..settings import option

PRIMARY = ("structure", "tiles")
"""Who gives primary hits."""

MOST_LAYERS = 64
"""Tiles in depth."""

ARRANGEMENTS = (
    "splat",
    "pixels_by_pixels",
    "spheres_by_pixels",
    "pixels_by_spheres",
    "spheres_by_spheres",
    "spheres_by_box_pixels",
)
"""`splat`, and Soell's variants 1 to 5 by what their outer loop goes over and what threads take side by side."""


@dataclasses.dataclass(frozen=True)
class GlyphOptions:
    """Options of the tile caster."""

    arrangement: str = option(
        "auto",
        "What loops go over and what threads share: splat takes no tiles and keeps the nearest by an atomic minimum; "
        "the others are Soell's variants 1 to 5, the outer loop and then what threads take side by side. auto takes "
        "what was fastest when a window's first frames tried some, with lists, tiles and blocks of its own; pictures "
        "that are rendered go by a rule: splat on a GPU, spheres_by_pixels on the CPU.",
        choices=("auto", *ARRANGEMENTS),
    )
    lists: str = option(
        "auto",
        "How tiles know their spheres: scatter lists them by count, scan and scatter; front_to_back orders the lists "
        "by distance, so that variant 1 ends early; none makes each tile look at every sphere, as unsorted spheres in "
        "the thesis; cpu makes the thesis' lists on the CPU and copies them, which waits for the device; auto is "
        "front_to_back with variant 1 and scatter with the others.",
        choices=("auto", "scatter", "front_to_back", "cpu", "none"),
    )
    tiles: int = option(32, "Tiles across and down the picture; the thesis has 32 to 256.", minimum=1, maximum=1024)
    tile_rounding: str = option(
        "up",
        "Where the tiles do not divide the picture: up covers all of it, printed cuts as the thesis' integers do, so "
        "that the right and the lower edge stay empty.",
        choices=("up", "printed"),
    )
    depth_tiles: int = option(
        1,
        "Tiles in depth, nearest first (the thesis' outlook): a tile ends with the one behind which all its pixels are "
        "covered, a pixel of variants 1 and 3 with the one behind which it is. Needs lists.",
        minimum=1,
        maximum=MOST_LAYERS,
    )
    block_x: int = option(32, "Threads of a block side by side in a row of pixels.", minimum=1, maximum=32)
    block_y: int = option(4, "Rows of threads of a block.", minimum=1, maximum=32)
    box_loops: bool = option(True, "Variants 2 and 4 go over the pixels of each sphere's box, not of the whole tile.")
    local_buffer: bool = option(
        True, "Nearest hits of a tile are kept in shared memory and copied out at its end, where they fit."
    )
    ray_setup: str = option(
        "test",
        "Where a pixel's ray is made: test makes it for each sphere, tile keeps the rays of a tile's pixels in shared "
        "memory, where they fit (in place of the thesis' increments, 5.2.1, whose rounding errors add up). On the CPU "
        "variant 2 keeps the nearest hits beside them and tests nothing behind these.",
        choices=("test", "tile"),
    )
    sphere_layout: str = option(
        "columns",
        "How spheres lie in memory (3.4): columns are the scene's own arrays and boxes beside them, structs have a "
        "sphere and its box in 32 bytes, as the thesis has them.",
        choices=("columns", "structs"),
    )
    spheres_in: str = option(
        "global",
        "How spheres are read: global as any memory, read_only through the cache that textures have (the thesis' "
        "outlook). The CPU has one kind of memory.",
        choices=("global", "read_only"),
    )
    intrinsics: str = option(
        "exact",
        "How the test of a ray with a sphere divides and takes roots: exact, or fast by a GPU's approximations, which "
        "may move a hit by its last digits and miss it at a rim. On the CPU both are exact.",
        choices=("exact", "fast"),
    )
    boxes: str = option(
        "exact",
        "The pixels that a sphere can be seen in: exact by tangents, or as printed in the thesis (4.6), which misses "
        "some off the picture's middle.",
        choices=("exact", "printed"),
    )
    near_first: bool = option(
        True,
        "splat: near spheres are drawn first, and of the others those alone that these do not hide. Worth it where "
        "many spheres lie behind one another.",
    )


@dataclasses.dataclass(frozen=True)
class TileMarkOptions:
    """What tiles work with, drawn over the picture, in exported pictures, too, whatever finds the first hits."""

    grid: bool = option(
        False,
        "Draw the grid of tiles: of those that find the first hits, with an automatic arrangement those that it has "
        "taken; where none do, as with splat, of those that the table [tiles] asks for.",
    )
    boxes: bool = option(
        False,
        "Draw the box of pixels that each sphere can be seen in, exact or as printed (tiles.boxes): of the object that "
        "is selected where it is of spheres, else of all.",
    )
    limit: int = option(
        1000,
        "Spheres whose boxes are drawn at most; of more, those nearest to the eye, and of more than 65,536 spheres the "
        "nearest of so many, taken evenly.",
        minimum=1,
        maximum=65536,
        unit="spheres",
    )
    opacity: float = option(0.8, "How much of the picture the lines hide.", minimum=0.05, maximum=1.0)

    @property
    def are_on(self) -> bool:
        """Whether anything is drawn."""
        return self.grid or self.boxes
