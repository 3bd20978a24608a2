"""What a kernel takes of a GPU's multiprocessor, in figures for people; a host has no such limits."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from .base import Target, TargetError, Unit
from .cuda_driver import checked


@dataclasses.dataclass(frozen=True)
class KernelUse:
    """Registers a thread and bytes of shared memory a block, as they are compiled; and how many blocks of so many
    threads run on a multiprocessor at a time."""

    registers: int
    shared_bytes: int
    threads: int
    blocks: int

    @property
    def sentence(self) -> str:
        """In words."""
        return (
            f"{self.registers} registers a thread, {self.shared_bytes:,} shared bytes a block, "
            f"{self.blocks} blocks of {self.threads} threads a multiprocessor"
        )


def use_of(target: Target, unit: Unit, kernel: str, threads: int) -> KernelUse | None:
    """None where it is not known: on a host, and where the driver does not say, which is no reason to end a frame."""
    tells: Callable[[Unit, str, int], KernelUse] | None = getattr(target, "kernel_use", None)
    try:
        return None if tells is None else tells(unit, kernel, threads)
    except TargetError:
        return None


def asked_use(driver: Any, unit: Any, kernel: str, threads: int) -> KernelUse:
    """What the compiler said of a kernel of a CUDA unit, and how many blocks the driver says fit."""
    found = unit.resources.get(kernel)
    if found is None:
        raise TargetError(f"The compiler said nothing of {kernel}.")
    most = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(unit.functions[kernel][0], threads, 0)
    return KernelUse(found.registers, found.shared_bytes, threads, int(checked(most, f"asking what {kernel} takes")))
