"""Arrays that a caller gives, checked and taken without a copy where none is needed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..errors import Error
from ..target.base import Array, Target
from ..target.foreign import on_target

_said: set[str] = set()
FLOATS, NUMBERS, WHOLE = "f", "fiu", "iu"


class ArrayError(Error, ValueError):
    """An array that cannot be taken: its shape, its type, or what is in it."""


def shown(array: Any) -> str:
    """An array in the words of a sentence."""
    return f"{tuple(array.shape)} of {array.dtype}"


def taken(target: Target, array: Any, name: str, shape: tuple[int | None, ...], kinds: str = NUMBERS) -> Array:
    """`array` as float32 (`kinds` NUMBERS) or int32 (WHOLE) on the target, C-contiguous, of a shape in which None is
    any number. ArrayError by a sentence where it is something else. A GPU's arrays that have to be converted are copied
    at every call, which is said once."""
    found = on_target(target, array, name)
    check_shape(found, name, shape)
    wanted = np.dtype(np.int32 if kinds == WHOLE else np.float32)
    if found.dtype.kind not in kinds:
        what = "whole numbers" if kinds == WHOLE else "numbers"
        raise ArrayError(f"{name} are {what}; these are {shown(found)}")
    if found.dtype == wanted and found.flags.c_contiguous:
        return found if _is_own(target, found) else target.upload(found, "face")
    if not isinstance(found, np.ndarray):
        _warn_once(name, found, wanted)
        return target.converted(found, wanted)  # type: ignore[attr-defined]
    if kinds == WHOLE and found.size and found.dtype.itemsize >= 4 and found.dtype != wanted:
        least, most = int(found.min()), int(found.max())
        if least < -(1 << 31) or most >= 1 << (32 if name == "masks" else 31):  # int32 would make other numbers of them
            raise ArrayError(f"{name} are whole numbers that int32 holds; these are from {least:,} to {most:,}")
    with np.errstate(over="ignore", invalid="ignore"):
        copied = np.ascontiguousarray(found, wanted)
    if found.dtype == wanted and found.size:
        _warn_once(name, found, wanted)
    return copied if _is_own(target, copied) else target.upload(copied, "face")


def taken_number(value: Any, name: str, what: str) -> float:
    """One number of a caller. ArrayError, which says `what` it is, where it is none."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = np.nan
    if np.isnan(found):
        raise ArrayError(f"{name} is {what}; it is {value!r}")
    return found


def taken_numbers(values: Any, name: str, what: str, count: int) -> tuple[float, ...]:
    """So many numbers of a caller, as taken_number."""
    try:
        found = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        found = ()
    if len(found) != count or not np.isfinite(found).all():
        raise ArrayError(f"{name} is {what}; it is {values!r}")
    return found


def check_range(column: Any, name: str, least: int, most: int) -> None:
    """ArrayError where whole numbers of the host are beyond `least` and `most`. Of a GPU's nobody can tell without
    waiting."""
    if isinstance(column, np.ndarray) and column.size:
        low, high = (int(column.min()), int(column.max())) if column.ndim else (int(column),) * 2
        if low < least or high > most:
            found = f"it is {low}" if low == high else f"these are from {low} to {high}"
            raise ArrayError(f"{name} are from {least} to {most}; {found}")


def check_size(size: Any, where: str) -> None:
    """ArrayError where this is no width and height of a picture."""
    is_pair = isinstance(size, tuple | list) and len(size) == 2
    if not is_pair or not all(isinstance(side, int | np.integer) and 1 <= side <= 1 << 14 for side in size):
        raise ArrayError(f"size is (width, height) in pixels, from 1 to {1 << 14}; it is {size}", where)


def check_is_array(array: Any, name: str) -> None:
    """ArrayError where what is to be written in place is a sequence or a number: nothing of it would come back."""
    if not any(hasattr(array, way) for way in ("__array_interface__", "__cuda_array_interface__", "__dlpack__")):
        raise ArrayError(f"{name} is written in place and is no array but a {type(array).__name__}")


def check_shape(array: Any, name: str, shape: tuple[int | None, ...]) -> None:
    """ArrayError where the array has another shape; None stands for any number."""
    fits = len(array.shape) == len(shape) and all(
        want in (None, have) for want, have in zip(shape, array.shape, strict=False)
    )
    if not fits:
        letters = iter("NMK")
        said = ", ".join(next(letters) if want is None else str(want) for want in shape)
        raise ArrayError(f"{name} have the shape ({said}{',' if len(shape) == 1 else ''}); these are {shown(array)}")


def _is_own(target: Target, array: Any) -> bool:
    return (target.kind == "host") == isinstance(array, np.ndarray)


def _warn_once(name: str, array: Any, wanted: np.dtype) -> None:
    """Say that an array is copied whenever it is used; once for each name."""
    if name not in _said:
        _said.add(name)
        warnings.warn(
            f"raygrove: {name} ({shown(array)}) are not contiguous {wanted} and are copied whenever they are used.",
            stacklevel=5,
        )


def check_corners(triangles: Any, vertex_count: int) -> None:
    """ArrayError where a triangle names a vertex that there is not. Waits where they lie on a GPU."""
    if not triangles.size or (int(triangles.min()) >= 0 and int(triangles.max()) < vertex_count):
        return
    host = triangles if isinstance(triangles, np.ndarray) else triangles.get()
    wrong = np.flatnonzero(((host < 0) | (host >= vertex_count)).any(axis=1))[0]
    raise ArrayError(
        f"Triangle {wrong} is {host[wrong].tolist()}, but there are {vertex_count} vertices, counted from 0",
        remedy="",
    )
