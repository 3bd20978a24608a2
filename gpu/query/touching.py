"""The primitives of an object, asked which of a structure's they touch."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..hierarchy.base import HierarchyError, Primitives
from ..target.base import Array
from ..target.structs import make_struct

KINDS = ("triangle", "sphere", "mixed")
"""Of primitives that can be told to touch (gpu/device/touching.cuh)."""


@dataclasses.dataclass(frozen=True, eq=False)
class Touching:
    """`count` primitives of `others` from `first` on (None: all from there). Where they are the structure's own
    (`is_own`), each pair is found once, by the smaller number.

    What is found can be narrowed: to the numbers `among` (first, end), or to all but those (`is_outside`); and where
    the primitives are the structure's own, to pairs of two objects, by `object_ends` (K,) int32 on the target, one more
    than the last number of each object, ascending."""

    others: Primitives
    is_own: bool = False
    first: int = 0
    count: int | None = None
    object_ends: Array | None = None
    among: tuple[int, int] = (0, 2**31 - 1)
    is_outside: bool = False

    periodic = None

    def __post_init__(self) -> None:
        if self.others.kind not in KINDS:
            raise HierarchyError(f"Triangles and spheres are told to touch, not {self.others.kind}.")

    def __len__(self) -> int:
        return self.others.count - self.first if self.count is None else self.count

    @property
    def arrays(self) -> tuple[Array | None, ...]:
        """What lies on the target."""
        return (*self.others.keep_alive, self.object_ends)

    def part(self, some: slice) -> Touching:
        """Some of them, side by side."""
        return dataclasses.replace(self, first=self.first + some.start, count=some.stop - some.start)

    @property
    def device_type(self) -> str:
        """What kernels call it."""
        return f"Touching<{self.others.type_name}>"

    @property
    def headers(self) -> tuple[str, ...]:
        """Where that is."""
        return (self.others.header, "gpu/query/touching.cuh")

    def packed(self, _: Array | None) -> np.ndarray:
        """The by-value struct."""
        view, ends = self.others.view, self.object_ends
        numbers = ("object_count", "first", "is_own", "lower", "upper", "is_outside")
        fields = [("others", view.dtype), ("object_ends", "u8"), *((name, "i4") for name in numbers)]
        return make_struct(
            np.dtype(fields, align=True),
            others=view,
            object_ends=ends,
            object_count=0 if ends is None else len(ends),
            first=self.first,
            is_own=int(self.is_own),
            lower=self.among[0],
            upper=self.among[1],
            is_outside=int(self.is_outside),
        )
