"""Trees that end at a bound of the depth, for the scenario: kernels and traversals that nothing else runs."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.hierarchy.base import Primitives, StructureChoice
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.settings import fields_of
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer, upload_rays


def run_bounded(target: Target, structure: type[BvhHierarchy], primitives: Primitives, watch: str = "all") -> None:
    """Leaves longer than their words can say, where the builder has a bound: measured, refitted, traced; of one builder
    in every traversal, but where something is watched for: how long a leaf is they all read alike."""
    if "max_depth" not in {field.name for field in fields_of(structure.Options)}:
        return
    is_in_all = structure.name == "binned_sah" and watch not in ("memory", "races")
    for layout in structure.layouts() if is_in_all else ("bvh2",):
        for traversal in structure.traversals(layout)[: 1 if watch in ("memory", "races") else None]:
            made = structure(target, StructureChoice(structure.Options(max_depth=3), layout, traversal))
            made.build(primitives)
            made.measure()
            made.measure_quality()
            if made.capabilities.refit:
                made.refit(primitives)
            origins, directions = np.random.default_rng(9).uniform(-1, 1, (2, 90, 3)).astype(np.float32)
            Tracer(target, made.traversal()).trace(upload_rays(target, origins, directions), "closest")
