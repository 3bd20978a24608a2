"""The thesis's radix sort and scans against numpy, on every target, called by name and chosen by the target's
options."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.primitives.thesis import exclusive_scan, sort_keys, sort_pairs
from raygrove.gpu.settings import OptionError, checked
from raygrove.gpu.target.base import Array, DeviceCount, Target, TargetOptions
from raygrove.testing import make_target

SCANS = ("hillis_steele", "blelloch")


def order_of(keys: np.ndarray, bits: tuple[int, int]) -> np.ndarray:
    part = (keys >> keys.dtype.type(bits[0])) & keys.dtype.type((1 << (bits[1] - bits[0])) - 1)
    return np.argsort(part, kind="stable")


@pytest.mark.parametrize("digit_bits", [4, 5])
@pytest.mark.parametrize(
    ("dtype", "bits"), [("u4", (0, 32)), ("u4", (3, 20)), ("u4", (7, 7)), ("u8", (32, 62)), ("u8", (0, 60))]
)
@pytest.mark.parametrize("n", [0, 1, 255, 2048, 2049, 20_001])
def test_pairs_are_sorted_stably(target: Target, n: int, dtype: str, bits: tuple[int, int], digit_bits: int) -> None:
    keys = np.random.default_rng(n).integers(0, 1 << (8 * int(dtype[1]) - 1), n).astype(dtype)
    keys[::3] = keys[: len(keys[::3])]
    values, order = np.arange(n, dtype="u4"), order_of(keys, bits)
    found_keys, found_values = sort_pairs(
        target, target.upload(keys, "test"), target.upload(values, "test"), bits, digit_bits
    )
    np.testing.assert_array_equal(target.download(found_keys), keys[order])
    np.testing.assert_array_equal(target.download(found_values), order)
    np.testing.assert_array_equal(
        target.download(sort_keys(target, target.upload(keys, "test"), bits, digit_bits)), keys[order]
    )


@pytest.mark.parametrize("digit_bits", [4, 5])
def test_keys_that_are_all_alike_stay_in_their_order(target: Target, digit_bits: int) -> None:
    """Every key of a tile in one column of counters: the fullest that a counter gets."""
    for keys in (np.full(9001, 2**32 - 1, "u4"), np.arange(9001, dtype="u4")[::-1].copy()):
        order = order_of(keys, (0, 32))
        _, found = sort_pairs(
            target, target.upload(keys, "test"), target.upload(np.arange(9001, dtype="u4"), "test"), (0, 32), digit_bits
        )
        np.testing.assert_array_equal(target.download(found), order)


@pytest.mark.parametrize("counted", [0, 1, 2047, 2049, 7000, 9001])
def test_only_as_many_as_the_device_counted(target: Target, counted: int) -> None:
    keys = np.random.default_rng(counted).integers(0, 1 << 15, 9001).astype("u4")
    counter = DeviceCount(target.upload(np.array([counted], "i4"), "test"), 9001)
    order = order_of(keys[:counted], (0, 15))
    given = (target.upload(keys, "test"), target.upload(np.arange(9001, dtype="u4"), "test"))
    found_keys, found_values = sort_pairs(target, *given, (0, 15), 5, counted=counter)
    np.testing.assert_array_equal(target.download(found_keys)[:counted], keys[order])
    np.testing.assert_array_equal(target.download(found_values)[:counted], order)


@pytest.mark.parametrize("algorithm", SCANS)
@pytest.mark.parametrize("n", [0, 1, 2, 1023, 1024, 1025, 70_001, 1024 * 1024 + 1])
def test_scans_wrap_round_and_may_be_in_place(target: Target, n: int, algorithm: str) -> None:
    values = np.random.default_rng(n).integers(-(2**31), 2**31, n).astype("i4")
    placed, out = target.upload(values, "test"), target.zeros(n, "i4", "test")
    exclusive_scan(target, placed, out, algorithm)
    expected = (np.cumsum(values, dtype="i8") - values).astype("i4")
    np.testing.assert_array_equal(target.download(out), expected)
    exclusive_scan(target, placed, placed, algorithm)
    np.testing.assert_array_equal(target.download(placed), expected)


@pytest.mark.parametrize("blocks", [1, 3])
def test_the_bytes_do_not_depend_on_the_number_of_blocks(target: Target, blocks: int) -> None:
    """Each pass in fewer blocks than chunks: every kernel loops."""
    from raygrove.gpu.target.thesis_sort import merrill_unit

    n, chunks, unit = 30_000, 7, target.unit(merrill_unit(32, True, 4))
    keys, values = np.random.default_rng(4).integers(0, 16, n).astype("u4"), np.arange(n, dtype="u4")
    given, payload = target.upload(keys, "test"), target.upload(values, "test")
    counts = target.zeros(16 * chunks, "i4", "test")
    out, out_values = target.zeros(n, "u4", "test"), target.zeros(n, "u4", "test")
    target.launch(
        unit,
        "count_buckets",
        n,
        keys=given,
        n=n,
        counted=None,
        shift=0,
        mask=15,
        chunk_count=chunks,
        counts=counts,
        blocks=blocks,
    )
    target.launch(unit, "scan_buckets", n, total=16 * chunks, counts=counts, block=1024, blocks=blocks)
    target.launch(
        unit,
        "scatter_buckets",
        n,
        keys=given,
        values=payload,
        n=n,
        counted=None,
        shift=0,
        mask=15,
        chunk_count=chunks,
        counts=counts,
        keys_out=out,
        values_out=out_values,
        blocks=blocks,
    )
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(target.download(out), keys[order])
    np.testing.assert_array_equal(target.download(out_values), order)


@pytest.mark.parametrize("kind", ["host", pytest.param("cuda", marks=pytest.mark.cuda)])
@pytest.mark.parametrize(
    ("sort", "scan", "sort_launches"), [("merrill_4", "blelloch", 24), ("merrill_5", "hillis_steele", 18)]
)
def test_the_options_choose_who_sorts_and_who_scans(kind: str, sort: str, scan: str, sort_launches: int) -> None:
    """Known by the launches of a frame: three a digit; tiles, their sums, and adding them."""
    target = make_target(kind, sort=sort, scan=scan)
    keys = np.random.default_rng(1).integers(0, 1 << 30, 5000).astype("u8") << np.uint64(32) | np.arange(
        5000, dtype="u8"
    )
    flags = np.random.default_rng(2).integers(0, 2, 5000).astype("i4")
    placed, numbers, out = target.upload(keys, "test"), target.upload(flags, "test"), target.zeros(5000, "i4", "test")
    launches: list[int] = []
    for body in (
        lambda: target.sort_keys(placed, (32, 62), "sort"),
        lambda: target.exclusive_scan(numbers, out, "scan"),
    ):
        body()
        target.begin_frame(len(launches))
        result = body()
        target.end_frame()
        target.synchronize()
        launches.append(target.finished_frames()[-1].launches)
        if result is not None:
            np.testing.assert_array_equal(target.download(result), np.sort(keys))
    np.testing.assert_array_equal(target.download(out), np.cumsum(flags) - flags)
    assert launches == [sort_launches, 3]
    target.close()


def test_a_captured_sort_sorts_what_lies_there_at_each_replay(target: Target) -> None:
    keys, out = target.zeros(5000, "u4", "test"), target.zeros(5000, "i4", "test")
    held: list[Array] = []

    def body() -> None:
        held[:] = [sort_keys(target, keys, (0, 32), 4)]
        exclusive_scan(target, keys.view("i4"), out, "blelloch")

    body()
    replay = target.capture(body)
    for seed in (1, 2):
        given = np.random.default_rng(seed).integers(0, 1 << 31, 5000).astype("u4")
        target.write(keys, given)
        replay()
        np.testing.assert_array_equal(target.download(held[0]), np.sort(given))
        assert target.download(held[0]).any() and not (target.download(out)[1:2] == 0).all()


def test_other_names_are_refused() -> None:
    with pytest.raises(OptionError, match="merrill_4"):
        checked(TargetOptions, {"sort": "merrill_6"}, "target.")
    with pytest.raises(OptionError, match="blelloch"):
        checked(TargetOptions, {"scan": "library"}, "target.")
