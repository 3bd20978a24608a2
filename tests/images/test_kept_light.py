"""Kept pictures of the ray types that add light up by chance, told apart by how much light there is: noise goes away in
the mean of a region, a wrong factor stays.

Kept were drawn by the host target, of another seed: `python -m tests.images.test_kept_light` draws them anew.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.shade.ao import AoOptions
from raygrove.gpu.shade.diffuse import DiffuseOptions
from raygrove.gpu.shade.distributed import DistributedOptions
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.shade.whitted import WhittedOptions
from raygrove.gpu.target.base import Target, TargetOptions
from tests.gpu.shade.pictures import picture
from tests.oracle.cornell import EYE, FOV, LOOK_AT, cornell, scene_of

from .pictures import FOLDER

KEPT = FOLDER / "light.npz"
SIZE, CAMERA = (48, 48), Camera(eye=EYE, look_at=LOOK_AT, fov=FOV)
DARKER = -1.0
"""Exposure at which next to nothing of the room is beyond white."""
CHOICES: dict[str, tuple[type[Any], int]] = {
    "whitted": (WhittedOptions, 24),
    "ao": (AoOptions, 32),
    "diffuse": (DiffuseOptions, 32),
    "distributed": (DistributedOptions, 32),
    "path": (PathOptions, 128),
}
"""The options' type and samples of a pixel."""
KEPT_TIMES = 8
"""How many times as many the kept picture has."""
BLOCK = 12
WHOLE, PART = 0.01, 0.06
"""How far the light of the picture may be off, and that of each of its 16 blocks. Three seeds: 0.003 and 0.02 at
most."""


def drawn(target: Target, ray_type: str, seed: int, exposure: float = DARKER, times: int = 1) -> np.ndarray:
    """(48, 48, 3) uint8 of the room."""
    kind, samples = CHOICES[ray_type]
    made, samples = kind(exposure=exposure), samples * times
    return picture(target, scene_of(cornell()), CAMERA, SIZE, ray_type, made, samples=samples, seed=seed)[..., :3]


def light(pixels: np.ndarray) -> np.ndarray:
    """(4, 4, 3) linear light of the blocks."""
    values = pixels / 255.0
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    count = SIZE[0] // BLOCK
    return np.asarray(linear.reshape(count, BLOCK, count, BLOCK, 3).mean(axis=(1, 3)))


def off(pixels: np.ndarray, kept: np.ndarray) -> tuple[float, float]:
    """How far the light is off, relatively: of the picture in the channel that is worst, and of the worst block."""
    found, wanted = light(pixels), light(kept)
    whole = np.abs(found.mean(axis=(0, 1)) / wanted.mean(axis=(0, 1)) - 1.0)
    of_blocks = np.abs(found.sum(axis=2) / np.maximum(wanted.sum(axis=2), 0.01) - 1.0)
    return float(whole.max()), float(of_blocks.max())


def is_kept(pixels: np.ndarray, kept: np.ndarray) -> bool:
    """Whether both agree within the thresholds."""
    whole, part = off(pixels, kept)
    return whole < WHOLE and part < PART


@pytest.mark.parametrize("ray_type", CHOICES)
def test_light_is_what_was_kept_and_two_percent_are_told(target: Target, ray_type: str) -> None:
    with np.load(KEPT) as file:
        kept = file[ray_type]
    found = drawn(target, ray_type, 1)
    assert is_kept(found, kept), off(found, kept)
    for factor in (0.98, 1.02):
        wrong = drawn(target, ray_type, 1, DARKER + math.log2(factor))
        assert not is_kept(wrong, kept), (factor, off(wrong, kept))
    red = np.clip(found * np.array([1.03, 1.0, 1.0]), 0, 255).astype(np.uint8)
    assert not is_kept(red, kept) and not is_kept(found[:, ::-1], kept), "one channel, or the other way round"


def main() -> None:
    """Write the kept pictures."""
    from raygrove.gpu.target.host import HostTarget

    with contextlib.closing(HostTarget(TargetOptions())) as target:
        found: dict[str, Any] = {ray_type: drawn(target, ray_type, 9, times=KEPT_TIMES) for ray_type in CHOICES}
        for ray_type, kept in found.items():
            print(ray_type, [off(drawn(target, ray_type, seed), kept) for seed in (1, 2, 3)])
        np.savez_compressed(KEPT, **found)


if __name__ == "__main__":
    main()
