"""Arrays of other libraries are taken where they lie and come back as their own kind; what lies elsewhere is said.

The libraries are stood in for by small classes that speak DLPack; the real ones are tried where they are installed."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.target import foreign
from raygrove.gpu.target.base import Target

V, T = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.float32), np.array([[0, 1, 2]], np.int32)


class Tensor:
    """An array that says nothing but where it lies."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __dlpack__(self, **named: Any) -> Any:
        return self.array.__dlpack__(**named)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __len__(self) -> int:
        return len(self.array)


class OnGpu:
    """One that says that it lies on a GPU."""

    shape, dtype = (1, 3), np.dtype(np.float32)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": (1, 3), "typestr": "<f4", "data": (4096, False), "version": 3}

    def __len__(self) -> int:
        return 1


@pytest.fixture
def tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """`torch`, as far as it is needed."""
    module = types.ModuleType("torch.utils.dlpack")
    module.from_dlpack = lambda array: Tensor(np.from_dlpack(array))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.dlpack", module)
    monkeypatch.setattr(Tensor, "__module__", "torch")


def test_another_library_s_arrays_come_back_as_its_own(host_target: Target, tensors: None) -> None:
    origins, directions = np.array([[0.2, 0.2, 1.0]], np.float32), np.array([[0.0, 0.0, -1.0]], np.float32)
    with rg.build(Tensor(V), Tensor(T), "hploc", target=host_target) as tree:
        rays = rg.RaySet(Tensor(origins), Tensor(directions))
        hits = tree.trace(rays)
        assert isinstance(hits.t, Tensor) and hits.t.array.tolist() == [1.0] and rays.library == "torch"
        assert isinstance(tree.occluded(rays), Tensor)
        origins[0, 2] = 3.0  # nothing was copied: what is written later is seen
        assert tree.trace(rays).t.array.tolist() == [3.0]
        near = tree.nearest(Tensor(origins), 5.0)
        assert isinstance(near.distance, Tensor) and near.distance.array.tolist() == [3.0]
        assert isinstance(tree.k_nearest(Tensor(origins), 2).prim_ids, Tensor)
        out = tree.empty_hits(1, library="torch")
        assert isinstance(out.t, Tensor) and tree.trace(rays, out=out) is out and out.t.array.tolist() == [3.0]
        assert isinstance(tree.trace(origins, directions).t, np.ndarray)


def test_arrays_of_a_gpu_are_refused_on_the_cpu(host_target: Target) -> None:
    with rg.build(V, T, "hploc", target=host_target) as tree:
        rays = rg.RaySet(OnGpu(), OnGpu())
        with pytest.raises(rg.Error, match="origins lie on a GPU and the tree is on the CPU") as raised:
            tree.trace(rays)
        assert 'device="cuda"' in raised.value.remedy and raised.value.where == "Structure.trace"
        with pytest.raises(rg.Error, match="vertices lie on a GPU"):
            rg.build(OnGpu(), T, "hploc", target=host_target)


