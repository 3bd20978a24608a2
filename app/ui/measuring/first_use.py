"""Measures a start and the first use of a structure; bench's case `first_use` starts it.

A window opens as `raygrove view` opens it, on its first page or with a built-in scene that is made while Qt is loaded,
and says when it was first painted. With a structure that is chosen it then takes the seconds from the choice to the
first painted picture of it, how many pictures of the structure before came meanwhile, and the longest time without any
(used_window.py).
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
from collections.abc import Sequence

from raygrove.app.system import starting


@dataclasses.dataclass(frozen=True)
class FirstUseJob:
    """The built-in scene that is opened, "" for the first page; the structure that is chosen once it plays, "" for
    none; and the picture's pixels."""

    demo: str = ""
    structure: str = ""
    device: str = "auto"
    size: Sequence[int] = (640, 480)


def main() -> int:
    """Start, choose, measure, print."""
    job = FirstUseJob(**json.load(sys.stdin))
    starting.begin()  # as the command does, before the document is imported
    from raygrove.app.document.document import Document
    from raygrove.app.settings.settings import Settings, set_option

    settings = set_option(set_option(Settings(), "render.device", job.device), "window.compile_ahead", False)
    document = Document(settings)
    starting.load_binding()
    if job.demo:
        starting.compile_first(settings.render.device, settings.device.contraction)
        document.open_demo(job.demo)
    window = importlib.import_module("raygrove.app.ui.measuring.used_window")  # Qt, as the command loads it: now
    answer = window.measure(document, job.structure, job.size if job.demo else None)
    print(json.dumps(answer))
    return 1 if answer["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
