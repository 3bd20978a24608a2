"""What is wrong with a tree over moving geometry, in sentences: from what validation proves, from the boxes that the
tree has and those that it could have, and from its cost beside a new tree's."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..brief import brief, filled, percent
from ..errors import Error
from ..hierarchy.base import NodeTable
from ..hierarchy.bvh.own.tree import Tree
from .validation import Fault, Validation, table_walked, tree_walked, validate

ROOT_SIZED, MOST_ROOT_SIZED = 0.9, 0.5
"""A box of so much of the root's area is as large as the root; with more than this share of leaves it is a fault."""
DRIFTED, POOR = 1.5, 2.0
"""How much dearer than a new tree is a finding: after refits, and of a tree whose order tells nothing of space."""
STALE = 0.02
"""From this share of references that stand out of their leaves on, the tree is of another instant."""
SPANNED, FEW = 0.1, 0.01
COLLIDING, CROWD = 0.2, 8
"""From this share of primitives on whose 30-bit Morton code more than so many places have."""

Cost = Callable[[np.ndarray], float]


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that is wrong. `severity`: error (pictures are wrong), warning (it costs time), advice. `evidence` are
    the figures it rests on; `gain`, how many times cheaper rays get by the remedy, by SAH cost; None: not measured."""

    code: str
    severity: str
    sentence: str
    evidence: dict[str, Any]
    remedy: str
    gain: float | None = None


class Findings(tuple[Finding, ...]):
    """What was found, the worst kinds first as they come; empty where nothing is wrong."""

    __slots__ = ()

    @property
    def is_bad(self) -> bool:
        """Whether anything is more than advice."""
        return any(finding.severity != "advice" for finding in self)

    def raise_if_bad(self) -> None:
        """Raise an Error with the sentences of errors and warnings, where there are any: for continuous integration."""
        bad = [finding for finding in self if finding.severity != "advice"]
        if bad:
            said = " ".join(finding.sentence for finding in bad)
            raise Error(said.rstrip("."), "rg.diagnose", "; ".join(dict.fromkeys(one.remedy for one in bad)))

    def to_json(self) -> str:
        """All of them."""
        return json.dumps([dataclasses.asdict(finding) for finding in self], indent=2)

    def __str__(self) -> str:
        lines = [f"{one.severity}: {one.sentence} {one.remedy[:1].upper()}{one.remedy[1:]}." for one in self]
        return "\n".join(lines or ["Nothing is wrong."])


def diagnose_tree(
    tree: Tree | NodeTable,
    frames: list[np.ndarray],
    new_cost: Cost,
    *,
    splits_references: bool = False,
    seconds: Sequence[float] = (),
) -> tuple[Finding, ...]:
    """Of a tree over the boxes (N, 6) of `frames`, the last of which is now; of a few instants of a clip, which do not
    follow one another, `seconds` says when they are. `new_cost` gives the SAH cost of a tree that is built anew over
    boxes."""
    boxes = frames[-1]
    validation = validate(tree, boxes, splits_references=splits_references)
    faults = {fault.code: fault for fault in validation.faults}
    found = _of_links(tree, validation, faults)
    if validation.nodes == 0 or any(code in faults for code in ("leaf_out_of_range", "primitive_out_of_range")):
        return tuple(found)
    columns, walked = table_walked(tree) if isinstance(tree, NodeTable) else tree_walked(tree)
    shape = _Shape(columns, walked)
    if columns.bounds is not None:
        found += _of_boxes(shape, columns.bounds, frames, seconds, faults, validation)
    if not found and not splits_references and isinstance(tree, Tree):
        found += _of_cost(shape, frames, seconds, new_cost)
    return tuple(found)


def cost_of_table(table: NodeTable, boxes: np.ndarray) -> float:
    """The SAH cost of a structure's nodes over boxes, as that of other trees is counted."""
    shape = _Shape(*table_walked(table))
    return shape.cost(shape.bounds(boxes))


