"""The frame: animate once, then for every view update its structure, trace, shade and resolve. One thread owns an engine."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from .animate.animate import Animator, Surface
from .camera import Camera
from .frame_log import FrameLog, FrameRecord, ViewRecord
from .hierarchy import registry as structures
from .hierarchy.base import Hierarchy, HierarchyError, NodeTable, Primitives
from .scene import Moment, Remark, Scene
from .shade.film import Film, Resolver
from .shade.materials import Materials
from .shade.registry import ray_type
from .stats import FrameStatistics
from .target.base import Array, Target
from .trace.trace import VIEW_FRAME, CameraRays, Totals, Tracer, totals
from .update_policy import Decision, UpdateOptions, UpdatePolicy


class Pixels(Protocol):
    """Where a picture goes: `width`, `height`, and `map()`, which lends a (height, width, 4) uint8 array of the target for one frame."""

    width: int
    height: int

    def map(self) -> contextlib.AbstractContextManager[Array]: ...


@dataclasses.dataclass(frozen=True)
class ViewSettings:
    """What one view shows. Names are the command line's; `auto` is the builder's best. Options are frozen dataclasses or None for defaults."""

    hierarchy: str = "lbvh"
    optimiser: str = "none"
    layout: str = "auto"
    traversal: str = "auto"
    ray_type: str = "smooth"
    samples: int = 1
    seed: int = 0
    update: UpdateOptions = UpdateOptions()
    hierarchy_options: Any = None
    layout_options: Any = None
    ray_type_options: Any = None


@dataclasses.dataclass
class View:
    """A picture to draw each frame. `name` keeps its structure and film from frame to frame."""

    settings: ViewSettings
    camera: Camera
    pixels: Pixels
    name: str = "main"


@dataclasses.dataclass(frozen=True)
class Hit:
    """What lies under a pixel: the scene's primitive, the distance, the weights of vertices 1 and 2, the point, and the object it belongs to."""

    prim_id: int
    t: float
    u: float
    v: float
    position: tuple[float, float, float]
    object_id: int
    node: int
    mesh: int
    material: int


