"""sah_events: the exact SAH over all ends of all boxes, level by level, from events that are sorted once.

Idea: Each box has two ends, events, along each axis. Sorted along the axes, prefix sums over their kinds say how many
primitives lie below and above each of them: the SAH of every plane of every node of a level is computed at once, and
the best one splits the node. What a plane cuts is listed on both sides with its box cut along that axis alone, which
leaves every list in order: nothing is sorted a second time. Small nodes have no lists: there boxes are cut along all
axes, primitives are left out where they do not reach, and a warp or a block compares a node's boxes with each other.

Paper: Kolodzey, Parallele SAH KD-Tree Konstruktion auf GPUs für Raytracing dynamischer Szenen (2014), after Wu, Zhao
and Liu (2011) and Wald and Havran (2006).

Cost: One sort of six keys per primitive, then six launches per level, each of which reads all references or events of
that level once or twice; no number is read back. The slowest build here for the fewest tests of primitives per ray.

Limits: No refit: primitives would leave their cells. Large primitives are listed many times; a share of references
bounds how often. In large nodes boxes are cut along the split's axis alone, which costs 1 % over boxes cut along all
axes everywhere (an option that takes many times as long); by the thesis' form, that axis alone in all nodes, a thin
shell's tree costs 8 to 15 % more. Deterministic.
"""

from __future__ import annotations

from typing import Any

from .....target.base import Unit, UnitSource
from ....base import Primitives
from ....grown_tree import Capacity, Draft
from ....primitives import clipping_unit_source
from ...kdtree import KdTreeHierarchy
from .listed import SEGMENTED, find_listed_splits, listed_bytes
from .memory import NODE_TILE, SORT, TILE_THREADS, Memory, Sizes, memory_of, the_pool
from .moving import clip_and_sort, further_bytes, move_through_gaps
from .options import SahEventsOptions

_ROOM = "gpu/hierarchy/kdtree/builders/sah_events"
_GAP_BYTES = {"once": 0, "gaps": 4, "masks": 1}
_CLIPPING_UNITS = {"split_axis": [], "small_nodes": ["small"], "all": ["clip"]}
_STAGED = {"alone": 0, "staged": 1, "vertices": 2}
_REDUCTIONS = {"atomics": 0, "nodes": 1, "hybrid": 2}


