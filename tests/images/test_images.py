"""The built-in scenes look as they did: against golden pictures made without contraction."""

from __future__ import annotations

import itertools

import pytest

from raygrove.gpu.target.base import Target

from .pictures import RAY_TYPES, SCENES, SHARE, SIZE, all_references, draw, pixels_beyond, reference


@pytest.mark.parametrize("scene_name", SCENES)
def test_without_contraction_pictures_are_the_references(exact_target: Target, scene_name: str) -> None:
    drawn, wanted = draw(exact_target, scene_name), reference(scene_name)
    assert {name: pixels_beyond(drawn[name], wanted[name]) for name in RAY_TYPES} == dict.fromkeys(RAY_TYPES, 0)


def test_with_contraction_hardly_a_pixel_differs(target: Target) -> None:
    beyond = 0
    for scene_name in SCENES:
        drawn, wanted = draw(target, scene_name), reference(scene_name)
        beyond += sum(pixels_beyond(drawn[name], wanted[name]) for name in RAY_TYPES)
    assert beyond <= SHARE * SIZE[0] * SIZE[1] * len(SCENES) * len(RAY_TYPES)


def test_the_threshold_tells_any_two_references_apart() -> None:
    kept = list(all_references())
    assert len(kept) == len(SCENES) * len(RAY_TYPES)
    for (name, image), (other_name, other) in itertools.combinations(kept, 2):
        assert pixels_beyond(image, other) > 20 * SHARE * SIZE[0] * SIZE[1], (
            f"{name} and {other_name} could be taken for one another"
        )


def test_the_threshold_sees_a_picture_moved_by_a_pixel() -> None:
    for name, image in all_references():
        assert pixels_beyond(image[:, 1:], image[:, :-1]) > 20 * SHARE * SIZE[0] * SIZE[1], (
            f"{name} could be moved unseen"
        )
