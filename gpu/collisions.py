"""Which primitives of different objects touch one another at this instant, by the structure that is shown: all pairs,
on the target (docs/decisions/collisions.md)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from .animate.animate import Surface
from .hierarchy.base import Hierarchy, NoCollisionsError
from .query.contacts import ANY, Between, find_contacts
from .query.lists import ListedPrimitives, in_halves
from .query.query import Queries
from .query.touching import KINDS, Touching
from .stats import Collisions
from .target.base import Array, Target, UnitSource


class CollisionFinder:
    """Finds the pairs of an engine's surface, and keeps them until it or the choice of objects is another. `marks`
    (P,) uint32 on the target are 1 for the primitives of the scene that touch one of another object; `version` grows
    with them."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._key: object = None
        self._found = Collisions()
        self.marks: Array | None = None
        self.version = 0

    def find(
        self, hierarchy: Callable[[], Hierarchy], surface: Surface, primitive_count: int, between: Between = ANY
    ) -> Collisions:
        """How many pairs there are between two objects, or all; `hierarchy` gives the structure over the surface as it
        is. Waits where anything is another than before. HierarchyError where the structure, or the kind of primitives,
        answers no such query."""
        if (surface.version, between) == self._key:
            return self._found
        begin, target = time.perf_counter(), self._target
        if self.marks is None or len(self.marks) != max(1, primitive_count):
            self.marks = target.zeros(max(1, primitive_count), np.uint32, "collisions")
        self._key = None
        target.fill(self.marks, 0)
        counts = target.zeros(2, np.uint64, "collisions")
        self._mark(hierarchy(), surface, between, counts)
        pairs, primitives = target.download(counts).tolist()
        self._found = Collisions(pairs, primitives, (time.perf_counter() - begin) * 1000.0)
        self._key = (surface.version, between)
        self.version += 1
        return self._found

    def _mark(self, hierarchy: Hierarchy, surface: Surface, between: Between, counts: Array) -> None:
        """By one visit, where that hands over each primitive once; else by lists, of which each is then in order."""
        if not hierarchy.capabilities.splits_references:
            if _can_touch(surface):
                contacts = find_contacts(self._target, surface.primitives, surface.objects, between)
                Queries(hierarchy).mark_touching(contacts, self.marks, counts)
            return
        for asked, listed in _found_pairs(self._target, hierarchy, surface, between):
            places = (("OF_CENTRES", False), ("IS_PERIODIC", False))  # of questions beside these, in the same header
            aliases = (("Question", asked.device_type),)
            source = UnitSource("gpu/query/touching_marks.cu", asked.headers, aliases, places)
            lists = {"first": listed.first, "counts": listed.counts, "prim_ids": listed.prim_ids}
            arguments = {"question": asked.packed(None), "count": len(asked), "marks": self.marks, "found": counts}
            self._target.launch(self._target.unit(source), "mark_listed", len(asked), **arguments, **lists)


def colliding_pairs(target: Target, hierarchy: Hierarchy, surface: Surface, between: Between = ANY) -> np.ndarray:
    """(M, 2) int32 on the host: the numbers in the scene of all primitives that touch one of another object, the one of
    the first object, or of the smaller number, before the other; each pair once, in ascending order. Waits.
    HierarchyError as `CollisionFinder.find`."""
    rows, numbers = [np.zeros((0, 2), np.int32)], _scene_numbers(surface)
    for asked, listed in _found_pairs(target, hierarchy, surface, between):
        own = numbers[asked.first : asked.first + len(asked)]
        counts = target.download(listed.counts)
        rows.append(np.stack([np.repeat(own, counts), target.download(listed.prim_ids)], axis=1))
    found = np.concatenate(rows)
    comes_second = found[:, 0] > found[:, 1]
    if between != ANY:
        first = surface.objects[between[0] if between[0] >= 0 else between[1]]
        comes_second = (found[:, 0] < first.first) | (found[:, 0] >= first.first + first.count)
    found[comes_second] = found[comes_second, ::-1]
    return found[np.lexsort((found[:, 1], found[:, 0]))]


def _found_pairs(
    target: Target, hierarchy: Hierarchy, surface: Surface, between: Between
) -> Iterator[tuple[Touching, ListedPrimitives]]:
    """What was asked, and what touches it; in parts where lists are too long for one."""
    if not _can_touch(surface):
        return
    contacts = find_contacts(target, surface.primitives, surface.objects, between)
    queries, asked = Queries(hierarchy), []

    def ask(part: Touching) -> ListedPrimitives:
        listed = queries.touching(part)
        asked.append(part)
        return listed

    for listed in in_halves(Touching(surface.primitives, is_own=True, contacts=contacts), ask):
        yield asked.pop(), listed


def _can_touch(surface: Surface) -> bool:
    """Whether there are two objects and any primitives. NoCollisionsError where these cannot be asked."""
    primitives = surface.primitives
    if primitives.kind not in KINDS:
        raise NoCollisionsError(
            f"Collisions are found among triangles and spheres alone, and this scene has {primitives.kind}: "
            f"none are marked."
        )
    return primitives.count > 0 and len(surface.objects) > 1


def _scene_numbers(surface: Surface) -> np.ndarray:
    """(N,) int32: the number in the scene of each primitive that is not hidden."""
    numbers = np.zeros(surface.primitives.count, np.int32)
    for shown, thing in zip(surface.primitives.objects, surface.objects, strict=True):
        numbers[shown.first : shown.first + shown.count] = np.arange(thing.first, thing.first + shown.count)
    return numbers