def test_what_is_not_contiguous_is_copied_and_said_once(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raygrove.gpu.face.arrays._said", set())
    wide = np.zeros((3, 6), np.float32)
    wide[:, ::2] = V
    scene = rg.Scene(target=host_target)
    with pytest.warns(UserWarning, match=r"vertices \(\(3, 3\) of float32\) are not contiguous float32"):
        scene.add_mesh(wide[:, ::2], T)
    with rg.build(scene) as tree:
        assert tree.trace([0.2, 0.2, 1], [0, 0, -1]).t.tolist() == [1.0]


def test_where_an_array_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    assert foreign.is_on_gpu(OnGpu()) and not foreign.is_on_gpu(Tensor(V)) and not foreign.is_on_gpu([1.0])
    assert foreign.library_of(V) == "numpy" and foreign.library_of([1]) == ""
    assert foreign.as_library(V, "numpy") is V and foreign.as_library(V, "tensorflow") is V


def test_streams_have_numbers() -> None:
    class Said:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, 77

    assert foreign._pointer_of(Said()) == 77 and foreign._pointer_of(12) == 12
    assert foreign._pointer_of(types.SimpleNamespace(cuda_stream=5)) == 5
    assert foreign._pointer_of(types.SimpleNamespace(ptr=6)) == 6


def maker_of(name: str) -> Callable[[np.ndarray], Any]:
    """What makes arrays of a real library on the host; a skip where it is not installed."""
    if name == "cupy":
        pytest.skip("cupy has arrays on GPUs alone: tests/gpu/face/test_cuda.py")
    module = pytest.importorskip(name, reason=f"{name} is not installed", exc_type=ImportError)
    made = {"torch": lambda a: module.from_numpy(a), "jax": lambda a: module.numpy.asarray(a)}
    return made.get(name, lambda a: module.array(a, device="cpu"))


@pytest.mark.parametrize("name", ["torch", "warp"])
def test_real_arrays_are_written_in_place(host_target: Target, name: str) -> None:
    make = maker_of(name)
    with rg.build(make(V), make(T), "hploc", target=host_target) as tree:
        rays = rg.RaySet(make(np.array([[0.2, 0.2, 1.0], [5.0, 0, 1]], np.float32)), [0, 0, -1.0])
        own = rg.Hits(make(np.zeros(2, np.float32)), make(np.zeros(2, np.int32)))
        for out in (tree.empty_hits(2, library=name), own):
            assert tree.trace(rays, out=out) is out
            assert np.asarray(out.t).tolist() == [1.0, np.inf] and np.asarray(out.prim_id).tolist() == [0, -1]
        flags = make(np.zeros(2, np.bool_))
        assert tree.occluded(rays, out=flags) is flags and np.asarray(flags).tolist() == [True, False]


def test_arrays_of_jax_are_new_and_never_written(host_target: Target) -> None:
    """JAX copies what is not laid out as it wants: hits become its own once they are there."""
    make = maker_of("jax")
    count = 33  # of an odd size, which NumPy does not align as JAX wants
    along = np.tile(np.array([0, 0, -1.0], np.float32), (count, 1))
    start = np.stack([np.full(count, 0.2), np.full(count, 0.2), 1.0 + np.arange(count)], axis=1).astype(np.float32)
    with rg.build(make(V), make(T), "hploc", target=host_target) as tree:
        rays = rg.RaySet(make(start), make(along))
        for _ in range(3):
            assert np.asarray(tree.trace(rays).t).tolist() == start[:, 2].tolist()
            assert np.asarray(tree.occluded(rays)).all()
        with pytest.raises(rg.Error, match="arrays of JAX never change"):
            tree.empty_hits(count, library="jax")
        given = make(np.zeros(count, np.float32))
        with pytest.raises(rg.Error, match="arrays of JAX never change"):
            tree.trace(rays, out=rg.Hits(given, make(np.zeros(count, np.int32))))
        with pytest.raises(rg.Error, match="arrays of JAX never change"):
            tree.occluded(rays, out=make(np.zeros(count, np.bool_)))


def test_vectors_and_matrices_of_warp_are_taken(host_target: Target) -> None:
    make, warp = maker_of("warp"), sys.modules["warp"]
    poses = np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1))
    poses[1, 2, 3] = -3.0
    matrix = warp.types.matrix(shape=(3, 4), dtype=warp.float32)
    scene = rg.Scene(target=host_target)
    placed = {"dtype": matrix, "device": "cpu"}
    mesh = scene.add_mesh(warp.array(V, dtype=warp.vec3, device="cpu"), make(T), transforms=warp.array(poses, **placed))
    rays = rg.RaySet(
        *(warp.array([row], dtype=warp.vec3, device="cpu") for row in ([0.2, 0.2, -1.0], [0.0, 0.0, -1.0]))
    )
    with rg.build(scene, "two_level@refit") as tree:
        assert rays.library == "warp" and tree.trace(rays).t.numpy().tolist() == [2.0]
        poses[1, 2, 3] = -6.0
        mesh.transforms = warp.array(poses, **placed)
        assert tree.update() == "refit"
        assert tree.trace(rays).t.numpy().tolist() == [5.0]
        assert len(tree.trace(rg.sensors.lidar(2, 3).rays(warp.array(poses, **placed))).t) == 12


@pytest.mark.parametrize("name", ["torch", "jax", "warp", "cupy"])
def test_the_real_libraries(host_target: Target, name: str) -> None:
    make = maker_of(name)
    with rg.build(make(V), make(T), "hploc", target=host_target) as tree:
        hits = tree.trace(make(np.array([[0.2, 0.2, 1.0]], np.float32)), make(np.array([[0, 0, -1]], np.float32)))
        assert foreign.library_of(hits.t).startswith(name) and float(np.asarray(hits.t)[0]) == 1.0


def test_the_nearest_to_another_library_s_points_are_those_to_numpy_s(host_target: Target, tensors: None) -> None:
    random = np.random.default_rng(6)
    points, radius = random.random((40, 3), np.float32) * 2.0, random.random(40, np.float32)
    corners, exclude = random.random((90, 3), np.float32), np.arange(40, dtype=np.int32) % 30
    with rg.build(corners, np.arange(90, dtype=np.int32).reshape(-1, 3), "lbvh", target=host_target) as tree:
        for most in (np.inf, 0.3, radius):
            expected, given = tree.nearest(points, most), Tensor(most) if isinstance(most, np.ndarray) else most
            found = tree.nearest(Tensor(points), given)
            for column in ("prim_id", "distance", "points"):
                np.testing.assert_array_equal(getattr(found, column).array, getattr(expected, column))
            several = tree.k_nearest(points, 4, most, exclude=exclude)
            alike = tree.k_nearest(Tensor(points), 4, given, exclude=Tensor(exclude))
            np.testing.assert_array_equal(alike.prim_ids.array, several.prim_ids)
            np.testing.assert_array_equal(alike.distances.array, several.distances)
            assert (several.prim_ids != exclude[:, None]).all()
        assert np.isinf(expected.distance).any() and np.isnan(expected.points).any(), "some have nothing so near"
        with pytest.raises(rg.Error, match=r"points have the shape \(N, 3\)"):
            tree.nearest(Tensor(points[0]))
        with pytest.raises(rg.Error, match=r"radius have the shape \(40,\)"):
            tree.nearest(Tensor(points), Tensor(radius[:3]))
