"""Trees proved sound by kernels, on whatever target: everything that validation.py looks for is counted. Where nothing
speaks against a tree, that is its proof; where anything does, validation.py says what it is and names the first bad
node.

A tree whose numbers are of other types than kernels read, that has nodes which no parent but an unreached one leads to
twice, or leaves of more than LONG_LEAF primitives, is left to validation.py, too.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import numpy as np

from ..hierarchy.base import NodeTable
from ..hierarchy.bvh.own.tree import MOST_DEPTH, Tree
from ..rows import Struct
from ..target.base import Array, Target, Unit, UnitSource
from .validation import Validation, validate

LONG_LEAF = 1 << 12
"""References that one thread looks at, one after the other."""

LEAST_NODES = 1 << 15
"""Smaller trees are looked at on the host before kernels are compiled or loaded."""

_FARTHEST = np.array([np.finfo(np.float32).max] * 3 + [-np.finfo(np.float32).max] * 3, np.float32)

Count = Annotated[int, "uint64"]


@dataclasses.dataclass(frozen=True)
class Tally(Struct):
    """What kernels count. `largest_bits` are those of the largest coordinate of boxes that are any; `deepest` counts
    the nodes above the deepest one."""

    reached: Count
    leaves: Count
    references: Count
    listed: Count
    deepest: Count
    largest_bits: Count
    long_leaves: Count
    bad_links: Count
    bad_boxes: Count
    children_outside: Count
    bad_ranges: Count
    bad_primitives: Count
    primitives_outside: Count
    duplicates: Count
    lost: Count


FIELDS = tuple(field.name for field in dataclasses.fields(Tally))
AGAINST = FIELDS[FIELDS.index("long_leaves") :]
"""What is 0 in a tree that is proved."""


@dataclasses.dataclass(frozen=True, eq=False)
class Uploaded:
    """A tree and boxes on a target: of a table `parent` and `is_leaf` are given, of a tree of a file `children`.
    `lower` and `upper` of a node lie `stride` floats behind those of the one before it."""

    arrays: dict[str, Array]
    index: str
    stride: int
    nodes: int
    references: int
    boxes: Array
    depth: int = 0


def validate_on(
    target: Target, tree: Tree | NodeTable, boxes: np.ndarray, splits_references: bool = False, ulps: int = 1
) -> Validation:
    """What `validate` finds, in the time that it takes the target where the tree is large and sound. Waits."""
    nodes = len(tree) if isinstance(tree, NodeTable) else np.size(tree.count)
    if nodes >= LEAST_NODES:
        there = uploaded(target, tree, boxes)
        found = None if there is None else proved(target, there, splits_references=splits_references, ulps=ulps)
        if found is not None:
            return found
    return validate(tree, boxes, splits_references=splits_references, ulps=ulps)


def uploaded(target: Target, tree: Tree | NodeTable, boxes: np.ndarray) -> Uploaded | None:
    """A tree and boxes for `proved`, as they are; None where kernels do not read such arrays."""
    columns = _of_table(tree) if isinstance(tree, NodeTable) else _of_tree(tree)
    if columns is None or not len(boxes) or not _is_rows(boxes, np.float32, (len(boxes), 6)):
        return None
    arrays: dict[str, Array] = dict.fromkeys(("children", "is_leaf", "parent", "lower", "upper", "primitives"))
    arrays |= {name: target.upload(values, "analysis") for name, values in columns.items() if values.size}
    stride, index = 3, "int64" if columns["first"].dtype == np.int64 else "int"
    if "bounds" in columns:
        bounds = arrays.pop("bounds").reshape(-1)
        arrays["lower"], arrays["upper"], stride = bounds, bounds[3:], 6
    nodes, references = len(columns["first"]), len(columns["primitives"])
    depth = 0 if isinstance(tree, Tree) else int(tree.depth.max()) + 1
    return Uploaded(arrays, index, stride, nodes, references, target.upload(boxes, "analysis"), depth)


def proved(target: Target, there: Uploaded, *, splits_references: bool = False, ulps: int = 1) -> Validation | None:
    """What there is to say of a tree that is sound; None where anything speaks against it. Waits."""
    tally = tallied(target, there, splits_references, ulps)
    if any(tally[name] for name in AGAINST) or tally["listed"] > 4 * there.references + 64:
        return None
    depth = there.depth or tally["deepest"] + 1
    unreached, reached = there.nodes - tally["reached"], tally["reached"]
    return Validation(reached, tally["leaves"], tally["references"], len(there.boxes), depth, unreached, ())


def tallied(target: Target, there: Uploaded, splits_references: bool, ulps: int) -> dict[str, int]:
    """What the kernels count. Where leaves list too much to look at, only that."""
    is_table, nodes, count = there.arrays["is_leaf"] is not None, there.nodes, len(there.boxes)
    constants = {"MOST_DEPTH": MOST_DEPTH, "LONG_LEAF": LONG_LEAF, "IS_TABLE": is_table, "SPLITS": splits_references}
    source = UnitSource(
        "gpu/analysis/validation.cu", aliases=(("Index", there.index),), constants=(*constants.items(),)
    )
    unit, tally = target.unit(source), target.zeros(len(FIELDS), np.uint64, "analysis")
    given = {name: array for name, array in there.arrays.items() if name != "parent"}
    links = _links(target, unit, there, tally)
    is_active = target.empty(count, np.uint8, "analysis")
    about = {"boxes": there.boxes, "box_count": count, "is_active": is_active, "tally": tally}
    target.launch(unit, "look_at_boxes", count, **about)
    listed = {"count": given["count"], "is_leaf": given["is_leaf"], "level": links["level"]}
    target.launch(unit, "count_listed", nodes, **listed, node_count=nodes, tally=tally)
    found = _read(target, tally)
    if found["long_leaves"] or found["listed"] > 4 * there.references + 64:
        return found
    largest = np.array(found["largest_bits"], np.int32).view(np.float32)
    slack, is_hulled = ulps * float(np.spacing(largest)), splits_references and given["lower"] is not None
    about |= {"times": target.zeros(count, np.int32, "analysis"), "slack": slack}
    about["hull"] = target.upload(np.tile(_ordered(_FARTHEST), (count, 1)), "analysis") if is_hulled else None
    of_nodes = {name: given[name] for name in ("count", "lower", "upper")} | {"level": links["level"]}
    of_nodes |= {"stride": there.stride, "node_count": nodes}
    linked = {"children": given["children"], "parent": links["parent"], "slack": slack, "tally": tally}
    target.launch(unit, "look_at_nodes", nodes, **of_nodes, **linked)
    lists = {name: given[name] for name in ("is_leaf", "first", "primitives")}
    target.launch(unit, "look_at_leaves", nodes, **of_nodes, **lists, **about, reference_count=there.references)
    target.launch(unit, "look_at_primitives", count, **about)
    return _read(target, tally)


def _links(target: Target, unit: Unit, there: Uploaded, tally: Array) -> dict[str, Array]:
    """The parent of each node, and how many lie above it."""
    arrays, nodes = there.arrays, there.nodes
    if arrays["parent"] is not None:
        return {"parent": arrays["parent"], "level": None}
    parent, level = (target.empty(nodes, np.int32, "analysis") for _ in range(2))
    target.fill(parent, -1)
    target.launch(unit, "note_parents", nodes, children=arrays["children"], count=arrays["count"], node_count=nodes,
                  parent=parent, tally=tally)  # fmt: skip
    target.launch(unit, "climb", nodes, parent=parent, node_count=nodes, level=level)
    return {"parent": parent, "level": level}


def _read(target: Target, tally: Array) -> dict[str, int]:
    return dict(zip(FIELDS, target.download(tally).tolist(), strict=True))


def _of_table(table: NodeTable) -> dict[str, np.ndarray] | None:
    """A table's columns, boxes as they lie: `lower` and `upper` of most tables are the halves of rows of six."""
    lower, upper = table.lower, table.upper
    columns = {"parent": table.parent, "first": table.first_reference, "count": table.reference_count}
    columns |= {"primitives": table.references, "is_leaf": table.is_leaf.view(np.uint8)}
    halves = lower.strides == upper.strides == (24, 4) and upper.ctypes.data - lower.ctypes.data == 12
    if halves and lower.dtype == upper.dtype == np.float32:
        columns["bounds"] = np.lib.stride_tricks.as_strided(lower, (len(lower), 6), (24, 4), writeable=False)
    else:
        columns |= {"lower": lower, "upper": upper}
    kinds = {"is_leaf": np.uint8, **dict.fromkeys(("lower", "upper", "bounds"), np.float32)}
    fits = all(values.dtype == kinds.get(name, np.int32) for name, values in columns.items())
    return columns if len(table) and fits else None


