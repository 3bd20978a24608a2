"""Where the rays of a view's pictures spend their steps, counted on the target, picture after picture.

What counting needs is made once and kept: memory, kernels, the launches of a picture as a graph. A picture's counts
stay on the target until somebody reads them, and so does its tree: the table of nodes is read once for each tree.
"""

from __future__ import annotations

from collections.abc import Hashable

from ..engine import Engine
from ..errors import Error
from ..hierarchy.base import Hierarchy, NodeTable, Traversal
from ..hierarchy.traversed_nodes import event_space
from ..repeated_launches import RepeatedLaunches
from ..target.base import Array
from ..trace.trace import BufferRays, CameraRays, HitBuffer, Tracer
from ..view import View
from ..view_slot import ViewSlot
from .frame_rays import ALL, SHADOW, CastRays, ListeningTracer, PictureRays
from .hot_words import GIVEN
from .node_counts import Counts, NodeCounter


class WantedRays:
    """Which rays are asked for, all or those of a `name`, of closest hits, of any or of both; and which were cast."""

    def __init__(self, name: str, kind: str) -> None:
        if kind not in ("closest", "any", "both"):
            raise Error(f"rays ask for closest hits or any, or both kinds are wanted; not {kind!r}", "hot spots",
                        "choose closest, any or both")  # fmt: skip
        self.name, self.kind = name, kind
        self.cast: list[str] = []

    def take(self, name: str, kind: str) -> bool:
        """Whether these are meant."""
        if name not in self.cast:
            self.cast.append(name)
        return self.name in (ALL, name) and self.kind in ("both", kind)

    def check(self, heard: int) -> None:
        """Error where none were."""
        if not heard:
            cast = ", ".join(self.cast) or "none"
            what = f"no rays are called {self.name!r} with {self.kind} hits; this picture casts {cast}"
            raise Error(what, "hot spots", "choose one of them, or all")


class CountingTracer(ListeningTracer):
    """Counts what the wanted rays do. Where rays behind them are those of the picture bit by bit, they are traced and
    counted at once, else twice: any hit that a pack's lane finds alone may be another one than the pack's."""

    def __init__(
        self,
        slot: ViewSlot,
        traversal: Traversal,
        gather: str | None,
        last: int,
        wanted: WantedRays,
        counter: NodeCounter,
    ) -> None:
        super().__init__(slot.target, traversal, gather, lambda tracer, cast: None, last)
        self._wanted, self._counter = wanted, counter

    def take(self, cast: CastRays, kind: str, scratch: str) -> HitBuffer | None:
        if not self._wanted.take(cast.name, cast.kind):
            return None
        self.heard = self.casts
        is_same = self.lanes == 1 or (self.traversal.lanes_go_alone and kind == "closest")
        is_at_once = is_same and kind == cast.kind and not self.is_last
        hits = self._hit_buffer(cast.source, kind, scratch) if is_at_once else None
        self._counter.count(self, cast.source, cast.kind, hits)
        return hits

    def take_shadows(self, rays: CameraRays, hits: HitBuffer, geometry: dict[str, Array], light_count: int) -> None:
        is_wanted = self._wanted.take(SHADOW, "any")
        if is_wanted and (light_count or not self.heard):  # without lights there are none that others wait for
            self.heard = self.casts
            self._counter.count_shadows(self, rays, hits, **geometry, light_count=light_count)


class FrameCounter:
    """See the module. `rays`: all, primary, shadow, occlusion, bounce 1, bounce 2 ...; `kind`: closest, any or both;
    `through` another structure than the view's, where one is given, which stays as it is. Whoever makes one keeps it
    as long as he looks at the view's pictures. Not in a frame."""

    def __init__(
        self, engine: Engine, view: View, rays: str = ALL, kind: str = "both", through: Hierarchy | None = None
    ) -> None:
        self.rays, self.kind = rays, kind
        self._engine, self._view, self._through = engine, view, through
        self._wanted = WantedRays(rays, kind)
        self._slot: ViewSlot | None = None
        self._counter: NodeCounter | None = None
        self._heard: dict[Hashable, int] = {}  # by what is launched, the last cast that was counted
        self._table: tuple[Hashable, NodeTable] | None = None
        self._stamp: Hashable = None  # of the tree that was counted
        self.counted = rays, kind
        """Which rays were counted last, and what they asked for."""

    @property
    def hierarchy(self) -> Hierarchy:
        """The structure that is counted in."""
        return self._through or self._engine.drawn_slot(self._view).hierarchy

    def count(self, given: BufferRays | None = None) -> None:
        """Count the first sample of the picture that the view shows. Launches only, from the third of a shape on as one
        graph; the first times compile. Error where the picture has no such rays. Of `given` rays in the picture's place
        closest hits are looked for, unless any are."""
        slot = self._engine.drawn_slot(self._view)
        slot.bring_up_to_date()
        hierarchy, count = self.hierarchy, self._engine.scene.primitive_count
        space = event_space(hierarchy)
        counter = self._counter if slot is self._slot else None
        if counter is None or (space, max(1, count)) != (counter.space, counter.primitive_count):
            self._slot, self._picture = slot, PictureRays(slot)
            self._counter = counter = NodeCounter(slot.target, space, count)
            self._launches = RepeatedLaunches(slot.target)
            self._heard.clear()
        self._stamp = None  # until it is counted
        if given is None:
            self.counted = self.rays, self.kind
            self._count_picture(slot, counter, hierarchy.traversal())
            self._stamp = self._stamp_of(slot)
            return
        self.counted = GIVEN, "any" if self.kind == "any" else "closest"
        counter.clear()
        counter.count(Tracer(slot.target, hierarchy.traversal()), given, self.counted[1])
        self._stamp = self._stamp_of(slot)

    def _count_picture(self, slot: ViewSlot, counter: NodeCounter, traversal: Traversal) -> None:
        picture, wanted = self._picture, self._wanted
        views = (traversal.key, traversal.tree.view.tobytes(), traversal.records.view.tobytes())
        heard: list[CountingTracer] = []

        def tracer_of(gather: str | None, last: int) -> CountingTracer:
            heard.append(CountingTracer(slot, traversal, gather, last, wanted, counter))
            return heard[-1]

        def launch() -> None:
            wanted.cast.clear()
            with slot.target.phase("hot spots.clear"):
                counter.clear()
            picture.cast(tracer_of)

        picture.prepare()
        shape = picture.shape
        self._launches.run((shape, views), launch)
        if heard:  # it was launched, and not replayed
            self._heard[shape] = heard[-1].heard
        wanted.check(self._heard[shape])

    def read(self) -> tuple[NodeTable, Counts]:
        """The tree that was counted last, and the counts. Waits. Error where there is another tree by now."""
        self.check_tree()
        if self._table is None or self._table[0] != self._stamp:
            self._table = self._stamp, self.hierarchy.nodes()
        table = self._table[1]
        return table, self.counted_by.read(table)

    @property
    def counted_by(self) -> NodeCounter:
        """What holds the counts, once anything was counted."""
        assert self._counter is not None, "count() comes first"
        return self._counter

    def check_tree(self) -> None:
        """Error where there is another tree than the one that was counted, or nothing was."""
        if self._counter is None or self._stamp != self._stamp_of(self._engine.drawn_slot(self._view)):
            raise Error("the tree is another than the one that was counted", "hot spots", "count once more")

    def _stamp_of(self, slot: ViewSlot) -> Hashable:
        return slot.parts, slot.tree.number, self._through
