"""Pictures that are partly chance: two seeds look alike, and whatever is wrong with a picture is further off than
chance.

The kept picture was drawn by the host target: `python -m tests.images.test_stochastic` draws it anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Scene
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.target.base import Target, TargetOptions
from tests.gpu.shade.pictures import picture
from tests.oracle.cornell import EYE, FOV, LOOK_AT, cornell, scene_of

from .compare import flip, ssim
from .pictures import FOLDER

SIZE, SAMPLES = (48, 48), 128
KEPT = FOLDER / "paths.npz"
CAMERA = Camera(eye=EYE, look_at=LOOK_AT, fov=FOV)
OPTIONS = PathOptions(background_below=(0.0, 0.0, 0.0), background_above=(0.0, 0.0, 0.0), tone="reinhard")
LEAST_SSIM, MOST_FLIP = 0.92, 0.065
"""What two seeds keep and nothing wrong does: measured 0.935 and 0.051 between seeds; a camera moved by a hundredth of
a turn has 0.082."""


def drawn(
    target: Target,
    scene: Scene | None = None,
    seed: int = 0,
    options: PathOptions = OPTIONS,
    camera: Camera = CAMERA,
    **rest: Any,
) -> np.ndarray:
    return picture(
        target, scene or scene_of(cornell()), camera, SIZE, "path", options, samples=SAMPLES, seed=seed, **rest
    )[..., :3]


@pytest.fixture(scope="module")
def reference(target: Target) -> np.ndarray:
    return drawn(target)


def look_alike(one: np.ndarray, other: np.ndarray) -> bool:
    return ssim(one, other) > LEAST_SSIM and float(flip(one, other).mean()) < MOST_FLIP


def test_seeds_structures_and_strategies_look_alike(target: Target, reference: np.ndarray) -> None:
    others = (
        drawn(target, seed=1),
        drawn(target, seed=2, options=dataclasses.replace(OPTIONS, strategy="wavefront")),
        drawn(target, seed=3, hierarchy="sah_events"),
    )
    for other in others:
        assert look_alike(reference, other), (ssim(reference, other), flip(reference, other).mean())


def test_every_target_draws_the_kept_picture(reference: np.ndarray) -> None:
    with np.load(KEPT) as kept:
        assert look_alike(reference, kept["cornell"]), (
            ssim(reference, kept["cornell"]),
            flip(reference, kept["cornell"]).mean(),
        )


def test_wrong_pictures_do_not(target: Target, reference: np.ndarray) -> None:
    room = cornell()
    one_bounce_less = drawn(target, seed=1, options=dataclasses.replace(OPTIONS, bounces=2))
    brighter = drawn(target, seed=1, options=dataclasses.replace(OPTIONS, exposure=0.35))
    aside = drawn(target, seed=1, camera=dataclasses.replace(CAMERA, eye=(0.12, 0.0, 3.9)))
    swapped = np.where(room.materials == 1, 2, np.where(room.materials == 2, 1, room.materials))
    other_walls = drawn(target, scene_of(dataclasses.replace(room, materials=swapped)), seed=1)
    mirror = drawn(target, scene_of(cornell(True)), seed=1)
    for name, wrong in {
        "bounces": one_bounce_less,
        "exposure": brighter,
        "camera": aside,
        "walls": other_walls,
        "mirror": mirror,
    }.items():
        assert not look_alike(reference, wrong), (name, ssim(reference, wrong), flip(reference, wrong).mean())
    assert not look_alike(reference, reference[:, ::-1]) and not look_alike(reference[1:], reference[:-1])


def test_the_measures_are_what_they_say() -> None:
    random = np.random.default_rng(0)
    image = random.integers(0, 256, (40, 50, 3)).astype(np.uint8)
    assert ssim(image, image) == pytest.approx(1.0) and flip(image, image).max() < 1e-9
    black, white = np.zeros((30, 30, 3), np.uint8), np.full((30, 30, 3), 255, np.uint8)
    assert flip(black, white).mean() == pytest.approx(1.0, abs=0.05) and ssim(black, white) < 0.01
    grey = np.full((30, 30, 3), 128, np.uint8)
    steps = [float(flip(grey, grey + np.uint8(step)).mean()) for step in (1, 4, 16, 64)]
    assert steps == sorted(steps) and 0.0 < steps[0] < 0.06 < 0.2 < steps[3]
    checks = (np.indices((60, 60)).sum(axis=0) % 2 * 24 + 116).astype(np.uint8)[..., None].repeat(3, axis=2)
    assert (
        flip(checks, np.roll(checks, 1, axis=1))[10:-10, 10:-10].mean() < 0.5 * flip(grey, grey + np.uint8(24)).mean()
    ), "fine patterns blur away"
    noise = np.clip(grey + random.normal(scale=10, size=grey.shape), 0, 255).astype(np.uint8)
    variance = (noise @ [0.299, 0.587, 0.114]).var()
    assert ssim(noise, grey) == pytest.approx(58.5225 / (58.5225 + variance), abs=0.03), (
        "over an even picture noise alone counts"
    )


def main() -> None:
    """Write the kept picture, of another seed than the tests'."""
    from raygrove.gpu.target.host import HostTarget

    with contextlib.closing(HostTarget(TargetOptions())) as target:
        np.savez_compressed(KEPT, cornell=drawn(target, seed=9))


if __name__ == "__main__":
    main()
