"""Points that exchange light, for the scenario."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.hierarchy.base import StructureChoice
from raygrove.gpu.hierarchy.primitives import triangle_primitives
from raygrove.gpu.hierarchy.registry import make_structure
from raygrove.gpu.radiosity.direct import Bounces, gather_from_all
from raygrove.gpu.radiosity.hierarchical import HierarchicalOptions, HierarchicalSum
from raygrove.gpu.radiosity.pairs import SightOptions
from raygrove.gpu.radiosity.point_set import PointValues, upload_points
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer


def run_radiosity(target: Target) -> None:
    """Two bounces between more points than a tile of the sum, an odd number of them; then as many by the hierarchical
    sum, behind a triangle."""
    random = np.random.default_rng(1)
    normals = random.normal(size=(301, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    values = PointValues(random.random((301, 3)), normals, random.random(301), *random.random((2, 301, 3)))
    points = upload_points(target, values)
    light = Bounces(target, points)
    light.begin()
    for _ in range(2):
        light.add(lambda sent, gathered: gather_from_all(target, points, sent, gathered))
    structure = make_structure(target, "brute_force", StructureChoice())
    corners = target.upload(random.random((3, 3)).astype(np.float32), "test")
    structure.build(triangle_primitives(corners, target.upload(np.arange(3, dtype=np.int32).reshape(1, 3), "test")))
    made = HierarchicalSum(target, 301, HierarchicalOptions(leaf_points=4))
    sight = SightOptions(Tracer(target, structure.traversal()), 3)
    none = target.zeros((301, 4), np.float32, "test")
    made.place(points, none, sight, learns=True)
    light = Bounces(target, made.sorted_points, made.sorted_direct)
    light.begin()
    light.add(made.gather)
    made.error(light.sent, 5, sight.tracer)
    made.error(light.sent, 5, None)
    target.synchronize()
