"""The window on this machine's display: how fast it draws and paints.

Milliseconds of the render thread and of painting, frames per second, which view, whether through interop. Needs a
display. The swap interval is 0 and the resolution does not adapt. Prints one JSON object; the exit code is 1 where no
frame came. With --out the run is added to a file of `context` and `runs`, as bench/results has them."""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import platform
import sys
from typing import Any

from ..arguments import DEVICE, argument, at_least_one, size
from ..context import commit
from ..measured_window import WindowError, ask_window

ARGUMENTS = (
    argument("files", nargs="*", metavar="FILE", help="a model or the key frames of a sequence, which play"),
    argument("--demo", default="orbit", help="the built-in scene that plays where no file does (default: %(default)s)"),
    DEVICE,
    size("1024x768"),
    argument("--frames", type=at_least_one, default=500, help="frames that count (default: %(default)s)"),
    argument("--warmup", type=int, default=60, help="frames before that (default: %(default)s)"),
    argument("--view", default="auto", help="auto, gl or painter (default: %(default)s)"),
    argument("--screenshot", default="", metavar="FILE.png", help="where the window is saved as a picture"),
    argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting, as on the command line"),
    argument("--alone", action="store_true", help="hide docks and bars: a virtual display copies the whole window"),
    argument("--out", default="", metavar="PREFIX", help="also add the run to PREFIX.json"),
)
JOB = ("files", "demo", "device", "size", "frames", "warmup", "view", "screenshot", "set", "alone")


def run(names: argparse.Namespace) -> int:
    """Start the window's own measurement and pass its answer through."""
    try:
        answer = ask_window("frames", {name: getattr(names, name) for name in JOB})
    except WindowError as error:
        print(error.answer, end="")
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(answer, indent=1))
    if names.out:
        add_run(pathlib.Path(f"{names.out}.json"), names.command[4:], answer)
    return 0


def add_run(file: pathlib.Path, command: list[str], answer: dict[str, Any]) -> None:
    """Add a run to a file; the first one says where it was measured."""
    content: dict[str, Any] = (
        json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"context": about(answer), "runs": []}
    )
    content["runs"].append({"command": " ".join(command), **answer})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def about(answer: dict[str, Any]) -> dict[str, Any]:
    """The context of a file of runs."""
    return {
        "device": answer["device"],
        "gl_renderer": answer["gl_renderer"],
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": "python -m raygrove.bench window ...",
    }
