"""`advise`: when to rebuild a structure over a clip, measured; what each policy costs beside the best schedule."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from raygrove.app.cli.common import scene_from, settings_from, state_from, target_from
from raygrove.app.cli.race import course_of
from raygrove.app.document.state import State
from raygrove.app.export.tables import text_table
from raygrove.app.export.whole_files import check_writable, write_bytes
from raygrove.app.frames.advising import BesideError, advice_of, break_even_sentence
from raygrove.app.problems.problems import UsageError
from raygrove.gpu.analysis.advice import Advice, settings_text
from raygrove.gpu.brief import least_percent, percent
from raygrove.gpu.face.laboratory import MOST_FRAMES
from raygrove.gpu.scene import Scene

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
    print(f"{found.sentence[0].upper()}{found.sentence[1:]}.\n{break_even_sentence(found)}")
    if found.left_out:
        print(f"refit_rotations is not judged: {found.left_out}.")
    if found.alternatives:
        print("By the best schedule of each:")
    for one in found.alternatives:
        print(f"  {one.sentence(found.configuration, found.ms)}.")
    if found.interpolation_error is not None:
        share = least_percent(found.interpolation_error)
        words.say(f"Trees of some frames were measured, the rest is off by {share} (median); --exact measures all.")
    return 0


def check(count: int) -> None:
    """Refuse too few or too many frames, before any work."""
    if not 2 <= count <= MOST_FRAMES:
        raise UsageError(
            f"advice is for 2 to {MOST_FRAMES} frames, and these are {count}: give a scene that moves and --frames A:B."
        )


def _advice(names: argparse.Namespace, scene: Scene, state: State, words: Words) -> Advice:
    course = course_of(names, scene, state)
    beside = None if names.beside is None else [one for one in names.beside if one != "none"]
    check(len(course.moments))
    with contextlib.closing(target_from(state.settings, words)) as target:
        try:
            return advice_of(
                target, scene, state, course, exact=names.exact, beside=beside,
                say=lambda share, name: words.progress(f"{percent(share)}: measuring {name}."),
            )  # fmt: skip
        except BesideError as error:
            raise UsageError(f"--beside: {str(error).rstrip('.')}.") from error
