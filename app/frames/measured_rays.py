"""The rays that settings choose to be measured over a scene: read or made when they are first asked for, and kept until
another choice or another scene."""

from __future__ import annotations

from raygrove.app.settings.ray_options import RayOptions, measures_others
from raygrove.gpu.analysis.traced_rays import RowRays, in_rows
from raygrove.gpu.analysis.workload import Rays, Workload
from raygrove.gpu.face.workloads import workload_of
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target


class MeasuredRays:
    """See the module. `choose` costs nothing; the others raise Error where the rays cannot be read or made."""

    def __init__(self) -> None:
        self._options, self._moment = RayOptions(), Moment()
        self._scene: Scene | None = None
        self._made: tuple[str, Scene, Workload] | None = None

    def choose(self, options: RayOptions, scene: Scene, moment: Moment) -> None:
        """What is measured from now on, and at which instant."""
        self._options, self._scene, self._moment = options, scene, moment

    def workload(self) -> Workload | None:
        """What is measured; None: the picture's rays."""
        text, scene = self._options.measured, self._scene
        if scene is None or not measures_others(self._options):
            return None
        if self._made is None or self._made[0] != text or self._made[1] is not scene:
            self._made = (text, scene, workload_of(text, scene))
        return self._made[2]

    def now(self) -> Rays | None:
        """Those of the instant; None: the picture's."""
        found = self.workload()
        return None if found is None else found.at(self._moment)

    def in_rows(self, target: Target) -> RowRays | None:
        """The same on a target, as kernels that count take them."""
        found = self.now()
        return None if found is None else in_rows(target, found)
