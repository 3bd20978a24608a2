"""How many primitives leaves have where the options leave it open: as suits their kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import Primitives
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.settings import fields_of
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target
from raygrove.testing.scenes import make, soup
from raygrove.testing.tree_walker import check_tree

COUNT = 300
BY_KIND: list[tuple[str, dict[str, Any]]] = [
    ("lbvh", {"construction": "search"}),
    ("lbvh", {"construction": "climb"}),
    ("hlbvh_median", {}),
    ("hlbvh_sah", {}),
    ("hlbvh_treelets", {}),
    ("lbvh_lauterbach", {}),
    ("task_pool", {}),
    ("two_level", {}),
]
NAMES = [" ".join((name, *options.values())) for name, options in BY_KIND]


def spheres(target: Target, count: int = COUNT) -> tuple[Primitives, np.ndarray, np.ndarray]:
    """With their boxes."""
    centres = np.random.default_rng(3).random((count, 3)).astype(np.float32)
    radii = np.full(count, 0.01, np.float32)
    made = sphere_primitives(target.upload(centres, "test"), target.upload(radii, "test"))
    return made, centres - radii[:, None], centres + radii[:, None]


def largest_leaf(target: Target, primitives: Primitives, name: str, **options: Any) -> int:
    hierarchy = make(target, name, **options)
    hierarchy.build(primitives)
    return int(hierarchy.nodes().reference_count.max())


@pytest.mark.parametrize(("name", "options"), BY_KIND, ids=NAMES)
def test_leaves_are_as_large_as_suits_the_primitives(target: Target, name: str, options: dict[str, Any]) -> None:
    """A few triangles or one sphere, where the options leave it open; what they say holds for both, and one structure
    may get either after the other."""
    kind = structures()[name]
    assert issubclass(kind, BvhHierarchy)
    balls, lower, upper = spheres(target)
    triangles = soup(COUNT).upload(target)
    hierarchy = make(target, name, **options)
    for primitives, most in ((triangles, kind.leaf_of_triangles), (balls, 1), (triangles, kind.leaf_of_triangles)):
        hierarchy.build(primitives)
        table = hierarchy.nodes()
        assert table.reference_count.max() == most
        if primitives is balls:
            check_tree(table, lower, upper)
    for primitives, chosen in ((triangles, 1), (balls, 2)):
        assert largest_leaf(target, primitives, name, max_leaf_size=chosen, **options) == chosen


def test_the_sentence_names_the_default_that_holds() -> None:
    """Of each builder whose leaves follow the kind."""
    for name, _ in BY_KIND:
        kind = structures()[name]
        assert issubclass(kind, BvhHierarchy)
        (field,) = (field for field in fields_of(kind.Options) if field.name == "max_leaf_size")
        assert field.default == 0 and f"0 takes {kind.leaf_of_triangles}, but 1 for spheres." in field.info.sentence


@pytest.mark.parametrize("builder", ["linear", "hlbvh_median"])
def test_objects_of_spheres_have_leaves_of_one(host_target: Target, builder: str) -> None:
    """Whoever builds their trees."""
    assert largest_leaf(host_target, spheres(host_target)[0], "two_level", builder=builder) == 1


@pytest.mark.parametrize("name", ["hlbvh_median", "hlbvh_sah"])
def test_queues_for_leaves_of_one_are_counted(name: str) -> None:
    """Their places are those of sets of two and more, which triangles' leaves of four would halve."""
    target = make_target("host")
    hierarchy = make(target, name)
    hierarchy.build(spheres(target, 5_000)[0])
    assert hierarchy.stats().scratch_bytes == pytest.approx(target.memory()["scratch"], rel=0.03)
    target.close()
