"""What every target promises (gpu/target/base.py), asked of each of them: memory, kernels, sorting."""

from __future__ import annotations

import gc
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from raygrove.gpu.target.base import (
    MOST_ITEMS,
    CompileError,
    DeviceCount,
    OutOfMemoryError,
    Target,
    TargetError,
    UnitSource,
)
from raygrove.gpu.target.structs import make_struct, struct_dtype

UNIT = UnitSource("tests/gpu/target/contract.cu")
DTYPES = ["uint8", "int32", "uint32", "float32", "int64", "uint64"]


def address(array: Any) -> int:
    return int(array.data.ptr) if hasattr(array.data, "ptr") else int(array.ctypes.data)


# -- memory --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [0, 1, 7, (3, 5), (2, 0), (4, 3, 2)])
def test_arrays_have_the_shape_asked_for_and_are_aligned(target: Target, shape: Any, dtype: str) -> None:
    array = target.empty(shape, dtype, "contract")
    assert array.shape == (shape if isinstance(shape, tuple) else (shape,))
    assert array.dtype == np.dtype(dtype)
    assert array.flags.c_contiguous
    assert array.size == 0 or address(array) % 64 == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [0, 1, 77])
def test_fill_sets_every_element_and_no_neighbour(target: Target, dtype: str, value: int) -> None:
    array = target.upload(np.full(100, 9, dtype), "contract")
    target.fill(array[10:90], value)
    expected = np.full(100, 9, dtype)
    expected[10:90] = value
    np.testing.assert_array_equal(target.download(array), expected)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("float32", -1.5), ("int64", -(2**40)), ("uint64", 2**63 + 5), ("float32", np.inf), ("int32", -1)],
)
def test_fill_takes_every_value_of_the_type(target: Target, dtype: str, value: float) -> None:
    array = target.empty(33, dtype, "contract")
    target.fill(array, value)
    np.testing.assert_array_equal(target.download(array), np.full(33, value, dtype))


@pytest.mark.parametrize(("dtype", "value"), [("uint8", 77), ("int32", -1), ("float32", -1.5), ("uint64", 2**63 + 5)])
def test_fill_of_a_large_array_sets_all_of_it_and_nothing_behind(target: Target, dtype: str, value: float) -> None:
    """Threads share it: with an end that is no whole word, and from a place that is none."""
    count = 400_003
    array = target.upload(np.full(count, 9, dtype), "contract")
    for first, last in ((0, count - 1), (1, count - 2)):
        target.fill(array[first:last], value)
        found = target.download(array)
        assert (found[first:last] == np.full(1, value, dtype)).all() and found[-1] == 9
        target.fill(array, 9)


def test_zeros_are_zeros(target: Target) -> None:
    assert not target.download(target.zeros((5, 3), "f4", "contract")).any()


@pytest.mark.parametrize(
    "values",
    [np.arange(24.0).reshape(2, 3, 4)[:, ::2], np.float32(4.5), np.zeros((0, 3), "i4"), np.arange(9, dtype="u1")],
)
def test_upload_and_download_are_a_round_trip(target: Target, values: np.ndarray) -> None:
    back = target.download(target.upload(values, "contract"))
    assert isinstance(back, np.ndarray) and back.dtype == np.asarray(values).dtype
    np.testing.assert_array_equal(back, values)


def test_parts_are_uploaded_one_after_the_other(target: Target) -> None:
    rng = np.random.default_rng(3)
    parts = [rng.standard_normal((count, 3)).astype(np.float32) for count in (4, 0, 17, 1)]
    array = target.upload_joined(parts, "contract")
    assert array.dtype == np.float32 and np.array_equal(target.download(array), np.concatenate(parts))
    parts[0][:] = 0.0
    assert target.download(array)[:4].all(), "a copy"


def test_constants_are_copied_unless_nobody_can_change_them(target: Target) -> None:
    values = np.arange(24, dtype=np.float32).reshape(8, 3).copy()  # its own, no view
    copied = target.upload_constant(values, "contract")
    values[:] = 0.0
    values.flags.writeable = False
    lent = target.upload_constant(values, "contract")
    assert target.download(copied).any() and np.array_equal(target.download(lent), values)
    if target.kind == "host":
        assert np.shares_memory(lent, values)
    of_both = target.memory()["contract"]  # a GPU gives whole blocks
    assert of_both >= 2 * values.nbytes
    del lent
    assert target.memory()["contract"] == of_both // 2


def test_what_its_owner_can_change_is_copied(target: Target) -> None:
    """A view may say that it cannot be written, and is written all the same. Kernels may ask for 16 bytes at once."""
    owner = np.arange(24, dtype=np.float32)
    view = owner.view()
    view.flags.writeable = False
    given = target.upload_constant(view, "contract")
    owner[:] = -1.0
    np.testing.assert_array_equal(target.download(given), np.arange(24))
    odd = np.frombuffer(bytes(4) + np.arange(6, dtype=np.float32).tobytes(), np.float32)[1:]
    if target.kind == "host":
        assert not np.shares_memory(target.upload_constant(odd, "contract"), odd) or odd.ctypes.data % 16 == 0


