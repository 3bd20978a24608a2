"""NumPy's files: an .npy is positions (N, 3) or (T, N, 3); an .npz has `positions` and, where it likes, `radius`,
`color`, `time` (T,), `ids`, `box`, `element` as symbols, and any other array of N or T x N rows as an attribute.
Nothing is unpickled; dates, objects and other things that are neither numbers nor texts are left out.

`radius` is one number, (N,) or (T, N); `color` (3,), (N, 3) or (T, N, 3), bytes or 0 to 1 as screens show them; `box`
three lengths or (3, 3) edges, also of each frame.
"""

from __future__ import annotations

import ast
import contextlib
import struct
import zipfile
import zlib
from collections.abc import Container, Iterator
from typing import Any, BinaryIO

import numpy as np

from raygrove.gpu.scene import Attribute, PeriodicBox

from . import cut_archive, elements
from .colours import linear_from_display
from .columns import COLOURS, ELEMENTS, IDS, POSITIONS, RADII, float32, plain
from .frame import Frame, ParticleError, Source, cell

TIMES = ("time", "times", "t")
BOXES = ("box", "lattice", "cell")
MAX_HEADER = 1 << 16
NUMBERS, TEXTS = "uifb", "SU"
"""Kinds of NumPy's types."""
LETTERS, LAST_LETTER = np.dtype("u4"), 0x10FFFF
"""What NumPy keeps letters as, and the last that Unicode has."""


class ArchiveError(ParticleError):
    """It is no whole archive."""


class OtherKindError(ParticleError):
    """An array is whole and of a type that is not read."""


DAMAGES = (
    *(zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, RuntimeError, EOFError, OSError),
    *(ValueError, OverflowError),
)
"""What Python's reader of archives raises where one is damaged: OSError, as it seeks to places before the file."""


def read(source: Source) -> Iterator[Frame]:
    """The frames one after another."""
    with source.open() as file:
        if source.form == "npy" or file.read(6) == b"\x93NUMPY":
            file.seek(0)
            yield from _frames_of_one(source, file)
            return
        file.seek(0)
        try:
            arrays = members(source, file, kinds=NUMBERS + TEXTS, needed=POSITIONS)
        except ArchiveError as error:
            yield from _frames_before_the_cut(source, error)
            return
    yield from _frames(source, arrays)


def _frames_of_one(source: Source, file: BinaryIO) -> Iterator[Frame]:
    """The frames of an .npy: of one that is cut the whole ones, or the whole points where there is one frame."""
    try:
        array = _array(source, file, "the array")
    except OtherKindError:
        raise
    except ParticleError:
        file.seek(0)
        array, rows = _rows_there(file, "the array")
        if not 0 < len(array) < rows:
            raise
        is_still = array.ndim == 2
        if is_still:
            source.remark(f"The file is cut short: {rows:,} points should be there, and {len(array):,} are.")
        yield from _frames(source, {"positions": array})
        if not is_still:
            raise ParticleError("the file ends within it") from None
        return
    yield from _frames(source, {"positions": array})


def _frames_before_the_cut(source: Source, error: ArchiveError) -> Iterator[Frame]:
    """The frames of which the positions are there; `error` where there is none."""
    arrays, cut, rows = dict[str, np.ndarray](), "", 0
    unpacked = 0
    for member in cut_archive.before_the_cut(source.read(), source.limits.memory_mib << 20):
        unpacked += len(member.data.getbuffer())
        source.expect_unpacked(unpacked)
        name = plain(member.name.removesuffix(".npy"))
        if not member.is_whole:
            cut = name
        if member.name.endswith(".npy") and (member.is_whole or name in POSITIONS):
            with contextlib.suppress(OtherKindError):
                if member.is_whole:
                    arrays[name] = _array(source, member.data, f"the array {name!r}", NUMBERS + TEXTS)
                else:
                    arrays[name], rows = _rows_there(member.data, f"the array {name!r}")
    there = next((len(arrays[name]) for name in POSITIONS if name in arrays), 0)
    if not there:
        raise error
    is_lost = f"the array {cut!r} is not whole" if cut else "arrays may be missing"
    source.remark(f"The archive is cut short: {is_lost}.")
    if not rows:
        yield from _frames(source, arrays)
        return
    is_still = arrays[cut].ndim == 2
    yield from _frames(source, {name: a[:there] if a.ndim and len(a) == rows else a for name, a in arrays.items()})
    if there < rows and not is_still:
        raise ParticleError("the archive ends within it")


