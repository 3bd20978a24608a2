"""What every builder of kd-trees must bear: scenes of its own kind of trouble, and triangles that no plane parts."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from gpu.hierarchy.kdtree.kdtree import KdTreeHierarchy
from gpu.hierarchy.kdtree.tree import NODES_NOW, REFERENCES_NOW
from gpu.hierarchy.registry import structures
from gpu.target.base import Target
from tests.conftest import make_target
from tests.oracle.tree_walker import check_tree

from .scenes import SCENES, TriangleScene, make, rays, scene_of, trace

BUILDERS = [name for name, kind in structures().items() if issubclass(kind, KdTreeHierarchy)]


def long_needles(count: int = 60) -> TriangleScene:
    """Small triangles, and one that reaches across everything."""
    small = SCENES["soup"]().corners()[:count] * 0.2 + np.arange(count)[:, None, None] * [0.05, 0.0, 0.0]
    return scene_of(np.concatenate([small, [[[-9.0, -9.0, -9.0], [9.0, 9.0, -9.0], [9.0, 9.0, 9.0]]]]))


NASTY = {
    "some": lambda: scene_of(SCENES["soup"]().corners()[:400]),
    "flat": lambda: scene_of(SCENES["soup"]().corners()[:200] * [1.0, 1.0, 0.0]),
    "line": lambda: scene_of(SCENES["soup"]().corners()[:200] * [1.0, 0.0, 0.0]),
    "points": lambda: scene_of(np.repeat(SCENES["soup"]().corners()[:100, :1], 3, axis=1)),
    "needle": long_needles,
    "nothing": lambda: scene_of(np.full((9, 3, 3), np.nan)),
    "huge": lambda: scene_of(SCENES["soup"]().corners()[:200] * 1e17),
    "tiny": lambda: scene_of(SCENES["soup"]().corners()[:200] * 1e-18),
}


def built(target: Target, builder: str, scene: TriangleScene, **options: object) -> KdTreeHierarchy:
    kind = structures()[builder]
    made = kind(target, kind.Options(**options))
    assert isinstance(made, KdTreeHierarchy)
    made.build(scene.upload(target))
    return made


@pytest.mark.parametrize("stop", ["sah", "size"])
@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("builder", BUILDERS)
def test_nasty_scenes_end_in_a_tree(target: Target, builder: str, name: str, stop: str) -> None:
    scene = NASTY[name]()
    made = built(target, builder, scene, max_leaf_size=2, stop=stop)
    table = made.nodes()
    check_tree(table, *scene.boxes(), splits_references=True, splits_space=True)
    assert len(table.references) <= 4 * len(scene.indices)
    plain = make(target, "brute_force")
    plain.build(scene.upload(target))
    np.testing.assert_array_equal(trace(made, *rays()).prim_id, trace(plain, *rays()).prim_id)


@pytest.mark.parametrize("builder", BUILDERS)
def test_the_tree_is_the_same_bytes_whatever_the_number_of_blocks(builder: str) -> None:
    """And whichever block comes last and goes on."""
    trees = []
    for threads in (1, 2, 5):
        with contextlib.closing(make_target("host", threads=threads)) as target:
            made = built(target, builder, SCENES["soup"](), max_leaf_size=2)
            counts = target.download(made.tree.counts)
            arrays = (made.tree.nodes[: counts[NODES_NOW]], made.tree.parent[: counts[NODES_NOW]], made.tree.references[: counts[REFERENCES_NOW]])
            trees.append([target.download(array).tobytes() for array in arrays])
    assert trees[0] == trees[1] == trees[2] and len(trees[0][0]) > 2000


@pytest.mark.parametrize("builder", BUILDERS)
def test_a_hundred_thousand_equal_triangles_end_in_a_leaf(target: Target, builder: str) -> None:
    scene = scene_of(np.tile(SCENES["one"]().corners(), (100_000, 1, 1)))
    for stop in ("sah", "size"):
        table = built(target, builder, scene, stop=stop).nodes()
        assert len(table) == 1
        np.testing.assert_array_equal(table.references, np.arange(100_000))
