"""Linear BVH: primitives sorted along a Morton curve, a radix tree over their codes, in time linear in their number.

Idea: A Morton code interleaves the bits of a point's coordinates. Sorted by their codes, primitives that are near in
space are mostly near in the list, and every common prefix of codes is a node: the longest common prefix of two
neighbours says where a node splits. All nodes are found at once, one thread a gap, and bounded from below in the same
pass.

Paper: Lauterbach et al., Fast BVH Construction on GPUs (2009); the shape and numbering of Karras, Maximizing
Parallelism in the Construction of BVHs, Octrees and k-d Trees (2012); built and bounded in one pass from below after
Apetrei, Fast and Simple Agglomerative LBVH Construction (2014).

Cost: The fastest to build: bounds, codes, one radix sort and one pass. Its trees cost about a quarter more to trace
than those of a binned SAH builder, so it is the choice where the scene is rebuilt every frame and few rays are cast.

Limits: Splits lie on a fixed grid, whatever lies there: long primitives and clusters of very different size make boxes
that overlap. Codes of 30 bits do not tell primitives apart that are closer than 1/1024 of the scene; 60 bits do, and
cost a longer sort. Equal codes are split by position, so that the depth never passes code bits + log2 of the number of
primitives. Deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....settings import option
from .....target.base import Array, UnitSource
from ....base import Primitives
from ....morton_order import MortonOptions
from ....primitives import unit_source
from ...morton_builder import CodeBuilder
from ...sizes import CHUNKS
from ...stopping import leaf_size_by_kind_option


@dataclasses.dataclass(frozen=True)
class LbvhOptions(MortonOptions):
    """Options of the linear BVH."""

    max_leaf_size: int = leaf_size_by_kind_option()
    construction: str = option(
        "auto",
        "How nodes are found: by a search for the ends of their ranges, with boxes in a second pass; or bottom-up "
        "from the leaves in one pass. The tree is the same.",
        choices=("auto", "search", "climb"),
    )


SEARCHES = {"cuda": False, "host": False}
"""What `auto` is: on an H200 a climb takes 0.154 ms and a search 0.176 for 512,000 triangles, 1.73 and 1.94 for 12.8
million, and the climb's graph has one kernel fewer."""

SMALL_COUNT = 131_072
"""Up to so many primitives, blocks of the larger kind are too few to keep a GPU busy."""

CUDA_BLOCKS = {"small": (256, 256), "large": (512, 128)}
"""References and threads of a block on CUDA: the more references a thread, the fewer warps wait at a barrier while one
of them climbs. 12.8 million triangles take 1.73 ms on an H200 instead of 1.85, 69,451 0.105 instead of 0.098."""

ROUND_STEPS = {"cuda": 2, "host": CHUNKS["host"]}
"""Steps of a climb until those that go on move together into fewer warps; on the host a block is one thread, and all
climb to the end."""


class Lbvh(CodeBuilder):
    """See the module."""

    name = "lbvh"
    title = "Linear BVH (Morton codes)"
    construction = "linear"
    Options = LbvhOptions
    options: LbvhOptions

    def scratch_bytes(self) -> int:
        return self.morton_order.scratch_bytes(self.tree.count) + (0 if self.searches else self.tree.count * 32)

    @property
    def searches(self) -> bool:
        """Whether nodes are found by a search, not by a climb."""
        choice = self.options.construction
        return SEARCHES[self.target.kind] if choice == "auto" else choice == "search"

    def emit(self, primitives: Primitives) -> bool:
        return super().emit(primitives) if self.searches else self._climb(primitives)

    def link_nodes(self, primitives: Primitives, keys: Array, prim_ids: Array | None) -> None:
        target, tree, n = self.target, self.tree, primitives.count
        constants = {"REFERENCE_BITS": tree.reference_bits, **self.morton_order.constants}
        unit = target.unit(UnitSource("gpu/hierarchy/bvh/builders/lbvh/search.cu", constants=tuple(constants.items())))
        with target.phase("build.topology"):
            target.launch(
                unit,
                "search_nodes",
                n,
                keys=keys,
                prim_ids=prim_ids,
                n=n,
                max_leaf_size=self.leaf_size,
                order=tree.order,
                root=tree.root,
                **tree.links(),
            )

    def _climb(self, primitives: Primitives) -> bool:
        target, tree, n = self.target, self.tree, primitives.count
        bvh2 = self.direct_nodes
        if target.kind == "cuda":
            chunk, threads = CUDA_BLOCKS["small" if n <= SMALL_COUNT else "large"]
        else:
            chunk, threads = CHUNKS[target.kind], 256
        constants = {
            **self.morton_order.constants,
            "CHUNK": chunk,
            "ROUND_STEPS": ROUND_STEPS[target.kind],
            "WRITES_BVH2": bvh2 is not None,
        }
        unit = target.unit(unit_source("gpu/hierarchy/bvh/builders/lbvh/lbvh.cu", primitives, **constants))
        keys, prim_ids = self.sort(primitives)
        deposits = target.scratch("lbvh.deposits", (n, 8), np.float32)
        with target.phase("build.nodes"):
            target.launch(
                unit,
                "build_nodes",
                n,
                primitives=primitives.view,
                keys=keys,
                prim_ids=prim_ids,
                max_leaf_size=self.leaf_size,
                record_data=tree.records,
                order=tree.order,
                **tree.links(),
                root=tree.root,
                bvh2=bvh2,
                deposits=deposits,
                far_ends=tree.waiting,
                block=threads,
                blocks=-(-n // chunk),
            )
        return bvh2 is not None


__all__ = ["Lbvh", "LbvhOptions"]
