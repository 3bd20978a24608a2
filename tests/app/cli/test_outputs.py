"""Where results go is looked at before there are any."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from raygrove.app.cli import render
from raygrove.app.cli.main import main
from raygrove.app.export.whole_files import check_writable


def test_the_place_of_statistics_is_checked_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Frames were drawn for nothing (review V11)."""
    monkeypatch.setattr(render, "render_frames", lambda *_, **__: pytest.fail("frames were drawn"))
    (tmp_path / "figures").write_text("no folder")
    for place in ("/proc/s.csv", str(tmp_path / "figures" / "table.csv")):
        assert main(["render", "--demo", "orbit", "--statistics", place]) == 1
        said = capsys.readouterr().err
        assert place.rsplit("/", 1)[0] in said and "No such file" not in said


def _folder(path: Path) -> None:
    path.mkdir(parents=True)


def _below_a_file(path: Path) -> None:
    path.parent.write_text("no folder")


def _below_a_lost_link(path: Path) -> None:
    path.parent.symlink_to(path.parent.with_name("gone"))


def _pipe(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to("/dev/null")


UNWRITABLE: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "a folder": (_folder, "Is a directory. Name another place.", ""),
    "below a file": (_below_a_file, "Not a directory. Check the path.", "place"),
    "below a lost link": (_below_a_lost_link, "It is a link to what is not there. Check the path.", "place"),
    "a pipe": (_pipe, "A device or a pipe stands there, not a file. Name another place.", ""),
    "a device": (_device, "A device or a pipe stands there, not a file. Name another place.", ""),
}


FLAGS = ("--statistics s.csv", "--out s.csv", "--out s.glb", "--out s.png")
CASES = [(kind, flag) for kind in UNWRITABLE for flag in FLAGS if kind != "a folder" or flag.startswith("--stat")]
"""A folder takes pictures, whatever it is called."""


@pytest.mark.parametrize(("kind", "flag"), CASES)
def test_no_frame_is_drawn_for_a_place_that_takes_no_file(
    kind: str, flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(render, "scene_from", lambda *_: pytest.fail("the scene was opened"))
    make, words, named = UNWRITABLE[kind]
    option, name = flag.split()
    path = tmp_path / "place" / name
    make(path)
    code = main(["render", "--demo", "orbit", option, str(path)])
    said = capsys.readouterr().err
    assert code == 1 and words in said and str(tmp_path / named if named else path) in said, said


def test_a_disk_that_takes_no_byte_is_seen_before_the_work(tmp_path: Path) -> None:
    """A limit on how large files may grow is like a full disk: the file can be made, and holds nothing."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            check_writable(tmp_path, "one.png")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.filename == str(tmp_path) and not list(tmp_path.iterdir())
    check_writable(tmp_path / "a" / "b", "one.png")
    assert not (tmp_path / "a").exists(), "folders are made with the file, not by asking"


def test_figures_of_a_model_that_is_written_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["render", "--demo", "orbit", "--out", str(tmp_path / "a.glb"), "--statistics", str(tmp_path / "s.csv")]
    assert main(words) == 2
    assert "for which nothing is drawn" in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_the_folder_one_is_in_is_named_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["render", "--demo", "orbit", "--size", "16x16", "--samples", "1", "--out", "."]) == 0
    assert f"written to {tmp_path}." in capsys.readouterr().err and (tmp_path / "frame_0000.png").exists()
