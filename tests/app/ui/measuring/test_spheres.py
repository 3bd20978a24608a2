"""Spheres drawn by OpenGL are timed in a window of their own process, under a virtual X server."""

from __future__ import annotations

import json

import pytest

from raygrove.gpu.display.sphere_look import MOST_FULL_SCREEN
from tests.app.ui.virtual_screen import run_on_screen
from tests.waiting import PROCESS_S

pytestmark = pytest.mark.gl


@pytest.mark.parametrize(("count", "ways"), [(60, {"full_screen", "impostors"}), (MOST_FULL_SCREEN + 1, {"impostors"})])
def test_each_way_is_timed_that_takes_so_many(count: int, ways: set[str]) -> None:
    job = {"spheres": count, "size": [160, 120], "repeat": 2, "device": "cpu"}
    done = run_on_screen(
        "raygrove.app.ui.measuring.spheres", timeout=PROCESS_S, input=json.dumps(job), env={"QT_QPA_PLATFORM": "xcb"}
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    answer = json.loads(done.stdout)
    assert {way for way, spent in answer["milliseconds"].items() if spent is not None and spent > 0.0} == ways
    assert answer["size"] == [160, 120] and "llvmpipe" in answer["gl_renderer"] and answer["problems"] == []
