"""Trees in NumPy's archives, as numpy.savez writes them: arrays of the names of raygrove.Tree. Nothing is unpickled."""

from __future__ import annotations

import io

import numpy as np

from ..particles.arrays import members
from ..particles.frame import ParticleError, Source
from .found import FoundTree, TreeSource, whole

WANTED = ("children", "first", "count", "primitives")


def read(source: TreeSource) -> FoundTree:
    """`children`, `first`, `count`, `primitives`, and `bounds` where there are some."""
    data = source.read()
    try:
        arrays = members(Source(source.path, source.limits, "npz"), io.BytesIO(data), (*WANTED, "bounds"))
    except ParticleError as error:
        raise source.error(str(error), "Write it by numpy.savez") from error
    shapes = {"children": (None, 2), "first": (None,), "count": (None,), "primitives": (None,), "bounds": (None, 6)}
    for name, shape in shapes.items():
        found = arrays.get(name)
        if found is None and name != "bounds":
            raise source.error(f"it has no array {name}", "Write children, first, count and primitives by numpy.savez")
        if found is None:
            continue
        kinds = "fiu" if name == "bounds" else "iu"
        fits = found.ndim == len(shape) and found.dtype.kind in kinds and found.shape[1:] == shape[1:]
        if not fits or len(found) != len(arrays["count" if name != "primitives" else name]):
            raise source.error(f"its {name} are {found.shape} of {found.dtype}", "Write it as docs/trees.md says")
    children, first, count, primitives = (whole(arrays[name]) for name in WANTED)
    bounds = arrays.get("bounds")
    with np.errstate(over="ignore"):
        boxes = None if bounds is None else bounds.astype(np.float32)
    return FoundTree(children, first, count, primitives, boxes, "")
