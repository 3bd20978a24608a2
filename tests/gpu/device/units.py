"""The small kernels that the tests of gpu/device launch, and a call that runs one of them on numpy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from raygrove.gpu.target.base import Target, UnitSource
from raygrove.gpu.target.translation_unit import parse_kernels, read_source


def run_kernel(
    target: Target, file: str, kernel: str, n: int, *arguments: Any, width: int = 1, **launch: int
) -> list[np.ndarray]:
    """Launch `kernel` of tests/gpu/device/`file`.cu for `n` items with arguments in the order of its declaration;
    returns every array argument as the kernel left it, in order."""
    path = f"tests/gpu/device/{file}.cu"
    unit, names = target.unit(UnitSource(path, rays_per_thread=width)), parse_kernels(read_source(path), path)[kernel]
    placed = [target.upload(np.ascontiguousarray(a), "test") if isinstance(a, np.ndarray) else a for a in arguments]
    named = {one.name: argument for one, argument in zip(names.parameters, placed, strict=True)}
    target.launch(unit, kernel, n, **named, **launch)
    return [target.download(p) for p, a in zip(placed, arguments, strict=True) if isinstance(a, np.ndarray)]
