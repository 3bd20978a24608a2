"""The window on this machine's display: milliseconds of the render thread and of painting, frames a second, which view, whether through interop.

    python -m bench.window [FILE ... | --demo orbit] [--size 1024x768] [--frames 500] [--screenshot FILE.png] [--view gl] [--target cuda] [--alone]
                           [--keep FILE.json]

Needs a display. The swap interval is 0 and the resolution does not adapt. Prints one JSON object; the exit code is 1 where no frame came. With --keep
the run is added to a file of `context` and `runs`, as bench/results has them. The program is started as a process of its own, because a benchmark
knows only `gpu`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import platform
import subprocess
import sys
from typing import Any

from .context import commit

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    """Start the program's own measurement and pass its answer through."""
    file, asked = _keep_from(arguments)
    done = subprocess.run([sys.executable, "-m", "app.ui.measure", *asked], cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="")
    if file is not None and done.returncode == 0:
        keep(file, asked, json.loads(done.stdout))
    return done.returncode


def _keep_from(arguments: list[str]) -> tuple[pathlib.Path | None, list[str]]:
    """The file of --keep, and the other arguments."""
    parser = argparse.ArgumentParser(prog="python -m bench.window", add_help=False, allow_abbrev=False)
    parser.add_argument("--keep", type=pathlib.Path, metavar="FILE.json")
    names, others = parser.parse_known_args(arguments)
    return names.keep, others


def keep(file: pathlib.Path, command: list[str], answer: dict[str, Any]) -> None:
    """Add a run to a file; the first one says where it was measured."""
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"context": about(answer), "runs": []}
    content["runs"].append({"command": " ".join(command), **answer})
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
        "command": "python -m bench.window ...",
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
