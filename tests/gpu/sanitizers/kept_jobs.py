"""What jobs of the scenario came to when they last ran, kept in kept_jobs.json until something that they read changes.

A job makes its arrays from fixed seeds, so that it does the same each time. What it came to, under a sanitizer that it
was clean, for who compiles every kernel which units it asked for, stays true while all that it reads stays what it was:
the text of its units with everything that they include, the Python files whose functions ran in it, with those of the
program that these import, and what the program finds in its folders, over which jobs loop: structures, layouts,
traversals, optimisers and ray types. Whatever else a run depends on, another compiler or another numpy, is left to the
jobs whose turn it is that day, and to -m full, which runs all.

    python -m tests.gpu.sanitizers.keep

runs what is not kept under both sanitizers, and keeps it where it is clean. What is not kept is run by the tests, so
that an old file costs time and nothing else.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import hashlib
import importlib.util
import json
import pathlib
import sys
import time
from collections.abc import Iterable, Mapping
from types import CodeType, FrameType, TracebackType
from typing import Any

from raygrove.gpu.hierarchy.registry import own_structures, telling_layouts
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.target.base import CompileError, UnitSource
from raygrove.gpu.target.translation_unit import CHECKS, include_closure, read_source, write_unit
from tests.house_syntax import syntax_of

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIST = pathlib.Path(__file__).with_name("kept_jobs.json")

PROVED = 24
"""Every so many of the jobs that are kept run in every run, too: other ones each day, all of them in so many days."""

BEGAN_NS = time.time_ns()
"""When this process began to read: what was edited since may have run as it was before, or as it is now."""

RUNTIME = "gpu/target/host_runtime.cpp"
"""Every launch goes through it."""
HOST_HEADERS = ("gpu/target/cuda_on_host.cuh", CHECKS)
"""What each checked unit of the host includes besides what it names."""

Launched = dict[UnitSource, set[str]]
"""Units, and the kernels of each that ran."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Of a job that ended well: what it launched, and the names from the root of the Python files that it read."""

    launched: Launched
    files: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As a process tells another one."""
        units = [[*dataclasses.astuple(unit), sorted(kernels)] for unit, kernels in self.launched.items()]
        return {"units": units, "files": list(self.files)}


def outcome_of(told: Mapping[str, Any]) -> Outcome:
    """What `as_json` wrote."""
    return Outcome({unit_of(parts): set(kernels) for *parts, kernels in told["units"]}, tuple(told["files"]))


def unit_of(parts: list[Any]) -> UnitSource:
    """A unit from the parts that JSON has of it."""
    path, headers, aliases, constants, rays_per_thread = parts
    pairs_of_names, pairs_of_values = (tuple(tuple(pair) for pair in group) for group in (aliases, constants))
    return UnitSource(path, tuple(headers), pairs_of_names, pairs_of_values, rays_per_thread)


# -- what a job reads --------------------------------------------------------------------------------------------------


class Followed:
    """While it is entered, this thread's calls are followed; `files` are then the project's Python files whose
    functions ran, and those of the program that they import."""

    def __init__(self) -> None:
        self._codes: set[CodeType] = set()
        self.files: tuple[str, ...] = ()

    def __enter__(self) -> Followed:
        sys.settrace(self._called)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.settrace(None)
        places = {code.co_filename: pathlib.Path(code.co_filename).resolve() for code in self._codes}
        names = {str(place.relative_to(ROOT)) for place in places.values() if is_ours(place)}
        self.files = with_imports(names - {str(pathlib.Path(__file__).relative_to(ROOT))})

    def _called(self, frame: FrameType, event: str, argument: Any) -> None:
        self._codes.add(frame.f_code)


def is_ours(path: pathlib.Path) -> bool:
    """Whether a file is the project's own."""
    return path.is_relative_to(ROOT) and path.suffix == ".py" and not path.is_relative_to(ROOT / ".venv")


