"""Whether a tree is one and fits the primitives of this instant: every kind of fault, with the first bad node of each.

Columns are looked at by blocks, on all cores: numpy lets go of the interpreter while it works. Links are walked before
anything follows an index, so that trees of files may be anything."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from ..errors import Error
from ..hierarchy.base import NodeTable
from ..hierarchy.bvh.own.tree import Columns, Tree, TreeError, columns_of, levels_and_parents, shown_box

BLOCK = 1 << 17
"""Rows that are looked at together."""


@dataclasses.dataclass(frozen=True)
class Fault:
    """A kind of fault: its `code`, the first bad `node` (None where no node is to blame), a sentence that names it, and
    how often it was found (`count`)."""

    code: str
    node: int | None
    sentence: str
    count: int = 1


@dataclasses.dataclass(frozen=True)
class Validation:
    """What `rg.validate` found. `nodes`, `leaves` and `references` are those that the root leads to, `unreached` the
    rows that it does not; `depth` counts nodes on the longest way. True in a condition where there is no fault."""

    nodes: int
    leaves: int
    references: int
    primitives: int
    depth: int
    unreached: int
    faults: tuple[Fault, ...]

    @property
    def is_valid(self) -> bool:
        """Whether there is no fault."""
        return not self.faults

    def __bool__(self) -> bool:
        return self.is_valid

    @property
    def sentence(self) -> str:
        """The first fault, or what was proved."""
        if self.faults:
            return self.faults[0].sentence
        return (
            f"The tree is sound: {self.nodes:,} nodes, {self.references:,} references to {self.primitives:,} "
            "primitives, and every box holds what is below it."
        )

    def raise_if_bad(self) -> None:
        """Raise an Error with the sentences of all faults, where there are any: for continuous integration."""
        if self.faults:
            said = " ".join(fault.sentence for fault in self.faults)
            raise Error(said.rstrip("."), "rg.validate", "rg.diagnose says what to do")

    def to_json(self) -> str:
        """All of it, and the sentence."""
        return json.dumps({**dataclasses.asdict(self), "is_valid": self.is_valid, "sentence": self.sentence}, indent=2)


class Walked(NamedTuple):
    """What the root leads to: `nodes` in the order of levels, the `parent` of each row, the rows of `leaves`, and of
    leaves that hold nothing."""

    nodes: np.ndarray
    parent: np.ndarray
    leaves: np.ndarray
    empty: np.ndarray
    depth: int


def validate(
    tree: Tree | NodeTable, boxes: np.ndarray, *, splits_references: bool = False, ulps: int = 1
) -> Validation:
    """Look at a tree over `boxes` (N, 6), lower and upper. A box may stand out by `ulps` roundings of the largest
    coordinate. Primitives without a box, not finite
    or inverted, need not be listed."""
    try:
        columns, walked = table_walked(tree) if isinstance(tree, NodeTable) else tree_walked(tree)
    except TreeError as error:
        return Validation(0, 0, 0, len(boxes), 0, 0, (Fault(error.code, error.node, _begun(str(error))),))
    faults: list[Fault] = []
    if len(walked.empty):
        node = int(walked.empty[0])
        more = f", as are {len(walked.empty) - 1:,} others" if len(walked.empty) > 1 else ""
        faults.append(Fault("empty_leaf", node, f"Node {node} is a leaf of no primitive{more}.", len(walked.empty)))
    listed, listed_in, wrong = _listed(columns, walked.leaves, len(boxes))
    faults += wrong
    is_active = _by_blocks(lambda rows: ~(_is_none(boxes[rows]) | _is_inverted(boxes[rows])), len(boxes))
    faults += _times_faults(listed, listed_in, is_active, splits_references)
    if columns.bounds is not None:
        largest = np.abs(boxes[is_active]).max(initial=0.0)
        slack = ulps * float(np.spacing(np.float32(largest)))
        may_be_empty = isinstance(tree, NodeTable)
        faults += _box_faults(columns.bounds, walked, slack, may_be_empty)
        held = is_active[listed]
        if not held.all():
            listed, listed_in = listed[held], listed_in[held]
        faults += _held_faults(columns.bounds, boxes, listed, listed_in, slack, splits_references)
    return Validation(
        len(walked.nodes), len(walked.leaves), len(listed_in), len(boxes), walked.depth,
        len(columns.count) - len(walked.nodes), tuple(faults),
    )  # fmt: skip


# -- links -------------------------------------------------------------------------------------------------------------
def tree_walked(tree: Tree) -> tuple[Columns, Walked]:
    """A tree's columns and what its root leads to. A node of no primitives with -1 as both children is a leaf of
    nothing."""
    columns = columns_of(tree, False)
    is_empty = (columns.count == 0) & (columns.children[:, 0] == -1) & (columns.children[:, 1] == -1)
    if is_empty.any():
        levels, parent = levels_and_parents(dataclasses.replace(columns, count=np.where(is_empty, 1, columns.count)))
    else:
        levels, parent = levels_and_parents(columns)
    nodes = np.concatenate(levels)
    leaves, empty = nodes[columns.count[nodes] > 0], nodes[is_empty[nodes]]
    return columns, Walked(nodes, parent, leaves, empty, sum(len(level) > 0 for level in levels))


def table_walked(table: NodeTable) -> tuple[Columns, Walked]:
    """A structure's own nodes, of any width."""
    rows, parent = np.arange(len(table)), table.parent.astype(np.int64)
    is_wrong = (parent >= rows) | (parent < -1) | ((parent == -1) != (rows == 0))
    if is_wrong.any():
        node = int(np.argmax(is_wrong))
        raise TreeError(f"node {node} has the parent {parent[node]}: parents come first", code="cycle", node=node)
    bounds = np.hstack([table.lower, table.upper])
    none = np.zeros((0, 2), np.int64)
    count = np.where(table.is_leaf, table.reference_count, 0).astype(np.int64)
    columns = Columns(none, table.first_reference.astype(np.int64), count, table.references.astype(np.int64), bounds)
    depth = int(table.depth.max(initial=-1)) + 1
    return columns, Walked(rows, parent, rows[count > 0], rows[:0], depth)


