"""How long an export says that it still takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raygrove.app.document.jobs import Job
from raygrove.app.frames import exporting
from tests.app.frames.test_exporting import SCENE, state_of


class Told(Job):
    """What is said of each step."""

    def __init__(self) -> None:
        super().__init__("")
        self.messages: list[str] = []

    def report(self, progress: float | None = None, message: str = "") -> None:
        self.messages.append(message)


def test_what_the_first_frame_compiles_and_builds_is_no_pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first takes an hour, the others 90 s each: three are 4.5 min, which was told as hours."""
    now = 0.0
    render: Callable[..., Iterator[Any]] = exporting.render_frames

    def drawn(*arguments: Any, **options: Any) -> Iterator[Any]:
        nonlocal now
        for index, frame in enumerate(render(*arguments, **options)):
            now += 90.0 if index else 3600.0
            yield frame

    monkeypatch.setattr(exporting, "render_frames", drawn)
    monkeypatch.setattr(exporting, "time", SimpleNamespace(monotonic=lambda: now))
    job = Told()
    plan = exporting.plan_of(state_of(), SCENE, str(tmp_path / "a_%04d.png"), range(5))
    exporting._export(job, state_of(), SCENE, plan, exporting._own_target)
    assert job.messages[1:] == [
        *("frame 1 of 5", "frame 2 of 5, about 4 min left", "frame 3 of 5, about 3 min left"),
        *("frame 4 of 5", "frame 5 of 5"),
    ]
