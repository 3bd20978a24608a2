"""Leaves' triangles in rows beside the records: what lies there, and which traversals are compiled with them."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import StructureChoice
from raygrove.gpu.hierarchy.bvh.leaf_rows import LeafRows
from raygrove.gpu.hierarchy.bvh.tree import first_references, reference_counts
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target
from raygrove.testing.scenes import SCENES, make, make_with, sphere_scene

from .test_bvh import built, canonical


@pytest.mark.parametrize(("scene_name", "max_leaf_size"), [("soup", 5), ("coincident", 32), ("degenerate", 1)])
def test_rows_hold_what_records_hold(target: Target, scene_name: str, max_leaf_size: int) -> None:
    hierarchy = built(target, "bvh8", scene_name, max_leaf_size=max_leaf_size)
    rows = target.download(LeafRows(target).write(hierarchy.tree)).reshape(-1)
    records = target.download(hierarchy.tree.records).reshape(-1, 3, 4)
    nodes = canonical(hierarchy)["nodes"]
    words = np.concatenate([nodes["left"], nodes["right"], target.download(hierarchy.tree.root)[:1]])
    seen = 0
    for word in words[words < 0]:
        first, count = int(first_references(word)), int(reference_counts(word))
        leaf, held = records[first : first + count], rows[12 * first : 12 * (first + count)].reshape(12, count)
        with np.errstate(invalid="ignore", over="ignore"):
            expected = [leaf[:, 0, :3].T, (leaf[:, 1, :3] - leaf[:, 0, :3]).T, (leaf[:, 2, :3] - leaf[:, 0, :3]).T]
        np.testing.assert_array_equal(held[:9], np.concatenate(expected))
        np.testing.assert_array_equal(held[9].view(np.int32), leaf[:, 0, 3].view(np.int32) | 1 << 30)
        np.testing.assert_array_equal(held[10], leaf[:, 1, 3])
        seen += count
    assert seen == hierarchy.tree.count


def test_packs_of_triangles_alone_are_tested_in_rows(host_target: Target) -> None:
    primitives = SCENES["soup"]().upload(host_target)

    def records_of(width: int, layout: str, test: str = "moeller_trumbore") -> str:
        target = make_target("host")
        target.lane_count = width
        hierarchy = make_with(target, "lbvh", StructureChoice(layout=layout, triangle_test=test))
        hierarchy.build(primitives)
        target.close()
        return hierarchy.traversal().records.type_name

    assert records_of(16, "bvh8") == records_of(8, "bvh8") == "TrianglesInRows"
    assert records_of(1, "bvh8") == records_of(16, "bvh4") == "TriangleRecords"
    assert records_of(16, "bvh8", "watertight") == "WatertightTriangles"
    spheres = make(host_target, "lbvh", "bvh8")
    spheres.build(primitives)
    plain = spheres.stats().bytes
    spheres.build(sphere_scene(host_target, 50)[2])
    assert spheres.traversal().records.type_name == "SphereRecords"
    assert plain - make_bytes(host_target) == 48 * (len(SCENES["soup"]().corners()) + 2)


def make_bytes(target: Target) -> int:
    """Bytes of the same tree where packs have one ray."""
    single = make_target("host")
    single.lane_count = 1
    hierarchy = make(single, "lbvh", "bvh8")
    hierarchy.build(SCENES["soup"]().upload(single))
    found = hierarchy.stats().bytes
    single.close()
    return found
