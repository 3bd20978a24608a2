"""One way to write frames, whatever they become: a picture or a sequence of them, a video, buffers, a table."""

from __future__ import annotations

import abc
import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .exr import save_exr
from .images import save_png
from .sequence import check_output, picture_path
from .tables import csv_table, json_text
from .video import VideoWriter, open_video
from .whole_files import Check, nothing_to_check, write_atomically


@dataclasses.dataclass(frozen=True)
class Exported:
    """A frame on its way to a file: pixels (H, W, 4) uint8, the text entries of its picture, the buffers where they
    were asked for, its row in tables, and its `indexed` picture, a palette (K, 3) and numbers in it (H, W), uint8,
    where it has few colours."""

    number: int
    pixels: np.ndarray
    texts: Mapping[str, str] = dataclasses.field(default_factory=dict)
    buffers: Mapping[str, np.ndarray] | None = None
    row: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    indexed: tuple[np.ndarray, np.ndarray] | None = None


class Output(abc.ABC):
    """Takes frames in their order. `files` are those that were written; of a sequence they are named so that they stand
    only once it is whole."""

    needs_buffers = False
    takes_palettes = False

    def __init__(self) -> None:
        self.files: list[Path] = []

    @abc.abstractmethod
    def add(self, frame: Exported) -> None:
        """The next frame."""


@contextlib.contextmanager
def open_output(
    out: str,
    frame_count: int,
    size: tuple[int, int],
    fps: float,
    context: Mapping[str, Any] | None = None,
    check: Check = nothing_to_check,
) -> Iterator[Output]:
    """What `out` names, open for `frame_count` frames of `size`; whole once the block has ended well. `check` is called
    on the way and may raise.
    `context` stands in a table's JSON beside the frames. Raises OutputError for a name that cannot be meant, OSError
    and VideoError."""
    kind = check_output(out, frame_count)
    if kind == "video":
        with open_video(Path(out), *size, fps, check) as writer:
            video = _Video(writer)
            yield video
        video.files.append(Path(out))
    elif kind in ("csv", "json"):
        table = _Table()
        yield table
        write_table(Path(out), table.rows, context)
        table.files.append(Path(out))
    else:
        pictures = _Pictures(lambda number: picture_path(out, number, frame_count), kind == "exr", check, frame_count)
        yield pictures
        pictures.stand()


def write_table(path: Path, rows: Sequence[Mapping[str, Any]], context: Mapping[str, Any] | None = None) -> None:
    """A row per frame: as CSV its plain columns, as JSON everything with `context` beside the frames."""
    if path.suffix.lower() == ".json":
        text = json_text({"context": context or {}, "frames": list(rows)}) + "\n"
    else:
        text = csv_table(rows, plain_columns(rows))
    write_atomically(path, lambda file: file.write(text.encode()))


def plain_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns of which every value is a number, a text or absent."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [name for name in names if all(isinstance(row.get(name), int | float | str | None) for row in rows)]


PART = ".part"
"""Behind the names of a sequence's pictures until all of them are there: some of them are no sequence."""


class _Pictures(Output):
    """A PNG or an EXR a frame."""

    def __init__(self, path_of: Callable[[int], Path], is_exr: bool, check: Check, frame_count: int) -> None:
        super().__init__()
        self._suffix = PART if frame_count > 1 else ""
        self.needs_buffers, self._path_of, self._check = is_exr, path_of, check
        self.takes_palettes = not is_exr

    def add(self, frame: Exported) -> None:
        stands = self._path_of(frame.number)
        path = stands.with_name(stands.name + self._suffix)
        if frame.buffers is not None:
            save_exr(path, frame.buffers, frame.texts, self._check)
        elif frame.indexed is not None:
            palette, numbers = frame.indexed
            save_png(path, numbers, frame.texts, self._check, palette)
        else:
            save_png(path, frame.pixels, frame.texts, self._check)
        self.files.append(path)

    def stand(self) -> None:
        """All pictures are there."""
        for place, path in enumerate(self.files):
            self.files[place] = path.replace(path.with_name(path.name.removesuffix(self._suffix)))


class _Video(Output):
    """All frames in one file."""

    def __init__(self, writer: VideoWriter) -> None:
        super().__init__()
        self._writer = writer

    def add(self, frame: Exported) -> None:
        self._writer.add(frame.pixels)


class _Table(Output):
    """What the frames cost; no picture is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Mapping[str, Any]] = []

    def add(self, frame: Exported) -> None:
        self.rows.append(frame.row)
