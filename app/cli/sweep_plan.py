"""Plans in the words of the command line: each point of a plan becomes a job, and a job the words that run it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from raygrove.app.cli import values
from raygrove.app.cli.race_file import files_named
from raygrove.app.problems.problems import UsageError
from raygrove.app.scene_io.demos import ALL_DEMOS
from raygrove.app.scene_io.files import expand
from raygrove.app.settings.file import sentence_of
from raygrove.app.settings.flags import OPTION_KEYS, configuration_keys
from raygrove.app.settings.ray_options import checked_rays, file_of
from raygrove.app.settings.settings import Settings, option_field, set_option, set_text
from raygrove.app.system.watch import BESIDE
from raygrove.bench.store.jobs import DIGEST, FORMAT, MEASURES, Job, digest_of_files, typed
from raygrove.bench.store.plans import Plan
from raygrove.gpu.configuration import parse
from raygrove.gpu.ray_sources import PICTURE as OF_PICTURE
from raygrove.gpu.settings import OptionError
from raygrove.version import VERSION

Reader = Callable[[str], Any]


def _device(text: str) -> str:
    if text not in ("cpu", "cuda"):
        raise argparse.ArgumentTypeError(f"{text!r} is no kind of device: write cpu, cuda, or auto")
    return text


def _plain(text: str) -> str:
    return text


SEEN: dict[str, Reader] = {
    "size": values.size,
    "eye": values.vector,
    "look_at": values.vector,
    "up": values.vector,
    "fov": values.degrees,
}
AT: dict[str, Reader] = {
    "frames": values.frames,
    "time": values.seconds,
    "seed": values.count(0),
    "fps": _plain,
    "threads": _plain,
}
MEASURED: dict[str, Reader] = {"repeat": values.count(1), "warmup": values.count(0)}
DRAWN: dict[str, Reader] = {"ray_type": _plain, "primary": _plain}
PICTURE: dict[str, Reader] = {
    **dict.fromkeys(("camera", "hide", "isolate", "color_by", "size_by"), _plain),
    "samples": values.count(1),
}
KEYS: dict[str, dict[str, Reader]] = {
    "build": {"size": values.size, **AT, **MEASURED},
    "trace": {**SEEN, **AT, **MEASURED, "rays": _plain},
    "frame": {**SEEN, **AT, **MEASURED, **DRAWN},
    "render": {**SEEN, **AT, **DRAWN, **PICTURE},
}
"""The flags that a plan may say for each measure, by their names on the command line, and how each is read."""
OWN = ("measure", "scene", "configuration", "device")
"""What every job has."""
DEFAULTS: dict[str, Any] = {
    "size": "1024x768",
    "seed": 0,
    "ray_type": "smooth",
    "repeat": values.REPEAT,
    "warmup": values.WARMUP,
}
REFUSED = {**{key: name for name, key in OPTION_KEYS.items()}, "render.width": "size", "render.height": "size",
           "render.seed": "seed"}  # fmt: skip
"""Settings that are said by a word of their own."""
SAID_AS = {"hierarchy": "configuration", "optimiser": "configuration", "layout": "configuration",
           "traversal": "configuration", "update": "configuration"}  # fmt: skip


class Jobs:
    """The jobs of a plan, made one after another. `auto` is the kind of device that this stands for; `names` says
    whether files may lie outside the plan's folder (`allow_outside`). Raises UsageError for what no job can have,
    before any is done."""

    def __init__(self, plan: Plan, path: Path, sources: str, auto: str, names: argparse.Namespace) -> None:
        self._path, self._auto, self._names = path, auto, names
        self._files: dict[str, tuple[str, ...]] = {}
        self._built_by = {"format": FORMAT, "version": VERSION, "sources": sources}
        plan = _in_chunks(plan, path)
        axes = {key: plan.axes[key] for key in sorted(plan.axes, key=lambda key: key != "scene")}
        self._plan = Plan(
            {key: self._read(key, value) for key, value in plan.fixed.items()},
            {key: [self._read(key, value) for value in values] for key, values in axes.items()},
            [{key: self._read(key, value) for key, value in job.items()} for job in plan.jobs],
        )
        self._keys = {
            measure: frozenset((*OWN, *readers)) for measure, readers in KEYS.items()
        }  # of every point, so that an axis of measures is judged, too
        for job in self._plan.jobs:
            self._check({*self._plan.fixed, *self._plan.axes, *job}, job)

    def __len__(self) -> int:
        return len(self._plan)

    @property
    def devices(self) -> tuple[str, ...]:
        """The kinds of devices that the jobs are for: GPUs first."""
        tables: list[Mapping[str, Any]] = [self._plan.fixed, *self._plan.jobs]
        said = [*(table["device"] for table in tables if "device" in table), *self._plan.axes.get("device", ())]
        return tuple(sorted(set(said) or {self._auto}, reverse=True))

    def __iter__(self) -> Iterator[Job]:
        for point in self._plan.points():
            what = {**self._built_by, "device": self._auto, **point}
            for key in KEYS[what["measure"]]:
                if key in DEFAULTS and key not in what:
                    what[key] = _DEFAULTS_READ[key]
            if what.get("rays") == OF_PICTURE:
                del what["rays"]  # the same job as one that does not say it
            yield Job(what, (*self._files.get(what["scene"], ()), *self._files.get(what.get("rays", ""), ())))

    def _measures(self, job: Mapping[str, Any]) -> Sequence[str]:
        said = {**self._plan.fixed, **job}
        return self._plan.axes.get("measure") or [said["measure"]]

    def _check(self, keys: set[str], job: Mapping[str, Any]) -> None:
        for key in ("measure", "scene", "configuration"):
            if key not in keys:
                ways = {"measure": 'measure = "frame"', "scene": 'scene = ["walker"]',
                        "configuration": 'configuration = ["lbvh", "hploc"]'}[key]  # fmt: skip
                raise UsageError(f"{self._path}: jobs have no {key}; write {ways} in [fixed], [axes] or [[jobs]].")
        for measure in self._measures(job):
            idle = sorted(key for key in keys - self._keys[measure] if "." not in key)
            if idle:
                raise UsageError(
                    f"{self._path}: {', '.join(idle)} mean{'s' if len(idle) == 1 else ''} nothing for measure = "
                    f'"{measure}"; leave it out.'
                )
        if {"time", "frames"} <= keys:
            raise UsageError(f"{self._path}: time and frames do not go together; leave one out.")

    def _read(self, key: str, value: Any) -> Any:
        """A value as it stands in a job. Raises UsageError."""
        if not isinstance(value, str | int | float) and not ("." in key and isinstance(value, list)):
            raise UsageError(f"{self._path}: {key} = {value!r} is no text or number.")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        try:
            return self._read_text(key, text, value)
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"{self._path}: {key}: {error}.") from error
        except OptionError as error:
            raise UsageError(f"{self._path}: {key} = {text}: {sentence_of(error).rstrip('.')}.") from error

    def _read_text(self, key: str, text: str, value: Any) -> Any:
        if key == "measure":
            if text not in MEASURES:
                raise argparse.ArgumentTypeError(f"{text!r} is none: write {', '.join(MEASURES)}")
            return text
        if key == "scene":
            return self._scene(text)
        if key == "rays":
            return self._rays(text)
        if key == "configuration":
            settings = Settings()
            for name, part in configuration_keys(text):
                settings = set_text(settings, name, part)
            return str(parse(text))
        if key == "device":
            return self._auto if text == "auto" else _device(text)
        if "." in key:
            return self._setting(key, value)
        for readers in KEYS.values():
            if key in readers:
                return _read_flag(key, readers[key], text)
        instead = f"say it in configuration: {SAID_AS[key]}" if key in SAID_AS else "see docs/sweeps.md"
        raise argparse.ArgumentTypeError(f"a plan has no such word; {instead}")

    def _setting(self, key: str, value: Any) -> Any:
        """A setting by its dotted key, as it is kept in settings."""
        if key in REFUSED:
            name = REFUSED[key]
            raise argparse.ArgumentTypeError(f"it is said by {SAID_AS.get(name, name)}")
        set_option(Settings(), key, value)
        checked = option_field(key).checked(value, key)
        return list(checked) if isinstance(checked, tuple) else checked

    def _scene(self, text: str) -> str:
        """A built-in scene's name, or the hash of what files hold."""
        if text in {info.name for info in ALL_DEMOS}:
            return text
        if not any(sign in text for sign in "./*%#"):
            known = ", ".join(info.name for info in ALL_DEMOS)
            raise argparse.ArgumentTypeError(f"there is no built-in scene {text!r}, and a file has an ending: {known}")
        paths = expand([os.path.join(self._path.parent.absolute(), text)])
        files = tuple(files_named(self._path, "scene", paths, self._names))
        digest = digest_of_files((*files, *beside(files)))
        self._files[digest] = files
        return digest

    def _rays(self, text: str) -> str:
        """A sensor as it is spelt, or the hash of what a file of rays holds."""
        path = file_of(text)
        if not path:
            return checked_rays(text)
        (file,) = files_named(self._path, "rays", [os.path.join(self._path.parent.absolute(), path)], self._names)
        digest = digest_of_files((file,))
        self._files[digest] = (file,)
        return digest


