"""The primitives of an object, asked which of a structure's they touch."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..hierarchy.base import HierarchyError, Primitives
from ..target.base import Array

KINDS = ("triangle", "sphere", "mixed")
"""Of primitives that can be told to touch (gpu/device/touching.cuh)."""


@dataclasses.dataclass(frozen=True, eq=False)
class Touching:
    """`count` primitives of `others` from `first` on (None: all from there). Where they are the structure's own
    (`is_own`), each pair is found once, by the smaller number."""

    others: Primitives
    is_own: bool = False
    first: int = 0
    count: int | None = None

    periodic = None

    def __post_init__(self) -> None:
        if self.others.kind not in KINDS:
            raise HierarchyError(f"Triangles and spheres are told to touch, not {self.others.kind}.")

    def __len__(self) -> int:
        return self.others.count - self.first if self.count is None else self.count

    @property
    def arrays(self) -> tuple[Array | None, ...]:
        """What lies on the target."""
        return self.others.keep_alive

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
        view = self.others.view
        made = np.zeros((), np.dtype([("others", view.dtype), ("first", "i4"), ("is_own", "i4")], align=True))
        made["others"], made["first"], made["is_own"] = view, self.first, int(self.is_own)
        return made
