"""Target, engine and pace: what the render thread draws a frame with. One thread uses it; errors leave it as they
come."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from raygrove.app.document.state import State
from raygrove.app.edits.scene_edits import EditedScene
from raygrove.app.frames.choices_drawn import choices_of, pace_of, what_differs
from raygrove.app.frames.contestants import as_drawn, is_raced
from raygrove.app.frames.enlarged import Enlarged
from raygrove.app.frames.measured_rays import MeasuredRays
from raygrove.app.frames.outcome import Outcome
from raygrove.app.frames.overlays import Overlays
from raygrove.app.frames.pacing import Pacing, Plan
from raygrove.app.frames.pixel_slots import PixelSlot, SlotPixels
from raygrove.app.frames.questions import Questions
from raygrove.app.frames.race_turns import AT_REST, RaceTurns
from raygrove.app.frames.refinement import Refinement, noise_of
from raygrove.app.frames.resolution import scaled, whole_ms
from raygrove.app.frames.sphere_pictures import sphere_picture
from raygrove.app.frames.stop_switch import StopSwitch
from raygrove.app.frames.tiny_pictures import draw_tiny
from raygrove.app.frames.views import view_settings, while_looking
from raygrove.gpu.engine import Engine, View
from raygrove.gpu.linux import give_memory_back
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import FrameStatistics
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target, TargetError, TargetOptions
from raygrove.gpu.target.stopping import Stopped

MOST_STEPS = 10  # of a simulation in a frame: playing shows an earlier instant rather than stand still


class FrameMaker(Questions):
    """Keeps target and engine from frame to frame, and makes them anew when the choice changes. `on_busy` hears what
    takes a while. Units that it lacks can be compiled beside it where it `compiles_ahead`."""

    compiles_ahead = True

    def __init__(
        self,
        on_busy: Callable[[str], None] = lambda sentence: None,
        choose_target: Callable[[str, TargetOptions], Target] = choose,
        make_engine: Callable[[Target, Scene], Any] = Engine,
    ) -> None:
        self._on_busy, self._choose, self._make_engine = on_busy, choose_target, make_engine
        self._target: Target | None = None
        self._target_key: object = None
        self._engine: Any = None
        self._scene: Scene | None = None
        self._views: Sequence[View] = ()
        self._last_update: FrameStatistics | None = None
        self._in_rows: FrameStatistics | None = None
        self._overlays, self._race, self._measured = Overlays(), RaceTurns(), MeasuredRays()
        self._edited, self._enlarged = EditedScene(), Enlarged()
        self._pacing, self._refinement = Pacing(), Refinement()
        self._noise: float | None = None
        self._frame_id = 0
        self._last_key: object = None
        self._samples = self._looking = 0
        self._preparing_ms = 0.0
        self._prepared: dict[str, str] = {}
        self.switch = StopSwitch()
        """Stops a picture at rest, from any thread."""
        self.check: Callable[[], None] = lambda: None
        """Called while something is compiled; raises Abandoned where it is not wanted any more."""
        self.times_every_frame = False
        """Whether somebody wants the phases of every frame, where frames that repeat may time them now and then
        (Engine.samples_phases)."""
        self.asked_at: float | None = None
        """When what is drawn was asked for, None: just now."""

    def draw(self, scene: Scene, state: State, moment: Moment, slots: Sequence[PixelSlot], is_moving: bool) -> Outcome:
        """One frame, one picture a view, into the slots. While something moves it may be smaller than the slots, and
        has one sample; while nothing moves the first one is smaller where full size would keep everybody waiting. Sides
        shrink to display.minimum_scale of the slots' (resolution.least_scale). Of a slow one it is some rows: then the
        slots hold nothing yet, and the next call for the same goes on with them. Raises Stopped where `switch` was
        turned."""
        self._preparing_ms, self._noise, self._in_rows = self._pacing.take_lost_ms(), None, None
        state = as_drawn(state)
        with self._counted_as_preparing():
            target = self.target_for(state)
            engine = self._engine_for(target, scene)
        try:
            with self._preparing(state):
                outcome = self._draw(engine, target, scene, state, moment, slots, is_moving)
                outcome = self._enlarged.filled(outcome, target, slots)
                self._pacing.observe_enlarging(self._enlarged.spent_ms)
                return outcome
        except Stopped:
            if not self.switch.is_turned and self._pacing.leave_dared(self._preparing_ms):
                return self.draw(scene, state, moment, slots, is_moving)
            self._pacing.give_up()
            self._last_key = None
            raise

    def _draw(
        self,
        engine: Any,
        target: Target,
        scene: Scene,
        state: State,
        moment: Moment,
        slots: Sequence[PixelSlot],
        is_moving: bool,
    ) -> Outcome:
        display, pacing = state.settings.display, self._pacing
        self._bring(engine, scene, state)
        self._measured.choose(state.settings.rays, scene, moment)
        if display.spheres != "rays":
            return self._give_spheres(engine, target, scene, state, moment, slots[0])
        if pacing.begin(*pace_of(scene, state)):
            self._last_update = None
        is_alone = not (is_raced(state) or state.settings.update.always)
        pacing.dare(is_alone and target.can_stop and not pacing.was_stopped, self.asked_at)
        engine.tries_arrangements, engine.most_steps = not (target.quick and target.quick.sources), MOST_STEPS
        if display.adapt_resolution:
            self._try(engine, target, state, moment, slots)
        key = self._key_of(scene, state, moment, slots)
        if is_raced(state):
            return self._draw_race(engine, target, key, state, moment, slots, is_moving)
        plan = pacing.plan(display, state.settings.render.samples, key, is_moving, slots[0].height)
        in_rows = (plan.most_rows > 0 or pacing.progress is not None) and not state.settings.update.always
        engine.samples_phases = not self.times_every_frame and not in_rows
        there = self._samples if (film_key := (key, plan.scale)) == self._last_key else 0
        self._looking = self._refinement.filtered(film_key, pacing.expected_ms(plan.scale), display, target)
        most = self._refinement.most(film_key, there, plan, display, is_moving)
        views, self._frame_id = self._views_of(state, slots, target, plan, most, in_rows, film_key), self._frame_id + 1
        moment = dataclasses.replace(moment, frame_id=self._frame_id)
        self._views, compiled_before, began = (), target.compile_ms, time.perf_counter()
        may_stop = pacing.is_dared or (is_alone and not (is_moving or plan.is_kept or pacing.is_owed))
        with self.switch.watching(target if may_stop else None, pacing.patience_s / len(views)):
            statistics = engine.render_frame(moment, views)
        self._views = views
        preparing_ms = self._preparing_ms + target.compile_ms - compiled_before
        if in_rows:
            statistics = engine.flush()
            if not engine.is_whole(views):
                ms = (time.perf_counter() - began) * 1000.0 - (target.compile_ms - compiled_before)
                pacing.draw_rows(key, plan, plan.most_rows, preparing_ms, ms, statistics)
                return self._outcome(target, plan, self._samples_of(film_key), statistics, preparing_ms, is_whole=False)
            statistics, preparing_ms = self._joined(statistics), preparing_ms + pacing.prepared_ms
        samples = self._samples_of(film_key, most, state.settings.update.always)
        pacing.end_sample(key, is_moving)
        if samples == 1 and not is_moving:
            self._draw_what_is_behind(engine, moment, views)
        self._paint_over(engine, views, scene, state, moment, is_moving)
        pacing.observe(statistics, slots[0].width)
        if grows := not is_moving and plan.scale < 1.0:
            pacing.take_at_its_word(statistics if in_rows else engine.flush(), slots[0].width)
            grows = pacing.grows(display, slots[0].height)
            samples = min(samples, plan.samples - 1) if grows else samples
        if not (is_moving or grows or state.settings.update.always):
            self._noise = noise_of(engine, views)
            plan = self._refinement.after(film_key, samples, self._noise, plan, display)
        return self._outcome(target, plan, samples, statistics, preparing_ms)

    def _paint_over(
        self, engine: Any, views: Sequence[View], scene: Scene, state: State, moment: Moment, is_moving: bool
    ) -> None:
        began = time.perf_counter()
        self._overlays.paint(engine, views, scene, state, moment, is_moving=is_moving, with_selection=True)
        self._pacing.observe_overlays((time.perf_counter() - began) * 1000.0)

    def _bring(self, engine: Any, scene: Scene, state: State) -> None:
        """Bring an engine to what the state shows of the scene."""
        engine.hide(state.hidden)
        engine.take_sphere_options(state.settings.spheres)
        engine.take_gravity_options(state.settings.gravity)
        self._edited.give(engine, scene, state.settings.material, state.settings.light)

    def _draw_race(
        self,
        engine: Any,
        target: Target,
        key: object,
        state: State,
        moment: Moment,
        slots: Sequence[PixelSlot],
        is_moving: bool,
    ) -> Outcome:
        """One instant by each contestant in turn; at rest some more, until enough are timed."""
        engine.samples_phases, engine.most_steps, pacing, race = False, 0, self._pacing, self._race
        plan = pacing.plan(state.settings.display, 1, key, True, slots[0].height)
        plan = dataclasses.replace(plan, scale=race.settled(plan.scale), samples=1 if is_moving else AT_REST)
        self._views, self._looking, before = (), 0, target.compile_ms
        choice = (state.settings, state.views)
        each = [self._view(state, place, slot, target, plan.scale, 1) for place, slot in enumerate(slots)]
        views = race.with_one_range(each, choice)
        statistics = race.draw(engine, views, moment, choice, self._frame_id + 1, self._measured)
        self._views, self._frame_id = views, self._frame_id + len(views)
        pacing.observe(race.of_pictures, slots[0].width)
        samples, preparing_ms = self._samples_of(key, plan.samples), self._preparing_ms + target.compile_ms - before
        return self._outcome(target, plan, samples, statistics, preparing_ms)

    def _give_spheres(
        self, engine: Any, target: Target, scene: Scene, state: State, moment: Moment, slot: PixelSlot
    ) -> Outcome:
        """The slots stay as they are: the window draws these spheres itself."""
        self._frame_id += 1
        self._views, moment = (), dataclasses.replace(moment, frame_id=self._frame_id)
        given = sphere_picture(engine, scene, state, moment, slot.width, slot.height)
        return Outcome(self._frame_id, 1, 1, None, target.name, target.device_name, spheres=given)

    def _outcome(
        self,
        target: Target,
        plan: Plan,
        samples: int,
        statistics: FrameStatistics | None,
        preparing_ms: float,
        is_whole: bool = True,
    ) -> Outcome:
        return Outcome(
            frame_id=self._frame_id,
            samples=samples,
            samples_wanted=plan.samples,
            statistics=statistics,
            target_name=target.name,
            device_name=target.device_name,
            boxes=self._overlays.report,
            collisions=self._overlays.collisions,
            contents=self._overlays.contents,
            last_update=self._last_update,
            preparing_ms=preparing_ms,
            whole_ms=whole_ms(self._pacing.pace),
            is_whole=is_whole,
            is_kept=plan.is_kept,
            share=1.0 if is_whole else self._pacing.share,
            noise=self._noise,
        )

    def _joined(self, statistics: FrameStatistics) -> FrameStatistics:
        """The frames that a sample was drawn in, some rows in each, as one."""
        found = self._in_rows = self._pacing.joined(statistics)
        self._hear(found)
        return found

    @contextlib.contextmanager
    def _counted_as_preparing(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._preparing_ms += (time.perf_counter() - began) * 1000.0

    def _hear(self, statistics: FrameStatistics) -> None:
        """Of every frame: pictures that are only tried build structures, too."""
        self._race.hear(statistics)
        if statistics.has_updated:
            self._last_update = statistics

    def _draw_what_is_behind(self, engine: Any, moment: Moment, views: Sequence[View]) -> None:
        """A picture that stays must show its own instant: where a structure had too little room, it is built and drawn
        again, with more."""
        engine.most_steps = 0  # of a simulation: all that are missing, in one frame
        while engine.flush().is_behind:
            self._in_rows = None
            engine.render_frame(moment, [dataclasses.replace(view, most_rows=0) for view in views])

    def flush(self) -> FrameStatistics | None:
        """Wait for the newest frame and its statistics: of all rows, where it drew the last ones of a sample."""
        statistics: FrameStatistics | None = self._engine.flush() if self._engine is not None else None
        return self._in_rows or statistics

    def target_for(self, state: State) -> Target:
        """The target the settings choose; the old one is given back first."""
        key = (state.settings.render.device, state.settings.device)
        if self._target is None or key != self._target_key:
            with contextlib.suppress(TargetError):  # of a device that is lost, which is no reason not to use another
                self.close()
            self._on_busy(f"Preparing the {state.settings.render.device} target ...")
            try:
                self._target = self._choose(*key)
                self._target.check = lambda: self.check()  # type: ignore[method-assign]
            finally:
                self._on_busy("")
            self._target_key = key
        return self._target

    def close(self) -> None:
        """Give engine and target back."""
        target, self._target, self._target_key = self._target, None, None
        self._enlarged.forget()
        with contextlib.ExitStack() as stack:
            if target is not None:
                stack.callback(give_memory_back)
                stack.callback(target.close)
            self.close_engine()
            self._measured.leave()

    def close_engine(self) -> None:
        """Give the engine back, which may be half prepared; the next picture makes another one."""
        engine, self._engine, self._scene, self._last_key = self._engine, None, None, None
        self._pacing, self._views, self._prepared, self._last_update = Pacing(), (), {}, None
        self._overlays.forget()
        self._forget_rays()
        self._edited.forget()
        if engine is not None:
            engine.close()

    def _engine_for(self, target: Target, scene: Scene) -> Any:
        if self._engine is None or scene is not self._scene:
            if self._engine is not None:
                self._engine.close()
                self._engine, self._views, self._last_update = None, (), None
                self._forget_rays()
                self._edited.forget()
                # The scene before needs nothing any more: what its frames worked in goes, or it would be counted with
                # this scene's for ever.
                target.forget_scratch()
                target.give_idle_back()
                give_memory_back()
            self._on_busy(f"Preparing {scene.name} ...")
            try:
                self._engine = self._make_engine(target, scene)
                self._engine.tell_of_every_frame(self._hear)
            finally:
                self._on_busy("")
            self._scene, self._prepared = scene, {}
        return self._engine

    @contextlib.contextmanager
    def _preparing(self, state: State) -> Iterator[None]:
        """Say what is prepared while the first picture of a choice is drawn: its kernels may have to be compiled."""
        chosen = choices_of(state)
        what = what_differs(chosen, self._prepared)
        if not what:
            yield
            return
        self._on_busy(f"Preparing {what} ...")
        try:
            yield
            self._prepared = chosen
        finally:
            self._on_busy("")

    def _views_of(
        self,
        state: State,
        slots: Sequence[PixelSlot],
        target: Target,
        plan: Plan,
        most: int,
        in_rows: bool,
        key: object,
    ) -> list[View]:
        """The views of a frame, of `most` samples. Drawn in rows they are given one sample more than they have, so that
        none of them is ahead of the others."""
        samples = min(self._samples_of(key) + 1, most) if in_rows else most
        return [
            self._view(state, index, slot, target, plan.scale, samples, plan.most_rows)
            for index, slot in enumerate(slots)
        ]

    def _view(
        self, state: State, index: int, slot: PixelSlot, target: Target, scale: float, samples: int, most_rows: int = 0
    ) -> View:
        pixels = SlotPixels(slot, target, *scaled(slot.width, slot.height, scale))
        settings, name = view_settings(state, index, samples=samples), state.views[index].name
        settings = while_looking(settings, self._looking)
        borrows = self._pacing.is_first and not state.settings.update.always  # others come, by a tree that is timed
        borrows &= state.settings.display.refine_samples > 1
        return View(settings, state.camera_of(index), pixels, name, most_rows, borrows=borrows)

    def _key_of(self, scene: Scene, state: State, moment: Moment, slots: Sequence[PixelSlot]) -> object:
        """What pictures have in common whose samples add up, or of which one takes the place of a smaller one."""
        sizes = tuple((slot.width, slot.height) for slot in slots)
        settings = (state.settings, state.views, state.cameras, state.hidden)
        return (id(scene), *settings, moment.time, moment.clip, sizes)

    def _samples_of(self, key: object, wanted: int = 0, begins: bool = False) -> int:
        """Samples in the film of a picture; with `wanted` one more has been drawn, unless all of those are there. One
        more a sample for as long as nothing changes."""
        if key != self._last_key or begins:
            self._samples = 0
        self._last_key = key
        self._samples = max(self._samples, min(self._samples + 1, wanted)) if wanted else self._samples
        return self._samples

    def _try(self, engine: Any, target: Target, state: State, moment: Moment, slots: Sequence[PixelSlot]) -> None:
        """Before the first picture of a choice, all that it waits for, which tells how large it is, or a tiny one."""

        def views_of(slots: Sequence[PixelSlot]) -> Sequence[View]:
            return [self._view(state, index, slot, target, 1.0, 1) for index, slot in enumerate(slots)]

        if self._pacing.is_dared:
            self._looking, before = state.settings.display.filter_samples, target.compile_ms
            engine.make_ready(moment, views_of(slots))
            self._preparing_ms += target.compile_ms - before
        elif not self._pacing.is_tried:
            self._pacing.is_tried, self._views, self._looking = True, (), 0
            with self._counted_as_preparing():
                draw_tiny(engine, self._pacing, moment, slots, views_of)