def files_of(what: Mapping[str, Any], files: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of a job's files those of its scene, and that of its rays, which comes last, where they lie in one."""
    count = len(files) - str(what.get("rays", "")).startswith(DIGEST)
    return tuple(files[:count]), tuple(files[count:])


def beside(files: Sequence[str]) -> tuple[str, ...]:
    """Files of the same names that models are read with."""
    found = (os.path.splitext(file)[0] + ending for file in files for ending in BESIDE)
    return tuple(dict.fromkeys(path for path in found if path not in files and os.path.isfile(path)))


def _read_flag(key: str, reader: Reader, text: str) -> Any:
    if key in OPTION_KEYS:
        set_text(Settings(), OPTION_KEYS[key], text)
    value = reader(text)
    return list(value) if isinstance(value, tuple) else value


_DEFAULTS_READ: dict[str, Any] = {
    key: _read_flag(key, {**KEYS["frame"], **KEYS["render"]}[key], str(value)) for key, value in DEFAULTS.items()
}


def _in_chunks(plan: Plan, path: Path) -> Plan:
    """A plan whose `chunk = N` has become an axis of so many frames each. Raises UsageError."""
    if "chunk" not in {*plan.fixed, *plan.axes, *(key for job in plan.jobs for key in job)}:
        return plan
    fixed = dict(plan.fixed)
    try:
        size = values.count(1)(str(fixed.pop("chunk")))
        first, end = values.frames(str(fixed.pop("frames")))
    except KeyError:
        raise UsageError(f"{path}: chunk and frames stand together in [fixed].") from None
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"{path}: chunk and frames: {error}.") from error
    parts = [f"{at}:{min(at + size, end)}" for at in range(first, end, size)]
    return Plan(fixed, {**plan.axes, "frames": parts}, plan.jobs)


def words_of(what: Mapping[str, Any], files: Sequence[str], command: str = "") -> list[str]:
    """A job as the words of a command line: of its own measure, or of another `command`, as view, which takes what that
    knows."""
    measure = what["measure"]
    words = [command] if command else ["render"] if measure == "render" else ["bench", measure]
    of_scene, of_rays = files_of(what, files)
    words += list(of_scene) if of_scene else [f"--demo={what['scene']}"]
    left_out = ("repeat", "warmup", "size") if command == "view" else ()
    for key, value in sorted(what.items()):
        if key in ("measure", "scene", "format", "version", "sources", *left_out):
            continue
        if "." in key:
            words += ["--set", f"{key}={typed(value)}"]
        elif key == "rays":
            words.append(f"--rays={of_rays[0] if of_rays else value}")
        else:
            words.append(f"--{'hierarchy' if key == 'configuration' else key.replace('_', '-')}={typed(value, key)}")
    return words
