"""Pictures without a window: numbered frames through the engine, one after another, never at another size than asked
for."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Generator, Iterator, Sequence

import numpy as np

from raygrove.app.camera import moves as cameras
from raygrove.app.camera import scene_nodes
from raygrove.app.document.state import State
from raygrove.app.edits.scene_edits import EditedScene
from raygrove.app.frames.overlays import Overlays
from raygrove.app.frames.sphere_pictures import check_no_window
from raygrove.app.frames.views import view_settings
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.stats import AttributeCounts, Collisions, FrameStatistics, joined
from raygrove.gpu.target.base import Array, Target

TINY = 8
"""Side of the picture that is drawn before the first one, in pixels, and rows that cannot be drawn apart."""

SLOW_MS, ROWS_MS = 10.0, 2000.0
"""A tiny picture that takes longer is of a scene whose rays meet very much; of its pictures so many milliseconds are
drawn at a time, and between them who waits is told how much is there, and may end it."""


class TargetPixels:
    """A picture in the target's memory: what the engine draws into and `pixels` reads back."""

    def __init__(self, target: Target, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._target = target
        self._array = target.empty((height, width, 4), np.uint8, "display")

    @contextlib.contextmanager
    def map(self) -> Iterator[Array]:
        """The array for one frame."""
        yield self._array

    def pixels(self) -> np.ndarray:
        """A copy on the host, (H, W, 4) uint8; waits for the frame."""
        return self._target.download(self._array)


@dataclasses.dataclass(frozen=True)
class Frame:
    """One picture: its number and time, the statistics of each time it was drawn, the pixels (H, W, 4) uint8, the
    camera, and the hits of the first sample's primary rays with the sum of their distances, and the buffers
    (gpu/buffers.py), where they were asked for; how many spheres have how much of the `attribute` that is shown; the
    collisions that are marked, where they are."""

    number: int
    time: float
    statistics: tuple[FrameStatistics, ...]
    pixels: np.ndarray
    camera: Camera
    hits: int | None = None
    sum_t: float | None = None
    buffers: dict[str, np.ndarray] | None = None
    attribute: AttributeCounts | None = None
    collisions: Collisions | None = None


def render_frames(
    target: Target,
    scene: Scene,
    state: State,
    frames: Sequence[tuple[int, float]],
    *,
    repeat: int = 1,
    warmup: int = 0,
    with_totals: bool = False,
    with_buffers: bool = False,
    turntable: int = 0,
    path: Callable[[int], Camera] | None = None,
    check: Callable[[float], None] = lambda share: None,
) -> Generator[Frame, None, None]:
    """Draw (number, seconds) pairs at `settings.render`'s size and samples. With `repeat` each is drawn so many times,
    as new each time. With
    `turntable` the camera goes round in so many frames, with `path` it stands where that says by the frame's number.
    `check` is called after each sample, and after some rows of one that takes long, with the share of a sample that is
    new; it may raise."""
    check_no_window(state)
    render = state.settings.render
    pixels = TargetPixels(target, render.width, render.height)
    view = View(view_settings(state), state.camera_of(0), pixels)
    moments = [Moment(time, state.timeline.clip, number) for number, time in frames]
    overlays = Overlays()
    with contextlib.closing(Engine(target, scene)) as engine:
        engine.hide(state.hidden)
        engine.take_sphere_options(state.settings.spheres)
        engine.take_gravity_options(state.settings.gravity)
        EditedScene().give(engine, scene, state.settings.material, state.settings.light)
        view = dataclasses.replace(view, most_rows=_prepare(engine, target, moments, view), updates_once=True)
        for _ in range(warmup if moments else 0):
            _draw(engine, moments[0], view, check, is_new=True)
        for moment in moments:
            camera = path(moment.frame_id) if path is not None else camera_at(state, scene, moment, turntable)
            view = dataclasses.replace(view, camera=camera)
            is_new = repeat > 1 or moment is moments[0]
            drawn = tuple(_draw(engine, moment, view, check, is_new=is_new) for _ in range(repeat))
            overlays.paint(engine, [view], scene, state, moment, is_moving=False, with_selection=False)
            found = engine.totals(view) if with_totals else None
            buffers = engine.buffers(view) if with_buffers else None
            hits, sum_t = (found.hits, found.sum_t) if found else (None, None)
            shown = (moment.frame_id, moment.time, drawn, pixels.pixels(), view.camera)
            yield Frame(*shown, hits, sum_t, buffers, engine.attribute_counts(), overlays.collisions)


def camera_at(state: State, scene: Scene, moment: Moment, turntable: int = 0) -> Camera:
    """The camera of a frame: one of the file moves as its clip says; with `turntable` it has gone round what it looks
    at, by the frame's number."""
    followed = scene_nodes.followed(state.cameras, scene, moment.time, moment.clip)
    camera = followed[state.views[0].camera]
    return cameras.orbit(camera, 2.0 * (moment.frame_id % turntable) / turntable, 0.0) if turntable else camera


def _prepare(engine: Engine, target: Target, moments: Sequence[Moment], view: View) -> int:
    """Draw one tiny picture of an instant beside the first, so that whatever is compiled at its first use is not
    counted as the first frame's time. Returns how many rows of a picture may be drawn at once: 0 for all, fewer where
    the tiny one was slow beyond measure, and a second one as well, since a busy machine says so of anything."""
    if not moments:
        return 0
    tiny, ms = dataclasses.replace(view, pixels=TargetPixels(target, TINY, TINY)), math.inf
    for later in (1e-3, 2e-3):
        engine.render_frame(dataclasses.replace(moments[0], time=moments[0].time + later), [tiny])
        (found,) = engine.flush().views
        ms = min(ms, found.trace_ms + found.shade_ms)
        if ms < SLOW_MS:
            return 0
    row_ms = ms / TINY**2 * view.pixels.width
    return max(1, int(ROWS_MS / row_ms / TINY)) * TINY


def _draw(
    engine: Engine, moment: Moment, view: View, check: Callable[[float], None], *, is_new: bool
) -> FrameStatistics:
    """One picture with all its samples, and what they cost together. A new one is animated, built and drawn even where
    nothing has changed, and so is each where the settings say so: its first sample updates the structure, and the
    others follow without, since a film that is always updated keeps one sample alone."""
    settings, cost = view.settings, []
    for number in range(settings.samples):
        is_updated = number == 0 and (is_new or settings.update.always)
        cost.append(_sample(engine, moment, view, check, is_updated=is_updated))
    return together(cost)


def _sample(
    engine: Engine, moment: Moment, view: View, check: Callable[[float], None], *, is_updated: bool
) -> FrameStatistics:
    """One sample, some rows at a time where the view says so; `check` hears after each what share of it they are."""
    settings, share = view.settings, 0.0
    parts: list[FrameStatistics] = []
    while True:
        update = dataclasses.replace(settings.update, always=is_updated and not parts)
        seen = dataclasses.replace(view, settings=dataclasses.replace(settings, update=update))
        parts.append(rendered(engine, moment, seen))
        if not view.most_rows or engine.is_whole([seen]):
            check(1.0 - share)
            return joined(parts)
        rows = min(view.most_rows / view.pixels.height, 1.0 - share)
        share += rows
        check(rows)


def rendered(engine: Engine, moment: Moment, view: View) -> FrameStatistics:
    """One frame, and again where the structure had too little room for it: it is given more by then, or the engine
    raises."""
    while True:
        engine.render_frame(moment, [view])
        found = engine.flush()
        if not found.is_behind:
            return found


def together(frames: Sequence[FrameStatistics]) -> FrameStatistics:
    """The cost of several frames of the same picture as that of one; what happened to the structure is what the first
    did."""
    first, last = frames[0], frames[-1]
    if len(frames) == 1:
        return first
    views = [frame.views[0] for frame in frames]
    trace_ms, rays = sum(view.trace_ms for view in views), sum(view.rays for view in views)
    names = list(dict.fromkeys(name for view in views for name in view.phases_ms))
    kinds = list(dict.fromkeys(kind for view in views for kind in view.rays_by_kind))
    rays_by_kind = {kind: sum(view.rays_by_kind.get(kind, 0) for view in views) for kind in kinds}
    view = dataclasses.replace(
        last.views[0],
        update=views[0].update,
        reason=views[0].reason,
        phases_ms={name: sum(view.phases_ms.get(name, 0.0) for view in views) for name in names},
        build_ms=sum(view.build_ms for view in views),
        refit_ms=sum(view.refit_ms for view in views),
        trace_ms=trace_ms,
        shade_ms=sum(view.shade_ms for view in views),
        rays=rays,
        rays_by_kind=rays_by_kind,
        mrays_per_s=rays / trace_ms / 1e3 if trace_ms else 0.0,
    )
    return dataclasses.replace(
        last,
        animate_ms=sum(frame.animate_ms for frame in frames),
        frame_ms=sum(frame.frame_ms for frame in frames),
        host_ms=sum(frame.host_ms for frame in frames),
        launches=sum(frame.launches for frame in frames),
        views=(view,),
    )
