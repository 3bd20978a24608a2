"""Units are compiled several at a time, the long ones first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from raygrove.app.frames import compile_job
from raygrove.gpu.target.base import UnitSource

SHORT = UnitSource("gpu/animate/animate.cu")
LONG = UnitSource("gpu/shade/smooth.cu", rays_per_thread=0)
MIDDLE = UnitSource("gpu/shade/film.cu", rays_per_thread=0)
READY = UnitSource("gpu/hierarchy/morton_order.cu")


class Ahead:
    """Notes what is compiled."""

    def __init__(self) -> None:
        self.compiled: list[UnitSource] = []

    def is_ready(self, source: UnitSource) -> bool:
        return source is READY

    def compile(self, source: UnitSource, check: Callable[[], None]) -> None:
        self.compiled.append(source)


def test_the_longest_unit_is_begun_first_and_none_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_job, "processors", lambda: 1)
    ahead: Any = Ahead()
    said: list[tuple[int, int]] = []
    units = [SHORT, READY, MIDDLE, LONG]
    assert compile_job.compile_units(ahead, units, lambda done, of: said.append((done, of))) == 3
    assert ahead.compiled == [LONG, MIDDLE, SHORT]
    assert said == [(0, 3), (1, 3), (2, 3), (3, 3)]
