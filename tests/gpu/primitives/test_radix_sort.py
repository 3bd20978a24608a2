"""The project's own radix sort and scan against numpy, on every target."""

from __future__ import annotations

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from raygrove.gpu.primitives.radix_sort import exclusive_scan, sort_keys, sort_pairs
from raygrove.gpu.target.base import Target


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
    scanned = {"tile_count": tiles, "counts": counts, "blocks": blocks}
    digit = {"keys": given, "n": n, "shift": 0, "mask": 255, "block": SORT_THREADS}
    target.launch(unit, "count_digits", n, **digit, **scanned, arrived=arrived.view(np.int32))
    target.launch(unit, "scan_digits", n, **scanned, digit_first=firsts, arrived=arrived.view(np.int32))
    moved = {"values": payload, "digit_first": firsts, "keys_out": out, "values_out": out_values}
    target.launch(unit, "scatter_digits", n, **digit, **scanned, **moved)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(target.download(out), keys[order])
    np.testing.assert_array_equal(target.download(out_values), order)
