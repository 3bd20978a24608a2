"""What a Python script in a process of its own tells, without a screen and with a home that is empty."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.waiting import PROCESS_S


def told_by(script: str, home: Path, folder: Path, more: Mapping[str, str] | None = None) -> Any:
    """The JSON that `script` prints, run in `folder`, with `more` in its environment."""
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        **(more or {}),
    }
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=True,
    )
    return json.loads(done.stdout)
