"""The project's own radix sort and scan against numpy, on every target."""

from __future__ import annotations

import random

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from raygrove.gpu.primitives.radix_sort import exclusive_scan, sort_keys, sort_pairs
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.own_sort import MOST_RUN, OwnSorter


def order_of(keys: np.ndarray, bits: tuple[int, int]) -> np.ndarray:
    part = (keys >> keys.dtype.type(bits[0])) & keys.dtype.type((1 << (bits[1] - bits[0])) - 1)
    return np.argsort(part, kind="stable")


@pytest.mark.parametrize("bits", [(0, 32), (0, 30), (5, 6), (3, 20)])
@pytest.mark.parametrize("dtype", ["u4", "u8"])
@pytest.mark.parametrize("n", [0, 1, 31, 256, 2049, 4095, 4096, 4097, 20_001])
def test_pairs_are_sorted_stably(target: Target, n: int, dtype: str, bits: tuple[int, int]) -> None:
    keys = np.random.default_rng(n).integers(0, 1 << (8 * int(dtype[1]) - 1), n).astype(dtype)
    values = np.arange(n, dtype="u4")
    order = order_of(keys, bits)
    found_keys, found_values = sort_pairs(target, target.upload(keys, "test"), target.upload(values, "test"), bits)
    np.testing.assert_array_equal(target.download(found_keys), keys[order])
    np.testing.assert_array_equal(target.download(found_values), order)
    np.testing.assert_array_equal(target.download(sort_keys(target, target.upload(keys, "test"), bits)), keys[order])


@pytest.mark.parametrize("factor", [0, 1, 2**32 - 1])
def test_keys_that_are_all_alike_or_in_order_or_reversed(target: Target, factor: int) -> None:
    keys = np.arange(9001, dtype="u4") * np.uint32(factor)
    order = order_of(keys, (0, 32))
    _, found = sort_pairs(
        target, target.upload(keys, "test"), target.upload(np.arange(9001, dtype="u4"), "test"), (0, 32)
    )
    np.testing.assert_array_equal(target.download(found), order)


@pytest.mark.parametrize("is_long", [False, True])
def test_long_runs_of_one_digit_and_ends_of_tiles(target: Target, is_long: bool) -> None:
    """Whole warps hold one digit here and many there, the largest digit too, which is what places past the end hold."""
    n = 3 * 4096 + 7
    keys = np.repeat(np.random.default_rng(2).integers(0, 256, n), 90 if is_long else 3)[:n].astype("u8")
    keys[-4000:] = 255
    values = np.arange(n, dtype="u4")
    _, found = sort_pairs(target, target.upload(keys, "test"), target.upload(values, "test"), (0, 8))
    np.testing.assert_array_equal(target.download(found), order_of(keys, (0, 8)))


