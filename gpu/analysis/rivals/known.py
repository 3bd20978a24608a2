"""Which other programs take part in races over rays, by the first word of a spelling."""

from __future__ import annotations

from collections.abc import Collection

from ...configuration import Configuration
from ...errors import Error
from ...scene import Scene
from ...target.base import Target
from ..ray_lanes import Lane
from ..workload import HungRays, Workload
from .embree_lane import EmbreeLane, EmbreeRival, embree_of
from .warp_lane import WarpLane, WarpRival, warp_of

Rival = EmbreeRival | WarpRival


def rival_of(configuration: str | Configuration) -> Rival | None:
    """Another program, where the spelling says so; None of our own. Raises ConfigurationError for what it has not."""
    return embree_of(configuration) or warp_of(configuration)


def name_of(rival: Rival) -> str:
    """What it is called in sentences."""
    return "Embree" if isinstance(rival, EmbreeRival) else "Warp"


def rival_lane(target: Target, scene: Scene, rival: Rival, rays: Workload, hidden: Collection[int]) -> Lane:
    """Another program, ready to play. Error where it is not there, or cannot trace rays that move or some of the
    scene."""
    name = name_of(rival)
    if hidden:
        raise Error(f"{name} is given the whole scene here", rival.configuration, "show all objects")
    if isinstance(rays, HungRays):
        what = f"{name} traces the same rays in every frame here, and these hang on a node"
        raise Error(what, rival.configuration, "leave the node out, or race other structures")
    if isinstance(rival, EmbreeRival):
        return EmbreeLane(target, scene, rival, rays)
    return WarpLane(target, scene, rival, rays)
