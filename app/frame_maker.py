"""Target, engine and pace: what the render thread draws a frame with. One thread uses it; errors leave it as they come."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from app.node_boxes import BoxReport, NodeBoxes
from app.node_path import PathNode, path_to
from app.pixel_slots import HostSlot, PixelSlot
from app.resolution import PROBE_PIXELS, Pace, is_pixel_bound, next_scale, observed, probe_size, probed, scaled, still_scale, whole_ms
from app.scene_edits import EditedScene
from app.state import State
from app.views import view_settings
from gpu.engine import Engine, Hit, View
from gpu.scene import Moment, Scene
from gpu.stats import FrameStatistics, RaySteps, Reading
from gpu.target import choose
from gpu.target.base import Array, Target, TargetOptions

PREPARED = ("hierarchy", "optimiser", "layout", "traversal", "triangle_test", "ray_type")
"""Settings of `render` whose values have kernels of their own."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one frame was: its number, how many of its samples are in the picture, the newest statistics, and those of the frame in which the
    structure was built or refitted last: a picture that was tried, one that was skipped, or this one. `preparing_ms` went into what the picture was
    the first to need: the target, the scene there, compiled kernels, small pictures tried first. `whole_ms` is what a picture of full size is thought
    to take, 0 where that is not known."""

    frame_id: int
    samples: int
    samples_wanted: int
    statistics: FrameStatistics | None
    target_name: str
    device_name: str
    limited_by: str = ""
    boxes: BoxReport | None = None
    last_update: FrameStatistics | None = None
    preparing_ms: float = 0.0
    whole_ms: float = 0.0


@dataclasses.dataclass(frozen=True)
class Picked:
    """What lies under a place of the picture: the hit, None for the background, and the nodes from the root to its leaf where they were asked for."""

    hit: Hit | None
    path: tuple[PathNode, ...] = ()


class SlotPixels:
    """A slot as the engine sees it: a picture of `width` x `height` on a target."""

    def __init__(self, slot: PixelSlot, target: Target, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._slot, self._target = slot, target

    def map(self) -> contextlib.AbstractContextManager[Array]:
        """The slot's array for one frame."""
        return self._slot.image(self._target, self.width, self.height)


