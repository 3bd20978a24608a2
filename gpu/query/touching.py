"""The primitives of an object, asked which of a structure's they touch."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import numpy as np

from ..hierarchy.base import HierarchyError, Primitives
from ..rows import Int, Struct
from ..target.base import Array
from ..target.structs import pack
from .contacts import ContactRows, Contacts

KINDS = ("triangle", "sphere", "mixed")
"""Of primitives that can be told to touch (gpu/device/touching.cuh)."""


def check_touching(kind: str) -> None:
    """HierarchyError where primitives of a kind are not told to touch."""
    if kind not in KINDS:
        raise HierarchyError(f"Triangles and spheres are told to touch, not {kind}.")


@dataclasses.dataclass(frozen=True)
class TouchingRows(Struct):
    """`Touching` as kernels take it."""

    others: Annotated[np.ndarray, "class Others"]
    objects: Annotated[ContactRows | np.ndarray, "class Contacts"]
    """Of none where any primitive may be found."""
    first: Int
    """Of those that are asked about."""
    is_own: Int
    """They are the structure's: each pair is found once, by the smaller number."""


@dataclasses.dataclass(frozen=True, eq=False)
class Touching:
    """`count` primitives of `others` from `first` on (None: all from there). Where they are the structure's own
    (`is_own`), each pair is found once, by the smaller number; or, with `contacts` of their objects, by the one of the
    object of smaller rank, where these ask for one another."""

    others: Primitives
    is_own: bool = False
    first: int = 0
    count: int | None = None
    contacts: Contacts | None = None

    periodic = None

    def __post_init__(self) -> None:
        check_touching(self.others.kind)

    def __len__(self) -> int:
        return self.others.count - self.first if self.count is None else self.count

    @property
    def arrays(self) -> tuple[Array | None, ...]:
        """What lies on the target."""
        return (*self.others.keep_alive, *(self.contacts.arrays if self.contacts is not None else ()))

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
        objects = ContactRows(None, None, None, 0) if self.contacts is None else self.contacts.packed()
        return pack(TouchingRows(self.others.view, objects, self.first, int(self.is_own)))
