"""Atomics of device and block scope, with all threads of the target at the same places."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.target.base import Target

from .units import run_kernel

N = 40_000
BLOCKS = 64


def test_integer_atomics(target: Target) -> None:
    random = np.random.default_rng(5)
    values = random.integers(-(2**20), 2**20, N).astype(np.int32)
    words = random.integers(0, 2**32, N, dtype=np.uint32)
    integers, unsigneds = np.array([0, 2**31 - 1, -(2**31), 0], np.int32), np.array([0, 2**32 - 1, 0], np.uint32)
    _, _, integers, unsigneds, wide = run_kernel(
        target,
        "atomics",
        "gather_extremes",
        N,
        values,
        words,
        N,
        integers,
        unsigneds,
        np.zeros(1, np.uint64),
        blocks=BLOCKS,
    )
    np.testing.assert_array_equal(integers, [values.sum(dtype=np.int32), values.min(), values.max(), 2**31 - 1])
    np.testing.assert_array_equal(unsigneds, [words.sum(dtype=np.uint32), words.min(), words.max()])
    assert wide[0] == words.sum(dtype=np.uint64)


def test_float_extremes_through_ordered_integers(target: Target) -> None:
    largest = np.finfo(np.float32).max
    values = np.random.default_rng(6).normal(scale=1e3, size=N).astype(np.float32)
    start = np.array([largest, -largest], np.float32).view(np.int32)
    start[1] ^= 0x7FFFFFFF
    _, ordered, back = run_kernel(
        target, "atomics", "gather_float_extremes", N, values, N, start, np.zeros(N, np.float32), blocks=BLOCKS
    )
    ordered[ordered < 0] ^= 0x7FFFFFFF
    np.testing.assert_array_equal(ordered.view(np.float32), [values.min(), values.max()])
    np.testing.assert_array_equal(back, values)


def test_minus_zero_and_zero_have_the_same_bits(target: Target) -> None:
    values = np.array([-0.0, 0.0, -np.inf, np.inf, 1e-45, -1e-45], np.float32)
    _, _, back = run_kernel(
        target, "atomics", "gather_float_extremes", 6, values, 6, np.zeros(2, np.int32), np.zeros(6, np.float32)
    )
    np.testing.assert_array_equal(back.view(np.uint32), (values + np.float32(0)).view(np.uint32))


def test_the_last_arriver_sees_what_all_wrote(target: Target) -> None:
    values = np.random.default_rng(7).integers(0, 1000, N).astype(np.int32)
    empty, groups = np.full(N, -(10**6), np.int32), np.zeros(N // 4, np.int32)
    _, _, arrivals, sums = run_kernel(
        target, "atomics", "sum_by_last_arriver", N, values, N, empty, groups, groups, blocks=BLOCKS
    )
    assert np.all(arrivals == 4)
    np.testing.assert_array_equal(sums, values.reshape(4, -1).sum(0))


def test_no_arrival_is_lost(target: Target) -> None:
    many = 2_000_000
    place, got = run_kernel(
        target,
        "atomics",
        "arrive_at_one_place",
        many,
        many,
        np.zeros(1, np.int32),
        np.zeros(many, np.int32),
        blocks=BLOCKS,
    )
    assert place[0] == many
    np.testing.assert_array_equal(np.bincount(got, minlength=many), 1)


def test_exchange_loses_nothing(target: Target) -> None:
    place, got = run_kernel(
        target, "atomics", "swap_round", N, N, np.array([-1], np.int32), np.zeros(N, np.int32), blocks=BLOCKS
    )
    assert sorted([*got, *place]) == list(range(-1, N))


def test_block_scope(target: Target) -> None:
    values = np.random.default_rng(8).integers(0, 5000, 999).astype(np.int32)
    _, out = run_kernel(target, "atomics", "count_in_blocks", 8, values, 999, np.zeros(40, np.int32), blocks=8)
    np.testing.assert_array_equal(
        out.reshape(8, 5), np.tile([999, values.sum(), values.min(), values.max(), 999], (8, 1))
    )
