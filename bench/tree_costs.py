"""What the trees of builders cost beside the reference of quality, binned_sah: times of its SAH cost on the same scene,
each at its defaults. Told beside it: binned_sah with leaves of at most four by size, as the figures for cuBQL's
builders have it. No clock: the same on every machine."""

from __future__ import annotations

import contextlib

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.base import Hierarchy, Primitives, StructureChoice
from raygrove.gpu.hierarchy.bvh.builders.binned_sah import BinnedSahOptions
from raygrove.gpu.hierarchy.registry import make_structure, structure
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target

from .measure import Stage

MOST_TIMES = {"hlbvh_sah": 1.12, "hploc": 1.06, "hploc_sah": 1.06}
"""The bars."""
TOLD = ("lbvh", "sah_lauterbach", "sbvh", "sweep_sah")
"""Measured beside them, without a bar."""
MOST_CLIPPED_TIMES = 1.03
"""Most of sah_events' cost over that of boxes cut along all axes in every node. Bunny and dragon, for which it is
promised, are files: `bench suite kolodzey2014` has them; closed bodies of their sizes stand in for them here."""
CLIPPED = {"bunny": 69_451, "dragon": 202_520}
BY_SIZE = BinnedSahOptions(max_leaf_size=4, stop="size")


def tree_costs(target: Target, scene: Scene, names: tuple[str, ...] = (*MOST_TIMES, *TOLD)) -> dict[str, float]:
    """SAH cost by builder, at its defaults; `binned_sah` is the reference, and `binned_sah by size` beside it."""
    found = {}
    with contextlib.closing(Stage(target, scene, ViewSettings())) as stage:
        primitives = stage.show(Moment()).primitives
        choices = {"binned_sah": ("binned_sah", None), "binned_sah by size": ("binned_sah", BY_SIZE)}
        for label, (name, options) in (choices | {name: (name, None) for name in names}).items():
            found[label] = _cost(make_structure(target, name, StructureChoice(options, "bvh2")), primitives)
    return found


def clipping_costs(target: Target, scene: Scene) -> dict[str, float]:
    """SAH cost of sah_events by the way it cuts boxes."""
    kind = structure("sah_events")
    with contextlib.closing(Stage(target, scene, ViewSettings())) as stage:
        primitives = stage.show(Moment()).primitives
        return {
            clipping: _cost(kind(target, StructureChoice(kind.Options(clipping=clipping))), primitives)
            for clipping in ("small_nodes", "split_axis", "all")
        }


def _cost(hierarchy: Hierarchy, primitives: Primitives) -> float:
    hierarchy.build(primitives)
    hierarchy.measure()
    hierarchy.target.synchronize()
    cost = hierarchy.stats().sah_cost or 0.0
    hierarchy.close()
    return cost