def members(
    source: Source,
    file: BinaryIO,
    wanted: Container[str] | None = None,
    kinds: str = NUMBERS,
    needed: Container[str] | None = None,
) -> dict[str, np.ndarray]:
    """The arrays of an archive by their plain names; `wanted` alone, where some are. Of those that are of no kind of
    `kinds` all but the `needed` are left out with a remark, where these are named. Raises ParticleError."""
    result, unpacked = {}, 0
    try:
        with zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                name = plain(entry.filename.removesuffix(".npy"))
                is_array = entry.filename.endswith(".npy") and not entry.flag_bits & 1
                if is_array and (wanted is None or name in wanted):
                    unpacked += entry.file_size
                    source.expect_unpacked(unpacked)
                    try:
                        with archive.open(entry) as member:
                            result[name] = _array(source, member, f"the array {name!r}", kinds)
                    except OtherKindError as error:
                        if needed is None or name in needed:
                            raise
                        source.remark(f"T{str(error)[1:]} or texts, and was left out.")
    except ParticleError:
        raise
    except DAMAGES as error:
        where = str(error).partition(" for file ")[2]
        part = f": {where} is damaged" if where else ""
        raise ArchiveError(f"it is no whole archive of arrays, as numpy.savez writes them{part}") from error
    return result


def names_in(file: BinaryIO) -> list[str]:
    """The plain names of an archive's arrays; none where it is no archive."""
    try:
        with zipfile.ZipFile(file) as archive:
            return [plain(name.removesuffix(".npy")) for name in archive.namelist() if name.endswith(".npy")]
    except DAMAGES:
        return []


