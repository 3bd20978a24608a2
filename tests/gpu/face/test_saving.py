"""Trees of structures are written into files, and what is no binary tree is not."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.target.base import Target
from tests.gpu.face.test_trees import mesh_of


@pytest.mark.parametrize("configuration", ["hploc", "binned_sah/bvh4@refit", "sweep_sah+reinsertion/bvh8"])
def test_a_saved_tree_is_the_tree(host_target: Target, tmp_path: pathlib.Path, configuration: str) -> None:
    vertices, triangles = mesh_of()
    with rg.build(vertices, triangles, configuration, target=host_target) as tree:
        tree.save(tmp_path / "own.rgtree")
        table, boxes = tree.nodes(), tree.primitive_boxes()
    found = rg.load_tree(tmp_path / "own.rgtree")
    assert rg.validate(found, boxes) and len(found.count) == len(table)
    below = np.asarray(found.children)
    for node in np.flatnonzero(np.asarray(found.count) == 0):
        assert table.parent[below[node]].tolist() == [node, node]
    np.testing.assert_array_equal(found.bounds, np.hstack([table.lower, table.upper]))
    leaves = np.flatnonzero(table.is_leaf)
    np.testing.assert_array_equal(np.asarray(found.count)[leaves], table.reference_count[leaves])
    np.testing.assert_array_equal(found.primitives, table.references)


def test_what_is_no_tree_of_files_is_not_saved(host_target: Target, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "none.rgtree"
    with rg.build(mesh_of(), "octree_top_down", target=host_target) as tree:
        with pytest.raises(rg.Error, match="this is no binary tree") as raised:
            tree.save(path)
        assert raised.value.where == "Structure.save"
        with pytest.raises(rg.Error, match=r"this is Structure: a structure writes its own: structure.save\(path\)"):
            rg.save_tree(tree, path)  # type: ignore[arg-type]
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, np.nan]], np.float32)
    tree = rg.build(vertices, [[0, 1, 2], [0, 1, 3]], "hploc", target=host_target)
    with tree, pytest.raises(rg.Error, match="1 primitives have no box"):
        tree.save(path)
    assert not path.exists()
