"""Block and warp collectives: one lane on the host, 32 on CUDA, right for both."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.target.base import Target

from .units import run_kernel

BLOCKS = 7


def widths(target: Target, block: int) -> tuple[int, int]:
    """Threads of a block and of a warp on this target."""
    return (1, 1) if target.kind == "host" else (block, 32)


def per_thread(groups: np.ndarray, width: int) -> np.ndarray:
    return np.repeat(groups, width)


@pytest.mark.parametrize("block", [32, 64, 256, 1024])
def test_block_collectives(target: Target, block: int) -> None:
    width, _ = widths(target, block)
    values = np.random.default_rng(block).integers(-1000, 1000, (BLOCKS, width)).astype(np.int32)
    outs = [np.zeros(values.size, np.int32) for _ in range(5)]
    _, sums, minima, maxima, before, totals = run_kernel(
        target, "collectives", "reduce_blocks", values.size, values.ravel(), *outs, block=block, blocks=BLOCKS
    )
    np.testing.assert_array_equal(sums, per_thread(values.sum(1), width))
    np.testing.assert_array_equal(minima, per_thread(values.min(1), width))
    np.testing.assert_array_equal(maxima, per_thread(values.max(1), width))
    np.testing.assert_array_equal(before, (np.cumsum(values, 1) - values).ravel())
    np.testing.assert_array_equal(totals, sums)


@pytest.mark.parametrize("block", [32, 96, 256])
def test_block_collectives_of_floats(target: Target, block: int) -> None:
    width, _ = widths(target, block)
    values = np.random.default_rng(block).normal(size=(BLOCKS, width)).astype(np.float32) + 10
    outs = [np.zeros(values.size, np.float32) for _ in range(3)]
    _, sums, minima, maxima = run_kernel(
        target, "collectives", "reduce_blocks_of_floats", values.size, values.ravel(), *outs, block=block, blocks=BLOCKS
    )
    np.testing.assert_allclose(sums, per_thread(values.sum(1), width), rtol=1e-5)
    np.testing.assert_array_equal(minima, per_thread(values.min(1), width))
    np.testing.assert_array_equal(maxima, per_thread(values.max(1), width))


def test_warp_collectives(target: Target) -> None:
    width, lanes = widths(target, 128)
    values = np.random.default_rng(3).integers(-50, 50, (BLOCKS * width // lanes, lanes)).astype(np.int32)
    outs = [np.zeros(values.size, np.int32) for _ in range(5)]
    _, sums, minima, maxima, scans, firsts = run_kernel(
        target, "collectives", "reduce_warps", values.size, values.ravel(), *outs, block=128, blocks=BLOCKS
    )
    np.testing.assert_array_equal(sums, per_thread(values.sum(1), lanes))
    np.testing.assert_array_equal(minima, per_thread(values.min(1), lanes))
    np.testing.assert_array_equal(maxima, per_thread(values.max(1), lanes))
    np.testing.assert_array_equal(scans, np.cumsum(values, 1).ravel())
    np.testing.assert_array_equal(firsts, per_thread(values[:, 0], lanes))


def test_warp_votes(target: Target) -> None:
    width, lanes = widths(target, 64)
    values = np.random.default_rng(4).integers(-1, 2, (BLOCKS * width // lanes, lanes)).astype(np.int32)
    values[0], values[1] = 1, 0
    outs = [np.zeros(values.size, t) for t in (np.int32, np.int32, np.uint32, np.int32)]
    _, any_set, all_set, ballots, lane = run_kernel(
        target, "collectives", "vote_warps", values.size, values.ravel(), *outs, block=64, blocks=BLOCKS
    )
    is_set = values > 0
    np.testing.assert_array_equal(any_set, per_thread(is_set.any(1), lanes))
    np.testing.assert_array_equal(all_set, per_thread(is_set.all(1), lanes))
    np.testing.assert_array_equal(ballots, per_thread((is_set << np.arange(lanes, dtype=np.int64)).sum(1), lanes))
    np.testing.assert_array_equal(lane, np.tile(np.arange(lanes), len(values)))


@pytest.mark.parametrize("block", [32, 64, 256])
def test_a_shared_tile_is_seen_by_all(target: Target, block: int) -> None:
    values = np.arange(BLOCKS * 64, dtype=np.int32)
    _, out = run_kernel(
        target, "collectives", "reverse_tiles", len(values), values, np.zeros_like(values), block=block, blocks=BLOCKS
    )
    np.testing.assert_array_equal(out, values.reshape(BLOCKS, 64)[:, ::-1].ravel())