def test_a_download_is_a_copy(target: Target) -> None:
    array = target.upload(np.arange(4, dtype="i4"), "contract")
    target.download(array)[:] = 9
    np.testing.assert_array_equal(target.download(array), np.arange(4))


def test_a_part_of_an_array_is_downloaded(target: Target) -> None:
    array = target.upload(np.arange(20, dtype="i4").reshape(4, 5), "contract")
    np.testing.assert_array_equal(target.download(array[1:3]), np.arange(5, 15).reshape(2, 5))


def test_writes_are_seen_in_their_order(target: Target) -> None:
    array, out = target.zeros(256, "f4", "contract"), target.zeros((50, 256), "f4", "contract")
    unit = target.unit(UNIT)
    for step in range(50):
        values = np.full(256, step, "f4")
        target.write(array, values)
        values[:] = -1  # the caller's array is free again at once
        target.launch(unit, "scale_values", 256, values=array, n=256, factor=2.0, out=out[step])
    np.testing.assert_array_equal(target.download(out), np.repeat(np.arange(50, dtype="f4") * 2, 256).reshape(50, 256))


def test_a_write_reaches_only_its_part(target: Target) -> None:
    array = target.upload(np.zeros((4, 3), "i4"), "contract")
    target.write(array[1:2], np.array([[1, 2, 3]]))
    np.testing.assert_array_equal(target.download(array), [[0, 0, 0], [1, 2, 3], [0, 0, 0], [0, 0, 0]])


def test_large_writes_arrive(target: Target) -> None:
    values = np.random.default_rng(3).integers(0, 255, 3 << 20).astype("u1")
    array = target.empty(values.shape, "u1", "contract")
    target.write(array, values)
    np.testing.assert_array_equal(target.download(array), values)


def test_values_read_later_are_those_of_their_moment(target: Target) -> None:
    array = target.upload(np.arange(5, dtype="i4"), "contract")
    readers = []
    for step in range(6):
        target.write(array, np.full(5, step, "i4"))
        readers.append(target.read_later(array))
    target.synchronize()
    for step, reader in enumerate(readers):
        values = reader()
        assert values is not None
        np.testing.assert_array_equal(values, np.full(5, step))
        np.testing.assert_array_equal(reader(), values)


def test_memory_is_counted_by_tag_until_the_last_view_goes(target: Target) -> None:
    gc.collect()
    assert "contract.counted" not in target.memory()
    array = target.empty(100_000, "f4", "contract.counted")
    reserved = target.memory()["contract.counted"]
    assert 400_000 <= reserved <= 400_000 + 512
    view = array[10:20].view("i4")
    del array
    gc.collect()
    assert target.memory()["contract.counted"] == reserved
    del view
    gc.collect()
    assert "contract.counted" not in target.memory()


def test_scratch_that_is_forgotten_goes_unless_somebody_holds_it(target: Target) -> None:
    gc.collect()
    held = target.scratch("contract.held", 50_000, "i4")
    target.fill(held, 7)
    before = target.memory()["scratch"]
    target.scratch("contract.gone", 1_000_000, "f4")
    assert target.memory()["scratch"] >= before + 4_000_000
    target.forget_scratch()
    gc.collect()
    assert target.memory().get("scratch", 0) < before + 4_000_000
    target.fill(target.scratch("contract.held", 50_000, "i4"), 8)
    assert (target.download(held) == 7).all(), "who holds an array of it keeps that one"
    target.give_idle_back()
    assert target.idle_bytes() < 4_000_000


def test_too_little_memory_is_a_sentence_with_figures(target: Target) -> None:
    with pytest.raises(OutOfMemoryError, match=r"MiB needed, .* MiB free") as caught:
        target.empty(1 << 46, "u1", "contract.huge")
    assert caught.value.needed >= 1 << 46
    assert 0 < caught.value.available < 1 << 46
    assert "contract.huge" not in target.memory()
    assert target.download(target.zeros(3, "i4", "contract")).sum() == 0


def test_scratch_keeps_its_place_and_grows(target: Target) -> None:
    first = target.scratch("contract.place", 1000, "f4")
    target.fill(first, 3)
    again = target.scratch("contract.place", (10, 10), "i4")
    assert address(again) == address(first)
    assert again.shape == (10, 10) and again.dtype == np.int32
    np.testing.assert_array_equal(target.download(again).view("f4"), np.full((10, 10), 3))
    grown = target.scratch("contract.place", 1030, "f4")
    assert address(target.scratch("contract.place", 1120, "f4")) == address(grown), "growth is by at least 1/8"
    assert address(target.scratch("contract.other", 1000, "f4")) != address(grown)


