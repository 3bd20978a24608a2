"""The pictures of docs/guide and of README: `python -m tests.app.ui.guide_pictures [NAME ...] [--data DIR]`.

Each is a program of its own under a virtual X server, driven by the mouse and the keyboard of the walk
(tests/app/ui/walk), step by step as a person would, and then what the screen shows. A step that does not do what it
should fails, and no picture is made. `DIR` has the models that are not built-in scenes (animated/Fox.glb,
crytek-sponza). Pictures of pages (guide_pages.py) are what Chromium shows of them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.app.ui.virtual_screen import ROOT

OUT = ROOT / "docs/images/guide"
SCREEN, FIRST_SCREEN = "1120x760", "1280x720"
LIMIT_S = 600.0
ABOVE = ("window", "objects")
"""Pictures beside the guide's folder, for README."""

DARK = ("window",)
FIRST = ("window", "objects", "welcome", "model", "timeline", "cameras", "pipeline")
FIGURES = ("compare", "statistics", "boxes", "pixel")
MORE = ("race", "advice", "lesson", "light", "export", "settings", "palette", "trouble")
LABORATORY = ("ray", "tree", "build", "hot_spots", "sensor", "divergence", "own_tree")
PAGES = ("correlation",)
NAMES = (*FIRST, *FIGURES, *MORE, *LABORATORY, *PAGES)


def main(arguments: list[str]) -> int:
    """Take the pictures that are named, or all of them; 1 where one failed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.app.ui.guide_pictures", description="Take the pictures of docs/guide and of README."
    )
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--data", type=Path, default=Path("."), help="the folder of the models")
    parser.add_argument("--here", action="store_true", help="in this process, on its DISPLAY")
    given = parser.parse_args(arguments)
    if given.here:
        return take(given.names[0], given.data)
    failed = [name for name in given.names or NAMES if not is_taken(name, given.data)]
    print(f"Failed: {', '.join(failed)}" if failed else "All pictures are taken.")
    return bool(failed)


def is_taken(name: str, data: Path) -> bool:
    """Take one in a process of its own, on a screen as large as the picture."""
    began = time.monotonic()
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    size = FIRST_SCREEN if name in ABOVE else SCREEN
    server = ["xvfb-run", "--auto-servernum", f"--server-args=-screen 0 {size}x24 +extension GLX"]
    taker = [sys.executable, "-m", "tests.app.ui.guide_pictures", "--here", "--data", str(data.resolve()), name]
    more = environment | {"QT_QPA_PLATFORM": "xcb"}
    done = subprocess.run([*server, *taker], cwd=ROOT, env=more, timeout=LIMIT_S, check=False)
    print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    return done.returncode == 0


def take(name: str, data: Path) -> int:
    """Drive this process's window, and keep the picture; 1 where a step failed."""
    folder = Path(tempfile.mkdtemp(prefix="raygrove-guide-"))
    os.environ["XDG_CONFIG_HOME"] = str(folder / "settings")  # the user's settings stay as they are
    from raygrove.app.system import starting

    starting.begin()  # as the command does
    path = (OUT.parent if name in ABOVE else OUT) / f"{name}.png"
    if name in PAGES:
        from tests.app.ui import guide_pages

        return guide_pages.take(name, path)
    from raygrove.app.document.document import Document
    from raygrove.app.settings.settings import Settings, set_option
    from raygrove.app.ui.window.application import run
    from tests.app.ui import guide_laboratory, guide_steps
    from tests.app.ui.guide_picture_files import save
    from tests.app.ui.guide_stage import Stage
    from tests.app.ui.walk.__main__ import Walk
    from tests.app.ui.walk.hands import XHands

    steps = getattr(guide_laboratory if name in LABORATORY else guide_steps, name)

    def way(person: Any, folder: Path) -> Any:
        stage = Stage(person, data)
        stage.begin(name)
        part = yield from steps(stage)
        if part is None or not stage.document.state.timeline.is_playing:
            yield from stage.leave_pointer()
        save(stage.grab(part), path, name in DARK)
        print(f"  {path.stat().st_size} bytes")

    settings = set_option(Settings(), "window.theme", "dark" if name in DARK else "light")
    for key, value in (("render.device", "cpu"), ("timeline.autoplay", False)):
        settings = set_option(settings, key, value)
    given = argparse.Namespace(pictures=folder / "failed", pauses=None, ways=name)
    walk = Walk(given, XHands, folder, {name: way})
    run(Document(settings), None, walk)
    if walk.has_failed:
        print(f"  what the screen showed lies in {folder / 'failed'}", flush=True)
    return int(walk.has_failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
