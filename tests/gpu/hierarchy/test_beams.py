"""The beam of a pack: it enters each box that one of its rays does, no later than that ray, and few others."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.target.base import Target, UnitSource

PACKS = 4096
BOXES = 8
OFFSETS = {"near the origin": 1e-3, "of a scene's size": 1.0, "far off": 3e4, "very far off": 1e12}
WIDEST = 0.05


def packs_of(random: np.random.Generator, width: int, offset: float) -> np.ndarray:
    """(8, PACKS, width) float32: rays that go down the same axes; a third of the packs of one ray and its like, a third
    from one eye."""
    signs = random.choice([-1.0, 1.0], (3, PACKS, 1))
    spread = random.choice([0.0, 1e-6, WIDEST], (2, 1, PACKS, 1))
    origins = offset * (random.uniform(-1, 1, (3, PACKS, 1)) + spread[0] * random.uniform(-1, 1, (3, PACKS, width)))
    along = 10.0 ** random.uniform(-4, 0, (3, PACKS, 1)) * (1 + spread[1] * random.uniform(-1, 1, (3, PACKS, width)))
    along *= signs / np.linalg.norm(along, axis=0)
    ends = np.stack([np.zeros((PACKS, width)), np.full((PACKS, width), 3e38)])
    return np.concatenate([origins, along, ends]).astype(np.float32)


def boxes_beside(random: np.random.Generator, rays: np.ndarray, offset: float) -> tuple[np.ndarray, np.ndarray]:
    """(6, PACKS, BOXES) float32: points, flat boxes and others, which a ray's point lies in or, along one axis, beside
    by no more than the roundings that its own test allows for; and some that are far from it."""
    which = random.integers(0, rays.shape[2], (PACKS, BOXES))
    origins, along = (np.take_along_axis(part.astype(float), which[None], axis=2) for part in (rays[:3], rays[3:6]))
    point = origins + along * offset * random.uniform(0.01, 3.0, (PACKS, BOXES))
    size = offset * 10.0 ** random.uniform(-7, -1, (3, PACKS, BOXES)) * (random.random((3, PACKS, BOXES)) < 0.5)
    share = random.choice([0.0, 1.0, 0.5], (3, PACKS, BOXES))
    is_axis = np.arange(3)[:, None, None] == random.integers(0, 3, (PACKS, BOXES))
    beside = is_axis * np.abs(origins) * random.uniform(-4e-7, 4e-7, (PACKS, BOXES))
    is_far = random.random((PACKS, BOXES)) < 0.25
    beside = beside + is_far * is_axis * offset * random.choice([-0.7, 0.7], (PACKS, BOXES))
    lower = point + beside - share * size
    return np.concatenate([lower, lower + size]).astype(np.float32), is_far


def entered(target: Target, width: int, rays: np.ndarray, boxes: np.ndarray) -> list[np.ndarray]:
    """What `enter_nodes` finds: bits by beam and by rays, (PACKS, BOXES) distances of the beam and the first ray."""
    constants = (("REFERENCE_BITS", 26), ("STACK_DEPTH", 64), ("STACK_KEEPS_DISTANCE", 0), ("HAS_WIDE_GROUPS", 0))
    unit = target.unit(UnitSource("tests/gpu/hierarchy/beams.cu", rays_per_thread=width, constants=constants))
    planes = np.stack([boxes[[axis, 3 + axis]] for axis in range(3)])  # (3, 2, PACKS, BOXES)
    given = (rays, planes.transpose(2, 0, 1, 3))
    placed = [target.upload(np.ascontiguousarray(array).reshape(-1), "test") for array in given]
    found = [target.upload(np.zeros(PACKS, np.int32), "test") for _ in range(2)]
    found += [target.upload(np.zeros((PACKS, BOXES), np.float32), "test") for _ in range(2)]
    target.launch(unit, "enter_nodes", PACKS, rays=placed[0], planes=placed[1], packs=PACKS, by_beam=found[0],
                  by_rays=found[1], entries=found[2], nearest=found[3])  # fmt: skip
    return [target.download(array) for array in found]


@pytest.mark.parametrize("name", OFFSETS)
@pytest.mark.parametrize("width", [8, 16])
def test_a_beam_enters_what_its_rays_enter(host_target: Target, width: int, name: str) -> None:
    bits, made, hits, left_out, far = np.arange(BOXES), 0, 0, 0, 0
    for seed in range(4):
        random = np.random.default_rng(seed)
        rays = packs_of(random, width, OFFSETS[name])
        boxes, is_far = boxes_beside(random, rays, OFFSETS[name])
        by_beam, by_rays, entries, nearest = entered(host_target, width, rays, boxes)
        is_made = by_beam >= 0
        beam, ray = ((words[is_made, None] >> bits & 1) == 1 for words in (by_beam, by_rays))
        missed = np.argwhere(ray & ~beam)
        assert len(missed) == 0, (seed, len(missed), rays[:, is_made][:, missed[0][0], 0])
        both = ray & beam
        assert (entries[is_made][both] <= nearest[is_made][both] * (1 + 1e-6)).all(), "a beam enters no later"
        made, hits = made + int(is_made.sum()), hits + int(ray.sum())
        left_out, far = left_out + int((~beam & is_far[is_made]).sum()), far + int(is_far[is_made].sum())
    assert made > 0.9 * 4 * PACKS and hits > made, "little would be compared"
    assert left_out > 0.5 * far, "boxes far from all rays are left out"
