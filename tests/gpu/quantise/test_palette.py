"""Palettes against the best one, found by trying every way to share the colours out; and what must not go wrong."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from raygrove.gpu.quantise import palette
from raygrove.gpu.quantise.palette import quantise
from raygrove.gpu.target.base import Target


def shares(count: int, most: int) -> Iterator[list[int]]:
    """Every way to put so many things into at most so many groups: the group of each."""

    def rest(found: list[int]) -> Iterator[list[int]]:
        if len(found) == count:
            yield found
            return
        for group in range(min(max(found, default=-1) + 2, most)):
            yield from rest([*found, group])

    return rest([])


def best_error(colours: np.ndarray, counts: np.ndarray, most: int) -> float:
    """The least squared error of all palettes."""
    errors = []
    for share in shares(len(colours), most):
        error, groups = 0.0, np.array(share)
        for group in set(share):
            mine, weights = colours[groups == group].astype(np.float64), counts[groups == group]
            mean = (weights[:, None] * mine).sum(axis=0) / weights.sum()
            error += float((weights * ((mine - mean) ** 2).sum(axis=1)).sum())
        errors.append(error)
    return min(errors)


def picture(colours: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.repeat(colours, counts, axis=0)[None]


@pytest.mark.parametrize("most", [2, 3, 4])
def test_error_is_near_that_of_the_best_palette(target: Target, most: int) -> None:
    ratios = []
    for seed in range(12):
        random = np.random.default_rng(seed)
        colours = np.unique(random.integers(0, 256, (7, 3)).astype(np.uint8), axis=0)
        counts = random.integers(1, 9, len(colours))
        found = quantise(target, picture(colours, counts), most)
        best = np.sqrt(best_error(colours, counts, most) / counts.sum())
        assert found.error >= best - 1.0  # of rounding
        ratios.append(found.error / best)
    assert np.median(ratios) < 1.1
    assert max(ratios) < 1.8


@hypothesis.given(st.integers(1, 40), st.integers(1, 60), st.integers(0, 99))
@hypothesis.settings(max_examples=25, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_every_pixel_has_the_nearest_colour(target: Target, most: int, pixels: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    image = random.integers(0, random.integers(1, 257), (pixels, 3, 4)).astype(np.uint8)
    found = quantise(target, image, most)
    assert 1 <= len(found.palette) <= most and found.indices.shape == image.shape[:2]
    away = image[:, :, None, :3].astype(int) - found.palette.astype(int)
    squared = (away**2).sum(axis=3)
    assert np.array_equal(np.take_along_axis(squared, found.indices[..., None].astype(int), 2)[..., 0], squared.min(2))
    assert found.error == pytest.approx(np.sqrt(squared.min(axis=2).mean()))
    if len(np.unique(image[..., :3].reshape(-1, 3), axis=0)) <= most:
        assert found.error == 0.0


def test_more_colours_are_more_exact_and_many_are_found(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many different colours, more than the first tree has nodes for."""
    monkeypatch.setattr(palette, "FIRST_NODES", 256)
    ramp = np.arange(90)
    image = np.stack(np.broadcast_arrays(2 * ramp[:, None], 2 * ramp[None], ramp[:, None] * ramp[None] % 251), 2)
    errors = [quantise(target, image.astype(np.uint8), most).error for most in (1, 4, 16, 64, 256)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.25 * errors[1]


def test_what_is_no_picture_or_no_palette_is_refused(target: Target) -> None:
    with pytest.raises(ValueError, match="1 to 256 colours"):
        quantise(target, np.zeros((2, 2, 3), np.uint8), 257)
    with pytest.raises(ValueError, match="uint8"):
        quantise(target, np.zeros((2, 2, 3)), 4)
    with pytest.raises(ValueError, match=r"\(0, 2, 3\)"):
        quantise(target, np.zeros((0, 2, 3), np.uint8), 4)


def test_colours_lie_in_the_middle_of_what_they_stand_for(target: Target) -> None:
    """Lloyd's: a colour is about the mean of the pixels that are nearest to it."""
    pixels = np.random.default_rng(4).integers(0, 256, (60, 60, 3)).astype(np.uint8)
    found = quantise(target, pixels, 8)
    means = np.array([pixels[found.indices == number].mean(axis=0) for number in range(len(found.palette))])
    assert np.linalg.norm(means - found.palette, axis=1).max() < 1.0
