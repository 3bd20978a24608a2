"""Every kernel of the project once, on small input: what the sanitizers watch."""

from __future__ import annotations

import numpy as np

from gpu.primitives.compact import compact, compact_indices
from gpu.primitives.reduce import OPERATIONS, reduce
from gpu.target.base import Target


def run_everything(target: Target) -> None:
    """Primitives, then whole frames."""
    run_primitives(target)


def run_primitives(target: Target) -> None:
    """Each primitive, with odd sizes."""
    random = np.random.default_rng(1)
    for dtype in ("f4", "i4", "u4"):
        values = target.upload(random.integers(0, 2**31, 9001).astype(dtype), "test")
        for operation in OPERATIONS:
            reduce(target, operation, values, target.zeros(1, dtype, "test"))
    flags = target.upload(random.integers(0, 2, 9001).astype(np.int32), "test")
    out, count = target.zeros(9001, "u4", "test"), target.zeros(1, "i4", "test")
    compact(target, target.upload(random.integers(0, 2**32, 9001, dtype=np.uint32), "test"), flags, out, count)
    compact_indices(target, flags, out.view("i4"), count)
    for dtype, bits in ((np.uint32, 32), (np.uint64, 60)):
        keys = random.integers(0, 2**bits, 9001, dtype=dtype)
        target.sort_keys(target.upload(keys, "test"), (0, bits), "sort")
        target.sort_pairs(target.upload(keys, "test"), target.zeros(9001, "u4", "test"), (0, bits), "sort")
