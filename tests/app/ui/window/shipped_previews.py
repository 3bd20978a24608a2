"""Draws the previews that come with the program: python -m tests.app.ui.window.shipped_previews [NAME ...].

After a change of the built-in scenes or of how they are shaded: test_previews.py compares them with what is drawn now.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from raygrove.app.scene_io.demos import ALL_DEMOS
from raygrove.app.ui.window.previews import SHIPPED, drawing_of
from raygrove.program import COMMAND
from tests.waiting import PROCESS_S

NAMES = tuple(info.name for info in ALL_DEMOS if not info.variant)
"""Scenes with a card on the first page."""


def draw(name: str, path: Path) -> None:
    """A scene's preview, by the command that the first page gives."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([*COMMAND, *drawing_of(name), "--out", str(path)], check=True, timeout=PROCESS_S)


if __name__ == "__main__":
    for one in sys.argv[1:] or NAMES:
        draw(one, SHIPPED / f"{one}.png")