def diagnose_geometry(frames: list[np.ndarray], *, with_motion: bool = True) -> tuple[Finding, ...]:
    """Of boxes alone: what no tree can help, and what to build otherwise."""
    found, boxes = [], frames[-1]
    count = len(boxes)
    area = _areas(boxes)
    whole = float(_areas(_around(boxes))[0])
    large = np.argsort(area)[::-1][: max(1, int(FEW * count))]
    large = large[area[large] > 0.5 * whole]
    if count >= 32 and len(large) > 0:
        rest = float(_areas(_around(np.delete(boxes, large, axis=0)))[0])
        if rest < SPANNED * whole:
            rest_of = percent(rest / whole, 2)
            said = f"{len(large):,} of {count:,} primitives span the scene; the rest fills {rest_of} of its area."
            remedy = "leave them out of the tree, or cut them up; a far ground can be a light or a plane of its own"
            found.append(Finding("spanning_object", "warning", said, {"primitives": large[:20].tolist()}, remedy))
    shared = _colliding(boxes)
    if shared >= COLLIDING:
        others = f"{CROWD - 1} other places"
        said = f"{percent(shared)} of the primitives share their 30-bit Morton code with more than {others}."
        remedy = "choose 60-bit codes (lbvh:code_bits=60), or a builder without codes"
        found.append(Finding("codes_too_short", "advice", said, {"share": shared}, remedy))
    if with_motion and len(frames) > 1:
        if not np.any(frames[0]) and np.any(boxes):
            said = "The first frame is all zeros: a tree that is built over it and refitted knows nothing of space."
            found.append(Finding("zero_buffer", "error", said, {"frame": 0}, "build after the first real vertices"))
        still = float(np.mean(np.all([np.all(frames[0] == frame, axis=1) for frame in frames[1:]], axis=0)))
        if still >= 0.5:
            said = filled(
                "{share} of the primitives did not move in {count:,} frames.", share=percent(still), count=len(frames)
            )
            remedy = "keep them in a tree of their own that is not rebuilt (two_level), or update only what moves"
            found.append(Finding("unmoved", "advice", said, {"share": still, "frames": len(frames)}, remedy))
    return tuple(found)


# -- links and primitives ----------------------------------------------------------------------------------------------
def _of_links(tree: Tree | NodeTable, validation: Validation, faults: dict[str, Fault]) -> list[Finding]:
    found = []
    lost = faults.get("lost_primitive")
    if lost is not None and validation.unreached and isinstance(tree, Tree):
        children, count = np.asarray(tree.children), np.asarray(tree.count)
        is_above = (count == 0) & (children == 0).any(axis=1)
        is_unused = (children == np.arange(len(children))[:, None]).any(axis=1)  # zeros: tinybvh leaves row 1 so
        above = np.flatnonzero(is_above & ~is_unused)
        if len(above):
            outside = f"{validation.unreached:,} node{' lies' if validation.unreached == 1 else 's lie'} outside it"
            said = f"Row 0 is no root: it is a child of node {above[0]}; {outside}."
            evidence = {"parent": int(above[0]), "lost": lost.count}
            return [Finding("wrong_root", "error", said, evidence, "begin at the node that no other has as a child")]
    if "empty_leaf" in faults and isinstance(tree, Tree):
        fault = faults["empty_leaf"]
        length = _longest_chain(tree)
        more = f" In one place {length:,} of them follow one another." if length > 1 else ""
        remedy = "do not emit leaves of nothing: put the other child in the parent's place"
        of_chain: dict[str, Any] = {"node": fault.node, "count": fault.count, "chain": length}
        found.append(Finding("empty_leaf_chain", "warning", fault.sentence + more, of_chain, remedy))
    remedies = {
        "lost_primitive": "look at how the builder divides the last primitives of a node",
        "duplicate_primitive": "look at where two leaves' ranges meet",
    }
    boxes = ("child_outside", "primitive_outside", "empty_leaf")
    for code, fault in faults.items():
        if code not in boxes:
            remedy = remedies.get(code, "look at what writes this node")
            places: dict[str, Any] = {"node": fault.node, "count": fault.count}
            found.append(Finding(code, "error", fault.sentence, places, remedy))
    return found


def _longest_chain(tree: Tree) -> int:
    """The longest way on which every node has a leaf of nothing as a child."""
    columns, walked = tree_walked(tree)
    is_empty = np.zeros(len(columns.count), bool)
    is_empty[walked.empty] = True
    inner = walked.nodes[(columns.count[walked.nodes] == 0) & ~is_empty[walked.nodes]]
    has = np.zeros(len(columns.count), bool)
    has[inner] = is_empty[columns.children[inner]].any(axis=1)
    length = np.zeros(len(columns.count), np.int64)
    for node in inner:  # parents come first
        above = walked.parent[node]
        length[node] = (length[above] if above >= 0 else 0) + 1 if has[node] else 0
    return int(length.max(initial=0))


