"""A picture as a program of the library: Python that draws it without the window, and without the settings that a user
keeps.

What the library's own names cannot say (options of files, a motion, changed materials) is said by the modules that the
program itself uses. Boxes, collisions and what OpenGL draws are the program's alone: those are refused by name.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import raygrove
from raygrove.app.document.state import State
from raygrove.app.edits.objects import ObjectsError
from raygrove.app.frames.exporting import smooth_samples
from raygrove.app.frames.legends import legend_of, shows_materials
from raygrove.app.frames.views import view_settings
from raygrove.app.playback.timeline import DEFAULT_FPS
from raygrove.app.settings.settings import Settings
from raygrove.gpu.scene import Scene
from raygrove.gpu.view import ViewSettings

OUT = "raygrove.png"
WIDTH = 100
"""Columns of a call that stays on one line."""


class Words:
    """Values as Python, and the imports that they need."""

    def __init__(self) -> None:
        self.imports: set[str] = set()

    def of(self, value: Any) -> str:
        """An expression that is `value`; of options what differs from their defaults."""
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            kind = type(value)
            changed = {
                field.name: self.of(getattr(value, field.name))
                for field in dataclasses.fields(value)
                if field.init and getattr(value, field.name) != _default(field)
            }
            return call(self.named(kind.__module__, kind.__qualname__), changed)
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{key!r}: {self.of(one)}" for key, one in value.items()) + "}"
        if isinstance(value, tuple):
            return "(" + "".join(f"{self.of(one)}, " for one in value).rstrip(" ") + ")"
        return repr(value)

    def named(self, module: str, name: str) -> str:
        """A name of a module, imported where `import raygrove as rg` has it not."""
        if name in raygrove.__all__:
            return f"rg.{name}"
        self.imports.add(f"from {module} import {name}")
        return name


def call(name: str, arguments: Mapping[str, str]) -> str:
    """A call by keywords, an argument a line where it would be long."""
    words = [f"{key}={text}" for key, text in arguments.items()]
    line = f"{name}({', '.join(words)})"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    inner = ",\n".join(words).replace("\n", "\n    ")
    return f"{name}(\n    {inner},\n)"


def program(state: State, scene: Scene, size: tuple[int, int]) -> str:
    """The text; `size` is the picture's in pixels. Raises ObjectsError with what no such program can draw."""
    _check(state)
    settings, words = state.settings, Words()
    view = _without_defaults(view_settings(state, samples=smooth_samples(settings)))
    lines = [
        f"scene = {_scene(state, scene, words)}",
        f"settings = {words.of(view)}",
        f"camera = {words.of(state.camera_of(0))}",
        f"moment = rg.Moment(time={state.timeline.time!r}, clip={state.timeline.clip})",
        "",
        f"with contextlib.closing(rg.choose({settings.render.device!r})) as target:",
        f"    pixels = rg.ArrayPixels(target, {size[0]}, {size[1]})",
        "    view = rg.View(settings, camera, pixels)",
        "    with contextlib.closing(rg.Engine(target, scene)) as engine:",
        *(f"        {line}" for line in _given(state, words)),
        "        drawn = 0",
        "        while drawn < settings.samples:",
        "            engine.render_frame(moment, [view])",
        "            drawn += not engine.flush().is_behind  # else it is given more memory, and drawn again",
        *(f"        {line}" for line in _over(settings, words)),
        "        picture = pixels.download()",
        *(f"        {line}" for line in _legend(state, scene, words)),
        "",
        f"Image.fromarray(picture[..., :3]).save({OUT!r})  # (height, width, 3) uint8",
    ]
    head = [
        "import contextlib",
        "",
        "from PIL import Image",
        "",
        "import raygrove as rg",
        *sorted(words.imports),
        "",
        "",
    ]
    return "\n".join([*head, *lines]) + "\n"


def _without_defaults(view: ViewSettings) -> ViewSettings:
    """The same view, with None for options that are as they begin."""
    given = {name: getattr(view, name) for name in ("hierarchy_options", "optimiser_options", "ray_type_options")}
    usual: dict[str, Any] = {
        name: None for name, options in given.items() if options is not None and options == type(options)()
    }
    return dataclasses.replace(view, **usual)


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def _check(state: State) -> None:
    settings = state.settings
    if state.scene.kind == "none":
        raise ObjectsError("what a running program shows has no file that a program could open")
    for what, is_there in (
        ("boxes of nodes are", settings.boxes.show),
        ("the periodic box is", settings.periodic_box.show),
        ("tiles are", settings.tile_marks.are_on),
        ("collisions are", settings.collisions.show),
        ("spheres by OpenGL are", settings.display.spheres != "rays"),
    ):
        if is_there:
            raise ObjectsError(f"{what} drawn by the window alone. Turn that off, or copy the picture as a command")


