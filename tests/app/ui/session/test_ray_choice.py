"""Rays that are recorded in the window are those that are measured, also where the file is measured already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from raygrove.app.ui.session import ray_choice
from raygrove.app.ui.window.main_window import MainWindow


def test_recording_into_the_measured_file_draws_anew(
    scene_window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, path, retried = scene_window.session, str(tmp_path / "rays.npz"), list[int]()
    qtbot.waitUntil(lambda: session.loop.last_frame is not None)
    monkeypatch.setattr(session.loop, "retry", lambda: retried.append(1))
    for times in (0, 1):
        assert ray_choice.start_recording(session, "primary", path) is not None
        qtbot.waitUntil(lambda: not session.document.jobs)
        assert session.document.state.settings.rays.measured == path
        assert len(retried) == times, "what is measured already is asked for once more"
