"""What several commands share: settings from files and flags, the scene, the camera, the target."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from raygrove.app.document.opening import cameras_of, open_scene
from raygrove.app.document.state import SceneReference, State
from raygrove.app.edits import objects
from raygrove.app.playback import timeline as timelines
from raygrove.app.playback.timeline import Timeline
from raygrove.app.problems.problems import UsageError
from raygrove.app.scene_io.demos import demo_info
from raygrove.app.settings import option_tables
from raygrove.app.settings.file import load_settings, load_user_settings, sentence_of
from raygrove.app.settings.flags import OLD_FLAGS, OPTION_KEYS, configuration_keys, flag_of, ways_of
from raygrove.app.settings.meister_env import ENDING, load_environment
from raygrove.app.settings.older import Entry, Older, renewed
from raygrove.app.settings.ray_options import MEASURED, from_folder
from raygrove.app.settings.settings import Settings, set_option, set_text
from raygrove.app.settings.tree_options import FILES as TREES
from raygrove.app.settings.tree_options import named_first
from raygrove.app.user_files import presets
from raygrove.app.user_files.published import PUBLISHED
from raygrove.gpu import attributes
from raygrove.gpu.brief import filled
from raygrove.gpu.camera import Camera, Vector
from raygrove.gpu.configuration import ConfigurationError
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

DEFAULT_DEMO = "orbit"
MEASURING = ("bench", "suite")
"""Commands whose figures are of kernels as they are: --debug adds no checks to them."""


def settings_from(names: argparse.Namespace, words: Words) -> Settings:
    """Built-in values < the user's file < --settings < --set < flags. Raises SettingsError (a file) and UsageError (the
    command line). What could not be used is said, and stays in `names.remarks` for a window to show."""
    settings, warning = load_user_settings()
    names.user_settings, names.remarks = settings, warning.splitlines()
    settings = settings_of_flags(names, settings)
    for sentence in names.remarks:
        words.warn(sentence)
    return settings


def settings_of_flags(names: argparse.Namespace, settings: Settings) -> Settings:
    """`settings` (the user's, or a picture's) < --preset < --settings < --set < flags. Raises as `settings_from`."""
    settings = _with_preset(settings, names)
    for path in _settings_files(names):
        settings = _with_file(settings, path, names)
    said = [
        Entry(key, from_folder(text, os.getcwd()) if key == MEASURED else text, f"--set {key}={text}")
        for key, text in names.set
    ]
    if getattr(names, "trees", None) and names.command != "race":  # there they are over its first frame
        said.append(_trees_said(names.trees))
    flags = ((name, key, getattr(names, name, None)) for name, key in {**OLD_FLAGS, **OPTION_KEYS}.items())
    for name, key, text in flags:
        if text is not None:
            said += [Entry(part, value, f"{flag_of(name)} {text}") for part, value in _said_by(key, text)]
    found = renewed(settings, said)
    _remark(names, [f"{shown}: {sentence}" for shown, sentence in found.remarks])
    settings = found.settings
    for entry in named_first((entry.key, entry) for entry in found.entries):
        settings = _set(settings, entry.key, entry.value, entry.place)
    if getattr(names, "seed", None) is not None:
        for key in ("render.seed", "demo.seed"):
            settings = _set(settings, key, names.seed, f"--seed {names.seed}")
    if getattr(names, "size", None) is not None:
        settings = set_option(set_option(settings, "render.width", names.size[0]), "render.height", names.size[1])
    if getattr(names, "select", None) is not None:
        settings = _with_selection(settings, names.select)
    if getattr(names, "debug", False) and names.command not in MEASURING and "device.checks" not in dict(names.set):
        settings = set_option(settings, "device.checks", True)
    check_combination(settings)
    return settings


def _trees_said(trees: Sequence[tuple[str, str]]) -> Entry:
    """The setting that --tree NAME=FILE says, once or more often."""
    named = "; ".join(f"{name}={os.path.abspath(path)}" for name, path in trees)
    return Entry(TREES, named, " ".join(f"--tree {name}={path}" for name, path in trees))


def _with_preset(settings: Settings, names: argparse.Namespace) -> Settings:
    """The settings of --preset, which stand for all but the limits of imports. Raises UsageError, SettingsError."""
    name = getattr(names, "preset", None)
    if name is None:
        return settings
    older = Older()
    try:
        found = presets.load(name, older)
    except presets.PresetError as error:
        raise UsageError(f"--preset {name}: {error}") from error
    _remark(names, [*older.sentences, *([PUBLISHED[name].sentence] if name in PUBLISHED else [])])
    return dataclasses.replace(found, importer=settings.importer)


def _said_by(key: str, text: str) -> tuple[tuple[str, str], ...]:
    """The settings that a flag says: its own, and of --hierarchy those of a whole configuration. Raises UsageError."""
    if key == MEASURED:
        return ((key, from_folder(text, os.getcwd())),)
    try:
        return configuration_keys(text) if key == "render.hierarchy" else ((key, text),)
    except ConfigurationError as error:
        raise UsageError(f"--hierarchy {text}: {error.what}: {error.remedy}.") from error


def _with_selection(settings: Settings, text: str) -> Settings:
    """What --select NAME=A:B says; either end may be left out. Raises UsageError."""
    name, separator, limits = text.rpartition("=")
    low, colon, high = limits.partition(":")
    if not (name and separator and colon):
        raise UsageError(f"--select {text}: write NAME=A:B, as in charge=-1:0.5; A or B may be left out.")
    ends = {"select_from": low or str(-attributes.FAR), "select_to": high or str(attributes.FAR)}
    for key, value in {"select_by": name, **ends}.items():
        settings = _set(settings, f"spheres.{key}", value, f"--select {text}")
    if settings.spheres.select_from > settings.spheres.select_to:
        raise UsageError(f"--select {text}: nothing lies between {low} and {high}; the smaller end comes first.")
    return settings


def _settings_files(names: argparse.Namespace) -> list[str]:
    """The files of --settings, and FILE where that is one of Meister's, which then names no scene. Raises
    UsageError."""
    given = [names.settings] if names.settings is not None else []
    environments = [name for name in getattr(names, "files", []) if name.lower().endswith(ENDING)]
    if environments and len(names.files) > 1:
        raise UsageError(f"{environments[0]} holds settings and names its own scene; give it alone, or by --settings.")
    if environments:
        names.files, names.environment = [], environments[0]
    environment = getattr(names, "environment", None)
    return [*given, environment] if environment is not None else given


def _with_file(settings: Settings, path: str, names: argparse.Namespace) -> Settings:
    if not path.lower().endswith(ENDING):
        older = Older()
        settings = load_settings(Path(path), settings, older=older)
        _remark(names, older.sentences)
        return settings
    found = load_environment(Path(path), settings)
    _remark(names, found.remarks)
    if (
        {"width", "height"} <= found.keys
        and getattr(names, "size", None) is None
        and path == getattr(names, "environment", None)
    ):
        names.size = (found.settings.render.width, found.settings.render.height)
    return found.settings


def _remark(names: argparse.Namespace, sentences: Iterable[str]) -> None:
    """Keep each sentence once: pictures take the same files and flags a second time."""
    names.remarks = list(dict.fromkeys([*getattr(names, "remarks", []), *sentences]))


def check_combination(settings: Settings) -> None:
    """Refuse a layout that the structure is not written in, or a traversal that does not traverse it. Raises UsageError
    with what there is."""
    render = settings.render
    fitting = option_tables.builders()[render.hierarchy].optimisers()
    if render.optimiser not in ("none", *fitting):
        raise UsageError(
            f"--optimiser {render.optimiser}: {render.hierarchy} is not improved by it, only by "
            f"{', '.join(('none', *fitting))}."
        )
    layouts = option_tables.layouts(render.hierarchy)
    if render.layout not in ("auto", *layouts):
        raise UsageError(
            f"--layout {render.layout}: {render.hierarchy} is not written in it, only in {', '.join(layouts)}."
        )
    traversals = option_tables.traversals(render.hierarchy, render.layout)
    if render.traversal not in ("auto", *traversals):
        raise UsageError(
            f"--traversal {render.traversal}: it does not traverse {render.hierarchy} here; "
            f"{', '.join(traversals)} does."
        )


def _set(settings: Settings, key: str, text: str, shown: str) -> Settings:
    try:
        return set_text(settings, key, text)
    except OptionError as error:
        raise UsageError(f"{shown}: {sentence_of(error)}") from error


def reference_from(names: argparse.Namespace, settings: Settings) -> SceneReference:
    """The scene asked for: files, a built-in scene, what `start.scene` names, or none. Raises UsageError for both at
    once, UnknownDemoError."""
    if names.files and names.demo is not None:
        raise UsageError(f"either files or --demo {names.demo} can be opened, not both.")
    if names.demo is not None:
        demo_info(names.demo)
        return SceneReference("demo", (names.demo,))
    files = names.files or ([settings.start.scene] if settings.start.scene else [])
    return SceneReference("files", tuple(files)) if files else SceneReference()


def scene_from(names: argparse.Namespace, settings: Settings, words: Words) -> tuple[SceneReference, Scene]:
    """Open the scene asked for, or the default built-in one, and say what the reader remarked. Raises SceneError and
    UsageError."""
    reference = reference_from(names, settings)
    if reference.kind == "none":
        reference = SceneReference("demo", (DEFAULT_DEMO,))
        words.say(f"No scene was named: the built-in scene {DEFAULT_DEMO} is taken.")
    return reference, opened(reference, settings, words)


def opened(reference: SceneReference, settings: Settings, words: Words) -> Scene:
    """Open a scene, and say what the reader remarked. Raises SceneError."""
    scene = open_scene(reference, settings)
    seconds = scene.duration()
    motion = f"an animation of {seconds:.2f} s" if seconds > 0.0 else "no animation"
    triangles = filled("{count:,} triangles", count=scene.triangle_count)
    words.detail(f"{scene.name}: {triangles}, {scene.vertex_count:,} vertices, {motion}.")
    for remark in scene.remarks:
        ways = f" ({ways_of(remark.setting)})" if remark.setting else ""
        words.say(f"{scene.name}: {remark.counted}{ways}")
    return scene


def state_from(names: argparse.Namespace, settings: Settings, reference: SceneReference, scene: Scene) -> State:
    """The state a command draws: the scene's camera, changed by the flags."""
    aspect = settings.render.width / settings.render.height
    cameras = cameras_of(scene, aspect, settings.camera, settings.start)
    head = Timeline(clip=clip_from(settings, scene))
    hidden = hidden_from(settings, scene)
    return State(
        scene=reference,
        settings=settings,
        cameras=(camera_from(names, cameras[0], scene), *cameras[1:]),
        timeline=head,
        hidden=hidden,
    )


