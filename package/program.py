"""How the program is started: as it starts itself again, and as a person types it."""

from __future__ import annotations

import pathlib
import sys

from . import checkout

COMMAND = (sys.executable, "-P", "-m", "raygrove")
"""What starts this same program once more; `-P` keeps the current folder's files from being taken for modules."""


def typed() -> str:
    """What a person types before the command's words: as this process was started, or what works where it runs."""
    started = pathlib.Path(sys.argv[0] if sys.argv else "")
    if started.name == "raygrove":
        return "raygrove"
    is_module = (started.parent.name, started.name) == ("raygrove", "__main__.py")
    return "python -m raygrove" if is_module or checkout.find() is None else "python main.py"


def how_to_install(extra: str) -> str:
    """How what an extra needs is installed, as a sentence."""
    if checkout.find() is not None:
        return "Run `make env`, then start the program by .venv/bin/python main.py."
    return f"Install it: pip install 'raygrove[{extra}]'."
