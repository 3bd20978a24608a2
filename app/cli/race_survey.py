"""`race --correlate`: all structures in heats over the same frames, and which figures of their trees go with speed."""

from __future__ import annotations

import argparse
import contextlib
import functools
from pathlib import Path
from typing import TYPE_CHECKING

from raygrove.app.cli.common import target_from
from raygrove.app.document.state import State
from raygrove.app.export.whole_files import check_writable, write_bytes
from raygrove.app.frames import race_report
from raygrove.app.problems.problems import EXIT_FAILURE, UsageError
from raygrove.app.settings.chosen_configuration import as_set
from raygrove.app.settings.ray_options import measures_others
from raygrove.gpu.analysis.intervals import LEAST_SAMPLES
from raygrove.gpu.analysis.racing import Course
from raygrove.gpu.analysis.survey import every_structure, survey
from raygrove.gpu.errors import Error
from raygrove.gpu.face.workloads import workload_of
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import OptionError
from raygrove.printable import printable_lines

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

ENDINGS = (".json", ".csv", ".html")


def check_survey(names: argparse.Namespace) -> None:
    """Refuse what cannot be, before any work."""
    if names.repeat is not None and names.repeat < LEAST_SAMPLES:
        raise UsageError(f"--repeat {names.repeat}: say {LEAST_SAMPLES} or more.")
    if names.out is not None:
        if Path(names.out).suffix.lower() not in ENDINGS:
            raise UsageError(f"--out {names.out}: with --correlate it is written as {', '.join(ENDINGS)}.")
        check_writable(Path(names.out).parent, Path(names.out).name)


def correlate(names: argparse.Namespace, words: Words, scene: Scene, state: State, course: Course, command: str) -> int:
    """Measure, print, and keep where asked for; 1 where hits differ."""
    measured = state.settings.rays
    rays = workload_of(measured.measured, scene) if measures_others(measured) else None
    try:
        texts = [as_set(state.settings, one) for one in names.contestants or every_structure()]
        entries = race_report.entries_of(texts, state)
    except (OptionError, Error) as error:
        raise UsageError(f"--contestants: {str(error).rstrip('.')}.") from error
    prepare = functools.partial(race_report.prepared, scene=scene, state=state)
    with contextlib.closing(target_from(state.settings, words)) as target:
        found = survey(target, scene, entries, course, rays=rays, hidden=state.hidden, prepare=prepare,
                       say=words.share)  # fmt: skip
    if names.out is not None:
        ending = Path(names.out).suffix.lower()
        text = (
            found.to_html(command=command)
            if ending == ".html"
            else (found.to_csv() if ending == ".csv" else found.to_json())
        )
        write_bytes(Path(names.out), text.encode())
        words.say(f"Wrote {names.out}.")
    print(printable_lines(found.to_json() if names.json else f"{found}\n"), end="")
    if found.mismatches:
        words.error("the structures do not find the same hits.")
        return EXIT_FAILURE
    return 0
