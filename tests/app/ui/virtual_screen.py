"""Programs with a window of their own under a virtual X server, for tests of what needs OpenGL."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCREEN = ("xvfb-run", "--auto-servernum", "--server-args=-screen 0 1280x1024x24 +extension GLX")


def run_on_screen(module: str, *words: str, timeout: float, **more: Any) -> subprocess.CompletedProcess[str]:
    """`python -m MODULE WORDS` in this environment without its display; a skip where there is no virtual X server."""
    if shutil.which("Xvfb") is None or shutil.which("xvfb-run") is None:
        pytest.skip("Xvfb is not installed: apt-get install xvfb xauth")
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = [*SCREEN, sys.executable, "-m", module, *words]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment | more.pop("env", {}),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **more,
    )
