"""The small kernels that the tests of gpu/device launch, and a call that runs one of them on numpy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu.target.base import Target, UnitSource


def run_kernel(target: Target, file: str, kernel: str, n: int, *arguments: Any, width: int = 1, **launch: int) -> list[np.ndarray]:
    """Launch `kernel` of tests/gpu/device/`file`.cu for `n` items; returns every array argument as the kernel left it, in order."""
    unit = target.unit(UnitSource(f"tests/gpu/device/{file}.cu", rays_per_thread=width))
    placed = [target.upload(np.ascontiguousarray(a), "test") if isinstance(a, np.ndarray) else a for a in arguments]
    target.launch(unit, kernel, n, *placed, **launch)
    return [target.download(p) for p, a in zip(placed, arguments, strict=True) if isinstance(a, np.ndarray)]
