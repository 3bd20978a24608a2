"""The window on this machine's display: milliseconds of the render thread and of painting, frames a second, which view, whether through interop.

    python bench/window.py [FILE ... | --demo orbit] [--size 1024x768] [--frames 500] [--screenshot FILE.png] [--view gl] [--target cuda] [--alone]

Needs a display. The swap interval is 0 and the resolution does not adapt. Prints one JSON object; the exit code is 1 where no frame came.
The program is started as a process of its own, because a benchmark knows only `gpu`.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    """Start the program's own measurement and pass its answer through."""
    return subprocess.run([sys.executable, "-m", "app.ui.measure", *arguments], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