# -- boxes -------------------------------------------------------------------------------------------------------------
class _Shape:
    """A tree's links, and what they cost over any boxes."""

    def __init__(self, columns: Any, walked: Any) -> None:
        self.nodes, self.parent, self.leaves, count = walked.nodes, walked.parent, walked.leaves, columns.count
        self.count = count
        sizes = count[self.leaves]
        begins = np.cumsum(sizes) - sizes
        self.listed_in = np.repeat(self.leaves, sizes)
        places = np.arange(len(self.listed_in)) - np.repeat(begins - columns.first[self.leaves], sizes)
        self.listed = columns.primitives[places]
        self.children = columns.children
        depth, above = np.zeros(len(count), np.int64), self.parent.copy()
        while (above >= 0).any():
            depth += above >= 0
            above = np.where(above >= 0, self.parent[above], -1)
        order = np.argsort(depth[self.nodes], kind="stable")
        self.levels = np.split(self.nodes[order], np.flatnonzero(np.diff(depth[self.nodes][order])) + 1)

    def bounds(self, boxes: np.ndarray) -> np.ndarray:
        """The smallest boxes of all nodes."""
        found = np.full((len(self.count), 6), np.inf, np.float32)
        found[:, 3:] = -np.inf
        held = boxes[self.listed]
        active = np.isfinite(held).all(axis=1) & (held[:, :3] <= held[:, 3:]).all(axis=1)
        np.minimum.at(found[:, :3], self.listed_in[active], held[active, :3])
        np.maximum.at(found[:, 3:], self.listed_in[active], held[active, 3:])
        for level in reversed(self.levels[1:]):
            np.minimum.at(found[:, :3], self.parent[level], found[level, :3])
            np.maximum.at(found[:, 3:], self.parent[level], found[level, 3:])
        return found

    def cost(self, bounds: np.ndarray) -> float:
        """The SAH cost with both constants 1."""
        area = _areas(bounds[self.nodes])
        whole = float(area[0])
        return float((area * np.maximum(self.count[self.nodes], 1)).sum() / whole) if whole > 0.0 else 0.0


def _of_boxes(
    shape: _Shape,
    bounds: np.ndarray,
    frames: list[np.ndarray],
    seconds: Sequence[float],
    faults: dict[str, Fault],
    validation: Validation,
) -> list[Finding]:
    boxes, root = frames[-1], bounds[shape.nodes[0]]
    whole = float(_areas(root[None])[0])
    outside = faults.get("primitive_outside")
    if whole == 0.0 and outside is not None and not np.any(bounds[shape.nodes]):
        said = "All boxes of the tree are zero: it was built over a buffer of zeros and never updated."
        evidence = {"outside": outside.count}
        return [Finding("zero_buffer", "error", said, evidence, "build after the vertices are written, or refit")]
    tight = shape.bounds(boxes)
    sized = _areas(bounds[shape.leaves]) >= ROOT_SIZED * whole
    needed = _areas(tight[shape.leaves]) >= ROOT_SIZED * float(_areas(tight[shape.nodes[:1]])[0])
    share = float(np.mean(sized & ~needed)) if len(shape.leaves) > 1 else 0.0
    if share > MOST_ROOT_SIZED and outside is None:
        gain = shape.cost(bounds) / max(shape.cost(tight), 1e-30)
        said = f"{percent(share)} of the leaves have a box as large as the root's: every ray tests every primitive."
        remedy = "a refit begins with empty boxes, and grows each by its own primitives alone"
        return [Finding("root_sized", "error", said, {"share": share}, remedy, gain)]
    if outside is not None and outside.count >= STALE * validation.references:
        older = [place for place, frame in enumerate(frames[:-1]) if _fits(shape, bounds, frame)]
        age = f" They fit the pose {_earlier(max(older), frames, seconds)}." if older else ""
        share = outside.count / max(validation.references, 1)
        far = _farthest(shape, bounds, boxes)
        said = (
            f"{percent(share)} of the primitives stand out of their leaves, by up to {brief(far)} (the scene's "
            f"diagonal is {brief(_diagonal(boxes))}): the tree is of another pose.{age}"
        )
        remedy = "update the tree (refit or rebuild) after the vertices move, and before rays are traced"
        of_pose: dict[str, Any] = {"outside": outside.count, "frames": older, "farthest": far}
        return [Finding("stale_pose", "error", said, of_pose, remedy)]
    return [
        Finding(
            code,
            "error",
            faults[code].sentence,
            {"node": faults[code].node, "count": faults[code].count},
            "refit bottom-up: a parent only after both children",
        )  # fmt: skip
        for code in ("child_outside", "primitive_outside")
        if code in faults
    ]


def _farthest(shape: _Shape, bounds: np.ndarray, boxes: np.ndarray) -> float:
    """How far primitives stand out of their leaves along an axis, at the most; of those that are finite."""
    held, around = boxes[shape.listed].astype(np.float64), bounds[shape.listed_in]
    out = np.maximum(around[:, :3] - held[:, :3], held[:, 3:] - around[:, 3:])
    return float(out[np.isfinite(out)].max(initial=0.0))


