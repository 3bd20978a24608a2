"""Trees of anybody's, judged: what the library says of a tree over a caller's geometry."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis.diagnosis import Findings, cost_of_table, diagnose_geometry, diagnose_tree
from ..analysis.frame_bounds import frame_faults
from ..analysis.proved_trees import validate_on
from ..analysis.validation import Validation, boxes_of
from ..analysis.validation import validate as validate_boxes
from ..errors import Error
from ..hierarchy.base import NodeTable
from ..hierarchy.bvh.own.tree import Tree
from ..target.base import Target
from ..target.foreign import on_host
from . import arrays
from .clips import Clip
from .scenes import Scene
from .trees import Structure


def validate(
    tree: Any,
    shape: Any = None,
    triangles: Any = None,
    *,
    time: float = 0.0,
    splits_references: bool | None = None,
    ulps: int = 1,
    target: Target | None = None,
) -> Validation:
    """Whether a tree is one, and is up to date with its geometry: links without cycles, each primitive in exactly one
    leaf (one or more with `splits_references`, by default as the tree says), every child in its parent's box and every
    primitive in its leaf's, to `ulps` roundings of the largest coordinate. All kinds of faults are found, each with
    its first bad node.

    `tree` is a rg.Tree, a structure's `nodes()`, or a Structure, which is asked about its own scene as it is now.
    A tree that has `frame_bounds` is looked at over a rg.Clip in each of those frames, too.

    `shape` is what the tree has to fit: vertices (V, 3) with `triangles` (N, 3), a rg.Clip at `time` seconds, a
    rg.Scene, or the boxes (N, 6) of primitives. Primitives that are not finite need not be in it. With a `target` its
    kernels look at a large tree; numpy does else.

    Raises Error where the geometry is none; what is wrong with the tree is in the answer.

    >>> import raygrove as rg
    >>> tree = rg.Tree(children=[[1, 2], [0, 0], [0, 0]], first=[0, 0, 1], count=[0, 1, 1], primitives=[0, 0])
    >>> found = rg.validate(tree, [[0, 0, 0, 1, 1, 1], [2, 0, 0, 3, 1, 1]])
    >>> found.is_valid, [fault.code for fault in found.faults]
    (False, ['lost_primitive', 'duplicate_primitive'])
    """
    if isinstance(tree, Structure):
        if shape is not None:
            raise Error("a structure has its scene", "rg.validate", "give the structure alone, or its nodes()")
        return tree.validate(ulps=ulps)
    if not isinstance(tree, Tree | NodeTable):
        raise Error(f"a tree is a rg.Tree or a rg.Structure, not {type(tree).__name__}", "rg.validate", "give one")
    boxes = host_boxes(shape, triangles, time)
    splits = getattr(tree, "splits_references", False) if splits_references is None else splits_references
    if target is None:
        found = validate_boxes(tree, boxes, splits_references=splits, ulps=ulps)
    else:
        found = validate_on(target, tree, boxes, splits_references=splits, ulps=ulps)
    if found.is_valid and isinstance(tree, Tree) and isinstance(shape, Clip):
        faults = frame_faults(tree, lambda at: boxes_of(*shape.at(at)), ulps)
        return dataclasses.replace(found, faults=faults)
    return found


def diagnose(tree: Any, shape: Any = None, triangles: Any = None, *, time: float = 0.0) -> Findings:
    """What is wrong with a tree, or with a moving mesh that trees are to be built over: findings with a code, a
    severity, a sentence, the figures behind it, a remedy, and what that gains (SAH cost); none where nothing is. The
    answer's `raise_if_bad()` is an Error where one is more than advice.

    `tree` is a rg.Tree over `shape`, as `validate` takes them, or a Structure, which is asked about its own scene. With
    vertices (T, V, 3) the last frame is now, and the others are what was before: so a tree that was refitted alone, or
    fits an older pose, is told from one that is wrong. Without a tree, `diagnose(vertices, triangles)` looks at the
    geometry alone. Codes: zero_buffer, wrong_root, root_sized, stale_pose, refit_only, duplicate_primitive,
    lost_primitive, empty_leaf_chain and what else `validate` finds; unmoved, spanning_object, codes_too_short.

    >>> import raygrove as rg
    >>> tree = rg.Tree(children=[[1, 2], [0, 0], [0, 0]], first=[0, 0, 1], count=[0, 1, 1], primitives=[0, 0])
    >>> [(one.code, one.severity) for one in rg.diagnose(tree, [[0, 0, 0, 1, 1, 1], [2, 0, 0, 3, 1, 1]])]
    [('lost_primitive', 'error'), ('duplicate_primitive', 'error')]
    """
    if isinstance(tree, Structure):
        boxes, splits = [tree.primitive_boxes()], tree.splits_references
        found = diagnose_tree(tree.nodes(), boxes, _new_cost, splits_references=splits)
        return Findings((*found, *diagnose_geometry(boxes)))
    if isinstance(tree, Tree):
        frames = _frames(shape, triangles, time)
        found = diagnose_tree(tree, frames, _new_cost, splits_references=tree.splits_references)
        return Findings((*found, *diagnose_geometry(frames, with_motion=False)))
    return Findings(diagnose_geometry(_frames(tree, shape, time)))


def diagnose_instants(tree: Tree, clip: Clip, seconds: Sequence[float]) -> Findings:
    """What `diagnose` finds of a tree at instants of a clip, the last of which is now: sentences name them by their
    seconds."""
    frames = [boxes_of(*clip.at(one)) for one in seconds]
    found = diagnose_tree(tree, frames, _new_cost, splits_references=tree.splits_references, seconds=seconds)
    return Findings((*found, *diagnose_geometry(frames, with_motion=False)))


def _frames(shape: Any, triangles: Any, time: float) -> list[np.ndarray]:
    """The boxes of each frame."""
    if isinstance(shape, tuple) and len(shape) == 2 and triangles is None:
        shape, triangles = shape
    if triangles is not None and not isinstance(shape, Clip | Scene):
        rows = np.asarray(on_host(shape, "vertices"))
        if rows.ndim == 3 and len(rows):
            return [host_boxes(frame, triangles, time) for frame in rows]
    return [host_boxes(shape, triangles, time)]


def _new_cost(boxes: np.ndarray) -> float:
    """The SAH cost of a tree that is built anew over boxes, each as a triangle that has it."""
    from .building import build

    corners = np.stack([boxes[:, :3], boxes[:, 3:], boxes[:, :3]], axis=1).reshape(-1, 3)
    with build(corners, np.arange(3 * len(boxes), dtype=np.int32).reshape(-1, 3), "hploc", device="cpu") as structure:
        return cost_of_table(structure.nodes(), boxes)


def host_boxes(shape: Any, triangles: Any, time: float) -> np.ndarray:
    """The boxes (N, 6) of primitives on the host, of anything `validate` takes."""
    if isinstance(shape, Clip):
        return boxes_of(*shape.at(time))
    if isinstance(shape, Scene):
        from .building import build

        with build(shape, "brute_force") as structure:
            return structure.primitive_boxes()
    if isinstance(shape, tuple) and len(shape) == 2 and triangles is None:
        shape, triangles = shape
    if shape is None:
        raise Error("there is no geometry", "rg.validate", "give vertices and triangles, boxes, a clip or a scene")
    rows = np.asarray(on_host(shape, "vertices" if triangles is not None else "boxes"))
    if rows.dtype.kind not in arrays.NUMBERS:
        what = f"geometry is vertices and triangles, boxes, a clip or a scene, not {type(shape).__name__}"
        raise Error(what, "rg.validate", "give one of them, or a tree that rg.build made")
    if triangles is None:
        arrays.check_shape(rows, "boxes", (None, 6))
        return np.ascontiguousarray(rows, np.float32)
    arrays.check_shape(rows, "vertices", (None, 3))
    corners = np.asarray(on_host(triangles, "triangles"))
    arrays.check_shape(corners, "triangles", (None, 3))
    if rows.dtype.kind not in "fiu" or corners.dtype.kind not in "iu":
        said = f"{arrays.shown(rows)} and {arrays.shown(corners)}"
        raise arrays.ArrayError(f"vertices are numbers and triangles whole numbers; these are {said}")
    arrays.check_corners(corners, len(rows))
    return boxes_of(np.ascontiguousarray(rows, np.float32), corners)
