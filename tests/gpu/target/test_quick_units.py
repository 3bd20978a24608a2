"""A first picture's units: loaded from the quick level where the other is not there yet, replaced once it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raygrove.gpu.target import cache, host_compiler
from raygrove.gpu.target.base import TargetOptions, UnitSource
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.target.host_unit import HostUnit
from raygrove.gpu.target.planning import AheadCompiler
from raygrove.gpu.target.stopping import NotCompiled

SOURCE = UnitSource("tests/gpu/target/contract.cu")


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> HostTarget:
    """One that takes them and compiles nothing itself, with a cache that has the unit at the quick level."""
    made = HostTarget(TargetOptions(threads=1))
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path / "cache"))
    AheadCompiler(made, is_quick=True).compile(SOURCE)

    def refuse() -> None:
        raise NotCompiled

    monkeypatch.setattr(made, "check", refuse)
    made.quick.takes = True
    return made


def test_what_was_recorded_runs_the_code_that_came_later(target: HostTarget) -> None:
    unit = target.unit(SOURCE)
    assert isinstance(unit, HostUnit) and target.quick.sources == (SOURCE,)
    values, counts = target.zeros(5, np.int32, "test"), target.upload(np.array([5], np.int32), "test")
    replay = target.capture(lambda: target.launch(unit, "add_one", 5, values=values, count=counts))
    replay()
    before = unit.entries["add_one"].value
    target.quick.exchange()
    assert target.quick.sources == (SOURCE,), "there is nothing better yet"
    AheadCompiler(target).compile(SOURCE)
    target.quick.exchange()
    assert target.quick.sources == () and unit.entries["add_one"].value != before
    replay()
    assert values.tolist() == [2] * 5


def test_nobody_else_takes_them_and_the_full_ones_come_first(target: HostTarget) -> None:
    target.quick.takes = False
    with pytest.raises(NotCompiled):
        target.unit(SOURCE)
    target.quick.takes = True
    ahead, quick = AheadCompiler(target), AheadCompiler(target, is_quick=True)
    assert quick.is_ready(SOURCE) and not ahead.is_ready(SOURCE)
    ahead.compile(SOURCE)
    target.unit(SOURCE)
    assert ahead.is_ready(SOURCE) and target.quick.sources == ()


def test_a_unit_that_is_there_is_looked_for_once(target: HostTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file is read, and its checksum computed, while somebody waits for a picture."""
    AheadCompiler(target).compile(SOURCE)
    find, found = cache.find_file, list[str]()

    def noted(key: str, suffix: str) -> Path | None:
        found.append(key)
        return find(key, suffix)

    monkeypatch.setattr(cache, "find_file", noted)
    monkeypatch.setattr(host_compiler, "find_file", noted)
    target.unit(SOURCE)
    assert len(found) == 1
