"""Embree beside us: the same rays in the same order find the same hits; without Embree the sentence says how to get
it."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.measure import Task
from raygrove.bench.peers import embree
from raygrove.bench.trace import run_trace
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import NoDeviceError, Target


@pytest.fixture(scope="module")
def task() -> Task:
    return Task(make_demo("orbit", 4000), size=(203, 101), moments=(Moment(0.4),), repeat=2, warmup=1)


def test_finds_the_same_hits(host_target: Target, task: Task) -> None:
    try:
        embree.program()
    except embree.PeerAbsentError as error:
        pytest.skip(str(error))
    row = run_trace(host_target, task, peers=("embree",), kinds=("primary",))[0]
    assert [peer["pack"] for peer in row.peers] == [16, 8, 1]
    for peer in row.peers:
        assert peer["hits"] == pytest.approx(row.hits, abs=3)
        assert peer["sum_t"] == pytest.approx(row.sum_t, rel=1e-4)
        assert peer["mrays_per_s"] > 0.0 and len(peer["samples_ms"]) == 3 and peer["program"].startswith("Embree 3")


def test_any_hit_rays_find_the_same_hits(host_target: Target, task: Task) -> None:
    try:
        embree.program()
    except embree.PeerAbsentError as error:
        pytest.skip(str(error))
    (row,) = run_trace(host_target, task, peers=("embree",), kinds=("diffuse any-hit",))
    assert [peer["pack"] for peer in row.peers] == [16, 8, 1] and row.hits > 50
    for peer in row.peers:
        assert peer["hits"] == pytest.approx(row.hits, abs=3 + row.hits // 200)
        assert peer["mrays_per_s"] > 0.0


def test_absent_headers_are_a_sentence(host_target: Target, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embree, "HEADERS", (pathlib.Path("/nowhere/rtcore.h"),))
    row = run_trace(host_target, task, peers=("embree",), kinds=("primary",))[0]
    assert row.hits and "libembree-dev" in row.peers[0]["absent"]


def test_a_missing_compiler_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    def absent() -> tuple[str, ...]:
        raise NoDeviceError("No C++ compiler was found.")

    monkeypatch.setattr(embree, "HEADERS", (tmp_path,))
    monkeypatch.setattr(embree, "find_compiler", absent)
    with pytest.raises(embree.PeerAbsentError, match="No C\\+\\+ compiler"):
        embree.program()


def test_a_program_that_fails_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    broken = tmp_path / "embree"
    broken.write_text("#!/bin/sh\necho 'no such device' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(embree, "program", lambda: broken)
    scene = make_demo("blob", 20)
    with pytest.raises(embree.PeerAbsentError, match="no such device"):
        embree.measure(scene.meshes[0].positions, scene.meshes[0].triangles, Task(scene).view_from(), (8, 8), 1)


def test_unknown_peers_are_refused(host_target: Target, task: Task) -> None:
    with pytest.raises(KeyError):
        run_trace(host_target, task, peers=("optix",))


def test_rays_have_one_order_in_both_programs() -> None:
    """The bit arithmetic of embree.cpp against the order that trace.py gives."""
    from raygrove.gpu.trace.trace import pixel_order

    x, y = pixel_order(16, 8)
    r = np.arange(64)
    assert np.array_equal(x[:64], (r & 1) | ((r >> 1) & 2) | ((r >> 2) & 4)) and np.array_equal(x[64:], x[:64] + 8)
    assert np.array_equal(y[:64], ((r >> 1) & 1) | ((r >> 2) & 2) | ((r >> 3) & 4))
    source = embree.SOURCE.read_text(encoding="utf-8")
    assert (
        "(r & 1) | ((r >> 1) & 2) | ((r >> 2) & 4)" in source
        and "((r >> 1) & 1) | ((r >> 2) & 2) | ((r >> 3) & 4)" in source
    )