class Engine:
    """Draws a scene on a target. `render_frame` returns the statistics of the last finished frame; `flush` waits for the newest."""

    def __init__(self, target: Target, scene: Scene) -> None:
        self.target, self.scene = target, scene
        self._animator = Animator(target, scene)
        self._materials, self._resolver = Materials(target, scene), Resolver(target)
        self._slots: dict[str, _Slot] = {}
        self._log = FrameLog(target)
        self._number = 0

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What this version does not draw as the scene means it."""
        return self._animator.remarks

    # -- the frame ------------------------------------------------------------------------------------------------
    def render_frame(self, moment: Moment, views: Sequence[View]) -> FrameStatistics | None:
        """Draw all views at one moment. Never waits for the target; the statistics are those of the newest frame that has finished, None before.

        Raises the typed errors of target, structures, registries and options; the frame is then not drawn, the engine can be used on."""
        with self._frame(moment, views):
            surface = self._animate(moment)
            for slot in map(self._slot_for, views):
                slot.update(surface.primitives)
                slot.render(surface)
                slot.resolve()
        return self._log.collect()

    def flush(self) -> FrameStatistics:
        """Wait for the newest frame, bring the trees' statistics up to date, and return the frame's. Raises HierarchyError before the first frame."""
        for slot in self._slots.values():
            slot.measure_now()
        self.target.synchronize()
        newest = self._log.collect()
        if newest is None:
            raise HierarchyError("No frame has been drawn yet.")
        now = [self._slots[name].hierarchy.stats() for name in self._last_names]
        views = tuple(dataclasses.replace(view, structure=stats) for view, stats in zip(newest.views, now, strict=True))
        return dataclasses.replace(newest, views=views)

    def close(self) -> None:
        """Give the structures' memory back. The target stays the caller's."""
        for slot in self._slots.values():
            slot.hierarchy.close()
        self._slots.clear()

    # -- on request, outside the frame ----------------------------------------------------------------------------
    def pick(self, view: View, x: float, y: float) -> Hit | None:
        """What the view's last frame shows at pixel (x, y), fractions allowed; None for the background. Waits."""
        slot = self._drawn_slot(view)
        prim_id, t, u, v = slot.trace_pixel(x, y)
        if prim_id < 0:
            return None
        thing = self._animator.object_of(prim_id)
        placed = self.scene.objects[thing]
        corners = self._corners(prim_id)
        position = corners[0] * (1.0 - u - v) + corners[1] * u + corners[2] * v
        local = prim_id - self._animator.surface.primitives.objects[thing].first
        material = int(self.scene.meshes[placed.mesh].material_ids[local])
        return Hit(prim_id, t, u, v, tuple(position.tolist()), thing, placed.node, placed.mesh, material)

    def nodes(self, view: View) -> NodeTable:
        """The view's structure as a table. Waits."""
        return self._drawn_slot(view).hierarchy.nodes()

    def totals(self, view: View) -> Totals:
        """Hits and the sum of hit distances of the primary rays of the view's last frame, traced once more. Waits."""
        slot = self._drawn_slot(view)
        return totals(self.target, slot.tracer().trace(slot.film.rays))

    def not_finite_count(self) -> int:
        """Vertices that are not finite at the moment last drawn. Waits."""
        return self._animator.not_finite_count()

    # -- steps of the frame ---------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def _frame(self, moment: Moment, views: Sequence[View]) -> Iterator[None]:
        started = time.perf_counter()
        self._number += 1
        self.target.begin_frame(self._number)
        try:
            yield
            self._last_names = tuple(view.name for view in views)
            records = tuple(self._slots[name].record() for name in self._last_names)
        finally:
            self.target.phase_prefix = ""
            self.target.end_frame()
        host_ms = (time.perf_counter() - started) * 1000.0
        self._log.add(self._number, FrameRecord(moment.frame_id, moment.time, self.scene.triangle_count, host_ms, records))

    def _animate(self, moment: Moment) -> Surface:
        with self.target.phase("animate"):
            return self._animator.at(moment)

    def _slot_for(self, view: View) -> _Slot:
        slot = self._slots.get(view.name) or _Slot(view.name, self.target, self._materials, self._resolver)
        slot.take(view)
        self._slots[view.name] = slot
        self.target.phase_prefix = slot.prefix
        return slot

    def _drawn_slot(self, view: View) -> _Slot:
        slot = self._slots.get(view.name)
        if slot is None or slot.film.samples == 0:
            raise HierarchyError(f"The view {view.name!r} has not been drawn yet.")
        return slot

    def _corners(self, prim_id: int) -> np.ndarray:
        surface = self._animator.surface
        indices = self.target.download(surface.triangles[prim_id])
        return np.stack([self.target.download(surface.positions[int(index)]) for index in indices]).astype(np.float64)


