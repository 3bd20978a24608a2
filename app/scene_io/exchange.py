"""A scene as one flat file between the importing child and the program: arrays as raw bytes, all else as columns.

    arrays, large ones at multiples of 64 | table of the arrays | JSON | trailer: offset and length of the JSON, magic

Nothing is unpickled, and nothing is written value by value: a file may have a hundred thousand meshes. The reader
trusts no number: types follow the dataclasses of `gpu.scene` (exchange_columns.py), every array must lie inside the
file, and `check` looks at what kernels will index with. What does not fit raises `ExchangeError`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import itertools
import json
import operator
import os
import struct
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from raygrove.gpu.linux import main_memory
from raygrove.gpu.scene import Scene

from .exchange_checks import ExchangeError, check
from .exchange_columns import column_of, values_of
from .exchange_meshes import stack_column, stack_of_column
from .mesh_stack import MeshStack, as_meshes

__all__ = ["ExchangeError", "check", "read", "without_collections", "write"]

ALIGNMENT, SMALL_ALIGNMENT = 64, 8
SMALL = 4096
"""Bytes of an array that is written together with its neighbours."""
TRAILER = struct.Struct("<QQ8s")
MAGIC = b"RGSCENE2"
DTYPES: tuple[np.dtype[Any], ...] = tuple(map(np.dtype, ("<f4", "<i4", "u1", "<i8", "<f8")))
CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
MAX_DIMENSIONS = 4
ROW = 2 + MAX_DIMENSIONS + 1
"""Numbers of an array in the table: dtype, dimensions, shape filled up with ones, offset."""
MAX_JSON = 1 << 30
MAX_LENGTH = 1 << 40


@contextlib.contextmanager
def without_collections() -> Iterator[None]:
    """Python's search for garbage in cycles waits: among objects that are made by the million it would go through all
    of them again and again, and find none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def write(scene: Scene, file: BinaryIO) -> None:
    """Write a sanitised scene (arrays float32, int32 or uint8) to an empty file."""
    kept: dict[int, np.ndarray] = {}
    numbers: dict[int, int] = {}

    def put(arrays: Sequence[np.ndarray]) -> list[int]:
        before, ids = len(kept), list(map(id, arrays))
        kept.update(zip(ids, arrays, strict=True))  # what is kept lives on, so that no other array gets its id
        numbers.update(zip(reversed(kept), range(len(kept) - 1, before - 1, -1), strict=False))
        return list(map(numbers.__getitem__, ids))

    stack = scene.meshes if isinstance(scene.meshes, MeshStack) else None
    document = column_of([scene if stack is None else dataclasses.replace(scene, meshes=())], Scene, put)
    stacked = None if stack is None else stack_column(stack, put)
    table = _write_arrays(list(map(np.ascontiguousarray, kept.values())), file)
    start = _aligned(file, ALIGNMENT)
    file.write(table.data)
    end = file.tell()
    text = json.dumps({"scene": document, "stack": stacked, "table": start, "arrays": len(table)}).encode()
    file.write(text)
    file.write(TRAILER.pack(end, len(text), MAGIC))
    file.flush()


def _write_arrays(arrays: Sequence[np.ndarray], file: BinaryIO) -> np.ndarray:
    """The arrays' bytes, small ones of one shape together; returns their table."""
    alike: dict[tuple[np.dtype[Any], tuple[int, ...]], list[int]] = {}
    kinds = list(map(operator.attrgetter("dtype", "shape"), arrays))
    for kind, run in itertools.groupby(range(len(arrays)), kinds.__getitem__):
        alike.setdefault(kind, []).extend(run)
    table = np.ones((len(arrays), ROW), "<i8")
    for (dtype, shape), numbers in alike.items():
        size = arrays[numbers[0]].nbytes
        step = SMALL_ALIGNMENT if size <= SMALL else ALIGNMENT
        stride = size + -size % step
        start = _aligned(file, step)
        table[numbers, :2] = CODES[dtype], len(shape)
        table[numbers, 2 : 2 + len(shape)] = shape
        table[numbers, -1] = start + stride * np.arange(len(numbers))
        if size <= SMALL:
            block = np.zeros((len(numbers), stride), np.uint8)
            some = [arrays[number] for number in numbers]
            rows = np.concatenate(some) if shape else np.stack(some)
            block[:, :size] = rows.reshape(-1).view(np.uint8).reshape(len(numbers), size)
            file.write(block.data)
            continue
        for number in numbers:
            file.write(arrays[number].reshape(-1).view(np.uint8).data)
            file.write(bytes(stride - size))
    return table


