"""Sequences of samples: the same bits in packs of every width, even over every first 2^k samples, independent between
pixels and seeds."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from raygrove.gpu.target.base import Target

from .test_lanes import processors, width  # noqa: F401 - fixtures
from .units import run_kernel

PIXELS, SAMPLES = 48, 256
BYTES = 3309080220


def draw(target: Target, lanes: int, dimension: int = 3, seed: int = 5) -> np.ndarray:
    """x, y and the sample of one dimension (3, SAMPLES, PIXELS)."""
    empty = [np.zeros((SAMPLES, PIXELS), np.float32) for _ in range(3)]
    return np.stack(
        run_kernel(
            target, "random", "draw_samples", PIXELS // lanes, PIXELS, SAMPLES, dimension, seed, *empty, width=lanes
        )
    )


def test_every_width_draws_the_same_bits_on_every_processor(processors: Target, width: int) -> None:  # noqa: F811
    drawn = draw(processors, width)
    assert drawn.min() >= 0.0 and drawn.max() < 1.0
    # Fixed once for all: a picture of a seed is the same picture next year.
    assert zlib.crc32(drawn.tobytes()) == BYTES, zlib.crc32(drawn.tobytes())


def test_any_first_samples_are_even_in_all_boxes_of_equal_size(host_target: Target) -> None:
    x, y, single = draw(host_target, 8)
    for k in (2, 4, 6, 8):
        count = 1 << k
        for columns in range(k + 1):
            across, down = 1 << columns, 1 << (k - columns)
            boxes = (x[:count] * across).astype(int) * down + (y[:count] * down).astype(int)
            assert np.array_equal(np.sort(boxes, axis=0), np.broadcast_to(np.arange(count)[:, None], boxes.shape)), (
                k,
                columns,
            )
        assert np.array_equal(
            np.sort((single[:count] * count).astype(int), axis=0),
            np.broadcast_to(np.arange(count)[:, None], (count, PIXELS)),
        )


@pytest.mark.parametrize("other", [{"dimension": 4}, {"seed": 6}])
def test_pixels_dimensions_and_seeds_go_their_own_ways(host_target: Target, other: dict[str, int]) -> None:
    here, there = draw(host_target, 8), draw(host_target, 8, **other)
    for first, second in [(here[0], there[0]), (here[0, :, :-1], here[0, :, 1:]), (here[0], here[1])]:
        together = np.corrcoef(first.ravel(), second.ravel())[0, 1]
        assert abs(together) < 4.0 / np.sqrt(first.size), together
    # The same samples in another order would be no independent dimension: pairs of equal index must fill the square
    # too.
    filled = np.unique((here[0] * 64).astype(int) * 64 + (there[0] * 64).astype(int))
    assert len(filled) > 0.9 * (1.0 - np.exp(-here[0].size / 4096.0)) * 4096


def test_sine_and_cosine_are_exact_to_single_precision(processors: Target, width: int) -> None:  # noqa: F811
    turns = np.concatenate([np.linspace(0.0, 1.0, 4096 - 8), np.arange(8) / 8.0]).astype(np.float32)
    empty = np.zeros_like(turns)
    _, sine, cosine = run_kernel(
        processors, "random", "turn", len(turns) // width, len(turns) // width, turns, empty, empty.copy(), width=width
    )
    angle = 2.0 * np.pi * turns.astype(np.float64)
    assert np.abs(sine - np.sin(angle)).max() < 4e-7 and np.abs(cosine - np.cos(angle)).max() < 4e-7
