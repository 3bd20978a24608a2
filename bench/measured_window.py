"""The window as a process that measures itself: `app/ui/measuring` holds the processes. A benchmark itself knows no
Qt."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from .arguments import chosen
from .context import context
from .saved import keep


class WindowError(RuntimeError):
    """A window that could not measure; `answer` is what it printed all the same."""

    def __init__(self, said: str, answer: str) -> None:
        super().__init__(f"The window could not measure: {said}")
        self.answer = answer


def ask_window(
    what: str, job: dict[str, Any], seconds: float | None = None, environment: dict[str, str] | None = None
) -> dict[str, Any]:
    """The answer of `app/ui/measuring/WHAT.py` to a job, in an environment of its own where one is given. Raises
    WindowError."""
    done = subprocess.run(
        [sys.executable, "-m", f"raygrove.app.ui.measuring.{what}"],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        env=environment,
    )
    if done.returncode != 0:
        raise WindowError(f"{done.stdout[-500:]} {done.stderr[-2000:]}", done.stdout)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def print_and_keep(names: argparse.Namespace, text: str, **content: Any) -> None:
    """Print what was measured and, where --out names a place, write it there with what it was measured on."""
    print(text, end="")
    if names.out:
        with chosen(names.device) as target:
            about = context(target, command=names.command)
        keep(names.out, {"context": about, **content}, text)
