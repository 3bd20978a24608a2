"""What kernels take of a multiprocessor, with a driver that answers by arithmetic, and on a GPU."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.glyphs.caster import TileCaster
from raygrove.gpu.glyphs.options import GlyphOptions
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.primary_slot import PrimarySlot
from raygrove.gpu.scene import Object, Scene, Spheres
from raygrove.gpu.target.base import Target, TargetError
from raygrove.gpu.target.cuda import CudaTarget
from raygrove.gpu.target.kernel_use import KernelUse, use_of
from raygrove.gpu.target.nvrtc import KernelResources
from raygrove.gpu.trace.trace import VIEW_FRAME, CameraRays, see_through
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
def in_this_thread(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "cuda_target" in request.fixturenames:
        return

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


@pytest.mark.cuda
@pytest.mark.parametrize("options", [{"arrangement": "spheres_by_pixels", "block_x": 16}, {"arrangement": "splat"}])
def test_a_gpu_says_what_the_kernel_takes(cuda_target: Target, options: dict[str, Any]) -> None:
    """As many blocks as run at a time by their registers, their shared bytes and their threads, of sm_70 to sm_120."""
    centres = np.random.default_rng(3).uniform(-1, 1, (900, 3)).astype(np.float32)
    radii = cuda_target.upload(np.full(900, 0.05, np.float32), "test")
    caster = TileCaster(cuda_target, GlyphOptions(**options))
    caster.make_room(spheres := sphere_primitives(cuda_target.upload(centres, "test"), radii))
    frame = np.zeros((), VIEW_FRAME)
    see_through(frame, Camera(eye=(0.0, 0.0, 4.0)), 64, 48)
    assert spheres.count == 900 and caster.use is None
    caster.cast(CameraRays(cuda_target.upload(frame.reshape(1).view(np.uint8), "test"), 64, 48))
    use = caster.use
    assert use is not None and 16 <= use.registers <= 255
    assert 1 <= use.blocks <= min(65536 // (use.registers * use.threads), 2048 // use.threads)
    assert use.shared_bytes * use.blocks <= 228 * 1024
    assert f"{use.registers} registers a thread" in use.sentence