# -- primitives --------------------------------------------------------------------------------------------------------
def _listed(columns: Columns, leaves: np.ndarray, box_count: int) -> tuple[np.ndarray, np.ndarray, list[Fault]]:
    """The primitives of the leaves and the leaf of each, those left out that cannot be followed."""
    faults, (first, count, have) = [], (columns.first[leaves], columns.count[leaves], len(columns.primitives))
    is_outside = (first < 0) | (count > have) | (first > have - count)
    if is_outside.any():
        place = int(np.argmax(is_outside))
        node, begin, end = int(leaves[place]), first[place], first[place] + count[place]
        said = f"Node {node} is a leaf of primitives[{begin}:{end}], and primitives has {have:,} entries."
        faults.append(Fault("leaf_out_of_range", node, said, int(is_outside.sum())))
        leaves, first, count = leaves[~is_outside], first[~is_outside], count[~is_outside]
    if int(count.sum()) > 4 * have + 64:  # ranges that overlap: what they list would outgrow the file
        many, excess = leaves, int(np.searchsorted(np.cumsum(count), 4 * have + 64))
        said = f"Node {many[excess]} is one of leaves that list {int(count.sum()):,} primitives of {have:,} entries."
        faults.append(Fault("leaf_out_of_range", int(many[excess]), said))
        leaves, first, count = leaves[:excess], first[:excess], count[:excess]
    listed_in = np.repeat(leaves, count)
    listed = columns.primitives[np.arange(len(listed_in)) - np.repeat(np.cumsum(count) - count - first, count)]
    is_wrong = (listed < 0) | (listed >= box_count)
    if is_wrong.any():
        place = int(np.argmax(is_wrong))
        said = f"Node {listed_in[place]} lists primitive {listed[place]}; there are {box_count:,}, counted from 0."
        faults.append(Fault("primitive_out_of_range", int(listed_in[place]), said, int(is_wrong.sum())))
        listed, listed_in = listed[~is_wrong], listed_in[~is_wrong]
    return listed, listed_in, faults


