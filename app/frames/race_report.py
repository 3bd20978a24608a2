"""A whole race, as the command and the window run it: the clip's instants, an engine of its own, files of what was
found."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import State
from raygrove.app.edits.scene_edits import EditedScene
from raygrove.app.export.sequence import is_folder
from raygrove.app.export.whole_files import write_bytes
from raygrove.app.frames.headless import camera_at
from raygrove.app.frames.views import view_settings
from raygrove.app.playback import timeline as timelines
from raygrove.app.settings.ray_options import measures_others
from raygrove.gpu.analysis.race import Race
from raygrove.gpu.analysis.race_files import contents, folder_of
from raygrove.gpu.analysis.racing import Course, Entry
from raygrove.gpu.analysis.racing import run as run_race
from raygrove.gpu.analysis.ray_racing import run as race_rays
from raygrove.gpu.engine import Engine
from raygrove.gpu.face.races import MOST_FRAMES, entry_of
from raygrove.gpu.face.workloads import workload_of
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target import choose
from raygrove.version import VERSION

REPEAT = 7


def entries_of(contestants: Iterable[str], state: State) -> list[Entry]:
    """Who takes part, with the ray type and all else of the state. Raises OptionError."""
    shared = view_settings(state, samples=1)
    return [entry_of(text, shared) for text in contestants]


def whole_clip(state: State, scene: Scene) -> list[tuple[int, float]]:
    """(number, seconds) of all frames of the clip, of MOST_FRAMES + 1 at most: one more than a race has."""
    span = timelines.span_of(scene, state.timeline, state.settings.timeline)
    repeat = state.settings.timeline.repeat
    return [(k, timelines.frame_time(k, span, repeat)) for k in range(min(span.frame_count, MOST_FRAMES + 1))]


def course_of(state: State, scene: Scene, frames: Sequence[tuple[int, float]], repeat: int = REPEAT) -> Course:
    """These instants and their cameras; a scene that stands has one."""
    moments = [Moment(time, state.timeline.clip, number) for number, time in frames or [(0, 0.0)]]
    cameras = [camera_at(state, scene, moment) for moment in moments]
    render = state.settings.render
    return Course(moments, cameras, (render.width, render.height), repeat)


def prepared(engine: Engine, scene: Scene, state: State) -> None:
    """Bring an engine to what the state shows."""
    engine.hide(state.hidden)
    engine.take_sphere_options(state.settings.spheres)
    engine.take_gravity_options(state.settings.gravity)
    EditedScene().give(engine, scene, state.settings.material, state.settings.light)


def write(out: str, race: Race, command: str) -> list[Path]:
    """Write a race to a file, or all its files into a folder; what was written."""
    about = {"System": f"{platform.system()} {platform.machine()}", "Raygrove": VERSION}
    if is_folder(out):
        files = {Path(out) / name: data for name, data in folder_of(race, command, about).items()}
    else:
        files = {Path(out): contents(race, Path(out).suffix.lower(), command, about)}
    for path, data in files.items():
        write_bytes(path, data)
    return list(files)


def report(job: Job, scene: Scene, state: State, contestants: Sequence[str], out: str, command: str) -> Race:
    """Run the whole clip on a target of its own and write what was found; in a job."""
    course = course_of(state, scene, whole_clip(state, scene)[:MOST_FRAMES])
    count = len(course.moments)
    all_frames = timelines.span_of(scene, state.timeline, state.settings.timeline).frame_count
    with contextlib.closing(choose(state.settings.render.device, state.settings.device)) as target:
        target.check = job.check  # type: ignore[method-assign]
        prepare = functools.partial(prepared, scene=scene, state=state)
        entries, measured = entries_of(contestants, state), state.settings.rays
        if measures_others(measured):
            rays = workload_of(measured.measured, scene)
            found = race_rays(target, scene, entries, course, rays, hidden=state.hidden, say=job.report)
        else:
            found = run_race(target, scene, entries, course, prepare=prepare, say=job.report)
    if count < all_frames:
        left_out = f"The clip has {all_frames:,} frames, of which the first {count:,} were raced: a race has no more."
        found = dataclasses.replace(found, remarks=(left_out,))
    job.report(1.0, "Writing the report.")
    write(out, found, command)
    return found
