"""What a Python script in a process of its own tells, without a screen and with a home that is empty."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.waiting import PROCESS_S


def told_by(script: str, home: Path, folder: Path) -> Any:
    """The JSON that `script` prints, run in `folder`."""
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
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
