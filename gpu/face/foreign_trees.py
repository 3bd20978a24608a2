"""Trees that other programs wrote, read from their files."""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np

from ..analysis.tree_files import ENDING, load_tree
from ..errors import Error
from ..hierarchy.bvh.own.tree import Columns, Tree, TreeError, columns_of, levels_of
from ..target.foreign import on_host
from . import arrays


def import_tree(path: str | os.PathLike[str], triangles: Any = None, *, format: str = "auto") -> Tree:
    """The binary tree of a file of tinybvh, madmann91/bvh, three-mesh-bvh, Embree's builder callbacks or NumPy
    (docs/trees.md has the formats by name; auto goes by the file's beginning and its name). Wide nodes become binary
    ones; boxes of bytes are decoded, and grown where a child stands out of them; doubles are rounded outwards.

    Files are read in a child process, within limits. Links and what leaves list are checked before anything follows
    them; whether boxes and primitives fit a geometry, `validate` says. three-mesh-bvh reorders a mesh's triangles:
    `triangles` (N, 3) brings its leaves back to the mesh's own numbers. Raises Error where the file is no such tree.
    """
    files = importlib.import_module(f"{__name__.partition('.')[0]}.app.scene_io")
    where = os.path.basename(os.fspath(path))
    try:
        found = files.load_tree(path, format)
    except files.SceneError as error:
        raise Error(str(error).rstrip("."), "rg.import_tree", "") from error
    primitives, count = found.primitives, found.triangle_count
    if triangles is not None:
        mesh = np.asarray(on_host(triangles, "triangles"))
        arrays.check_shape(mesh, "triangles", (None, 3))
        if count >= 0 and count != len(mesh):
            raise Error(f"{where} is over {count:,} triangles, and the mesh has {len(mesh):,}", "rg.import_tree", "")
        count = len(mesh)
        if found.corners is not None:
            places = _numbers_of(found.corners, mesh.astype(np.int64), where)
            inside = (primitives >= 0) & (primitives < len(places))
            primitives = np.where(inside, places[np.where(inside, primitives, 0)], primitives)
    elif found.corners is not None:
        raise Error(
            f"{where} has its triangles in an order of its own", "rg.import_tree", "give triangles=, the mesh's"
        )
    tree = Tree(
        children=found.children, first=found.first, count=found.count, primitives=primitives, bounds=found.bounds,
        splits_references=found.splits_references,
    )  # fmt: skip
    try:
        _check_followed(tree, count)
    except TreeError as error:
        raise Error(f"{where}: {str(error).rstrip('.')}", "rg.import_tree", "") from error
    return tree


def tree_of_file(
    path: str | os.PathLike[str], mesh: tuple[np.ndarray, np.ndarray], *, format: str = "auto", is_judged: bool = False
) -> Tree:
    """The tree of a file over a mesh, vertices and triangles: `.rgtree`, or one of another program's. Where it
    `is_judged`, whether it fits is asked for, so one that says that it is of another instant is read. Raises Error."""
    if is_rgtree(path, format):
        return load_tree(path, scene=None if is_judged else mesh)
    return import_tree(path, mesh[1], format=format)


def is_rgtree(path: str | os.PathLike[str], format: str = "auto") -> bool:
    """Whether a file is read as one of `.rgtree`."""
    return format in ("auto", "rgtree") and os.fspath(path).endswith(ENDING)


def _check_followed(tree: Tree, primitive_count: int) -> None:
    """Raise TreeError where links are not those of a tree, or leaves list what there is not."""
    columns = columns_of(tree, False)
    is_empty = (columns.count == 0) & (columns.children == -1).all(axis=1)
    if is_empty.any():
        node = int(np.argmax(is_empty))
        raise TreeError(f"node {node} is a leaf of no primitive.", code="empty_leaf", node=node)
    nodes = np.concatenate(levels_of(columns))
    leaves = nodes[columns.count[nodes] > 0]
    first, count, have = columns.first[leaves], columns.count[leaves], len(columns.primitives)
    is_outside = (first < 0) | (count > have) | (first > have - count)
    if is_outside.any():
        node = int(leaves[np.argmax(is_outside)])
        said = (
            f"node {node} is a leaf of {columns.count[node]:,} primitives from entry {columns.first[node]:,} on, and "
        )
        raise TreeError(f"{said}there are {have:,} entries.", code="leaf_out_of_range", node=node)
    if primitive_count < 0:
        return
    listed = columns.primitives[listed_places(columns)]
    is_wrong = (listed < 0) | (listed >= primitive_count)
    if is_wrong.any():
        said = (
            f"a leaf lists primitive {listed[np.argmax(is_wrong)]}, and there are {primitive_count:,}, counted from 0."
        )
        raise TreeError(said, code="primitive_out_of_range")


def listed_places(columns: Columns) -> np.ndarray:
    """Which entries of `primitives` some leaf lists, (R,) bool. Ranges that leave the array count up to its end."""
    have = len(columns.primitives)
    is_leaf = columns.count > 0
    begin = np.clip(columns.first[is_leaf], 0, have)
    end = begin + np.minimum(columns.count[is_leaf], have - begin)
    changes = np.bincount(begin, minlength=have + 1) - np.bincount(end, minlength=have + 1)
    found: np.ndarray = np.cumsum(changes)[:have] > 0
    return found


def _numbers_of(corners: np.ndarray, mesh: np.ndarray, where: str) -> np.ndarray:
    """Of each triangle of a file its number in the mesh; of several alike, in the mesh's order. Raises Error."""
    ours, theirs = (np.lexsort(rows.T[::-1]) for rows in (mesh, corners))
    differs = (mesh[ours] != corners[theirs]).any(axis=1)
    if differs.any():
        place = int(np.argmax(differs))
        theirs_is_extra = tuple(corners[theirs[place]]) < tuple(mesh[ours[place]])
        row = corners[theirs[place]] if theirs_is_extra else mesh[ours[place]]
        what = "is more often in the file than in the mesh" if theirs_is_extra else "of the mesh is not in the file"
        raise Error(
            f"{where}: the triangle {row.tolist()} {what}", "rg.import_tree", "it is damaged, or of another mesh"
        )
    numbers = np.zeros(len(corners), np.int64)
    numbers[theirs] = ours
    return numbers