def pairs_by_upper_bits(
    target: Target, keys: np.ndarray, bits: tuple[int, int], sorter: OwnSorter | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Sorted as many long keys are: by their upper 32 bits, then in their runs."""
    values = np.arange(len(keys), dtype="u4")
    placed, payload = target.upload(keys, "test"), target.upload(values, "test")
    found = (sorter or OwnSorter(target, many_keys=1)).sort_pairs(placed, payload, bits, "test.sort")
    return target.download(found[0]), target.download(found[1])


def keys_in_runs(most: int, bits: tuple[int, int]) -> np.ndarray:
    """Some 20,000, in runs of `most` keys or half as many that are alike in the upper 32 of these bits."""
    numbers = np.random.default_rng(most)
    lengths = numbers.integers(max(1, most // 2), most + 1, 20_000 // most + 1)
    uppers = np.repeat(numbers.permutation(len(lengths)), lengths).astype("u8") << np.uint64(bits[1] - 20)
    return numbers.permutation(uppers) | numbers.integers(0, max(3, most // 2), len(uppers)).astype("u8") << np.uint64(
        5
    )


@pytest.mark.parametrize("bits", [(0, 57), (0, 60), (0, 64), (4, 64)])
@pytest.mark.parametrize("most", [1, 3, MOST_RUN, MOST_RUN + 1, 3 * MOST_RUN, 20_000])
def test_keys_alike_in_their_upper_bits(target: Target, most: int, bits: tuple[int, int]) -> None:
    """Runs of up to so many keys: of one key, that fit, one too long, and all of them."""
    keys = keys_in_runs(most, bits)
    order = order_of(keys, bits)
    found, values = pairs_by_upper_bits(target, keys, bits)
    np.testing.assert_array_equal(values, order)
    np.testing.assert_array_equal(found, keys[order])
    alone = OwnSorter(target, many_keys=1).sort_keys(target.upload(keys, "test"), bits, "test.alone")
    np.testing.assert_array_equal(target.download(alone), keys[order])


def test_one_sorter_goes_from_short_runs_to_long_ones_and_back(target: Target) -> None:
    """What it remembers of the sort before changes how it sorts, and nothing else."""
    sorter = OwnSorter(target, many_keys=1)
    for most in (1, 3 * MOST_RUN, 3 * MOST_RUN, 1, 1, 20_000, MOST_RUN):
        keys = keys_in_runs(most, (0, 64))
        found, values = pairs_by_upper_bits(target, keys, (0, 64), sorter)
        order = order_of(keys, (0, 64))
        np.testing.assert_array_equal(values, order)
        np.testing.assert_array_equal(found, keys[order])


@pytest.mark.parametrize("is_in_order", [False, True])
def test_only_long_runs_out_of_order_are_sorted_by_all_bits(target: Target, is_in_order: bool) -> None:
    """Alike keys, as dropped points have, and a long run in order need no second sort."""
    keys = np.full(5 * MOST_RUN, 7, "u8")
    keys[MOST_RUN : 3 * MOST_RUN] += np.arange(2 * MOST_RUN, dtype="u8")[:: 1 if is_in_order else -1]
    keys[3 * MOST_RUN :] += np.uint64(2 * MOST_RUN)
    _, values = pairs_by_upper_bits(target, keys, (0, 64))
    np.testing.assert_array_equal(values, order_of(keys, (0, 64)))
    (unordered,) = target.download(target.scratch("test.sort.unordered", 1, np.int32))
    assert bool(unordered) == (not is_in_order)


@hypothesis.given(
    uppers=st.lists(st.integers(0, 5), max_size=700), lowers=st.randoms(use_true_random=False), few=st.booleans()
)
def test_any_runs_of_long_keys(target: Target, uppers: list[int], lowers: random.Random, few: bool) -> None:
    keys = np.array([upper << 40 | lowers.randrange(4 if few else 1 << 20) for upper in uppers], np.uint64)
    found, values = pairs_by_upper_bits(target, keys, (0, 64))
    order = order_of(keys, (0, 64)) if len(keys) else np.zeros(0, int)
    np.testing.assert_array_equal(values, order)
    np.testing.assert_array_equal(found, keys[order])


@hypothesis.given(
    keys=st.lists(st.integers(0, 2**64 - 1), max_size=200), first=st.integers(0, 63), width=st.integers(0, 64)
)
def test_any_bits_of_any_keys(target: Target, keys: list[int], first: int, width: int) -> None:
    bits = (first, min(64, first + width))
    given = np.array(keys, np.uint64)
    part = [(key >> bits[0]) % (1 << (bits[1] - bits[0])) for key in keys]
    order = sorted(range(len(keys)), key=part.__getitem__)
    np.testing.assert_array_equal(target.download(sort_keys(target, target.upload(given, "test"), bits)), given[order])


@pytest.mark.parametrize("n", [0, 1, 2, 4095, 4096, 4097, 700_001])
def test_scans_wrap_round_and_may_be_in_place(target: Target, n: int) -> None:
    values = np.random.default_rng(n).integers(-(2**31), 2**31, n).astype("i4")
    placed, out = target.upload(values, "test"), target.zeros(n, "i4", "test")
    exclusive_scan(target, placed, out)
    expected = (np.cumsum(values, dtype="i8") - values).astype("i4")
    np.testing.assert_array_equal(target.download(out), expected)
    exclusive_scan(target, placed, placed)
    np.testing.assert_array_equal(target.download(placed), expected)


@pytest.mark.parametrize("blocks", [1, 3])
def test_the_bytes_do_not_depend_on_the_number_of_blocks(target: Target, blocks: int) -> None:
    """Each pass in fewer blocks than tiles: every kernel loops over its tiles."""
    from raygrove.gpu.target.own_sort import DIGITS, SORT_THREADS, SORT_TILE, sort_unit

    n = 30_000
    tiles, unit = -(-n // SORT_TILE), target.unit(sort_unit(32, True))
    keys, values = np.random.default_rng(4).integers(0, 256, n).astype("u4"), np.arange(n, dtype="u4")
    given, payload = target.upload(keys, "test"), target.upload(values, "test")
    counts, firsts = target.zeros(DIGITS * tiles, "i4", "test"), target.zeros(DIGITS, "i4", "test")
    out, out_values, arrived = (target.zeros(size, "u4", "test") for size in (n, n, 1))
    scanned = {"tile_count": tiles, "counts": counts, "blocks": blocks, "flag": None, "wanted": 0}
    digit = {"keys": given, "n": n, "shift": 0, "mask": 255, "block": SORT_THREADS}
    target.launch(unit, "count_digits", n, **digit, **scanned, arrived=arrived.view(np.int32))
    target.launch(unit, "scan_digits", n, **scanned, digit_first=firsts, arrived=arrived.view(np.int32))
    moved = {"values": payload, "digit_first": firsts, "keys_out": out, "values_out": out_values}
    target.launch(unit, "scatter_digits", n, **digit, **scanned, **moved)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(target.download(out), keys[order])
    np.testing.assert_array_equal(target.download(out_values), order)
