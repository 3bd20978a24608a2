"""A file of a tree to its columns, in the importing child, and how they get from there to the program: a line of JSON,
then the arrays."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from ..columns import taken_columns, write_columns
from ..errors import SceneError, display_path
from ..limits import ImportLimits
from .formats import READERS, format_of
from .found import FoundTree, TreeSource

ARRAYS: dict[str, tuple[type, tuple[int, ...]]] = {
    **{"children": (np.int64, (2,)), "first": (np.int64, ()), "count": (np.int64, ())},
    **{"primitives": (np.int64, ()), "bounds": (np.float32, (6,)), "corners": (np.int64, (3,))},
}


def read_tree(path: str, format_name: str, limits: ImportLimits) -> FoundTree:
    """The tree of a file; `format_name` one of READERS, or "auto". Raises SceneError."""
    source = TreeSource(path, limits)
    name = format_of(source) if format_name == "auto" else format_name
    return READERS[name](source)


def write(tree: FoundTree, file: BinaryIO) -> None:
    """Hand the columns over."""
    words: dict[str, Any] = {
        "builder": tree.builder,
        "splits": tree.splits_references,
        "triangles": tree.triangle_count,
    }
    arrays = {name: getattr(tree, name) for name in ARRAYS if getattr(tree, name) is not None}
    write_columns(words, arrays, ARRAYS, file)


def taken(file: BinaryIO, path: str) -> FoundTree:
    """What `write` wrote, all sizes compared with the file's. Raises SceneError where a child wrote something else."""
    try:
        words, arrays = taken_columns(file, ARRAYS)
        children, first, count, primitives = (arrays[name] for name in ("children", "first", "count", "primitives"))
        builder, splits, triangles = str(words["builder"])[:200], bool(words["splits"]), int(words["triangles"])
        made = FoundTree(
            *(children, first, count, primitives),
            arrays.get("bounds"),
            builder,
            splits,
            arrays.get("corners"),
            triangles,
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = "the reader gave back what is no tree. The file may be damaged"
        raise SceneError(f"{display_path(path)}: {what}.", path) from error
    return made
