"""`warm`: compiles ahead what drawing needs, so that no first picture and no other structure waits for a compiler."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from raygrove.app.cli.common import reference_from, settings_from
from raygrove.app.document.opening import open_scene
from raygrove.app.document.state import SceneReference, State
from raygrove.app.export.tables import json_text
from raygrove.app.frames.compile_job import compile_units
from raygrove.app.frames.views import other_choice, view_settings
from raygrove.app.settings import option_tables
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.enlarge.enlarging import UNIT as ENLARGING
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.planned_units import planned_units
from raygrove.gpu.scene import Scene
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target, UnitSource
from raygrove.gpu.target.planning import AheadCompiler
from raygrove.gpu.view import ViewSettings

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

USUAL_SCENES = ("explode", "walker", "orbit", "glass")
"""What is prepared for where no scene is named: key frames, skins, moved objects, materials that let light through."""


def run(names: argparse.Namespace, words: Words) -> int:
    """Compile what is missing; returns the exit code."""
    settings = settings_from(names, words)
    began = time.perf_counter()
    with contextlib.closing(choose(settings.render.device, settings.device)) as target:
        words.say(f"Compiling for {target.device_name} ({target.name}) ...")
        units = _planned(target, _scenes(names, settings), settings, names.all, words)

        def show(done: int, of: int) -> None:
            words.say(f"{done} of {of} compiled, {time.perf_counter() - began:.0f} s")

        compiled = compile_units(AheadCompiler(target), units, show)
    seconds = time.perf_counter() - began
    words.say(f"{len(units)} units are ready; {compiled} of them were compiled, in {seconds:.1f} s.")
    if names.json:
        print(json_text({"units": len(units), "compiled": compiled, "seconds": round(seconds, 3)}))
    return 0


def _scenes(names: argparse.Namespace, settings: Settings) -> list[Scene]:
    reference = reference_from(names, settings)
    if reference.kind != "none":
        return [open_scene(reference, settings)]
    small = set_option(settings, "demo.triangles", 500)
    return [open_scene(SceneReference("demo", (name,)), small) for name in USUAL_SCENES]


def _choices(settings: Settings, is_all: bool) -> Iterator[ViewSettings]:
    """What is prepared: the choice of the settings; with --all every structure, and every ray type on every kind of
    tree that one of them makes by itself. Refitted and rebuilt, whatever the policy."""
    chosen = view_settings(State(settings=settings))
    chosen = dataclasses.replace(chosen, update=dataclasses.replace(chosen.update, mode="auto"))
    yield chosen
    if not is_all:
        return
    families: dict[str, str] = {}
    for name, kind in option_tables.own_builders().items():
        families.setdefault(kind.family, name)
        yield other_choice(settings, chosen, name, chosen.ray_type)
    for ray_type in option_tables.ray_types():
        for name in dict.fromkeys((chosen.hierarchy, *families.values())):
            yield other_choice(settings, chosen, name, ray_type)


def _planned(target: Target, scenes: list[Scene], settings: Settings, is_all: bool, words: Words) -> list[UnitSource]:
    """All units, each once. What cannot be drawn of a scene is said where it was asked for, and left out of --all."""
    found: dict[UnitSource, None] = {}
    for scene in scenes:
        for index, shown in enumerate(_choices(settings, is_all)):
            try:
                found.update(dict.fromkeys(planned_units(target, scene, [shown])))
            except HierarchyError as error:
                if index == 0:
                    raise
                words.detail(f"{scene.name}, {shown.hierarchy}, {shown.ray_type}: {error}")
    return [*found, ENLARGING]
