"""The case `window` of bench measures the program's own window, with the engine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from raygrove.gpu.target.base import Target
from tests.waiting import PROCESS_S

ROOT = Path(__file__).resolve().parents[4]


def test_the_window_is_measured_and_photographed(tmp_path: Path, host_target: Target) -> None:
    picture = tmp_path / "window.png"
    arguments = [
        "--demo",
        "walker",
        "--frames",
        "6",
        "--warmup",
        "2",
        "--size",
        "640x400",
        "--device",
        "cpu",
        "--screenshot",
        str(picture),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "raygrove.bench", "window", *arguments],
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert (
        figures["frames"] == 6
        and figures["frames_per_second"] > 0.0
        and figures["render_thread_ms"] > 0.0
        and figures["paint_ms"] > 0.0
    )
    assert figures["view"] == "painter" and figures["interop"] is False and figures["target"] == "host"
    assert figures["drawn"] == [640, 400] and figures["problems"] == []
    assert picture.read_bytes().startswith(b"\x89PNG")
