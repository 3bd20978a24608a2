"""Many worlds are stepped by our tree and by Warp's grouped one: the same rays hit; without Warp a sentence."""

from __future__ import annotations

import argparse
import sys

import pytest

from raygrove.bench.arguments import UsageError
from raygrove.bench.cases.worlds import run, warp_row, worlds_row
from raygrove.gpu.analysis.rivals.embree import PeerAbsentError
from raygrove.gpu.analysis.rivals.warp import module
from raygrove.gpu.target.base import Target

NAMES = argparse.Namespace(triangles=60, rays_a_world=64, repeat=1)


def test_warp_hits_what_we_hit(host_target: Target) -> None:
    try:
        module()
    except PeerAbsentError as error:
        pytest.skip(str(error))
    said: list[str] = []
    ours = worlds_row(host_target, NAMES, "groups", "two_level/bvh2@refit", 8, said.append)
    theirs = warp_row(host_target, NAMES, 8, said.append)
    assert ours["hits"] == theirs["hits"] > 20 and theirs["rays"] == ours["rays"] == 8 * 64
    assert theirs["step_ms"] > 0.0 and "Warp" in said[1]


def test_without_warp_a_sentence_says_how_to_get_it(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "warp", None)
    said: list[str] = []
    assert "pip install warp-lang" in warp_row(host_target, NAMES, 8, said.append)["absent"]
    assert "it is not installed" in said[0]


def test_parts_that_there_are_not_are_refused_before_anything_is_measured() -> None:
    with pytest.raises(UsageError, match="--parts knows worlds, face, first, not rays"):
        run(argparse.Namespace(parts="face,rays", device="cpu"))
