"""The bins of builders that split by SAH (binning.cuh). Python makes room for them and reads none."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from ...rows import Int, Struct


@dataclasses.dataclass(frozen=True)
class BinRow(Struct):
    """`Bin`: a box as ordered integers (atomics.cuh), and how many references fell into it."""

    lower: Annotated[Any, "int[3]"]
    upper: Annotated[Any, "int[3]"]
    count: Int
