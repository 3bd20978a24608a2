"""The frame: animate once, then for every view update its structure, trace, shade and resolve. One thread owns an
engine."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Self, cast

import numpy as np

from .animate.animate import Animator
from .animate.hiding import HiddenObjects
from .attributes import SphereOptions
from .buffers import Buffers, read_buffers
from .camera import Vector
from .collisions import ANY, Between, colliding_pairs
from .contours import ContourOptions
from .frame_log import FrameLog, FrameRecord
from .glyphs.options import TileMarkOptions
from .gravity import GravityOptions
from .hierarchy.base import Capabilities, HierarchyError, NodeTable
from .inspector import Inspector
from .made_ready import make_ready
from .measuring_turns import in_turn, measure_by_turns
from .occlusion import visible_from
from .painters import Painters
from .picking import Hit, hit_of
from .region import Region, RegionContents
from .repeated_launches import RepeatedLaunches
from .scene import Light, Material, Moment, Remark, Scene
from .shade import srgb
from .shade.boxes import Boxes, Lines, depth_colors
from .shade.color_maps import color_map
from .shade.film import Resolver
from .shade.materials import Materials
from .stats import AttributeCounts, Collisions, FrameStatistics, RaySteps, Reading, Surroundings
from .surroundings import surroundings_of
from .target.base import Target
from .target.stopping import Stopped
from .trace.trace import Totals, totals
from .view import Pixels, View, ViewSettings, distinct
from .view_slot import ViewSlot

__all__ = ["Boxes", "Engine", "Hit", "Lines", "Pixels", "View", "ViewSettings", "color_map", "depth_colors"]

_FRAME_NUMBERS = itertools.count(1)
"""Frame numbers are global: a target may report frames of an engine that is closed by then."""


class Engine:
    """Draws a scene on a target. `render_frame` returns the statistics of the last finished frame; `flush` waits for
    the newest.

    Frames of one shape are captured and replayed, unless `repeats` is false. `samples_phases` leaves the phases of most
    replayed frames untimed, which costs the host less; statistics say so (`phases_age`). Not while a view's updates are
    chosen by measured times."""

    samples_phases = False
    tries_arrangements = False
    """Whether frames may be drawn by one arrangement of tiles after the other, to find the fastest where `auto` is to
    take that (gpu/glyphs/choosing.py). Pictures that are rendered go by a rule instead."""

    most_steps = 0
    """Steps of a simulation that a frame makes at most, 0: as many as its instant asks for. With fewer it shows an
    earlier instant, and its statistics say that it is behind."""

    def __init__(self, target: Target, scene: Scene, repeats: bool = True) -> None:
        self.target, self.scene = target, scene
        self._animator = Animator(target, scene)
        self._hidden = HiddenObjects(target, self._animator.surface)
        self._materials, self._resolver = Materials(target, scene), Resolver(target)
        self._slots: dict[str, ViewSlot] = {}
        self._painters = Painters(target)
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
        """Leave these objects, and no others, out of structure and picture from the next frame on. Does not wait."""
        if self._hidden.hide(objects):
            self._animator.hide_others(self._hidden.objects)
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

    def take_sphere_options(self, options: SphereOptions) -> None:
        """Colour, size and select spheres by their attributes from the next frame on. Pictures begin anew."""
        colors = srgb.decode(color_map(options.colors) / 255.0).astype(np.float32)
        before = self._animator.surface.version
        if self._animator.take_sphere_options(options, colors) and self._launches is not None:
            self._launches.clear()
        self._materials.version += before != self._animator.surface.version

    def take_gravity_options(self, options: GravityOptions) -> None:
        """Find the forces of simulations in another way from the next frame on. Pictures begin anew."""
        self._animator.take_gravity_options(options)

    def _warm_anew(self) -> None:
        for slot in self._slots.values():
            slot.cool()

    # -- the frame ------------------------------------------------------------------------------------------------
    def make_ready(self, moment: Moment, views: Sequence[View]) -> tuple[ViewSlot, ...]:
        """What `render_frame` begins with, and may wait for: what is new of these views. Whoever asks for it before the
        frame, whose pictures may have other sizes, knows how long that took. Raises what `render_frame` does."""
        slots = tuple(self._slot_for(view) for view in distinct(views))
        self._animator.simulations.most_steps = self.most_steps
        self._animator.catch_up()
        self._forget_scratch_of_others()
        make_ready(self._animator, slots, moment, self.tries_arrangements)
        return slots

    def render_frame(self, moment: Moment, views: Sequence[View]) -> FrameStatistics | None:
        """Draw all views at one moment; the statistics are those of the newest frame that has finished, None before.
        The frame never waits for the target; what is new is made ready before it. Raises the typed errors of target,
        structures, registries and options, and Stopped where the target was stopped (Target.stop): then the frame is
        not drawn, and the engine can be used on."""
        slots = self.make_ready(moment, views)
        with self._frame(moment, slots):
            surface = self._animator.surface
            instant = self._choose_samples(moment, slots)
            motion = self._animator.prepare(instant)
            for slot in self._each(slots):
                slot.prepare(surface)
            self._draw(motion, slots)
            for slot in self._each(slots):
                slot.finish(surface)
            measure_by_turns(self._each(in_turn(slots, self._number)))
        return self._log.collect()

    def flush(self) -> FrameStatistics:
        """Wait for the newest frame, measure the trees, return its statistics. HierarchyError before the first."""
        for slot in self._slots.values():
            slot.measure_now()
        self.target.synchronize()
        newest = self._log.collect()
        if newest is None:
            raise HierarchyError("No frame has been drawn yet.")
        shown = zip(newest.views, (slot.structure_statistics() for slot in self._last), strict=True)
        views = tuple(dataclasses.replace(view, structure=now) for view, now in shown)
        return dataclasses.replace(newest, views=views)

    def is_whole(self, views: Sequence[View]) -> bool:
        """Whether the last frame left no rows of a sample to come (View.most_rows): all pictures were written."""
        return all(self.drawn_slot(view).is_whole for view in views)

    @property
    def is_trying(self) -> bool:
        """Whether frames still find out which arrangement of tiles is the fastest (`tries_arrangements`)."""
        return any(slot.primary.needs_times for slot in self._last)

    def tell_of_every_frame(self, to: Callable[[FrameStatistics], None]) -> None:
        """Call `to` with the statistics of every frame that finishes, on this thread, in `render_frame` and `flush`."""
        self._log.on_finished = to

    def close(self) -> None:
        """Give the structures' memory back. The target stays the caller's."""
        if self._launches is not None:
            self._launches.clear()
        for slot in self._slots.values():
            slot.hierarchy.close()
        self._slots.clear()
        self._painters = Painters(self.target)
        self._last = ()
        self._animator.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    # -- on request, outside the frame ----------------------------------------------------------------------------
    def pick(self, view: View, x: float, y: float) -> Hit | None:
        """What the view's last frame shows at pixel (x, y), fractions allowed; None for the background. Waits."""
        prim_id, t, u, v = self.drawn_slot(view).trace_pixel(x, y)
        if prim_id < 0:
            return None
        return hit_of(self.target, self.scene, self._animator, (prim_id, t, u, v))

    def near(self, view: View, hit: Hit, count: int) -> Surroundings:
        """The `count` primitives nearest to a hit. Waits. HierarchyError where the structure answers no such query."""
        slot = self.drawn_slot(view)
        slot.bring_up_to_date()
        return surroundings_of(self.target, slot.hierarchy, self._animator.surface, hit, count)

    def inspector(self, view: View) -> Inspector:
        """What the view's last picture is looked into by: a ray of it, nodes one by one."""
        slot = self.drawn_slot(view)
        slot.inspector = slot.inspector or Inspector(slot)
        return cast(Inspector, slot.inspector)

    def steps(self, view: View, x: float, y: float) -> RaySteps:
        """What the ray through pixel (x, y) of the view's last frame visits and is tested against. Waits."""
        return self.drawn_slot(view).count_steps(x, y)

    def reading(self, view: View, x: float, y: float) -> Reading | None:
        """What the colour at pixel (x, y) of the view's last frame stands for; None for ray types whose colours are
        just colours. Waits."""
        return self.drawn_slot(view).read(self._animator.surface, x, y)

    def capabilities(self, view: View) -> Capabilities:
        """What the view's structure can do."""
        return self.drawn_slot(view).hierarchy.capabilities

    def nodes(self, view: View) -> NodeTable:
        """The view's structure as a table. Waits."""
        slot = self.drawn_slot(view)
        slot.bring_up_to_date()
        return slot.hierarchy.nodes()

    def visible_nodes(self, view: View, table: NodeTable, eye: Vector, cell: int = -1) -> np.ndarray:
        """Which rows of `nodes` are seen from `eye` or a row's cell, of what the clipping plane leaves. Waits."""
        slot = self.drawn_slot(view)
        return visible_from(slot.tracer(), table, eye, cell, slot.clip)

    def paint_boxes(self, view: View, boxes: Boxes | Lines) -> None:
        """Draw boxes, or lines, over the picture of the view's last frame. Outside the frame; does not wait."""
        self._painters.paint_boxes(view, self.drawn_slot(view), boxes)

    def paint_outline(self, view: View, object_id: int) -> None:
        """Mark what the view's last frame shows of an object, in its pixels. Outside the frame; does not wait."""
        slot, surface = self.drawn_slot(view), self._animator.surface
        if 0 <= object_id < len(surface.objects) and not self._hidden.is_hidden(object_id):
            self._painters.paint_outline(view, slot, surface, object_id)

    def paint_region(self, view: View, region: Region) -> RegionContents:
        """Count what lies in `region` in the view's last frame, and mark what is seen of it. Waits where it changed."""
        count, surface = self.scene.primitive_count, self._animator.surface
        return self._painters.paint_region(view, self.drawn_slot(view), surface, count, region)

    def paint_contours(self, view: View, options: ContourOptions) -> None:
        """Draw silhouettes and halos over the picture of the view's last frame. Outside the frame; does not wait."""
        self._painters.paint_contours(view, self.drawn_slot(view), self._animator.surface, options)

    def paint_tiles(self, view: View, options: TileMarkOptions, only: int = -1) -> None:
        """Draw the grid of tiles and boxes of spheres (gpu/tile_marks.py). Waits where these changed."""
        self._painters.paint_tiles(view, self.drawn_slot(view), self._animator.surface, options, only)

    def paint_collisions(self, view: View, between: Between = ANY, opacity: float = 0.7) -> Collisions:
        """Mark the primitives that touch one of another object, of two objects or of all, in the pixels of the view's
        last frame, and say how many pairs there are. Waits where anything is another than before; HierarchyError where
        the structure or the primitives have no such query."""
        count, surface = self.scene.primitive_count, self._animator.surface
        return self._painters.paint_collisions(view, self.drawn_slot(view), surface, count, between, opacity)

    def colliding_pairs(self, view: View, between: Between = ANY) -> np.ndarray:
        """The pairs that `paint_collisions` marks, (M, 2) int32 numbers of primitives on the host. Waits."""
        slot = self.drawn_slot(view)
        slot.bring_up_to_date()
        return colliding_pairs(self.target, slot.hierarchy, self._animator.surface, between)

    def totals(self, view: View) -> Totals:
        """Hits and the sum of hit distances of the primary rays of the view's first sample, through what the last frame
        left: the same numbers however many samples there are by now. Waits."""
        slot = self.drawn_slot(view)
        return totals(self.target, slot.tracer().trace(slot.film.first_rays()))

    def buffers(self, view: View, shaded: bool = True) -> Buffers:
        """Depth, ids, steps and, `shaded`, normals of the view's last frame, on the host (gpu/buffers.py). Waits."""
        slot = self.drawn_slot(view)
        seen = (slot.view.camera, slot.film.width, slot.film.height, slot.clip)
        return read_buffers(self.target, slot.tracer(), self._animator.surface, *seen, shaded)

    def linear(self, view: View) -> np.ndarray:
        """(height, width, 3) float64: the mean of the film's samples, before exposure and tone. Waits."""
        return self.drawn_slot(view).film.linear()

    def noise(self, view: View) -> float | None:
        """How much noise the view's film has (gpu/shade/noise.py); None where that is not known. Waits."""
        return self.drawn_slot(view).noise()

    def spheres(self, moment: Moment) -> np.ndarray:
        """(S, 4) float32 on the host: centre and radius of each sphere of the scene at a moment, the radius below 0
        where there is none. Animates and draws nothing. Waits."""
        self.render_frame(moment, ())
        surface = self._animator.surface.spheres
        return np.zeros((0, 4), np.float32) if surface is None else surface.read(self.target)

    def attribute_colours(self) -> np.ndarray | None:
        """(S, 3) float32 on the host: linear colours that stand for an attribute in the last frame, negative where a
        sphere has none; None where no attribute colours spheres. Waits."""
        surface = self._animator.surface.spheres
        if surface is None or surface.colours is None or not surface.are_colored:
            return None
        return self.target.download(surface.colours).reshape(surface.count, 3)

    def not_finite_count(self) -> int:
        """Vertices that are not finite at the moment last drawn. Waits."""
        return self._animator.not_finite_count()

    def attribute_counts(self) -> AttributeCounts | None:
        """How many spheres had how much of the attribute that is used in the last frame; None: none is. Waits."""
        return None if (attributes := self._animator.attributes) is None else attributes.counts()

    def _forget_scratch_of_others(self) -> None:
        """Where a view has another structure or ray type than before, what the former one worked in is given back, and
        its captured launches with it: none of them is ever repeated."""
        parts = {name: slot.parts for name, slot in self._slots.items()}
        if any(parts[name] != before for name, before in self._parts.items()):
            if self._launches is not None:
                self._launches.clear()
            self.target.forget_scratch()
        self._parts = parts

    # -- steps of the frame ---------------------------------------------------------------------------------------
    @contextlib.contextmanager
    def _frame(self, moment: Moment, slots: tuple[ViewSlot, ...]) -> Iterator[None]:
        started, self._number = time.perf_counter(), next(_FRAME_NUMBERS)
        self.target.samples_phases = self.samples_phases and not any(slot.needs_phases for slot in slots)
        self.target.begin_frame(self._number)
        try:
            yield
            records = tuple(slot.record() for slot in slots)
        except BaseException as error:
            if not isinstance(error, Stopped):  # that ends builds and rays alone, behind all that moves
                self._animator.forget()
            for slot in slots:
                slot.give_up(error)
            raise
        finally:
            self.target.phase_prefix = ""
            self.target.end_frame()
        self._last = slots
        host_ms = (time.perf_counter() - started) * 1000.0
        counts = (self.scene.primitive_count, host_ms, records, self._hidden.primitive_count)
        streaming, reader = self._animator.streaming(), self._animator.simulations.reader()
        record = FrameRecord(moment.frame_id, moment.time, *counts, key_frames=streaming, simulation=reader)
        self._log.add(self._number, record)

    def _choose_samples(self, moment: Moment, slots: tuple[ViewSlot, ...]) -> Moment:
        """Let every view decide what it draws; the instant that all of them show is the first one's."""
        instant, surface = moment, self._animator.surface
        for index, slot in enumerate(slots):
            chosen = slot.next_sample(moment, surface, self._animator.version_at(instant))
            instant = instant if index else chosen
        return instant

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
        is_repeatable = self._animator.surface.primitives.count > 0 and all(slot.is_repeatable for slot in slots)
        if self._launches is None or not is_repeatable:
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

    def drawn_slot(self, view: View) -> ViewSlot:
        """What is kept of a view that was drawn. HierarchyError before its first frame, or with half a tree."""
        slot = self._slots.get(view.name)
        if slot is None or not slot.film.is_begun:
            raise HierarchyError(f"The view {view.name!r} has not been drawn yet.")
        if slot.is_torn:
            raise HierarchyError(f"The tree of {view.name!r} was stopped while it was built. Draw it once more to ask.")
        return slot
