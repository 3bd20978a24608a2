"""When to rebuild over a clip, as the command and the window ask it: what is measured, and by which rays."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import State
from raygrove.app.frames.race_report import course_of, whole_clip
from raygrove.app.frames.views import view_settings
from raygrove.app.playback import timeline as timelines
from raygrove.app.settings.chosen_configuration import spelling_of, with_set_options
from raygrove.app.settings.ray_options import measures_others
from raygrove.app.settings.titles import structure_title
from raygrove.gpu.analysis.advice import Advice
from raygrove.gpu.analysis.advice import advise as advise_rig
from raygrove.gpu.analysis.alternatives import usual
from raygrove.gpu.analysis.racing import Course
from raygrove.gpu.analysis.rig import Rig, camera_rays
from raygrove.gpu.analysis.workload import Workload
from raygrove.gpu.brief import filled
from raygrove.gpu.configuration import parse
from raygrove.gpu.errors import Error
from raygrove.gpu.face.laboratory import MOST_FRAMES, MOST_RAYS, rig_makers, rotated_maker
from raygrove.gpu.face.workloads import workload_of
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target


class BesideError(ValueError):
    """What was to be measured beside the configuration is none."""


def advice_of(
    target: Target,
    scene: Scene,
    state: State,
    course: Course,
    *,
    exact: bool = False,
    beside: Sequence[str] | None = None,
    say: Callable[[float, str], None] = lambda share, name: None,
) -> Advice:
    """Measure the state's structure over a course, by the rays that are measured: its first camera's, or others. None
    `beside` it: what usually is. Raises Error for what cannot be refitted, and BesideError."""
    view, measured = view_settings(state), state.settings.rays
    rays: Workload = camera_rays(course.cameras[0], *course.size)
    if measures_others(measured):
        rays = workload_of(measured.measured, scene)
    taken = rays if exact else rays.at_most(MOST_RAYS)
    with contextlib.closing(Rig(target, scene, view.hierarchy, view.structure_choice, taken)) as rig:
        if not rig.hierarchy.capabilities.refit:
            raise Error(f"{rig.hierarchy.title} cannot be refitted", "advise", "rebuild it in every frame")
        spelt = spelt_of(state)
        others = usual(spelt, rig.hierarchy.layout_name) if beside is None else beside
        try:
            makers = rig_makers(target, scene, [with_set_options(state.settings, one) for one in others], taken)
        except (OptionError, Error) as error:
            raise BesideError(str(error)) from error
        fps = timelines.span_of(scene, state.timeline, state.settings.timeline).fps
        rotated = rotated_maker(target, scene, view.hierarchy, view.structure_choice, taken)
        return advise_rig(
            rig, spelt, course.moments, fps, len(rays), exact=exact, rotated=rotated, beside=makers, say=say
        )


def advise(job: Job, scene: Scene, state: State, *, exact: bool = False, beside: Sequence[str] | None = None) -> Advice:
    """The whole clip on a target of its own, of a long one the first frames; in a job. Raises Error where nothing
    moves."""
    course = course_of(state, scene, whole_clip(state, scene)[:MOST_FRAMES])
    if len(course.moments) < 2:
        raise Error("nothing moves in this scene", "advise", "open one with an animation")
    with contextlib.closing(choose(state.settings.render.device, state.settings.device)) as target:
        target.check = job.check  # type: ignore[method-assign]
        return advice_of(target, scene, state, course, exact=exact, beside=beside,
                         say=lambda share, name: job.report(share, structure_title(name)))  # fmt: skip


def spelt_of(state: State) -> str:
    """The structure as it is spelt, with the options that were set; its policy is none of it."""
    view, settings = view_settings(state), state.settings
    shown = {part: getattr(view, part) for part in ("hierarchy", "optimiser", "layout", "traversal")}
    settings = dataclasses.replace(settings, render=dataclasses.replace(settings.render, **shown))
    return str(dataclasses.replace(parse(spelling_of(settings)), policy=None))


def break_even_sentence(found: Advice) -> str:
    """From how many rays on rebuilding pays."""
    if found.rays_break_even is None:
        return "Tracing a tree that is only refitted is no dearer here: more rays do not make rebuilds pay."
    if found.rays_break_even == 0:
        return "Rebuilding every frame is cheaper than never rebuilding, however few rays there are."
    said = "From {rays:,} rays per frame on, rebuilding every frame is cheaper than never rebuilding."
    return filled(said, rays=found.rays_break_even)
