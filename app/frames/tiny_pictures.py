"""Before the first picture of a choice that cannot be stopped, a tiny one: at full size it could take minutes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from raygrove.app.frames.pacing import Pacing
from raygrove.app.frames.pixel_slots import HostSlot, PixelSlot
from raygrove.app.frames.resolution import PROBE_PIXELS, probe_size
from raygrove.gpu.engine import View
from raygrove.gpu.scene import Moment
from raygrove.gpu.stats import FrameStatistics


def draw_tiny(
    engine: Any,
    pacing: Pacing,
    moment: Moment,
    slots: Sequence[PixelSlot],
    views_of: Callable[[Sequence[PixelSlot]], Sequence[View]],
) -> None:
    """Draw tiny pictures, which tell the pace whether the choice is slow beyond measure."""
    for pixels in PROBE_PIXELS:
        size = probe_size(slots[0].width, slots[0].height, pixels)
        engine.render_frame(dataclasses.replace(moment, frame_id=0), views_of([HostSlot(*size) for _ in slots]))
        statistics: FrameStatistics | None = engine.flush()
        if statistics is not None and statistics.views:
            pacing.probe(statistics, size[0] / slots[0].width, slots[0].height)
        if not pacing.pace.is_known:
            return
