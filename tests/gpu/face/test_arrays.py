"""Arrays of other libraries are taken where they lie and come back as their own kind; what lies elsewhere is said.

The libraries are stood in for by small classes that speak DLPack; the real ones are tried where they are installed."""

from __future__ import annotations

import importlib
import sys
import types
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


@pytest.mark.parametrize("name", ["torch", "jax", "warp", "cupy"])
def test_the_real_libraries(host_target: Target, name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is not installed")
    if name == "cupy":
        pytest.skip("cupy has arrays on GPUs alone: tests/gpu/face/test_cuda.py")
    make = {"torch": lambda a: module.from_numpy(a), "jax": lambda a: module.numpy.asarray(a)}.get(
        name, lambda a: module.array(a, device="cpu")
    )
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
