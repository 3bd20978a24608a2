"""The library on a GPU: a caller's arrays where they lie, on the caller's stream, in the caller's graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.target.base import Target

from .test_trees import corners_of, mesh_of, poses_of, rays_of

pytestmark = pytest.mark.cuda


@pytest.fixture
def cupy(cuda_target: Target) -> Any:
    return pytest.importorskip("cupy", reason="cupy is not installed")


def test_arrays_of_cupy_stay_where_they_are(cuda_target: Target, host_target: Target, cupy: Any) -> None:
    body, poses, rays = mesh_of(100), poses_of(5, 1.5), rays_of(3000, 2.0)
    scene = rg.Scene(target=cuda_target)
    mesh = scene.add_mesh(cupy.asarray(body[0]), cupy.asarray(body[1]), transforms=cupy.asarray(poses))
    with rg.build(scene, "two_level@refit") as tree:
        origins, directions = cupy.asarray(rays[0]), cupy.asarray(rays[1])
        asked = rg.RaySet(origins, directions)
        hits = tree.trace(asked, outputs=("u", "v", "normal", "instance"))
        assert isinstance(hits.t, cupy.ndarray) and isinstance(hits.normal, cupy.ndarray)
        with rg.build(
            (corners_of([(*body, poses)]).reshape(-1, 3), np.arange(1500).reshape(-1, 3)), "hploc", target=host_target
        ) as other:
            expected = other.trace(*rays)
        found = hits.prim_id.get()
        assert (found == expected.prim_id).mean() > 0.99 and (found >= 0).sum() > 200
        assert tree.update() == "refit", "transforms on a GPU may have been written in place"
        mesh.moves = False
        assert tree.update() == "nothing"
        origins += 100.0  # in place: nothing was copied
        assert (tree.trace(asked).prim_id.get() == -1).mean() > 0.9


def test_a_caller_s_stream_is_followed(cuda_target: Target, cupy: Any) -> None:
    body, rays = mesh_of(100), rays_of(100_000, 2.0)
    with rg.build(body, "hploc", target=cuda_target) as tree:
        expected = tree.trace(*rays)
        for _ in range(5):
            with cupy.cuda.Stream(non_blocking=True) as stream:
                origins = cupy.full((100_000, 3), 1e6, np.float32)
                for _ in range(20):  # keeps the stream busy until the true origins come
                    origins = cupy.sqrt(origins * origins)
                origins[:] = cupy.asarray(rays[0])
                hits = tree.trace(rg.RaySet(origins, cupy.asarray(rays[1])), stream=stream)
                t = hits.t + 0.0  # on the caller's stream, after the trace
                stream.synchronize()
            np.testing.assert_array_equal(t.get(), expected.t)


def test_a_caller_s_graph_captures_updates_and_traces(cuda_target: Target, cupy: Any) -> None:
    body, count = mesh_of(60), 16
    group = np.arange(count, dtype=np.int32)
    poses = cupy.asarray(poses_of(count, 1.0))
    scene = rg.Scene(target=cuda_target)
    scene.add_mesh(*body, transforms=poses, groups=group)
    origins, directions = (cupy.asarray(part) for part in rays_of(4096, 2.0))
    rays = rg.RaySet(origins, directions, groups=cupy.asarray(np.tile(group, 256)))
    with rg.build(scene, "two_level@refit") as tree:
        hits = tree.empty_hits(4096)
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            for _ in range(2):  # everything is made before it is captured
                tree.update(stream=stream)
                tree.trace(rays, out=hits, stream=stream)
            stream.synchronize()
            before = cuda_target.memory()
            stream.begin_capture()
            tree.update(stream=stream)
            tree.trace(rays, out=hits, stream=stream)
            graph = stream.end_capture()
            for _ in range(3):
                moved = poses_of(count, 1.0)
                poses.set(moved)
                hits.t.fill(-1.0)
                graph.launch(stream)
                stream.synchronize()
                replayed = hits.prim_id.get()
                tree.update(stream=stream)
                tree.trace(rays, out=hits, stream=stream)
                stream.synchronize()
                np.testing.assert_array_equal(replayed, hits.prim_id.get())
                assert (replayed >= 0).sum() > 50
        assert cuda_target.memory() == before, "nothing was allocated"


def test_what_is_nearest_stays_on_the_device_and_fits_a_graph(cuda_target: Target, cupy: Any) -> None:
    random = np.random.default_rng(8)
    points = random.random((500, 3), np.float32) * 3.0
    with rg.build(mesh_of(300), "hploc", target=cuda_target) as tree:
        expected, several = tree.nearest(points, 0.2), tree.k_nearest(points, 5)
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            asked = cupy.full((500, 3), 50.0, np.float32)
            tree.nearest(asked, 0.2), tree.k_nearest(asked, 5)
            stream.begin_capture()  # whatever waits fails in here
            found, near = tree.nearest(asked, 0.2), tree.k_nearest(asked, 5)
            graph = stream.end_capture()
            asked.set(points)
            graph.launch(stream)
            stream.synchronize()
        assert isinstance(found.prim_id, cupy.ndarray) and isinstance(near.distances, cupy.ndarray)
        for column in ("prim_id", "distance", "points"):
            np.testing.assert_array_equal(getattr(found, column).get(), getattr(expected, column))
        np.testing.assert_array_equal(near.prim_ids.get(), several.prim_ids)
        np.testing.assert_array_equal(near.distances.get(), several.distances)
        assert 0 < (expected.prim_id < 0).sum() < 500


def test_arrays_of_the_host_are_taken_and_given_back(cuda_target: Target) -> None:
    with rg.build(mesh_of(), "hploc", target=cuda_target) as tree:
        hits = tree.trace(*rays_of(100))
        assert isinstance(hits.t, np.ndarray) and isinstance(tree.occluded(*rays_of(10)), np.ndarray)
        with pytest.raises(rg.Error, match="out.t lies on the host"):
            tree.trace(*rays_of(3), out=rg.Hits(np.zeros(3, np.float32), np.zeros(3, np.int32)))


@pytest.mark.parametrize("name", ["torch", "jax", "warp"])
def test_libraries_get_their_own_kind(cuda_target: Target, name: str) -> None:
    module = pytest.importorskip(name, reason=f"{name} is not installed")
    if name == "torch" and not module.cuda.is_available():
        pytest.skip("torch sees no GPU")
    make = {
        "torch": lambda a: module.from_numpy(a).cuda(),
        "jax": lambda a: module.numpy.asarray(a),
        "warp": lambda a: module.array(a, device="cuda:0"),
    }[name]
    rays = rays_of(200)
    with rg.build(mesh_of(), "hploc", target=cuda_target) as tree:
        hits = tree.trace(rg.RaySet(make(rays[0]), make(rays[1])))
        assert type(hits.t).__module__.split(".")[0].startswith(name)
        expected = tree.trace(*rays)
        found = hits.t.cpu().numpy() if name == "torch" else hits.t.numpy() if name == "warp" else np.asarray(hits.t)
        np.testing.assert_array_equal(found, expected.t)
