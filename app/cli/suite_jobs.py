"""The scenes of published evaluations as jobs of a store: each a job by what its result follows from, done by a worker,
and put together as the reports that `bench suite` makes of a whole run."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from raygrove.app.cli.main import Words
from raygrove.app.cli.suite import model_of, scene_of
from raygrove.app.cli.sweep_plan import beside
from raygrove.app.export.images import save_png
from raygrove.app.problems.problems import UsageError
from raygrove.app.settings.settings import Settings, set_text
from raygrove.bench.store.folder import DONE, Store, StoreError
from raygrove.bench.store.jobs import FORMAT, SUITE, Job, digest_of_files
from raygrove.bench.suites import SuiteJob, SuiteReport, about_of, choices_of, scene_names, suites
from raygrove.bench.suites.job import too_large
from raygrove.bench.suites.pages import again
from raygrove.bench.suites.published import published_source
from raygrove.bench.suites.scenes import SceneAbsentError, SceneSource
from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import Target
from raygrove.printable import printable
from raygrove.version import VERSION

SAID = ("repeat", "size", "threads", "most_triangles")
"""Flags that are part of a job where they are given."""


QUIET = Words(argparse.Namespace(quiet=True, verbose=False))
"""Of a worker, which says what it has to say in its result."""


class NothingMeasuredError(UsageError):
    """A scene of a suite of which nothing could be measured; why."""


class SuiteJobs:
    """The jobs of suites, a scene each. What needs a model that is not there, or is larger than was asked for, is no
    job: `absent` says so, by suite."""

    def __init__(self, chosen: Sequence[str], names: argparse.Namespace, sources: str, kind: str) -> None:
        self.devices = (kind,)
        self.absent: dict[str, list[str]] = {suite: [] for suite in chosen}
        said = {key: getattr(names, key) for key in SAID if getattr(names, key) is not None}
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in said.items()}
        about = {"format": FORMAT, "version": VERSION, "sources": sources}
        self._common = {**about, "measure": SUITE, "device": kind, **plain}
        known = dict.fromkeys(scene for suite in chosen for scene in scene_names(suite))
        for name in names.scenes or ():
            if name not in known:
                one = len(chosen) == 1
                what = (
                    f"{chosen[0]} has no such scene; it has" if one else "no such scene is in these suites; they have"
                )
                raise UsageError(f"--scenes {name}: {what} {', '.join(known)}.")
        self._jobs = [job for suite in chosen for job in self._of(suite, names)]

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        return iter(self._jobs)

    def of(self, suite: str) -> list[Job]:
        """The jobs of one suite, in its order of scenes."""
        return [job for job in self._jobs if job.what["suite"] == suite]

    def _of(self, suite: str, names: argparse.Namespace) -> Iterator[Job]:
        scenes = scene_names(suite)
        for name in (one for one in names.scenes or scenes if one in scenes):
            choices = [one for one in choices_of(suite) if one.published == name]
            most = names.most_triangles or SuiteJob.most_triangles
            too_many = [too_large(one, most, "primitives") for one in choices]
            if all(too_many):
                self.absent[suite].append(too_many[0])
                continue
            sources = [one.source for one in choices]
            models = list(dict.fromkeys(source.file or source.body for source in sources))
            files = tuple(self._found(suite, name, [model for model in models if model], names.data))
            if not files and "" not in models:
                continue
            model = {"model": digest_of_files((*files, *beside(files)))} if files else {}
            yield Job({**self._common, "suite": suite, "scene": name, **model}, files)

    def _found(self, suite: str, scene: str, models: Sequence[str], folder: str | None) -> Iterator[str]:
        for model in models:
            try:
                yield str(model_of(SceneSource(file=model), folder).absolute())
            except SceneAbsentError as error:
                self.absent[suite].append(f"{scene}: {error}")


def settings_of_job(job: Job) -> Settings:
    """The settings that a job asks for."""
    settings = set_text(Settings(), "render.device", job.what["device"])
    threads = job.what.get("threads")
    return settings if threads is None else set_text(settings, "device.threads", str(threads))


def command_of_job(job: Job, store: Store) -> list[str]:
    """The words that measure a job alone, into the same store."""
    what = job.what
    found = ["raygrove", "suite", what["suite"], "--scenes", what["scene"], "--store", str(store.folder.absolute())]
    sources = [one.source for one in choices_of(what["suite"]) if one.published == what["scene"]]
    folders = [_folder_of(job, source) for source in sources]
    said = {"data": next(filter(None, folders), None), "device": what["device"], **what}
    size = what.get("size")
    said |= {"size": "x".join(map(str, size))} if size else {}
    for key in ("data", "device", *SAID):
        if said.get(key) is not None:
            found += [f"--{key.replace('_', '-')}", str(said[key])]
    return found


def _folder_of(job: Job, source: SceneSource) -> str | None:
    """Where the folder of models is, by the place of the model that a job takes."""
    model = source.file or source.body
    place = next((file for file in job.files if model and model in file), "")
    return place.rpartition(model)[0] or None if place else None


def report_of_job(job: Job, target: Target, settings: Settings, store: Store) -> dict[str, Any]:
    """Measure a scene; the report of it alone. Pictures are kept where those of other jobs are. Raises
    NothingMeasuredError."""
    what, folder = job.what, store.pictures_of(job.sha)

    def load(source: SceneSource) -> Scene:
        return scene_of(source, _folder_of(job, source), settings, QUIET)

    def save_picture(name: str, pixels: np.ndarray) -> str:
        save_png(folder / f"{name}.png", pixels)
        return f"{name}.png"

    asked: dict[str, Any] = {key: what[key] for key in ("repeat", "most_triangles") if key in what}
    if "size" in what:
        asked["size"] = tuple(what["size"])
    report = suites()[what["suite"]](
        SuiteJob(target=target, load=load, scenes=(what["scene"],), save_picture=save_picture, **asked)
    )
    if not report.rows:
        raise NothingMeasuredError(" ".join(report.absent) or "it measured nothing")
    return dataclasses.asdict(report)


def merged(jobs: SuiteJobs, suite: str, store: Store) -> tuple[SuiteReport, Mapping[str, Any]]:
    """The report of a suite from its scenes' results, with tables of all of them, and where the first was measured. Its
    pictures are files of the store. Without rows where there is no result yet: it says what each scene lacks."""
    content: dict[str, Any] | None = None
    absent: list[str] = list(jobs.absent[suite])
    for job in jobs.of(suite):
        if not store.has(job.sha):
            absent.append(f"{job.what['scene']}: it has no result yet.")
            continue
        record = store.get(job.sha)
        if record["status"] != DONE:
            absent.append(f"{job.what['scene']}: it {record['status']}: {record['sentence']}")
            continue
        one = record["report"]
        one["pictures"] = list(_kept(one["pictures"], job, store, absent))
        if content is None:
            content = {**one, "context": record["context"]}
            continue
        for name in ("scenes", "absent", "rows", "pictures"):
            content[name] = [
                *content[name],
                *(row for row in one[name] if name != "absent" or row not in content[name]),
            ]
    if content is None:
        return SuiteReport(suite, about_of(suite), published_source(suite), (0, 0), SuiteJob.repeat, absent=absent), {}
    content["absent"] = list(dict.fromkeys([*content["absent"], *absent]))
    return again(content), content["context"]


def _kept(pictures: Sequence[Mapping[str, Any]], job: Job, store: Store, absent: list[str]) -> Iterator[dict[str, Any]]:
    """The pictures of a result that are in the store, by their paths; `absent` says which are not."""
    for picture in pictures:
        try:
            yield {**picture, "file": str(store.picture(job.sha, str(picture["file"])))}
        except StoreError as error:
            absent.append(f"{job.what['scene']}: {printable(str(error))}")