def _of_tree(tree: Tree) -> dict[str, np.ndarray] | None:
    """The columns of a tree of a file, where all of them have one type of integers."""
    nodes = np.size(tree.count)
    columns: dict[str, Any] = {name: getattr(tree, name) for name in ("children", "first", "count", "primitives")}
    kind = getattr(tree.count, "dtype", None)
    shapes = {"children": (nodes, 2), "first": (nodes,), "count": (nodes,)}
    fits = kind in (np.int32, np.int64) and nodes and len(tree.primitives)
    fits = fits and all(_is_rows(one, kind, shapes.get(name)) for name, one in columns.items())
    if not fits or (tree.bounds is not None and not _is_rows(tree.bounds, np.float32, (nodes, 6))):
        return None
    return columns if tree.bounds is None else columns | {"bounds": tree.bounds}


def _is_rows(values: Any, kind: Any, shape: tuple[int, ...] | None) -> bool:
    """Whether these are an array of that type and shape; None: a plain list."""
    is_array = isinstance(values, np.ndarray) and values.dtype == kind
    return is_array and (values.ndim == 1 if shape is None else values.shape == shape)


def _ordered(values: np.ndarray) -> np.ndarray:
    """Floats as integers of the same order (atomics.cuh)."""
    bits = values.view(np.int32)
    return np.where(bits >= 0, bits, bits ^ 0x7FFFFFFF)
