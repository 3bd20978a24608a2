"""Hot spots of numbered frames without a window: each drawn as it is, the structure updated from one to the next as the
settings say."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Generator, Sequence
from typing import cast

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import State
from raygrove.app.frames.headless import TargetPixels, camera_at, rendered
from raygrove.app.frames.measured_rays import MeasuredRays
from raygrove.app.frames.sphere_pictures import check_no_window
from raygrove.app.frames.views import view_settings
from raygrove.gpu.analysis.frame_counter import FrameCounter
from raygrove.gpu.analysis.hot_clip import OF_CLIPS, ClipSpots
from raygrove.gpu.analysis.hot_findings import HotFinding
from raygrove.gpu.analysis.hot_frames import hot_spots_counted, measured_remedy, with_findings
from raygrove.gpu.analysis.hot_spots import HotSpots
from raygrove.gpu.engine import Engine, View
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target


def hot_spots_in(
    target: Target,
    scene: Scene,
    state: State,
    frames: Sequence[tuple[int, float]],
    rays: str = "all",
    kind: str = "both",
    *,
    remedies: bool = False,
) -> Generator[HotSpots, None, None]:
    """Of (number, seconds) pairs, one after another, by the picture's rays or those that settings choose. One frame
    alone has findings too, and what their remedies gain where that is asked for. Raises Error where a picture casts no
    such rays, or those chosen are not there."""
    from raygrove.app.frames.race_report import prepared  # with all that races are written as

    check_no_window(state)
    render = state.settings.render
    pixels = TargetPixels(target, render.width, render.height)
    view, measured = View(view_settings(state, samples=1), state.camera_of(0), pixels), MeasuredRays()
    with contextlib.closing(Engine(target, scene)) as engine:
        prepared(engine, scene, state)
        counter = FrameCounter(engine, view, rays, kind)
        for number, time in frames:
            moment = Moment(time, state.timeline.clip, number)
            view = dataclasses.replace(view, camera=camera_at(state, scene, moment))
            rendered(engine, moment, view)
            measured.choose(state.settings.rays, scene, moment)
            given = measured.in_rows(target)
            found = hot_spots_counted(engine, view, counter, given)
            if len(frames) == 1:
                found = with_findings(engine, view, found, given)
            if len(frames) == 1 and remedies:
                tried = (measured_remedy(engine, view, found, cast(HotFinding, one), given) for one in found.findings)
                found = dataclasses.replace(found, findings=tuple(tried))
            yield found


MOST_FRAMES = 1000
"""Of a clip that is counted frame by frame: its first."""


@dataclasses.dataclass(frozen=True, eq=False)
class CountedClip:
    """Hot spots of frames together, whatever they are listed by; `times` are the frames' seconds."""

    configuration: str
    times: tuple[float, ...]
    spots: dict[str, ClipSpots]

    @property
    def frames(self) -> ClipSpots:
        """Any of them, for what is of frames."""
        return next(iter(self.spots.values()))


def clip_frames(state: State, scene: Scene, some: int = 0) -> list[tuple[int, float]]:
    """(number, seconds) of the clip's frames: all, up to MOST_FRAMES, or `some` of them, evenly."""
    from raygrove.app.frames.race_report import whole_clip  # with all that races are written as

    frames = whole_clip(state, scene)
    if not some or some >= len(frames):
        return frames[:MOST_FRAMES]
    return [frames[round(place * (len(frames) - 1) / max(some - 1, 1))] for place in range(some)]


def count_clip(
    job: Job, scene: Scene, state: State, frames: Sequence[tuple[int, float]], rays: str, kind: str
) -> CountedClip:
    """Hot spots of frames on a target of its own, in a job: says how far it is, and stops where it is cancelled. Raises
    Error where a picture casts no such rays."""
    spots, configuration = {by: ClipSpots(by) for by in OF_CLIPS}, ""
    with contextlib.closing(choose(state.settings.render.device, state.settings.device)) as target:
        target.check = job.check  # type: ignore[method-assign]
        with contextlib.closing(hot_spots_in(target, scene, state, frames, rays, kind)) as counted:
            for place, found in enumerate(counted):
                for one in spots.values():
                    one.add(frames[place][0], found)
                configuration = found.configuration
                job.report((place + 1) / len(frames), f"frame {place + 1:,} of {len(frames):,}")
    return CountedClip(configuration, tuple(time for _, time in frames), spots)
