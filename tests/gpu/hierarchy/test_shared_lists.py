"""Long lists, which a GPU's warps test together (shared_lists.cuh): the hits are those of brute force, whichever rays
of a warp come to long lists, and however many. On the host, where a warp has one lane, each ray tests its own."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.hierarchy.runs import RUN_LIST
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.nvrtc import ARCHITECTURES, compile_unit
from raygrove.gpu.target.translation_unit import write_unit
from raygrove.testing.scenes import TriangleScene, make, scene_of, trace
from tests.gpu.target.every_kernel import trace_structure
from tests.gpu.target.recording import RecordingTarget

NAMES = sorted(name for name, kind in structures().items() if kind.family in ("grid", "octree"))
WARP, SLIVERS = 32, 900
CENTRE = np.array([0.37, 0.41, 0.53])


def crowded() -> TriangleScene:
    """Slivers around one point, which no cut parts there, some of them twice at one place, and a few triangles beside
    them."""
    random = np.random.default_rng(4)
    angles = np.linspace(0.0, 2 * np.pi, SLIVERS + 1)
    rim = CENTRE + 0.3 * np.stack([np.cos(angles), 0.05 * np.sin(9 * angles), np.sin(angles)], axis=1)
    fan = np.stack([np.broadcast_to(CENTRE, (SLIVERS, 3)), rim[:-1], rim[1:]], axis=1)
    beside = random.random((60, 1, 3)) + 0.08 * random.standard_normal((60, 3, 3))
    return scene_of(np.concatenate([fan, fan[::7], beside]))


def rays(warps: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each warp from none to all of the rays go to the crowded place, some nearly along its slivers, the others
    anywhere."""
    random = np.random.default_rng(8)
    count = warps * WARP
    origins = random.random((count, 3)) * 2 - 0.5
    through = random.random((count, 3))
    crowd = random.random(count) < np.repeat(np.linspace(0.0, 1.0, warps) ** 3, WARP)
    through[crowd] = CENTRE + 0.01 * random.standard_normal((int(crowd.sum()), 3))
    flat = crowd & (random.random(count) < 0.5)
    origins[flat, 1] = CENTRE[1] + 0.001 * random.standard_normal(int(flat.sum()))
    directions = through - origins
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    return origins.astype(np.float32), directions.astype(np.float32)


@pytest.fixture(scope="module", params=["host", pytest.param("cuda", marks=pytest.mark.cuda)])
def target(request: pytest.FixtureRequest) -> Target:
    return request.getfixturevalue(f"{request.param}_target")  # type: ignore[no-any-return]


@pytest.mark.each_value
@pytest.mark.parametrize("name", NAMES)
def test_hits_are_those_of_brute_force(target: Target, name: str) -> None:
    scene = crowded().upload(target)
    tree, brute = make(target, name), make(target, "brute_force")
    tree.build(scene)
    brute.build(scene)
    counts = tree.nodes().reference_count
    assert counts.max() >= 4 * RUN_LIST and (counts[counts > 0] < RUN_LIST).any(), "long lists and short ones"
    origins, directions = rays(40)
    for count in (len(origins), 3 * WARP - 5):
        some = origins[:count], directions[:count]
        for t_max in (np.inf, 0.6):
            found, expected = (trace(one, *some, t_max=t_max) for one in (tree, brute))
            assert (expected.prim_id >= 0).sum() > count // 8 or t_max < np.inf
            for column in ("prim_id", "t", "u", "v"):
                assert np.array_equal(getattr(found, column), getattr(expected, column)), column
            is_hit, should = (trace(one, *some, "any", t_max).prim_id >= 0 for one in (tree, brute))
            assert np.array_equal(is_hit, should)


@pytest.mark.broad("NVRTC compiles a dozen units")
@pytest.mark.parametrize("name", ["octree_top_down", "grid"])
def test_a_gpus_kernels_share_lists_and_those_that_count_do_not(name: str) -> None:
    """What goes on behind a shared list is a function of its own."""
    target = RecordingTarget(is_dry=True)
    trace_structure(target, name)
    shares: dict[str, set[bool]] = {"ClosestHit": set(), "AnyHit": set(), "CountedClosestHit": set()}
    for unit in target.launched:
        kind = dict(unit.aliases).get("OnPrimitive", "")
        if unit.path == "gpu/trace/trace.cu" and dict(unit.aliases)["Records"] == "TriangleRecords":
            report = compile_unit(write_unit(unit, "cuda", 1), ARCHITECTURES[-1]).report
            shares[kind].add("go_on_sharing" in report)
    target.close()
    assert shares == {"ClosestHit": {True}, "AnyHit": {True}, "CountedClosestHit": {False}}
