"""Trees over scenes: what moves is followed, hits are the oracle's, groups and masks are kept, and loops allocate
nothing."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.host import HostTarget
from raygrove.testing.closest_hits import triangle_hits

RANDOM = np.random.default_rng(11)
ONE = ([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2]])


def mesh_of(count: int = 40) -> tuple[np.ndarray, np.ndarray]:
    vertices = RANDOM.random((3 * count, 3)).astype(np.float32) * 0.4
    vertices[1::3] += vertices[::3]
    vertices[2::3] += vertices[::3]
    return vertices, np.arange(3 * count, dtype=np.int32).reshape(-1, 3)


def poses_of(count: int, spread: float = 3.0) -> np.ndarray:
    turn = np.linalg.qr(RANDOM.normal(size=(count, 3, 3)))[0]
    return np.concatenate([turn, RANDOM.random((count, 3, 1)) * spread], axis=2).astype(np.float32)


def rays_of(count: int, spread: float = 4.0) -> tuple[np.ndarray, np.ndarray]:
    origins = (RANDOM.random((count, 3)) * spread - 0.5).astype(np.float32)
    return origins, RANDOM.normal(size=(count, 3)).astype(np.float32)


def corners_of(meshes: list[tuple[np.ndarray, np.ndarray, np.ndarray | None]]) -> np.ndarray:
    """(T, 3, 3): the triangles of all instances, as float32 places them."""
    found = []
    for vertices, triangles, poses in meshes:
        for pose in [np.eye(3, 4, dtype=np.float32)] if poses is None else poses:
            found.append((vertices @ pose[:3, :3].T + pose[:3, 3])[triangles])
    return np.concatenate(found).astype(np.float32)


def assert_oracle(hits: Any, corners: np.ndarray, rays: tuple[np.ndarray, np.ndarray], least: int = 20) -> None:
    expected = triangle_hits(corners, *rays)
    sure = expected.is_certain
    assert sure.mean() > 0.9 and (expected.prim_id >= 0).sum() >= least
    np.testing.assert_array_equal(hits.prim_id[sure], expected.prim_id[sure])
    np.testing.assert_allclose(hits.t[sure], expected.t[sure], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("configuration", ["two_level@refit", "hploc/bvh4@auto", "median_sah", "brute_force"])
def test_a_scene_is_followed_as_it_moves(target: Target, configuration: str) -> None:
    body, floor, poses, rays = mesh_of(), mesh_of(30), poses_of(7), rays_of(600)
    scene = rg.Scene(target=target)
    robots = scene.add_mesh(*body, transforms=poses)
    ground = scene.add_mesh(*floor)
    with rg.build(scene, configuration) as tree:
        for step in range(4):
            if step == 1:
                robots.transforms = poses = poses_of(7)
            elif step == 2:
                poses[3] = poses_of(1)[0]  # in place
            elif step == 3:
                ground.vertices = floor[0][:] = mesh_of(30)[0]
            done = tree.update()
            assert (done == "nothing") == (step == 0)
            corners = corners_of([(*body, poses), (*floor, None)])
            hits = tree.trace(*rays, outputs=("u", "v", "normal", "instance"))
            assert_oracle(hits, corners, rays)
            is_hit = hits.prim_id >= 0
            np.testing.assert_array_equal(tree.occluded(*rays), is_hit)
            np.testing.assert_array_equal(hits.instance, np.where(is_hit, np.minimum(hits.prim_id // 40, 7), -1))
            a, b, c = np.moveaxis(corners[hits.prim_id[is_hit]].astype(float), 1, 0)
            normal = np.cross(b - a, c - a)
            normal /= np.linalg.norm(normal, axis=1, keepdims=True)
            normal *= -np.sign(np.einsum("ij,ij->i", normal, rays[1][is_hit]))[:, None]
            np.testing.assert_allclose(hits.normal[is_hit], normal, atol=2e-3)
            assert not hits.normal[~is_hit].any()


def test_nothing_is_done_where_nothing_moved(host_target: Target) -> None:
    scene = rg.Scene(target=host_target)
    mesh = scene.add_mesh(*mesh_of(), transforms=poses_of(2))
    with rg.build(scene, "two_level@refit") as tree:
        mesh.transforms = mesh.transforms.copy()
        assert [tree.update(), tree.update(), tree.update()] == ["refit", "nothing", "nothing"]
        tree.rebuild()
        tree.refit()
        scene.add_mesh(*mesh_of())
        assert [tree.update(), tree.update()] == ["rebuild", "nothing"], "another mesh is another topology"
        assert tree.trace(*rays_of(5)).prim_id.shape == (5,) and scene.triangle_count == 120


def test_every_policy_and_auto_learns(host_target: Target) -> None:
    scene = rg.Scene(target=host_target)
    start = poses_of(3)
    mesh = scene.add_mesh(*mesh_of(200), transforms=start)
    with rg.build(scene, "lbvh@auto") as tree:
        done, ticks = [], itertools.count(10**9)
        tree._history._clock = lambda: float(next(ticks))  # every step is long enough after the one before
        for step in range(12):
            mesh.transforms = start + np.float32(0.001 * step + 0.001)
            done.append(tree.update())
            tree.trace(*rays_of(100))
        assert done[0] == "rebuild" and "refit" in done, "the first is worth its figures"
        assert tree._history.costs.is_known
        assert tree.statistics.build_ms is not None and tree.statistics().node_count == tree.statistics.node_count > 10


@pytest.mark.parametrize("configuration", ["two_level@refit", "two_level/bvh4@refit", "two_level/bvh2", "hploc@refit"])
def test_rays_meet_their_own_group(target: Target, configuration: str) -> None:
    """All worlds lie in one place: only the group keeps them apart."""
    body, ground, poses = mesh_of(25), mesh_of(10), poses_of(12, 1.5)
    groups = np.array([3, 0, 2, 3, 5, 5, 0, 2, 3, 0, 2, 9], np.int32)
    scene = rg.Scene(target=target)
    robots = scene.add_mesh(*body, transforms=poses, groups=groups)
    scene.add_mesh(*ground, groups=rg.ALL)
    rays, own = rays_of(800, 2.0), RANDOM.choice([0, 2, 3, 5, 7, 1000, rg.ALL], 800).astype(np.int32)
    with rg.build(scene, configuration) as tree:
        for step in range(3):
            if step == 1:
                robots.transforms = poses = poses_of(12, 1.5)
            if step == 2:
                robots.groups = groups = groups[::-1].copy()
            tree.update()
            hits = tree.trace(rg.RaySet(*rays, groups=own))
            is_hit = tree.occluded(rg.RaySet(*rays, groups=own))
            for group in np.unique(own):
                at = own == group
                kept = np.ones(12, bool) if group == rg.ALL else groups == group
                ids = np.concatenate([np.repeat(kept, 25), np.ones(10, bool)]).nonzero()[0]
                corners = corners_of([(*body, poses), (*ground, None)])
                expected = triangle_hits(corners[ids], rays[0][at], rays[1][at])
                sure = expected.is_certain
                found = np.where(expected.prim_id < 0, -1, ids[expected.prim_id])
                np.testing.assert_array_equal(hits.prim_id[at][sure], found[sure], err_msg=f"group {group}")
                np.testing.assert_array_equal(is_hit[at][sure], found[sure] >= 0)


def test_masks_hide_instances(target: Target) -> None:
    body, poses, rays = mesh_of(30), poses_of(6, 1.5), rays_of(500, 2.0)
    masks = np.array([1, 2, 4, 0, 1 << 31, 3], np.uint32)
    scene = rg.Scene(target=target)
    mesh = scene.add_mesh(*body, transforms=poses, masks=masks)
    with rg.build(scene, "hploc") as tree:
        for seen in (0b111, 2, 1 << 31, 0):
            kept = (masks & np.uint32(seen)) != 0
            ids = np.repeat(kept, 30).nonzero()[0]
            hits = tree.trace(rg.RaySet(*rays, masks=np.uint32(seen)))
            if not len(ids):
                assert (hits.prim_id == -1).all()
                continue
            expected = triangle_hits(corners_of([(*body, poses)])[ids], *rays)
            sure, found = expected.is_certain, np.where(expected.prim_id < 0, -1, ids[expected.prim_id])
            np.testing.assert_array_equal(hits.prim_id[sure], found[sure])
        mesh.masks = 1
        tree.update()
        assert (tree.trace(rg.RaySet(*rays, masks=2)).prim_id == -1).all()


def test_scenes_without_groups_compile_to_the_plain_kernel(host_target: Target) -> None:
    scene = rg.Scene(target=host_target)
    scene.add_mesh(*ONE, transforms=poses_of(3))
    with rg.build(scene, "two_level/bvh2") as tree:
        kinds = [tree._admitted(rg.RaySet([0, 0, 1], [0, 0, -1], groups=group), False)[0] for group in (4, rg.ALL)]
        assert not any(kind.filters or kind.has_roots for kind in kinds), "rays of any group meet what all meet"
        scene.meshes[0].groups = [0, 1, 2]
        tree.update()
        kind = tree._admitted(rg.RaySet([0, 0, 1], [0, 0, -1]), False)[0]
        assert kind.has_roots and not kind.filters


@pytest.mark.filterwarnings("ignore:raygrove. .* are not contiguous")
@pytest.mark.parametrize("shape", ["strided", "double", "column", "one"])
def test_rays_are_taken_as_they_lie(target: Target, shape: str) -> None:
    vertices, triangles = mesh_of(400)
    origins, directions = rays_of(333, 1.5)
    corners = vertices[triangles]
    given: tuple[Any, Any] = (origins, directions)
    if shape == "strided":
        both = np.concatenate([origins, directions], axis=1)
        given = (both[:, :3], both[:, 3:])
    elif shape == "double":
        given = (origins.astype(float), directions.astype(float))
    elif shape == "column":
        given = (np.asfortranarray(origins), np.asfortranarray(directions))
    else:
        given, origins = (origins[7], directions), np.repeat(origins[7:8], 333, axis=0)
    with rg.build((vertices, triangles), "hploc", target=target) as tree:
        assert_oracle(tree.trace(*given), corners, (origins, directions), 0 if shape == "one" else 20)
        part = rg.RaySet(*given)[5:25]
        assert len(part) == 20 and len(tree.trace(part)) == 20


def test_loops_allocate_nothing(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = rg.Scene(target=host_target)
    poses = poses_of(8)
    mesh = scene.add_mesh(*mesh_of(), transforms=poses, groups=np.arange(8, dtype=np.int32))
    lidar = rg.sensors.lidar(rows=4, columns=16, t_max=20.0)
    with rg.build(scene, "two_level@refit") as tree:
        hits = tree.empty_hits(8 * lidar.count)

        def step(tick: int) -> None:
            mesh.transforms = poses_of(8)
            assert tree.update() == "refit"
            assert tree.trace(lidar.rays(poses, groups=mesh.groups), out=hits) is hits

        step(0)
        monkeypatch.setattr(type(host_target), "empty", _refuse)
        monkeypatch.setattr(type(host_target), "synchronize", _refuse)
        monkeypatch.setattr(type(host_target), "download", _refuse)
        units = len(host_target._units)  # type: ignore[attr-defined]
        for tick in range(3):
            step(tick)
        monkeypatch.undo()
        assert units == len(host_target._units)  # type: ignore[attr-defined]
        assert (hits.prim_id >= 0).any() and np.isinf(hits.t[hits.prim_id < 0]).all()


def _refuse(*arguments: Any, **named: Any) -> Any:
    raise AssertionError("something was allocated or waited for")


def test_a_caller_s_arrays_are_written_in_place(host_target: Target) -> None:
    rays = rays_of(100)
    with rg.build(mesh_of(), "hploc", target=host_target) as tree:
        expected = tree.trace(*rays)
        mine = rg.Hits(np.zeros(100, np.float32), np.zeros(100, np.int32))
        assert tree.trace(*rays, out=mine) is mine
        np.testing.assert_array_equal(mine.t, expected.t)
        flags = np.zeros(100, bool)
        assert tree.occluded(*rays, out=flags) is flags and (flags == (expected.prim_id >= 0)).all()
        read_only = np.zeros(100, np.float32)
        read_only.flags.writeable = False
        for wrong, sentence in (
            (rg.Hits(np.zeros(99, np.float32), np.zeros(99, np.int32)), r"out.t have the shape \(100,\)"),
            (rg.Hits(np.zeros(100), np.zeros(100, np.int32)), "out.t is written in place: contiguous float32"),
            (rg.Hits(read_only, np.zeros(100, np.int32)), "out.t is written in place"),
            (rg.Hits(np.zeros(200, np.float32)[::2], np.zeros(100, np.int32)), "out.t is written in place"),
            (tree.empty_hits(7), "there are 100 rays and out has room for 7 hits"),
        ):
            with pytest.raises(rg.Error, match=sentence):
                tree.trace(*rays, out=wrong)
        with pytest.raises(rg.Error, match="out is written in place: contiguous bool"):
            tree.occluded(*rays, out=np.zeros(100, np.uint8))


def test_an_unfinite_ray_hits_nothing_where_nobody_looks(host_target: Target) -> None:
    origins = np.array(
        [[0.2, 0.2, 1.0], [np.nan, 0, 1], [0.2, 0.2, 1], [0.2, 0.2, 1.0], [0.2, 0.2, np.inf]], np.float32
    )
    directions = np.array([[0, 0, -1], [0, 0, -1], [0, 0, 0], [0, np.inf, -1], [0, 0, -1]], np.float32)
    with rg.build(ONE, "hploc", target=host_target) as tree:
        rays = rg.RaySet(origins, directions, check=False)
        assert tree.trace(rays).prim_id.tolist() == [0, -1, -1, -1, -1]
        ends = rg.RaySet(origins[[0, 0, 0]], directions[0], t_max=np.array([np.nan, 0.5, 2.0]), check=False)
        assert tree.trace(ends).prim_id.tolist() == [-1, -1, 0]


def test_two_threads_are_told_and_not_crashed(host_target: Target) -> None:
    with rg.build(ONE, "hploc", target=host_target) as tree:
        inside, leave = threading.Event(), threading.Event()

        def hold() -> None:
            with tree._device.used("test"):
                inside.set()
                leave.wait(20)

        other = threading.Thread(target=hold)
        other.start()
        inside.wait(20)
        try:
            with pytest.raises(rg.Error, match="another thread is using the device host just now") as raised:
                tree.trace([0, 0, 1], [0, 0, -1])
            assert raised.value.where == "Structure.trace" and "one thread at a time" in raised.value.remedy
        finally:
            leave.set()
            other.join()
        assert len(tree.trace([0, 0, 1], [0, 0, -1])) == 1, "afterwards it works"


def test_wrong_arrays_are_told_by_the_call_that_was_made(host_target: Target) -> None:
    with pytest.raises(rg.Error, match=r"^rg\.build: Triangle 0 is \[0, 1, 9\]"):
        rg.build(ONE[0], [[0, 1, 9]], "hploc", target=host_target)


def test_closing_waits_for_another_threads_call(host_target: Target) -> None:
    tree = rg.build(ONE, "hploc", target=host_target)
    with tree._device.used("test"):
        other = threading.Thread(target=tree.close)
        other.start()
        other.join(0.2)
        assert other.is_alive() and len(tree.trace([0, 0, 1], [0, 0, -1])) == 1, "nothing is taken away meanwhile"
    other.join(20)
    with pytest.raises(rg.Error, match="structure is closed"):
        tree.update()


def test_a_forked_process_is_told(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    with rg.build(ONE, "hploc", target=host_target) as tree:
        monkeypatch.setattr(tree._device, "_process", -1)
        with pytest.raises(rg.Error, match="was forked") as raised:
            tree.update()
        assert "'spawn'" in raised.value.remedy
        with tree._device._lock:  # by a thread that the fork has left behind
            closing = threading.Thread(target=tree.close)
            closing.start()
            closing.join(20)
            assert not closing.is_alive()
        monkeypatch.undo()


def test_what_is_closed_raises(host_target: Target) -> None:
    scene = rg.Scene(target=host_target)
    scene.add_mesh(*ONE)
    tree = rg.build(scene)
    tree.close()
    tree.close()
    for call in (
        lambda: tree.update(),
        lambda: tree.trace([0, 0, 1], [0, 0, -1]),
        lambda: tree.occluded([0, 0, 1], [0, 0, -1]),
        lambda: tree.empty_hits(1),
        lambda: tree.nodes(),
        lambda: tree.statistics,
        lambda: tree.nearest([0, 0, 0]),
    ):
        with pytest.raises(rg.Error, match="The structure is closed: build it again"):
            call()
    with scene:
        pass
    with pytest.raises(rg.Error, match="the scene is closed"):
        scene.add_mesh(*ONE)
    with pytest.raises(rg.Error, match="the scene is closed"):
        rg.build(scene)


def test_rays_are_recorded_of_a_clip_alone() -> None:
    with pytest.raises(rg.Error, match=r"rays are recorded of a rg\.Clip, and this is NoneType"):
        rg.RaySet.record(None, time=0.5)


def test_a_sensor_without_a_pose_is_told_so(host_target: Target) -> None:
    with rg.build(ONE, "hploc", target=host_target) as tree, pytest.raises(rg.Error, match="a sensor has no place yet"):
        tree.trace(rg.sensors.lidar(rows=1, columns=4))


def test_a_ray_that_is_not_there_is_an_index_error() -> None:
    rays = rg.RaySet(*rays_of(3))
    assert [len(ray) for ray in iter(rays)] == [1, 1, 1], "a loop over rays ends"
    np.testing.assert_array_equal(rays[-1].origins, rays.origins[2:])
    assert len(rays[np.int64(2)]) == 1
    for index in (3, -4):
        with pytest.raises(IndexError, match="There are 3 rays"):
            rays[index]


def test_the_first_build_is_timed_without_what_it_compiled() -> None:
    # A target of its own: its first build makes every unit, most of them before the phases of the build.
    with rg.build(mesh_of(40), "hploc", target=HostTarget()) as tree:
        first = tree.statistics.build_ms
    assert first is not None and first > 0.0


def test_arrays_that_their_owner_drops_stay(host_target: Target) -> None:
    with rg.build(tuple(np.array(part) for part in ONE), "hploc@refit", target=host_target) as tree:
        rays = rg.RaySet(np.array([[0.2, 0.2, 1.0]], np.float32), np.array([[0, 0, -1]], np.float32))
        junk = [np.full(9, np.nan, np.float32) for _ in range(100)]
        assert tree.trace(rays).t.tolist() == [1.0] and len(junk) == 100
        tree.rebuild()
        assert tree.trace(rays).t.tolist() == [1.0]


def test_no_triangles_no_instances_and_no_rays(host_target: Target) -> None:
    scene = rg.Scene(target=host_target)
    with rg.build(scene, "two_level@refit") as tree:
        assert tree.trace([0, 0, 1], [0, 0, -1]).prim_id.tolist() == [-1]
        scene.add_mesh(np.zeros((0, 3)), np.zeros((0, 3), int))
        scene.add_mesh(*ONE, transforms=np.zeros((0, 3, 4)), groups=np.zeros(0, np.int32))
        assert tree.update() == "rebuild" and len(tree.trace(np.zeros((0, 3)), np.zeros((0, 3)))) == 0
        assert len(tree.occluded(rg.sensors.lidar(2, 2).rays(np.zeros((0, 3, 4))))) == 0
        scene.add_mesh(*ONE)
        tree.update()
        assert tree.trace([0.2, 0.2, 1], [0, 0, -1]).prim_id.tolist() == [0]
