"""A job of a sweep, done: its words as a command line, measured by what `bench` measures with or drawn as `render`
draws."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from raygrove.app.cli.arguments import parse
from raygrove.app.cli.bench import task_of
from raygrove.app.cli.cameras import looked_through
from raygrove.app.cli.common import check_attributes, reference_from, settings_of_flags, state_from
from raygrove.app.cli.render import digest, frames_of
from raygrove.app.cli.rows import frame_row
from raygrove.app.cli.suite_jobs import command_of_job, report_of_job, settings_of_job
from raygrove.app.cli.sweep_plan import beside, files_of, words_of
from raygrove.app.document.opening import open_scene
from raygrove.app.document.state import State
from raygrove.app.export.images import save_png
from raygrove.app.frames import exporting
from raygrove.app.frames.headless import render_frames
from raygrove.app.problems.problems import problem_of
from raygrove.app.settings.settings import Settings
from raygrove.app.system import machine
from raygrove.bench.build import run_build
from raygrove.bench.context import context
from raygrove.bench.frame import run_frame
from raygrove.bench.measure import Task
from raygrove.bench.rows import Row
from raygrove.bench.store.folder import DONE, FAILED, Store, StoreError, is_of_the_place
from raygrove.bench.store.jobs import SUITE, Job, digest_of_files
from raygrove.bench.store.noise import MAIN, noise_of, rounds_of
from raygrove.bench.trace import GIVEN, run_trace
from raygrove.gpu.linux import processor_lines, processors, try_lock
from raygrove.gpu.scene import Scene
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import NoDeviceError, OutOfMemoryError, Target, TargetError
from raygrove.gpu.target.private_folders import temporary_folder
from raygrove.version import VERSION

WAIT_S = 0.05
"""How often it is seen whether a device is free."""
SCENES = 2
"""Scenes that a worker keeps in memory."""


Waits = Callable[[bool], None]


class RefusedError(ValueError):
    """A job that is not done here, and gets no result: its scene is not the one that was meant."""


class DoneElsewhereError(Exception):
    """Another sweep has done the job while this one waited for the device."""


class DeviceBrokenError(RuntimeError):
    """The device failed amid a job; this process cannot use it any more."""


class Runner:
    """Does jobs one after another on one device, and keeps the last scenes, so that a scene of many jobs is read
    once. `waits` hears that a job waits until the device is free, and that it waits no more."""

    def __init__(self, store: Store, waits: Waits = lambda is_waiting: None) -> None:
        self._store, self._waits = store, waits
        self._waited_s = 0.0
        self._scenes: dict[str, Scene] = {}

    def run(self, job: Job) -> dict[str, Any]:
        """The job's result, which is then in the store. Raises RefusedError, DeviceBrokenError, NoDeviceError, and
        OSError where the place of results is at fault."""
        if (there := self._kept(job)) is not None:  # Dask sends again what a worker did that ended before it said so
            return there
        begin, self._waited_s = time.perf_counter(), 0.0
        record: dict[str, Any] = {
            "job": dict(job.what),
            "files": list(job.files),
            "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        }
        try:
            record |= {"status": DONE, **self._done(job)}
        except (RefusedError, NoDeviceError):
            raise
        except DoneElsewhereError:
            return self._store.get(job.sha)
        except OSError as error:
            if is_of_the_place(error):
                raise
            record |= _failed(error)
        except Exception as error:
            if isinstance(error, TargetError) and not isinstance(error, OutOfMemoryError) and _is_cuda(job):
                raise DeviceBrokenError(problem_of(error).sentence) from error
            record |= _failed(error)
        record["seconds"] = round(time.perf_counter() - begin - self._waited_s, 3)
        if (there := self._kept(job)) is not None:
            return there
        self._store.put(record)
        return record

    def _kept(self, job: Job) -> dict[str, Any] | None:
        """The result of a job that was done already; none where it cannot be read."""
        try:
            return self._store.get(job.sha)
        except (FileNotFoundError, StoreError):
            return None

    def _done(self, job: Job) -> dict[str, Any]:
        if job.what["measure"] == SUITE:
            return self._suite(job)
        self._check_files(job)
        self._check_rays(job)
        words = words_of(job.what, job.files)
        names = parse(words, VERSION)
        settings = settings_of_flags(names, Settings())
        scene, state = self._start(job, names, settings)
        check_attributes(state.settings, scene)
        with contextlib.closing(choose(settings.render.device, settings.device)) as target:
            if not job.is_timed:
                about = context(target, settings.render.seed, ["raygrove", *words])
                return {"rows": self._pictures(job, target, names, scene, state), "context": about}
            with self._alone_on(target):
                self._check_not_done(job)
                about = context(target, settings.render.seed, ["raygrove", *words])
                clocks, task = clocks_of(target.kind), task_of(names, scene, state)
                rows = [_with_rounds(row, task) for row in measured(names.kind, target, task)]
                noise = [sentence for row in rows for sentence in noise_of(
                    row["rounds"], about["load"], processors(), (clocks, clocks_of(target.kind)))]  # fmt: skip
            return {"rows": rows, "context": about, "clocks": clocks, "noise": list(dict.fromkeys(noise))}

    @contextlib.contextmanager
    def _alone_on(self, target: Target) -> Iterator[None]:
        begin = time.perf_counter()
        with alone_on(target.name, waits=self._waits):
            self._waited_s = time.perf_counter() - begin
            yield

    def _check_not_done(self, job: Job) -> None:
        """Two sweeps of one plan come to the same jobs at the same time; the device's turn tells who was first."""
        if self._store.has(job.sha):
            raise DoneElsewhereError

    def _suite(self, job: Job) -> dict[str, Any]:
        self._check_files(job, "model")
        settings = settings_of_job(job)
        with contextlib.closing(choose(settings.render.device, settings.device)) as target, self._alone_on(target):
            self._check_not_done(job)
            report = report_of_job(job, target, settings, self._store)
            return {"report": report, "context": context(target, 0, command_of_job(job, self._store))}

    def _check_files(self, job: Job, key: str = "scene") -> None:
        """Refuse a scene that is not the one whose hash the job has."""
        files, _ = files_of(job.what, job.files)
        if files:
            _check_digest((*files, *beside(files)), job.what[key])

    def _check_rays(self, job: Job) -> None:
        """Refuse a file of rays that is not the one whose hash the job has."""
        _, files = files_of(job.what, job.files)
        if files:
            _check_digest(files, job.what["rays"])

    def _start(self, job: Job, names: argparse.Namespace, settings: Settings) -> tuple[Scene, State]:
        reference = reference_from(names, settings)
        key = repr((job.what["scene"], settings.demo, settings.importer, settings.motion, settings.timeline.fps))
        if key not in self._scenes:
            while len(self._scenes) >= SCENES:
                self._scenes.pop(next(iter(self._scenes)))
            self._scenes[key] = open_scene(reference, settings)
        scene = self._scenes[key] = self._scenes.pop(key)  # the last that was used is the last to go
        state = state_from(names, settings, reference, scene)
        return scene, looked_through(names, state, scene, with_bookmarks=False)  # a job says all that it follows from

    def _pictures(
        self, job: Job, target: Target, names: argparse.Namespace, scene: Scene, state: State
    ) -> list[dict[str, Any]]:
        """Draw and keep the frames. A picture's file holds what depends on the job alone, so that its bytes are the
        same wherever it is drawn."""
        options = state.settings
        samples = options.render.samples if names.samples is not None else exporting.smooth_samples(options)
        state = dataclasses.replace(state, settings=exporting.with_samples(options, samples))
        folder, rows = self._store.pictures_of(job.sha), []
        for frame in render_frames(target, scene, state, frames_of(names, scene, state), with_totals=True):
            name, row = f"frame_{frame.number:04d}.png", frame_row(frame, scene, state, target)
            shown = exporting.exported(state, scene, frame, target, row, takes_palettes=True)
            palette, pixels = shown.indexed if shown.indexed is not None else (None, shown.pixels)
            self._store.check()
            save_png(folder / name, pixels, {"raygrove.job": job.sha}, palette=palette)
            pictures = {"file": name, "image_sha256": digest(frame.pixels),
                        "file_sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()}  # fmt: skip
            rows.append({"frame": frame.number, "time": frame.time, **row, **pictures})
        return rows


def _check_digest(files: tuple[str, ...], wanted: str) -> None:
    try:
        found = digest_of_files(files)
    except OSError as error:
        raise RefusedError(f"{error.filename} cannot be read: {error.strerror}.") from error
    if found != wanted:
        raise RefusedError(f"{Path(files[0]).name} was changed since the sweep began; start it again.")


def measured(kind: str, target: Target, task: Task) -> list[Row]:
    """The rows of one kind of measurement, without other programs beside it."""
    if kind == "trace":
        return run_trace(target, task) if task.rays is None else run_trace(target, task, kinds=tuple(GIVEN))
    return [run_build(target, task) if kind == "build" else run_frame(target, task)]


def _with_rounds(row: Row, task: Task) -> dict[str, Any]:
    """A row as plain values, with what is compared: a figure for each repetition."""
    plain = row.as_json()
    is_build = "build_ms" in plain["samples"] and "frame_ms" not in plain["samples"]
    names = [name for name in dict.fromkeys(sum(MAIN.values(), ())) if plain["samples"].get(name)]
    if "frame_ms" in names:
        names = list(MAIN["frame"])
    plain["rounds"] = {name: rounds_of(plain["samples"][name], task.repeat, moments_first=is_build) for name in names}
    return plain


def _failed(error: BaseException) -> dict[str, Any]:
    return {"status": FAILED, "sentence": problem_of(error).sentence}


def _is_cuda(job: Job) -> bool:
    return bool(job.what["device"] == "cuda")


def clocks_of(kind: str) -> dict[str, float]:
    """MHz of clocks by name: of the processors' mean, and of the GPU that this process sees. What is not told is left
    out."""
    if kind == "cuda":
        seen = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] or "0"
        query = ["nvidia-smi", f"--id={seen}", "--query-gpu=clocks.sm,clocks.mem", "--format=csv,noheader,nounits"]
        return _numbers(("sm", "memory"), machine.output(query).split(", "))
    found = [float(value) for name, value in processor_lines() if name == "cpu MHz"]
    return {"processors": sum(found) / len(found)} if found else {}


def _numbers(names: Sequence[str], texts: Sequence[str]) -> dict[str, float]:
    found = {}
    for name, text in zip(names, texts, strict=False):
        with contextlib.suppress(ValueError):
            found[name] = float(text)
    return found


@contextlib.contextmanager
def alone_on(device: str, wait_s: float = WAIT_S, waits: Waits = lambda is_waiting: None) -> Iterator[None]:
    """Hold a device for timed work: what else measures on it, of this user's, waits until the block ends or the process
    does."""
    seen = os.environ.get("CUDA_VISIBLE_DEVICES", "") if device.startswith("cuda") else ""
    name = f"measuring-{device}-{seen}".replace(":", "-").replace(",", "-").replace("/", "-").rstrip("-")
    with open(temporary_folder() / f"{name}.lock", "wb") as file:
        if not try_lock(file.fileno()):
            waits(True)
            while not try_lock(file.fileno()):
                time.sleep(wait_s)
            waits(False)
        yield


def answer_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a worker tells of a result."""
    return {key: record[key] for key in ("status", "seconds", "sentence") if key in record}
