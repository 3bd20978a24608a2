"""Boxes around runs of references, by which rays pass over parts of long lists (runs.cuh)."""

from __future__ import annotations

from ..target.base import Array, Target
from .base import Primitives
from .primitives import unit_source

RUN_BITS, RUN_LEVELS, RUN_LIST = 3, 4, 64
"""A run holds 2^RUN_BITS references or runs of the level below; lists of RUN_LIST references are searched by them."""

RUN_BYTES = 32
"""Of a box."""


def run_constants() -> tuple[tuple[str, int], ...]:
    """Unit constants of those who traverse runs."""
    return (("RUN_BITS", RUN_BITS), ("RUN_LEVELS", RUN_LEVELS), ("RUN_LIST", RUN_LIST))


def run_count(references: int) -> int:
    """The whole runs of all levels among so many references."""
    return sum(references >> RUN_BITS * level for level in range(1, RUN_LEVELS + 1))


def bound_runs(
    target: Target,
    runs: Array,
    primitives: Primitives,
    counts: Array,
    references: Array,
    capacity: int,
    keys: Array | None,
) -> None:
    """Launch what writes the boxes `runs` (R, 2, 4) of a draft's `references`, at most `capacity`, of which `counts`
    says how many there are and whether they are whole. With sorted `keys` (list << 32 | prim_id) only of runs that lie
    in one list of RUN_LIST references or more."""
    unit = target.unit(unit_source("gpu/hierarchy/runs.cu", primitives, **dict(run_constants())))
    for level in range(1, RUN_LEVELS + 1):
        count = capacity >> RUN_BITS * level
        if count == 0:
            break
        target.launch(
            unit,
            "bound_runs",
            count,
            primitives=primitives.view,
            counts=counts,
            keys=keys,
            references=references,
            capacity=capacity,
            level=level,
            runs=runs,
        )
