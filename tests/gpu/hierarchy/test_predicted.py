"""What is predicted is what a real build reserves: to the byte where memory follows from the number of primitives, at
most that where it grows."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy import registry
from raygrove.gpu.hierarchy.base import StructureChoice
from raygrove.gpu.hierarchy.growing import GrowingHierarchy
from raygrove.gpu.hierarchy.predicted import predicted_memory
from raygrove.gpu.hierarchy.primitives import sphere_primitives, triangle_primitives
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.rehearsal import RehearsalTarget, unfilled

COUNT = 700


def real_memory(target: Target, name: str, choice: StructureChoice, is_spheres: bool) -> tuple[int, int]:
    """Bytes that a structure says it holds and takes, after a build over random triangles or spheres."""
    random = np.random.default_rng(5)
    centres = random.random((COUNT, 3), np.float32)
    if is_spheres:
        radii = np.full(COUNT, 0.02, np.float32)
        primitives = sphere_primitives(target.upload(centres, "test"), target.upload(radii, "test"))
    else:
        corners = centres[:, None] + 0.05 * random.random((COUNT, 3, 3), np.float32)
        indices = np.arange(3 * COUNT, dtype=np.int32).reshape(-1, 3)
        primitives = triangle_primitives(target.upload(corners.reshape(-1, 3), "test"), target.upload(indices, "test"))
    made = registry.make_structure(target, name, choice)
    made.build(primitives)
    found = made.stats()
    return found.bytes, found.scratch_bytes


@pytest.mark.parametrize("is_spheres", [False, True], ids=["triangles", "spheres"])
@pytest.mark.parametrize("name", list(registry.own_structures()))
def test_a_prediction_is_what_a_build_reserves(host_target: Target, name: str, is_spheres: bool) -> None:
    counts = (0, COUNT, 0) if is_spheres else (COUNT, 0, 0)
    found = predicted_memory(name, "host", counts)
    held, scratch = real_memory(host_target, name, StructureChoice(), is_spheres)
    if found.is_least:
        assert issubclass(registry.structure(name), GrowingHierarchy)
        assert held / 2 <= found.held <= held and scratch / 3 <= found.scratch <= scratch
    else:
        assert (found.held, found.scratch) == (held, scratch)


@pytest.mark.parametrize(
    "choice",
    [
        *(StructureChoice(layout=layout) for layout in registry.structure("lbvh").layouts()),
        *(StructureChoice(optimiser=name) for name in registry.structure("lbvh").optimisers()),
        StructureChoice(triangle_test="unit_triangle"),
    ],
    ids=str,
)
def test_layout_optimiser_and_triangle_test_count(host_target: Target, choice: StructureChoice) -> None:
    found = predicted_memory("lbvh", "host", (COUNT, 0, 0), choice)
    assert (found.held, found.scratch) == real_memory(host_target, "lbvh", choice, False)


def test_memory_of_a_hundred_million_triangles_is_predicted_without_any() -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = predicted_memory("lbvh", "cuda", (100_000_000, 0, 0))
    assert found.peak > 10 << 30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10, "in KiB"


def test_a_rehearsal_keeps_sizes_through_slices_and_views() -> None:
    array = RehearsalTarget("host").empty((6, 4), np.float32, "test")
    assert array[:3].nbytes == 48 and array.reshape(-1).shape == (24,)
    assert unfilled(80, np.uint8)[:64].view(np.uint64).shape == (8,)
    assert unfilled((5, 8), np.float32).view(np.float64).nbytes == 160
