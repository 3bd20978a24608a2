"""The frame: animate once, then for every view update its structure, trace, shade and resolve. One thread owns an engine."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

import numpy as np

from .animate.animate import Animator
from .animate.hiding import HiddenObjects
from .buffers import Buffers, read_buffers
from .frame_log import FrameLog, FrameRecord
from .hierarchy.base import HierarchyError, NodeTable
from .repeated_launches import RepeatedLaunches
from .scene import Light, Material, Moment, Remark, Scene
from .shade.boxes import Boxes, BoxPainter, depth_colors
from .shade.film import Resolver
from .shade.materials import Materials
from .shade.outline import OutlinePainter
from .stats import FrameStatistics, RaySteps, Reading
from .target.base import Target
from .trace.trace import Totals, pixel_order, totals
from .view import Pixels, View, ViewSettings
from .view_slot import ViewSlot

__all__ = ["Boxes", "Engine", "Hit", "Pixels", "View", "ViewSettings", "depth_colors"]


_FRAME_NUMBERS = itertools.count(1)
"""One row for all engines: a target may finish frames of an engine that was closed when the next one already waits for its own."""


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
    """Draws a scene on a target. `render_frame` returns the statistics of the last finished frame; `flush` waits for the newest.

    Frames of one shape are captured and replayed, unless `repeats` is false. `samples_phases` leaves the phases of most replayed frames untimed,
    which costs the host less; statistics say so (`phases_age`). Not while a view's updates are chosen by measured times."""

    samples_phases = False

    def __init__(self, target: Target, scene: Scene, repeats: bool = True) -> None:
        self.target, self.scene = target, scene
        self._animator = Animator(target, scene)
        self._hidden = HiddenObjects(target, self._animator.surface)
        self._outline = OutlinePainter(target)
        self._materials, self._resolver = Materials(target, scene), Resolver(target)
        self._slots: dict[str, ViewSlot] = {}
        self._boxes: dict[str, BoxPainter] = {}
        self._launches = RepeatedLaunches(target) if repeats else None
        self._log = FrameLog(target)
        self._number = 0
        self._last: tuple[ViewSlot, ...] = ()
        self._parts: dict[str, Hashable] = {}

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What this version does not draw as the scene means it."""
        return self._animator.remarks

    def hide(self, objects: Iterable[int]) -> None:
        """Leave these objects out of the structure and the picture from the next frame on, and no others. Does not wait."""
        if self._hidden.hide(objects):
            self._materials.hide(self._hidden.objects)

    def take_materials(self, materials: tuple[Material, ...]) -> None:
        """Shade by other materials from the next frame on, as many as the scene has. Pictures begin anew."""
        if (materials or (Material(),)) != self._materials.materials:
            self._materials.change(materials)
            self._warm_anew()

    def take_lights(self, lights: tuple[Light, ...]) -> None:
        """Light by other lights from the next frame on, however many. Pictures begin anew."""
        if lights != self._animator.lights:
            self._animator.take_lights(lights)
            self._warm_anew()

    def _warm_anew(self) -> None:
        for slot in self._slots.values():
            slot.cool()

    # -- the frame ------------------------------------------------------------------------------------------------
    def render_frame(self, moment: Moment, views: Sequence[View]) -> FrameStatistics | None:
        """Draw all views at one moment; the statistics are those of the newest frame that has finished, None before. The frame never waits for the
        target. Before it, what is new is made ready, and that may wait: kernels compile, and structures learn how much room they need.

        Raises the typed errors of target, structures, registries and options; the frame is then not drawn, the engine can be used on."""
        slots = tuple(self._slot_for(view) for view in views)
        self._forget_scratch_of_others()
        if not self._animator.is_placed or any(slot.lacks_room(self._animator.surface) for slot in slots):
            self._animator.place(moment)
        for slot in slots:
            slot.warm(self._animator.surface)
        with self._frame(moment, slots):
            surface = self._animator.surface
            instants = [slot.instant(moment, surface) for slot in slots]
            motion = self._animator.prepare(instants[0] if instants else moment)
            for slot in self._each(slots):
                slot.prepare(surface)
            self._draw(motion, slots)
            for slot in self._each(slots):
                slot.finish(surface)
        return self._log.collect()

    def flush(self) -> FrameStatistics:
        """Wait for the newest frame, bring the trees' statistics up to date, and return the frame's. Raises HierarchyError before the first frame."""
        for slot in self._slots.values():
            slot.measure_now()
        self.target.synchronize()
        newest = self._log.collect()
        if newest is None:
            raise HierarchyError("No frame has been drawn yet.")
        now = (slot.structure_statistics() for slot in self._last)
        views = tuple(dataclasses.replace(view, structure=structure) for view, structure in zip(newest.views, now, strict=True))
        return dataclasses.replace(newest, views=views)

    def tell_of_every_frame(self, to: Callable[[FrameStatistics], None]) -> None:
        """Call `to` with the statistics of every frame that finishes, on this thread, within `render_frame` and `flush`: those give the newest."""
        self._log.on_finished = to

    def close(self) -> None:
        """Give the structures' memory back. The target stays the caller's."""
        if self._launches is not None:
            self._launches.clear()
        for slot in self._slots.values():
            slot.hierarchy.close()
        self._slots.clear()
        self._boxes.clear()
        self._last = ()
        self._animator.close()

    # -- on request, outside the frame ----------------------------------------------------------------------------
    def pick(self, view: View, x: float, y: float) -> Hit | None:
        """What the view's last frame shows at pixel (x, y), fractions allowed; None for the background. Waits."""
        prim_id, t, u, v = self._drawn_slot(view).trace_pixel(x, y)
        if prim_id < 0:
            return None
        thing = self._animator.object_of(prim_id)
        placed = self.scene.objects[thing]
        corners = self._corners(prim_id)
        position = corners[0] * (1.0 - u - v) + corners[1] * u + corners[2] * v
        local = prim_id - self._animator.surface.objects[thing].first
        material = int(self.scene.meshes[placed.mesh].material_ids[local])
        return Hit(prim_id, t, u, v, tuple(position.tolist()), thing, placed.node, placed.mesh, material)

    def steps(self, view: View, x: float, y: float) -> RaySteps:
        """Nodes visited, primitives and boxes tested by the ray through pixel (x, y) of the view's last frame. Waits."""
        return self._drawn_slot(view).count_steps(x, y)

    def reading(self, view: View, x: float, y: float) -> Reading | None:
        """What the colour at pixel (x, y) of the view's last frame stands for; None for ray types whose colours are just colours. Waits."""
        return self._drawn_slot(view).read(self._animator.surface, x, y)

    def nodes(self, view: View) -> NodeTable:
        """The view's structure as a table. Waits."""
        return self._drawn_slot(view).hierarchy.nodes()

    def paint_boxes(self, view: View, boxes: Boxes) -> None:
        """Draw boxes over the picture that the view's last frame made, in its pixels. Outside the frame and its statistics; does not wait."""
        slot = self._drawn_slot(view)
        painter = self._boxes.setdefault(view.name, BoxPainter(self.target))
        with view.pixels.map() as image:
            painter.paint(image, slot.film, boxes)

    def paint_outline(self, view: View, object_id: int) -> None:
        """Mark what the view's last frame shows of an object, in its pixels. Outside the frame and its statistics; does not wait."""
        slot, ranges = self._drawn_slot(view), self._animator.surface.objects
        if not 0 <= object_id < len(ranges) or self._hidden.is_hidden(object_id):
            return
        with view.pixels.map() as image:
            size = (slot.film.width, slot.film.height)
            version = self._animator.surface.version
            self._outline.paint(image, slot.tracer(), slot.view.camera, size, slot.clip, ranges[object_id], version)

    def totals(self, view: View) -> Totals:
        """Hits and the sum of hit distances of the primary rays of the first sample of what the view shows, traced through what the last frame
        left: the same numbers however many samples there are by now, and however often nothing new was drawn. Waits."""
        slot = self._drawn_slot(view)
        return totals(self.target, slot.tracer().trace(slot.film.first_rays()))

    def buffers(self, view: View) -> Buffers:
        """Depth, normals, ids and steps of what the view's last frame shows, as arrays on the host (gpu/buffers.py). Waits."""
        slot = self._drawn_slot(view)
        return read_buffers(self.target, slot.tracer(), self._animator.surface, slot.view.camera, slot.film.width, slot.film.height, slot.clip)

    def linear(self, view: View) -> np.ndarray:
        """(height, width, 3) float64: the mean of the samples that the view's film holds, before exposure and tone. Waits."""
        film = self._drawn_slot(view).film
        x, y = pixel_order(film.width, film.height)
        inside = (x < film.width) & (y < film.height)
        sums = self.target.download(film.sums).reshape(3, -1).astype(np.float64)
        image = np.zeros((film.height, film.width, 3))
        image[y[inside], x[inside]] = sums[:, inside].T / film.samples
        return image

    def not_finite_count(self) -> int:
        """Vertices that are not finite at the moment last drawn. Waits."""
        return self._animator.not_finite_count()

    def _forget_scratch_of_others(self) -> None:
        """Where a view has another structure or ray type than before, what the former one worked in is given back, and its captured launches with
        it: none of them is ever repeated."""
        parts = {name: slot.parts for name, slot in self._slots.items()}
        if any(parts[name] != before for name, before in self._parts.items()):
            if self._launches is not None:
                self._launches.clear()
            self.target.forget_scratch()
        self._parts = parts

    # -- steps of the frame ---------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def _frame(self, moment: Moment, slots: tuple[ViewSlot, ...]) -> Iterator[None]:
        started = time.perf_counter()
        self._number = next(_FRAME_NUMBERS)
        self.target.samples_phases = self.samples_phases and not any(slot.needs_phases for slot in slots)
        self.target.begin_frame(self._number)
        try:
            yield
            records = tuple(slot.record() for slot in slots)
        except BaseException:
            self._animator.forget()
            for slot in slots:
                slot.film.restart()
            raise
        finally:
            self.target.phase_prefix = ""
            self.target.end_frame()
        self._last = slots
        host_ms = (time.perf_counter() - started) * 1000.0
        counts = (self.scene.triangle_count, host_ms, records, self._hidden.triangle_count)
        self._log.add(self._number, FrameRecord(moment.frame_id, moment.time, *counts, key_frames=self._animator.streaming()))

    def _each(self, slots: tuple[ViewSlot, ...]) -> Iterator[ViewSlot]:
        """The slots in turn, their phases under their own prefix."""
        for slot in slots:
            self.target.phase_prefix = slot.prefix
            yield slot
        self.target.phase_prefix = ""

    def _draw(self, motion: tuple[Callable[[], None], ...], slots: tuple[ViewSlot, ...]) -> None:
        """Everything that a frame launches before its pixels are known."""

        def body() -> None:
            with self.target.phase("animate"):
                for launch in motion:
                    launch()
            for slot in self._each(slots):
                slot.draw(self._animator.surface)

        if not motion and not any(slot.has_work for slot in slots):
            return
        if self._launches is None or self._animator.surface.primitives.count == 0:
            body()
        else:
            self._launches.run((motion, tuple(slot.shape for slot in slots)), body)

    def _slot_for(self, view: View) -> ViewSlot:
        slot = self._slots.get(view.name)
        if slot is None:
            slot = self._slots[view.name] = ViewSlot(view, self.target, self._materials, self._resolver, self.scene)
        else:
            slot.take(view)
        return slot

    def _drawn_slot(self, view: View) -> ViewSlot:
        slot = self._slots.get(view.name)
        if slot is None or slot.film.samples == 0:
            raise HierarchyError(f"The view {view.name!r} has not been drawn yet.")
        return slot

    def _corners(self, prim_id: int) -> np.ndarray:
        surface = self._animator.surface
        indices = self.target.download(surface.triangles[prim_id])
        return np.stack([self.target.download(surface.positions[int(index)]) for index in indices]).astype(np.float64)
