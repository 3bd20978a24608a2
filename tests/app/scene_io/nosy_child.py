"""The importing child with a reader that does what it should not, and tells in its error what it could do."""

from __future__ import annotations

import os
import pathlib
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from raygrove.app.scene_io import child
from raygrove.app.scene_io.errors import SceneError


def nosy(job: dict[str, Any]) -> None:
    """Try it all."""
    path = pathlib.Path(job["paths"][0])
    trials: dict[str, Callable[[], object]] = {
        "model": path.read_bytes,
        "beside": (path.parent / "beside.txt").read_bytes,
        "elsewhere": (path.parent.parent / "elsewhere.txt").read_bytes,
        "home": lambda: os.listdir(os.path.expanduser("~")),
        "write": lambda: (path.parent / "written").write_bytes(b""),
        "socket": lambda: socket.socket().close(),
        "program": lambda: subprocess.run(["/bin/true"], check=True),
        "scratch": lambda: (pathlib.Path(job["scratch"]) / "x").write_bytes(b""),
    }
    could = []
    for name, trial in trials.items():
        try:
            trial()
        except OSError:
            continue
        could.append(name)
    raise SceneError(f"could: {' '.join(could)}.", str(path))


child._reader_of = lambda job, *_: lambda _: nosy(job)
sys.exit(child.main())
