"""The same sweep on one and on several devices of this host. A plan of jobs that take about as long as asked for each
is done on one GPU and on several, and pictures of 3 structures x 3 scenes are drawn by both, which have to be equal
byte for byte. With --device cpu, workers of one thread draw pictures in place of GPUs. With --simulated, devices
only wait, so that what handing out jobs costs can be told on a host of two cores.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from raygrove.gpu.target import choose

from ..arguments import DEVICE, OUT, UsageError, argument, at_least_one
from ..context import context
from ..device_scaling import CPU, CUDA, GOALS, Run, ScalingError, Sweeps, differing
from ..saved import keep
from ..simulated_devices import waited_for
from ..table import aligned

BALANCE = 0.05
"""By how much longer than the average the busiest device may be at work."""


def counts_of(text: str) -> tuple[int, ...]:
    """Numbers of devices, with commas between them."""
    return tuple(at_least_one(part) for part in text.split(","))


counts_of.__name__ = "1,2,..."

ARGUMENTS = (
    argument("--devices", type=counts_of, default="1,2", metavar="1,2", help="on how many (default: %(default)s)"),
    argument("--jobs", type=at_least_one, default=200, metavar="N", help="about so many (default: %(default)s)"),
    argument("--seconds", type=float, default=1.2, metavar="S", help="that a job takes, about (default: %(default)s)"),
    argument("--spread", type=float, default=5.0, metavar="X", help="simulated jobs take S to X times S (default: 5)"),
    argument("--simulated", action="store_true", help="devices that wait, and compute nothing"),
    argument("--engine", choices=("local", "dask"), default="local", help="who hands out simulated jobs"),
    argument("--folder", default="", metavar="DIR", help="where plans and stores stay; none: nowhere"),
    DEVICE,
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, keep; 1 where a figure misses its bar or pictures differ."""
    begin = time.perf_counter()
    if 1 not in names.devices:
        raise UsageError("--devices: one of them is 1, which the others are compared with.")
    with contextlib.closing(choose(names.device)) as target:
        about, is_cuda = context(target, command=names.command), target.kind == "cuda"
    pictures: list[dict[str, str]] = []
    with _folder(names.folder) as folder:
        if names.simulated:
            runs = [waited_for(folder / str(count), count, names) for count in names.devices]
        else:
            sweeps = Sweeps(CUDA if is_cuda else CPU, folder, lambda words: print(words, file=sys.stderr, flush=True))
            try:
                tables = sweeps.calibrated(names.seconds, max(names.devices))
                runs = sweeps.timed(tables, names.jobs, names.devices)
                pictures = sweeps.pictures(names.devices)
            except ScalingError as error:
                print(f"error: {error}", file=sys.stderr)
                return 1
    found = _found(runs, pictures, is_gpu=is_cuda and not names.simulated)
    text = _text(found, names, about["device"])
    text += f"\nAll of it took {time.perf_counter() - begin:.0f} s.\n"
    print(text, end="")
    keep(names.out, {"context": about, **found}, text)
    return 0 if found["is_reached"] else 1


@contextlib.contextmanager
def _folder(name: str) -> Iterator[pathlib.Path]:
    if not name:
        with tempfile.TemporaryDirectory() as folder:
            yield pathlib.Path(folder)
        return
    pathlib.Path(name).mkdir(parents=True, exist_ok=True)
    if any(pathlib.Path(name).iterdir()):
        raise UsageError(f"--folder {name}: it holds other things; name a new folder.")
    yield pathlib.Path(name)


def _found(runs: list[Run], pictures: list[dict[str, str]], *, is_gpu: bool) -> dict[str, Any]:
    one = next(run for run in runs if run.devices == 1)
    rows = [run.as_json(one) for run in runs]
    for row in rows:
        row["goal"] = GOALS.get(row["devices"]) if is_gpu else None
        row["is_reached"] = (row["goal"] is None or row["speed_up"] >= row["goal"]) and row["balance"] <= BALANCE
    other = differing(pictures)
    is_reached = all(row["is_reached"] for row in rows) and not other
    return {"runs": rows, "pictures": max(map(len, pictures), default=0), "differing": other, "is_reached": is_reached}


def _text(found: dict[str, Any], names: argparse.Namespace, device: str) -> str:
    heads = ("devices", "jobs", "s a job", "wall s", "speed-up", "goal", "busiest over mean %", "overhead %", "")
    lines = [(row["devices"], row["done"], row["seconds"] / row["done"], row["wall"], row["speed_up"], row["goal"],
              100.0 * row["balance"], 100.0 * row["overhead"], "reached" if row["is_reached"] else "MISSED")
             for row in found["runs"]]  # fmt: skip
    what = f"simulated devices, which wait, by {names.engine}" if names.simulated else device
    said = f"The same jobs on several devices: {what}\n\n{aligned(heads, lines)}\n"
    if found["pictures"]:
        other = found["differing"]
        verdict = f"{len(other)} DIFFER: {', '.join(other[:3])}" if other else "equal, byte for byte"
        said += f"\n{found['pictures']} pictures on {' and on '.join(map(str, names.devices))}: {verdict}.\n"
    return said
