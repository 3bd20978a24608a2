"""What kernels take of a multiprocessor, with a driver that answers by arithmetic."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.glyphs.caster import TileCaster
from raygrove.gpu.primary_slot import PrimarySlot
from raygrove.gpu.scene import Object, Scene, Spheres
from raygrove.gpu.target.base import Target, TargetError
from raygrove.gpu.target.cuda import CudaTarget
from raygrove.gpu.target.kernel_use import KernelUse, use_of
from raygrove.gpu.target.nvrtc import KernelResources
from raygrove.gpu.view import ViewSettings

MULTIPROCESSOR_REGISTERS = 65536


def target_of(status: int = 0) -> Any:
    """A CUDA target without a device: its driver counts the registers of the function alone."""

    def most(function: int, threads: int, shared: int) -> tuple[int, ...]:
        assert shared == 0, "no kernel has shared memory by the launch"
        return (status,) if status else (0, MULTIPROCESSOR_REGISTERS // (function * threads))

    target: Any = CudaTarget.__new__(CudaTarget)
    target._cuda = types.SimpleNamespace(driver=types.SimpleNamespace(cuOccupancyMaxActiveBlocksPerMultiprocessor=most))
    target.adopted = 0
    return target


def unit_of(registers: int) -> Any:
    resources = {"cast_tiles": KernelResources(registers, 0, 0, 8192)}
    return types.SimpleNamespace(functions={"cast_tiles": (registers, None), "other": (1, None)}, resources=resources)


@pytest.fixture(autouse=True)
def in_this_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def adopt(target: Any) -> None:
        target.adopted += 1

    monkeypatch.setattr(CudaTarget, "_adopt_thread", adopt)


def test_registers_and_shared_bytes_are_the_compilers_and_blocks_the_drivers() -> None:
    target = target_of()
    found = use_of(target, unit_of(64), "cast_tiles", 128)
    assert found == KernelUse(64, 8192, 128, 8) and target.adopted == 1
    assert found.sentence == (
        "64 registers a thread, 8,192 shared bytes a block, 8 blocks of 128 threads a multiprocessor"
    )
    assert use_of(target, unit_of(32), "cast_tiles", 1024) == KernelUse(32, 8192, 1024, 2)


def test_what_is_not_known_is_not_told_and_ends_nothing(host_target: Target) -> None:
    with pytest.raises(TargetError, match="said nothing of other"):
        target_of().kernel_use(unit_of(64), "other", 128)
    with pytest.raises(TargetError, match="asking what cast_tiles takes"):
        target_of(1).kernel_use(unit_of(64), "cast_tiles", 128)
    assert use_of(target_of(), unit_of(64), "other", 128) is None
    assert use_of(target_of(1), unit_of(64), "cast_tiles", 128) is None
    assert use_of(host_target, unit_of(64), "cast_tiles", 128) is None


def test_statistics_say_it_beside_the_arrangement(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    spheres = Spheres("one", np.zeros((1, 3), np.float32), np.ones(1, np.float32))
    slot = PrimarySlot(host_target, Scene("one", objects=(Object(0, spheres=0),), spheres=(spheres,)))
    assert slot.sentence == "structure" and slot.take(ViewSettings(primary="tiles"))
    assert "registers" not in slot.sentence
    use = KernelUse(40, 512, 128, 9)
    monkeypatch.setattr(TileCaster, "use", use)
    assert slot.sentence.endswith("; " + use.sentence)