class FrameMaker:
    """Keeps target and engine from frame to frame, and makes them anew when the choice changes. `on_busy` hears what takes a while."""

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
        self._boxes = NodeBoxes()
        self._edited = EditedScene()
        self._pace = Pace()
        self._pace_key: object = None
        self._frame_id = self._observed_id = 0
        self._last_key: object = None
        self._samples = 0
        self._probed_key: object = None
        self._scale, self._was_still = 0.0, False
        self._preparing_ms = 0.0
        self._prepared: dict[str, str] = {}
        self.check: Callable[[], None] = lambda: None
        """Called while something is compiled; raises Abandoned where it is not wanted any more."""
        self.times_every_frame = False
        """Whether somebody wants the phases of every frame, where frames that repeat may time them now and then (Engine.samples_phases)."""

    def draw(self, scene: Scene, state: State, moment: Moment, slots: Sequence[PixelSlot], is_moving: bool) -> Outcome:
        """One frame, one picture a view, into the slots. While something moves it may be smaller than the slots, and has one sample; while nothing
        moves it is smaller only where full size would keep everybody waiting."""
        self._preparing_ms = 0.0
        with self._counted_as_preparing():
            target = self.target_for(state)
            engine = self._engine_for(target, scene)
        with self._preparing(state):
            return self._draw(engine, target, scene, state, moment, slots, is_moving)

    def _draw(self, engine: Any, target: Target, scene: Scene, state: State, moment: Moment, slots: Sequence[PixelSlot], is_moving: bool) -> Outcome:
        display = state.settings.display
        engine.samples_phases = not self.times_every_frame
        engine.hide(state.hidden)
        self._edited.give(engine, scene, state.settings.material, state.settings.light)
        self._forget_pace_of_another(scene, state)
        if display.adapt_resolution:
            with self._counted_as_preparing():
                self._probe(state, moment, slots)
        adapts = is_moving and display.adapt_resolution
        scale = self._scale = self._next_scale(state, is_moving)
        wanted = self._samples_wanted(state, is_moving)
        views = [self._view(state, index, slot, target, scale, wanted) for index, slot in enumerate(slots)]
        self._frame_id += 1
        self._views = ()
        compiled_before = target.compile_ms
        statistics = engine.render_frame(dataclasses.replace(moment, frame_id=self._frame_id), views)
        self._views = views
        samples = self._count_samples(scene, state, moment, views)
        if samples == 1 and not is_moving:
            self._draw_what_is_behind(engine, dataclasses.replace(moment, frame_id=self._frame_id), views)
        if state.selection.object >= 0:
            engine.paint_outline(views[0], state.selection.object)
        self._boxes.paint(engine, views[0], scene, state, moment, is_moving)
        self._observe(statistics, slots[0])
        if not is_moving and scale < 1.0:
            self._take_at_its_word(engine.flush(), slots[0])
            samples = min(samples, wanted - 1) if self._next_scale(state, is_moving) > scale else samples
        return Outcome(
            frame_id=self._frame_id,
            samples=samples,
            samples_wanted=wanted,
            statistics=statistics,
            target_name=target.name,
            device_name=target.device_name,
            limited_by=self._limit(statistics, display.minimum_fps) if adapts else "",
            boxes=self._boxes.report,
            last_update=self._last_update,
            preparing_ms=self._preparing_ms + target.compile_ms - compiled_before,
            whole_ms=whole_ms(self._pace),
        )

    @contextlib.contextmanager
    def _counted_as_preparing(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._preparing_ms += (time.perf_counter() - began) * 1000.0

    def _hear(self, statistics: FrameStatistics) -> None:
        """Of every frame: pictures that are only tried build structures, too."""
        if statistics.has_updated:
            self._last_update = statistics

    def _draw_what_is_behind(self, engine: Any, moment: Moment, views: Sequence[View]) -> None:
        """A picture that stays must show its own instant: where a structure had too little room, it is built and drawn again, with more."""
        while any(view.structure.is_behind for view in engine.flush().views):
            engine.render_frame(moment, views)

    def flush(self) -> FrameStatistics | None:
        """Wait for the newest frame and its statistics."""
        statistics: FrameStatistics | None = self._engine.flush() if self._engine is not None else None
        return statistics

    def pick(self, across: float, down: float, view: int = 0, *, with_path: bool = False) -> Picked | None:
        """What the newest picture of a view shows at a place, from 0 to 1 of its width and height; None before the first picture. Waits for the
        target; `with_path` also reads the structure back, which takes longer the larger it is."""
        if self._engine is None or view >= len(self._views):
            return None
        shown = self._views[view]
        hit = self._engine.pick(shown, across * shown.pixels.width, down * shown.pixels.height)
        path = path_to(self._engine.nodes(shown), hit.prim_id, hit.position) if with_path and hit is not None else ()
        return Picked(hit, path)

    def steps(self, across: float, down: float, view: int = 0) -> RaySteps | None:
        """What the ray at a place of the newest picture, from 0 to 1, visits and is tested against; None before the first one. Waits."""
        if self._engine is None or view >= len(self._views):
            return None
        shown = self._views[view]
        found: RaySteps = self._engine.steps(shown, across * shown.pixels.width, down * shown.pixels.height)
        return found

    def reading(self, across: float, down: float, view: int = 0) -> Reading | None:
        """What the colour at a place of the newest picture, from 0 to 1, stands for; None before the first one and for plain colours. Waits."""
        if self._engine is None or view >= len(self._views):
            return None
        shown = self._views[view]
        found: Reading | None = self._engine.reading(shown, across * shown.pixels.width, down * shown.pixels.height)
        return found

    def target_for(self, state: State) -> Target:
        """The target the settings choose; the old one is given back first."""
        key = (state.settings.render.target, state.settings.target)
        if self._target is None or key != self._target_key:
            self.close()
            self._on_busy(f"Preparing the {state.settings.render.target} target ...")
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
        with contextlib.ExitStack() as stack:
            if target is not None:
                stack.callback(target.close)
            self.close_engine()

    def close_engine(self) -> None:
        """Give the engine back, which may be half prepared; the next picture makes another one."""
        engine, self._engine, self._scene, self._last_key, self._probed_key = self._engine, None, None, None, None
        self._pace, self._pace_key, self._views, self._prepared, self._last_update = Pace(), None, (), {}, None
        self._boxes.forget()
        if engine is not None:
            engine.close()

    def _engine_for(self, target: Target, scene: Scene) -> Any:
        if self._engine is None or scene is not self._scene:
            if self._engine is not None:
                self._engine.close()
                self._engine, self._views, self._last_update = None, (), None
                # The scene before needs nothing any more: what its frames worked in goes, or it would be counted with this scene's for ever.
                target.forget_scratch()
                target.give_idle_back()
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
        render, view = state.settings.render, state.views[0]
        chosen = {name: getattr(view, name, "") or getattr(render, name) for name in PREPARED} | {"options": repr(_options(state))}
        changed = [name for name, value in chosen.items() if self._prepared.get(name) != value]
        if not changed:
            yield
            return
        self._on_busy(f"Preparing {chosen[changed[0] if changed[0] != 'options' else 'hierarchy']} ...")
        try:
            yield
            self._prepared = chosen
        finally:
            self._on_busy("")

    def _view(self, state: State, index: int, slot: PixelSlot, target: Target, scale: float, samples: int) -> View:
        width, height = scaled(slot.width, slot.height, scale)
        pixels = SlotPixels(slot, target, width, height)
        return View(view_settings(state, index, samples=samples), state.camera_of(index), pixels, state.views[index].name)

    def _count_samples(self, scene: Scene, state: State, moment: Moment, views: Sequence[View]) -> int:
        """Samples in the film: one more a frame for as long as nothing changes."""
        sizes = tuple((view.pixels.width, view.pixels.height) for view in views)
        key = (id(scene), state.settings, state.views, state.cameras, state.hidden, moment.time, moment.clip, sizes, views[0].settings.samples)
        continues = key == self._last_key and not state.settings.update.always
        self._samples = min(self._samples + 1, views[0].settings.samples) if continues else 1
        self._last_key = key
        return self._samples

    def _samples_wanted(self, state: State, is_moving: bool) -> int:
        """Samples that the picture grows to: smooth edges while nothing moves, where one of them does not take so long already that it is small."""
        if is_moving:
            return 1
        still = state.settings.display.still_samples if self._scale >= 1.0 else 1
        return max(state.settings.render.samples, still)

    # -- pace -----------------------------------------------------------------------------------------------------
    def _forget_pace_of_another(self, scene: Scene, state: State) -> None:
        """Another scene or structure has another pace; start at full size and learn anew."""
        key = (id(scene), state.settings.render, state.settings.update.mode, state.views)
        if key != self._pace_key:
            self._pace, self._pace_key, self._was_still = Pace(), key, False

    def _next_scale(self, state: State, is_moving: bool) -> float:
        """The scale of the next picture. While nothing moves it only grows, or samples would never add up."""
        display, was_still = state.settings.display, self._was_still
        self._was_still = not is_moving
        if not display.adapt_resolution:
            return 1.0
        if is_moving:
            return next_scale(self._pace, display.minimum_fps)
        return max(still_scale(self._pace), self._scale if was_still else 0.0)

    def _probe(self, state: State, moment: Moment, slots: Sequence[PixelSlot]) -> None:
        """Before the first picture of a choice, a tiny one: a frame at full size could take minutes, and nothing can stop it."""
        if self._probed_key == self._pace_key or self._target is None:
            return
        self._probed_key = self._pace_key
        self._views = ()
        for pixels in PROBE_PIXELS:
            size = probe_size(slots[0].width, slots[0].height, pixels)
            views = [self._view(state, index, HostSlot(*size), self._target, 1.0, 1) for index in range(len(slots))]
            self._engine.render_frame(dataclasses.replace(moment, frame_id=0), views)
            statistics: FrameStatistics | None = self._engine.flush()
            if statistics is not None and statistics.views:
                self._pace = probed(size[0] / slots[0].width, *_split(statistics))
            if not self._pace.is_known:
                return

    def _take_at_its_word(self, statistics: FrameStatistics | None, slot: PixelSlot) -> None:
        """So slow a picture is waited for, and it alone says how slow: it may have been thought slower than it is."""
        if statistics is not None and sum(view.rays for view in statistics.views) > 0:
            self._observed_id = statistics.frame_id
            self._pace = observed(Pace(), statistics.views[0].width / slot.width, *_split(statistics))

    def _observe(self, statistics: FrameStatistics | None, slot: PixelSlot) -> None:
        if statistics is None or not statistics.views or statistics.frame_id in (0, self._observed_id):
            return
        self._observed_id = statistics.frame_id
        if sum(view.rays for view in statistics.views) > 0:
            self._pace = observed(self._pace, statistics.views[0].width / slot.width, *_split(statistics))

    def _limit(self, statistics: FrameStatistics | None, minimum_fps: float) -> str:
        """The phase that takes the time, where fewer pixels cannot make the frame fast enough."""
        if statistics is None or is_pixel_bound(self._pace, minimum_fps):
            return ""
        phases = {"animate": statistics.animate_ms}
        for view in statistics.views:
            phases["build"] = phases.get("build", 0.0) + view.build_ms
            phases["refit"] = phases.get("refit", 0.0) + view.refit_ms
        return max(phases, key=lambda name: phases[name])


def _options(state: State) -> tuple[Any, ...]:
    settings = state.settings
    return (settings.hierarchy, settings.optimiser, settings.ray_type, settings.update.mode, settings.clip.on, state.views[1:])


def _split(statistics: FrameStatistics) -> tuple[float, float]:
    """A frame's milliseconds that grow with the pixels, and the others."""
    pixel_ms = sum(view.trace_ms + view.shade_ms for view in statistics.views)
    return pixel_ms, max(max(statistics.frame_ms, statistics.host_ms) - pixel_ms, 0.0)
