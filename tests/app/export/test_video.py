"""Videos are decoded again: as many frames as were given, of their size, at one rate, in their colours; and the old
file stays where one fails."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.export.sequence import OutputError, check_output
from raygrove.app.export.video import VideoError, open_video

av = pytest.importorskip("av", reason="PyAV is not installed (the extra `video`)")

COLORS = np.array([[200, 60, 30], [20, 180, 90], [30, 60, 200], [255, 255, 255], [0, 0, 0], [128, 128, 128]], np.uint8)


def picture(number: int, width: int, height: int) -> np.ndarray:
    """Six patches of plain colour, moved on by a patch a frame, under an alpha that must not matter."""
    patches = np.repeat(np.roll(COLORS, number, axis=0), -(-width // 6), axis=0)[:width]
    image = np.full((height, width, 4), 7, np.uint8)
    image[:, :, :3] = patches[None]
    return image


def decoded(path: Path) -> tuple[Any, list[Any]]:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return stream.codec_context, list(container.decode(video=0))


@pytest.mark.parametrize("ending", ["mp4", "mov", "mkv"])
@pytest.mark.parametrize(("size", "fps"), [((96, 64), 30.0), ((97, 63), 29.97), ((60, 42), 12.5)])
def test_a_video_is_what_was_put_into_it(tmp_path: Path, ending: str, size: tuple[int, int], fps: float) -> None:
    path = tmp_path / "new" / f"one.{ending}"
    count = 20
    with open_video(path, *size, fps) as writer:
        for number in range(count):
            writer.add(picture(number, *size))
    context, frames = decoded(path)
    assert (context.name, context.pix_fmt) == ("h264", "yuv420p")
    assert len(frames) == count
    step = 1 / Fraction(fps).limit_denominator(1001)
    tolerance = Fraction(1, 1000) if ending == "mkv" else 0  # which counts milliseconds
    assert all(abs(frame.pts * frame.time_base - number * step) <= tolerance for number, frame in enumerate(frames))
    for number, frame in enumerate(frames):
        seen = frame.to_ndarray(format="rgb24").astype(int)
        assert seen.shape == (size[1] + size[1] % 2, size[0] + size[0] % 2, 3)
        assert (
            np.abs(seen[: size[1], : size[0]] - picture(number, *size)[:, :, :3])[
                :, size[0] // 12 :: -(-size[0] // 6)
            ].max()
            <= 6
        )
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_an_odd_side_repeats_its_last_row_and_column(tmp_path: Path) -> None:
    image = np.zeros((33, 35, 4), np.uint8)
    image[:, -1, :3] = image[-1, :, :3] = 255
    with open_video(tmp_path / "odd.mp4", 35, 33, 30.0) as writer:
        writer.add(image)
    seen = decoded(tmp_path / "odd.mp4")[1][0].to_ndarray(format="rgb24")
    assert (
        seen.shape == (34, 36, 3) and seen[10, 35].min() > 200 and seen[33, 10].min() > 200 and seen[10, 10].max() < 40
    )


def test_what_fails_on_the_way_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "one.mp4"
    path.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), open_video(path, 64, 48, 30.0) as writer:
        writer.add(picture(0, 64, 48))
        raise ZeroDivisionError
    assert path.read_bytes() == b"before" and [one.name for one in tmp_path.iterdir()] == ["one.mp4"]


def test_a_cancel_in_the_middle_of_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "one.mp4"
    path.write_bytes(b"before")
    writes = []

    def check() -> None:
        writes.append(1)
        if len(writes) > 2:
            raise InterruptedError("stop")

    noise = np.random.default_rng(1).integers(0, 256, (240, 320, 4), np.uint8)
    with pytest.raises(OSError, match="one.mp4|stop"), open_video(path, 320, 240, 30.0, check) as writer:
        for number in range(200):
            writer.add(np.roll(noise, 7 * number, axis=1))
    assert path.read_bytes() == b"before" and [one.name for one in tmp_path.iterdir()] == ["one.mp4"]


def test_what_the_encoder_does_not_take_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match="0x|pixels"), open_video(tmp_path / "one.mp4", 40_000, 2, 30.0) as writer:
        writer.add(np.zeros((2, 40_000, 4), np.uint8))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("out", "words"),
    [("a.mp4", ("PyAV", "pip install av", "(a/)")), ("a.exr", ("OpenEXR", "pip install OpenEXR", "(a.png)"))],
)
def test_a_library_that_is_missing_is_said_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, out: str, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(OutputError) as error:
        check_output(out, 1)
    assert all(word in str(error.value) for word in words), error.value
    assert check_output("a.png", 1) == "png" and check_output("a.csv", 9) == "csv"


def test_libraries_are_loaded_beside_other_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr("raygrove.app.export.video.load_beside_others", loaded.append)
    with open_video(tmp_path / "one.mp4", 8, 8, 10.0) as writer:
        writer.add(picture(0, 8, 8))
    assert loaded == ["av"]
