"""Boxes as rays meet them: those of a tree's table after its layout rounded them."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu.hierarchy.base import NodeTable

PAIRS = ("bvh2", "bvh2_soa", "bvh2_compact")
"""Layouts whose halves along x and y are kept in the upper 16 bits of a float32, rounded up (bvh2.cuh)."""


def as_traversed(table: NodeTable, layout: str) -> NodeTable:
    """The table with the boxes that traversals of a layout meet, in float64; as it is for layouts that round by a few
    units in the last place alone."""
    if layout not in PAIRS:
        return table
    lower, upper = table.lower.astype(np.float64), table.upper.astype(np.float64)
    centre, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    words = half[:, :2].astype(np.float32).view(np.uint32)
    half[:, :2] = ((words + np.uint32(0xFFFF)) & np.uint32(0xFFFF0000)).view(np.float32)
    return dataclasses.replace(table, lower=centre - half, upper=centre + half)
