"""One instant of particles as a reader gives it, and what a reader is told: which file, and how much it may hold."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from raygrove.app.scene_io.compressed import check_growth, inner_name, is_packed, unpack_to_the_cut, unpacked_most
from raygrove.app.scene_io.errors import SceneError, display_path
from raygrove.app.scene_io.limits import ImportLimits
from raygrove.gpu.linux import file_in_memory
from raygrove.gpu.scene import Attribute, PeriodicBox, Remark

NEW_LINE = b"\n"


class ParticleError(Exception):
    """What is wrong with a file or one of its frames, as the rest of a sentence after "FILE: "."""


@dataclasses.dataclass(frozen=True, eq=False)
class Frame:
    """`positions` (N, 3) float32 or float64; `radii` (N,), linear `colours` (N, 3), `ids` (N,) int64 and atomic numbers
    `elements` (N,) int64 (0: unknown) or None; attributes with (N,) or (N, C) values. `time` is in seconds of the
    animation, `stamp` what the file says in its own unit; `bonds` is how many it lists, `pairs` (B, 2) which, `is_flat`
    whether the file has no third coordinate."""

    positions: np.ndarray
    radii: np.ndarray | None = None
    colours: np.ndarray | None = None
    ids: np.ndarray | None = None
    elements: np.ndarray | None = None
    attributes: tuple[Attribute, ...] = ()
    box: PeriodicBox | None = None
    time: float | None = None
    stamp: tuple[float, str] | None = None
    bonds: int = 0
    is_flat: bool = False
    pairs: np.ndarray | None = None


class Source:
    """A file of particles: its name, its `form` (a key of `formats.BY_ENDING`), its bytes (unpacked where it is packed)
    and the limits. What a reader has to say beside the frames goes to `remarks`, how many frames there are, where that
    is known, to `frames`."""

    def __init__(self, path: str, limits: ImportLimits, form: str) -> None:
        self.path, self.limits, self.form = path, limits, form
        self.stem = Path(inner_name(path)).stem
        self.remarks: list[Remark] = []
        self.frames = 0
        self.unpacked: bytes | None = None
        if is_packed(path):
            self.unpacked, is_cut = unpack_to_the_cut(path, limits)
            if is_cut:
                there = f"the {len(self.unpacked):,} bytes that come out of it were read"
                self.remark(f"The packed file is cut short: {there}.")

    def replaced(self, data: bytes) -> Source:
        """The same file with other bytes; remarks stay together."""
        other = copy.copy(self)
        other.unpacked = data
        return other

    def open(self) -> BinaryIO:
        """The bytes as a file to read and to seek in."""
        return open(self.path, "rb") if self.unpacked is None else io.BytesIO(self.unpacked)

    def read(self) -> bytes:
        """All bytes."""
        return Path(self.path).read_bytes() if self.unpacked is None else self.unpacked

    def size(self) -> int:
        """How many bytes there are."""
        return os.path.getsize(self.path) if self.unpacked is None else len(self.unpacked)

    @contextlib.contextmanager
    def on_disk(self) -> Iterator[str]:
        """A path to the unpacked bytes for a library that opens files by name."""
        if self.unpacked is None:
            yield self.path
            return
        with file_in_memory(self.unpacked) as path:
            yield path

    def beside(self, *endings: str) -> str | None:
        """The path of a file in the same folder with the same name and one of the endings."""
        folder = os.path.dirname(self.path)
        candidates = (os.path.join(folder, f"{self.stem}.{ending}") for ending in endings)
        return next((path for path in candidates if path != self.path and os.path.isfile(path)), None)

    def unpacked_most(self) -> int:
        """Bytes that what is packed within the file may unpack to."""
        return unpacked_most(os.path.getsize(self.path), self.limits)

    def expect_unpacked(self, size: int) -> None:
        """`SceneError` where what is packed within the file unpacks to more."""
        check_growth(self.path, os.path.getsize(self.path), size, self.limits)

    def check_begin(self) -> None:
        """`ParticleError` where nothing is in it."""
        with self.open() as file:
            if not file.read(1):
                raise ParticleError("it is empty")

    def line_with(self, text: bytes) -> str:
        """The line of a text file that something stands in first, as a sentence names it; empty where it is nowhere."""
        place = self.read().find(text) if text else -1
        return "" if place < 0 else f"line {self.read().count(NEW_LINE, 0, place) + 1:,}"

    def is_open(self) -> bool:
        """Whether a text ends without a line break."""
        with self.open() as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) not in (b"\n", b"\r")

    def check_end(self, frames: int = 1, what: str = "") -> None:
        """Say of a text that its last value may be cut, where no line break follows it: that of the last of several
        frames; `what` else may be."""
        if self.is_open():
            last = f"the last value of frame {frames:,}" if frames > 1 else "its last value"
            self.remark(f"The file ends without a line break: {last} may be cut short{what}.")

    def remark(self, sentence: str, count: int = 1) -> None:
        """Keep a remark once."""
        if all(one.sentence != sentence for one in self.remarks):
            self.remarks.append(Remark(count, sentence))

    def expect(self, particles: int, frames: int = 1, floats: int = 4, at_once: bool = False) -> None:
        """`SceneError` with the figures where so many frames of so many particles, with so many numbers each, do not
        fit: said before they are read. What comes a frame at a time may lie on the disk (on_disk.py), what is read
        `at_once` may not."""
        limits, self.frames = self.limits, frames
        frames = -(-frames // limits.every_frame)
        if particles > limits.max_particles:
            raise SceneError(
                f"{display_path(self.path)} has {particles:,} particles and the limit is {limits.max_particles:,}. "
                "Raise "
                f"import.max_particles to open it.",
                self.path,
            )
        if frames > limits.max_key_frames:
            raise SceneError(
                f"{display_path(self.path)} has {frames:,} frames and the limit is {limits.max_key_frames:,}. Raise "
                f"import.max_key_frames, or read fewer by import.every_frame.",
                self.path,
            )
        size, most = needed_bytes(particles, frames, floats), limits.memory_mib
        one = needed_bytes(particles, 1, floats)
        on_disk = limits.disk_mib if frames > 1 and not at_once and one <= most << 20 else 0
        if size > max(most, on_disk) << 20:
            count = f"{particles:,} particles" + (f" in {frames:,} frames" if frames > 1 else "")
            raise SceneError(
                f"{display_path(self.path)}: {count} take {math.ceil(size / (1 << 20)):,} MiB while they are read, and "
                f"an {room_sentence(most, on_disk)}",
                self.path,
            )


def check_follows(file: BinaryIO, count: int, least: int) -> None:
    """`ParticleError` where `count` particles of at least so many bytes cannot follow in the file: a damaged count."""
    here = file.tell()
    left = file.seek(0, os.SEEK_END) - here
    file.seek(here)
    if count * least > left + 1:  # the last line may have no end
        raise ParticleError(f"{count:,} particles should follow, and {left:,} bytes do")


def room_sentence(memory_mib: int, disk_mib: int) -> str:
    """The end of a sentence that refuses, from "import" on."""
    if not disk_mib:
        more = "Raise import.memory_mib, or read fewer frames by import.every_frame."
        return f"import may use {memory_mib:,} MiB. {more}"
    more = "Raise import.disk_mib, or read fewer frames by import.every_frame."
    return f"import may use {memory_mib:,} MiB of memory and {disk_mib:,} MiB of the disk. {more}"


def needed_bytes(particles: int, frames: int, floats: int) -> int:
    """What reading takes: the frames as they are read, and once more as they are put together."""
    return 2 * 4 * particles * frames * floats


def take(data: bytes | memoryview, dtype: np.dtype | str, count: int, offset: int, what: str) -> np.ndarray:
    """`count` values at `offset`; `ParticleError` where the data end before."""
    kind = np.dtype(dtype)
    if offset < 0 or count < 0 or offset + count * kind.itemsize > len(data):
        there = max(len(data) - offset, 0) // max(kind.itemsize, 1)
        raise ParticleError(f"{what} should be {count:,}, and {there:,} are there")
    return np.frombuffer(data, kind, count, offset)


def cell(lengths: np.ndarray, origin: np.ndarray | None = None) -> PeriodicBox:
    """A box along the axes; a length that is not above 0 or not finite is none, so that it has no volume."""
    sides = np.nan_to_num(np.asarray(lengths, np.float64), posinf=0.0).clip(min=0.0)
    return PeriodicBox(np.zeros(3) if origin is None else np.asarray(origin, np.float64), np.diag(sides))


def usable(box: PeriodicBox | None) -> PeriodicBox | None:
    """The box where it is finite and has a volume, else None."""
    if box is None or not (np.isfinite(box.origin).all() and np.isfinite(box.vectors).all()):
        return None
    return box if abs(float(np.linalg.det(np.asarray(box.vectors, np.float64)))) > 0.0 else None
