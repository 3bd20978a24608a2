"""`bench suite NAME [FILE ...]`: a published evaluation, run again, on one's own scenes, too. Writes PREFIX.json and
PREFIX.md, pictures of the scenes as PREFIX-*.png and, where matplotlib is there, plots as PREFIX-*.svg."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import difflib
import functools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from raygrove.app import scene_io
from raygrove.app.cli import suite_list
from raygrove.app.cli.common import opened, settings_from, target_from
from raygrove.app.document.state import SceneReference
from raygrove.app.document.suite_runs import NO_SCENES
from raygrove.app.export.images import save_png
from raygrove.app.export.tables import json_text
from raygrove.app.export.whole_files import check_writable, write_atomically
from raygrove.app.problems.problems import EXIT_FAILURE, UsageError
from raygrove.app.scene_io import SceneError
from raygrove.app.scene_io.demos import demo_info, make_demo
from raygrove.app.settings.file import overridden
from raygrove.app.settings.flags import OPTION_KEYS, flag_of
from raygrove.app.settings.settings import Settings
from raygrove.bench.context import context as context_of
from raygrove.bench.suites import SuiteJob, SuiteReport, scene_count, scene_names, suites, takes_own
from raygrove.bench.suites.crowd import RUNNER_TRIANGLES, with_body, with_runners
from raygrove.bench.suites.own_structures import chosen
from raygrove.bench.suites.plots import PlotsAbsentError, draw
from raygrove.bench.suites.scenes import SceneAbsentError, SceneChoice, SceneSource, own_scene
from raygrove.gpu.configuration import ConfigurationError
from raygrove.gpu.scene import Scene
from raygrove.gpu.settings import OptionError
from raygrove.printable import printable_lines

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

TAKEN = ("render.device", "render.width", "render.height")
TAKEN_GROUPS = ("device", "import")
DECIDED_GROUPS = (
    *("render", "hierarchy", "optimiser", "ray_type", "update", "timeline"),
    *("camera", "start", "motion", "clip", "demo", "spheres", "material", "light"),
)
"""Groups of settings that change what is measured; what else a settings file says is about the window."""


def is_taken(key: str) -> bool:
    """Whether a suite honours a setting."""
    return key in TAKEN or key.split(".")[0] in TAKEN_GROUPS


WINDOW_FLAGS = ("hide", "isolate", "color_by", "size_by")
"""That `bench` does not know."""

DECIDED_FLAGS = (
    *("seed", "time", "frames", "eye", "look_at", "up", "fov", "warmup"),
    *(name for name, key in OPTION_KEYS.items() if not is_taken(key) and name not in WINDOW_FLAGS),
)

WALKER_SHARE = 0.86
"""Of the triangles of the built-in walker those of its body; the floor stays away."""


def run(names: argparse.Namespace, words: Words) -> int:
    """Run the suite that was named; returns the exit code. Raises UsageError."""
    if names.command == "suite":
        from raygrove.app.cli import suite_store  # which does jobs in workers, and they import this module

        return suite_store.run(names, words)
    if names.list:
        return suite_list.show(names.data, is_json=names.json)
    suite = named(names.files)
    for name in names.scenes or ():
        if name not in (NO_SCENES, *scene_names(suite)):
            raise UsageError(f"--scenes {name}: {suite} has no such scene; it has {', '.join(scene_names(suite))}.")
    own = _own_scenes(suite, names)
    prefix = Path(names.out or suite).with_suffix("")
    files = [prefix.with_suffix(ending) for ending in (".json", ".md")]
    check_writable(prefix.parent, *(path.name for path in files))
    settings = settings_from(names, words)
    _refuse_what_suites_decide(names, settings)
    with contextlib.closing(target_from(settings, words)) as target:
        context = context_of(target, settings.render.seed)
        kept: set[Path] = set()

        def keep(report: SuiteReport) -> None:
            if not report.rows:
                return
            _write(files[0], json_text(report.as_json(context)))
            _write(files[1], report.markdown(context))
            kept.update(files)

        job = SuiteJob(
            target=target,
            load=lambda source: scene_of(source, names.data, settings, words),
            say=words.say,
            keep=keep,
            size=size_of(names, settings),
            repeat=names.repeat or SuiteJob.repeat,
            most_triangles=names.most_triangles or SuiteJob.most_triangles,
            scenes=names.scenes or (),
            own=own,
            structures=names.structures or (),
            save_picture=functools.partial(_save_picture, prefix),
        )
        if names.progress is not None:
            told = Told(scene_count(suite, job))
            job = dataclasses.replace(job, begin=told.begin, advance=told.advance)
        report = suites()[suite](job)
    if not report.rows:
        for path in kept:
            path.unlink(missing_ok=True)  # rows of a scene that then failed
        words.error(f"{suite} measured nothing, and nothing was written: {' '.join(report.absent)}")
        return EXIT_FAILURE
    for sentence in report.absent:
        words.warn(f"not measured: {sentence}")
    plots = finish(report, prefix, context, words)
    text = json_text(report.as_json(context)) if names.json else report.markdown(context, plots=plots)
    print(printable_lines(text))
    return 0


def finish(report: SuiteReport, prefix: Path, context: dict[str, Any], words: Words) -> str:
    """Draw the plots, write the page with them; returns what the files of plots begin with, if any were drawn."""
    plots = ""
    try:
        words.say(f"Wrote {len(draw(report, prefix, context['device']))} plots.")
        plots = prefix.name
    except PlotsAbsentError as error:
        words.say(str(error))
    _write(prefix.with_suffix(".json"), json_text(report.as_json(context)))
    _write(prefix.with_suffix(".md"), report.markdown(context, plots=plots))
    words.say(f"Wrote {prefix}.json, {prefix}.md and {len(report.pictures)} pictures.")
    return plots


def _save_picture(prefix: Path, name: str, pixels: np.ndarray) -> str:
    path = prefix.with_name(f"{prefix.name}-{name}.png")
    save_png(path, pixels)
    return path.name


class Told:
    """How far a run is, on stderr: JSON on a line of its own for each scene that begins and each of its rows."""

    def __init__(self, count: int) -> None:
        self._count, self._begun, self._scene = count, 0, ""
        self._rows = 0
        self._rows_before: int | None = None

    def begin(self, scene: str) -> None:
        """A scene begins."""
        self._scene, self._begun, self._rows_before = scene, self._begun + 1, self._rows or None
        self.advance(0, None)

    def advance(self, rows: int, of: int | None) -> None:
        """So many rows of the scene are measured; where nobody knows of how many, as many are expected as the scene
        before had."""
        self._rows = rows
        told = {"scene": self._scene, "number": self._begun, "of": self._count, "rows": rows}
        told["rows_of"] = of or self._rows_before
        print(json.dumps(told), file=sys.stderr, flush=True)


def _own_scenes(suite: str, names: argparse.Namespace) -> tuple[SceneChoice, ...]:
    """The scenes of FILE ... and --demo. Raises UsageError where the suite takes none, nor structures."""
    own = [own_scene(Path(file).name, file=file) for file in names.files[1:]]
    if names.demo is not None:
        demo_info(names.demo)
        own.append(own_scene(names.demo, demo=names.demo))
    if (own or names.structures) and not takes_own(suite):
        taking = " and ".join(name for name in suites() if takes_own(name))
        raise UsageError(
            f"{suite} measures points or spheres of its own making; scenes and structures of one's own are "
            f"taken by {taking}."
        )
    for text in names.structures or ():
        try:
            chosen(text)
        except (ConfigurationError, OptionError) as error:
            raise UsageError(f"--structures {text}: {str(error).rstrip('.')}.") from error
    return tuple(own)


def named(said: Sequence[str]) -> str:
    """The suite. Raises UsageError where none or one that is not known was named."""
    there = f"there are {', '.join(suites())}"
    if not said:
        raise UsageError(f"name one suite, as in bench suite {next(iter(suites()))}; {there}.")
    if said[0] in suites():
        return said[0]
    near = difflib.get_close_matches(said[0], suites(), 1)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise UsageError(f"there is no suite {said[0]!r}. {meant}{there.capitalize()}.")


def _refuse_what_suites_decide(names: argparse.Namespace, settings: Settings) -> None:
    """A suite would not take these, and its report would not say so. The user's own file is no question: it is for the
    program as a whole."""
    refused = [flag_of(name) for name in DECIDED_FLAGS if getattr(names, name) is not None]
    refused += [f"--set {key}" for key, _ in names.set if not is_taken(key)]
    places = [place for place in (names.settings, names.preset and f"preset {names.preset}") if place is not None]
    if not refused and places:
        said = [key for key in overridden(names.user_settings, settings) if key.split(".")[0] in DECIDED_GROUPS]
        refused = [f"{key} in {' or '.join(places)}" for key in said if not is_taken(key)]
    if refused:
        raise UsageError(
            f"{', '.join(refused)}: a suite takes the scenes, structures, layouts, rays and instants of its "
            f"paper, and decides that itself. It takes FILE, --demo and --structures beside them, "
            "--device, --threads, --size, --repeat, --data, --scenes, --most-triangles, and settings of device "
            "and import."
        )


def size_of(names: argparse.Namespace, settings: Settings) -> tuple[int, int] | None:
    """The size asked for by this command; none takes the published ones."""
    is_asked = names.size is not None or {"render.width", "render.height"} & set(
        overridden(names.user_settings, settings)
    )
    return (settings.render.width, settings.render.height) if is_asked else None


def scene_of(source: SceneSource, folder: str | None, settings: Settings, words: Words) -> Scene:
    """A built-in scene, one's own, or a model from the folder of --data, packed or not. Raises SceneAbsentError with
    what is missing."""
    if source.is_own:
        kind, name = ("demo", source.demo) if source.demo else ("files", source.file)
        try:
            return opened(SceneReference(kind, (name,)), settings, words)
        except SceneError as error:
            raise SceneAbsentError(str(error)) from error
    if source.body:
        place = scene_of(dataclasses.replace(source, body=""), folder, settings, words)
        return with_body(place, scene_of(SceneSource(file=source.body), folder, settings, words))
    if source.runners:
        place = scene_of(dataclasses.replace(source, runners=0), folder, settings, words)
        return with_runners(place, make_demo("walker", int(RUNNER_TRIANGLES / WALKER_SHARE)), source.runners)
    if source.demo:
        return make_demo(source.demo, source.triangles)
    try:
        return scene_io.load(model_of(source, folder), settings.importer)
    except SceneError as error:
        raise SceneAbsentError(str(error)) from error


def model_of(source: SceneSource, folder: str | None) -> Path:
    """The file of a model in the folder of --data, packed or not. Raises SceneAbsentError."""
    if folder is None:
        raise SceneAbsentError(
            f"{source.file} is a model that does not come with Raygrove; name the folder that has it by --data."
        )
    path = suite_list.found(source, folder)
    if path is None:
        raise SceneAbsentError(f"{source.file} is not in {folder}; fetch or unpack it there.")
    return path


def _write(path: Path, text: str) -> None:
    write_atomically(path, lambda file: file.write(text.encode() + b"\n"))