class SahEvents(KdTreeHierarchy):
    """See the module."""

    name = "sah_events"
    title = "Kd-tree, full SAH"
    Options = SahEventsOptions
    options: SahEventsOptions
    _memory: Memory | None = None

    def working_bytes(self, capacity: Capacity, primitive_count: int) -> int:
        if primitive_count == 0:
            return 0
        sizes = self._sizes(primitive_count, capacity)
        listed = listed_bytes(sizes.room, sizes.flag_bytes) if self._lists_candidates() else 0
        further = further_bytes(sizes.room, _GAP_BYTES[self.options.moving], self.options.clipping == "all")
        return sizes.bytes() + listed + further

    def emit(self, primitives: Primitives, draft: Draft, capacity: Capacity) -> None:
        self._memory = memory = memory_of(self.target, self._sizes(primitives.count, capacity), self._memory)
        units = self._units(primitives)
        self._start(units["start"], primitives, memory, draft)
        levels = self.options.levels(primitives.count)
        with self.target.phase("build.levels"):
            for level in range(levels):
                self._choose(units, primitives, memory, draft, capacity, level, ends_here=level + 1 == levels)
                self._partition(units["partition"], memory, draft, level, ends_here=level + 1 == levels)
                if level + 1 < levels:
                    self._move_events(units, memory, draft, primitives, level)

    def _sizes(self, n: int, capacity: Capacity) -> Sizes:
        """Each node of a level has more references than a leaf may have."""
        slots = capacity.working // (self.options.max_leaf_size + 1) + 2
        return Sizes(n, capacity.working, slots, 1 if self.options.flags == "bytes" else 4, self._tile())

    def _tile(self) -> int:
        return TILE_THREADS * self._events_a_thread()

    def _events_a_thread(self) -> int:
        return 8 if self.options.cascading else 1

    def _constants(self, unit: str) -> dict[str, int]:
        """Those that all units share, and the unit's own: a switch compiles what it changes, and nothing else."""
        options = self.options
        shared = {
            "EVENTS_A_THREAD": self._events_a_thread(),
            "SEPARATE_WORDS": int(options.boxes == "soa"),
            "FLAG_BYTES": 1 if options.flags == "bytes" else 4,
            "SMALL_NODE": options.small_node_size if options.clipping == "small_nodes" else 0,
        }
        shuffled = int(options.candidates == "shuffle")
        own = {
            "start": {"STAGES_TRIANGLES": _STAGED[options.triangles]},
            "splits": {"REDUCTION": _REDUCTIONS.get(options.reduction, 0), "SHUFFLED": shuffled},
            "listed": {"SHUFFLED": shuffled},
            "partition": {"MARKS_CUTS": int(options.clipping != "split_axis")},
            "gaps": {"GAP_BYTES": _GAP_BYTES[options.moving]},
        }
        return shared | own.get(unit, {})

    def _units(self, primitives: Primitives) -> dict[str, Unit]:
        """Those of the levels; `start`, `small` and `clip` read primitives."""
        options, units = self.options, {}
        splits = "listed" if self._lists_candidates() else "splits"
        for name in [splits, "sides", "partition", *(["gaps"] if options.moving != "once" else [])]:
            units[name] = self.target.unit(
                UnitSource(f"{_ROOM}/{name}.cu", constants=tuple(self._constants(name).items()))
            )
        for name in ["start", *_CLIPPING_UNITS[options.clipping]]:
            units[name] = self.target.unit(
                clipping_unit_source(f"{_ROOM}/{name}.cu", primitives, **self._constants(name))
            )
        return units

    def _start(self, unit: Unit, primitives: Primitives, memory: Memory, draft: Draft) -> None:
        target, n, held, room = self.target, primitives.count, memory.held, memory.sizes.room
        places, row = {"places": memory.places, "active": memory.active}, memory.row(0)
        with target.phase("build.events"):
            level_words = held["levels"].size
            target.launch(
                unit,
                "clear_start",
                level_words,
                box_words=held["box_words"],
                counts=draft.counts,
                levels=held["levels"],
                level_words=level_words,
            )
            target.launch(
                unit, "find_active", n, primitives=primitives.view, active=memory.active, box_words=held["box_words"]
            )
            target.exclusive_scan(memory.active, memory.places, "sah_events.scan")
            target.launch(unit, "write_keys", n, primitives=primitives.view, places=memory.places, keys=memory.keys)
        with target.phase("build.sort"):
            keys = target.sort_keys(memory.keys, (28, 64), SORT)
            the_pool(target, memory.sizes)
        with target.phase("build.events"):
            target.launch(unit, "take_events", 2 * n, n=n, keys=keys, **places, room=room, events=memory.events(0))
            target.launch(
                unit,
                "make_root",
                n,
                primitives=primitives.view,
                **places,
                box_words=held["box_words"],
                share=self.options.references_per_primitive,
                room=room,
                reference_words=memory.references(0),
                counts=draft.counts,
                levels=row,
                box=draft.box,
                draft_nodes=draft.nodes,
                draft_parent=draft.parent,
                **memory.nodes(0),
                best=held["best"],
                side_counts=held["side_counts"],
            )
            jobs = 3 * memory.sizes.event_tiles * TILE_THREADS
            target.launch(
                unit,
                "count_starts",
                jobs,
                level=row,
                room=room,
                events=memory.events(0),
                starts=held["starts"],
                block=TILE_THREADS,
            )

    def _choose(
        self,
        units: dict[str, Unit],
        primitives: Primitives,
        memory: Memory,
        draft: Draft,
        capacity: Capacity,
        level: int,
        ends_here: bool,
    ) -> None:
        """The splits of a level, and what comes before each of its nodes."""
        self._find_splits(units["listed" if self._lists_candidates() else "splits"], memory, level)
        if self.options.clipping == "small_nodes":
            self._split_small_nodes(units["small"], primitives, memory, level)
        self._count_sides(units["sides"], memory, level)
        self._number_nodes(units["sides"], memory, draft, capacity, level, ends_here)

    def _most_nodes(self, memory: Memory, level: int) -> int:
        return min(1 << min(level, 30), memory.sizes.slots)

    def _costs(self) -> dict[str, Any]:
        return {
            "traversal_cost": self.options.traversal_cost,
            "intersection_cost": self.options.intersection_cost,
            "empty_factor": self.options.empty_factor,
        }

    def _stop(self) -> dict[str, int]:
        return {"by_cost": int(self.options.stop == "sah"), "max_leaf_size": self.options.max_leaf_size}

    def _references(self, memory: Memory, level: int) -> dict[str, Any]:
        """What a level's nodes and references are read from, by the kernels' names."""
        lists = {"level": memory.row(level), "room": memory.sizes.room, "reference_words": memory.references(level)}
        return {**lists, **memory.nodes(level)}

    def _lists(self, memory: Memory, level: int) -> dict[str, Any]:
        """The same, and its events."""
        return {**self._references(memory, level), "events": memory.events(level)}

    def _find_splits(self, unit: Unit, memory: Memory, level: int) -> None:
        """The best plane of each large node."""
        if self._lists_candidates():
            most, lists = self._most_nodes(memory, level), self._lists(memory, level)
            whole = SEGMENTED[self.options.reduction] and level < self.options.whole_levels
            find_listed_splits(self.target, unit, memory, lists, self._costs(), most, whole=whole)
            return
        held, given = memory.held, {**self._lists(memory, level), **self._costs(), "best": memory.held["best"]}
        if self.options.reduction == "nodes":
            jobs = self._most_nodes(memory, level) * TILE_THREADS
            self.target.launch(unit, "find_splits_of_nodes", jobs, **given, block=TILE_THREADS)
        else:
            jobs = 3 * memory.sizes.event_tiles * TILE_THREADS
            self.target.launch(unit, "find_splits", jobs, **given, starts=held["starts"], block=TILE_THREADS)

    def _split_small_nodes(self, unit: Unit, primitives: Primitives, memory: Memory, level: int) -> None:
        self.target.launch(
            unit,
            "split_small_nodes",
            self._most_nodes(memory, level) * TILE_THREADS,
            primitives=primitives.view,
            **self._references(memory, level),
            **self._costs(),
            **self._stop(),
            splits=memory.held["splits"],
            block=TILE_THREADS,
        )

    def _count_sides(self, unit: Unit, memory: Memory, level: int) -> None:
        """On which sides of its node's split each reference lies."""
        held = memory.held
        self.target.launch(
            unit,
            "count_sides",
            memory.sizes.tiles * TILE_THREADS,
            **self._lists(memory, level),
            best=held["best"],
            intersection_cost=self.options.intersection_cost,
            **self._stop(),
            splits=held["splits"],
            flag_bytes=held["flags"],
            side_sums=held["side_sums"],
            side_counts=held["side_counts"],
            block=TILE_THREADS,
        )

    def _number_nodes(
        self, unit: Unit, memory: Memory, draft: Draft, capacity: Capacity, level: int, ends_here: bool
    ) -> None:
        """Which nodes are split, and where their children and references go."""
        held, sizes = memory.held, memory.sizes
        self.target.launch(
            unit,
            "number_nodes",
            1,
            level=memory.row(level),
            next_level=memory.row(level + 1),
            room=sizes.room,
            side_sums=held["side_sums"],
            node_sums=held["node_sums"],
            **memory.nodes(level),
            splits=held["splits"],
            side_counts=held["side_counts"],
            max_leaf_size=self.options.max_leaf_size,
            ends_here=int(ends_here),
            node_capacity=capacity.nodes,
            reference_capacity=capacity.references,
            slot_capacity=sizes.slots,
            counts=draft.counts,
            numbers=held["numbers"],
            block=TILE_THREADS,
            blocks=-(-self._most_nodes(memory, level) // NODE_TILE),
        )

    def _partition(self, unit: Unit, memory: Memory, draft: Draft, level: int, ends_here: bool) -> None:
        """The children of a level, their references and events."""
        held, sizes, nexts = memory.held, memory.sizes, memory.nodes(level + 1)
        event_jobs = 3 * sizes.event_tiles * TILE_THREADS
        counts_events = not ends_here and self._counts_events()
        self.target.launch(
            unit,
            "partition_references",
            sizes.tiles * TILE_THREADS + (event_jobs if counts_events else 0),
            **self._lists(memory, level),
            splits=held["splits"],
            numbers=held["numbers"],
            node_sums=held["node_sums"],
            node_row=sizes.node_tiles,
            max_leaf_size=self.options.max_leaf_size,
            ends_here=int(ends_here),
            flag_bytes=held["flags"],
            side_sums=held["side_sums"],
            counts=draft.counts,
            draft_nodes=draft.nodes,
            draft_parent=draft.parent,
            leaf_references=draft.references,
            next_cells=nexts["cells"],
            next_ranges=nexts["ranges"],
            best=held["best"],
            side_counts=held["side_counts"],
            next_words=memory.references(level + 1),
            moves=memory.moves(level),
            slots=held["slots"],
            bases=held["bases"],
            event_sums=held["event_sums"] if counts_events else None,
            block=TILE_THREADS,
        )

    def _move_events(
        self, units: dict[str, Unit], memory: Memory, draft: Draft, primitives: Primitives, level: int
    ) -> None:
        """The events of a level to where the next one has them."""
        held, sizes, options = memory.held, memory.sizes, self.options
        if options.clipping == "all":
            clip_and_sort(self.target, units["clip"], units["start"], memory, primitives, level + 1)
        elif options.moving != "once":
            move_through_gaps(self.target, units["gaps"], memory, draft.counts, level, _GAP_BYTES[options.moving])
        else:
            jobs = 3 * sizes.event_tiles * TILE_THREADS
            self.target.launch(
                units["partition"],
                "partition_events",
                jobs,
                level=memory.row(level),
                room=sizes.room,
                events=memory.events(level),
                flag_bytes=held["flags"],
                moves=memory.moves(level),
                slots=held["slots"],
                bases=held["bases"],
                counts=draft.counts,
                event_sums=held["event_sums"],
                next_events=memory.events(level + 1),
                starts=held["starts"],
                block=TILE_THREADS,
            )

    def _lists_candidates(self) -> bool:
        """Whether splits are found from a list of candidates, as in the thesis."""
        return self.options.reduction in SEGMENTED

    def _counts_events(self) -> bool:
        """Whether events move to places that are counted first."""
        return self.options.moving == "once" and self.options.clipping != "all"
