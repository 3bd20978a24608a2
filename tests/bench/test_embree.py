"""Embree beside us: the same rays in the same order find the same hits; without Embree the sentence says how to get
it."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.bench.measure import Task
from raygrove.bench.peers.embree import measure
from raygrove.bench.ray_sets import rows_of_picture
from raygrove.bench.trace import run_trace
from raygrove.gpu.analysis.rivals import embree
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import NoDeviceError, Target


@pytest.fixture(scope="module")
def task() -> Task:
    return Task(make_demo("orbit", 4000), size=(203, 101), moments=(Moment(0.4),), repeat=2, warmup=1)


def test_finds_the_same_hits(host_target: Target, task: Task) -> None:
    try:
        embree.library()
    except embree.PeerAbsentError as error:
        pytest.skip(str(error))
    row = run_trace(host_target, task, peers=("embree",), kinds=("primary",))[0]
    assert [peer["pack"] for peer in row.peers] == [16, 8, 1]
    for peer in row.peers:
        assert peer["hits"] == pytest.approx(row.hits, abs=3)
        assert peer["sum_t"] == pytest.approx(row.sum_t, rel=1e-4)
        assert peer["mrays_per_s"] > 0.0 and len(peer["samples_ms"]) == 3
        assert peer["program"].startswith(("Embree 3", "Embree 4"))


def test_any_hit_rays_find_the_same_hits(host_target: Target, task: Task) -> None:
    try:
        embree.library()
    except embree.PeerAbsentError as error:
        pytest.skip(str(error))
    (row,) = run_trace(host_target, task, peers=("embree",), kinds=("diffuse any-hit",))
    assert [peer["pack"] for peer in row.peers] == [16, 8, 1] and row.hits > 50
    for peer in row.peers:
        assert peer["hits"] == pytest.approx(row.hits, abs=3 + row.hits // 200)
        assert peer["mrays_per_s"] > 0.0


def test_an_absent_library_is_a_sentence(host_target: Target, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    embree.library.cache_clear()
    monkeypatch.setattr(embree.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(embree, "SYSTEM", ())
    row = run_trace(host_target, task, peers=("embree",), kinds=("primary",))[0]
    embree.library.cache_clear()
    assert row.hits and "pip install embreex" in row.peers[0]["absent"]


def test_a_library_that_cannot_be_opened_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    broken = tmp_path / "libembree4.so"
    broken.write_text("no library")
    monkeypatch.setattr(embree, "library", lambda: str(broken))
    scene = make_demo("blob", 20)
    with pytest.raises(embree.PeerAbsentError, match="could not be opened"):
        embree.EmbreeProcess(scene.meshes[0].positions, scene.meshes[0].triangles, [], 1)


def test_its_best_tree_answers_in_turns(task: Task) -> None:
    """Closest and any hits of one buffer by every width of packets, asked for in turn, agree."""
    try:
        embree.library()
    except embree.PeerAbsentError as error:
        pytest.skip(str(error))
    mesh, rows = make_demo("blob", 2000).meshes[0], rows_of_picture(Camera((0.0, 0.0, 3.0)), (20, 12))
    sets = [embree.RaySet(rows=rows), embree.RaySet(rows=rows, is_any=True), embree.RaySet(Camera((0, 0, 3)), (20, 12))]
    assert [one.count for one in sets] == [240] * 3
    with embree.EmbreeProcess(mesh.positions, mesh.triangles, sets, 1, "high") as peer:
        found = {(index, pack): peer.trace(index, pack, 2) for pack in embree.PACKS for index in range(3)}
    hits = found[0, 1].hits
    assert 20 < hits < 240 and {one.hits for one in found.values()} == {hits}
    distances = {round(found[index, pack].sum_t, 2) for index in (0, 2) for pack in embree.PACKS}
    assert len(distances) == 1 and found[1, 8].sum_t == 0.0
    assert all(len(one.samples_ms) == len(one.processor_ms) == 2 for one in found.values())


def test_a_missing_compiler_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> tuple[str, ...]:
        raise NoDeviceError("No C++ compiler was found.")

    monkeypatch.setattr(embree, "find_compiler", absent)
    with pytest.raises(embree.PeerAbsentError, match="No C\\+\\+ compiler"):
        embree.program()


def test_a_program_that_fails_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    broken = tmp_path / "embree"
    broken.write_text("#!/bin/sh\necho 'no such device' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(embree, "program", lambda: broken)
    monkeypatch.setattr(embree, "library", lambda: "libembree4.so")
    scene = make_demo("blob", 20)
    with pytest.raises(embree.PeerAbsentError, match="no such device"):
        measure(scene.meshes[0].positions, scene.meshes[0].triangles, Task(scene).view_from(), (8, 8), 1)


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
