"""The small-node stage: from nodes of at most 64 references to leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....primitives.radix_sort import exclusive_scan
from .....target.base import Array, Target, UnitSource
from .....target.structs import pack
from ....base import Primitives
from ....grown_tree import Capacity, Draft
from ....scratch import Shapes
from .large import ROOM, SMALL, most_roots
from .options import MedianSahOptions
from .stage_arrays import SmallArrays

SMALL_THREADS = 32
PLACE_THREADS = 512
NOTES = 64
"""Choices of a root that are noted; of a root with more visits they are made again."""

SMALL_LEVELS = 20
"""Of a small tree."""

ROUND_WORDS = 4
SIDES = 6
"""Of a box: as many planes has each reference of a small root."""


class SmallStage:
    """One build's."""

    def __init__(self, target: Target, options: MedianSahOptions, capacity: Capacity, max_depth: int) -> None:
        self.target, self.options, self.capacity, self.max_depth, self.ways = (
            target,
            options,
            capacity,
            max_depth,
            options.ways(),
        )
        self.roots = most_roots(capacity)
        self.by_subtrees = (
            self.ways.grows_subtrees or options.max_leaf_size >= SMALL
        )  # then none is split, and planes would be of no use
        self.slots = max(self.roots, capacity.references // (options.max_leaf_size + 1) + 2)

    def shapes(self) -> Shapes:
        """Working memory."""
        splits_any = self.options.max_leaf_size < SMALL
        shapes: Shapes = {"root_places": ((self.roots, 2), np.int32)}
        if self.by_subtrees:
            return shapes | {
                "root_counts": ((self.roots, 4), np.int32),
                "notes": ((self.roots * NOTES if splits_any else 1,), np.int16),
            }
        references = 2 * self.capacity.working
        return shapes | {
            "firsts": ((self.roots,), np.int32),
            "planes": ((SIDES * references,), np.float32),
            "sets": ((SIDES * references, 4), np.uint32),
            "prim_ids": ((references,), np.int32),
            "small_nodes": ((self.slots, 12), np.float32),
            "small_nodes_too": ((self.slots, 12), np.float32),
            "candidates": ((self.slots,), np.int32),
            "small_additions": ((3 * self.slots,), np.int32),
            "rounds": (((SMALL_LEVELS + 1) * ROUND_WORDS,), np.int32),
        }

    def build(self, primitives: Primitives, held: dict[str, Array], draft: Draft) -> None:
        """All small roots to their leaves."""
        if self.by_subtrees:
            self._grow_subtrees(held, draft)
        else:
            self._split_in_rounds(held, draft)
        if not self.ways.sorts_by_atomics:
            return
        leaves = self.target.unit(UnitSource(f"{ROOM}/large_leaves.cu"))
        self.target.launch(
            leaves,
            "sort_large_leaves",
            self.roots,
            totals=held["totals"],
            counts=draft.counts,
            n=primitives.count,
            ranges=held["root_ranges"],
            places=held["root_places"],
            references=held["references"],
            draft_references=draft.references,
            block=256,
        )

    def _rules(self) -> dict[str, Any]:
        options = self.options
        costs = {"traversal_cost": options.traversal_cost, "intersection_cost": options.intersection_cost}
        return {
            **costs,
            "empty_factor": options.empty_factor,
            "by_cost": int(options.stop == "sah"),
            "max_leaf_size": options.max_leaf_size,
            "max_depth": self.max_depth,
        }

    def _grow_subtrees(self, held: dict[str, Array], draft: Draft) -> None:
        """A block a root: counted, given places, written."""
        target = self.target
        constants = (("MANKU", not self.ways.counts_by_popc),)
        unit = target.unit(UnitSource(f"{ROOM}/subtrees.cu", constants=constants, rays_per_thread=0))
        counts, places, jobs = held["root_counts"], held["root_places"], self.roots * SMALL_THREADS
        given = {
            "totals": held["totals"],
            "counts": draft.counts,
            "references": held["references"],
            "cells": held["root_cells"],
            "ranges": held["root_ranges"],
            **self._rules(),
            "root_counts": counts,
            "notes": held["notes"],
            "places": places,
            "draft_nodes": draft.nodes,
            "draft_parent": draft.parent,
            "draft_references": draft.references,
        }
        target.launch(unit, "grow_subtrees", jobs, **given, writes=0, block=SMALL_THREADS)
        target.launch(
            unit,
            "place_subtrees",
            1,
            totals=held["totals"],
            root_counts=counts,
            node_capacity=self.capacity.nodes,
            reference_capacity=self.capacity.references,
            counts=draft.counts,
            places=places,
            block=PLACE_THREADS,
            blocks=1,
        )
        target.launch(unit, "grow_subtrees", jobs, **given, writes=1, block=SMALL_THREADS)

    def _split_in_rounds(self, held: dict[str, Array], draft: Draft) -> None:
        """Planes and sets of all roots, then a level of all small nodes at a time."""
        target = self.target
        unit = target.unit(UnitSource(f"{ROOM}/rounds.cu", constants=(("MANKU", not self.ways.counts_by_popc),)))
        stage = self._stage(held, draft)
        target.launch(unit, "size_roots", self.roots, stage=stage)
        exclusive_scan(target, held["firsts"], held["firsts"], "median_sah.scan")
        target.launch(unit, "make_planes", self.roots * SMALL_THREADS, stage=stage, block=SMALL_THREADS)
        for level in range(SMALL_LEVELS):
            jobs = min(self.roots << min(level, 12), self.slots) * SMALL_THREADS
            target.launch(unit, "choose_small", jobs, stage=stage, round=level, block=SMALL_THREADS)
            exclusive_scan(target, held["small_additions"], held["small_additions"], "median_sah.scan")
            target.launch(unit, "split_small", jobs, stage=stage, round=level, block=SMALL_THREADS)

    def _stage(self, held: dict[str, Array], draft: Draft) -> np.ndarray:
        """What all rounds of a build take."""
        tree = {
            "counts": draft.counts,
            "draft_nodes": draft.nodes,
            "draft_parent": draft.parent,
            "draft_references": draft.references,
        }
        rules = self._rules()
        room = {"root_capacity": self.roots, "slot_capacity": self.slots, "node_capacity": self.capacity.nodes}
        pointers = [name for name, kind in SmallArrays.c_types().items() if kind.endswith("*")]
        arrays = {name: held[name] for name in pointers if name not in tree}
        return pack(SmallArrays(**arrays, **tree, **rules, **room, reference_capacity=self.capacity.references))
