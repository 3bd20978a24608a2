"""What a reader of trees gives, and what readers share. Counts of a file are compared with its length before any array
is made."""

from __future__ import annotations

import dataclasses
import os
import stat
from pathlib import Path

import numpy as np

from ..errors import SceneError, display_path
from ..limits import ImportLimits
from ..references import References

NO_ROW = -1


@dataclasses.dataclass(frozen=True, eq=False)
class FoundTree:
    """A binary tree as raygrove.Tree takes it: `children` (M, 2), `first`, `count` (M,), `primitives` (R,) and `bounds`
    (M, 6) float32, row 0 the root. `builder` says what made it. `splits_references`: whether a primitive may be in
    several leaves. `corners` (T, 3): the file's own list of triangles, of which `primitives` are rows; None where they
    are rows of the mesh. `triangle_count` is what the file says of the mesh, -1 where it says nothing."""

    children: np.ndarray
    first: np.ndarray
    count: np.ndarray
    primitives: np.ndarray
    bounds: np.ndarray | None
    builder: str
    splits_references: bool = False
    corners: np.ndarray | None = None
    triangle_count: int = -1


class TreeSource:
    """A file of a tree, and those beside it that belong to it."""

    def __init__(self, path: str, limits: ImportLimits) -> None:
        self.path, self.limits = path, limits
        self._references = References(os.path.dirname(os.path.abspath(path)), limits.allow_outside)

    def error(self, what: str, remedy: str = "It is damaged, or of another format") -> SceneError:
        """What is wrong with it, as a sentence."""
        return SceneError(f"{display_path(self.path)}: {what.rstrip('.')}. {remedy.rstrip('.')}.", self.path)

    def read(self) -> bytes:
        """All bytes of the file itself."""
        return self._bytes(self.path)

    def beside(self, name: str) -> bytes:
        """All bytes of a file that this one names, or that belongs to it, by the rule of references."""
        path = os.path.join(os.path.dirname(os.path.abspath(self.path)), name)
        try:
            refusal = self._references.refusal(path)
        except (OSError, ValueError):
            raise self.error(f"it needs the file {display_path(name)}, which is not there", "Put it beside") from None
        if refusal:
            raise self.error(f"it needs the file {display_path(name)}, which is {refusal}", "Put it beside")
        return self._bytes(path)

    def _bytes(self, path: str) -> bytes:
        size = os.stat(path)
        if not stat.S_ISREG(size.st_mode):
            raise self.error("it is no regular file", "Give a file")
        if size.st_size > self.limits.file_mib << 20:
            most = f"the limit is {self.limits.file_mib:,} MiB"
            raise self.error(f"it has {size.st_size:,} bytes and {most}", "Raise import.file_mib to open it")
        return Path(path).read_bytes()

    def rows(self, data: bytes, kind: np.dtype, what: str, begin: int = 0, count: int | None = None) -> np.ndarray:
        """`count` rows of a type at a byte; without a count all that there are, which must be whole ones."""
        have = len(data) - begin
        if count is None:
            count, rest = divmod(max(have, 0), kind.itemsize)
            if rest:
                raise self.error(f"its {what} are {have:,} bytes, no multiple of {kind.itemsize}", "It is cut off")
        if have < 0 or count * kind.itemsize > have:
            there = max(have, 0) // kind.itemsize
            raise self.error(f"it claims {count:,} {what}, and has bytes for {there:,}", "It is cut off or damaged")
        return np.frombuffer(data, kind, count, begin)


def float32_around(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """(M, 6) float32 boxes that hold boxes of doubles."""
    with np.errstate(over="ignore"):
        low, high = lower.astype(np.float32), upper.astype(np.float32)
    low = np.where(low > lower, np.nextafter(low, np.float32(-np.inf)), low)
    high = np.where(high < upper, np.nextafter(high, np.float32(np.inf)), high)
    return np.hstack([low, high]).astype(np.float32)


def paired(is_inner: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(M, 2): the children of inner nodes, -1 of others."""
    children = np.full((len(is_inner), 2), NO_ROW, np.int64)
    children[is_inner, 0], children[is_inner, 1] = left[is_inner], right[is_inner]
    return children


def whole(values: np.ndarray) -> np.ndarray:
    """int64; numbers of 64 bits that do not fit stay too large for any array."""
    if values.dtype.kind == "u" and values.dtype.itemsize == 8:
        values = np.minimum(values, np.uint64(np.iinfo(np.int64).max // 4))
    return values.astype(np.int64)
