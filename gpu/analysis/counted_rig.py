"""A rig whose traces cost what they count, so that every run finds the same: for studies of policies, where noise of
timings would give the best schedule an edge that no policy can have."""

from __future__ import annotations

import numpy as np

from ..trace.trace import BufferRays, Tracer
from .rig import Rig
from .traced_rays import in_rows
from .workload import Rays


class CountedRig(Rig):
    """As Rig, but `trace` gives the boxes and primitives that are tested, times `ms_per_step`, which can be set."""

    ms_per_step = 1e-6
    _source: BufferRays | None = None
    _source_of: Rays | None = None

    def trace(self) -> float:
        """All rays, counted one by one, as on every target."""
        if self._source is None or self._source_of is not self.rays:
            rays = self._source_of = self.rays
            self._source = in_rows(self.target, rays)
        hits = Tracer(self.target, self.hierarchy.traversal()).trace(self._source, "steps")
        assert hits.boxes is not None and hits.tests is not None
        counted = (self.target.download(array)[: len(self.rays)] for array in (hits.boxes, hits.tests))
        return self.ms_per_step * sum(int(np.sum(one, dtype=np.int64)) for one in counted)

    def calibrate(self, timings: int = 5) -> None:
        """Set `ms_per_step` by what tracing the tree that there is takes, the least of some timings."""
        super().trace()
        least = min(super(CountedRig, self).trace() for _ in range(timings))
        self.ms_per_step = 1.0
        self.ms_per_step = least / self.trace()
