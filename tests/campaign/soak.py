"""A long day of a person, by chance: other structures, layouts, ray types, sizes and scenes, files opened, pictures and
tables exported, in one process without a window, on the host or on a GPU.

`python -m tests.campaign.soak [--minutes N] [--seed N] [--device cuda]`. Each choice is met once with each scene; a
minute later (and 1,200 steps, which a busy machine takes longer for), each minute and at the end: memory,
descriptors, threads and temporary files; what grows is a finding, memory by more than 2 %, that of a GPU, too. The
scenes at each look are those of the beginning.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import State
from raygrove.app.frames import exporting
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.scene_io import ImportLimits, SceneError, load
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings import option_tables
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.scene import Moment, Scene
from tests.app.scene_io import writers
from tests.campaign import kept

PAGE = os.sysconf("SC_PAGE_SIZE")
WARM_S, STEPS = 60.0, 1200
"""The first minute, and what is done in it where nobody else has the processors."""
LOOK_S = 60.0
GROWTH, LEAST_MIB = 0.02, 0.5
"""By which memory may grow: a device holds little over a megabyte of arrays here, whose headroom depends on what was
drawn last."""
SIZES = ((32, 24), (48, 32), (64, 40))
EXPORTS = ("p_%04d.png", "one.json", "one.csv")
Choice = tuple[tuple[str, str], str]
DEMOS = (("walker", 300), ("cloth", 200), ("explode", 150), ("orbit", 100))


def taken_by(folder: Path) -> dict[str, float]:
    """Of this process: memory in MiB, whole and without pages of files, which the system takes back and brings when it
    likes, descriptors, threads, and files in the folder of temporary ones, but for those of
    `folder` that have their names; half-written ones there."""
    gc.collect()
    resident, of_files = (int(pages) * PAGE / 2**20 for pages in Path("/proc/self/statm").read_text().split()[1:3])
    strays = [p for p in Path(tempfile.gettempdir()).rglob("*") if p.is_file() and folder not in p.parents]
    inside = [p for p in folder.rglob("*") if p.suffix == ".tmp" or p.name.startswith(".")]
    descriptors = len(os.listdir("/proc/self/fd"))
    threads = threading.active_count()
    memory = {"MiB": resident, "own MiB": resident - of_files}
    return memory | {"descriptors": descriptors, "threads": threads, "files": len(strays) + len(inside)}


class Looks:
    """What was taken a minute after all was met, at times after it, and at the end; `end` is when. The minute is that
    of a machine which does nothing else: on another it is over once `steps` things were done, too."""

    def __init__(self, steps: int) -> None:
        self.begun, self._steps = time.monotonic(), steps
        self.end = self._next = 0.0
        self.first, self.last = dict[str, float](), dict[str, float]()
        self.rows: list[dict[str, Any]] = []

    def start(self, minutes: float) -> None:
        """All is met: a minute, and then as long. Of a soak that is shorter itself half of it, and of the steps."""
        warm = min(WARM_S, 30.0 * minutes)
        self._next = time.monotonic() + warm
        self.end = self._next + 60.0 * minutes
        self._steps = round(self._steps * warm / WARM_S)

    def are_due(self, counts: Counter[str]) -> bool:
        """Whether it is time for one, after what was done."""
        return time.monotonic() > self._next and (bool(self.first) or counts.total() >= self._steps)

    def add(self, found: dict[str, float], counts: Counter[str]) -> None:
        """One, which is printed and kept: some hundred bytes, beside the 2 % of memory that are a finding."""
        self.first, self.last = self.first or found, found
        self._next = time.monotonic() + LOOK_S
        self.rows.append({"seconds": time.monotonic() - self.begun, "taken": found, "done": dict(counts)})
        print(line_of(self.rows[-1]), flush=True)


class Soak:
    """One process at work, and what it has taken at any time."""

    def __init__(self, folder: Path, seed: int, combinations: int, device: str = "cpu") -> None:
        self.folder, self.device, self.chance, self.counts = folder, device, random.Random(seed), Counter[str]()
        self.maker, self.scenes = FrameMaker(), [make_demo(name, count) for name, count in DEMOS]
        self.opened = [writers.write_animated_glb(folder / "a.glb"), writers.write_skinned_glb(folder / "s.glb")]
        positions, triangles = writers.sphere(12, 18)
        self.opened.append(writers.write_ply(folder / "ball.ply", positions, triangles, "ascii"))
        self.opened.append(folder / "damaged.glb")
        self.opened[-1].write_bytes(self.opened[0].read_bytes()[:900])
        pairs = [(name, layout) for name, kind in option_tables.builders().items() for layout in kind.layouts()]
        every = list(itertools.product(pairs, sorted(option_tables.ray_types())))
        self.choices = self.chance.sample(every, min(combinations, len(every)))
        self.slots = [HostSlot(*size) for size in SIZES]

    def state(self, choice: Choice | None = None) -> State:
        """Another choice."""
        (name, layout), ray_type = choice or self.chance.choice(self.choices)
        settings = set_option(Settings(), "ray_type.radiosity.points", 300)
        chosen = {"device": self.device, "hierarchy": name, "layout": layout, "ray_type": ray_type}
        for key, value in chosen.items():
            settings = set_option(settings, f"render.{key}", value)
        width, height = self.chance.choice(SIZES)
        settings = set_option(set_option(settings, "render.width", width), "render.height", height)
        return State(settings=set_option(settings, "device.threads", 1))

    def meet(self) -> None:
        """Each choice with each scene and each kind of file, at each size, in motion and at rest, and exported in each
        way, once."""
        scenes = list(self.scenes)
        for path in self.opened:
            with contextlib.suppress(SceneError):
                scenes.append(load([path], ImportLimits()))
        for choice, scene in itertools.product(self.choices, scenes):
            for slot, is_moving in itertools.product(self.slots, (True, False)):
                self.draw(choice, scene, slot, is_moving)
            for name in EXPORTS:
                with contextlib.suppress(HierarchyError):
                    self.export(name, choice, scene)

    def taken(self) -> dict[str, float]:
        """What the process has, with the scenes that it began with."""
        self.scenes = [make_demo(name, count) for name, count in DEMOS]
        for scene in self.scenes:
            self.draw(self.choices[0], scene)
        taken = taken_by(self.folder)
        if self.device == "cuda":
            taken["device MiB"] = sum(self.maker.target_for(self.state()).memory().values()) / 2**20
        return taken

    def step(self) -> None:
        """One thing that a person does."""
        what = self.chance.choices(("draw", "open", "export"), (20, 2, 1))[0]
        self.counts[what] += 1
        try:
            getattr(self, what)()
        except (HierarchyError, SceneError) as error:
            assert str(error).rstrip().endswith((".", ")")), error
            self.counts["sentence"] += 1

    def draw(
        self,
        choice: Choice | None = None,
        scene: Scene | None = None,
        slot: HostSlot | None = None,
        is_moving: bool | None = None,
    ) -> None:
        """Some instants of a scene, as it plays; what is not said is left to chance."""
        scene = scene or self.chance.choice(self.scenes)
        state, slot = self.state(choice), slot or self.chance.choice(self.slots)
        for _ in range(3):
            moves = self.chance.random() < 0.5 if is_moving is None else is_moving
            self.maker.draw(scene, state, Moment(self.chance.uniform(0.0, 1.0)), (slot,), moves)

    def open(self) -> None:
        """A file, good or damaged, in the place of one of the scenes."""
        scene = load([self.chance.choice(self.opened)], ImportLimits())
        self.scenes[self.chance.randrange(len(self.scenes))] = scene if self.chance.random() < 0.8 else self.demo()

    def demo(self) -> Scene:
        """A scene that is built in."""
        return make_demo(*self.chance.choice(DEMOS))

    def export(self, name: str | None = None, choice: Choice | None = None, scene: Scene | None = None) -> None:
        """Three frames as pictures, or their figures as a table."""
        out = self.folder / (name or self.chance.choice(EXPORTS))
        state, scene = self.state(choice), scene or self.chance.choice(self.scenes)
        plan = exporting.plan_of(state, scene, str(out), range(3))
        exporting.export(Job("a soak's export"), state=state, scene=scene, plan=plan)


def grown(first: dict[str, float], last: dict[str, float]) -> list[str]:
    """What is more than at first, beyond what memory may grow by."""
    findings = [key for key in ("descriptors", "threads", "files") if last[key] > first[key]]
    memory = [key for key in first if key.endswith("MiB")]
    return findings + [key for key in memory if last[key] - first[key] > max(GROWTH * first[key], LEAST_MIB)]


def conclude(looks: Looks, names: argparse.Namespace, device: str = "cpu") -> int:
    """Print what has grown and keep all looks where that is asked; 1 where there is a finding."""
    findings = grown(looks.first, looks.last)
    line = f"{len(findings)} findings: {', '.join(findings) or 'nothing has grown'}"
    print(line)
    content = {
        "minutes": names.minutes,
        "combinations": names.combinations,
        "results": looks.rows,
        "findings": findings,
    }
    kept.keep_found(names.out, content, [*map(line_of, looks.rows), line], device=device, seed=names.seed)
    return int(bool(findings))


def line_of(look: dict[str, Any]) -> str:
    """A look for people."""
    told = ", ".join(f"{value:,.1f} {key}" if key.endswith("MiB") else f"{value:.0f} {key}"
                     for key, value in look["taken"].items())  # fmt: skip
    return f"after {look['seconds']:.0f} s: {told}; " + ", ".join(f"{count:,} {what}" for what, count in
                                                                  look["done"].items())  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Work for the minutes, print what was done and taken; 1 where something has grown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long, once all is met (60)")
    parser.add_argument("--seed", type=int, default=1, help="another seed does other things (1)")
    words = "structures with layouts and ray types, drawn by the seed: each compiles for seconds at first (24)"
    parser.add_argument("--combinations", type=int, default=24, help=words)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="what draws (cpu)")
    names = kept.parsed(parser, arguments)
    with tempfile.TemporaryDirectory(prefix="raygrove-soak-") as name:
        work, own = Path(name) / "work", Path(name) / "temporary"
        work.mkdir()
        own.mkdir()
        tempfile.tempdir = str(own)
        soak, looks = Soak(work, names.seed, names.combinations, names.device), Looks(STEPS)
        soak.meet()
        print(f"all met after {time.monotonic() - looks.begun:.0f} s", flush=True)
        looks.start(names.minutes)
        while time.monotonic() < looks.end:
            soak.step()
            if looks.are_due(soak.counts):
                looks.add(soak.taken(), soak.counts)
        looks.add(soak.taken(), soak.counts)
        soak.maker.close_engine()
        tempfile.tempdir = None
    return conclude(looks, names, names.device)


if __name__ == "__main__":
    sys.exit(main())
