"""`render --store DIR`: an animation as jobs of some frames each, kept in a store, which the same command goes on from;
then put together where --out says."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raygrove.app.cli import result_pictures
from raygrove.app.cli.common import DEFAULT_DEMO, reference_from, scene_from, settings_from, state_from
from raygrove.app.cli.of_stores import OF_JOBS
from raygrove.app.cli.render import check_output
from raygrove.app.cli.sweep import do_jobs, dry_run, gpus
from raygrove.app.cli.sweep_plan import KEYS, Jobs
from raygrove.app.export.scene_files import is_scene_file
from raygrove.app.export.sequence import kind_of
from raygrove.app.frames.exporting import smooth_samples
from raygrove.app.playback import timeline as timelines
from raygrove.app.problems.problems import EXIT_FAILURE, UsageError
from raygrove.app.scene_io import is_picture
from raygrove.app.settings.chosen_configuration import spelling_of
from raygrove.app.settings.file import leaves, to_table
from raygrove.app.settings.flags import OPTION_KEYS, flag_of
from raygrove.app.settings.settings import KEPT, Settings
from raygrove.bench.store.folder import DONE, Store
from raygrove.bench.store.jobs import digest_of_sources, typed
from raygrove.bench.store.plans import Plan
from raygrove.bench.store.tables import flat_rows

if TYPE_CHECKING:
    from raygrove.app.cli.main import Words

CHUNK = 24
"""Frames of a job, where nobody says."""
REFUSED = ("orthographic", "turntable", "camera_path", "trees", "statistics", "repeat", "warmup", "plug_in")
"""Flags of `render` that no job has."""
UNSEEN = ("display", "window", "race", "rays", "hot_spots", "statistics", "hierarchy", "optimiser", "update", "start",
          "trees", KEPT)  # fmt: skip
"""Groups of settings of which pictures show nothing, or that the configuration or a word of a plan says."""
WORDS = {key: name for name, key in OPTION_KEYS.items()}
TAKEN = (*WORDS, "render.triangle_test", "render.width", "render.height", "render.seed", "demo.seed")
"""Settings that are said by a word of a plan."""


def run(names: argparse.Namespace, words: Words) -> int:
    """Do the jobs that have no pictures yet, and put all together; returns the exit code."""
    if names.store is None:
        said = ", ".join(flag_of(name) for name in OF_JOBS if getattr(names, name))
        raise UsageError(f"{said}: name a folder for the parts, which is made: --store DIR (docs/sweeps.md).")
    refused = [flag_of(name) for name in REFUSED if getattr(names, name)]
    if refused or is_picture(names.files) or len(names.files) > 1:
        what = ", ".join(refused) or " ".join(names.files[:2])
        raise UsageError(f"{what}: with --store the camera stays, and a scene is one file, a built-in scene, or a "
                         "pattern in quotes, as 'frame_*.obj' (docs/sweeps.md).")  # fmt: skip
    settings = settings_from(names, words)
    if names.out is not None:
        check_output(names, 1 if names.time is not None else 2, settings.render.palette)
        if is_scene_file(names.out) or kind_of(names.out) not in ("png", "video"):
            raise UsageError(f"--out {names.out}: with --store it is a folder of pictures, or a video (FILE.mp4).")
    jobs = jobs_of(names, settings, words)
    if names.dry_run:
        return dry_run(names, jobs, words)
    store = Store.made(names.store)
    done, told = do_jobs(names, jobs, store, words)
    code = EXIT_FAILURE if done.failed + done.crashed + done.refused else 0
    if names.json:
        print(json.dumps(told, indent=2))
    return code if names.out is None or code else _together(names, jobs, store, words)


def jobs_of(names: argparse.Namespace, settings: Settings, words: Words) -> Jobs:
    """The jobs of a command. Raises UsageError, SceneError."""
    device = settings.render.device
    if device not in ("auto", "cpu", "cuda"):
        raise UsageError(f"--device {device}: write auto, cpu or cuda; a worker for each GPU takes the jobs.")
    if settings.demo.seed != settings.render.seed:
        raise UsageError("--set demo.seed: with --store one seed is that of everything random: --seed N.")
    kind = device if device != "auto" else "cuda" if gpus() else "cpu"
    fixed: dict[str, Any] = {
        "measure": "render",
        "scene": next(iter(reference_from(names, settings).names), DEFAULT_DEMO),
        "configuration": spelling_of(settings),
        "device": kind,
        "size": f"{settings.render.width}x{settings.render.height}",
        "samples": settings.render.samples if _says_samples(names) else smooth_samples(settings),
        "seed": settings.render.seed,
        **dict(_words_of(names)),
        **dict(_said(settings)),
    }
    if names.time is None:
        first, end = names.frames or (0, _frame_count(names, settings, words))
        fixed |= {"frames": f"{first}:{end}", "chunk": names.chunk or CHUNK}
    path, anywhere = Path("render"), argparse.Namespace(allow_outside="true")  # of files that were named here
    return Jobs(Plan(fixed, {}), path, digest_of_sources(), kind, anywhere)


def _says_samples(names: argparse.Namespace) -> bool:
    return names.samples is not None or any(key == "render.samples" for key, _ in names.set)


def _words_of(names: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """The flags that are no settings, as a plan says them."""
    for name in KEYS["render"]:
        value = getattr(names, name, None)
        if name not in (*OPTION_KEYS, "size", "frames", "seed") and value is not None:
            yield name, typed(value, name)


def _said(settings: Settings) -> Iterator[tuple[str, Any]]:
    """What settings say otherwise than the built-in ones, of what pictures show."""
    for key, value in leaves(to_table(settings)):
        word = WORDS.get(key, "")
        if key in ("import.allow_outside", "import.all_formats"):
            raise UsageError(f"{flag_of(word)}: jobs read what lies in a model's own folder, in the common formats.")
        if word in KEYS["render"] and word != "samples":
            yield word, value
        elif key not in TAKEN and key.partition(".")[0] not in UNSEEN:
            yield key, value


def _frame_count(names: argparse.Namespace, settings: Settings, words: Words) -> int:
    """All frames of the animation."""
    reference, scene = scene_from(names, settings, words)
    state = state_from(names, settings, reference, scene)
    return max(1, timelines.span_of(scene, state.timeline, settings.timeline).frame_count)


def _together(names: argparse.Namespace, jobs: Jobs, store: Store, words: Words) -> int:
    """Put the pictures of all jobs where --out says; returns the exit code: 1 where some are not drawn."""
    records: list[Mapping[str, Any]] = [store.get(job.sha) for job in jobs if store.has(job.sha)]
    whole = [record for record in records if record["status"] == DONE]
    if len(whole) < len(jobs):
        words.error(f"{len(jobs) - len(whole):,} of {len(jobs):,} parts have no pictures yet, so that "
                    f"{names.out} is not written: the same command goes on (--again failed does those that failed "
                    "again).")  # fmt: skip
        return EXIT_FAILURE
    return result_pictures.write(whole, list(flat_rows(whole)), str(store.folder), names.out, words)