def _times_faults(
    listed: np.ndarray, listed_in: np.ndarray, is_active: np.ndarray, splits_references: bool
) -> list[Fault]:
    """What is in no leaf, and what is in two."""
    faults = []
    times = np.bincount(listed, minlength=len(is_active))
    missing = np.flatnonzero((times == 0) & is_active)
    if len(missing):
        others = f", nor are {len(missing) - 1:,} others" if len(missing) > 1 else ""
        said = f"Primitive {missing[0]} is in no leaf that the root leads to{others}."
        faults.append(Fault("lost_primitive", None, said, len(missing)))
    if not splits_references and (times > 1).any():
        again = int(np.argmax(times[listed] > 1))
        before, behind = np.flatnonzero(listed == listed[again])[:2]
        where = "twice" if listed_in[before] == listed_in[behind] else f"which node {listed_in[before]} lists already"
        said = (
            f"Node {listed_in[behind]} lists primitive {listed[again]} {where}: each is in one leaf, unless "
            "splits_references says that primitives are split."
        )
        faults.append(Fault("duplicate_primitive", int(listed_in[behind]), said, int((times > 1).sum())))
    return faults


# -- boxes -------------------------------------------------------------------------------------------------------------
def _box_faults(bounds: np.ndarray, walked: Walked, slack: float, may_be_empty: bool) -> list[Fault]:
    """Boxes that are none, and children that stand out."""
    nodes, parent, faults = walked.nodes, walked.parent, []

    def looked_at(rows: slice) -> tuple[np.ndarray, ...]:
        found = bounds[nodes[rows]]
        above = bounds[np.maximum(parent[nodes[rows]], 0)]  # the root has none: it holds itself
        stands_out = _stands_out(found, above, slack)
        return (stands_out,) if may_be_empty else (stands_out, _is_none(found), _is_inverted(found))

    (stands_out, child), *boxes_wrong = _found(looked_at, len(nodes))
    for (count, place), code, what in zip(
        boxes_wrong,
        ("box_not_finite", "box_inverted"),
        ("a box that is not finite", "a box whose lower corner lies above its upper one"),
        strict=False,
    ):
        if count:
            node = int(nodes[place])
            faults.append(Fault(code, node, f"Node {node} has {what}: {shown_box(bounds[node])}.", count))
    if stands_out:
        child = int(nodes[child])
        above = int(parent[child])
        said = f"Node {above} has the box {shown_box(bounds[above])}, which does not hold that of its child {child}"
        faults.append(Fault("child_outside", above, f"{said}, {shown_box(bounds[child])}.", stands_out))
    return faults


def _held_faults(
    bounds: np.ndarray,
    boxes: np.ndarray,
    listed: np.ndarray,
    listed_in: np.ndarray,
    slack: float,
    splits_references: bool,
) -> list[Fault]:
    """Primitives that stand out of their leaf; of split ones, out of all their leaves together, or away from one."""

    def stands_out(rows: slice) -> np.ndarray:
        return _stands_out(boxes[listed[rows]], bounds[listed_in[rows]], slack)

    def is_away(rows: slice) -> np.ndarray:
        held, around = boxes[listed[rows]], bounds[listed_in[rows]]
        return _any_axis(lambda x: (held[:, x] > around[:, x + 3] + slack) | (held[:, x + 3] < around[:, x] - slack))

    is_wrong, verb = (is_away, "meet") if splits_references else (stands_out, "hold")
    ((count, place),) = _found(lambda rows: (is_wrong(rows),), len(listed))
    if count:
        node, primitive = int(listed_in[place]), int(listed[place])
        said = f"Leaf {node} has the box {shown_box(bounds[node])}, which does not {verb} primitive {primitive}"
        more = f" ({count:,} of {len(listed):,} references)" if count > 1 else ""
        said = f"{said}, {shown_box(boxes[primitive])}{more}: the tree is not of this geometry, or of another instant."
        return [Fault("primitive_outside", node, said, count)]
    if not splits_references or not len(listed):
        return []
    lower, upper = np.full((len(boxes), 3), np.inf, np.float32), np.full((len(boxes), 3), -np.inf, np.float32)
    np.minimum.at(lower, listed, bounds[listed_in, :3])
    np.maximum.at(upper, listed, bounds[listed_in, 3:])
    known = np.unique(listed)
    is_out = _stands_out(boxes[known], np.hstack([lower[known], upper[known]]), slack)
    if not is_out.any():
        return []
    primitive = int(known[np.argmax(is_out)])
    node = int(listed_in[np.argmax(listed == primitive)])
    said = (
        f"Primitive {primitive}, {shown_box(boxes[primitive])}, stands out of all its leaves together, as leaf {node}"
    )
    return [Fault("primitive_outside", node, f"{said}.", int(is_out.sum()))]


