"""Whether a picture shows anything of its scene, asked of fewer rays than it has. Between two frames; waits."""

from __future__ import annotations

import numpy as np

from .clip import HalfSpace
from .trace.trace import TILE_SIDE, VIEW_FRAME, CameraRays, Tracer, see_through
from .view_slot import ViewSlot

MOST_TILES = 128
"""Of rays beside each other, eight in each: of a strip fewer are asked than its height would have."""

SEEN, CLIPPED, NOTHING = "seen", "clipped", "nothing"
"""What is found: something is in the picture, or would be without the clipping plane, or nothing is there."""

GRIDS = (32, 192)
"""Rows of rays, tried in turn until one meets something: few find what fills the picture. What is smaller than a part
in 192 of its height may be missed."""


def in_sight(slot: ViewSlot) -> str | None:
    """What the view's newest picture shows: SEEN, CLIPPED or NOTHING; None where somebody else than the structure gives
    its primary hits. Raises what compiling raises where the unit is missing."""
    if slot.primary.caster is not None:
        return None
    tracer = slot.tracer()
    if any(_meets(slot, tracer, rows, slot.clip) for rows in GRIDS):
        return SEEN
    return CLIPPED if slot.clip is not None and any(_meets(slot, tracer, rows, None) for rows in GRIDS) else NOTHING


def _meets(slot: ViewSlot, tracer: Tracer, rows: int, clip: HalfSpace | None) -> bool:
    """Whether one of so many rows of rays, which together see what the picture does, meets anything."""
    width, height = slot.film.width, slot.film.height
    columns = max(1, min(round(rows * width / height / TILE_SIDE), MOST_TILES)) * TILE_SIDE
    frame = np.zeros((), VIEW_FRAME)
    see_through(frame, slot.view.camera, width, height, clip)
    frame["width"], frame["height"], frame["jitter"] = columns, rows, 0.5
    rays = CameraRays(slot.target.upload(frame.reshape(1).view(np.uint8), "rays"), columns, rows)
    hits = tracer.trace(rays, scratch="sight")
    return bool((slot.target.download(hits.prim_id) >= 0).any())
