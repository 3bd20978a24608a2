"""The CUDA target: what it says where there is no device (always run), and what is its own where there is one (marked
cuda)."""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.target.base import NoDeviceError, TargetError, TargetOptions, UnitSource
from raygrove.gpu.target.cuda import CudaTarget, cuda_available, cuda_report
from raygrove.gpu.target.cuda_driver import DeviceLostError, error_for
from raygrove.gpu.target.translation_unit import ROOT
from tests.waiting import PROCESS_S

UNIT = UnitSource("tests/gpu/target/contract.cu")


# -- on every machine ----------------------------------------------------------------------------------------------


def test_whether_there_is_a_device_is_told_and_never_raised() -> None:
    there, reason = cuda_available()
    assert isinstance(there, bool) and len(reason) > 5
    if not there:
        assert reason.endswith(".") and "the device cpu" in reason


def test_a_device_that_is_not_there_is_a_sentence() -> None:
    assert cuda_available(97)[0] is False
    with pytest.raises(NoDeviceError, match=r"\.$"):
        CudaTarget(ordinal=97)


def test_the_report_names_every_part() -> None:
    rows = dict(cuda_report())
    assert {"NVRTC", "CUDA libraries", "CUDA driver", "GPU sort"} <= rows.keys()
    assert any(name.startswith("CUDA device") for name in rows)
    assert all(isinstance(value, str) and value for value in rows.values())


@pytest.mark.parametrize(
    ("status", "word"), [(700, "outside its arrays"), (719, "a kernel failed"), (716, "misaligned")]
)
def test_an_error_that_loses_the_device_says_to_start_anew(status: int, word: str) -> None:
    error = error_for(status, "tracing")
    assert isinstance(error, DeviceLostError)
    assert word in str(error) and "while tracing" in str(error) and "Start the program anew" in str(error)


def test_another_error_does_not() -> None:
    assert not isinstance(error_for(1), DeviceLostError)


# -- on a device ---------------------------------------------------------------------------------------------------


@pytest.mark.cuda
def test_names_and_figures_of_the_device(cuda_target: CudaTarget) -> None:
    assert (cuda_target.kind, cuda_target.name, cuda_target.lane_count) == ("cuda", "cuda:0", 1)
    assert cuda_target.facts.name == cuda_target.device_name
    assert cuda_target.facts.capability >= 75 and cuda_target.facts.processors > 0
    assert cuda_target.architecture // 10 == cuda_target.facts.capability // 10
    assert cuda_available()[0]


@pytest.mark.cuda
def test_a_host_array_is_refused_by_a_launch(cuda_target: CudaTarget) -> None:
    with pytest.raises(TargetError, match="upload"):
        cuda_target.launch(cuda_target.unit(UNIT), "take_optional", 8, values=None, n=8, out=np.zeros(8, "i4"))


@pytest.mark.cuda
def test_a_launch_the_device_cannot_do_is_a_sentence(cuda_target: CudaTarget) -> None:
    out = cuda_target.zeros(8, "i4", "test")
    with pytest.raises(TargetError, match="at most 1024 threads"):
        cuda_target.launch(cuda_target.unit(UNIT), "take_optional", 8, values=None, n=8, out=out, block=2048)
    with pytest.raises(TargetError, match="while launching take_optional with 2147483648 blocks of 256 threads"):
        cuda_target.launch(cuda_target.unit(UNIT), "take_optional", 8, values=None, n=8, out=out, blocks=1 << 31)
    cuda_target.launch(cuda_target.unit(UNIT), "take_optional", 8, values=None, n=8, out=out)
    np.testing.assert_array_equal(cuda_target.download(out), np.full(8, -1))


@pytest.mark.cuda
def test_foreign_memory_is_wrapped_without_a_copy(cuda_target: CudaTarget) -> None:
    owner = cuda_target.upload(np.arange(12, dtype="f4"), "test")
    wrapped = cuda_target.wrap_pointer(int(owner.data.ptr), (3, 4), "f4")
    cuda_target.fill(wrapped[1:2], 7)
    expected = np.arange(12, dtype="f4").reshape(3, 4)
    expected[1] = 7
    np.testing.assert_array_equal(cuda_target.download(owner).reshape(3, 4), expected)


@pytest.mark.cuda
def test_another_thread_may_take_the_target_over(cuda_target: CudaTarget) -> None:
    found: list[Any] = []

    def work() -> None:
        try:
            out = cuda_target.zeros(100, "i4", "test")
            cuda_target.launch(cuda_target.unit(UNIT), "take_optional", 100, values=None, n=100, out=out)
            found.append(cuda_target.download(out))
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0], np.full(100, -1))
    assert not cuda_target.download(cuda_target.zeros(5, "i4", "test")).any()


@pytest.mark.cuda
@pytest.mark.parametrize("key_bits", [32, 64])
def test_our_own_sort_and_the_librarys_agree(cuda_target: CudaTarget, key_bits: int) -> None:
    own = CudaTarget(TargetOptions(sort="own"))
    keys = np.random.default_rng(key_bits).integers(0, 1 << (key_bits - 1), 300_001).astype(f"u{key_bits // 8}")
    values = np.arange(keys.size, dtype="u4")
    results = []
    for target in (cuda_target, own):
        found = target.sort_pairs(target.upload(keys, "test"), target.upload(values, "test"), (3, key_bits - 2), "test")
        results.append([target.download(array) for array in found])
    assert own.sorter_name == "own"
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])
    own.close()


@pytest.mark.cuda
def test_profiling_times_every_launch(cuda_target: CudaTarget) -> None:
    target = CudaTarget(TargetOptions(profile=True))
    out = target.zeros(10_000, "i4", "test")
    target.launch(target.unit(UNIT), "take_optional", 10_000, values=None, n=10_000, out=out)
    target.begin_frame(1)
    with target.phase("work"):
        target.launch(target.unit(UNIT), "take_optional", 10_000, values=None, n=10_000, out=out)
        target.launch(target.unit(UNIT), "take_optional", 10_000, values=None, n=10_000, out=out)
    target.end_frame()
    target.synchronize()
    (timing,) = target.finished_frames()
    assert set(timing.phases_ms) == {"work", "launch.take_optional"}
    assert 0 < timing.phases_ms["launch.take_optional"] <= timing.phases_ms["work"] * 1.01
    assert timing.launches == 2
    target.close()


@pytest.mark.cuda
def test_a_closed_target_can_be_closed_again_and_another_opened(cuda_target: CudaTarget) -> None:
    for _ in range(2):
        target = CudaTarget()
        array = target.zeros(100, "i4", "test")
        target.capture(functools.partial(target.fill, array, 1))()
        assert target.download(array).sum() == 100
        target.close()
        target.close()


@pytest.mark.cuda
def test_a_kernel_that_breaks_the_device_is_a_sentence(cuda_target: CudaTarget) -> None:
    program = """
import numpy as np
from raygrove.gpu.target.base import UnitSource
from raygrove.gpu.target.cuda import CudaTarget
target = CudaTarget()
wild = target.wrap_pointer(64, (8,), "i4")
unit = target.unit(UnitSource("tests/gpu/target/contract.cu"))
target.launch(unit, "take_optional", 8, values=None, n=8, out=wild)
for _ in range(2):
    try:
        target.synchronize()
    except Exception as error:
        print(type(error).__name__, error)
target.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=PROCESS_S, check=False
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stdout + done.stderr
    assert all(line.startswith("DeviceLostError") and "Start the program anew" in line for line in lines)