def _diagonal(boxes: np.ndarray) -> float:
    finite = boxes[np.isfinite(boxes).all(axis=1)].astype(np.float64)
    return float(np.linalg.norm(finite[:, 3:].max(axis=0) - finite[:, :3].min(axis=0))) if len(finite) else 0.0


def _fits(shape: _Shape, bounds: np.ndarray, boxes: np.ndarray) -> bool:
    held, around = boxes[shape.listed], bounds[shape.listed_in]
    return bool((held[:, :3] >= around[:, :3]).all() and (held[:, 3:] <= around[:, 3:]).all())


# -- cost --------------------------------------------------------------------------------------------------------------
def _of_cost(shape: _Shape, frames: list[np.ndarray], seconds: Sequence[float], new_cost: Cost) -> list[Finding]:
    boxes = frames[-1]
    if len(boxes) < 8 or not np.isfinite(boxes).all():
        return []
    cost, new = shape.cost(shape.bounds(boxes)), new_cost(boxes)
    ratio = cost / new if new > 0.0 else 1.0
    if ratio < DRIFTED:
        return []
    evidence: dict[str, Any] = {"sah_cost": cost, "sah_cost_new": new}
    ascending = float(np.mean(np.diff(shape.listed[np.argsort(_depth_first(shape), kind="stable")]) == 1))
    if ratio >= POOR and ascending > 0.95:
        said = (
            f"The leaves list the primitives in the order of their numbers, and rays cost {ratio:.1f} times what "
            "they do in a new tree: it was built where all boxes were alike, over zeros, say, and only refitted since."
        )
        remedy = "rebuild once after the first real vertices"
        return [Finding("zero_buffer", "warning", said, evidence, remedy, ratio)]
    was = [shape.cost(shape.bounds(frame)) / max(new_cost(frame), 1e-30) for frame in frames[:-1]]
    if was and min(was) * 1.3 < ratio:
        best = int(np.argmin(was))
        fitted = f"the pose {_earlier(best, frames, seconds)}" if seconds else f"frame {best}"
        since = "since" if seconds else f"in the {_frames(len(frames) - 1 - best)} since"
        said = (
            f"The tree fits {fitted}, and was refitted alone {since}: rays cost {ratio:.2f} times what they do in "
            f"a new tree, then {was[best]:.2f} times."
        )
        return [Finding("refit_only", "warning", said, evidence, "rebuild now and then: rg.advise says when", ratio)]
    return []


def _earlier(place: int, frames: list[np.ndarray], seconds: Sequence[float]) -> str:
    """When one of the frames was, beside now, the last of them."""
    return f"at {brief(seconds[place])} s" if seconds else f"{_frames(len(frames) - 1 - place)} earlier"


def _frames(count: int) -> str:
    return f"{count:,} frame{'s' * (count != 1)}"


def _depth_first(shape: _Shape) -> np.ndarray:
    """The rank of each reference's leaf, from left to right."""
    below = np.bincount(shape.listed_in, minlength=len(shape.count))
    for level in reversed(shape.levels[1:]):
        np.add.at(below, shape.parent[level], below[level])
    begins = np.zeros(len(shape.count), np.int64)
    for level in shape.levels[:-1]:
        inner = level[shape.count[level] == 0]
        left, right = shape.children[inner].T
        begins[left], begins[right] = begins[inner], begins[inner] + below[left]
    found: np.ndarray = begins[shape.listed_in]
    return found


# -- boxes as numbers --------------------------------------------------------------------------------------------------
def _areas(boxes: np.ndarray) -> np.ndarray:
    x, y, z = np.maximum(boxes[:, 3:].astype(np.float64) - boxes[:, :3], 0.0).T
    found: np.ndarray = x * y + y * z + z * x
    return found


def _around(boxes: np.ndarray) -> np.ndarray:
    return np.hstack([boxes[:, :3].min(axis=0), boxes[:, 3:].max(axis=0)])[None]


def _colliding(boxes: np.ndarray) -> float:
    """The share of places whose cell, of 1,024 a side, has more than CROWD of them."""
    centres = np.unique((boxes[:, :3].astype(np.float64) + boxes[:, 3:]) / 2, axis=0)
    side = np.ptp(centres, axis=0)
    cells = ((centres - centres.min(axis=0)) / np.where(side > 0, side, 1.0) * 1023.999).astype(np.int64)
    _, inverse, times = np.unique(cells @ np.array([1 << 20, 1 << 10, 1]), return_inverse=True, return_counts=True)
    return float(np.mean(times[inverse] > CROWD))
