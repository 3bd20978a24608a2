"""`render` tells who waits how far it is."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from raygrove.app.cli import main as commands
from raygrove.app.cli.main import main
from raygrove.app.frames import headless


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
    assert said == [f"Drawing walker: {share} % of the picture." for share in (25, 50, 75, 100)]
    assert main([*words, "--samples", "1", "--frames", "0:2", "--repeat", "2", "--warmup", "1"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Drawing")]
    assert said == [f"Drawing walker: {share} % of 5 pictures." for share in (20, 40, 60, 80, 100)]
    assert main([*one, "--quiet"]) == 0
    assert "Drawing" not in capsys.readouterr().err
    monkeypatch.setattr(headless, "SLOW_MS", 0.0)  # as of a scene whose rays meet all triangles
    monkeypatch.setattr(headless, "ROWS_MS", 0.0)
    assert main([*words, "--size", "16x32", "--samples", "1"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Drawing")]
    assert said == [f"Drawing walker: {share} % of the picture." for share in (25, 50, 75, 100)]


def test_a_picture_that_says_it_is_very_large_is_drawn_smaller(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its size is what its first bytes say."""
    words = ["--device", "cpu", "--samples", "1"]
    picture = tmp_path / "one.png"
    assert main(["render", "--demo", "walker", *words, "--size", "16x8", "--out", str(picture)]) == 0
    data = bytearray(picture.read_bytes())
    data[16:24] = struct.pack(">II", 20_000, 4)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    picture.write_bytes(data)
    capsys.readouterr()
    drawn = tmp_path / "drawn.png"
    assert main(["render", str(picture), *words, "--out", str(drawn)]) == 0
    assert "one.png asks for 20,000 x 4 pixels; 16,384 x 3 are taken. Name a size" in capsys.readouterr().err
    with Image.open(drawn) as image:
        assert image.size == (16_384, 3)
    assert main(["render", str(picture), *words, "--size", "24x12", "--out", str(drawn)]) == 0
    assert "are taken" not in capsys.readouterr().err
    with Image.open(drawn) as image:
        assert image.size == (24, 12)


def test_a_picture_of_a_scene_elsewhere_wants_a_flag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "one.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    small = ["--device", "cpu", "--size", "16x8", "--samples", "1"]
    picture = str(tmp_path / "pictures" / "one.png")
    assert main(["render", str(tmp_path / "away" / "one.obj"), *small, "--out", picture]) == 0
    capsys.readouterr()
    assert main(["render", picture, *small]) == 3
    said = capsys.readouterr().err
    assert "away/one.obj, outside the picture's folder" in said and "--allow-outside" in said
    assert main(["render", picture, *small, "--allow-outside"]) == 0
    assert "one.png shows one.obj." in capsys.readouterr().err