def check_attributes(settings: Settings, scene: Scene) -> None:
    """Refuse attributes of spheres that the scene does not have. Raises UsageError with those that it has."""
    known = attributes.names_of(scene)
    for key in ("color_by", "size_by", "select_by"):
        name = getattr(settings.spheres, key)
        if name and all(attributes.column(group, name) is None for group in scene.spheres):
            there = f"it has {', '.join(known)}" if known else "it has no spheres"
            raise UsageError(f"spheres.{key} = {name}: no spheres of {scene.name} have it; {there}.")


def hidden_from(settings: Settings, scene: Scene) -> tuple[int, ...]:
    """The objects that `start.hide` and `start.isolate` leave out. Raises UsageError with the objects there are."""
    try:
        return objects.hidden_of(scene, settings.start.hide, settings.start.isolate)
    except objects.ObjectsError as error:
        raise UsageError(str(error).rstrip(".") + ".") from error


def clip_from(settings: Settings, scene: Scene) -> int:
    """The clip that `timeline.clip` names. Raises UsageError with the clips there are."""
    wanted = settings.timeline.clip
    index = timelines.clip_named(scene, wanted)
    if index is None:
        known = ", ".join(f"{number} {clip.name}".rstrip() for number, clip in enumerate(scene.clips))
        raise UsageError(
            f"timeline.clip = {wanted}: {scene.name} has no such clip; "
            f"{f'its clips are {known}' if known else 'it has none'}."
        )
    return index


