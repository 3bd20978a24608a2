"""The host target's own promises: compiling, packing by declared types, the pool, the clock, memory by tag."""

from __future__ import annotations

import ctypes
import gc
import pathlib
import threading
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.target import host_compiler
from raygrove.gpu.target.base import (
    CompileError,
    NoDeviceError,
    OutOfMemoryError,
    TargetError,
    TargetOptions,
    UnitSource,
)
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.target.structs import make_struct, struct_dtype

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCE = UnitSource("tests/gpu/target/kernels_for_tests.cu")
LINE = struct_dtype([("x", "pointer"), ("slope", "float"), ("offset", "int")])


def test_structs_and_numbers_arrive_as_declared(host_target: HostTarget) -> None:
    x = host_target.upload(np.linspace(-3, 3, 1001, dtype=np.float32), "test")
    y = host_target.zeros(1001, np.float32, "test")
    line = make_struct(LINE, x=x, slope=2.0, offset=-7)
    host_target.launch(host_target.unit(SOURCE), "evaluate_line", 1001, line=line, n=1001, scale=3, y=y)
    np.testing.assert_allclose(y, (x * np.float32(2) - 7) * 3, rtol=1e-6)


def test_wide_integers_and_null_pointers(host_target: HostTarget) -> None:
    out = host_target.zeros(1, np.uint64, "test")
    host_target.launch(host_target.unit(SOURCE), "add_wide", 1, big=2**63, small=2**32 - 1, given=None, out=out)
    assert int(out[0]) == 2**63 + 2**32 - 1


