"""What one ray really did: the events that the traversal reports while it runs on the target, in their order, and the
state after each of them."""

from __future__ import annotations

import dataclasses
import enum
import functools
from typing import Any, NamedTuple

import numpy as np

from ..target.base import Target
from ..trace.trace import TRACE_BLOCK, RaySource, Tracer

FIRST_CAPACITY = 4096
"""Events that there is room for at first: what most rays have. Those with more are traced again."""

MOST_EVENTS = 1 << 18
"""Events of a ray that are kept; of longer ways the rest is counted alone."""

FLOAT_MAX = float(np.finfo(np.float32).max)
ON_PRIMITIVE = {"closest": "ClosestHit", "any": "AnyHit"}


class Event(enum.IntEnum):
    """What a traversal tells, as gpu/device/traversal_events.cuh numbers it."""

    NODE_ENTERED = 0
    LEAF_ENTERED = 1
    CHILD_MISSED = 2
    CHILD_BEYOND = 3
    CHILD_PUSHED = 4
    CHILD_POPPED = 5
    CHILD_DROPPED = 6
    PRIMITIVE_TESTED = 7
    PRIMITIVE_HIT = 8


ENTERED = (Event.NODE_ENTERED, Event.LEAF_ENTERED)
CULLED = (Event.CHILD_MISSED, Event.CHILD_BEYOND)
_SENTENCES = {
    Event.NODE_ENTERED: "node {id} entered at {entry}",
    Event.LEAF_ENTERED: "leaf {id} entered at {entry}",
    Event.CHILD_MISSED: "box {id} missed",
    Event.CHILD_BEYOND: "box {id} begins at {entry}, beyond where the ray ends",
    Event.CHILD_PUSHED: "box {id} put on the stack, at {entry}",
    Event.CHILD_POPPED: "box {id} taken from the stack",
    Event.CHILD_DROPPED: "box {id} taken from the stack and dropped: a nearer hit was found",
    Event.PRIMITIVE_TESTED: "primitive {id} tested",
    Event.PRIMITIVE_HIT: "primitive {id} hit at {entry}",
}


class Step(NamedTuple):
    """One event: its kind, the node or primitive, and the distance that belongs to it (traversal_events.cuh)."""

    event: Event
    id: int
    entry: float

    @property
    def sentence(self) -> str:
        """The event in words."""
        return _SENTENCES[self.event].format(id=shown_id(self.event, self.id), entry=f"{self.entry:.6g}")


class Waiting(NamedTuple):
    """A child that waits on the stack, and where the ray enters it."""

    id: int
    entry: float


@dataclasses.dataclass(frozen=True)
class RayState:
    """Where a ray is after an event: the node or leaf it is in (None: in none yet), the `stack`, what waits longest
    first, where the ray ends by then, the nearest primitive found (-1: none), and the primitives tested in this leaf.
    `children` are those of the node that have been decided about, in their order, with the event that did; one that is
    entered at once is told last."""

    node: int | None
    is_leaf: bool
    stack: tuple[Waiting, ...]
    t_max: float
    primitive: int
    tested: tuple[int, ...]
    children: tuple[Step, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class RayLog:
    """The way of one ray. `kinds`, `ids` int32 and `entries` float32, (E,): its events; `event_count` is how many there
    were, more than are kept where the way is longer than MOST_EVENTS. The ray: `origin`, `direction`, `t_min`, `t_max`.
    What it found: `primitive` (-1: nothing) and `t` (inf then).

    >>> import raygrove as rg
    >>> with rg.build(rg.open("room").at(0.0), "lbvh", device="cpu") as tree:
    ...     log = tree.step(rg.RaySet([0.0, 1.0, 3.0], [0.0, 0.0, -1.0]))
    >>> log[0].sentence, log.count("PRIMITIVE_TESTED") >= 1, log.state(len(log) - 1).primitive == log.primitive
    ('node 0 entered at 0', True, True)
    """

    kinds: np.ndarray
    ids: np.ndarray
    entries: np.ndarray
    event_count: int
    origin: tuple[float, float, float]
    direction: tuple[float, float, float]
    t_min: float
    t_max: float
    primitive: int
    t: float

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, n: int) -> Step:
        """Event n; IndexError where there is no such one."""
        return Step(Event(int(self.kinds[n])), int(self.ids[n]), float(self.entries[n]))

    @property
    def remark(self) -> str:
        """That the way is longer than what is kept of it; empty where it is not."""
        if self.event_count == len(self):
            return ""
        return f"The ray has {self.event_count:,} events; the first {len(self):,} of them are kept."

    def count(self, *names: str) -> int:
        """How many of the events that are kept have one of these names."""
        return int(np.isin(self.kinds, [Event[name] for name in names]).sum())

    def entered(self, node: int) -> int | None:
        """The event by which the ray first entered a node or leaf; None where it did not."""
        found = np.flatnonzero(np.isin(self.kinds, ENTERED) & (self.ids == node))
        return int(found[0]) if len(found) else None

    def state(self, n: int) -> RayState:
        """Where the ray is after event n, from 0 on. IndexError where there is no such event."""
        if not 0 <= n < len(self):
            raise IndexError(f"The ray has {len(self)} events, and none is number {n}.")
        hits = self.kinds[: n + 1] == Event.PRIMITIVE_HIT
        nearest, primitive = self.t_max, -1
        if hits.any():
            t, ids = self.entries[: n + 1][hits], self.ids[: n + 1][hits]
            nearest = float(t.min())
            primitive = int(ids[t == t.min()].min())
        at = int(self._place_of_entry[n])
        kinds, ids = self.kinds[at + 1 : n + 1], self.ids[at + 1 : n + 1]
        return RayState(
            node=int(self.ids[at]) if at >= 0 else None,
            is_leaf=at >= 0 and int(self.kinds[at]) == Event.LEAF_ENTERED,
            stack=self._stack(n),
            t_max=nearest,
            primitive=primitive,
            tested=tuple(ids[kinds == Event.PRIMITIVE_TESTED].tolist()) if at >= 0 else (),
            children=self.children(at, n) if at >= 0 else (),
        )

    def children(self, at: int, n: int | None = None) -> tuple[Step, ...]:
        """What became of the children of the node that is entered by event `at`, as far as event n tells."""
        told = []
        for place in range(at + 1, len(self) if n is None else n + 1):
            step = self[place]
            if step.event in CULLED or step.event == Event.CHILD_PUSHED:
                told.append(step)
                continue
            if step.event in ENTERED and self.kinds[at] == Event.NODE_ENTERED:
                told.append(step)
            break
        return tuple(told)

    def _stack(self, n: int) -> tuple[Waiting, ...]:
        pushes, ends = self._waits
        here = pushes[(pushes <= n) & (ends > n)]
        return tuple(Waiting(int(self.ids[place]), float(self.entries[place])) for place in here)

    @functools.cached_property
    def _place_of_entry(self) -> np.ndarray:
        """Of each event the last one by which a node or leaf was entered, itself among them; -1 before the first."""
        places = np.where(np.isin(self.kinds, ENTERED), np.arange(len(self)), -1)
        return np.asarray(np.maximum.accumulate(places)) if len(places) else places

    @functools.cached_property
    def _waits(self) -> tuple[np.ndarray, np.ndarray]:
        """The events that push, and of each the one after which that child waits no longer. A traversal that begins
        again at the root comes by what it pushed and enters it."""
        waiting: dict[int, list[int]] = {}
        ends: dict[int, int] = {}
        gone = (Event.CHILD_POPPED, Event.CHILD_DROPPED, *ENTERED)
        of_nodes = np.flatnonzero(self.kinds < Event.PRIMITIVE_TESTED)
        columns = (column.tolist() for column in (of_nodes, self.kinds[of_nodes], self.ids[of_nodes]))
        for place, kind, id_ in zip(*columns, strict=True):
            if kind == Event.CHILD_PUSHED:
                waiting.setdefault(id_, []).append(place)
                ends[place] = len(self)
            elif kind in gone and waiting.get(id_):
                ends[waiting[id_].pop()] = place
        return np.array(list(ends), np.int64), np.array(list(ends.values()), np.int64)


