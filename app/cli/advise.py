"""`advise`: when to rebuild a structure over a clip, measured; what each policy costs beside the best schedule."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from raygrove.app.cli.common import scene_from, settings_from, state_from, target_from
from raygrove.app.cli.race import course_of
from raygrove.app.document.state import State
from raygrove.app.export.tables import text_table
from raygrove.app.export.whole_files import check_writable, write_bytes
from raygrove.app.frames.views import view_settings
from raygrove.app.playback import timeline as timelines
from raygrove.app.problems.problems import UsageError
from raygrove.app.settings.chosen_configuration import spelling_of, with_set_options
from raygrove.app.settings.ray_options import measures_others
from raygrove.gpu.analysis.advice import Advice, settings_text
from raygrove.gpu.analysis.advice import advise as advise_rig
from raygrove.gpu.analysis.alternatives import usual
from raygrove.gpu.analysis.rig import Rig, camera_rays
from raygrove.gpu.analysis.workload import Workload
from raygrove.gpu.configuration import parse
from raygrove.gpu.errors import Error
from raygrove.gpu.face.laboratory import MOST_FRAMES, MOST_RAYS, rig_makers
from raygrove.gpu.face.workloads import workload_of
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import OptionError

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

ENDINGS = (".json", ".toml")


def run(names: argparse.Namespace, words: Words) -> int:
    """Play the clip, measure, and print a table and a sentence."""
    if names.out is not None:
        if Path(names.out).suffix.lower() not in ENDINGS:
            raise UsageError(f"--out {names.out}: advice is written as .json, or as .toml for --settings.")
        check_writable(Path(names.out).parent, Path(names.out).name)
    settings = settings_from(names, words)
    reference, scene = scene_from(names, settings, words)
    found = _advice(names, scene, state_from(names, settings, reference, scene), words)
    if names.out is not None:
        text = settings_text(found) if names.out.lower().endswith(".toml") else found.to_json() + "\n"
        write_bytes(Path(names.out), text.encode())
        words.say(f"Wrote {names.out}.")
    if names.json:
        print(found.to_json())
        return 0
    rows = [{"policy": one.policy, "ms": one.ms, "regret": one.regret, "rebuilds": one.rebuilds}
            for one in found.policies]  # fmt: skip
    best = {"policy": "the best schedule", "ms": found.ms, "regret": 1.0, "rebuilds": sum(found.schedule)}
    print(text_table([best, *rows], ("policy", "ms", "regret", "rebuilds")))
    print(f"{found.sentence[0].upper()}{found.sentence[1:]}.\n{_break_even(found)}")
    for one in found.alternatives:
        sentence = one.sentence(found.configuration, found.ms)
        print(f"{sentence[0].upper()}{sentence[1:]}.")
    if found.interpolation_error is not None:
        share = f"{100.0 * found.interpolation_error:.2g} %"
        words.say(f"Trees of some frames were measured, the rest is off by {share} (median); --exact measures all.")
    return 0


def _break_even(found: Advice) -> str:
    if found.rays_break_even is None:
        return "Tracing a tree that is only refitted is no dearer here: more rays do not make rebuilds pay."
    return f"From {found.rays_break_even:,} rays a frame on, rebuilding every frame is cheaper than never rebuilding."


def _advice(names: argparse.Namespace, scene: Scene, state: State, words: Words) -> Advice:
    course, view = course_of(names, scene, state), view_settings(state)
    count = len(course.moments)
    if not 2 <= count <= MOST_FRAMES:
        raise UsageError(
            f"advice is for 2 to {MOST_FRAMES} frames, and these are {count}: give a scene that moves and --frames A:B."
        )
    measured = state.settings.rays
    rays: Workload = camera_rays(course.cameras[0], *course.size)
    if measures_others(measured):
        rays = workload_of(measured.measured, scene)
    taken = rays if names.exact else rays.at_most(MOST_RAYS)
    with contextlib.closing(target_from(state.settings, words)) as target:
        rig = Rig(target, scene, view.hierarchy, view.structure_choice, taken)
        with contextlib.closing(rig):
            if not rig.hierarchy.capabilities.refit:
                raise Error(f"{rig.hierarchy.title} cannot be refitted", "advise", "rebuild it in every frame")
            spelt = _spelt(state)
            others = names.beside if names.beside is not None else usual(spelt, rig.hierarchy.layout_name)
            try:
                beside = [with_set_options(state.settings, one) for one in others if one != "none"]
                makers = rig_makers(target, scene, beside, taken)
            except (OptionError, Error) as error:
                raise UsageError(f"--beside: {str(error).rstrip('.')}.") from error
            fps = state_fps(scene, state)
            return advise_rig(rig, spelt, course.moments, fps, len(rays), exact=names.exact, beside=makers)


def state_fps(scene: Scene, state: State) -> float:
    """Frames a second of the clip."""
    return timelines.span_of(scene, state.timeline, state.settings.timeline).fps


def _spelt(state: State) -> str:
    """The structure as it is spelt, with the options that were set; its policy is none of it."""
    view, settings = view_settings(state), state.settings
    shown = {part: getattr(view, part) for part in ("hierarchy", "optimiser", "layout", "traversal")}
    settings = dataclasses.replace(settings, render=dataclasses.replace(settings.render, **shown))
    return str(dataclasses.replace(parse(spelling_of(settings)), policy=None))
