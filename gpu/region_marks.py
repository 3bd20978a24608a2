"""What lies in a region of the scene, by the structure that is shown: counted, and marked in a finished picture. On
request, after the frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from .hierarchy.base import HierarchyError
from .query.query import Queries
from .query.questions import Places, upload_boxes
from .region import COLOR, Region, RegionContents
from .shade.outline import OutlineLook, OutlinePainter
from .surroundings import measured_to
from .target.base import Array, Target
from .view_slot import ViewSlot

LOOK = OutlineLook(COLOR, 0.5)


class RegionMarks:
    """Counts and marks for one view. The structure is asked, and the view's rays are traced once more, only where the
    region, the camera or the scene is another than before."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._painter = OutlinePainter(target)
        self._marks: Array | None = None
        self._known: Any = None
        self._contents = RegionContents(Region())

    def paint(self, image: Array, slot: ViewSlot, version: int, prim_count: int, region: Region) -> RegionContents:
        """Mark what is in `region` in `image`, the picture of the view's last frame; `version` is that of the surface,
        `prim_count` how many primitives the scene has. Waits where something is new. Where the structure answers no
        such query nothing is marked, and the contents have its sentence."""
        tracer = slot.tracer()
        known = (region, version, slot.parts)
        if known != self._known:
            self._contents, self._known = self._count(slot, prim_count, region), known
        if self._contents.count:
            film = slot.film
            seen = (slot.view.camera, (film.width, film.height), slot.clip)
            assert self._marks is not None
            self._painter.paint(image, tracer, *seen, self._marks, known, LOOK)
        return self._contents

    def _count(self, slot: ViewSlot, prim_count: int, region: Region) -> RegionContents:
        target, of = self._target, measured_to(slot.hierarchy)
        if self._marks is None or len(self._marks) != max(prim_count, 1):
            self._marks = target.empty(max(prim_count, 1), np.uint32, "display")
        target.fill(self._marks, 0)
        try:
            queries = Queries(slot.hierarchy, of)
            if region.shape == "box":
                lower, upper = (np.array([corner]) for corner in region.corners)
                found = queries.mark(upload_boxes(target, lower, upper), self._marks)
            else:
                point = target.upload(np.array([region.centre], np.float32), "queries")
                found = queries.mark(Places(point, radius=region.size), self._marks)
        except HierarchyError as error:
            return RegionContents(region, of, None, str(error))
        return RegionContents(region, of, int(target.download(found)[0]))
