"""Embree as a contestant of races over rays: `embree:quality=high@rebuild`, on the CPU, in a process of its own."""

from __future__ import annotations

import dataclasses

import numpy as np

from ...animate.animate import Animator
from ...configuration import Configuration, ConfigurationError, parse
from ...errors import Error
from ...linux import processors
from ...scene import Moment, Scene
from ...settings import parse_value
from ...stats import HierarchyStatistics
from ...target.base import Target
from ...trace.trace import rays_in_rows
from ..ray_lanes import Frame
from ..workload import Rays
from .embree import QUALITIES, EmbreeProcess, PeerAbsentError, RaySet

NAME = "embree"
DYNAMIC = "dynamic"
PACK = 8
"""Rays that Embree traces together: rays of a set need not be coherent."""


@dataclasses.dataclass(frozen=True)
class EmbreeRival:
    """How Embree takes part: its build quality, whether it keeps a tree for each mesh as scenes that move want it,
    whether it refits, and whether its rays never pass between neighbours, as ours do not with the watertight test."""

    configuration: str
    quality: str
    dynamic: bool
    refits: bool
    robust: bool = False


def embree_of(configuration: str | Configuration) -> EmbreeRival | None:
    """Embree where the spelling says so; None of our own. `quality` is low, medium (the default), high or dynamic,
    `robust` yes or no (the default); the policy rebuild or refit. Raises ConfigurationError for anything else."""
    spelt = parse(configuration) if isinstance(configuration, str) else configuration
    if spelt.builder.name != NAME:
        return None
    text, options = str(spelt), dict(spelt.builder.options)
    quality = options.pop("quality", "medium")
    robust = parse_value(bool, options.pop("robust", "no"))
    known = (*QUALITIES, DYNAMIC)
    if quality not in known or not isinstance(robust, bool) or options:
        what, remedy = "Embree has the options quality and robust", f"quality is one of {', '.join(known)}"
        raise ConfigurationError(what, text, f"{remedy}, robust yes or no")
    if spelt.optimiser or spelt.layout or spelt.traversal:
        raise ConfigurationError("Embree's trees have neither optimisers nor layouts here", text, "leave them out")
    policy = "rebuild" if spelt.policy is None else str(spelt.policy)
    if policy not in ("rebuild", "refit"):
        raise ConfigurationError(f"Embree does not follow by {policy}", text, "choose @rebuild or @refit")
    is_dynamic = quality == DYNAMIC or policy == "refit"
    return EmbreeRival(text, "medium" if quality == DYNAMIC else quality, is_dynamic, policy == "refit", robust)


class EmbreeLane:
    """See the module. Times are those of Embree's process: its commit, and the trace by as many threads as the CPU
    device has."""

    def __init__(self, target: Target, scene: Scene, rival: EmbreeRival, rays: Rays) -> None:
        self._target, self._rival = target, rival
        self._animator = Animator(target, scene)
        threads = getattr(target, "threads", 0) or processors()
        positions, triangles = self._moved(Moment(0.0))
        self.layout, self.ray_count, self.note = "Embree's own", len(rays), ""
        rows = rays_in_rows(rays.origins, rays.directions, rays.t_min, rays.t_max)
        sets = [RaySet(rows=rows, is_coherent=False)]
        try:
            self._process = EmbreeProcess(
                positions, triangles, sets, threads, rival.quality, dynamic=rival.dynamic, robust=rival.robust
            )
        except PeerAbsentError as error:
            self._animator.close()
            raise Error(str(error).rstrip("."), rival.configuration, "") from error
        self._has_tree = False

    def _moved(self, moment: Moment) -> tuple[np.ndarray, np.ndarray]:
        surface = self._animator.at(moment)
        return np.array(self._target.download(surface.positions)), np.array(self._target.download(surface.triangles))

    def play(self, moment: Moment) -> Frame:
        """One frame."""
        refits = self._rival.refits and self._has_tree
        update_ms = self._process.update(self._moved(moment)[0], refit=refits)
        self._has_tree = True
        (trace_ms,) = self._process.trace(0, PACK).samples_ms
        return Frame("refit" if refits else "rebuild", update_ms, trace_ms)

    def hits(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the last frame."""
        t, prim_id = self._process.hits(0, PACK)
        return t[: self.ray_count], prim_id[: self.ray_count]

    def statistics(self) -> HierarchyStatistics | None:
        """Nobody may look into its trees."""
        return None

    def warps(self) -> None:
        """Nor count in them."""

    def close(self) -> None:
        """End the process."""
        self._process.close()
        self._animator.close()