def _stands_out(inside: np.ndarray, around: np.ndarray, slack: float) -> np.ndarray:
    """Which rows' boxes are not within those around them, by more than `slack`. Boxes of nothing are."""
    found = _any_axis(lambda x: (inside[:, x] < around[:, x]) | (inside[:, x + 3] > around[:, x + 3]))
    rows = np.flatnonzero(found)
    if len(rows):
        small, large = inside[rows].astype(np.float64), around[rows].astype(np.float64)
        with np.errstate(invalid="ignore"):
            is_wrong = (small[:, :3] < large[:, :3] - slack) | (small[:, 3:] > large[:, 3:] + slack)
        found[rows] = np.any(is_wrong, axis=1) & np.all(small[:, :3] <= small[:, 3:], axis=1)
    return found


def _is_none(boxes: np.ndarray) -> np.ndarray:
    """Which rows are not finite."""
    return _any_axis(lambda x: ~(np.isfinite(boxes[:, x]) & np.isfinite(boxes[:, x + 3])))


def _is_inverted(boxes: np.ndarray) -> np.ndarray:
    """Which rows have a lower corner above the upper one."""
    return _any_axis(lambda x: boxes[:, x] > boxes[:, x + 3])


def _any_axis(holds: Callable[[int], np.ndarray]) -> np.ndarray:
    """Whether it holds of x, y or z: a column after the other, which numpy is several times as fast at as at `any`
    along rows of three."""
    found = holds(0)
    found |= holds(1)
    found |= holds(2)
    return found


def _blocks(count: int) -> list[slice]:
    return [slice(begin, min(begin + BLOCK, count)) for begin in range(0, max(count, 1), BLOCK)]


def _by_blocks(look: Callable[[slice], np.ndarray], count: int) -> np.ndarray:
    """What is found of all rows, truths."""
    result = np.zeros(count, bool)

    def fill(rows: slice) -> None:
        result[rows] = look(rows)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, _blocks(count)))
    return result


def _found(looked_at: Callable[[slice], tuple[np.ndarray, ...]], count: int) -> list[tuple[int, int]]:
    """Of each thing that rows are looked at for: how many are wrong, and the first of them, -1 where none is."""

    def counted(rows: slice) -> list[tuple[int, int]]:
        looked = looked_at(rows)
        return [(int(np.count_nonzero(one)), rows.start + int(np.argmax(one)) if len(one) else -1) for one in looked]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(counted, _blocks(count)))
    return [
        (sum(many for many, _ in things), next((place for many, place in things if many), -1))
        for things in zip(*found, strict=True)
    ]


def boxes_of(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(N, 6) float32, the boxes of triangles."""
    boxes = np.empty((len(triangles), 6), np.float32)

    def fill(rows: slice) -> None:
        a, b, c = (vertices[triangles[rows, corner]] for corner in range(3))
        boxes[rows, :3] = np.minimum(np.minimum(a, b), c)
        boxes[rows, 3:] = np.maximum(np.maximum(a, b), c)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, _blocks(len(triangles))))
    return boxes


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]
