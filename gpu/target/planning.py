"""Which units launches need, found without compiling or computing anything; and compiling those into the cache, from
any thread.

A frame on a planning target asks for its units in the order in which it would on the real one, but every launch is left
out and all memory is zero. What a structure reads back is zero, too: of 26 structures each asked for all that it asks
for on a CPU. What were missed after all would be compiled when it is needed, as ever.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from .arguments import ArgumentBlock
from .base import Array, Target, UnitSource
from .host import HostTarget
from .host_unit import HostUnit
from .structs import address
from .translation_unit import UnitText, include_closure, read_source, write_unit


class PlanningTarget(HostTarget):
    """See the module. It answers as the target that it stands for; `planned` are the units asked for, in that order.
    Needs the C++ compiler's runtime, as the host target does."""

    def __init__(self, of: Target) -> None:
        super().__init__(dataclasses.replace(of.options, threads=1, sort="auto", checks=False, profile=False))
        self.kind, self.name, self.lane_count, self.processors = of.kind, of.name, of.lane_count, of.processors
        self.planned: list[UnitSource] = []

    def empty(self, shape: int | tuple[int, ...], dtype: Any, tag: str) -> Array:
        array = super().empty(shape, dtype, tag)
        array.reshape(-1).view(np.uint8).fill(0)
        return array

    def unit(self, source: UnitSource) -> HostUnit:
        made = self._units.get(source)
        if made is None:
            self.planned.append(source)
            kernels = write_unit(source, self.kind, self.lane_count).kernels
            blocks = {name: ArgumentBlock(signature, address) for name, signature in kernels.items()}
            made = self._units[source] = HostUnit(tuple(kernels), dict.fromkeys(kernels), blocks)
        return made

    def _launch(self, unit: HostUnit, kernel: str, arguments: dict[str, Any], block: int, blocks: int) -> None:
        """Left out."""

    def _radix_sort(self, arrays: tuple[Array | None, ...], bits: tuple[int, int]) -> None:
        """Left out."""

    def _scan(self, values: Array, out: Array) -> None:
        """Left out."""


def expected_work(source: UnitSource) -> int:
    """How long a unit compiles, in no unit of time: the characters of the project's own text in it, twice those where
    it is written for packs of rays."""
    characters = sum(len(read_source(path)) for path in include_closure((*source.headers, source.path)))
    return characters * (1 if source.rays_per_thread == 1 else 2)


def load_ahead(target: Target, source: UnitSource) -> bool:
    """Load a unit that is in the cache before a frame asks for it, on any thread; whether it is loaded. On a CPU alone:
    a GPU's driver would hold up the frames meanwhile."""
    return isinstance(target, HostTarget) and target.load_ahead(source)


class AheadCompiler:
    """Brings units into the cache for a target. Nothing of the target is used but what it is: any thread may call.
    `is_idle`: a C++ compiler runs at the lowest priority; `is_quick`: it compiles for a first picture
    (quick_units.py)."""

    def __init__(self, target: Target, *, is_idle: bool = False, is_quick: bool = False) -> None:
        self._kind, self._lane_count, self._options = target.kind, target.lane_count, target.options
        self._is_idle, self._is_quick = is_idle, is_quick
        self._architecture = int(getattr(target, "architecture", 0))

    def is_ready(self, source: UnitSource) -> bool:
        """Whether the cache has the unit."""
        text = self._text(source)
        if self._kind == "host":
            from .host_compiler import QUICK, is_compiled

            digest, contraction = text.digest, self._options.contraction
            return is_compiled(digest, contraction) or (self._is_quick and is_compiled(digest, contraction, QUICK))
        from .nvrtc import is_compiled as is_compiled_for_gpu

        return is_compiled_for_gpu(text, self._architecture, self._options.contraction)

    def compile(self, source: UnitSource, check: Callable[[], None] = lambda: None) -> None:
        """Compile the unit where the cache lacks it. Raises CompileError, and what `check` raises."""
        text = self._text(source)
        if self._kind == "host":
            from .host_compiler import FULL, QUICK, compiled_file

            compiled_file(
                text.text,
                text.digest,
                self._options.contraction,
                check=check,
                is_idle=self._is_idle,
                level=QUICK if self._is_quick else FULL,
            )
        else:
            from .nvrtc import compile_unit

            compile_unit(text, self._architecture, self._options.contraction, name=source.path, check=check)

    def _text(self, source: UnitSource) -> UnitText:
        return write_unit(source, self._kind, self._lane_count, self._options.checks)
