"""Enlarged pictures against the same in float64, and against the picture that they stand for: edges are kept better
than by linear interpolation."""

from __future__ import annotations

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from raygrove.gpu.enlarge.enlarging import Enlarger
from raygrove.gpu.target.base import Target


def enlarged(target: Target, picture: np.ndarray, wide: int, high: int) -> np.ndarray:
    enlarger, place = Enlarger(target), target.empty((high, wide, 4), np.uint8, "test")
    enlarger.enlarge(enlarger.keep(target.upload(picture, "test")), place)
    return np.asarray(target.download(place))


def taken(picture: np.ndarray, wide: int, high: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The 4 x 4 pixels around each place (4, 4, H, W, 3), and where it lies between the inner ones, from 0 to 1."""
    height, width = picture.shape[:2]
    across, down = ((np.arange(n) + 0.5) * of / n - 0.5 for n, of in ((wide, width), (high, height)))
    columns, rows = np.floor(across).astype(int), np.floor(down).astype(int)
    around = [
        [
            picture[np.clip(rows + j, 0, height - 1)[:, None], np.clip(columns + i, 0, width - 1)[None], :3]
            for i in range(-1, 3)
        ]
        for j in range(-1, 3)
    ]
    x, y = (
        np.broadcast_to((across - columns)[None], (high, wide)),
        np.broadcast_to((down - rows)[:, None], (high, wide)),
    )
    return np.array(around, np.float64), x, y


def linear(picture: np.ndarray, wide: int, high: int) -> np.ndarray:
    around, x, y = taken(picture, wide, high)
    x, y = x[..., None], y[..., None]
    above, below = around[1, 1] * (1 - x) + around[1, 2] * x, around[2, 1] * (1 - x) + around[2, 2] * x
    return np.asarray(above * (1 - y) + below * y)


def weighed(picture: np.ndarray, wide: int, high: int) -> np.ndarray:
    """Each place's edge by an eigenvector of its structure tensor, and weights by distances along and across it."""
    around, x, y = taken(picture, wide, high)
    light = around @ np.array([0.25, 0.5, 0.25])
    tensor = np.zeros((high, wide, 2, 2))
    for row, column in ((1, 1), (1, 2), (2, 1), (2, 2)):
        slope = np.stack(
            [light[row, column + 1] - light[row, column - 1], light[row + 1, column] - light[row - 1, column]], -1
        )
        share = (x if column == 2 else 1 - x) * (y if row == 2 else 1 - y)
        tensor += share[..., None, None] * slope[..., :, None] * slope[..., None, :]
    values, vectors = np.linalg.eigh(tensor)
    along = 1.0 - 0.85 * (values[..., 1] - values[..., 0]) / np.maximum(values.sum(-1), 16.0)
    sums, weights = np.zeros((high, wide, 3)), np.zeros((high, wide))
    for row in range(4):
        for column in range(4):
            away = np.stack([column - 1 - x, row - 1 - y], -1)
            over = (away * vectors[..., 1]).sum(-1) ** 2
            squared = np.minimum(over + ((away**2).sum(-1) - over) * along, 4.0)
            weight = (1 - squared) * (1 - squared / 4) ** 4
            sums, weights = sums + weight[..., None] * around[row, column], weights + weight
    inner = around[1:3, 1:3].reshape(4, high, wide, 3)
    return np.clip(sums / weights[..., None], inner.min(0), inner.max(0))


def disc(width: int, height: int) -> np.ndarray:
    """A picture whose pixels are either inside of an ellipse and a slanted stripe, or not."""
    y, x = np.mgrid[:height, :width].astype(np.float64)
    x, y = (x + 0.5) / width - 0.5, (y + 0.5) / height - 0.5
    is_in = (x**2 + (1.4 * y) ** 2 < 0.09) ^ (np.abs(y - 0.37 * x - 0.2) < 0.05)
    picture = np.full((height, width, 4), 255, np.uint8)
    picture[..., :3] = np.where(is_in[..., None], (220, 120, 40), (30, 60, 90))
    return picture


sizes = st.tuples(st.integers(1, 24), st.integers(1, 24), st.floats(1.0, 3.0), st.floats(1.0, 3.0))


@hypothesis.given(sizes=sizes, seed=st.integers(0, 2**16), spread=st.sampled_from([3, 40, 255]))
@hypothesis.settings(max_examples=40, deadline=None)
def test_it_is_that_of_float64(target: Target, sizes: tuple[int, int, float, float], seed: int, spread: int) -> None:
    """Where pixels around a place differ by up to 4 it may be their linear interpolation, else it is to a rounding."""
    width, height, across, down = sizes
    wide, high = max(width, round(across * width)), max(height, round(down * height))
    picture = np.random.default_rng(seed).integers(0, spread + 1, (height, width, 4), np.uint8)
    found, expected = enlarged(target, picture, wide, high), weighed(picture, wide, high)
    inner = taken(picture, wide, high)[0][1:3, 1:3].reshape(4, high, wide, 3)
    is_plain = np.ptp(inner, axis=0).max(-1) <= 4
    assert (found[..., 3] == 255).all()
    off = np.abs(found[..., :3] - expected).max(-1)
    assert off[~is_plain].max(initial=0.0) <= 0.6 and off[is_plain].max(initial=0.0) <= 4.5
    assert (found[..., :3] >= inner.min(0)).all() and (found[..., :3] <= inner.max(0)).all()


def test_one_colour_stays(target: Target) -> None:
    picture = np.broadcast_to(np.array([17, 200, 3, 255], np.uint8), (5, 9, 4)).copy()
    assert (enlarged(target, picture, 31, 17) == picture[0, 0]).all()


@pytest.mark.parametrize("scale", [2, 3])
def test_edges_are_kept_better_than_by_linear_interpolation(target: Target, scale: int) -> None:
    """By the squared error against the picture in its full size, each of whose pixels is the mean of 8 x 8."""
    wide, high = 192, 144
    full = disc(8 * wide, 8 * high).reshape(high, 8, wide, 8, 4).mean((1, 3))[..., :3]
    small = disc(wide // scale, high // scale)
    errors = [
        ((one - full) ** 2).mean() for one in (enlarged(target, small, wide, high)[..., :3], linear(small, wide, high))
    ]
    assert errors[0] < 0.85 * errors[1]
