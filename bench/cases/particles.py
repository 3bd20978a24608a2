"""What spheres by the million cost, against what was promised.

Casts of spheres of 3 and 12 pixels, and of the most of 1 and 3, by every arrangement in tiles, by a plain splatter and
by `auto`, in random and in Morton order; memory; moving spheres rebuilt by lbvh and their primary rays; whole frames of
FILE (a frame of particles) under a seeded displacement; a trajectory read. With --resume a run that was cut short goes
on where it ended. Milliseconds of the target's own clock, medians, replayed as a graph where that can be.
"""

from __future__ import annotations

import argparse
import json
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.target.base import OutOfMemoryError, Target

from ..arguments import DEVICE, OUT, UsageError, argument, at_least_one, chosen, repeat, size_of
from ..context import context, heading
from ..particle_casts import FEW_IN_TILES, IN_TILES, Views, casts, memory_of_tiles
from ..particle_cells import Cell, Row
from ..particle_frames import files, memory_of_structure, moving, still_frames, trajectory
from ..saved import keep
from ..table import aligned

PARTS = ("casts", "memory", "moving", "frames", "files", "most")
COUNTS = {"cuda": (1_000_000, 100_000_000), "host": (100_000, 200_000)}
SIZES = {"cuda": (1024, 1024), "host": (512, 512)}
GRIDS = (32, 64, 128)
MOST_GRIDS = (64, 128)
RADII, MOST_RADII = (3, 12), (1, 3)
ARGUMENTS = (
    argument("files", nargs="*", metavar="FILE", help="a frame of particles that is displaced, as bigbox.gro.bz2"),
    DEVICE,
    repeat(9),
    argument("--count", type=at_least_one, metavar="N", help="spheres (default: by the device, 1,000,000 on a GPU)"),
    argument("--most", type=at_least_one, metavar="N", help="spheres of the part most (100,000,000 on a GPU)"),
    argument("--frames", type=at_least_one, default=300, metavar="N", help="key frames of FILE (default: %(default)s)"),
    argument(
        "--size", type=size_of, metavar="WxH", help="pixels of the pictures (default: 1024x1024, on a CPU 512x512)"
    ),
    argument("--parts", default=",".join(PARTS), help="what is measured, by commas (default: %(default)s)"),
    argument("--resume", action="store_true", help="keep what PREFIX.json has, and measure what it lacks"),
    OUT,
)


def table(rows: Sequence[Row]) -> str:
    """A line each."""
    lines = [
        (row["what"], row["on"], row["figure"], row["unit"], row.get("is") or row.get("why") or "") for row in rows
    ]
    return aligned(("what", "on", "measured", "unit", ""), lines)


def cells(target: Target, names: argparse.Namespace, views: Views) -> Iterator[Cell]:
    """All cells of the parts asked for, those of the most spheres last."""
    parts = [part for part in names.parts.split(",") if part]
    count, most = names.count, names.most
    if "casts" in parts:
        yield from casts(views, count, RADII, IN_TILES, GRIDS, names.repeat)
    if "memory" in parts:
        yield from memory_of_tiles(views, count, RADII)
    if "moving" in parts:
        yield from moving(target, count, names.size, names.repeat)
    if "frames" in parts:
        yield from still_frames(target, count, names.size, names.repeat)
        yield from files(target, names.files, names.frames, names.size, names.repeat)
    if "files" in parts:
        yield trajectory(names.repeat)
    if "most" in parts:
        yield from casts(views, most, MOST_RADII, FEW_IN_TILES, MOST_GRIDS, names.repeat)
        yield memory_of_structure(views, most)


def rows_of(cell: Cell) -> list[Row]:
    """What a cell measures; where it cannot, the sentence why."""
    try:
        found = list(cell.measure())
    except (HierarchyError, OutOfMemoryError, ValueError) as error:
        found = [{"figure": None, "unit": "", "why": str(error)}]
    return [{"cell": cell.key, "what": cell.what, "on": cell.on, **row} for row in found]


def resumed(names: argparse.Namespace, about: dict[str, Any]) -> list[Row]:
    """The rows with figures that PREFIX.json has. UsageError where they are another program's or machine's."""
    path = pathlib.Path(f"{names.out}.json")
    if not names.resume or not path.exists():
        return []
    before = json.loads(path.read_text(encoding="utf-8"))
    for key in ("device", "commit"):
        if before["context"][key] != about[key]:
            raise UsageError(
                f"--resume: {path} was measured with another {key} ({before['context'][key]}, now {about[key]}). "
                f"Choose another --out, or leave --resume out."
            )
    return [row for row in before["results"] if row["figure"] is not None]


def checked(names: argparse.Namespace, target: Target) -> None:
    """Fill in what depends on the device. UsageError for parts that there are not, or --resume without --out."""
    if unknown := sorted({part for part in names.parts.split(",") if part} - set(PARTS)):
        raise UsageError(f"--parts knows {', '.join(PARTS)}, not {', '.join(unknown)}.")
    if names.resume and not names.out:
        raise UsageError("--resume goes with --out.")
    count, most = COUNTS[target.kind]
    names.count, names.most = names.count or count, names.most or most
    names.size = names.size or SIZES[target.kind]


def run(names: argparse.Namespace) -> int:
    """Measure what is not there yet, print as it comes, and keep where asked for."""
    with chosen(names.device) as target:
        checked(names, target)
        about = context(target, command=names.command)
        rows = resumed(names, about)

        def page() -> str:
            return "\n".join([*heading(about), "", table(rows)])

        done = {row["cell"] for row in rows}
        for cell in cells(target, names, Views(target, names.size)):
            if cell.key in done:
                continue
            for row in rows_of(cell):
                rows.append(row)
                figure = "-" if row["figure"] is None else f"{row['figure']:.4g}"
                print(f"{row['what']}; {row['on']}: {figure} {row['unit']} {row.get('why', '')}".rstrip(), flush=True)
            keep(names.out, {"context": about, "results": rows}, page())
        print(page())
    return 0