# -- kernels -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 100_003])
def test_every_item_is_visited_once(target: Target, n: int) -> None:
    blocks, items = target.zeros(1, "i4", "contract"), target.zeros(n + 1, "i4", "contract")
    target.launch(target.unit(UNIT), "count_blocks", n, met=blocks, items=items, n=n)
    np.testing.assert_array_equal(target.download(items), [1] * n + [0])
    assert (target.download(blocks)[0] > 0) == (n > 0)


@pytest.mark.parametrize("blocks", [1, 3, 100])
def test_the_number_of_blocks_can_be_fixed(target: Target, blocks: int) -> None:
    counted, items = target.zeros(1, "i4", "contract"), target.zeros(50, "i4", "contract")
    target.launch(target.unit(UNIT), "count_blocks", 50, met=counted, items=items, n=50, blocks=blocks)
    assert target.download(counted)[0] == blocks
    np.testing.assert_array_equal(target.download(items), np.ones(50))


@pytest.mark.parametrize("count", [0, 1, 500, 1000])
def test_a_count_may_live_on_the_target(target: Target, count: int) -> None:
    values, counter = target.zeros(1000, "i4", "contract"), target.upload(np.array([count], "i4"), "contract")
    target.launch(target.unit(UNIT), "add_one", DeviceCount(counter, 1000), values=values, count=counter)
    np.testing.assert_array_equal(target.download(values), np.arange(1000) < count)


def test_structs_go_by_value_and_wide_numbers_stay_wide(target: Target) -> None:
    dtype = struct_dtype([("offsets", "pointer"), ("scale", "float"), ("repeat", "int")])
    offsets, out = target.upload(np.arange(64, dtype="f4"), "contract"), target.zeros(64, "u4", "contract")
    target.launch(
        target.unit(UNIT),
        "apply_affine",
        64,
        affine=make_struct(dtype, offsets=offsets, scale=2.0, repeat=5),
        n=64,
        out=out,
    )
    np.testing.assert_array_equal(target.download(out), np.arange(64) * 2 + 5)


def test_a_number_that_a_struct_cannot_hold_is_a_sentence() -> None:
    with pytest.raises(TargetError, match="3,000,000,000 is beyond what a kernel's count .int32. holds"):
        make_struct(struct_dtype([("count", "int")]), count=3_000_000_000)


def test_none_is_a_null_pointer(target: Target) -> None:
    out = target.zeros(8, "i4", "contract")
    target.launch(target.unit(UNIT), "take_optional", 8, values=None, n=8, out=out)
    np.testing.assert_array_equal(target.download(out), np.full(8, -1))


def test_launches_run_in_order(target: Target) -> None:
    values, count = target.zeros(3000, "i4", "contract"), target.upload(np.array([3000], "i4"), "contract")
    for _ in range(40):
        target.launch(target.unit(UNIT), "add_one", 3000, values=values, count=count)
    np.testing.assert_array_equal(target.download(values), np.full(3000, 40))


def test_a_unit_is_compiled_once(target: Target) -> None:
    assert target.unit(UNIT) is target.unit(UnitSource("tests/gpu/target/contract.cu"))
    assert "scale_values" in target.unit(UNIT).kernels


@pytest.mark.parametrize(
    ("kernel", "arguments", "message"),
    [
        ("no_such_kernel", {}, "no_such_kernel"),
        ("take_optional", {"values": None, "n": 8}, "out is missing"),
        ("take_optional", {"values": None, "n": 8, "oot": None}, r"there is no oot \(did you mean out\?\)"),
        ("take_optional", {"values": None, "n": 8, "out": None, "m": 8}, "there is no m"),
        ("take_optional", {"values": 3, "n": 8, "out": None}, "an array was expected"),
        ("take_optional", {"values": np.zeros(8, "f4"), "n": 8, "out": None}, "array of int32 was expected, float32"),
    ],
)
def test_a_wrong_launch_is_a_sentence(target: Target, kernel: str, arguments: dict[str, Any], message: str) -> None:
    given = {k: target.upload(a, "contract") if isinstance(a, np.ndarray) else a for k, a in arguments.items()}
    with pytest.raises(TargetError, match=message):
        target.launch(target.unit(UNIT), kernel, 8, **given)


@pytest.mark.parametrize("many", [MOST_ITEMS + 1, 2560 * 1440 * 1024, 1 << 40])
def test_a_launch_of_more_items_than_kernels_count_is_a_sentence(target: Target, many: int) -> None:
    counts = target.zeros(1, np.int32, "contract")
    for n in (many, DeviceCount(counts, many)):
        for blocks in (0, 4):
            with pytest.raises(
                TargetError, match=f"add_one takes at most {MOST_ITEMS:,} items at once, and {many:,} were asked for"
            ):
                target.launch(target.unit(UNIT), "add_one", n, values=counts, count=counts, blocks=blocks)