def with_imports(names: Iterable[str]) -> tuple[str, ...]:
    """Files by their names from the root, and what those of the program import of it. A test imports what other jobs
    use, too."""
    modules = {name: pathlib.Path(module.__file__).resolve() for name, module in _loaded()}
    of_file = {str(path.relative_to(ROOT)): name for name, path in modules.items() if is_ours(path)}
    found = set(names)
    for name in names:
        module = "" if name.startswith("tests/") else of_file.get(name, "")
        package = module if name.endswith("/__init__.py") else module.rpartition(".")[0]
        for node in syntax_of((ROOT / name).read_text(encoding="utf-8")).imports if module else ():
            from_name = f"{'.' * node.level}{node.module or ''}" if isinstance(node, ast.ImportFrom) else ""
            start = importlib.util.resolve_name(from_name, package) if from_name else ""
            asked = {start, *(f"{start}.{alias.name}".lstrip(".") for alias in node.names)} & modules.keys()
            found |= {str(modules[each].relative_to(ROOT)) for each in asked if is_ours(modules[each])}
    return tuple(sorted(found))


def _loaded() -> list[tuple[str, Any]]:
    """Modules that have a file, by the names that they are imported by: who is started is `__main__` besides."""
    modules = [module for module in list(sys.modules.values()) if getattr(module, "__file__", None)]
    return [(module.__spec__.name if module.__spec__ else module.__name__, module) for module in modules]


# -- keys --------------------------------------------------------------------------------------------------------------


def key_of(how: str, outcome: Outcome) -> str:
    """What decides what a job comes to, run `how`: what there is to loop over, its units' texts and its Python files.
    Empty where one of them is no more."""
    try:
        units = sorted(_digest_of_unit(unit) for unit in outcome.launched)
        files = [f"{name} {_digest_of_file(name)}" for name in sorted(outcome.files)]
        described = "\0".join([how, found_in_folders(), read_source(RUNTIME), *units, *files])
    except (CompileError, OSError):
        return ""
    return hashlib.sha256(described.encode()).hexdigest()[:20]


@functools.cache
def found_in_folders() -> str:
    """What jobs loop over that no file lists: the program finds it in its folders. A line each."""
    kinds = own_structures()
    lines = {f"structure {name}: {' '.join(telling_layouts(name))}" for name in kinds}
    lines |= {f"optimisers of {name}: {' '.join(kind.optimisers())}" for name, kind in kinds.items()}
    for kind in kinds.values():
        lines |= {f"layout {layout}: {' '.join(kind.traversals(layout))}" for layout in kind.layouts()}
    return "\n".join(sorted(lines | {f"ray type {name}" for name in ray_types()}))


def was_edited(outcome: Outcome, since_ns: int) -> bool:
    """Whether a file that an outcome is of, Python's or a kernel's, is another one since then, or no more. A file put
    back with its old time counts, too: what is asked is when the disk's entry changed."""
    try:
        names = {RUNTIME, *outcome.files}.union(*map(_files_of_unit, outcome.launched))
        return any((ROOT / name).stat().st_ctime_ns >= since_ns for name in names)
    except (CompileError, OSError):
        return True


@functools.cache
def _files_of_unit(unit: UnitSource) -> tuple[str, ...]:
    return include_closure((*HOST_HEADERS, *unit.headers, unit.path))


@functools.cache
def _digest_of_unit(unit: UnitSource) -> str:
    return write_unit(unit, "host", 8, checks=True).digest


@functools.cache
def _digest_of_file(name: str) -> str:
    return hashlib.sha256((ROOT / name).read_bytes()).hexdigest()


# -- the file ----------------------------------------------------------------------------------------------------------


