"""A picture as words: the command that draws it without a window, and the settings of it as a file.

The command names what differs from the built-in values and from the settings that the user keeps, which the program
reads first; where the camera stands, the instant, what is hidden and the size are said whatever they are.
"""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from raygrove.app.document.state import SceneReference, State
from raygrove.app.edits.objects import ObjectsError, matching, names_of
from raygrove.app.frames.contestants import shared_settings
from raygrove.app.frames.exporting import smooth_samples
from raygrove.app.playback.timeline import clip_named
from raygrove.app.settings.file import leaves, settings_text, to_table
from raygrove.app.settings.flags import KEY_FLAGS
from raygrove.app.settings.option_tables import plug_in_words
from raygrove.app.settings.ray_options import MEASURED, from_folder
from raygrove.app.settings.settings import Settings, option_field, set_option
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Scene
from raygrove.program import COMMAND, typed

OUT = "raygrove.png"
HEAD = "# Settings of Raygrove that differ from the built-in ones.\n"

NOT_SEEN = ("camera", "display", "meister", "path", "rays", "start", "statistics", "timeline", "window")
"""Groups that change no picture, or that the command says in other words."""

SEEN = ("camera.near", "camera.far", "display.spheres", "timeline.fps", "timeline.clip")
"""What does, of those groups."""

ELSEWHERE = ("render.width", "render.height", "render.samples")
"""What --size and --samples say."""

NOT_RACED = ("race", "boxes", "render.hierarchy")
"""What a race does not show, and what no contestant leaves to the settings."""

OF_SPELLING = ("render.optimiser", "render.layout", "render.traversal", "update.mode")
"""What has no flag of its own in a race, whose contestants say it."""

PATHS = ("import.environment",)


def command_line(state: State, scene: Scene, size: tuple[int, int], own: Settings) -> str:
    """What a shell takes; `size` is the picture's in pixels, `own` the user's settings. Raises ObjectsError where an
    object has a name that no command can say."""
    program = ("raygrove",) if typed() == "raygrove" else COMMAND
    return shlex.join([*program, *words_of(state, scene, size, own)])


def words_of(state: State, scene: Scene, size: tuple[int, int], own: Settings) -> list[str]:
    """The words of the command behind the program's name. Raises ObjectsError."""
    return [
        *("render", *_scene_words(state.scene), *plug_in_words()),
        *_setting_words(drawn_settings(state, scene), own),
        *view_words(state, scene, size, own),
        *("--out", OUT),
    ]


def race_line(state: State, scene: Scene, own: Settings, contestants: Sequence[str]) -> str:
    """What a shell takes to race these over the whole clip as the window shows it: what they do not say is built in,
    whatever the user's settings choose. Raises ObjectsError."""
    program = ("raygrove",) if typed() == "raygrove" else COMMAND
    settings, looks_through = shared_settings(drawn_settings(state, scene)), state.views[0].camera
    camera = ["--camera", str(looks_through)] if looks_through else _camera_words(state.camera_of(0), scene)
    words = [
        *("race", *_scene_words(state.scene), *plug_in_words(), *_setting_words(settings, own, _is_raced)),
        *(*_object_words(state.hidden, scene, own), *camera),
        *("--size", f"{settings.render.width}x{settings.render.height}", "--contestants", ",".join(contestants)),
    ]
    return shlex.join([*program, *words])


def configuration(state: State, scene: Scene | None) -> str:
    """The settings that differ from the built-in values, as a file has them: with the scene, the camera and the instant
    the same picture."""
    return HEAD + settings_text(state.settings if scene is None else drawn_settings(state, scene))


def drawn_settings(state: State, scene: Scene) -> Settings:
    """The settings with what the picture has of its own: the view's choices, the clip, the camera's planes."""
    settings, view, camera = state.settings, state.views[0], state.camera_of(0)
    for name in ("hierarchy", "optimiser", "layout", "traversal", "ray_type"):
        if getattr(view, name):
            settings = set_option(settings, f"render.{name}", getattr(view, name))
    for name in ("near", "far"):
        settings = set_option(settings, f"camera.{name}", getattr(camera, name))
    clip = state.timeline.clip
    if clip_named(scene, settings.timeline.clip) != clip:
        named = (text for text in (str(clip), scene.clips[clip].name) if clip_named(scene, text) == clip)
        settings = set_option(settings, "timeline.clip", next(named))
    return settings


