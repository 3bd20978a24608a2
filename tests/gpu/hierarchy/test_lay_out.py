"""A tree laid out anew: other nodes for other rays, from the tree that there is; and which layout `auto` is for which
rays."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import HierarchyError, StructureChoice
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.primitives import triangle_primitives
from raygrove.gpu.hierarchy.registry import structure, structures
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer, upload_rays


def soup(target: Target, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    corners = (
        (random.uniform(-1, 1, (600, 1, 3)) + random.normal(scale=0.1, size=(600, 3, 3)))
        .reshape(-1, 3)
        .astype(np.float32)
    )
    return corners, np.arange(1800, dtype=np.int32).reshape(-1, 3)


def hits(target: Target, made: BvhHierarchy) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    rays = upload_rays(target, random.uniform(-1, 1, (700, 3)), random.normal(size=(700, 3)))
    found = Tracer(target, made.traversal()).trace(rays)
    return target.download(found.prim_id)[:700], target.download(found.t)[:700]


CHANGES = [("lbvh", "bvh4", "bvh8"), ("lbvh", "bvh8", "bvh4"), ("lbvh", "bvh2", "bvh8"), ("sbvh", "bvh4", "bvh8")]


@pytest.mark.parametrize(("name", "before", "after"), CHANGES)
def test_a_tree_laid_out_anew_gives_the_same_hits(target: Target, name: str, before: str, after: str) -> None:
    kind = structure(name)
    made = kind(target, StructureChoice(layout=before))
    assert isinstance(made, BvhHierarchy)
    corners, indices = soup(target, 1)
    positions, triangles = target.upload(corners, "test"), target.upload(indices, "test")
    made.build(triangle_primitives(positions, triangles))
    if made.capabilities.refit:
        target.write(positions, corners[::-1].copy() * np.float32(0.9))
        made.refit(triangle_primitives(positions, triangles))
    table, (prim_ids, distances) = made.nodes(), hits(target, made)
    made.lay_out(after)
    assert (made.layout_name, made.traversal_name) == (after, f"{after}_stack")
    found = hits(target, made)
    assert (prim_ids >= 0).sum() > 100
    np.testing.assert_array_equal(found[0], prim_ids)
    np.testing.assert_allclose(found[1], distances, rtol=1e-6)
    np.testing.assert_array_equal(made.nodes().references, table.references)
    if made.capabilities.refit:
        target.write(positions, corners)
        made.refit(triangle_primitives(positions, triangles))
        fresh = kind(target, StructureChoice(layout=after))
        fresh.build(triangle_primitives(positions, triangles))
        np.testing.assert_allclose(hits(target, made)[1], hits(target, fresh)[1], rtol=1e-6)


def test_before_a_build_and_without_a_primitive_there_is_nothing_to_write(target: Target) -> None:
    kind = structure("lbvh")
    made = kind(target, StructureChoice(layout="bvh4"))
    made.lay_out("bvh8")
    nothing = triangle_primitives(target.zeros((0, 3), "f4", "test"), target.zeros((0, 3), "i4", "test"))
    made.build(nothing)
    made.lay_out("bvh4")
    assert (hits(target, made)[0] < 0).all()


def test_a_structure_of_one_layout_stays_in_it(target: Target) -> None:
    kind = structure("brute_force")
    with pytest.raises(HierarchyError, match="stays in the layout"):
        kind(target, StructureChoice(layout="records")).lay_out("bvh8")


def test_wide_packs_of_incoherent_rays_have_bvh8() -> None:
    for kind in structures().values():
        for lanes in (0, 1, 8, 16):
            for target_kind in ("host", "cuda"):
                chosen = kind.default_layout(target_kind, lanes)
                assert chosen in kind.layouts()
                if kind.family == "bvh":
                    assert chosen == ("bvh8" if lanes == 16 else {"host": "bvh4", "cuda": "bvh2"}[target_kind])
