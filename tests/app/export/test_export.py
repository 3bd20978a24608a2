"""What is written: whole files, numbered names, tables that add up."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from raygrove.app.export.images import save_png
from raygrove.app.export.sequence import OutputError, check_output, is_folder, picture_path
from raygrove.app.export.tables import csv_table, json_text, text_table
from raygrove.app.export.whole_files import whole_path, write_atomically


def test_a_picture_comes_back_as_it_was(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (7, 5, 4), np.uint8)
    path = tmp_path / "new" / "folder" / "one.png"
    save_png(path, pixels, {"state": "läuft"})
    with Image.open(path) as image:
        image.load()
        assert image.size == (5, 7) and image.info["state"] == "läuft"  # type: ignore[attr-defined]
        assert np.array_equal(np.asarray(image), pixels[:, :, :3])
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask()


def test_a_picture_of_few_colours_comes_back_as_it_was(tmp_path: Path) -> None:
    random, path = np.random.default_rng(1), tmp_path / "few.png"
    palette, numbers = random.integers(0, 256, (5, 3), np.uint8), random.integers(0, 5, (6, 4)).astype(np.uint8)
    save_png(path, numbers, {"state": "here"}, palette=palette)
    with Image.open(path) as image:
        image.load()
        assert image.mode == "P" and image.info["state"] == "here"  # type: ignore[attr-defined]
        assert np.array_equal(np.asarray(image.convert("RGB")), palette[numbers])


def umask() -> int:
    text = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("Umask")), 8)


def opens_itself(path: Path, write: Callable[[object], object]) -> None:
    with whole_path(path) as name:
        write(name)


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "one.png"
    path.write_bytes(b"before")

    def fails(file: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="one.png"):
        write_atomically(path, fails)
    assert path.read_bytes() == b"before" and [one.name for one in tmp_path.iterdir()] == ["one.png"]


@pytest.mark.parametrize("write", [write_atomically, opens_itself])
def test_what_is_read_meanwhile_is_named_by_its_own_error(write: Callable[..., None], tmp_path: Path) -> None:
    """The frame of a sequence, say, while a video is written."""
    with pytest.raises(FileNotFoundError) as raised:
        write(tmp_path / "video.mp4", lambda file: (tmp_path / "frame.obj").read_bytes())
    assert raised.value.filename == str(tmp_path / "frame.obj") and not list(tmp_path.iterdir())


def test_the_name_of_what_is_not_whole_yet_is_told_to_nobody(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as raised, whole_path(tmp_path / "one.exr") as name:
        name.unlink()
        name.mkdir()
        try:
            name.write_bytes(b"")
        finally:
            name.rmdir()
    assert raised.value.filename == str(tmp_path / "one.exr") and not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="inside.png"):
        save_png(tmp_path / "file" / "inside.png", np.zeros((1, 1, 4), np.uint8))


@pytest.mark.parametrize(
    ("out", "frame", "count", "name"),
    [
        ("out/", 7, 9, "out/frame_0007.png"),
        ("a/b.png", 0, 1, "a/b.png"),
        ("out/", 12345, 1, "out/frame_12345.png"),
        ("a/z_%03d.exr", 7, 9, "a/z_007.exr"),
        ("a/z_####.png", 7, 1, "a/z_0007.png"),
        ("a/%d.png", 7, 2, "a/7.png"),
    ],
)
def test_names_follow_the_frames_number(out: str, frame: int, count: int, name: str) -> None:
    assert picture_path(out, frame, count) == Path(name)


@pytest.mark.parametrize("digits", ["0999999999", "9" * 5000])
def test_a_number_of_a_gigabyte_is_no_pattern(digits: str) -> None:
    """Naming one picture took all memory, or ended as a fault of the program."""
    out = f"x_%{digits}d.png"
    assert picture_path(out, 0, 1) == Path(out)
    with pytest.raises(OutputError, match="2 frames do not go into one picture"):
        check_output(out, 2)
    assert len(picture_path("x_%099d.png", 3, 2).stem) == 101


def test_a_folder_that_exists_needs_no_slash(tmp_path: Path) -> None:
    assert is_folder(str(tmp_path)) and picture_path(str(tmp_path), 3, 5).name == "frame_0003.png"


@pytest.mark.parametrize(
    ("out", "count", "expected"),
    [("a.webm", 5, ".mp4"), ("a.jpg", 1, ".png"), ("noend", 2, "noend/"), ("a.png", 2, "a/")],
)
def test_what_cannot_be_written_is_said(out: str, count: int, expected: str) -> None:
    with pytest.raises(OutputError, match=expected):
        check_output(out, count)


ROWS = [{"name": "orbit", "ms": 1.5, "count": 3}, {"name": "cloth", "ms": 1234.5678, "count": None}]


def test_tables_are_aligned() -> None:
    lines = text_table(ROWS, ("name", "ms", "count")).splitlines()
    assert lines == ["name      ms  count", "orbit  1.500      3", "cloth   1235      -"]


def test_csv_reads_back() -> None:
    read = list(csv.DictReader(io.StringIO(csv_table(ROWS, ("name", "ms", "count")))))
    assert [(row["name"], float(row["ms"]), row["count"]) for row in read] == [
        ("orbit", 1.5, "3"),
        ("cloth", 1234.5678, ""),
    ]
    assert (
        csv_table([{"a": 0, "b": 0.0, "c": False, "d": None}], ("a", "b", "c", "d")).splitlines()[1] == "0,0.0,False,"
    )


def test_json_holds_what_numpy_and_dataclasses_hold() -> None:
    @dataclasses.dataclass
    class Thing:
        values: np.ndarray
        ratio: float

    text = json_text({"thing": Thing(np.arange(3), float("nan")), "one": np.float32(0.5), "pair": (1, 2)})
    assert json.loads(text) == {"thing": {"values": [0, 1, 2], "ratio": None}, "one": 0.5, "pair": [1, 2]}
    assert json.loads(json_text([float("inf"), -np.inf, np.float32("-inf")])) == [None] * 3


def test_what_killed_programs_left_half_written_is_taken_away(tmp_path: Path) -> None:
    old, new, other = (tmp_path / name for name in (".a.png.1.part", ".a.png.2.part", ".b.png.1.part"))
    for path in (old, new, other):
        path.write_bytes(b"half")
    for path in (old, other):
        os.utime(path, (1.0, 1.0))
    write_atomically(tmp_path / "a.png", lambda file: file.write(b"whole"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [".a.png.2.part", ".b.png.1.part", "a.png"]
