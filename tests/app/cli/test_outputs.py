"""Where results go is looked at before there are any."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.app.cli import render
from raygrove.app.cli.main import main


def test_the_place_of_statistics_is_checked_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Frames were drawn for nothing (review V11)."""
    monkeypatch.setattr(render, "render_frames", lambda *_, **__: pytest.fail("frames were drawn"))
    (tmp_path / "figures").write_text("no folder")
    for place in ("/proc/s.csv", str(tmp_path / "figures" / "table.csv")):
        assert main(["render", "--demo", "orbit", "--statistics", place]) == 1
        assert place.rsplit("/", 1)[0] in capsys.readouterr().err


def test_the_folder_one_is_in_is_named_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["render", "--demo", "orbit", "--size", "16x16", "--samples", "1", "--out", "."]) == 0
    assert f"written to {tmp_path}." in capsys.readouterr().err and (tmp_path / "frame_0000.png").exists()