def _aligned(file: BinaryIO, step: int) -> int:
    file.write(bytes(-file.tell() % step))
    return file.tell()


def read(file: BinaryIO) -> Scene:
    """The scene of such a file, its arrays mapped from it (copy on write); `ExchangeError` where anything does not
    fit."""
    size = os.fstat(file.fileno()).st_size
    if size < TRAILER.size:
        raise ExchangeError("it is too short")
    # What may be written counts as memory that is promised: a trajectory larger than that is mapped to be read alone.
    mapped = np.memmap(file, np.uint8, mode="r" if 0 < main_memory()[1] < 2 * size else "c", shape=(size,))
    start, length, magic = TRAILER.unpack(bytes(mapped[-TRAILER.size :]))
    if magic != MAGIC or length > MAX_JSON or start + length + TRAILER.size != size:
        raise ExchangeError("its end is not where it should be")
    with without_collections():
        try:
            document = json.loads(bytes(mapped[start : start + length]))
            arrays = _arrays(mapped, start, document["table"], document["arrays"])
            scene: Scene = values_of(document["scene"], Scene, 1, arrays)[0]
            if document["stack"] is not None:
                scene = _with_stack(scene, stack_of_column(document["stack"], arrays))
        except (LookupError, TypeError, ValueError, RecursionError, OverflowError) as error:
            raise ExchangeError(f"its description does not fit ({error})") from error
        check(scene)
        # One by one from here on: the program works with meshes, and the importer alone with all of them.
        return dataclasses.replace(scene, meshes=tuple(scene.meshes))


def _with_stack(scene: Scene, stack: MeshStack) -> Scene:
    if scene.meshes:
        raise ValueError("it has meshes beside the stack of all")
    return dataclasses.replace(scene, meshes=as_meshes(stack))


def _arrays(mapped: np.ndarray, end: int, start: Any, count: Any) -> list[np.ndarray]:
    """All arrays of the file, whose table begins at `start`; ValueError where one does not lie before `end`."""
    if type(start) is not int or type(count) is not int or not 0 <= start <= start + count * 8 * ROW <= end:
        raise ValueError("the table of arrays does not fit")
    if start % 8 or count < 0:
        raise ValueError("the table of arrays does not fit")
    memory = np.asarray(mapped)
    table = np.ndarray((count, ROW), "<i8", memory, start)
    codes, dimensions, shapes, offsets = table[:, 0], table[:, 1], table[:, 2:-1], table[:, -1]
    if ((codes < 0) | (codes >= len(DTYPES)) | (dimensions < 0) | (dimensions > MAX_DIMENSIONS)).any():
        raise ValueError("an array's type does not fit")
    if ((shapes < 0) | (shapes >= MAX_LENGTH)).any() or ((offsets < 0) | (offsets > end)).any():
        raise ValueError("an array's shape does not fit")
    item_sizes = np.array([dtype.itemsize for dtype in DTYPES])[codes]
    # As float64 first: a product of four lengths may be larger than an integer.
    sizes = np.where(shapes.min(axis=1, initial=1) == 0, 0.0, shapes.astype(np.float64).prod(axis=1)) * item_sizes
    if (offsets % item_sizes).any() or (offsets + sizes > end).any():
        raise ValueError("an array lies outside the file")
    return _views(table, memory)


def _views(table: np.ndarray, memory: np.ndarray) -> list[np.ndarray]:
    """The arrays of a table that was looked at; neighbours of one shape, which lie equally far apart, are rows of one
    array."""
    steps = np.diff(table[:, -1])
    is_same = (np.diff(table[:, :-1], axis=0) == 0).all(axis=1)
    starts = is_same.copy()
    starts[1:] &= is_same[:-1] & (steps[1:] == steps[:-1])
    # An array begins a row of them where it cannot follow the one before as that one follows its own.
    firsts = [0, *(np.flatnonzero(~starts) + 1).tolist()] if len(table) else []
    views: list[np.ndarray] = []
    for first, end in zip(firsts, [*firsts[1:], len(table)], strict=True):
        code, width, *shape, offset = table[first].tolist()
        kind, shape, count = DTYPES[code], tuple(shape[:width]), end - first
        if count == 1:
            views.append(np.ndarray(shape, kind, memory, offset))
            continue
        one = np.ndarray(shape, kind, memory, offset)
        views += list(np.ndarray((count, *shape), kind, memory, offset, (int(steps[first]), *one.strides)))
    return views