def camera_from(names: argparse.Namespace, camera: Camera, scene: Scene) -> Camera:
    """A camera changed by --eye, --look-at and --up, which are in the file's coordinates, and --fov (which makes it a
    perspective one) or --orthographic. Raises UsageError where it would look nowhere."""
    changes: dict[str, Vector | float | bool] = {}
    for name in ("eye", "look_at"):
        place = getattr(names, name, None)
        if place is not None:
            changes[name] = _relative(place, scene)
    if getattr(names, "up", None) is not None:
        if not any(names.up):
            raise UsageError("--up 0,0,0 is no direction.")
        changes["up"] = names.up
    if getattr(names, "fov", None) is not None:
        changes |= {"fov": names.fov, "orthographic": False}
    if getattr(names, "orthographic", None) is not None:
        changes |= {"height": names.orthographic, "orthographic": True}
    changed = dataclasses.replace(camera, **changes)  # type: ignore[arg-type]
    if changed.eye == changed.look_at:
        raise UsageError("the camera stands on the very point it looks at: give another --eye or --look-at.")
    return changed


def _relative(place: Vector, scene: Scene) -> Vector:
    x, y, z = (np.asarray(place, np.float64) - np.asarray(scene.origin, np.float64)).tolist()
    return x, y, z


def target_from(settings: Settings, words: Words) -> Target:
    """The target the settings choose. Raises NoDeviceError."""
    target = choose(settings.render.device, settings.device)
    words.detail(f"Target: {target.name} ({target.device_name}).")
    return target
