"""bvh2 keeps boxes as centre and half extent: none that long doubles see touched is missed, and little more than those
is entered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.gpu.target.base import Target, UnitSource

LARGEST = float(np.finfo(np.float32).max)
COUNT = 4096
TINY = 1e-20
"""A direction's smaller component is taken for this (gpu/device/ray.cuh)."""


def launch(target: Target, kernel: str, width: int, **arguments: Any) -> list[np.ndarray]:
    unit = target.unit(
        UnitSource(
            "tests/gpu/hierarchy/centred_boxes.cu",
            rays_per_thread=width,
            constants=(("REFERENCE_BITS", 26), ("STACK_DEPTH", 64), ("STACK_KEEPS_DISTANCE", 0)),
        )
    )
    placed = {
        name: target.upload(np.ascontiguousarray(a), "test") if isinstance(a, np.ndarray) else a
        for name, a in arguments.items()
    }
    target.launch(unit, kernel, COUNT // width, **placed)
    return [target.download(placed[name]) for name, a in arguments.items() if isinstance(a, np.ndarray)]


def numbers(random: np.random.Generator, low: float, high: float, size: tuple[int, ...]) -> np.ndarray:
    """Both signs, sizes of 10**low to 10**high alike, a few zeros, the largest and the smallest numbers."""
    with np.errstate(over="ignore", under="ignore"):
        values = (10.0 ** random.uniform(low, high, size) * random.choice([-1, 1], size)).astype(np.float32)
    special = np.array([0.0, -0.0, 1e-45, -1e-45, 1.0], np.float32)
    values = np.where(random.random(size) < 0.05, random.choice(special, size), values)
    return np.clip(values, -LARGEST, LARGEST).astype(np.float32)


def boxes_of(random: np.random.Generator, low: float, high: float) -> np.ndarray:
    """(6, COUNT) float32: any two corners, points, flat boxes, ones that are small beside their distance from the
    origin."""
    a, b = numbers(random, low, high, (3, COUNT)), numbers(random, low, high, (3, COUNT))
    kind = random.integers(0, 4, COUNT)
    with np.errstate(over="ignore"):
        near = a + (a * 10.0 ** random.uniform(-8, -1, (3, COUNT))).astype(np.float32)
    b = np.where(
        (kind == 1) | ((kind == 2) & (np.arange(3)[:, None] == 1)),
        a,
        np.where(kind == 3, np.clip(near, -LARGEST, LARGEST), b),
    )
    return np.concatenate([np.minimum(a, b), np.maximum(a, b)]).astype(np.float32)


def rays_to(random: np.random.Generator, boxes: np.ndarray, low: float, high: float) -> np.ndarray:
    """(8, COUNT) float32: half of them towards a point of their box, its corners and faces among those; along the axes,
    from within, cut short."""
    lower, upper = boxes[:3].astype(float), boxes[3:].astype(float)
    share = np.round(random.random((3, COUNT)) * random.choice([1, 8], (3, COUNT))).clip(0, 1) * (
        random.random((3, COUNT)) < 0.5
    )
    point = lower + np.where(random.random((3, COUNT)) < 0.5, share, random.random((3, COUNT))) * (upper - lower)
    origin = np.where(random.random(COUNT) < 0.2, point, numbers(random, low, high, (3, COUNT)))
    along = np.where(random.random(COUNT) < 0.5, random.normal(size=(3, COUNT)), point - origin)
    along = np.where((random.random(COUNT) < 0.3) & (random.random((3, COUNT)) < 0.5), 0.0, along)
    with np.errstate(all="ignore"):
        along = np.where((size := np.abs(along).max(axis=0)) > 0, along / size, [[0.0], [0.0], [1.0]])
        along *= 10.0 ** np.where(random.random(COUNT) < 0.2, random.uniform(-6, 6, COUNT), 0.0)
        t_max = np.where(random.random(COUNT) < 0.7, LARGEST, 10.0 ** random.uniform(low, high, COUNT)).clip(0, LARGEST)
    rows = np.concatenate([origin, along, np.zeros((1, COUNT)), t_max[None]])
    return np.clip(rows, -LARGEST, LARGEST).astype(np.float32)


def touches(boxes: np.ndarray, rays: np.ndarray, by: float = 0.0) -> np.ndarray:
    """Whether each ray passes its box, in long doubles; of a box grown by a part of its size and of all distances where
    told."""
    lower, upper, origin, along = (part.astype(np.longdouble) for part in (boxes[:3], boxes[3:], rays[:3], rays[3:6]))
    along = np.where(
        np.abs(along) < np.longdouble(TINY), np.where(along < 0, -np.longdouble(TINY), np.longdouble(TINY)), along
    )
    margin = by * (upper - lower + np.abs(origin) + np.abs(lower) + np.abs(upper)) + (by > 0) * 1e-30
    first, second = (lower - margin - origin) / along, (upper + margin - origin) / along
    entry, leaving = np.minimum(first, second).max(axis=0), np.maximum(first, second).min(axis=0)
    return (np.maximum(entry, rays[6]) <= np.minimum(leaving, rays[7]) * (1 + by)) & (rays[6] <= rays[7])


RANGES = {
    "ordinary": (-3, 3),
    "tiny": (-45, -30),
    "denormal": (-45, -38),
    "large": (10, 17),
    "largest": (30, 38.5),
    "all": (-45, 38.5),
    "a point": (0, 0),
}


def check_traversals(target: Target, name: str) -> None:
    low, high = RANGES[name]
    hits = 0
    for seed in range(6):
        random = np.random.default_rng(seed)
        boxes = boxes_of(random, low, high)
        rays = rays_to(random, boxes, low, high)
        expected = touches(boxes, rays)
        hits += int(expected.sum())
        for width in (1, target.lane_count):
            *_, entered = launch(
                target, "enter_boxes", width, boxes=boxes, rays=rays, n=COUNT, entered=np.zeros(COUNT, np.int32)
            )
            missed = np.flatnonzero(expected & (entered & 1 == 0))
            assert len(missed) == 0, (seed, width, boxes[:, missed[:2]].T, rays[:, missed[:2]].T)
            if name in ("ordinary", "large", "a point"):
                far_from_it = ~touches(boxes, rays, 2.0**-8 + 1e-5)
                assert far_from_it.any() and (entered[far_from_it] & 1 == 0).all(), (
                    "a box is entered that a ray passes by more than a few roundings"
                )
                assert (entered & 2 == 0).all(), "an empty box is entered"
    assert hits > COUNT


@pytest.mark.parametrize("name", RANGES)
def test_no_box_that_a_ray_touches_is_missed(target: Target, name: str) -> None:
    check_traversals(target, name)


@pytest.mark.parametrize("name", RANGES)
def test_nor_is_one_without_multiply_add(exact_target: Target, name: str) -> None:
    check_traversals(exact_target, name)


def test_a_centre_whose_distance_overflows_hides_no_box(target: Target) -> None:
    """The box begins within the ray's length; its centre's distance is more than the largest number."""
    boxes = np.tile(np.array(3 * [[-5.5e17]] + 3 * [[-5e16]], np.float32), COUNT)
    rays = np.tile(np.array(3 * [[3.3e18]] + 3 * [[-1e-20]] + [[0.0], [3.39e38]], np.float32), COUNT)
    assert touches(boxes, rays).all()
    *_, entered = launch(target, "enter_boxes", 1, boxes=boxes, rays=rays, n=COUNT, entered=np.zeros(COUNT, np.int32))
    assert (entered & 1 == 1).all()


@given(seed=st.integers(0, 1 << 30), name=st.sampled_from(list(RANGES)))
def test_stored_boxes_hold_what_was_given(host_target: Target, seed: int, name: str) -> None:
    boxes = boxes_of(np.random.default_rng(seed), *RANGES[name])
    _, stored = launch(host_target, "keep_boxes", 1, boxes=boxes, n=COUNT, stored=np.zeros((9, COUNT), np.float32))
    centre, half, kept = (part.astype(np.longdouble) for part in np.split(stored, 3))
    lower, upper = boxes[:3].astype(np.longdouble), boxes[3:].astype(np.longdouble)
    assert (centre - half <= lower).all() and (upper <= centre + half).all() and np.isfinite(stored[:3]).all()
    bounded = np.maximum(np.abs(lower), np.abs(upper)) < 5e17
    assert np.isfinite(half)[bounded].all()
    slack = 2e-6 * (upper - lower) + 3.6e-7 * np.maximum(np.abs(lower), np.abs(upper)) + 1e-44
    assert (2 * half - (upper - lower) <= 2 * slack)[bounded].all()
    assert (kept >= half).all() and (kept[2] == half[2]).all(), "halves of 16 bits are rounded up"
    assert (kept <= half * (1 + 2.0**-7) + 2.0**-133)[bounded].all()
