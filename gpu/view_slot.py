"""What a view keeps from frame to frame: structure, film, ray type, policy; and its part of a frame.

A frame's part has three acts: `prepare` decides and writes what kernels read, `draw` only launches, so that frames of
one `shape` can be captured and repeated, and `finish` resolves the film into the frame's own pixels.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any, cast

import numpy as np

from .animate.animate import Surface
from .clip import HalfSpace, half_space
from .frame_log import ViewRecord
from .hierarchy import registry as structures
from .hierarchy.base import Hierarchy
from .hierarchy.build_now import build_now
from .made_trees import BORROWED, LEFT_ASIDE, TORN, MadeTree
from .primary_slot import PrimarySlot
from .scene import Moment, Scene
from .shade.base import RayType
from .shade.film import Film, Resolver
from .shade.frame_context import FrameContext
from .shade.materials import Materials
from .shade.noise import NoiseMeter
from .shade.presentation import Presentation
from .shade.registry import ray_type
from .stats import HierarchyStatistics, RaySteps, Reading
from .target.base import Target
from .target.stopping import Stopped
from .trace.trace import VIEW_FRAME, CameraRays, Tracer, see_through
from .update.history import Decision, UpdateHistory
from .update.registry import policy
from .view import View, ViewSettings

NO_TRACER = cast(Tracer, None)
"""What a ray type is given that traces nothing through the structure: there may be none."""


class ViewSlot:
    """See the module. Its parts are made anew where the view's choice changes; raises what making them raises, and then
    keeps none of it."""

    def __init__(self, view: View, target: Target, materials: Materials, resolver: Resolver, scene: Scene) -> None:
        self.prefix, self._scene = view.name + "/", scene
        self.diagonal = float(np.linalg.norm(np.subtract(scene.upper, scene.lower))) or 1.0
        self.target, self.materials = target, materials
        self.film, self._noise = Film(target, resolver), NoiseMeter(target, resolver)
        self.hierarchy: Hierarchy
        self.ray_type: RayType
        self.presentation: Presentation
        self.history = UpdateHistory()
        self._generation = self._light_count = 0
        self._topology: tuple[Any, ...] = ()
        self.context: FrameContext | None = None
        self._moment: tuple[float, int, float] = (0.0, 0, 0.0)
        self._is_cold = True
        self._left_aside: Surface | None = None
        self._structure_choice: Any = None
        self._ray_type_name = ""
        self._judged_by = view.settings.statistics
        self.primary = PrimarySlot(target, scene)
        self._measured = HierarchyStatistics()
        self.tree, self.decision = MadeTree(0, 0.0, ""), Decision("nothing", "")
        self.inspector: Any = None  # what the engine made to look into the structure
        self.take(view)

    def take(self, view: View) -> None:
        """Take up a view's settings; make the structure and the ray type it chooses where they are others than
        before."""
        settings = view.settings
        kind = structures.structure(settings.hierarchy)
        fitted = policy(settings.update.mode).fitted(settings.structure_choice, kind.optimisers())
        choice = (settings.hierarchy, fitted)
        integrator: RayType | None = None
        if settings.ray_type != self._ray_type_name:
            integrator = ray_type(settings.ray_type)(self.target, self.materials)
        layout = self._layout(settings)
        is_laid_out = layout in ("auto", *((self.hierarchy.layout_name,) if self._structure_choice is not None else ()))
        if choice != self._structure_choice or (self.history.is_new and not is_laid_out):
            with_layout = dataclasses.replace(fitted, layout=layout)
            made = structures.make_structure(self.target, settings.hierarchy, with_layout)
            if self._structure_choice is not None:
                self.hierarchy.close()
            self.hierarchy, self._structure_choice, self.history = made, choice, UpdateHistory()
            self._measured = HierarchyStatistics()
            self._generation += 1
            self._is_cold = True
        elif not is_laid_out:
            self.hierarchy.lay_out(layout)
            self.history.forget_costs()
            self._is_cold = True
        if integrator is not None:
            self.ray_type, self._ray_type_name = integrator, settings.ray_type
            self.presentation = integrator.Presentation(integrator)
            self._generation += 1
            self._is_cold = True
        if self.primary.take(settings):
            self._generation += 1
            self._is_cold = True
        if settings.statistics != self._judged_by:  # from now on, and the tree there is, too
            self._judged_by = settings.statistics
            self.history.mark_unmeasured()
        self.options = settings.ray_type_options or type(self.ray_type).Options()
        self._is_cold |= self.ray_type.takes_other_kernels(self.options)
        self.view = view

    def _layout(self, settings: ViewSettings) -> str:
        """What `auto` is for the rays of the ray type; what was chosen else. Who chooses a traversal has the default
        layout, whatever the rays."""
        if settings.layout != "auto" or settings.traversal != "auto":
            return settings.layout
        apart = self.target.lane_count if ray_type(settings.ray_type).is_incoherent else 0
        return structures.structure(settings.hierarchy).default_layout(self.target.kind, apart)

    def lacks_room(self, surface: Surface) -> bool:
        """Whether the structure has to learn how much room trees of these primitives need."""
        return self._needs_structure(surface) and self.hierarchy.lacks_room(surface.primitives)

    def start_reader(self, surface: Surface) -> Callable[[], None] | None:
        """What the ray type has to read of the surface as it is when the animation starts (RayType.start_reader)."""
        return self.ray_type.start_reader(self.options, surface)

    def _needs_structure(self, surface: Surface) -> bool:
        """Whether the picture takes any rays through the structure."""
        return self.primary.caster is None or self.ray_type.needs_structure(surface.light_count)

    def warm(self, surface: Surface) -> None:
        """Before the first frame with these parts: compile all they launch. A structure tells its traversal only once
        it is built, so a new one is built on the surface as it is, and forgotten unless the view borrows that tree:
        then it is measured before the next frame, behind its picture. Before every frame: see to it that the structure
        has room."""
        if self.lacks_room(surface):
            if not (self._is_cold and self.history.is_new):  # a new one's first build finds its room
                self.hierarchy.make_room(surface.primitives)
            self.film.restart()
        self._is_cold |= self.primary.choose(self.view, surface.primitives.count)
        self.primary.make_room(surface.primitives)
        if self._is_cold:
            self._warm(surface, self._needs_structure(surface))
        if not self.view.borrows and self.history.take_lent_measurement():
            self.hierarchy.measure(self._judged_by)

    def _warm(self, surface: Surface, needs_structure: bool) -> None:
        if self.history.is_new and needs_structure:
            self.hierarchy.build(surface.primitives)
            if policy(self.view.settings.update.mode).refits and self.hierarchy.capabilities.refit:
                self.hierarchy.refit(surface.primitives)
            self.history.lend(surface.primitives)
            self.tree = self.tree.next(self._moment[0], self.view.settings.update.mode)
        self.primary.compile(CameraRays(self.film.frame, self.view.pixels.width, self.view.pixels.height))
        self.ray_type.compile(self._tracer() if needs_structure else NO_TRACER, self._frame_context(surface))
        self._is_cold = False

    def cool(self) -> None:
        """Other kernels may be needed: the next `warm` compiles what is missing."""
        self._is_cold = True

    # -- the frame ------------------------------------------------------------------------------------------------
    def next_sample(self, moment: Moment, surface: Surface, version: int) -> Moment:
        """Decide what this frame draws, before anything moves; `version` is the one that the surface will have. Returns
        the moment to show: one while the shutter is open, evenly spread over the samples by van der Corput's sequence.
        A film that has all its samples stays at the last one."""
        view, settings = self.view, self.view.settings
        shutter = self.ray_type.shutter(self.options)
        self._moment = (moment.time, moment.clip, shutter)
        if settings.update.always or self.ray_type.lacks_room:
            self.film.restart()
        # With an open shutter a film's samples show different instants of one moment. Whether the structure is updated
        # even where nothing moved is no part of the key: a sample drawn with that is the first of those that follow
        # without.
        seen = version if shutter <= 0.0 else (self._moment, surface.primitives.topology_version)
        same = dataclasses.replace(settings, samples=1, update=dataclasses.replace(settings.update, always=False))
        key = (same, view.camera, self.clip, seen, self.materials.version, surface.light_count)
        size = (view.pixels.width, view.pixels.height)
        is_always = settings.update.always and not view.updates_once
        is_whole = is_always or self.ray_type.needs_whole_picture(self.options, self.film.samples_of(key, *size))
        most_rows = 0 if is_whole else view.most_rows
        sample = self.film.next_sample(key, *size, settings.samples, most_rows)
        inverse = int(f"{sample.index:024b}"[::-1], 2) / (1 << 24)
        return dataclasses.replace(moment, time=moment.time + shutter * inverse) if shutter > 0.0 else moment

    def prepare(self, surface: Surface) -> None:
        """Decide between nothing, refit and rebuild, and write what kernels read of this frame."""
        settings, options = self.view.settings, self.options
        self._light_count, self._topology = surface.light_count, surface.primitives.topology
        self._left_aside = None if self._needs_structure(surface) else surface
        if self._left_aside is None:
            how = settings.update_over(self._scene, self._moment[1])
            self.decision = policy(how.mode).decide(self.history, self.hierarchy, surface.primitives, how)
            if self.view.borrows and self.history.lends(surface.primitives):
                self.decision = BORROWED
        else:
            self.decision = LEFT_ASIDE
        self.primary.begin(surface.primitives)
        if self.decision.update != "nothing":
            self.hierarchy.prepare(surface.primitives, self.decision.update)
            self.tree = self.tree.next(self._moment[0], settings.update.mode)
        shown = self.presentation
        self.film.begin(self.view.camera, settings.seed, shown.exposure(options), self.clip, shown.tone(options))
        self.context = context = self._frame_context(surface)
        self.ray_type.reserve(options, context)
        self.ray_type.prepare(options, context)

    def _frame_context(self, surface: Surface) -> FrameContext:
        return dataclasses.replace(
            self.film.context(self.view.camera, surface, self.diagonal), primary=self.primary.caster
        )

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
        film, counts = self.film, (self.hierarchy.generation, self.materials.generation, self._light_count)
        sizes = (film.width, film.height, film.sample.rows, film.generation)
        return (
            self.prefix,
            (self._generation, *counts),
            self.primary.shape,
            self._topology,
            self.decision.update,
            film.is_drawing,
            *sizes,
            self.ray_type.shape,
        )

    @property
    def is_repeatable(self) -> bool:
        """Whether `draw` only launches, so that it can be captured."""
        waits = self.decision.update == "rebuild" and self.hierarchy.capabilities.builds_on_host
        return self.primary.is_repeatable and not waits

    @property
    def has_work(self) -> bool:
        """Whether `draw` launches anything."""
        return self.film.is_drawing or self.decision.update != "nothing"

    @property
    def is_whole(self) -> bool:
        """Whether no rows of this frame's sample are still to come."""
        return not (self.film.is_drawing and self.film.rows_ahead)

    @property
    def needs_phases(self) -> bool:
        """Whether the times of this frame's phases decide about later frames."""
        return policy(self.view.settings.update.mode).needs_times or self.primary.needs_times

    def draw(self, surface: Surface) -> None:
        """Bring the structure up to date and add a sample to the film, or some rows of one. Launches only."""
        with self.target.stoppable(builds=True):
            self.decision.do(self.hierarchy, surface.primitives)
        if self.film.is_drawing and self.context is not None:
            self.film.take_rows()
            with self.target.stoppable():
                self.ray_type.render(self._tracer() if self._left_aside is None else NO_TRACER, self.context)
            self.film.put_rows()

    def give_up(self, error: BaseException) -> None:
        """The frame ended early: its film begins anew. A structure whose update was stopped, or may have been where
        several views have one, is made anew before it is used again."""
        self.film.restart()
        if isinstance(error, Stopped) and error.is_build and self.decision.update != "nothing":
            self._structure_choice = TORN

    @property
    def is_torn(self) -> bool:
        """Whether the structure was stopped on its way."""
        return self._structure_choice is TORN

    def finish(self, surface: Surface) -> None:
        """Count the update as done, and resolve the film, unless rows of this sample are still to come."""
        if self._left_aside is None and self.decision is not BORROWED:
            self.history.note(self.decision, surface.primitives)
        if not self.is_whole:
            return
        with self.view.pixels.map() as image, self.target.phase("resolve"):
            self.film.resolve(image)

    def measure_now_and_then(self) -> bool:
        """Measure the tree's quality where that is due; whether it was."""
        if is_due := self._left_aside is None and self.history.take_measurement_turn():
            self._measure()
        return is_due

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
            primary_rays=film.width * film.sample.rows if film.is_drawing else 0,
            width=film.width,
            height=film.height,
            samples=film.samples,
            structure=functools.partial(self.structure_statistics, self.tree._replace(time=self._moment[0])),
            secondary_rays=(lambda: None) if counts is None else counts.read_later(),
            steps=self.presentation.step_reader() if film.is_drawing else (lambda: None),
            learn=self._learner(),
            update_mode=self.tree.mode or self.view.settings.update.mode,  # of no tree, where none is needed
            primary=self.primary.sentence,
            notices=self.ray_type.notices,
            lacks_room=self.ray_type.read_lack_of_room(),  # of a frame before, where this one draws nothing
            has_full_lists=self.primary.read_full_lists() if film.is_drawing else (lambda: False),
            learn_phases=self.primary.ticket(film.is_drawing and film.sample.rows == film.height),
        )

    def _learner(self) -> Callable[[float, float, int], None]:
        if self._left_aside is not None or self.decision is BORROWED:
            return lambda update_ms, trace_ms, rays: None
        return functools.partial(self.history.learn, self.history.ticket)

    def _tracer(self) -> Tracer:
        return Tracer(self.target, self.hierarchy.traversal())

    # -- on request -----------------------------------------------------------------------------------------------
    def noise(self) -> float | None:
        """Standard error of the film's pixels (gpu/shade/noise.py); None where that is not known."""
        if self.ray_type.adds_up(self.film.samples, self.options):
            return self._noise.take(self.film)
        self._noise.forget()
        return None

    def tracer(self) -> Tracer:
        """Traces through the structure of what was drawn last. Outside a frame."""
        self.bring_up_to_date()
        return self._tracer()

    def bring_up_to_date(self) -> None:
        """Build the structure of what was drawn last, where that frame left it aside. Outside a frame."""
        surface, self._left_aside = self._left_aside, None
        if surface is None or not self.history.is_stale(surface.primitives):
            return
        build_now(self.target, self.hierarchy, surface.primitives)
        self.tree = self.tree.next(self._moment[0], self.view.settings.update.mode)
        self.history.note(Decision("rebuild", "asked for beside the picture"), surface.primitives)

    def structure_statistics(self, shown: MadeTree | None = None) -> HierarchyStatistics:
        """Counts of the tree with the quality that was measured last, and which tree that was of. `shown` is the tree
        of a frame, with the frame's own time: where it was reused, that is a later one than what it was made for."""
        now = self.hierarchy.stats()
        if now.depth is not None:
            self._measured = now
        of, shown = self.hierarchy.measured_tree, shown or self.tree
        if of is not None and of.number == shown.number:
            of = shown
        when = {} if of is None else {"measured_time": of.time, "measured_mode": of.mode}
        return dataclasses.replace(now, sah_cost=self._measured.sah_cost, depth=self._measured.depth, **when)

    def measure_now(self) -> None:
        """Measure the tree if it has changed since the last time; outside a frame."""
        if not (self.history.is_measured or self.is_torn):
            self._measure()
            self.history.mark_measured()

    def _measure(self) -> None:
        self.hierarchy.measure(self._judged_by, self.tree)
        if self._judged_by.quality:
            self.hierarchy.measure_quality(self._judged_by)

    def trace_pixel(self, x: float, y: float) -> tuple[int, float, float, float]:
        """prim_id, t, u, v of the ray through pixel (x, y), through the unit that draws the view."""
        hits = self.tracer().trace(self.ray_through(x, y))
        prim_id, t, u, v = (self.target.download(array)[0] for array in (hits.prim_id, hits.t, hits.u, hits.v))
        return int(prim_id), float(t), float(u), float(v)

    def count_steps(self, x: float, y: float) -> RaySteps:
        """What the ray through pixel (x, y) visits and is tested against."""
        hits = self.tracer().trace(self.ray_through(x, y), "steps")
        return RaySteps(*(int(self.target.download(array)[0]) for array in (hits.steps, hits.tests, hits.boxes)))

    def read(self, surface: Surface, x: float, y: float) -> Reading | None:
        """What the colour at pixel (x, y) stands for."""
        return self.presentation.reading(self.tracer(), surface, self.ray_through(x, y))

    def ray_through(self, x: float, y: float) -> CameraRays:
        """One ray, bit by bit that of the picture where it goes through the middle of a pixel: that of the first pixel,
        moved to where the pixel is."""
        frame = np.zeros((), VIEW_FRAME)
        see_through(frame, self.view.camera, self.film.width, self.film.height, self.clip)
        frame["jitter"] = x, y
        return CameraRays(self.target.upload(frame.reshape(1).view(np.uint8), "rays"), 1, 1)
