"""Frames and arrays that do not fit the memory of an import: in nameless files in the folder of temporary files, mapped
once they are put together, so that the system drops and reads their pages as it needs memory."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from typing import BinaryIO, NamedTuple

import numpy as np

from raygrove.app.scene_io.errors import SceneError, display_path
from raygrove.app.scene_io.limits import ImportLimits
from raygrove.gpu.linux import allow_mapping
from raygrove.gpu.scene import Attribute

from .frame import Frame

ALIGNMENT = 64
_ARRAYS = ("positions", "radii", "colours", "ids", "elements")
_NOTHING = np.zeros((0, 3), np.float32)


class _Place(NamedTuple):
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype


class Disk:
    """Takes at most `import.disk_mib`; `SceneError` with the figures where that, or the disk, is too small."""

    def __init__(self, path: str, limits: ImportLimits) -> None:
        self._path, self._limits = path, limits
        self._file: BinaryIO = tempfile.TemporaryFile(prefix="raygrove-")  # noqa: SIM115 - as long as this
        self._frames: list[tuple[Frame, dict[str, _Place], list[_Place]]] = []
        self._known: dict[int, tuple[np.ndarray, _Place]] = {}  # arrays of the last frame, which the next may share
        self._taken = 0

    def append(self, frame: Frame) -> None:
        """Write a frame. An array that the frame before has, too, is written once."""
        known: dict[int, tuple[np.ndarray, _Place]] = {}

        def put(array: np.ndarray) -> _Place:
            if id(array) not in known:
                known[id(array)] = self._known.get(id(array)) or (array, self._written(array))
            return known[id(array)][1]

        places = {name: put(array) for name in _ARRAYS if (array := getattr(frame, name)) is not None}
        values = [put(attribute.values) for attribute in frame.attributes]
        self._known = known
        names = tuple(Attribute(one.name, _NOTHING, one.unit) for one in frame.attributes)
        bare = dataclasses.replace(frame, positions=_NOTHING, attributes=names)
        self._frames.append((dataclasses.replace(bare, **dict.fromkeys(_ARRAYS[1:])), places, values))  # type: ignore[arg-type]

    def frames(self) -> list[Frame]:
        """All frames, their arrays mapped; those that were one array are one again."""
        self._file.flush()
        size = self._file.seek(0, os.SEEK_END)
        allow_mapping(size)
        mapped, made = np.memmap(self._file, np.uint8, "r", shape=(size,)), dict[_Place, np.ndarray]()

        def array(place: _Place) -> np.ndarray:
            if place not in made:
                count = int(np.prod(place.shape, dtype=np.int64)) * place.dtype.itemsize
                raw = np.asarray(mapped[place.offset : place.offset + count])
                made[place] = raw.view(place.dtype).reshape(place.shape)
            return made[place]

        self._known = {}
        return [
            dataclasses.replace(
                bare,
                **{name: array(place) for name, place in places.items()},  # type: ignore[arg-type]
                attributes=tuple(
                    Attribute(one.name, array(place), one.unit)
                    for one, place in zip(bare.attributes, values, strict=True)
                ),
            )
            for bare, places, values in self._frames
        ]

    def empty(self, shape: tuple[int, ...], dtype: type | np.dtype) -> np.ndarray:
        """An array in a file of its own: zeros."""
        size = max(int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize, 1)
        self._take(size)
        with tempfile.TemporaryFile(prefix="raygrove-") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, size)  # or a full disk would end this process later
            except OSError as error:
                raise self._no_room(error) from error
            allow_mapping(size)
            return np.asarray(np.memmap(file, dtype, "r+", shape=shape))

    def _written(self, array: np.ndarray) -> _Place:
        data = np.ascontiguousarray(array)
        self._take(data.nbytes + ALIGNMENT)
        try:
            self._file.write(b"\0" * (-self._file.tell() % ALIGNMENT))
            place = _Place(self._file.tell(), data.shape, data.dtype)
            self._file.write(data.reshape(-1).view(np.uint8).data)
        except OSError as error:
            raise self._no_room(error) from error
        return place

    def _take(self, size: int) -> None:
        self._taken += size
        if self._taken > self._limits.disk_mib << 20:
            raise SceneError(
                f"{display_path(self._path)}: its frames do not fit the memory of an import, and would take more than "
                f"the {self._limits.disk_mib:,} MiB of the disk that it may use. Raise import.disk_mib, or read fewer "
                f"frames by import.every_frame.",
                self._path,
            )

    def _no_room(self, error: OSError) -> SceneError:
        return SceneError(
            f"{display_path(self._path)}: its frames do not fit the memory of an import, and the disk of temporary "
            f"files has no room for them ({error.strerror}). Free space there, or read fewer frames by "
            f"import.every_frame.",
            self._path,
        )