def test_a_grid_stride_loop_of_the_most_items_ends(target: Target) -> None:
    """Its last step must not pass 2^31: a loop that began anew, at places below zero, would not."""
    marks = target.zeros(3, np.int32, "contract")
    target.launch(target.unit(UNIT), "mark_ends", MOST_ITEMS, n=MOST_ITEMS, marks=marks)
    assert target.download(marks).tolist() == [1, 1, 0]


def test_a_kernel_file_that_is_missing_or_wrong_is_a_compile_error(target: Target) -> None:
    with pytest.raises(CompileError, match=r"no_such_file\.cu"):
        target.unit(UnitSource("tests/gpu/target/no_such_file.cu"))
    with pytest.raises(CompileError, match="Unheard"):
        target.unit(UnitSource("tests/gpu/target/contract.cu", aliases=(("Value", "Unheard"),)))


def test_contraction_off_rounds_every_product(exact_target: Target) -> None:
    random = np.random.default_rng(5)
    a, b, c = (random.normal(size=4096).astype("f4") for _ in range(3))
    placed = {name: exact_target.upload(values, "contract") for name, values in (("a", a), ("b", b), ("c", c))}
    out = exact_target.zeros(4096, "f4", "contract")
    exact_target.launch(exact_target.unit(UNIT), "multiply_add", 4096, **placed, n=4096, out=out)
    np.testing.assert_array_equal(exact_target.download(out), a * b + c)


# -- sorting -------------------------------------------------------------------------------------------------------


def sorted_by(keys: np.ndarray, bits: tuple[int, int]) -> np.ndarray:
    part = (keys >> keys.dtype.type(bits[0])) & keys.dtype.type((1 << (bits[1] - bits[0])) - 1)
    return np.argsort(part, kind="stable")


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [("u4", (0, 32)), ("u4", (0, 30)), ("u4", (7, 9)), ("u8", (0, 64)), ("u8", (32, 62)), ("u8", (0, 60))],
)
@pytest.mark.parametrize("n", [0, 1, 2, 1000, 70_001])
def test_pairs_are_sorted_stably_by_the_bits(target: Target, n: int, dtype: str, bits: tuple[int, int]) -> None:
    random = np.random.default_rng(n)
    keys, values = (
        random.integers(0, 1 << (8 * int(dtype[1]) - 1), n).astype(dtype),
        random.integers(0, 1 << 32, n).astype("u4"),
    )
    order = sorted_by(keys, bits)
    found_keys, found_values = target.sort_pairs(
        target.upload(keys, "contract"), target.upload(values, "contract"), bits, "contract.sort"
    )
    np.testing.assert_array_equal(target.download(found_keys), keys[order])
    np.testing.assert_array_equal(target.download(found_values), values[order])
    found = target.sort_keys(target.upload(keys, "contract"), bits, "contract.sort")
    assert found.shape == keys.shape and found.dtype == keys.dtype
    np.testing.assert_array_equal(target.download(found), keys[order])


@hypothesis.given(keys=st.lists(st.integers(0, 15), max_size=300), first=st.integers(0, 3), width=st.integers(0, 4))
def test_equal_keys_keep_their_order(target: Target, keys: list[int], first: int, width: int) -> None:
    given, bits = np.array(keys, "u4"), (first, first + width)
    order = sorted_by(given, bits)
    places = np.arange(len(keys), dtype="u4")
    _, found = target.sort_pairs(
        target.upload(given, "contract"), target.upload(places, "contract"), bits, "contract.sort"
    )
    np.testing.assert_array_equal(target.download(found), order)


def test_what_cannot_be_sorted_is_a_sentence(target: Target) -> None:
    with pytest.raises(TargetError, match="float32"):
        target.sort_keys(target.zeros(4, "f4", "contract"), (0, 32), "contract.sort")


@pytest.mark.parametrize("n", [0, 1, 2, 255, 2049, 1_000_003])
def test_scans_are_exclusive_prefix_sums(target: Target, n: int) -> None:
    values = np.random.default_rng(n).integers(-100, 10_000, n).astype("i4")
    placed, out = target.upload(values, "contract"), target.zeros(n, "i4", "contract")
    target.exclusive_scan(placed, out, "contract.scan")
    expected = np.cumsum(values, dtype="i4") - values
    np.testing.assert_array_equal(target.download(out), expected)
    np.testing.assert_array_equal(target.download(placed), values)
    target.exclusive_scan(placed, placed, "contract.scan")
    np.testing.assert_array_equal(target.download(placed), expected)