def shown_id(event: Event, id_: int) -> str:
    """What people read for the number of an event: of a leaf that is no node, ~ and its first reference."""
    if event in (Event.PRIMITIVE_TESTED, Event.PRIMITIVE_HIT) or id_ >= 0:
        return f"{id_}"
    return f"~{~id_}"


def record_ray(tracer: Tracer, rays: RaySource, kind: str = "closest", most: int = MOST_EVENTS) -> RayLog:
    """Trace the first of `rays` and keep what the traversal tells: `closest` or `any` hit, node by node in the order
    that all targets share, as the steps ray type counts them. Waits, outside a frame. KeyError for another kind."""
    target = tracer.target
    aliases, constants = (("OnPrimitive", ON_PRIMITIVE[kind]),), (("IS_ASKED", True),)
    unit, view = tracer.unit("gpu/analysis/ray_log.cu", rays, aliases, constants, width=1)
    capacity = min(FIRST_CAPACITY, most)
    while True:
        arrays = log_arrays(target, 1, capacity)
        target.launch(
            unit, "write_down_rays", 1, input=view, pack_count=1, capacity=capacity, **arrays, block=TRACE_BLOCK
        )
        event_count = int(target.download(arrays["counts"])[0])
        if event_count <= capacity or capacity == most:
            break
        capacity = min(event_count, most)
    kept = min(event_count, capacity)
    events = target.download(arrays["events"][0, :kept])
    row = target.download(arrays["rows"])[0].tolist()
    primitive = int(target.download(arrays["prim_id"])[0])
    return RayLog(
        kinds=events[:, 0].copy(),
        ids=events[:, 1].copy(),
        entries=target.download(arrays["entries"][0, :kept]).copy(),
        event_count=event_count,
        origin=(row[0], row[1], row[2]),
        direction=(row[3], row[4], row[5]),
        t_min=row[6],
        t_max=row[7] if row[7] < FLOAT_MAX else np.inf,
        primitive=primitive,
        t=float(target.download(arrays["t"])[0]) if primitive >= 0 else np.inf,
    )


def log_arrays(target: Target, rays: int, capacity: int) -> dict[str, Any]:
    """What `write_down_rays` writes for so many rays, by its names."""
    return {
        "prim_id": target.zeros(rays, np.int32, "ray log"),
        "t": target.zeros(rays, np.float32, "ray log"),
        "counts": target.zeros(rays, np.int32, "ray log"),
        "events": target.empty((rays, max(capacity, 1), 2), np.int32, "ray log"),
        "entries": target.empty((rays, max(capacity, 1)), np.float32, "ray log"),
        "rows": target.empty((rays, 8), np.float32, "ray log"),
    }
