"""A host target that knows whether a frame is being drawn, for tests of what frames may not do."""

from __future__ import annotations

from raygrove.gpu.target.base import TargetOptions
from raygrove.gpu.target.host import HostTarget


class FrameTarget(HostTarget):
    """`is_in_frame` from `begin_frame` to `end_frame`."""

    def __init__(self) -> None:
        super().__init__(TargetOptions(threads=2))
        self.is_in_frame = False

    def begin_frame(self, frame_id: int) -> None:
        self.is_in_frame = True
        super().begin_frame(frame_id)

    def end_frame(self) -> None:
        self.is_in_frame = False
        super().end_frame()
