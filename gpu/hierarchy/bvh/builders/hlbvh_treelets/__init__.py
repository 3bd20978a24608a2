"""The first hierarchical linear BVH: a sort in two stages that lives on coherence, and treelets of several levels a step.

Idea: Neighbours in the scene's order are mostly neighbours in space. So runs of primitives in one cell of a coarse grid are sorted instead of
primitives, spread out again, and every cell is sorted by the rest of its codes inside one block. Then the tree is built from above, several bits of
the codes a step: every interval that is still to be parted becomes a small tree, a treelet, whose nodes are found by their code bits at once.

Paper: Pantaleoni and Luebke, HLBVH: Hierarchical LBVH Construction for Real-Time Ray Tracing (2010); retold by Meister, Methods for Fast
Construction of Bounding Volume Hierarchies (2014), section 5.3.

Cost: Two launches and a scan for every step of `treelet_levels` bits, and a sort that is the cheaper the longer the runs are. The tree is that of
`lbvh`, which is faster on today's GPUs, where sorting everything costs less than sorting little in many launches.

Limits: Those of `lbvh`. A coarse cell with more primitives than a tile is sorted by a single block: a detailed model in a scene hundreds of times its
size takes milliseconds more (use `lbvh`, or more coarse bits). Node ids are Karras', known without the paper's second scan. Equal codes are split by
position, all at once behind the steps, so the depth never passes code bits + 26. Deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....primitives.compact import compact_indices
from .....primitives.thesis import sort_pairs
from .....settings import option
from .....target.base import Array, DeviceCount, Target
from ....base import Primitives
from ....primitives import unit_source
from ...bvh import BvhHierarchy
from ...morton_order import MortonOptions, MortonOrder
from ...tree import MAX_LEAF_SIZE, REFERENCE_BITS

TILE = 1024
"""References of a coarse cell that a block sorts in shared memory."""
DIGIT_BITS = 5
MOST_CELL_BLOCKS = 4096
FOLDER = "gpu/hierarchy/bvh/builders/hlbvh_treelets"


@dataclasses.dataclass(frozen=True)
class HlbvhTreeletsOptions(MortonOptions):
    """Options of the treelet builder."""

    max_leaf_size: int = option(4, "Most primitives in a leaf; 1 makes a node of every split.", minimum=1, maximum=MAX_LEAF_SIZE)
    coarse_bits: int = option(15, "Bits of the codes by which runs are sorted: three times the levels of the coarse grid.", minimum=3, maximum=24)
    treelet_levels: int = option(3, "Levels of a treelet: more of them make fewer steps of more work.", minimum=1, maximum=4)


class HlbvhTreelets(BvhHierarchy):
    """See the module."""

    name = "hlbvh_treelets"
    title = "Hierarchical linear BVH (treelets)"
    Options = HlbvhTreeletsOptions
    options: HlbvhTreeletsOptions
    ids_follow_references = True

    def __init__(self, target: Target, options: HlbvhTreeletsOptions, layout: str = "auto", traversal: str = "auto") -> None:
        super().__init__(target, options, layout, traversal)
        self.code_bits = int(options.code_bits)
        self._morton = MortonOrder(target, self.code_bits)

    def max_depth(self) -> int:
        return self.code_bits + REFERENCE_BITS

    def scratch_bytes(self) -> int:
        places = (1 << self.options.treelet_levels) - 1
        return self.tree.count * ((24 if self.code_bits == 60 else 16) + 50 + 1 + 2 * places)

    def emit(self, primitives: Primitives) -> bool:
        keys, prim_ids = self._sort(primitives)
        target, tree, n = self.target, self.tree, primitives.count
        levels_of_step, max_leaf_size = self.options.treelet_levels, self.options.max_leaf_size
        unit = target.unit(unit_source(f"{FOLDER}/treelets.cu", primitives, CODE_BITS=self.code_bits, LEVELS=levels_of_step))
        position_bits = (n - 1).bit_length()
        most = n // 2 + 1
        heads, before, last_of_head, node_of_head = (self._numbers(name, n) for name in ("heads", "before", "last_of_head", "node_of_head"))
        interval_head, interval_count = self._numbers("interval_head", most), self._numbers("interval_count", 1)
        splits = self._numbers("splits", most * ((1 << levels_of_step) - 1))
        levels = target.scratch("treelets.levels", n, np.uint8)
        with target.phase("build.treelets"):
            target.fill(splits, -1)
            frontier = (levels, heads, last_of_head, node_of_head)
            topology = (tree.parent, tree.flags, tree.root)
            target.launch(unit, "start_intervals", n, n, keys, prim_ids, position_bits, max_leaf_size, tree.order, *frontier, *topology)
            for first_level in range(0, self.code_bits, levels_of_step):
                target.exclusive_scan(heads, before, "treelets.scan")
                arguments = (n, keys, first_level)
                target.launch(unit, "find_splits", n, *arguments, levels, heads, before, interval_head, interval_count, splits)
                size, outputs = DeviceCount(interval_count, most), (splits, *frontier, tree.nodes, tree.parent, tree.flags)
                target.launch(unit, "emit_treelets", size, *arguments, interval_head, interval_count, max_leaf_size, *outputs)
            target.launch(unit, "part_ties", n - 1, n, keys, levels, max_leaf_size, tree.nodes, tree.parent, tree.flags)
        return self.fit(primitives, "build")

    def _sort(self, primitives: Primitives) -> tuple[Array, Array | None]:
        """Keys (and at 60 bits prim_ids) in Morton order, by runs and cells."""
        target, n, coarse_bits = self.target, primitives.count, self.options.coarse_bits
        unit = target.unit(unit_source(f"{FOLDER}/coarse_sort.cu", primitives, CODE_BITS=self.code_bits, COARSE_BITS=coarse_bits, TILE=TILE))
        keys, prim_ids = self._morton.codes(primitives)
        heads, before, run_first, lengths, place_of_run = (self._numbers(name, n) for name in ("heads", "before", "run_first", "lengths", "places"))
        run_codes, run_ids = target.scratch("treelets.run_codes", n, np.uint32), self._numbers("run_ids", n)
        run_count = self._numbers("run_count", 1)
        with target.phase("build.runs"):
            target.launch(unit, "mark_runs", n, n, keys, heads)
            target.exclusive_scan(heads, before, "treelets.scan")
            target.launch(unit, "write_runs", n, n, keys, heads, before, run_codes, run_ids, run_first, run_count)
        with target.phase("build.coarse_sort"):
            counted = DeviceCount(run_count, n)
            _, run_ids = sort_pairs(target, run_codes, run_ids, (0, coarse_bits), DIGIT_BITS, "treelets.sort", counted)
        sorted_keys = target.scratch("treelets.keys", n, np.uint64)
        sorted_ids = None if prim_ids is None else self._numbers("prim_ids", n)
        with target.phase("build.runs"):
            target.launch(unit, "measure_runs", n, n, run_ids, run_first, run_count, lengths)
            target.exclusive_scan(lengths, lengths, "treelets.scan")
            target.launch(unit, "place_runs", counted, run_ids, run_count, lengths, place_of_run)
            target.launch(unit, "spread_runs", n, n, keys, prim_ids, heads, before, run_first, place_of_run, sorted_keys, sorted_ids)
        with target.phase("build.fine_sort"):
            cell_first, cell_count = run_first, run_count
            target.launch(unit, "mark_runs", n, n, sorted_keys, heads)
            compact_indices(target, heads, cell_first, cell_count, "treelets.cells")
            blocks = min(n, 1 << coarse_bits, MOST_CELL_BLOCKS)
            target.launch(unit, "sort_cells", n, n, cell_first, cell_count, sorted_keys, sorted_ids, keys, prim_ids, blocks=blocks)
        return sorted_keys, sorted_ids

    def _numbers(self, name: str, count: int) -> Array:
        return self.target.scratch(f"treelets.{name}", count, np.int32)


__all__ = ["HlbvhTreelets", "HlbvhTreeletsOptions"]
