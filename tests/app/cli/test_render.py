"""`render` tells who waits how far it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.app.cli import main as commands
from raygrove.app.cli.main import main


def test_who_waits_for_pictures_is_told_how_far_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each sample, warm-ups and repeats among them, but not before someone has waited."""
    words = ["render", "--demo", "walker", "--device", "cpu", "--size", "16x8", "--hierarchy", "lbvh"]
    one = [*words, "--samples", "4", "--out", str(tmp_path / "a.png")]
    monkeypatch.setattr(commands, "PATIENCE_S", 1e9)
    assert main([*one, "-v"]) == 0
    assert "Drawing" not in capsys.readouterr().err
    monkeypatch.setattr(commands, "PATIENCE_S", 0.0)
    assert main(one) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Drawing")]
    assert said == [f"Drawing walker: {share}% of the picture." for share in (25, 50, 75, 100)]
    assert main([*words, "--samples", "1", "--frames", "0:2", "--repeat", "2", "--warmup", "1"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Drawing")]
    assert said == [f"Drawing walker: {share}% of 5 pictures." for share in (20, 40, 60, 80, 100)]
    assert main([*one, "--quiet"]) == 0
    assert "Drawing" not in capsys.readouterr().err
