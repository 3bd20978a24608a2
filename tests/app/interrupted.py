"""The program, which Ctrl+C reaches at a named place: `python interrupted.py PLACE ARGUMENTS`. The place is
import:MODULE, as that import begins, or call:FUNCTION, as the function of that qualified name is called the first time.
A sentence on stderr says that it was reached."""

from __future__ import annotations

import os
import runpy
import signal
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KIND, _, NAME = sys.argv[1].partition(":")


def reached(name: str) -> None:
    """Send the signal, once."""
    global NAME
    if name == NAME:
        NAME = ""
        sys.setprofile(None)
        os.write(2, b"the place was reached\n")
        os.kill(os.getpid(), signal.SIGINT)


def called(frame: Any, event: str, arg: Any) -> None:
    """A function begins: one of Python's, or one of a library's, just before it."""
    if event == "call":
        reached(frame.f_code.co_qualname)
    elif event == "c_call":
        reached(getattr(arg, "__qualname__", ""))


if KIND == "import":
    sys.addaudithook(lambda event, arguments: reached(arguments[0]) if event == "import" else None)
else:
    sys.setprofile(called)
sys.argv[1:2] = []
sys.argv[0] = str(ROOT / "main.py")
sys.path.insert(0, str(ROOT))
runpy.run_path(sys.argv[0], run_name="__main__")
