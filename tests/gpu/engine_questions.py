"""Questions that engine_actions.py asks of an engine beside its pictures, and whether the answers are those of another
engine: what touches, what lies in a region, what is under a pixel, what the rays found and how many steps they took."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from raygrove.gpu.engine import Engine
from raygrove.gpu.hierarchy.base import NoCollisionsError
from raygrove.gpu.region import SHAPES, Region
from raygrove.gpu.view import View

FEW = 2
"""Rays at edges, and primitives that just touch, which rounding decides."""


REFUSED = (-1, -1)


class WrongError(AssertionError):
    """A picture or a figure is not what it has to be."""


def check_collisions(engine: Engine, view: View, other: Engine, others: View, chosen: random.Random) -> None:
    """All pairs, or those of two objects; the marks in the picture have their number."""
    between = chosen.choice(((-1, -1), (0, 1), (3, 1), (2, 3)))
    pairs, wanted = (
        {tuple(pair) for pair in _pairs(one, of, between).tolist()} for one, of in ((engine, view), (other, others))
    )
    _same(len(pairs ^ wanted) <= FEW, f"{len(pairs ^ wanted)} of {len(wanted)} pairs {between} are others")
    if not pairs or REFUSED in pairs:
        return
    found = engine.paint_collisions(view, between)
    counts = len(pairs), len({number for pair in pairs for number in pair})
    _same((found.pairs, found.primitives) == counts, f"{found} where {counts} are listed")


def check_region(engine: Engine, view: View, other: Engine, others: View, chosen: random.Random) -> None:
    """How many primitives lie in a box or a ball."""
    region = Region(chosen.choice(SHAPES), tuple(chosen.uniform(-1, 1) for _ in range(3)), chosen.uniform(0.1, 1.0))
    found, wanted = engine.paint_region(view, region), other.paint_region(others, region)
    _same((found.of, found.sentence) == (wanted.of, wanted.sentence), f"{found}, not {wanted}")
    _same(abs((found.count or 0) - (wanted.count or 0)) <= FEW, f"{found}, not {wanted}")


def check_pixels(engine: Engine, view: View, other: Engine, others: View, chosen: random.Random) -> None:
    """The buffers of the whole picture; at some pixels what is picked, what is nearest to it, and the steps of the
    ray."""
    found, wanted = engine.buffers(view), other.buffers(others)
    apart = int((found["object_id"] != wanted["object_id"]).sum())
    _same(apart <= FEW, f"the object is another at {apart} pixels")
    both = (found["prim_id"] == wanted["prim_id"]) & (found["prim_id"] >= 0)
    at_edges = int(((found["prim_id"] >= 0) | (wanted["prim_id"] >= 0)).sum() - both.sum())
    _same(at_edges <= FEW + 0.02 * both.size, f"the primitive is another at {at_edges} pixels")
    for name in ("depth", "normal"):
        gap = np.abs(found[name][both] - wanted[name][both]).max(initial=0.0)
        _same(bool(gap < 1e-3), f"{name} is {gap} apart")
    width, height = view.pixels.width, view.pixels.height
    for _ in range(4):
        column, row = chosen.randrange(width), chosen.randrange(height)
        _check_pixel(engine, view, other, others, (column, row), found)


def _check_pixel(
    engine: Engine, view: View, other: Engine, others: View, pixel: tuple[int, int], buffers: dict[str, np.ndarray]
) -> None:
    x, y = pixel[0] + 0.5, pixel[1] + 0.5
    steps, place = engine.steps(view, x, y), (pixel[1], pixel[0])
    counted = tuple(int(buffers[name][place]) for name in ("steps", "tests", "boxes"))
    hit, wanted = engine.pick(view, x, y), other.pick(others, x, y)
    found = hit.prim_id if hit is not None else -1
    _same(found == buffers["prim_id"][place], f"primitive {found} at {pixel}, not {buffers['prim_id'][place]}")
    _same(tuple(steps) == counted, f"{steps} at {pixel}, and {counted} in the buffers")
    if hit is None or wanted is None or hit.prim_id != wanted.prim_id:
        return
    _same(abs(hit.t - wanted.t) < 1e-3, f"{hit} is picked, not {wanted}")
    near, expected = (
        [one.distance for one in asked.near(of, seen, 5).nearest]
        for asked, of, seen in ((engine, view, hit), (other, others, wanted))
    )
    _same(len(near) == len(expected) and np.allclose(near, expected, atol=1e-3), f"nearest at {near}, not {expected}")


def _pairs(engine: Engine, view: View, between: tuple[int, int]) -> np.ndarray:
    """REFUSED alone where the scene's primitives cannot be asked, of whichever structure."""
    try:
        return engine.colliding_pairs(view, between)
    except NoCollisionsError:
        return np.array([REFUSED])


def _same(is_so: bool, sentence: str) -> None:
    if not is_so:
        raise WrongError(sentence)


Question = Callable[[Engine, View, Engine, View, random.Random], None]
QUESTIONS: tuple[Question, ...] = (check_collisions, check_region, check_pixels)
