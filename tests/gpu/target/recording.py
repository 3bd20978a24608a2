"""A host target that notes every unit it is asked for and every kernel launched from it, in the width that CUDA uses."""

from __future__ import annotations

from typing import Any

from gpu.target.base import DeviceCount, TargetOptions, Unit, UnitSource
from gpu.target.host import HostTarget


class RecordingTarget(HostTarget):
    """Runs as the host target does, with packs of one ray, so that a unit's source is the one a CUDA target would be given."""

    def __init__(self) -> None:
        super().__init__(TargetOptions(threads=2))
        self.lane_count = 1
        self.launched: dict[UnitSource, set[str]] = {}
        self._source_of: dict[int, UnitSource] = {}

    def unit(self, source: UnitSource) -> Unit:
        made = super().unit(source)
        self.launched.setdefault(source, set())
        self._source_of[id(made)] = source
        return made

    def launch(self, unit: Unit, kernel: str, n: int | DeviceCount, *args: Any, block: int = 256, blocks: int = 0) -> None:
        self.launched[self._source_of[id(unit)]].add(kernel)
        super().launch(unit, kernel, n, *args, block=block, blocks=blocks)
