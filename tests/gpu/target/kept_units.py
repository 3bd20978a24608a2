"""What NVRTC made of units: the registers, stack, spills and shared memory of their kernels, kept in kept_units.txt.

A compiler makes the same of the same text, so a unit is compiled anew where its text, something that it includes, the
compiler or its options are other ones, and else what is kept counts. Compiling all of them took a worker three minutes
of each run with an empty cache.

    python -m tests.gpu.target.kept_units

writes the file anew; whoever has changed kernels does so before a commit. What is not kept is compiled by the tests, so
that an old file costs time and nothing else. Whether NVRTC still makes what is kept is asked of some units always, and
of all under -m full.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import os
import pathlib

from raygrove.gpu.target.nvrtc import KernelResources, compile_options, compile_unit, nvrtc_version
from raygrove.gpu.target.translation_unit import ROOT, UnitText, write_unit
from tests.conftest import HOST_FLAGS

from . import every_unit
from .every_unit import Job, launched, usual_jobs

LIST = pathlib.Path(__file__).with_name("kept_units.txt")

Resources = dict[str, KernelResources]
"""Of a unit, by kernel."""


def text_of(job: Job) -> UnitText:
    """A unit as NVRTC gets it."""
    return write_unit(job[0], "cuda", 1)


def key_of(text: UnitText, architecture: int) -> str:
    """What decides what is made of a unit: its text and all that it includes, the options and the compiler."""
    options = [option for option in compile_options(architecture) if str(ROOT) not in option]
    described = "\0".join((text.digest, *options, *map(str, nvrtc_version())))
    return hashlib.sha256(described.encode()).hexdigest()[:20]


def compiled(job: Job) -> Resources:
    """What NVRTC makes of a unit today."""
    return compile_unit(text_of(job), job[1], name=job[0].path).resources


def line_of(job: Job, resources: Resources) -> str:
    """What is kept of a unit: its key, what it is for people to read, and its kernels."""
    kernels = [
        f"{name}={found.registers}/{found.stack_bytes}/{found.spill_bytes}/{found.shared_bytes}"
        for name, found in sorted(resources.items())
    ]
    return " ".join((key_of(text_of(job), job[1]), f"sm_{job[1]}", job[0].path, *kernels))


def read(text: str) -> dict[str, Resources]:
    """What is kept, by the keys of units."""
    kept: dict[str, Resources] = {}
    for line in text.splitlines():
        key, _, _, *kernels = line.split()
        parts = (kernel.partition("=") for kernel in kernels)
        kept[key] = {name: KernelResources(*map(int, numbers.split("/"))) for name, _, numbers in parts}
    return kept


def all_compiled(jobs: list[Job]) -> list[Resources]:
    """What NVRTC makes of these today, two at a time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(compiled, jobs))


def main() -> None:
    """Keep which units the project asks for, and what NVRTC makes of those that the tests look at."""
    os.environ.setdefault("RAYGROVE_HOST_FLAGS", HOST_FLAGS)  # what tests have compiled already
    every_unit.keep()
    jobs = usual_jobs(launched())
    kept = read(LIST.read_text(encoding="utf-8"))
    keys = [key_of(text_of(job), job[1]) for job in jobs]
    new = [job for job, key in zip(jobs, keys, strict=True) if key not in kept]
    kept.update(zip((key_of(text_of(job), job[1]) for job in new), all_compiled(new), strict=True))
    lines = sorted(line_of(job, kept[key]) for job, key in zip(jobs, keys, strict=True))
    lines.sort(key=lambda line: line.split()[1:])
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(jobs)} units are kept, {len(new)} of them compiled anew.")


if __name__ == "__main__":
    main()