def _scene(state: State, scene: Scene, words: Words) -> str:
    """The scene opened: by the library where its defaults say all of it."""
    settings, usual, reference = state.settings, Settings(), state.scene
    fps = settings.timeline.fps or DEFAULT_FPS
    is_plain = (settings.importer, fps) == (usual.importer, DEFAULT_FPS) or reference.kind == "demo"
    is_plain = is_plain and (settings.demo == usual.demo or reference.kind == "files")
    names = [os.path.abspath(name) for name in reference.names] if reference.kind == "files" else [*reference.names]
    if is_plain and scene.triangle_count and not scene.sphere_count:
        text = f"rg.open({(names[0] if len(names) == 1 else names)!r}).to_plain()"
    elif reference.kind == "demo":
        make = words.named("raygrove.app.scene_io.demos", "make_demo")
        chosen: list[object] = [settings.demo.triangles, settings.demo.seed]
        if names[0] == "spheres":
            chosen += [settings.demo.sphere_radius, settings.demo.sphere_pixels]
        text = f"{make}({names[0]!r}, {', '.join(map(repr, chosen))})"
    else:
        load = words.named("raygrove.app.scene_io", "load")
        text = call(load, {"paths": repr(names), "limits": words.of(settings.importer), "fps": repr(fps)})
    if settings.motion != usual.motion:
        text = f"{words.named('raygrove.app.scene_io.motions', 'with_motion')}({text}, {words.of(settings.motion)})"
    if settings.importer.environment:
        load = words.named("raygrove.app.scene_io", "load_environment")
        sky = f"{load}({os.path.abspath(settings.importer.environment)!r}, {words.of(settings.importer)})"
        text = f"{words.named('dataclasses', 'replace')}({text}, environment={sky})"
    return text


def _given(state: State, words: Words) -> list[str]:
    """What the engine is told before the picture."""
    settings, usual, lines = state.settings, Settings(), []
    if state.hidden:
        lines.append(f"engine.hide({state.hidden!r})")
    if settings.spheres != usual.spheres:
        lines.append(f"engine.take_sphere_options({words.of(settings.spheres)})")
    if settings.gravity != usual.gravity:
        lines.append(f"engine.take_gravity_options({words.of(settings.gravity)})")
    for take, edited, table in (
        ("take_materials", "edited_materials", settings.material),
        ("take_lights", "edited_lights", settings.light),
    ):
        if table:
            changed = words.named("raygrove.app.edits.scene_edits", edited)
            lines.append(f"engine.{take}({changed}(scene, {words.of(table)}))")
    return "\n".join(lines).splitlines()


def _legend(state: State, scene: Scene, words: Words) -> list[str]:
    """The scale of its colours, where the settings want one."""
    name, settings = state.ray_type_of(), state.settings
    if not settings.render.legend or legend_of(state, scene) is None:
        return []
    lines, over = [], words.named("raygrove.app.export.legend", "with_legend")
    if shows_materials(name):
        find = words.named("raygrove.app.frames.legends", "attribute_legend")
        lines.append(f"scale = {find}({words.of(settings.spheres)}, scene)")
    else:
        options = settings.ray_type_options(name)
        find = words.named("raygrove.app.settings.option_tables", "legend")
        lines.append(f"scale = {find}({name!r}, {words.of(options)})")
        if getattr(options, "automatic", False):
            lines.append("counts = engine.flush().views[0].steps")
            ends = "counts.number(counts.low), counts.number(counts.high)"
            lines.append(f"scale = type(scale)(scale.label, {ends}, scale.colors)")
    lines.append(f"picture = {over}(picture, scale)")
    return "\n".join(lines).splitlines()


def _over(settings: Settings, words: Words) -> list[str]:
    """What is drawn over it."""
    if not settings.contours.are_on:
        return []
    return f"engine.paint_contours(view, {words.of(settings.contours)})".splitlines()
