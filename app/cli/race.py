"""`race`: several configurations over the same frames: who is faster, by how much and why, with hits proved equal."""

from __future__ import annotations

import argparse
import contextlib
import functools
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raygrove.app.cli.cameras import looked_through
from raygrove.app.cli.common import check_attributes, scene_from, settings_from, state_from, target_from
from raygrove.app.cli.race_file import said_by_its_key, taken_from
from raygrove.app.cli.race_survey import check_survey, correlate
from raygrove.app.cli.render import frames_of
from raygrove.app.document.state import State
from raygrove.app.export.sequence import is_folder, place_of
from raygrove.app.export.whole_files import check_writable
from raygrove.app.frames import race_report
from raygrove.app.frames.race_report import REPEAT
from raygrove.app.problems.problems import EXIT_FAILURE, UsageError
from raygrove.app.scene_io.errors import without_call
from raygrove.app.settings.chosen_configuration import as_set
from raygrove.app.settings.ray_options import measures_others
from raygrove.app.settings.settings import Settings
from raygrove.gpu.analysis.intervals import LEAST_SAMPLES
from raygrove.gpu.analysis.race import LETTERS, Race
from raygrove.gpu.analysis.race_files import ENDINGS
from raygrove.gpu.analysis.racing import Course
from raygrove.gpu.analysis.racing import run as run_race
from raygrove.gpu.analysis.ray_racing import run as race_rays
from raygrove.gpu.analysis.ray_racing import run_by_camera
from raygrove.gpu.analysis.rivals.known import Rival, rival_of
from raygrove.gpu.errors import Error
from raygrove.gpu.face.clips import Clip
from raygrove.gpu.face.given_trees import given_trees
from raygrove.gpu.face.races import MOST_FRAMES
from raygrove.gpu.face.workloads import workload_of
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.settings import OptionError
from raygrove.printable import printable_lines
from raygrove.program import typed

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words


def run(names: argparse.Namespace, words: Words) -> int:
    """Race, write what was asked for; 1 where hits differ, as it is for continuous integration."""
    with said_by_its_key(names):
        return _race(names, words)


def _race(names: argparse.Namespace, words: Words) -> int:
    taken_from(names)
    _check(names)
    settings = settings_from(names, words)
    scene, state = _start(names, words, settings)
    course = course_of(names, scene, state)
    with _given(names.trees, scene, course.moments[0]):
        if names.correlate:
            return correlate(names, words, scene, state, course, _command())
        entries = entries_of(names.contestants, state)
        with contextlib.closing(target_from(state.settings, words)) as target:
            prepare = functools.partial(race_report.prepared, scene=scene, state=state)
            if measures_others(settings.rays):
                rays = workload_of(settings.rays.measured, scene)
                found = race_rays(target, scene, entries, course, rays, hidden=state.hidden, say=words.share)
            elif any(isinstance(one, Rival) for one in entries):
                found = run_by_camera(target, scene, entries, course, hidden=state.hidden, say=words.share)
            else:
                found = run_race(target, scene, entries, course, prepare=prepare, say=words.share)
    _write(names, found, words)
    if names.json:
        print(found.to_json())
    else:
        print(printable_lines(str(found)))
        for one in found.correlations:
            outliers = f"; outliers {', '.join(one.outliers)}" if one.outliers else ""
            words.detail(f"{one.metric} and rays per second: rank correlation {one.rho:+.2f}{outliers}.")
    if found.faults:
        words.error("the contestants do not find the same hits.")
        return EXIT_FAILURE
    return 0


@contextlib.contextmanager
def _given(trees: Sequence[tuple[str, str]] | None, scene: Scene, first: Moment) -> Iterator[None]:
    """While it lasts, the trees of files are builders by their names. Raises UsageError where one cannot be."""
    if not trees:
        yield
        return
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(given_trees(dict(trees), Clip.from_plain(scene).at(first.time)))
        except (Error, ValueError) as error:
            raise UsageError(f"--tree: {without_call(error)}.") from error
        yield


def _start(names: argparse.Namespace, words: Words, settings: Settings) -> tuple[Scene, State]:
    reference, scene = scene_from(names, settings, words)
    state = looked_through(names, state_from(names, settings, reference, scene), scene)
    check_attributes(state.settings, scene)
    return scene, state


def _check(names: argparse.Namespace) -> None:
    """Refuse what cannot be, before any work."""
    if names.correlate:
        check_survey(names)
        return
    if not names.contestants:
        raise UsageError("name who takes part: --contestants lbvh@refit,hploc/bvh4@auto, or a file race.toml.")
    if len(names.contestants) > len(LETTERS):
        raise UsageError(f"--contestants: {len(names.contestants)} are too many; up to {len(LETTERS)} can be raced.")
    if names.repeat is not None and names.repeat < LEAST_SAMPLES:
        raise UsageError(
            f"--repeat {names.repeat}: an interval of 95 % takes {LEAST_SAMPLES} passes or more; say "
            f"--repeat {LEAST_SAMPLES}."
        )
    if names.out is None:
        return
    if not is_folder(names.out) and Path(names.out).suffix.lower() not in ENDINGS:
        raise UsageError(f"--out {names.out}: a race is written as {', '.join(ENDINGS)}, or into a folder, as out/.")
    check_writable(*place_of(names.out))


def entries_of(contestants: Sequence[str], state: State) -> list[Any]:
    """Who takes part, with the ray type and all else of the state, and what it does not say as that has it; other
    programs, too. Raises UsageError."""
    found: list[Any] = []
    for text in contestants:
        try:
            rival = rival_of(text)
            said = text if rival is not None else as_set(state.settings, text)
            found += [rival] if rival is not None else race_report.entries_of([said], state)
        except (OptionError, Error) as error:
            raise UsageError(f"--contestants {text}: {str(error).rstrip('.')}.") from error
    return found


def course_of(names: argparse.Namespace, scene: Scene, state: State) -> Course:
    """The instants and their cameras: --frames, --time, or all of the clip. Raises UsageError."""
    if names.frames or names.time is not None:
        drawn = frames_of(names, scene, state)
    else:
        drawn = race_report.whole_clip(state, scene)
    if len(drawn) > MOST_FRAMES:
        raise UsageError(f"a race has up to {MOST_FRAMES:,} frames, and these are more; name some by --frames A:B.")
    return race_report.course_of(state, scene, drawn, getattr(names, "repeat", None) or REPEAT)


def _write(names: argparse.Namespace, race: Race, words: Words) -> None:
    if names.out is None:
        return
    for path in race_report.write(names.out, race, _command()):
        words.say(f"Wrote {path}.")


def _command() -> str:
    """What was typed."""
    return shlex.join([*typed().split(), *sys.argv[1:]])
