"""Glyphs as plain values: numpy arrays and frozen dataclasses, as in scene.py."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

GLYPH_SHAPES = ("ellipsoid", "cylinder", "capsule", "arrow", "box", "disc", "splat")
"""What a glyph is, in its own frame, around its centre. `sizes` are half of what it measures along x, y and z but for
a capsule, which is a segment of half length z and all that is nearer to it than x, and an arrow, which points along z:
x is the radius of its shaft, y that of its head, at least the shaft's, and z half its length (ARROW_HEAD). A disc lies
in the plane z = 0 and is seen from both sides. A splat is a disc of radius x that faces every ray, and is shaded as its
centre is, with the normal z; rays that begin beside it on its surface go past it (SPLAT_NEAR). Of both z measures
nothing, but has to be above 0; as y of a splat."""

FLAT_SHAPES = ("disc", "splat")
"""Those without an inside."""

ARROW_HEAD = 2.5
"""How long an arrow's head is: so many times its radius, at most the whole arrow."""

SPLAT_NEAR = 8.0
"""A ray that begins within a splat's radius of its plane and so many radii of its centre goes past it."""


@dataclasses.dataclass(frozen=True, eq=False)
class GlyphKeys:
    """Key frames of glyphs: `times` (K,), `centres` (K, N, 3), `turns` (K, N, 4), `sizes` (K, N, 3) and `colours`
    (K, N, 3), None where they do not change. As SphereKeys; turns go the shorter way round."""

    times: np.ndarray
    centres: np.ndarray
    turns: np.ndarray | None = None
    sizes: np.ndarray | None = None
    colours: np.ndarray | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class GlyphLinks:
    """What stretches glyphs between spheres, as bonds: glyph i goes from sphere `pairs[i, 0]` of the scene's group
    `spheres` a `share` of the way to sphere `pairs[i, 1]`, `pairs` (N, 2) int32, wherever those are at the instant. It
    is not there where one of them is not, or where they are more than `longest` apart, as through a periodic box (0:
    however far). Without a colour of its own it has that of the first."""

    spheres: int
    pairs: np.ndarray
    share: float = 0.5
    longest: float = 0.0


@dataclasses.dataclass(frozen=True, eq=False)
class Glyphs:
    """Things of one of GLYPH_SHAPES: `centres` (N, 3), `turns` (N, 4) unit quaternions, None for those that are not
    turned, `sizes` (N, 3), `colours` (N, 3) linear or None, then the material's base colour. With key frames those hold
    at all times. With `links` centres, turns and what sizes say along z come from spheres. A size that is not above 0
    is none: such a glyph is not there."""

    name: str
    shape: str
    centres: np.ndarray
    sizes: np.ndarray
    turns: np.ndarray | None = None
    colours: np.ndarray | None = None
    material_id: int = 0
    ids: np.ndarray | None = None
    key_frames: GlyphKeys | None = None
    links: GlyphLinks | None = None


def check_glyphs(glyphs: Glyphs, sphere_counts: Sequence[int]) -> None:
    """ValueError where arrays do not fit one another, or the spheres that they link are not there; `sphere_counts` are
    those of the scene's groups, 0 where no object places one."""
    count, keys, links = len(glyphs.centres), glyphs.key_frames, glyphs.links
    if glyphs.shape not in GLYPH_SHAPES:
        known = ", ".join(GLYPH_SHAPES)
        raise ValueError(f"Glyphs {glyphs.name!r} have the shape {glyphs.shape!r}; it is one of {known}.")
    shapes: list[tuple[str, np.ndarray | None, tuple[int, ...]]]
    shapes = [("centres", glyphs.centres, (count, 3)), ("sizes", glyphs.sizes, (count, 3))]
    shapes += [("turns", glyphs.turns, (count, 4)), ("colours", glyphs.colours, (count, 3))]
    if links is not None:
        shapes += [("pairs", links.pairs, (count, 2))]
        most = sphere_counts[links.spheres] if 0 <= links.spheres < len(sphere_counts) else 0
        if links.pairs.size and not 0 <= int(links.pairs.min()) <= int(links.pairs.max()) < most:
            raise ValueError(f"Glyphs {glyphs.name!r} link spheres that the scene does not have: it has {most:,}.")
    if keys is not None:
        keyed = (len(keys.times), count)
        shapes += [("key centres", keys.centres, (*keyed, 3)), ("key turns", keys.turns, (*keyed, 4))]
        shapes += [("key sizes", keys.sizes, (*keyed, 3)), ("key colours", keys.colours, (*keyed, 3))]
        if not len(keys.times):
            raise ValueError(f"Glyphs {glyphs.name!r} have key frames without a time.")
    for what, values, shape in shapes:
        if values is not None and values.shape != shape:
            raise ValueError(
                f"Glyphs {glyphs.name!r} have {what} of shape {values.shape}; {count} centres need {shape}."
            )
