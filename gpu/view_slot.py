"""What a view keeps from frame to frame: structure, film, ray type, policy; and its part of a frame.

A frame's part has three acts: `prepare` decides and writes what kernels read, `draw` only launches, so that frames of one `shape` can be captured
and repeated, and `finish` measures now and then and resolves the film into the view's pixels, which may be others every frame.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from .animate.animate import Surface
from .clip import HalfSpace, half_space
from .frame_log import ViewRecord
from .hierarchy import registry as structures
from .hierarchy.base import Hierarchy
from .scene import Moment, Scene
from .shade.base import RayType
from .shade.film import Film, Resolver
from .shade.materials import Materials
from .shade.registry import ray_type
from .stats import HierarchyStatistics, RaySteps, Reading
from .target.base import Target
from .trace.trace import VIEW_FRAME, CameraRays, Tracer, see_through
from .update_policy import Decision, UpdatePolicy
from .view import View, ViewSettings


class MadeTree(NamedTuple):
    """A tree by the number of updates that made it, the instant of the animation it was made for, and the update mode then."""

    number: int
    time: float
    mode: str


class ViewSlot:
    """See the module. Its parts are made anew where the view's choice changes; raises what making them raises, and then keeps none of it."""

    def __init__(self, view: View, target: Target, materials: Materials, resolver: Resolver, scene: Scene) -> None:
        self.prefix, self._scene = view.name + "/", scene
        self._target, self._materials = target, materials
        self.film = Film(target, resolver)
        self.hierarchy: Hierarchy
        self.ray_type: RayType
        self.policy: UpdatePolicy
        self._generation = self._light_count = 0
        self._topology: tuple[Any, ...] = ()
        self._shutter = 0.0
        self._moment: tuple[float, int, float] = (0.0, 0, 0.0)
        self._is_cold = True
        self._structure_choice: Any = None
        self._ray_type_name = ""
        self._measured = HierarchyStatistics()
        self._tree = MadeTree(0, 0.0, "")
        self.decision = Decision("nothing", "")
        self.take(view)

    def take(self, view: View) -> None:
        """Take up a view's settings; make the structure and the ray type it chooses where they are others than before."""
        settings = view.settings
        names = (settings.hierarchy, settings.optimiser, settings.layout, settings.traversal, settings.triangle_test)
        choice = (*names, settings.hierarchy_options, settings.optimiser_options, settings.layout_options)
        integrator: RayType | None = None
        if settings.ray_type != self._ray_type_name:
            integrator = ray_type(settings.ray_type)(self._target, self._materials)
            integrator.diagonal = float(np.linalg.norm(np.subtract(self._scene.upper, self._scene.lower))) or 1.0
        layout = self._layout(settings)
        if choice != self._structure_choice:
            made = make_structure(self._target, dataclasses.replace(settings, layout=layout))
            if self._structure_choice is not None:
                self.hierarchy.close()
            self.hierarchy, self._structure_choice, self.policy = made, choice, UpdatePolicy()
            self._measured = HierarchyStatistics()
            self._generation += 1
            self._is_cold = True
        elif layout not in ("auto", self.hierarchy.layout_name):
            self.hierarchy.lay_out(layout)
            self.policy.forget_costs()
            self._is_cold = True
        if integrator is not None:
            self.ray_type, self._ray_type_name = integrator, settings.ray_type
            self._generation += 1
            self._is_cold = True
        self._take_statistics(settings)
        self._options = settings.ray_type_options or type(self.ray_type).Options()
        self.view = view

    def _layout(self, settings: ViewSettings) -> str:
        """What `auto` is for the rays of the ray type; what was chosen else. Who chooses a traversal has the default layout, whatever the rays."""
        if settings.layout != "auto" or settings.traversal != "auto":
            return settings.layout
        apart = self._target.lane_count if ray_type(settings.ray_type).rays_part else 0
        return structures.structure(settings.hierarchy).default_layout(self._target.kind, apart)

    def _take_statistics(self, settings: ViewSettings) -> None:
        """How trees are judged from now on; the tree there is, too."""
        if settings.statistics != self.hierarchy.statistics:
            self.hierarchy.statistics = settings.statistics
            self.policy.mark_unmeasured()

    def lacks_room(self, surface: Surface) -> bool:
        """Whether the structure has to learn how much room trees of these primitives need."""
        return self.hierarchy.lacks_room(surface.primitives)

    def warm(self, surface: Surface) -> None:
        """Before the first frame with these parts: compile all they launch. A structure tells its traversal only once it is built, so a new one is
        built on the surface as it is, and forgotten. Before every frame: see to it that the structure has room."""
        if self.lacks_room(surface):
            self.hierarchy.make_room(surface.primitives)
            self.film.restart()
        if not self._is_cold:
            return
        if self.policy.is_new:
            self.hierarchy.build(surface.primitives)
            if self.view.settings.update.mode != "rebuild" and self.hierarchy.capabilities.refit:
                self.hierarchy.refit(surface.primitives)
            self.hierarchy.measure()
        self.ray_type.compile(self.tracer(), surface, self.film)
        self._is_cold = False

    def cool(self) -> None:
        """Other kernels may be needed: the next `warm` compiles what is missing."""
        self._is_cold = True

    # -- the frame ------------------------------------------------------------------------------------------------
    def instant(self, moment: Moment, surface: Surface) -> Moment:
        """The moment that the next sample is to show: one while the shutter is open, evenly spread over the samples by van der Corput's sequence.
        A film that has all its samples stays at the last one."""
        self._shutter = self.ray_type.shutter(self._options)
        self._moment = (moment.time, moment.clip, self._shutter)
        if self._shutter <= 0.0:
            return moment
        view, film = self.view, self.film
        shown = film.shows(view.camera, view.pixels.width, view.pixels.height, self._film_key(surface), view.settings.seed, self.clip)
        number = min(film.samples, max(view.settings.samples, 1) - 1) if shown and not view.settings.update.always else 0
        inverse = int(f"{number:024b}"[::-1], 2) / (1 << 24)
        return dataclasses.replace(moment, time=moment.time + self._shutter * inverse)

    def _film_key(self, surface: Surface) -> Hashable:
        """What a film's samples have in common. With an open shutter they show different instants of one moment. Whether the structure is updated
        even where nothing moved is no part of it: a sample drawn with that is the first of those that follow without."""
        seen = surface.version if self._shutter <= 0.0 else (self._moment, surface.primitives.topology_version)
        settings = self.view.settings
        settings = dataclasses.replace(settings, samples=1, update=dataclasses.replace(settings.update, always=False))
        return (settings, seen, self._materials.version, self._light_count)

    def prepare(self, surface: Surface) -> None:
        """Decide between nothing, refit and rebuild, take the film to its next sample, and write what kernels read of this frame."""
        view, settings = self.view, self.view.settings
        self._light_count, self._topology = surface.light_count, surface.primitives.topology
        self.decision = self.policy.decide(self.hierarchy, surface.primitives, settings.update)
        if self.decision.update != "nothing":
            self.hierarchy.prepare(surface.primitives, self.decision.update)
            self._tree = MadeTree(self._tree.number + 1, self._moment[0], settings.update.mode)
        if settings.update.always:
            self.film.restart()
        self.ray_type.camera = view.camera
        exposure, tone = self.ray_type.exposure(self._options), self.ray_type.tone(self._options)
        self.film.begin(
            view.camera, view.pixels.width, view.pixels.height, self._film_key(surface), settings.samples, settings.seed, exposure, self.clip, tone
        )
        self.ray_type.reserve(self._options, self.film)
        self.ray_type.prepare(self._options, surface)

    @property
    def clip(self) -> HalfSpace | None:
        """What the view sees of the scene; None: all of it."""
        return half_space(self.view.settings.clip, self._scene.lower, self._scene.upper)

    @property
    def parts(self) -> Hashable:
        """Which structure, layout and ray type the view has: another value after every change."""
        return (self._generation, self.hierarchy.layout_name)

    @property
    def shape(self) -> Hashable:
        """What decides the launches of `draw` and their arguments."""
        film, parts = self.film, (self._generation, self.hierarchy.generation, self._materials.generation, self._light_count)
        sizes = (film.width, film.height, film.generation)
        return (self.prefix, parts, self._topology, self.decision.update, film.is_drawing, *sizes, self.ray_type.shape)

    @property
    def has_work(self) -> bool:
        """Whether `draw` launches anything."""
        return self.film.is_drawing or self.decision.update != "nothing"

    @property
    def needs_phases(self) -> bool:
        """Whether the times of this frame's phases decide about later frames."""
        return self.view.settings.update.mode == "auto"

    def draw(self, surface: Surface) -> None:
        """Bring the structure up to date and add a sample to the film. Launches only."""
        update(self.hierarchy, self.decision, surface)
        if self.film.is_drawing:
            self.ray_type.render(self.tracer(), surface, self.film)

    def finish(self, surface: Surface) -> None:
        """Count the update as done, measure the tree's quality now and then, and resolve the film into the view's pixels."""
        self.policy.note(self.decision, surface.primitives)
        if self.policy.wants_measurement():
            self._measure()
        with self.view.pixels.map() as image, self._target.phase("resolve"):
            self.film.resolve(image)

    def record(self) -> ViewRecord:
        """What the log keeps of this frame's view."""
        film, hierarchy = self.film, self.hierarchy
        counts = self.ray_type.ray_counts() if film.is_drawing else None
        return ViewRecord(
            prefix=self.prefix,
            hierarchy=hierarchy.name,
            layout=hierarchy.layout_name,
            ray_type=self._ray_type_name,
            update=self.decision.update,
            reason=self.decision.reason,
            primary_rays=film.rays.count if film.is_drawing else 0,
            width=film.width,
            height=film.height,
            samples=film.samples,
            structure=functools.partial(self.structure_statistics, self._tree._replace(time=self._moment[0])),
            secondary_rays=(lambda: None) if counts is None else counts.read_later(),
            steps=self.ray_type.step_reader() if film.is_drawing else (lambda: None),
            learn=functools.partial(self.policy.costs.learn, self.policy.ticket),
            update_mode=self._tree.mode,
        )

    # -- on request -----------------------------------------------------------------------------------------------
    def tracer(self) -> Tracer:
        """Traces through the structure as it was last built."""
        return Tracer(self._target, self.hierarchy.traversal())

    def structure_statistics(self, shown: MadeTree | None = None) -> HierarchyStatistics:
        """Counts of the tree with the quality that was measured last, and which tree that was of. `shown` is the tree of a frame, with the frame's
        own time: where it was kept, that is a later one than what it was made for."""
        now = self.hierarchy.stats()
        if now.sah_cost is not None:
            self._measured = now
        of, shown = self.hierarchy.measured_tree, shown or self._tree
        if of is not None and of.number == shown.number:
            of = shown
        when = {} if of is None else {"measured_time": of.time, "measured_mode": of.mode}
        return dataclasses.replace(now, sah_cost=self._measured.sah_cost, depth=self._measured.depth, **when)

    def measure_now(self) -> None:
        """Measure the tree if it has changed since the last time; outside a frame."""
        if not self.policy.is_measured:
            self._measure()
            self.policy.mark_measured()

    def _measure(self) -> None:
        self.hierarchy.tree_to_measure = self._tree
        self.hierarchy.measure()
        if self.hierarchy.statistics.quality:
            self.hierarchy.measure_quality()

    def trace_pixel(self, x: float, y: float) -> tuple[int, float, float, float]:
        """prim_id, t, u, v of the ray through pixel (x, y), through the unit that draws the view."""
        hits = self.tracer().trace(self._ray_through(x, y))
        prim_id, t, u, v = (self._target.download(array)[0] for array in (hits.prim_id, hits.t, hits.u, hits.v))
        return int(prim_id), float(t), float(u), float(v)

    def count_steps(self, x: float, y: float) -> RaySteps:
        """What the ray through pixel (x, y) visits and is tested against."""
        hits = self.tracer().trace(self._ray_through(x, y), "steps")
        return RaySteps(*(int(self._target.download(array)[0]) for array in (hits.steps, hits.tests, hits.boxes)))

    def read(self, surface: Surface, x: float, y: float) -> Reading | None:
        """What the colour at pixel (x, y) stands for."""
        return self.ray_type.reading(self.tracer(), surface, self._ray_through(x, y))

    def _ray_through(self, x: float, y: float) -> CameraRays:
        """A picture of one pixel; its ray goes through the middle, so that how wide it is does not matter."""
        width, height = self.film.width, self.film.height
        rows = self.view.camera.frame(width, height).reshape(4, 4)
        origin_row = 0 if rows[0, 3] != 0.0 else 1
        rows[origin_row, :3] += rows[2, :3] * (x / width - 0.5) + rows[3, :3] * (y / height - 0.5)
        frame = np.zeros((), VIEW_FRAME)
        see_through(frame, self.view.camera, 1, 1, self.clip)
        frame["camera"], frame["jitter"] = rows.reshape(16), 0.5
        return CameraRays(self._target.upload(frame.reshape(1).view(np.uint8), "rays"), 1, 1)


def update(hierarchy: Hierarchy, decision: Decision, surface: Surface) -> None:
    """Nothing, refit or rebuild."""
    if decision.update == "rebuild":
        hierarchy.build(surface.primitives)
    elif decision.update == "refit":
        hierarchy.refit(surface.primitives)


def make_structure(target: Target, settings: ViewSettings) -> Hierarchy:
    """The structure that the settings name. Raises OptionError for an unknown name."""
    return structures.make_structure(
        target,
        settings.hierarchy,
        settings.hierarchy_options,
        settings.layout,
        settings.traversal,
        settings.optimiser,
        settings.optimiser_options,
        settings.triangle_test,
    )
