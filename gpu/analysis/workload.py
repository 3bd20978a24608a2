"""The rays that measurements trace in every frame: the same ones, or rays that hang on a node of the scene and move
with it."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..node_transforms import pose_of
from ..scene import Moment, Scene

OF_A_SET = "rays of a set"


@dataclasses.dataclass(frozen=True, eq=False)
class Rays:
    """Rays as plain arrays of the host: origins and directions (N, 3) float32, and what bounds them, (N,) float32 or
    one number for all. `said` names them in reports."""

    origins: np.ndarray
    directions: np.ndarray
    t_min: float | np.ndarray = 0.0
    t_max: float | np.ndarray = float("inf")
    said: str = OF_A_SET

    def __len__(self) -> int:
        return len(self.origins)

    def at(self, moment: Moment) -> Rays:
        """Those of an instant: the same at all of them."""
        return self

    def at_most(self, count: int) -> Rays:
        """Not more than so many, neighbours in runs of up to 64, which go through a structure together; never none."""
        if len(self) <= count:
            return self
        length = min(64, count)
        runs, kept = len(self) // length, count // length
        first = np.linspace(0, runs - 1, kept).astype(np.int64) * length
        return self.taken((first[:, None] + np.arange(length)).reshape(-1))

    def taken(self, some: np.ndarray) -> Rays:
        """Those at some places, (K,) integers."""
        t_min, t_max = (bound[some] if isinstance(bound, np.ndarray) else bound for bound in (self.t_min, self.t_max))
        return Rays(self.origins[some], self.directions[some], t_min, t_max, self.said)


@dataclasses.dataclass(frozen=True, eq=False)
class HungRays:
    """Rays in the axes of a node of a scene, whose scale is left out: others in the world at each instant."""

    scene: Scene
    node: int
    local: Rays

    def __len__(self) -> int:
        return len(self.local)

    @property
    def said(self) -> str:
        """What they are called in reports."""
        return self.local.said

    def at(self, moment: Moment) -> Rays:
        """The rays in the world at an instant."""
        pose = pose_of(self.scene, self.node, moment.time, moment.clip)
        turn, place = pose[:, :3].T, pose[:, 3]
        origins = (self.local.origins.astype(np.float64) @ turn + place).astype(np.float32)
        directions = (self.local.directions.astype(np.float64) @ turn).astype(np.float32)
        return dataclasses.replace(self.local, origins=origins, directions=directions)

    def at_most(self, count: int) -> HungRays:
        """Not more than so many (Rays.at_most)."""
        return dataclasses.replace(self, local=self.local.at_most(count))

    def taken(self, some: np.ndarray) -> HungRays:
        """Those at some places (Rays.taken)."""
        return dataclasses.replace(self, local=self.local.taken(some))


Workload = Rays | HungRays
