"""Primitives sorted along a Morton curve: what builders of several families begin with. Phases build.bounds,
build.codes, build.sort.

Of 30 bits per key holds its primitive: code << 32 | prim_id, and there is no second array. Of 60 bits the codes are the
keys, and `prim_ids` lie beside them. Equal codes stay in the order of the scene. On the device: morton_order.cuh,
compiled with the constant CODE_BITS.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..settings import option
from ..target.base import Array, Target
from .base import Primitives
from .primitives import unit_source

_BOUNDS_BLOCKS = {"cuda": (512, 528), "host": (16384, 64)}
"""Points that are worth a block, and most blocks: on a GPU four blocks of 512 threads on each of 132 multiprocessors.
"""


@dataclasses.dataclass(frozen=True)
class MortonOptions:
    """What builders along the curve let a user choose of it."""

    code_bits: str = option(
        "30",
        "Bits of a Morton code; 60 tell primitives apart that are closer than 1/1024 of the scene.",
        choices=("30", "60"),
    )


class MortonOrder:
    """See the module. `bounds` (6,) float32 holds lower and upper of all finite points after a sort."""

    def __init__(self, target: Target, code_bits: int) -> None:
        if code_bits not in (30, 60):
            raise ValueError(f"Morton codes have 30 or 60 bits, not {code_bits}.")
        self.target, self.code_bits = target, code_bits
        self.bounds = target.zeros(6, np.float32, "hierarchy")
        self._partial = target.zeros((_BOUNDS_BLOCKS[target.kind][1], 6), np.float32, "hierarchy")
        self._arrived = target.zeros(1, np.int32, "hierarchy")

    @property
    def constants(self) -> dict[str, int]:
        """What a unit that reads the keys is compiled with."""
        return {"CODE_BITS": self.code_bits}

    def scratch_bytes(self, count: int) -> int:
        """Keys and prim_ids, twice over for the sort."""
        return count * 2 * (8 if self.code_bits == 30 else 12)

    def sort(self, primitives: Primitives) -> tuple[Array, Array | None]:
        """Keys in order, and at 60 bits the prim_ids in the same order: scratch memory, good until the next sort."""
        keys, prim_ids = self.codes(primitives)
        with self.target.phase("build.sort"):
            if prim_ids is None:
                return self.target.sort_keys(keys, (32, 62), "morton.sort"), None
            return self.target.sort_pairs(keys, prim_ids, (0, 60), "morton.sort")

    def codes(self, primitives: Primitives) -> tuple[Array, Array | None]:
        """The same in the order of the scene, for builders that sort in their own way."""
        target, n = self.target, primitives.count
        unit = target.unit(unit_source("gpu/hierarchy/morton_order.cu", primitives, **self.constants))
        keys = target.scratch("morton.keys", n, np.uint64)
        prim_ids = target.scratch("morton.prim_ids", n, np.int32) if self.code_bits == 60 else None
        points, (a_block, most_blocks) = int(primitives.view["point_count"]), _BOUNDS_BLOCKS[target.kind]
        blocks = max(1, min(-(-points // a_block), most_blocks))
        with target.phase("build.bounds"):
            target.launch(
                unit,
                "compute_bounds",
                points,
                primitives=primitives.view,
                partial=self._partial,
                arrived=self._arrived,
                bounds=self.bounds,
                block=512,
                blocks=blocks,
            )
        with target.phase("build.codes"):
            target.launch(
                unit, "compute_codes", n, primitives=primitives.view, bounds=self.bounds, keys=keys, prim_ids=prim_ids
            )
        return keys, prim_ids
