"""Warp as a contestant of races over rays: `warp:builder=lbvh@refit`, on the device that is raced on."""

from __future__ import annotations

import dataclasses

import numpy as np

from ...animate.animate import Animator
from ...configuration import Configuration, ConfigurationError, parse
from ...errors import Error
from ...scene import Moment, Scene
from ...stats import HierarchyStatistics
from ...target.base import Target
from ..ray_lanes import Frame
from ..workload import Rays
from .embree import PeerAbsentError
from .warp import BUILDERS, WarpMesh, WarpRays

NAME = "warp"
ONE_THREAD = "Warp has one thread on a CPU"


@dataclasses.dataclass(frozen=True)
class WarpRival:
    """How Warp takes part: by which builder ("" is its own choice: lbvh on a GPU, sah on a CPU), and whether it
    refits."""

    configuration: str
    builder: str
    refits: bool


def warp_of(configuration: str | Configuration) -> WarpRival | None:
    """Warp where the spelling says so; None of anything else. `builder` is sah, median or lbvh; the policy rebuild or
    refit. Raises ConfigurationError for what Warp has not."""
    spelt = parse(configuration) if isinstance(configuration, str) else configuration
    if spelt.builder.name != NAME:
        return None
    text, options = str(spelt), dict(spelt.builder.options)
    builder = options.pop("builder", "")
    if (builder and builder not in BUILDERS) or options:
        raise ConfigurationError("Warp has the option builder alone", text, f"it is one of {', '.join(BUILDERS)}")
    if spelt.optimiser or spelt.layout or spelt.traversal:
        raise ConfigurationError("Warp's trees have neither optimisers nor layouts here", text, "leave them out")
    policy = "rebuild" if spelt.policy is None else str(spelt.policy)
    if policy not in ("rebuild", "refit"):
        raise ConfigurationError(f"Warp does not follow by {policy}", text, "choose @rebuild or @refit")
    return WarpRival(text, builder, policy == "refit")


class WarpLane:
    """See the module. Times are those of Warp's mesh and of its launch, on a GPU between events; what it is given is
    copied to it outside of them."""

    def __init__(self, target: Target, scene: Scene, rival: WarpRival, rays: Rays) -> None:
        self._rival = rival
        if target.kind == "host" and rival.builder == "lbvh":
            raise Error("Warp builds by lbvh on a GPU alone", rival.configuration, "choose sah or median")
        self._animator = Animator(target, scene)
        self.layout, self.ray_count = "Warp's own", len(rays)
        self.note = ONE_THREAD if target.kind == "host" else ""
        surface = self._animator.at(Moment(0.0))
        try:
            self._mesh = WarpMesh(target, surface.positions, surface.triangles, rival.builder)
            given = (rays.origins, rays.directions, rays.t_min, rays.t_max)
            self._rays = WarpRays(*given, self._mesh.device)
        except (PeerAbsentError, RuntimeError, ValueError) as error:
            self._animator.close()
            raise Error(str(error).rstrip("."), rival.configuration, "") from error
        self._has_tree = False

    def play(self, moment: Moment) -> Frame:
        """One frame."""
        refits = self._rival.refits and self._has_tree
        self._mesh.move(self._animator.at(moment).positions)
        update_ms = self._mesh.refit() if refits else self._mesh.rebuild()
        self._has_tree = True
        return Frame("refit" if refits else "rebuild", update_ms, self._rays.trace(self._mesh))

    def hits(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the last frame."""
        return self._rays.hits()

    def statistics(self) -> HierarchyStatistics | None:
        """Nobody may look into its trees."""
        return None

    def warps(self) -> None:
        """Nor count in them."""

    def close(self) -> None:
        """Let go of what it has."""
        del self._mesh, self._rays
        self._animator.close()