def test_a_session_may_load_many_units(
    host_target: HostTarget, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every choice of structure, layout and ray type is a library more; none may take from the few bytes that all share
    for threads (static TLS)."""
    loaded: list[pathlib.Path] = []
    load = host_compiler.ctypes.CDLL

    def noted(path: str) -> ctypes.CDLL:
        loaded.append(pathlib.Path(path))
        return load(path)

    monkeypatch.setattr(host_compiler.ctypes, "CDLL", noted)
    HostTarget(TargetOptions(threads=1)).unit(SOURCE)
    unit = loaded[-1].read_bytes()
    for number in range(400):
        copy = tmp_path / f"{number}.so"
        copy.write_bytes(unit)
        load(str(copy))  # an OSError where they take some


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"owner": np.zeros(4, np.float32)}, "parameter owner: an array of int32 was expected, float32"),
        ({"owner": np.zeros(8, np.int32)[::2]}, "not contiguous"),
        ({"n": np.zeros(2)}, "parameter n: a number was expected"),
        ({"owner": 17}, "an array was expected, int was given"),
        ({"owners": None}, "Kernel record_blocks: there is no owners"),
    ],
)
def test_wrong_arguments_are_refused_by_name(host_target: HostTarget, wrong: dict[str, Any], reason: str) -> None:
    right: dict[str, Any] = {"n": 4, "owner": np.zeros(4, np.int32), "count": np.zeros(1, np.int32)}
    with pytest.raises(TargetError, match=reason):
        host_target.launch(host_target.unit(SOURCE), "record_blocks", 4, **right | wrong)


def test_arrays_that_were_given_before_are_known_by_themselves_not_by_their_ids(host_target: HostTarget) -> None:
    """Later arrays may have the id of one that is gone: they are looked at, whatever was there."""
    unit, count = host_target.unit(SOURCE), np.zeros(1, np.int32)
    for _ in range(200):
        host_target.launch(unit, "record_blocks", 4, n=4, owner=np.full(4, -1, np.int32), count=count)
        with pytest.raises(TargetError, match="an array of int32 was expected, float32"):
            host_target.launch(unit, "record_blocks", 4, n=4, owner=np.zeros(4, np.float32), count=count)
    kept = [np.full(4, -1, np.int32) for _ in range(200)]
    for _ in range(2):
        for owner in kept:
            owner[:] = -1
            host_target.launch(unit, "record_blocks", 4, n=4, owner=owner, count=count)
            assert (owner >= 0).all()


def test_an_unknown_kernel_is_named(host_target: HostTarget) -> None:
    with pytest.raises(
        TargetError, match="no kernel nothing in this unit; it has evaluate_line, record_blocks, count_visits, add_wide"
    ):
        host_target.launch(host_target.unit(SOURCE), "nothing", 1)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("split", ["0", "1"])
def test_every_block_runs_once(monkeypatch: pytest.MonkeyPatch, threads: int, split: str) -> None:
    monkeypatch.setenv("RAYGROVE_HOST_FORCE_SPLIT", split)
    target = HostTarget(TargetOptions(threads=threads, spin_us=10))
    try:
        for blocks in (1, 2, 7, 100):
            owner, count = target.zeros(1000, np.int32, "test"), target.zeros(1, np.int32, "test")
            target.launch(target.unit(SOURCE), "record_blocks", 1000, n=1000, owner=owner, count=count, blocks=blocks)
            expected = np.repeat(np.arange(blocks), np.diff([1000 * b // blocks for b in range(blocks + 1)]))
            assert count[0] == blocks
            np.testing.assert_array_equal(owner, expected)
    finally:
        target.close()


@pytest.mark.parametrize("threads", [3, 8])
@pytest.mark.parametrize("split", ["0", "1"])
def test_a_thread_without_a_block_does_not_meet_the_next_launch(
    monkeypatch: pytest.MonkeyPatch, threads: int, split: str
) -> None:
    """Launches of two blocks end early for most threads; the next one's blocks run once all the same."""
    monkeypatch.setenv("RAYGROVE_HOST_FORCE_SPLIT", split)
    target = HostTarget(TargetOptions(threads=threads, spin_us=10))
    unit, visits = target.unit(SOURCE), target.zeros(40, np.int32, "test")
    for launch in range(1000):
        blocks = (2, 40)[launch % 2]
        visits.fill(0)
        target.launch(unit, "count_visits", blocks, n=blocks, visits=visits, blocks=blocks)
        np.testing.assert_array_equal(visits, np.arange(40) < blocks)
    target.close()


def test_pools_of_two_threads_do_not_disturb_each_other() -> None:
    failures: list[str] = []

    def work() -> None:
        target = HostTarget(TargetOptions(threads=2, spin_us=0))
        for _ in range(200):
            out, count = target.zeros(500, np.int32, "test"), target.zeros(1, np.int32, "test")
            target.launch(target.unit(SOURCE), "record_blocks", 500, n=500, owner=out, count=count, blocks=10)
            if not np.array_equal(out, np.arange(500) // 50):
                failures.append("a block was lost")
        target.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures and not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("bits", [(0, 32), (5, 17), (31, 32), (9, 9)])
@pytest.mark.parametrize("count", [0, 1, 4095, 30001])
def test_pairs_are_sorted_stably_by_a_range_of_bits(host_target: HostTarget, bits: tuple[int, int], count: int) -> None:
    rng = np.random.default_rng(count)
    for dtype in (np.uint32, np.uint64):
        keys = rng.integers(0, 2**32, count, dtype=dtype)
        field = (keys >> dtype(bits[0])) & dtype((1 << (bits[1] - bits[0])) - 1)
        order = np.argsort(field, kind="stable")
        got = host_target.sort_pairs(
            host_target.upload(keys, "test"), host_target.upload(np.arange(count, dtype=np.int32), "test"), bits, "test"
        )
        np.testing.assert_array_equal(got[1], order)
        np.testing.assert_array_equal(got[0], keys[order])


def test_memory_is_counted_by_tag_until_it_is_garbage(host_target: HostTarget) -> None:
    before = host_target.memory().get("counted", 0)
    array = host_target.empty((10, 10), np.float32, "counted")
    view = array[2:]
    assert host_target.memory()["counted"] == before + 400
    assert array.__array_interface__["data"][0] % 64 == 0
    del array
    gc.collect()
    assert host_target.memory()["counted"] == before + 400, "a view keeps the memory"
    del view
    gc.collect()
    assert host_target.memory().get("counted", 0) == before


def test_scratch_keeps_its_place_and_grows_by_an_eighth(host_target: HostTarget) -> None:
    first = host_target.scratch("place", 800, np.uint8)
    assert (
        host_target.scratch("place", 100, np.float64).__array_interface__["data"] == first.__array_interface__["data"]
    )
    host_target.scratch("place", 801, np.uint8)
    assert host_target.scratch("place", 900, np.uint8).size == 900
    grown = host_target.scratch("place", 1, np.uint8).__array_interface__["data"]
    assert host_target.scratch("place", 900, np.uint8).__array_interface__["data"] == grown


def test_too_large_an_array_says_what_is_there(host_target: HostTarget) -> None:
    with pytest.raises(OutOfMemoryError, match=r"Not enough memory for vertices: .* MiB needed, .* MiB free") as caught:
        host_target.empty(1 << 50, np.uint8, "vertices")
    assert caught.value.needed == 1 << 50 and 0 < caught.value.available < 1 << 50


def test_phases_add_up_and_launches_are_counted(host_target: HostTarget) -> None:
    host_target.finished_frames()
    y = host_target.zeros(4, np.float32, "test")
    line = make_struct(LINE, x=y, slope=1.0, offset=0)
    host_target.begin_frame(41)
    for name in ("build.codes", "build.sort", "build.codes"):
        with host_target.phase(name):
            host_target.launch(host_target.unit(SOURCE), "evaluate_line", 4, line=line, n=4, scale=1.0, y=y)
    host_target.end_frame()
    (timing,) = host_target.finished_frames()
    assert timing.frame_id == 41 and timing.launches == 3
    assert list(timing.phases_ms) == ["build.codes", "build.sort"]
    assert 0 < sum(timing.phases_ms.values()) <= timing.span_ms
    assert host_target.finished_frames() == []


def test_without_a_compiler_the_line_that_installs_one_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(host_compiler.shutil, "which", lambda name: None)
    monkeypatch.setattr(host_compiler.importlib.util, "find_spec", lambda name: None)
    host_compiler.find_compiler.cache_clear()
    try:
        with pytest.raises(NoDeviceError, match=r"none was found .*apt-get install g\+\+"):
            host_compiler.find_compiler()
    finally:
        host_compiler.find_compiler.cache_clear()


def test_a_unit_that_does_not_compile_shows_the_compilers_words(host_target: HostTarget) -> None:
    with pytest.raises(CompileError, match="did not compile with .*\n.*Missing"):
        host_target.unit(UnitSource(SOURCE.path, aliases=(("Node", "Missing"),)))
