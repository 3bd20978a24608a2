"""The window's reactions are measured in a process of its own, with the real engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from raygrove.gpu.target.base import Target
from tests.waiting import PROCESS_S


def test_a_choice_and_a_drag_are_timed(host_target: Target) -> None:
    job = {"structures": ["hploc", "lbvh"], "repeat": 2, "size": [160, 120], "device": "cpu"}
    done = subprocess.run(
        [sys.executable, "-m", "raygrove.app.ui.measuring.reactions"],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=False,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    answer = json.loads(done.stdout)
    assert answer["problems"] == [] and answer["view"] == "painter"
    times = answer["structures_ms"]
    assert set(times) == {"hploc"}, "the structure that is shown at the start is chosen in between"
    assert len(times["hploc"]["first"]) == 1 and len(times["hploc"]["again"]) == 2
    assert all(ms > 0.0 for ms in times["hploc"]["first"] + times["hploc"]["again"])
    drags = answer["drags_ms"]
    assert len(drags["stopped"]) == len(drags["painted"]) == 2
    assert all(0.0 < stopped < painted for stopped, painted in zip(drags["stopped"], drags["painted"], strict=True))
