"""Host targets that note every unit they are asked for and every kernel launched from it, in the width that CUDA
uses."""

from __future__ import annotations

from typing import Any

import numpy as np

from raygrove.gpu.target.base import Array, DeviceCount, TargetOptions, Unit, UnitSource
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.target.host_unit import HostUnit
from raygrove.gpu.target.translation_unit import KernelSignature, parse_kernels, read_source, signatures


class RecordingTarget(HostTarget):
    """Packs have one ray, so that a unit's source is the one a CUDA target would be given. With `is_dry` nothing is
    compiled and nothing runs: for code that only launches."""

    def __init__(self, is_dry: bool = False) -> None:
        super().__init__(TargetOptions(threads=2))
        self.lane_count, self.is_dry = 1, is_dry
        self.launched: dict[UnitSource, set[str]] = {}
        self._source_of: dict[int, UnitSource] = {}
        self._signatures: dict[UnitSource, dict[str, KernelSignature]] = {}
        self._dry_units: dict[UnitSource, HostUnit] = {}

    def unit(self, source: UnitSource) -> Unit:
        made: Unit
        if self.is_dry:
            names = tuple(parse_kernels(read_source(source.path), source.path))
            made = self._dry_units.setdefault(source, HostUnit(names, {}, {}))
        else:
            made = super().unit(source)
        self.launched.setdefault(source, set())
        self._source_of[id(made)] = source
        return made

    def empty(self, shape: int | tuple[int, ...], dtype: Any, tag: str) -> Array:
        made = super().empty(shape, dtype, tag)
        if self.is_dry:
            made[...] = np.zeros((), made.dtype)  # nothing writes it, and statistics are made of it
        return made

    def launch(
        self,
        unit: Unit,
        kernel: str,
        n: int | DeviceCount,
        /,
        *,
        block: int = 256,
        blocks: int = 0,
        **arguments: Any,
    ) -> None:
        assert isinstance(unit, HostUnit) and kernel in unit.kernels
        self.launched.setdefault(self._source_of[id(unit)], set()).add(kernel)
        if self.is_dry:
            source = self._source_of[id(unit)]
            if source not in self._signatures:
                self._signatures[source] = signatures(source)
            taken = {one.name: one.struct for one in self._signatures[source][kernel].parameters}
            assert sorted(arguments) == sorted(taken), f"{source.path}, {kernel}: {sorted(arguments)}, not {[*taken]}"
            for name, struct in taken.items():
                assert struct is None or struct.lays_out(arguments[name].dtype), f"{source.path}, {kernel}: {name}"
        else:
            super().launch(unit, kernel, n, block=block, blocks=blocks, **arguments)
