"""Boxes of a tree at the frames of a clip: written, read, and proved."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis.frame_bounds import frame_table, refitted, with_frames
from raygrove.gpu.analysis.tree_files import TreeFileError
from raygrove.gpu.analysis.validation import boxes_of
from raygrove.gpu.face.given_trees import given_trees
from tests.gpu.hierarchy.own_builders import halved

FRAMES = 4


@pytest.fixture(scope="module")
def clip() -> rg.Clip:
    random = np.random.default_rng(5)
    corners = random.uniform(-1.0, 1.0, (20, 1, 3)) + random.uniform(-0.1, 0.1, (20, 3, 3))
    moves = np.cumsum(random.uniform(-0.2, 0.2, (FRAMES, 20, 1, 3)), axis=0)
    vertices = (corners[None] + moves).reshape(FRAMES, 60, 3).astype(np.float32)
    return rg.Clip(vertices, np.arange(60).reshape(20, 3), fps=2.0)


@pytest.fixture(scope="module")
def tree(clip: rg.Clip) -> rg.Tree:
    made = halved(boxes_of(*clip.at(0.0)), max_leaf_size=3)
    return with_frames(made, [0.5 * frame for frame in range(FRAMES)], lambda at: boxes_of(*clip.at(at)))


def test_boxes_are_those_of_what_lies_below(clip: rg.Clip, tree: rg.Tree) -> None:
    """By recursion, in float64, over all leaves below each node."""
    count, children, first = (np.asarray(getattr(tree, name)) for name in ("count", "children", "first"))

    def below(node: int) -> list[int]:
        if count[node]:
            return list(np.asarray(tree.primitives)[first[node] : first[node] + count[node]])
        return [one for child in children[node] for one in below(int(child))]

    for frame, bounds in enumerate(tree.frame_bounds):
        boxes = boxes_of(*clip.at(0.5 * frame)).astype(np.float64)
        for node in range(len(count)):
            held = boxes[below(node)]
            assert bounds[node].tolist() == [*held[:, :3].min(axis=0), *held[:, 3:].max(axis=0)]


def test_a_file_keeps_them_bit_for_bit_and_they_are_sound(clip: rg.Clip, tree: rg.Tree, tmp_path: Path) -> None:
    path = tmp_path / "moving.rgtree"
    rg.save_tree(tree, path, scene=clip.at(0.0))
    back = rg.load_tree(path, scene=clip.at(0.0))
    assert np.array_equal(back.frame_bounds, tree.frame_bounds) and back.frame_times.tolist() == [0.0, 0.5, 1.0, 1.5]
    assert rg.validate(back, clip).is_valid and rg.validate(back, *clip.at(0.0)).is_valid
    with (
        given_trees({"with_frames": back}, clip.at(0.0)),
        rg.build(clip, "with_frames", device="cpu") as structure,
    ):
        assert structure.validate().is_valid, "a build computes boxes of its own"


@pytest.mark.parametrize("node", [0, -1])
def test_a_frame_whose_boxes_are_another_ones_is_named(clip: rg.Clip, tree: rg.Tree, node: int) -> None:
    bounds = tree.frame_bounds.copy()
    bounds[2, node] = np.tile(bounds[2, node].reshape(2, 3).mean(axis=0), 2)
    found = rg.validate(dataclasses.replace(tree, frame_bounds=bounds), clip)
    expected = "child_outside" if node == 0 else "primitive_outside"
    assert [fault.code for fault in found.faults] == [expected]
    assert found.sentence.startswith("In frame 2, at 1 s: ") and "does not hold" in found.sentence
    shifted = rg.validate(dataclasses.replace(tree, frame_bounds=np.roll(tree.frame_bounds, 1, axis=0)), clip)
    assert shifted.sentence.startswith("In frame 0, at 0 s: Leaf ")


def test_shapes_that_do_not_fit(tree: rg.Tree, clip: rg.Clip, tmp_path: Path) -> None:
    path = tmp_path / "moving.rgtree"
    for changes in ({"frame_times": None}, {"frame_times": [0.0]}, {"frame_bounds": tree.frame_bounds[:, 1:]}):
        with pytest.raises(TreeFileError, match="frame_bounds are"):
            rg.save_tree(dataclasses.replace(tree, **changes), path)
    rg.save_tree(tree, path)
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    for shape in ([10**9, 19, 6], [4, 18, 6], [4], [-4, 19, 6]):
        header["arrays"]["frame_bounds"]["shape"] = shape
        path.write_bytes(data[:8] + json.dumps(header).encode().ljust(length) + data[8 + length :])
        with pytest.raises(TreeFileError):
            rg.load_tree(path)
    loose = dataclasses.replace(tree, frame_times=np.full(FRAMES, np.nan, np.float32))
    assert [fault.code for fault in rg.validate(loose, clip).faults] == ["malformed"]
    with pytest.raises(rg.Error, match="splits references"):
        with_frames(dataclasses.replace(tree, splits_references=True), [0.0], lambda at: boxes_of(*clip.at(at)))
    assert refitted(tree, boxes_of(*clip.at(0.0))).shape == (len(tree.count), 6)


def test_nodes_with_the_boxes_of_the_nearest_frame(tree: rg.Tree, clip: rg.Clip) -> None:
    """Parents before children, each box that of its node in that frame; the leaves hold each primitive once."""
    for time, frame in ((-3.0, 0), (0.2, 0), (0.3, 1), (1.0, 2), (99.0, FRAMES - 1)):
        found = frame_table(tree, time)
        assert len(found) == len(np.asarray(tree.count)) and found.parent[0] == -1 and found.depth[0] == 0
        below = np.arange(1, len(found))
        assert (found.parent[1:] < below).all() and (found.depth[1:] == found.depth[found.parent[1:]] + 1).all()
        bounds = np.asarray(tree.frame_bounds[frame])
        assert found.lower[0].tolist() == bounds[0, :3].tolist() and found.upper[0].tolist() == bounds[0, 3:].tolist()
        ours = np.concatenate([found.lower, found.upper], axis=1)
        assert sorted(map(tuple, ours.tolist())) == sorted(map(tuple, bounds.tolist()))
        corners = boxes_of(*clip.at(0.5 * frame))
        for row in np.flatnonzero(found.is_leaf):
            first = found.first_reference[row]
            held = corners[found.references[first : first + found.reference_count[row]]]
            np.testing.assert_array_equal(ours[row], [*held[:, :3].min(axis=0), *held[:, 3:].max(axis=0)])
    with pytest.raises(ValueError, match="no boxes of frames"):
        frame_table(dataclasses.replace(tree, frame_bounds=None, frame_times=None), 0.0)
