"""LAS and its packed form LAZ: points of a survey, by laspy (and lazrs), a piece at a time."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np

from raygrove.gpu.scene import Attribute

from .colours import linear_from_display
from .cut_binaries import is_cut_laz, laz_with_table
from .frame import Frame, ParticleError, Source
from .headers import in_brackets, las_fault

PIECE = 500_000
CUT_PIECE, CUT_STEP = 100_000, 100
"""Points that are read at once; of a LAZ that is cut fewer, and in the piece with the cut so few that no more of them
are lost before it."""
FEW, MOST_A_BYTE = 100_000, 50
"""So many packed points are believed of any file, or for each of its bytes; real ones take two and more."""
RECORDS_AT, RECORD_BYTES, FEW_RECORDS = 100, 54, 10_000
KEPT = (
    "intensity", "classification", "return_number", "number_of_returns", "gps_time", "point_source_id", "scan_angle",
)  # fmt: skip
COLOURS = ("red", "green", "blue")
STANDARD = {
    "X", "Y", "Z", "bit_fields", "raw_classification", "classification_flags", "scan_angle_rank", "user_data",
    "synthetic", "key_point", "withheld", "overlap", "scanner_channel", "scan_direction_flag", "edge_of_flight_line",
    "nir", *KEPT, *COLOURS,
}  # fmt: skip


def read(source: Source) -> Iterator[Frame]:
    """One frame; of a file that is cut, the points before the cut."""
    import laspy

    if source.form == "laz":
        import lazrs  # noqa: F401 - laspy looks for it, and says less when it is missing

    with source.open() as raw:
        _check_records(raw)
        try:
            file = laspy.open(raw, closefd=False)
        except MemoryError:
            raise
        except Exception as error:  # whatever damage does to the library
            with source.open() as again:
                raise ParticleError(las_fault(again, in_brackets(error))) from error
        with file:
            if not _lacks_table(source, file.header):
                there = _there(source, file.header)
                yield _frame(source, file.header, _pieces(file, there, PIECE))
                return
            there = _there(source, file.header)
            mended = laz_with_table(source.read(), file.header)

        def opened() -> Any:
            return laspy.open(io.BytesIO(mended), laz_backend=laspy.LazBackend.Lazrs)

        with opened() as file:
            yield _frame(source, file.header, _pieces_to_the_cut(file, opened, there))


def _pieces(file: Any, there: int, piece: int) -> Iterator[Any]:
    """Points, a piece at a time, as many as are there."""
    count = 0
    while count < there:
        points = file.read_points(min(there - count, piece))
        if not len(points):
            return
        yield points
        count += len(points)


def _pieces_to_the_cut(file: Any, again: Callable[[], Any], there: int) -> Iterator[Any]:
    """The same of a LAZ that is cut: the piece that fails is read once more, a step at a time. A reader that has failed
    is of no use any more and cannot seek without the table, so that another passes by the points before."""
    count = 0
    try:
        for points in _pieces(file, there, CUT_PIECE):
            yield points
            count += len(points)
        return
    except MemoryError:
        raise
    except Exception:  # the cut, which the second reader meets again and raises
        pass
    with again() as second:
        for _ in _pieces(second, count, CUT_PIECE):
            pass
        yield from _pieces(second, there - count, CUT_STEP)


def _lacks_table(source: Source, header: Any) -> bool:
    """Whether points are packed and the table of their chunks lies past the file's end."""
    with source.open() as raw:
        return bool(header.are_points_compressed) and is_cut_laz(raw, header)


def _check_records(raw: BinaryIO) -> None:
    """Refuse a header with more records than the file can hold: the library looks for each of them."""
    head, size = raw.read(RECORDS_AT + 4), raw.seek(0, os.SEEK_END)
    raw.seek(0)
    count = int.from_bytes(head[RECORDS_AT:], "little")
    if count > max(FEW_RECORDS, size // RECORD_BYTES):
        raise ParticleError(f"byte {RECORDS_AT} of its header says {count:,} records, and it has {size:,} bytes")


def _frame(source: Source, header: Any, read: Iterator[Any]) -> Frame:
    names = list(header.point_format.dimension_names)
    has_colours = all(name in names for name in COLOURS)
    kept = [name for name in names if name in KEPT or name not in STANDARD]
    total = int(header.point_count)
    source.expect(total, floats=6 + 3 * has_colours + len(kept))
    pieces: dict[str, list[np.ndarray]] = {name: [] for name in ("positions", "colours", *kept)}
    count, fault = 0, ""
    try:
        for points in read:
            positions = np.stack([np.asarray(points[axis], np.float64) for axis in "xyz"], axis=1)
            pieces["positions"].append(positions)
            if has_colours:
                pieces["colours"].append(np.stack([np.asarray(points[name]) for name in COLOURS], axis=1))
            for name in kept:
                pieces[name].append(np.asarray(points[name]).astype(np.float32))
            count += len(positions)
    except MemoryError:
        raise
    except Exception as error:
        said = in_brackets(error)
        if not count:
            raise ParticleError(_none_of(total, header) + said) from error
        fault = f"The points after {count:,} of {total:,} are cut or damaged{said}."
    if not count:
        raise ParticleError(_none_of(total, header) if total else "no points are in it")
    if count < total:
        source.remark(fault or f"The header says {total:,} points, and {count:,} are there.")
    together = {name: np.concatenate(parts)[:count] for name, parts in pieces.items() if parts}
    attributes = [Attribute(name, together[name], "") for name in kept if len(together[name]) == count]
    varied = tuple(a for a in attributes if a.name in ("intensity", "classification") or _varies(a.values))
    return Frame(
        together["positions"],
        colours=linear_from_display(together["colours"]) if "colours" in together else None,
        attributes=varied,
    )


def _none_of(total: int, header: Any) -> str:
    return f"none of its {total:,} points, which begin at byte {int(header.offset_to_point_data):,}, can be read"


def _there(source: Source, header: Any) -> int:
    """How many points follow the header: as many as it says, or fewer where an unpacked file is cut."""
    total = int(header.point_count)
    with source.open() as raw:
        size = raw.seek(0, os.SEEK_END)
    left = size - int(header.offset_to_point_data)
    if header.are_points_compressed:
        if total > max(FEW, MOST_A_BYTE * size):
            raise ParticleError(f"its header says {total:,} points, and it has {size:,} bytes")
        return total
    return min(total, max(left, 0) // max(int(header.point_format.size), 1))


def _varies(values: np.ndarray) -> bool:
    return bool(len(values)) and bool((values != values[0]).any())
