"""How primitives that may meet many cells are given to blocks of threads (large_primitives.cuh)."""

from __future__ import annotations

from typing import Any

from ..target.base import Array

THREADS = 64
"""Of a block, as kernels declare it: a large primitive reaches into some tens of rows of cells."""

MOST_BLOCKS = 2048
"""More than there is room for at one time; each takes one primitive after another."""


def by_blocks(large: Array, primitive_count: int) -> dict[str, Any]:
    """Arguments of a launch over the primitives listed in `large` (N + 1,): how many, then their numbers."""
    return {"large": large, "block": THREADS, "blocks": min(primitive_count, MOST_BLOCKS)}
