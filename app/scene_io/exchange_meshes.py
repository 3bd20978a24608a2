"""A stack of meshes as columns of the exchange: its long arrays as they are, not mesh by mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .exchange_columns import Put, texts_of
from .mesh_stack import OF_MESHES, MeshStack

KINDS: dict[str, tuple[type, tuple[int, ...]]] = {
    "vertex_counts": (np.int64, ()), "triangle_counts": (np.int64, ()), "positions": (np.float32, (3,)),
    "triangles": (np.int32, (3,)), "material_ids": (np.int32, ()), "has_normals": (np.uint8, ()),
    "normals": (np.float32, (3,)), "has_uvs": (np.uint8, ()), "uvs": (np.float32, (2,)),
}  # fmt: skip
"""The arrays of a stack: type, and the shape of a row."""


def stack_column(stack: MeshStack, put: Put) -> dict[str, Any]:
    """What JSON holds of it."""
    arrays: list[np.ndarray] = [np.asarray(getattr(stack, name), kind) for name, (kind, _) in KINDS.items()]
    return {"names": stack.names, **dict(zip(KINDS, put(arrays), strict=True))}


def stack_of_column(column: Any, arrays: Sequence[np.ndarray]) -> MeshStack:
    """The stack of such a column; ValueError, TypeError or LookupError where it holds anything else."""
    if type(column) is not dict or set(column) != {"names", *KINDS}:
        raise ValueError("a stack of meshes has other fields")
    found: dict[str, Any] = {}
    for name, (kind, rest) in KINDS.items():
        index = column[name]
        if type(index) is not int or not 0 <= index < len(arrays):
            raise ValueError("a stack of meshes names an array that is not there")
        found[name] = arrays[index]
        if found[name].dtype != kind or found[name].shape != (len(found[name]), *rest):
            raise ValueError("an array of a stack of meshes is of another shape")
    found |= {name: found[name] != 0 for name in ("has_normals", "has_uvs")}
    count = len(column["names"])
    stack = MeshStack(texts_of(column["names"], count), **found)
    for name in OF_MESHES:
        if len(found[name]) != count:
            raise ValueError("a stack of meshes counts more or less of them")
    for name, counts in stack.rows().items():
        if ((counts < 0) | (counts > len(found[name]))).any() or int(counts.sum()) != len(found[name]):
            raise ValueError("an array of a stack of meshes has more or fewer rows")
    return stack