class _Slot:
    """What a view keeps from frame to frame: structure, film, ray type, policy. Recreated in parts where the view's choice changes."""

    def __init__(self, name: str, target: Target, materials: Materials, resolver: Resolver) -> None:
        self.name, self.prefix = name, name + "/"
        self._target, self._materials = target, materials
        self.film = Film(target, resolver)
        self.hierarchy: Hierarchy
        self._structure_choice: Any = None
        self._ray_type_name = ""
        self._decision = Decision("nothing", "")

    def take(self, view: View) -> None:
        """Take up a view's settings; make the structure and the ray type it chooses where they are others than before."""
        settings = view.settings
        choice = (settings.hierarchy, settings.optimiser, settings.layout, settings.traversal, settings.hierarchy_options, settings.layout_options)
        if choice != self._structure_choice:
            made = make_structure(self._target, settings)
            if self._structure_choice is not None:
                self.hierarchy.close()
            self.hierarchy, self._structure_choice, self._policy = made, choice, UpdatePolicy()
        if settings.ray_type != self._ray_type_name:
            self._ray_type = ray_type(settings.ray_type)(self._target, self._materials)
            self._ray_type_name = settings.ray_type
        self._options = settings.ray_type_options or type(self._ray_type).Options()
        self._view = view

    def update(self, primitives: Primitives) -> None:
        """Nothing, refit or rebuild, as the policy says; the tree's quality now and then."""
        options = self._view.settings.update
        self._decision = self._policy.decide(self.hierarchy, primitives, options)
        self._policy.apply(self._decision, self.hierarchy, primitives)
        if self._policy.wants_measurement():
            with self._target.phase("measure"):
                self.hierarchy.measure()

    def render(self, surface: Surface) -> None:
        """One more sample into the film, unless it has its number."""
        view, settings = self._view, self._view.settings
        if settings.update.always:
            self.film.restart()
        key = (dataclasses.replace(settings, samples=1), surface.version)
        exposure = self._ray_type.exposure(self._options)
        if self.film.begin(view.camera, view.pixels.width, view.pixels.height, key, settings.samples, settings.seed, exposure):
            self._ray_type.prepare(self._options, surface)
            self._ray_type.render(self.tracer(), surface, self.film)

    def resolve(self) -> None:
        """The film into the view's pixels."""
        with self._view.pixels.map() as image, self._target.phase("resolve"):
            self.film.resolve(image)

    def tracer(self) -> Tracer:
        """Traces through the structure as it was last built."""
        return Tracer(self._target, self.hierarchy.traversal())

    def measure_now(self) -> None:
        """Measure the tree if it has changed since the last time; outside a frame."""
        if not self._policy.is_measured:
            self.hierarchy.measure()
            self._policy.mark_measured()

    def record(self) -> ViewRecord:
        """What the log keeps of this frame's view."""
        film, hierarchy = self.film, self.hierarchy
        counter = self._ray_type.shadow_ray_counter() if film.is_drawing else None
        return ViewRecord(
            prefix=self.prefix,
            hierarchy=hierarchy.name,
            layout=hierarchy.layout_name,
            ray_type=self._ray_type_name,
            update=self._decision.update,
            reason=self._decision.reason,
            primary_rays=film.rays.count if film.is_drawing else 0,
            width=film.width,
            height=film.height,
            samples=film.samples,
            structure=hierarchy.stats,
            secondary_rays=(lambda: None) if counter is None else self._target.read_later(counter),
        )

    def trace_pixel(self, x: float, y: float) -> tuple[int, float, float, float]:
        """prim_id, t, u, v of the ray through pixel (x, y): a picture of one pixel, through the unit that draws the view."""
        width, height = self.film.width, self.film.height
        rows = self._view.camera.frame(width, height).reshape(4, 4)
        origin_row = 0 if rows[0, 3] != 0.0 else 1
        rows[origin_row, :3] += rows[2, :3] * (x / width - 0.5) + rows[3, :3] * (y / height - 0.5)
        rows[2, :3] = rows[3, :3] = 0.0
        frame = np.zeros((), VIEW_FRAME)
        frame["camera"], frame["width"], frame["height"], frame["jitter"] = rows.reshape(16), 1, 1, 0.5
        on_target = self._target.upload(frame.reshape(1).view(np.uint8), "rays")
        hits = self.tracer().trace(CameraRays(on_target, 1, 1))
        prim_id, t, u, v = (self._target.download(array)[0] for array in (hits.prim_id, hits.t, hits.u, hits.v))
        return int(prim_id), float(t), float(u), float(v)


def make_structure(target: Target, settings: ViewSettings) -> Hierarchy:
    """The structure that the settings name. Raises the registry's error for an unknown name, HierarchyError for what it cannot do."""
    kind = structures.structure(settings.hierarchy)
    if settings.optimiser != "none":
        raise HierarchyError(f"There is no optimiser {settings.optimiser!r} yet; choose none.")
    return kind(target, settings.hierarchy_options or kind.Options(), settings.layout, settings.traversal)
