"""Builders in the forms of their papers, for the scenario: kernels that their usual forms do not launch."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.hierarchy.base import StructureChoice
from raygrove.gpu.hierarchy.primitives import triangle_primitives
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.target.base import Target

TRIANGLES = 1200
FORMS: list[tuple[str, dict[str, object]]] = [
    ("sah_lauterbach", {"planes": "uniform"}),
    ("sah_lauterbach", {"planes": "uniform", "planes_per_axis": 5, "max_depth": 3}),
    ("lbvh_lauterbach", {"lists": "whole"}),
    ("hlbvh_median", {"launches": "levels"}),
    ("hlbvh_sah", {"launches": "levels", "top_splits": "bins", "cluster_bits": "6"}),
]


def run_published_forms(target: Target) -> None:
    """Each form: of none, one and many triangles, built twice, so that what a build leaves is there, and measured."""
    for name, options in FORMS:
        kind = structures()[name]
        made = kind(target, StructureChoice(kind.Options(**options), "bvh2"))
        for count in (0, 1, TRIANGLES, TRIANGLES):
            corners = np.random.default_rng(count).uniform(-1, 1, (count * 3, 3)).astype(np.float32)
            corners[:3] = np.nan
            indices = np.arange(count * 3, dtype=np.int32).reshape(count, 3)
            made.build(triangle_primitives(target.upload(corners, "test"), target.upload(indices, "test")))
            made.measure()
            assert len(made.nodes().references) >= count - 1
