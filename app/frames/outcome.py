"""What one frame of the render thread was, as a plain value."""

from __future__ import annotations

import dataclasses

from raygrove.app.frames.node_boxes import BoxReport
from raygrove.gpu.display.sphere_look import SpherePicture
from raygrove.gpu.region import RegionContents
from raygrove.gpu.stats import Collisions, FrameStatistics


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one frame was: its number, how many of its samples are in the picture, the newest statistics, and those of
    the frame in which the structure was built or refitted last: a picture that was tried, one that was skipped, or this
    one. `preparing_ms` went into what the picture was the first to need: the target, the scene there, compiled kernels,
    small pictures tried first. `whole_ms` is what a picture of full size is thought to take, 0 where that is not
    known. Not `is_whole`: some rows of a sample were drawn, a `share` of them by now, and the others are still to come,
    before any other picture of the same choice where it `is_kept`. With `spheres` nothing was drawn into the slots: who
    shows pictures draws them. `noise` is what is left of it in a picture at rest, where that is known
    (gpu/shade/noise.py). `drawn`: the first picture's (width, height) as it was drawn; in its slot it may be larger."""

    frame_id: int
    samples: int
    samples_wanted: int
    statistics: FrameStatistics | None
    target_name: str
    device_name: str
    boxes: BoxReport | None = None
    collisions: Collisions | None = None
    contents: RegionContents | None = None
    last_update: FrameStatistics | None = None
    preparing_ms: float = 0.0
    whole_ms: float = 0.0
    is_whole: bool = True
    is_kept: bool = False
    share: float = 1.0
    spheres: SpherePicture | None = None
    noise: float | None = None
    drawn: tuple[int, int] = (0, 0)
