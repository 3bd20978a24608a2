"""Opening a scene: from a reference to a `Scene`, and the first look at it."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from raygrove.app.camera import moves as cameras
from raygrove.app.camera import scene_nodes
from raygrove.app.camera.moves import CameraOptions
from raygrove.app.document import saved_state
from raygrove.app.document.jobs import Job
from raygrove.app.document.scene_trees import with_trees
from raygrove.app.document.state import SceneReference, Selection, State
from raygrove.app.playback import timeline as timelines
from raygrove.app.playback.timeline import Timeline
from raygrove.app.scene_io import SceneError, load, load_environment, load_picture
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.scene_io.motions import with_motion
from raygrove.app.settings.settings import Settings
from raygrove.app.settings.start_options import StartOptions, placed
from raygrove.gpu.camera import Camera, fit
from raygrove.gpu.scene import Remark, Scene

FAIR_PART = 0.15
"""Of the scene's box: a camera of the file that sees less is not where the first picture is taken from."""

PLACES = 9
"""Along each side of the box, where the camera is asked what it sees."""


def open_scene(reference: SceneReference, settings: Settings, job: Job | None = None) -> Scene:
    """Read or make the scene, with the motion that the settings give a still one. Raises SceneError (ImportCancelled
    where the job was cancelled) and UnknownDemoError, both with a sentence."""
    scene = with_trees(with_motion(_read(reference, settings, job), settings.motion), settings.trees)
    picture = settings.importer.environment
    if not picture:
        return scene
    cancel = job.cancel_event if job is not None else None
    return dataclasses.replace(scene, environment=load_environment(picture, settings.importer, cancel))


def _read(reference: SceneReference, settings: Settings, job: Job | None) -> Scene:
    if reference.kind == "demo":
        return make_demo(reference.names[0], *dataclasses.astuple(settings.demo))
    if reference.kind != "files" or not reference.names:
        raise SceneError("No scene was named: give a file or a built-in scene.")
    progress = job.report if job is not None else None
    cancel = job.cancel_event if job is not None else None
    return load(
        reference.names, settings.importer, progress, cancel, fps=settings.timeline.fps or timelines.DEFAULT_FPS
    )


def open_picture(
    path: str, own: Settings, job: Job | None = None, *, is_trusted: bool = False
) -> tuple[State, tuple[Remark, ...]]:
    """The state that a saved picture carries, and what is to be said of it; limits of `import` are those of `own`.
    Raises SceneError with a sentence, OutsideError where it names files elsewhere and neither is it trusted nor are
    those allowed."""
    texts, _, _ = load_picture(path, own.importer, job.cancel_event if job is not None else None)
    remarks: list[str] = []
    state = saved_state.state_of(texts, path, own, remarks)
    if not is_trusted:
        saved_state.check_files(state, path, own)
    return state, tuple(Remark(1, sentence) for sentence in remarks)


def first_look(state: State, scene: Scene) -> State:
    """The state as a new scene begins: its cameras, the head at the start, playing if it moves and `timeline.autoplay`
    says so."""
    found = cameras_of(scene, options=state.settings.camera, start=state.settings.start)
    views = tuple(dataclasses.replace(view, camera=0) for view in state.views)
    options = state.settings.timeline
    head = Timeline(clip=timelines.clip_named(scene, options.clip) or 0)
    moves = timelines.span_of(scene, head, options).duration > 0.0
    head = dataclasses.replace(head, is_playing=moves and options.autoplay)
    return dataclasses.replace(state, cameras=found, views=views, timeline=head, selection=Selection(), hidden=())


def same_look(state: State, scene: Scene) -> State:
    """The state as a scene that was read again goes on: the free camera stays; what the file no longer has gives way to
    it, or to its first clip."""
    found = (state.cameras[0], *cameras_of(scene, options=state.settings.camera)[1:])
    views = tuple(view if view.camera < len(found) else dataclasses.replace(view, camera=0) for view in state.views)
    clip = state.timeline.clip if state.timeline.clip < max(len(scene.clips), 1) else 0
    return dataclasses.replace(
        state,
        cameras=found,
        views=views,
        timeline=dataclasses.replace(state.timeline, clip=clip),
        **in_scene(state, scene),
    )


def in_scene(state: State, scene: Scene) -> dict[str, Any]:
    """What is selected and what is hidden, as far as the scene has it."""
    count = len(scene.objects)
    hidden = tuple(index for index in state.hidden if index < count)
    return {"selection": state.selection.within(count), "hidden": hidden}


def cameras_of(
    scene: Scene, aspect: float = 4.0 / 3.0, options: CameraOptions | None = None, start: StartOptions | None = None
) -> tuple[Camera, ...]:
    """The free camera, then the scene's own. The free one starts where `start` says, or the scene, or at its first
    camera where that sees enough, or sees everything."""
    options = options or CameraOptions()
    free, *own = _cameras_of(scene, aspect, options)
    return (placed(free, start, scene, options.up_axis) if start is not None else free, *own)


def _cameras_of(scene: Scene, aspect: float, options: CameraOptions) -> tuple[Camera, ...]:
    near, far = options.near, options.far
    own = tuple(
        dataclasses.replace(scene_nodes.camera_at(scene, camera), near=near, far=far) for camera in scene.cameras
    )
    side = Camera(eye=(0.8, 0.5, 1.6), fov=options.field_of_view, near=near, far=far)
    if scene.eye is not None and scene.look_at is not None:
        return (dataclasses.replace(side, eye=scene.eye, look_at=scene.look_at), *own)
    if own and _sees_enough(own[0], scene, aspect):
        return (own[0], *own)
    whole = fit(scene.lower, scene.upper, cameras.with_up(side, options.up_axis), aspect)
    return (whole, *own)


def _sees_enough(camera: Camera, scene: Scene, aspect: float) -> bool:
    """Whether a camera of the file stands in the scene's box, or has a fair part of the box in its view: cameras that a
    program puts into each new file may look at a corner of the model, close by."""
    lower, upper, eye = (np.asarray(end, np.float64) for end in (scene.lower, scene.upper, camera.eye))
    if camera.orthographic or np.all((lower <= eye) & (eye <= upper)):
        return True
    shares = (np.indices((PLACES, PLACES, PLACES)).reshape(3, -1).T + 0.5) / PLACES
    right, up, forward = camera.basis()
    seen = lower + shares * (upper - lower) - eye
    ahead = seen @ forward
    half = math.tan(math.radians(camera.fov) / 2.0) * ahead
    is_seen = (ahead > 0.0) & (np.abs(seen @ up) <= half) & (np.abs(seen @ right) <= half * aspect)
    return float(np.mean(is_seen)) >= FAIR_PART
