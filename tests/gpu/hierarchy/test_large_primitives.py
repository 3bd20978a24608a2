"""Primitives that reach into many cells are listed as others are, by a block of threads: against float64 distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import make, scene_of, soup
from tests.oracle.regions import triangle_gaps

from .test_grid import listed_in

LARGE = np.array(
    [
        [[0.0, 0.0, 0.0], [1.0, 0.9, 0.1], [0.1, 0.2, 1.0]],
        [[0.0, 0.51, 0.0], [1.0, 0.52, 0.0], [0.0, 0.53, 1.0]],
        [[1.0, 0.0, 1.0], [0.0, 1.0, 0.1], [0.9, 1.0, 0.8]],
    ]
)
FEW = 80
"""Small ones before and after the large ones."""
FORMS: list[tuple[str, dict[str, Any]]] = [
    ("grid", {"density": 16.0, "references_per_primitive": 64.0}),
    ("grid_two_level", {"density": 16.0, "cell_density": 2.0, "references_per_primitive": 64.0}),
    ("octree_bottom_up", {"level": 4, "leaf_primitives": 1, "references_per_primitive": 16.0}),
    ("octree_complete", {"level": 4, "leaf_primitives": 1, "references_per_primitive": 16.0}),
]


@pytest.mark.parametrize(("name", "options"), FORMS, ids=[name for name, _ in FORMS])
def test_what_reaches_into_many_cells_is_listed_in_each(target: Target, name: str, options: dict[str, Any]) -> None:
    corners = np.concatenate([soup(FEW, size=0.02).corners(), LARGE, soup(FEW, seed=8, size=0.02).corners()])
    large = slice(FEW, FEW + len(LARGE))
    hierarchy = make(target, name, **options)
    hierarchy.build(scene_of(corners).upload(target))
    table = hierarchy.nodes()
    leaves = table.is_leaf
    found, gaps = listed_in(table, len(corners)), triangle_gaps(corners, table.lower[leaves], table.upper[leaves])
    assert (found[:, large].sum(axis=0) > 64).all()
    assert found[gaps < -1e-5].all() and not found[:, large][gaps[:, large] > 1e-5].any()