def _array(source: Source, file: Any, what: str, kinds: str = NUMBERS) -> np.ndarray:
    """An array of an .npy; its header is believed only where its size may be read."""
    dtype, shape, is_fortran = _header(file, what, kinds)
    size = int(np.prod([dtype.itemsize, *shape], dtype=object))
    if size > source.limits.memory_mib << 19:
        source.expect(size // 12, 1, 3)
    values = np.frombuffer(_exactly(file, size, what), dtype)
    return values.reshape(shape, order="F" if is_fortran else "C")


def _rows_there(file: Any, what: str) -> tuple[np.ndarray, int]:
    """The rows of an array that is cut which are there, and how many it should have."""
    dtype, shape, is_fortran = _header(file, what, NUMBERS)
    size = int(np.prod([dtype.itemsize, *shape[1:]], dtype=object))
    data = file.read()
    rows = 0 if is_fortran or not size or not shape else min(len(data) // size, shape[0])
    return np.frombuffer(data[: rows * size], dtype).reshape(rows, *shape[1:]), shape[0] if shape else 0


def _header(file: Any, what: str, kinds: str) -> tuple[np.dtype, tuple[int, ...], bool]:
    """The type, the shape, and whether columns follow one another, of an .npy."""
    magic = file.read(8)
    if magic[:6] != b"\x93NUMPY" or len(magic) < 8:
        raise ParticleError(f"{what} does not begin as NumPy's arrays do")
    form = "<H" if magic[6] == 1 else "<I"
    (length,) = struct.unpack(form, _exactly(file, struct.calcsize(form), what))
    if length > MAX_HEADER:
        raise ParticleError(f"the header of {what} is too long")
    try:
        header = ast.literal_eval(_exactly(file, length, what).decode("latin-1").strip())
        dtype, shape, is_fortran = np.dtype(header["descr"]), tuple(header["shape"]), bool(header["fortran_order"])
        if not all(isinstance(n, int) and n >= 0 for n in shape):
            raise ValueError(f"a shape of {shape}")
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError) as error:
        raise ParticleError(f"the header of {what} cannot be understood") from error
    if dtype.kind not in kinds or not dtype.itemsize:
        raise OtherKindError(f"{what} has the type {header['descr']!r}, not numbers")
    return dtype, shape, is_fortran


def _exactly(file: Any, size: int, what: str) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise ParticleError(f"{what} should have {size:,} bytes, and {len(data):,} are there")
    return bytes(data)


def _frames(source: Source, arrays: dict[str, np.ndarray]) -> Iterator[Frame]:
    positions = _taken(arrays, POSITIONS)
    if positions is None or positions.ndim not in (2, 3) or positions.shape[-1] != 3:
        if positions is not None:
            raise ParticleError(f"its positions have the shape {positions.shape}, not (N, 3) or (T, N, 3)")
        found = ", ".join(f"{name} {values.shape}" for name, values in arrays.items()) or "no arrays"
        raise ParticleError(f"no array of it is called {' or '.join(POSITIONS)}: it has {found}")
    if positions.dtype.kind in TEXTS:
        raise ParticleError("its positions are texts, not numbers")
    steps = positions if positions.ndim == 3 else positions[None]
    frames, count = steps.shape[:2]
    atoms = _elements(source, arrays, count)
    source.expect(count, frames, at_once=True)
    times, ids = _taken(arrays, TIMES), _taken(arrays, IDS)
    radii, tint, boxes = _taken(arrays, RADII), _taken(arrays, COLOURS), _taken(arrays, BOXES)
    tint = tint[..., :3] if tint is not None and tint.ndim and tint.shape[-1] == 4 else tint
    if times is not None and times.shape != (frames,) and not (frames == 1 and times.size == 1):
        source.remark(f"The array of times has the shape {times.shape}, not ({frames},), and was left out.")
        times = None
    for step in range(frames):
        attributes = [] if atoms is None else [Attribute("element", atoms, "atomic number")]
        for name, values in arrays.items():
            rows = _row(values, step, frames, count)
            if rows is None:
                source.remark(f"The array {name!r} has the shape {values.shape} and fits no particle: left out.")
            else:
                attributes.append(Attribute(name, float32(rows)))
        yield Frame(
            steps[step],
            radii=_spread(source, "radius", radii, step, frames, (count,)),
            colours=_tinted(_spread(source, "color", tint, step, frames, (count, 3))),
            ids=_ids(source, ids, step, frames, count),
            elements=atoms,
            attributes=tuple(attributes),
            box=_box(boxes, step, frames),
            time=None if times is None or frames == 1 else float(times[step]),
        )


def _elements(source: Source, arrays: dict[str, np.ndarray], count: int) -> np.ndarray | None:
    """The atomic number of each particle by its symbol, where there is an array of these; other texts are left out."""
    found = None
    for name in [name for name, values in arrays.items() if values.dtype.kind in TEXTS]:
        values = arrays.pop(name)
        if name in ELEMENTS and values.shape == (count,):
            texts = np.char.decode(values, "latin-1") if values.dtype.kind == "S" else values
            if np.frombuffer(texts.tobytes(), LETTERS.newbyteorder(texts.dtype.byteorder)).max(initial=0) > LAST_LETTER:
                raise ParticleError(f"the array {name!r} holds numbers that stand for no letter")
            found = elements.numbers_of(texts.tolist())
        else:
            source.remark(f"The array {name!r} holds texts and was left out.")
    return found


def _taken(arrays: dict[str, np.ndarray], names: tuple[str, ...]) -> np.ndarray | None:
    return next((arrays.pop(name) for name in names if name in arrays), None)


def _row(values: np.ndarray, step: int, frames: int, count: int) -> np.ndarray | None:
    """The frame's part of an array of N or T x N rows."""
    if values.ndim in (2, 3) and values.shape[:2] == (frames, count):
        return np.asarray(values[step])
    if values.ndim in (1, 2) and values.shape[0] == count:
        return values
    return None


def _spread(
    source: Source, name: str, values: np.ndarray | None, step: int, frames: int, shape: tuple[int, ...]
) -> np.ndarray | None:
    """The values of one frame, one for all particles or one each; None where they do not fit."""
    if values is None:
        return None
    if values.shape == (frames, *shape):
        return np.asarray(values[step])
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        if values.shape == (frames,):
            return np.broadcast_to(values[step], shape)
        source.remark(f"The array {name!r} has the shape {values.shape} and fits no particle: left out.")
        return None


def _tinted(values: np.ndarray | None) -> np.ndarray | None:
    return None if values is None else linear_from_display(values)


def _ids(source: Source, values: np.ndarray | None, step: int, frames: int, count: int) -> np.ndarray | None:
    rows = None if values is None else _row(values, step, frames, count)
    if rows is None or rows.ndim != 1 or rows.dtype.kind not in "ui":
        if values is not None:
            source.remark("The ids are not one whole number a particle and were left out.")
        return None
    return rows.astype(np.int64)


def _box(values: np.ndarray | None, step: int, frames: int) -> PeriodicBox | None:
    if values is None:
        return None
    chosen = values[step] if values.ndim and values.shape[0] == frames and values.shape != (3,) else values
    chosen = chosen if chosen.shape in ((3,), (3, 3)) else values
    if chosen.shape == (3,):
        return cell(chosen)
    return PeriodicBox(np.zeros(3), chosen.astype(np.float64)) if chosen.shape == (3, 3) else None
