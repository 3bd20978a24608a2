"""The first hierarchical linear BVH: a sort in two stages that lives on coherence, and treelets of several levels a
step.

Idea: Neighbours in the scene's order are mostly neighbours in space. So runs of primitives in one cell of a coarse grid
are sorted instead of primitives, spread out again, and every cell is sorted by the rest of its codes inside one block.
Then the tree is built from above, several bits of the codes per step: every interval that is still to be split becomes
a small tree, a treelet, whose nodes are found by their code bits at once.

Paper: Pantaleoni and Luebke, HLBVH: Hierarchical LBVH Construction for Real-Time Ray Tracing (2010); retold by Meister,
Methods for Fast Construction of Bounding Volume Hierarchies (2014), section 5.3.

Cost: Two launches and a scan for every step of `treelet_levels` bits, and a sort that is the cheaper the longer the
runs are. The tree is that of
`lbvh`, which is faster on today's GPUs, where sorting everything costs less than sorting little in many launches.

Limits: Those of `lbvh`. A coarse cell with more primitives than a tile is sorted by a single block: a detailed model in
a scene hundreds of times its size takes milliseconds more (use `lbvh`, or more coarse bits). Node ids are Karras',
known without the paper's second scan. Equal codes are split by position, all at once behind the steps, so the depth
never passes code bits + 26 (27 of 2^26 primitives and more). Deterministic.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from .....primitives.compact import compact_indices
from .....primitives.thesis import sort_pairs
from .....settings import option
from .....target.base import Array, DeviceCount
from ....base import Primitives
from ....morton_order import MortonOptions
from ....primitives import unit_source
from ...morton_builder import CodeBuilder
from ...stopping import leaf_size_by_kind_option

TILE = 1024
"""References of a coarse cell that a block sorts in shared memory."""
DIGIT_BITS = 5
MOST_CELL_BLOCKS = 4096
FOLDER = "gpu/hierarchy/bvh/builders/hlbvh_treelets"


@dataclasses.dataclass(frozen=True)
class HlbvhTreeletsOptions(MortonOptions):
    """Options of the treelet builder."""

    max_leaf_size: int = leaf_size_by_kind_option()
    coarse_bits: int = option(
        15,
        "Bits of the codes by which runs are sorted: three times the levels of the coarse grid.",
        minimum=3,
        maximum=24,
    )
    treelet_levels: int = option(
        3, "Levels of a treelet: more of them make fewer steps of more work.", minimum=1, maximum=4
    )


class HlbvhTreelets(CodeBuilder):
    """See the module."""

    name = "hlbvh_treelets"
    title = "Hierarchical linear BVH (treelets)"
    construction = "linear"
    Options = HlbvhTreeletsOptions
    options: HlbvhTreeletsOptions

    def scratch_bytes(self) -> int:
        places = (1 << self.options.treelet_levels) - 1
        return self.tree.count * ((24 if self.code_bits == 60 else 16) + 50 + 1 + 2 * places)

    def link_nodes(self, primitives: Primitives, keys: Array, prim_ids: Array | None) -> None:
        target, tree, n = self.target, self.tree, primitives.count
        levels_of_step = self.options.treelet_levels
        unit = target.unit(
            unit_source(f"{FOLDER}/treelets.cu", primitives, CODE_BITS=self.code_bits, LEVELS=levels_of_step)
        )
        most = n // 2 + 1
        heads, before, last_of_head, node_of_head = (
            self._numbers(name, n) for name in ("heads", "before", "last_of_head", "node_of_head")
        )
        intervals = {
            "interval_head": self._numbers("interval_head", most),
            "interval_count": self._numbers("interval_count", 1),
        }
        splits = self._numbers("splits", most * ((1 << levels_of_step) - 1))
        levels = target.scratch("treelets.levels", n, np.uint8)
        frontier = {"levels": levels, "heads": heads, "last_of_head": last_of_head, "node_of_head": node_of_head}
        sizes = {"n": n, "max_leaf_size": self.leaf_size}
        with target.phase("build.treelets"):
            target.fill(splits, -1)
            target.launch(
                unit,
                "start_intervals",
                n,
                **sizes,
                keys=keys,
                prim_ids=prim_ids,
                position_bits=(n - 1).bit_length(),
                order=tree.order,
                **frontier,
                parent=tree.parent,
                flags=tree.flags,
                root=tree.root,
            )
            for first_level in range(0, self.code_bits, levels_of_step):
                target.exclusive_scan(heads, before, "treelets.scan")
                step = {"keys": keys, "first_level": first_level, "splits": splits, **intervals}
                target.launch(unit, "find_splits", n, n=n, **step, levels=levels, heads=heads, before=before)
                size = DeviceCount(intervals["interval_count"], most)
                target.launch(unit, "emit_treelets", size, **sizes, **step, **frontier, **tree.links())
            target.launch(unit, "split_ties", n - 1, **sizes, keys=keys, levels=levels, **tree.links())

    def sort(self, primitives: Primitives) -> tuple[Array, Array | None]:
        """Keys (and at 60 bits prim_ids) in Morton order, by runs and cells."""
        target, n, coarse_bits = self.target, primitives.count, self.options.coarse_bits
        unit = target.unit(
            unit_source(
                f"{FOLDER}/coarse_sort.cu", primitives, CODE_BITS=self.code_bits, COARSE_BITS=coarse_bits, TILE=TILE
            )
        )
        keys, prim_ids = self.morton_order.codes(primitives)
        heads, before, run_first, lengths, place_of_run = (
            self._numbers(name, n) for name in ("heads", "before", "run_first", "lengths", "places")
        )
        run_codes, run_ids = target.scratch("treelets.run_codes", n, np.uint32), self._numbers("run_ids", n)
        run_count = self._numbers("run_count", 1)
        runs = {"run_first": run_first, "run_count": run_count}
        with target.phase("build.runs"):
            target.launch(unit, "mark_runs", n, n=n, keys=keys, heads=heads)
            target.exclusive_scan(heads, before, "treelets.scan")
            marked = {"n": n, "keys": keys, "heads": heads, "before": before}
            target.launch(unit, "write_runs", n, **marked, run_codes=run_codes, run_ids=run_ids, **runs)
        with target.phase("build.coarse_sort"):
            counted = DeviceCount(run_count, n)
            _, run_ids = sort_pairs(target, run_codes, run_ids, (0, coarse_bits), DIGIT_BITS, "treelets.sort", counted)
        sorted_keys = target.scratch("treelets.keys", n, np.uint64)
        sorted_ids = None if prim_ids is None else self._numbers("prim_ids", n)
        with target.phase("build.runs"):
            target.launch(unit, "measure_runs", n, n=n, run_ids=run_ids, **runs, lengths=lengths)
            target.exclusive_scan(lengths, lengths, "treelets.scan")
            placed = {"run_ids": run_ids, "run_count": run_count, "places": lengths, "place_of_run": place_of_run}
            target.launch(unit, "place_runs", counted, **placed)
            target.launch(
                unit,
                "spread_runs",
                n,
                **marked,
                prim_ids=prim_ids,
                run_first=run_first,
                place_of_run=place_of_run,
                keys_out=sorted_keys,
                prim_ids_out=sorted_ids,
            )
        with target.phase("build.fine_sort"):
            target.launch(unit, "mark_runs", n, n=n, keys=sorted_keys, heads=heads)
            compact_indices(target, heads, run_first, run_count, "treelets.cells")
            target.launch(
                unit,
                "sort_cells",
                n,
                n=n,
                cell_first=run_first,
                cell_count=run_count,
                keys=sorted_keys,
                prim_ids=sorted_ids,
                other_keys=keys,
                other_ids=prim_ids,
                blocks=min(n, 1 << coarse_bits, MOST_CELL_BLOCKS),
            )
        return sorted_keys, sorted_ids

    def _numbers(self, name: str, count: int) -> Array:
        return self.target.scratch(f"treelets.{name}", count, np.int32)


__all__ = ["HlbvhTreelets", "HlbvhTreeletsOptions"]
