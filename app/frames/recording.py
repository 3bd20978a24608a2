"""Rays of a picture without a window: drawn once, and those of one name kept."""

from __future__ import annotations

import contextlib

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import State
from raygrove.app.frames.headless import TargetPixels, camera_at, rendered
from raygrove.app.frames.sphere_pictures import check_no_window
from raygrove.app.frames.views import view_settings
from raygrove.gpu.analysis.frame_rays import BOUNCE, OCCLUSION, PRIMARY, SHADOW
from raygrove.gpu.analysis.recording import recorded_rays, save_rays
from raygrove.gpu.analysis.workload import Rays
from raygrove.gpu.engine import Engine, View
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target

NAMES = (PRIMARY, *(f"{BOUNCE} {number}" for number in range(1, 5)), SHADOW, OCCLUSION)
"""What rays are called that ray types cast; paths may have more bounces."""


def recorded(target: Target, scene: Scene, state: State, frame: tuple[int, float], name: str) -> Rays:
    """The rays called `name` of the picture of a frame, its number and seconds. Raises Error where it casts none."""
    from raygrove.app.frames.race_report import prepared  # with all that races are written as

    check_no_window(state)
    render = state.settings.render
    moment = Moment(frame[1], state.timeline.clip, frame[0])
    pixels = TargetPixels(target, render.width, render.height)
    view = View(view_settings(state, samples=1), camera_at(state, scene, moment), pixels)
    with contextlib.closing(Engine(target, scene)) as engine:
        prepared(engine, scene, state)
        rendered(engine, moment, view)
        return recorded_rays(engine, view, name)


def record(job: Job, scene: Scene, state: State, name: str, path: str) -> int:
    """Keep the rays of the picture that the state shows in a file, by a target of their own, in a job; how many."""
    with contextlib.closing(choose(state.settings.render.device, state.settings.device)) as target:
        target.check = job.check  # type: ignore[method-assign]
        rays = recorded(target, scene, state, (0, state.timeline.time), name)
    save_rays(rays, path)
    return len(rays)