class KeptJobs:
    """What is kept: outcomes by what a job was run for and by its name, each with the key it had."""

    def __init__(self, text: str = "{}") -> None:
        told = json.loads(text)
        units = [unit_of(parts) for parts in told.get("units", [])]
        files = told.get("files", [])
        self._jobs: dict[str, dict[str, tuple[str, Outcome]]] = {}
        for tool, jobs in told.get("jobs", {}).items():
            of = self._jobs.setdefault(tool, {})
            for name, (key, launched, read) in jobs.items():
                found = {units[place]: set(kernels) for place, kernels in launched}
                of[name] = key, Outcome(found, tuple(files[place] for place in read))

    def valid(self, tool: str, how: str) -> dict[str, tuple[str, Outcome]]:
        """Keys and outcomes of the jobs of which nothing has changed, by their names."""
        return {
            name: made for name, made in self._jobs.get(tool, {}).items() if made[0] and made[0] == key_of(how, made[1])
        }

    def keep(
        self, tool: str, how: str, names: Iterable[str], outcomes: Mapping[str, Outcome], since_ns: int
    ) -> list[str]:
        """Keep new outcomes beside those that are valid; of other jobs than `names` nothing. Those of which a file was
        edited since are left out, and returned: what ran may not be what their keys would say."""
        new = {name: (key_of(how, found), found) for name, found in outcomes.items()}
        edited = [name for name, found in outcomes.items() if was_edited(found, since_ns)]  # behind what the keys read
        made = self.valid(tool, how) | {name: made for name, made in new.items() if name not in edited}
        self._jobs[tool] = {name: made[name] for name in names if name in made}
        return edited

    def text(self) -> str:
        """The file: a line a unit, a Python file and a job."""
        outcomes = [outcome for jobs in self._jobs.values() for _, outcome in jobs.values()]
        units = sorted({unit for outcome in outcomes for unit in outcome.launched}, key=repr)
        files = sorted({name for outcome in outcomes for name in outcome.files})
        unit_places, file_places = ({each: place for place, each in enumerate(many)} for many in (units, files))
        jobs = []
        for tool, of in sorted(self._jobs.items()):
            lines = []
            for name, (key, outcome) in of.items():
                launched = sorted((unit_places[unit], sorted(names)) for unit, names in outcome.launched.items())
                line = [key, launched, [file_places[each] for each in outcome.files]]
                lines.append(f"{json.dumps(name)}: {_compact(line)}")
            jobs.append(f"{json.dumps(tool)}: {{\n" + ",\n".join(lines) + "\n}")
        parts = [f'"units": [\n{_lines(dataclasses.astuple(unit) for unit in units)}\n]']
        parts += [f'"files": [\n{_lines(files)}\n]', '"jobs": {\n' + ",\n".join(jobs) + "\n}"]
        return "{\n" + ",\n".join(parts) + "\n}\n"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _lines(values: Iterable[Any]) -> str:
    return ",\n".join(map(_compact, values))


def read() -> KeptJobs:
    """What is kept in the project's file; nothing where there is none."""
    return KeptJobs(LIST.read_text(encoding="utf-8") if LIST.exists() else "{}")


def keep(tool: str, how: str, names: Iterable[str], outcomes: Mapping[str, Outcome]) -> list[str]:
    """Keep outcomes in the project's file, but for those of which a file was edited since this process began: these are
    said and returned (`KeptJobs.keep`)."""
    kept = read()
    edited = kept.keep(tool, how, names, outcomes, BEGAN_NS)
    LIST.write_text(kept.text(), encoding="utf-8")
    if edited:
        print(f"{tool}: not kept, as files that they read were edited meanwhile: {', '.join(edited)}.", flush=True)
    return edited


def today() -> int:
    """The day, counted from 1970 in UTC."""
    return int(time.time() // 86_400)


def to_run(names: Iterable[str], valid: Mapping[str, tuple[str, Outcome]], day: int) -> list[str]:
    """Those of which nothing valid is kept, and some by turns: every `PROVED`-th by its key, each of them on one of
    `PROVED` days, and the first by its key always."""
    first = min((key for key, _ in valid.values()), default="")
    return [
        name
        for name in names
        if name not in valid or valid[name][0] == first or (int(valid[name][0], 16) + day) % PROVED == 0
    ]
