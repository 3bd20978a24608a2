"""Octrees over points in every form, on small input."""

from __future__ import annotations

import itertools
from unittest import mock

import numpy as np

from raygrove.gpu.hierarchy.octree import cell_queries, direct
from raygrove.gpu.hierarchy.octree.cell_queries import Cells
from raygrove.gpu.hierarchy.octree.node_queries import NodeQueries
from raygrove.gpu.hierarchy.octree.point_tree import NODES, PointTree, build_point_tree
from raygrove.gpu.target.base import Array, Target

FORMS = tuple(itertools.product((10, 21), (1, 5), ("none", "full")))
SPLITS = tuple(itertools.product(("cell_middle", "bounds_middle", "median"), ("parallel", "thread")))
FEW_FORMS, FEW_SPLITS = ((10, 1, "full"), (21, 5, "none")), (SPLITS[1], *SPLITS[2::2])
"""Each width of codes, size of leaves and kind of chains; each split, and each way to work."""


def run_point_trees(target: Target, few: bool = False) -> None:
    """Each form, or a `few` in which each choice is met, over points of many scales, some of one place and some not
    finite."""
    random = np.random.default_rng(4)
    positions = random.uniform(-1, 1, (700, 3)) * 10.0 ** -random.integers(0, 6, (700, 1))
    positions[100:110], positions[50] = positions[100], np.nan
    array = target.upload(positions.astype(np.float32), "test")
    for bits, leaf_points, chains in FEW_FORMS if few else FORMS:
        tree = build_point_tree(target, array, bits=bits, leaf_points=leaf_points, chains=chains)
        assert target.download(tree.counts)[NODES] > 200
        if leaf_points == 1:
            build_point_tree(target, array, bits=bits, chains=chains, method="paper")
        with mock.patch.dict(direct.WALKS, {target.kind: not direct.WALKS[target.kind]}):
            build_point_tree(target, array, bits=bits, leaf_points=leaf_points, chains=chains)
    for split, work in FEW_SPLITS if few else SPLITS:
        build_point_tree(target, array, method="top_down", bits=10, leaf_points=5, split=split, work=work)
    build_point_tree(target, array, method="complete", levels=3)
    tree = build_point_tree(target, array, leaf_points=5, root=(-2.0, -2.0, -2.0, 4.0))
    run_octree_queries(target, tree)


def run_octree_queries(target: Target, tree: PointTree) -> None:
    """Of cells and of nodes, every one."""
    random = np.random.default_rng(5)
    asked, count = NodeQueries(target, tree), int(target.download(tree.counts)[NODES])
    nodes = target.upload(random.integers(-1, count, 300).astype(np.int32), "test")
    others = target.upload(random.integers(-1, count, 300).astype(np.int32), "test")
    octant = target.upload(random.integers(0, 8, 300).astype(np.int32), "test")
    cells, inner = asked.cells(nodes), asked.cells(others)
    ask_cells(target, cells, inner, octant)
    assert len(cell_queries.boxes(target, cells, tree.root)) == 300
    assert len(asked.leaves_below(nodes).first) == 300 and len(asked.parents(nodes)) == 300
    assert len(asked.children(nodes, octant)) == 300 and len(asked.common_ancestors(nodes, others)) == 300
    assert len(asked.neighbours(nodes)) == 6 and len(asked.neighbouring_leaves(cells).nodes) > 300
    places = target.upload(random.uniform(-3, 3, (300, 3)).astype(np.float32), "test")
    assert (target.download(asked.nodes_of_places(places)) < 0).any()


def ask_cells(target: Target, cells: Cells, inner: Cells, octant: Array) -> None:
    """Everything that needs no tree."""
    for found in (
        cell_queries.parents(target, cells),
        cell_queries.children(target, cells, octant),
        cell_queries.children_holding(target, cells, inner),
        cell_queries.common_ancestors(target, cells, inner),
    ):
        assert len(found) == 300
    assert len(cell_queries.contains(target, cells, inner)) == 300
    assert len(cell_queries.neighbours(target, cells)) == 26 * 300
