"""The same jobs on one and on several devices of this host: how long that took, how evenly the devices were busy, and
whether their pictures are the same, byte for byte."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .store.folder import Store
from .store.workers import Progress

SCENES = ("walker", "cloth", "orbit", "explode", "blob")
STRUCTURES = ("lbvh", "hploc", "ploc", "binned_sah")
DRAWN_SCENES, DRAWN_STRUCTURES = ("walker", "cloth", "room"), ("lbvh", "hploc", "median_sah")
SWEEP = (sys.executable, "-m", "raygrove", "sweep")
GOALS = {2: 1.9, 4: 3.6}
"""How many times as fast as one GPU so many are to be."""
LEAST = 0.1
"""By what part of the time asked for more work must prolong a job, for how much it does to be believed."""
Tables = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Kind:
    """How devices of a kind are given work. `amount` is the word of a plan by which a job takes longer, `few` and
    `many` are two values by which it is told how much longer; `common` is what all jobs have. Timed jobs on the CPU
    are alone on it, so that devices that are simulated there draw pictures."""

    device: str
    amount: str
    few: int
    many: int
    common: Mapping[str, Any]


CUDA = Kind("cuda", "repeat", 2, 52, {"measure": "frame", "size": "1024x768", "frames": "0:8", "warmup": 1,
                                      "ray_type": "ao", "demo.triangles": 60_000})  # fmt: skip
CPU = Kind("cpu", "samples", 2, 12, {"measure": "render", "size": "128x96", "frames": "0:1", "threads": 1,
                                     "ray_type": "ao", "demo.triangles": 2000})  # fmt: skip


def toml_of(fixed: Mapping[str, Any], axes: Mapping[str, Sequence[Any]], jobs: Sequence[Mapping[str, Any]] = ()) -> str:
    """A plan as the text of a file."""
    tables = [("[fixed]", fixed), ("[axes]", axes), *(("[[jobs]]", job) for job in jobs)]
    lines = [line for head, table in tables
             for line in (head, *(f"{key} = {json.dumps(value)}" for key, value in table.items()), "")]  # fmt: skip
    return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class Run:
    """What a sweep on `devices` devices took. `seconds` are those of all jobs together, `busy` those of each device."""

    devices: int
    done: int
    wall: float
    seconds: float
    busy: tuple[float, ...]

    @classmethod
    def of(cls, devices: int, wall: float, progress: Progress) -> Run:
        """A run from what its workers counted."""
        return cls(devices, progress.done, wall, progress.seconds, tuple(progress.busy.values()))

    @property
    def balance(self) -> float:
        """How much longer the busiest device was at work than all on average, as a part of that."""
        return max(self.busy) * self.devices / sum(self.busy) - 1.0

    @property
    def overhead(self) -> float:
        """What the run took beyond its jobs, evenly shared, as a part of them: starting, handing out, waiting for the
        last."""
        return self.wall * self.devices / self.seconds - 1.0

    def as_json(self, one: Run) -> dict[str, Any]:
        """Plain values, beside the run on `one` device."""
        return {**dataclasses.asdict(self), "speed_up": one.wall / self.wall, "balance": self.balance,
                "overhead": self.overhead}  # fmt: skip


class ScalingError(RuntimeError):
    """A sweep that did not do all its jobs."""


class Sweeps:
    """Sweeps of this program in processes of their own, on so many of the devices that this one may use. Plans and
    stores lie in `folder`."""

    def __init__(self, kind: Kind, folder: pathlib.Path, say: Callable[[str], None]) -> None:
        self._kind, self._folder, self._say = kind, folder, say

    def run(self, name: str, plan: str, devices: int) -> tuple[Run, Store]:
        """Do a plan's jobs, anew. Raises ScalingError."""
        path, store = self._folder / f"{name}.toml", self._folder / f"{name}-{devices}"
        path.write_text(plan, encoding="utf-8")
        engine = "local" if self._kind is CUDA else f"local:{devices}"
        words = [*SWEEP, str(path), "--store", str(store), "--json", "--jobs", engine]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, env=self._environment(devices), check=False)
        if done.returncode:
            raise ScalingError(f"{name}: the sweep on {devices} devices ended with exit code {done.returncode}.")
        found = json.loads(done.stdout)
        run = Run(devices, found["done"], found["wall_seconds"], found["seconds"], tuple(found["busy"].values()))
        self._say(f"{name}: {run.done} jobs on {devices} in {run.wall:.1f} s.")
        return run, Store(store)

    def _environment(self, devices: int) -> dict[str, str]:
        if self._kind is not CUDA:
            return dict(os.environ)
        seen = [one for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if one]
        return {**os.environ, "CUDA_VISIBLE_DEVICES": ",".join((seen or list(map(str, range(devices))))[:devices])}

    def calibrated(self, seconds: float, devices: int) -> list[dict[str, Any]]:
        """A table of a plan for each scene and structure, with the amount of work that takes about so long. The first
        run compiles the kernels, so that no other has to."""
        kind = self._kind
        tables: list[dict[str, Any]] = [{"scene": scene, "configuration": name, kind.amount: kind.few}
                                        for scene in SCENES for name in STRUCTURES]  # fmt: skip
        self._seconds("first", tables, 1, devices)
        few = self._seconds("few", tables, 2, devices)
        amounts = [kind.many] * len(tables)
        for seed, name in enumerate(("many", "more"), start=3):
            tables = [{**table, kind.amount: amount} for table, amount in zip(tables, amounts, strict=True)]
            took = self._seconds(name, tables, seed, devices)
            for place, amount in enumerate(amounts):
                grown = max(took[place] - few[place], LEAST * seconds)  # so that noise makes no job endless
                more = (amount - kind.few) * (seconds - few[place]) / grown
                amounts[place] = kind.few + max(1, round(more))
        return [{**table, kind.amount: amount} for table, amount in zip(tables, amounts, strict=True)]

    def _seconds(self, name: str, tables: Sequence[Mapping[str, Any]], seed: int, devices: int) -> list[float]:
        """What a job of each table takes."""
        fixed = {"device": self._kind.device, **self._kind.common, "seed": seed}
        _, store = self.run(name, toml_of(fixed, {}, tables), devices)
        took = {(one["job"]["scene"], one["job"]["configuration"]): one["seconds"] for one in store.records()}
        return [took[table["scene"], table["configuration"]] for table in tables]

    def timed(self, tables: Sequence[Mapping[str, Any]], jobs: int, counts: Sequence[int]) -> list[Run]:
        """About so many jobs, on each number of devices."""
        fixed = {"device": self._kind.device, **self._kind.common}
        plan = toml_of(fixed, {"seed": list(range(max(1, round(jobs / len(tables)))))}, tables)
        return [self.run("jobs", plan, count)[0] for count in counts]

    def pictures(self, counts: Sequence[int]) -> list[dict[str, str]]:
        """The digests of the files of pictures by their names, for each number of devices: 3 structures x 3 scenes."""
        fixed = {"device": self._kind.device, "measure": "render", "frames": "0:4", "samples": 4, "ray_type": "path",
                 "size": "480x270" if self._kind is CUDA else "48x36", "demo.triangles": 2000}  # fmt: skip
        plan = toml_of(fixed, {"scene": list(DRAWN_SCENES), "configuration": list(DRAWN_STRUCTURES)})
        return [digests_of(self.run("pictures", plan, count)[1]) for count in counts]


def digests_of(store: Store) -> dict[str, str]:
    """SHA-256 of each picture of a store, by its place there."""
    paths = sorted(path for path in store.folder.rglob("*.png") if re.fullmatch("[0-9a-f]{64}", path.parent.name))
    return {path.relative_to(store.folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def differing(pictures: Sequence[Mapping[str, str]]) -> list[str]:
    """The pictures that some run has not, or has otherwise than the first."""
    names = {name for one in pictures for name in one}
    return sorted(name for name in names if len({one.get(name) for one in pictures}) > 1)
