"""The reach of a pack: it meets each box that one of its rays enters, and few behind the ends of short ones."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.target.base import Target, UnitSource

PACKS = 4096
BOXES = 8
OFFSETS = {"near the origin": 1e-3, "of a scene's size": 1.0, "far off": 3e4, "very far off": 1e12}
NO_END = 3e38


def packs_of(random: np.random.Generator, width: int, offset: float, ends: np.ndarray) -> np.ndarray:
    """(8, PACKS, width) float32: rays that begin side by side and go all ways, some along an axis or nearly so, as long
    as `ends`, (PACKS,), or shorter; in half of the packs some are idle (an end below 0) and begin far off."""
    spread = random.choice([0.0, 1e-6, 0.05], (1, PACKS, 1))
    origins = offset * (random.uniform(-1, 1, (3, PACKS, 1)) + spread * random.uniform(-1, 1, (3, PACKS, width)))
    along = random.normal(size=(3, PACKS, width)) * random.choice([1.0, 1.0, 1.0, 1e-9, 1e-25, 0.0], (3, PACKS, width))
    along[0][np.abs(along).max(axis=0) == 0.0] = 1.0
    along = along / np.linalg.norm(along, axis=0)
    t_max = ends[:, None] * random.choice([1.0, 1.0, 0.3], (PACKS, width))
    is_idle = (random.random((PACKS, width)) < 0.3) & (random.random((PACKS, 1)) < 0.5) & (np.arange(width) > 0)
    origins, t_max = np.where(is_idle, 1e3 * offset, origins), np.where(is_idle, -1.0, t_max)
    return np.concatenate([origins, along, [np.zeros((PACKS, width)), t_max]]).astype(np.float32)


def boxes_beside(random: np.random.Generator, rays: np.ndarray, offset: float) -> tuple[np.ndarray, np.ndarray]:
    """(6, PACKS, BOXES) float32: points, flat boxes and others that begin where a ray ends or lie on its way, or beside
    by what its own test allows for; and some (true) further away along an axis than twice the longest ray."""
    which = random.integers(0, rays.shape[2], (PACKS, BOXES))
    row = np.take_along_axis(rays.astype(float), which[None], axis=2)
    origins, along, ends = row[:3], row[3:6], np.clip(row[7], 0.0, 3.0 * offset)
    point = origins + along * ends * random.choice([0.0, 0.3, 1.0, 1.0, 1.0 + 4e-7], (PACKS, BOXES))
    size = offset * 10.0 ** random.uniform(-7, -1, (3, PACKS, BOXES)) * (random.random((3, PACKS, BOXES)) < 0.5)
    is_axis = np.arange(3)[:, None, None] == random.integers(0, 3, (PACKS, BOXES))
    beside = is_axis * np.abs(origins) * random.uniform(-4e-7, 4e-7, (PACKS, BOXES))
    is_far = random.random((PACKS, BOXES)) < 0.25
    beside = beside + is_far * is_axis * random.choice([-1.0, 1.0], (PACKS, BOXES)) * (2.0 * ends + 0.5 * offset)
    lower = point + beside - random.choice([0.0, 1.0, 0.5], (3, PACKS, BOXES)) * size
    return np.concatenate([lower, lower + size]).astype(np.float32), is_far


def met(target: Target, width: int, rays: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bits by reach, -1 where there is none, and by rays."""
    constants = (("REFERENCE_BITS", 26), ("STACK_DEPTH", 64), ("STACK_KEEPS_DISTANCE", 0), ("HAS_WIDE_GROUPS", 0))
    unit = target.unit(UnitSource("tests/gpu/hierarchy/beams.cu", rays_per_thread=width, constants=constants))
    planes = np.stack([boxes[[axis, 3 + axis]] for axis in range(3)]).transpose(2, 0, 1, 3)
    placed = [target.upload(np.ascontiguousarray(array).reshape(-1), "test") for array in (rays, planes)]
    by_reach, by_rays = (target.upload(np.zeros(PACKS, np.int32), "test") for _ in range(2))
    target.launch(unit, "meet_nodes", PACKS, rays=placed[0], planes=placed[1], packs=PACKS, by_reach=by_reach,
                  by_rays=by_rays)  # fmt: skip
    return target.download(by_reach), target.download(by_rays)


@pytest.mark.parametrize("name", OFFSETS)
@pytest.mark.parametrize("width", [8, 16])
def test_a_reach_meets_what_its_rays_enter(host_target: Target, width: int, name: str) -> None:
    offset, bits, hits, left_out, far = OFFSETS[name], np.arange(BOXES), 0, 0, 0
    for seed in range(4):
        random = np.random.default_rng(seed)
        ends = random.choice([0.01, 0.2, 2.0, NO_END], PACKS) * offset
        ends = np.minimum(ends, NO_END)
        rays = packs_of(random, width, offset, ends)
        boxes, is_far = boxes_beside(random, rays, offset)
        by_reach, by_rays = met(host_target, width, rays, boxes)
        assert (by_reach >= 0).all()
        reach, ray = ((words[:, None] >> bits & 1) == 1 for words in (by_reach, by_rays))
        missed = np.argwhere(ray & ~reach)
        assert len(missed) == 0, (seed, len(missed), rays[:, missed[0][0]], boxes[:, missed[0][0], missed[0][1]])
        is_short = (ends < 1.0 * offset)[:, None] & is_far
        hits += int(ray.sum())
        left_out, far = left_out + int((~reach & is_short).sum()), far + int(is_short.sum())
    assert hits > 4 * PACKS, "little would be compared"
    assert left_out > 0.9 * far > PACKS / 2, "boxes far behind the ends are left out"


def test_without_an_end_or_a_proof(host_target: Target) -> None:
    """Rays that go up for ever meet nothing below them; those that begin behind their origins or far off have none."""
    rays = np.zeros((8, PACKS, 8), np.float32)
    rays[3:6] = np.random.default_rng(1).normal(size=(3, PACKS, 8))
    rays[4] = np.abs(rays[4])
    rays[7] = np.inf
    boxes = np.zeros((6, PACKS, BOXES), np.float32)
    boxes[[0, 2]], boxes[[3, 5]] = -1e6, 1e6
    boxes[1], boxes[4] = (np.where(np.arange(BOXES) < 4, sign, 1.0) for sign in (-3.0, -2.0))
    by_reach, _ = met(host_target, 8, rays, boxes)
    assert (by_reach == 0b11110000).all()
    for row, value in ((6, -1.0), (1, 1e19)):
        other = rays.copy()
        other[row, :, 3] = value
        assert (met(host_target, 8, other, boxes)[0] == -1).all()


def test_a_ray_along_an_axis_moves_as_little_as_its_test_lets_it(host_target: Target) -> None:
    """By 1e-20 of its length (ray.cuh): far off that is something."""
    rays, boxes = np.zeros((8, PACKS, 8), np.float32), np.zeros((6, PACKS, BOXES), np.float32)
    rays[4], rays[7] = 1.0, np.inf
    boxes[:3] = np.array([5e-4, 1e17, -1.0])[:, None, None]
    boxes[3:] = np.array([1.5e-3, 2e17, 1.0])[:, None, None]
    by_reach, by_rays = met(host_target, 8, rays, boxes)
    assert (by_rays == 255).all() and (by_reach == 255).all()
