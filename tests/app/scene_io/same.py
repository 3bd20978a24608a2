"""Whether two scenes are the same, down to the bits of their arrays."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


def same(a: Any, b: Any) -> bool:
    """Deep equality of plain values and arrays."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b, a.dtype.kind == "f")
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)