def view_words(state: State, scene: Scene, size: tuple[int, int], own: Settings) -> list[str]:
    """The words for what is no setting: what is hidden, the instant, the camera, the size."""
    return [
        *_object_words(state.hidden, scene, own),
        *(_flag("--time", _number(state.timeline.time)) if state.timeline.time else ()),
        *_camera_words(state.camera_of(0), scene),
        *("--size", f"{size[0]}x{size[1]}", "--samples", str(smooth_samples(state.settings))),
    ]


def _scene_words(reference: SceneReference) -> list[str]:
    if reference.kind == "none":
        raise ObjectsError("what a running program shows has no file that a command could open")
    if reference.kind == "demo":
        return ["--demo", reference.names[0]]
    return [os.path.abspath(name) for name in reference.names]


def _is_said(key: str) -> bool:
    return key in SEEN or (key.partition(".")[0] not in NOT_SEEN and key not in ELSEWHERE)


def _is_raced(key: str) -> bool:
    group = key.partition(".")[0]
    return (
        group == "statistics" or key == MEASURED or (_is_said(key) and group not in NOT_RACED and key not in NOT_RACED)
    )


def _setting_words(settings: Settings, own: Settings, is_said: Callable[[str], bool] = _is_said) -> Iterator[str]:
    now, theirs, usual = (dict(leaves(to_table(one, everything=True))) for one in (settings, own, Settings()))
    for key in filter(is_said, {**now, **theirs}):
        default = usual[key] if key in usual else option_field(key).default
        value = now.get(key, default)
        if value != default or value != theirs.get(key, default):
            text = os.path.abspath(value) if key in PATHS and value else _text(value)
            text = from_folder(text, os.getcwd()) if key == MEASURED else text
            has_flag = key in KEY_FLAGS and not (is_said is _is_raced and key in OF_SPELLING)
            yield from _flag(KEY_FLAGS[key], text) if has_flag else ("--set", f"{key}={text}")


def _object_words(hidden: Sequence[int], scene: Scene, own: Settings) -> list[str]:
    """--hide, or --isolate where that is shorter; what the user's settings leave out is taken back."""
    shown = [index for index in range(len(scene.objects)) if index not in set(hidden)]
    is_short = 0 < len(shown) < len(hidden)
    said = {"hide": "" if is_short else _objects(hidden, scene), "isolate": _objects(shown, scene) if is_short else ""}
    return [
        word
        for name, text in said.items()
        if text or getattr(own.start, name)
        for word in _flag(KEY_FLAGS[f"start.{name}"], text)
    ]


def _objects(objects: Iterable[int], scene: Scene) -> str:
    """Objects as --hide takes them: by number, or by name where another object has the number for its name."""
    names = names_of(scene)

    def word(index: int) -> str:
        for text in (str(index), names[index], glob.escape(names[index])):
            if ";" not in text and matching(scene, text) == {index}:
                return text
        raise ObjectsError(f"the object {names[index]!r} has a name that others are taken for; rename it in its file.")

    return ";".join(map(word, objects))


def _camera_words(camera: Camera, scene: Scene) -> list[str]:
    """Places are said in the file's coordinates."""
    places = {"--eye": camera.eye, "--look-at": camera.look_at}
    words = [
        word
        for flag, place in places.items()
        for word in _flag(flag, _text([part + start for part, start in zip(place, scene.origin, strict=True)]))
    ]
    lens = ("--orthographic", camera.height) if camera.orthographic else ("--fov", camera.fov)
    return [*words, *_flag("--up", _text(camera.up)), *_flag(lens[0], _number(lens[1]))]


def _flag(flag: str, text: str) -> tuple[str, ...]:
    """A flag and what it takes, in one word where that would look like another flag."""
    return (f"{flag}={text}",) if text.startswith("-") else (flag, text)


def _text(value: Any) -> str:
    """A setting's value as --set reads it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(_number(part) for part in value)
    return _number(value) if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    """The number itself: what is read is what was written."""
    return repr(float(value)).removesuffix(".0")
