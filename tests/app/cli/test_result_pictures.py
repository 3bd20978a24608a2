"""`results --pictures`: parts of an animation become one, whole and in order, or a sentence says what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.cli.main import main
from raygrove.app.export.images import save_png
from raygrove.bench.store.folder import Store

JOB: dict[str, Any] = {"measure": "render", "scene": "walker", "configuration": "lbvh", "size": [16, 12],
                       "device": "cpu", "sources": "aaaa1111"}  # fmt: skip
FPS = 24.0


def drawn(folder: Path, *spans: tuple[int, int], **job: Any) -> Store:
    """A store with a job for each span of frames, each picture of a grey of its own."""
    store = Store.made(folder)
    for first, end in spans:
        what = {**JOB, "frames": [first, end], **job}
        rows = [
            {"frame": number, "time": number / FPS, "file": f"frame_{number:04d}.png"} for number in range(first, end)
        ]
        sha = store.put({"job": what, "status": "done", "rows": rows})
        for row in rows:
            pixels = np.full((12, 16, 4), 20 * row["frame"], np.uint8)
            save_png(store.pictures_of(sha) / row["file"], pixels, {"raygrove.job": sha})
    return store


def pictures_of(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.folder.rglob("*.png")}


def test_parts_become_a_folder_of_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, out = drawn(tmp_path / "store", (4, 5), (0, 2), (2, 4)), tmp_path / "film"
    assert main(["results", str(store.folder), "--pictures", f"{out}/"]) == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == pictures_of(store)
    assert sorted(path.name for path in out.iterdir()) == [f"frame_{number:04d}.png" for number in range(5)]
    assert capsys.readouterr().err == f"Wrote {out}/: 5 pictures.\n"


def test_rows_of_parts_are_in_the_order_of_their_frames(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = drawn(tmp_path / "store", (4, 6), (0, 2), (2, 4))
    assert main(["results", str(store.folder), "--columns", "frame,frames"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert rows == [[str(number), f"{number // 2 * 2}:{number // 2 * 2 + 2}"] for number in range(6)]


def test_parts_become_a_video_of_their_rate(tmp_path: Path) -> None:
    av = pytest.importorskip("av", reason="PyAV is not installed: the extra video")
    store, out = drawn(tmp_path / "store", (2, 4), (0, 2)), tmp_path / "film.mp4"
    assert main(["results", str(store.folder), "--pictures", str(out)]) == 0
    with av.open(str(out)) as film:
        greys = [frame.to_ndarray(format="rgb24").mean() for frame in film.decode(video=0)]
        assert film.streams.video[0].average_rate == FPS
    assert greys == pytest.approx([0.0, 20.0, 40.0, 60.0], abs=3.0)


def test_frames_that_are_missing_are_said_and_make_no_video(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("av", reason="PyAV is not installed: the extra video")
    store, out = drawn(tmp_path / "store", (0, 2), (4, 6)), tmp_path / "film"
    for place in (f"{out}/", f"{out}.mp4"):
        assert main(["results", str(store.folder), "--pictures", place]) == 1
        assert "2 frames from 0 to 5 have no picture yet, the first is 2" in capsys.readouterr().err
    assert len(list(out.iterdir())) == 4 and not Path(f"{out}.mp4").exists()


@pytest.mark.parametrize("number", [10**12, -1, 2.5, "3", None])
def test_numbers_that_no_frame_has_are_told(number: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the first all memory was taken to say which frames are missing."""
    store = Store.made(tmp_path / "store")
    for row in ({"frame": 0, "time": 0.0, "file": "a.png"}, {"frame": number, "time": "late", "file": "b.png"}):
        store.put({"job": {**JOB, "frames": row["file"]}, "status": "done", "rows": [row]})
    assert main(["results", str(store.folder), "--pictures", f"{tmp_path}/film/"]) == 3
    assert f"is of frame {number}, which is no number of a frame" in capsys.readouterr().err


def test_far_frames_are_counted_and_not_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = drawn(tmp_path / "store", (0, 1))
    row = {"frame": 2_000_000_000, "time": 9.0, "file": "b.png"}
    sha = store.put({"job": {**JOB, "frames": [9, 10]}, "status": "done", "rows": [row]})
    save_png(store.pictures_of(sha) / "b.png", np.zeros((12, 16, 4), np.uint8), {})
    assert main(["results", str(store.folder), "--pictures", f"{tmp_path}/film/"]) == 1
    assert "1,999,999,999 frames from 0 to 2000000000 have no picture yet, the first is 1" in capsys.readouterr().err


def test_animations_are_not_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, out = drawn(tmp_path / "store", (0, 2)), tmp_path / "film"
    drawn(store.folder, (0, 2), configuration="hploc", size=[8, 6])
    words = ["results", str(store.folder), "--pictures", f"{out}/"]
    assert main(words) == 2 and not out.exists()
    said = capsys.readouterr().err
    assert "differs in configuration, size" in said and "--where 'configuration=" in said
    assert main([*words, "--where", "configuration=hploc"]) == 0 and len(list(out.iterdir())) == 2
    assert main([*words, "--where", "size=*16, 12*"]) == 0, "as a list is picked by the sentence"


@pytest.mark.parametrize(
    ("out", "code", "sentence"),
    [
        ("film.csv", 2, "name a folder with a slash at its end"),
        ("film.png", 2, "2 frames do not go into one picture"),
        ("film.gif", 2, "pictures are written as .png"),
        ("/dev/null/film/", 1, "/dev/null"),
    ],
)
def test_where_no_pictures_go(
    out: str, code: int, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = drawn(tmp_path / "store", (0, 2))
    assert main(["results", str(store.folder), "--pictures", out]) == code
    assert sentence in capsys.readouterr().err


def test_what_has_no_pictures_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = drawn(tmp_path / "store", (0, 2))
    words = ["--pictures", f"{tmp_path}/film/"]
    assert main(["results", str(store.folder), "--where", "scene=cloth", *words]) == 2
    assert "no result that was picked has pictures" in capsys.readouterr().err
    assert main(["results", str(store.folder), "--out", str(tmp_path / "lines.jsonl")]) == 0
    capsys.readouterr()
    assert main(["results", str(tmp_path / "lines.jsonl"), *words]) == 2
    assert "holds figures alone" in capsys.readouterr().err
    next(store.folder.rglob("frame_0001.png")).unlink()
    assert main(["results", str(store.folder), *words]) == 3
    assert "the picture frame_0001.png of" in capsys.readouterr().err and not (tmp_path / "film").exists()
    (record,) = store.records()
    record["rows"][0]["file"] = "a\0\ud800.png"
    store.put(record)
    assert main(["results", str(store.folder), *words]) == 3
    assert r"the picture a\x00\ud800.png of" in capsys.readouterr().err
