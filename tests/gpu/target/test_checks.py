"""Checked units: what a kernel must not do is an error with a sentence, and the target goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import Hierarchy
from raygrove.gpu.hierarchy.bvh import bvh
from raygrove.gpu.hierarchy.kdtree import kdtree
from raygrove.gpu.target.base import Target, UnitSource
from raygrove.gpu.target.checks import REPORT, CheckFailedError, Checks, kernel_id
from raygrove.gpu.target.structs import make_struct, struct_dtype
from raygrove.gpu.target.translation_unit import write_unit
from raygrove.gpu.trace.trace import HitBuffer, Tracer, upload_rays
from raygrove.testing.scenes import make, soup
from tests.gpu.hierarchy.crafted_scenes import CRAFTED, crafted

SOURCE = UnitSource("tests/gpu/target/checks.cu")
TRACE = UnitSource(
    "gpu/trace/trace.cu",
    (
        "gpu/device/triangle.cuh",
        "gpu/hierarchy/bvh/traversals/bvh2_stack.cuh",
        "gpu/trace/ray_sources.cuh",
        "gpu/trace/on_primitive.cuh",
    ),
    (
        ("Tree", "Bvh2Stack"),
        ("Records", "TriangleRecords"),
        ("RaySource", "CameraRays"),
        ("OnPrimitive", "ClosestHit"),
        ("OnNode", "NoNodes"),
    ),
    (
        ("REFERENCE_BITS", 26),
        ("STACK_DEPTH", 128),
        ("STACK_KEEPS_DISTANCE", False),
        ("TRACE_BLOCK", 128),
        ("TRACE_BLOCKS", 8),
        ("TRACE_INPUT_BYTES", 32),
    ),
)


def numbers(target: Target, count: int = 100) -> Any:
    return target.upload(np.arange(count, dtype=np.int32), "numbers")


def run(target: Target, kernel: str, n: int, /, **arguments: Any) -> None:
    target.launch(target.unit(SOURCE), kernel, n, **arguments)
    target.synchronize()


def test_what_is_right_runs(checked_target: Target) -> None:
    values, out = numbers(checked_target), checked_target.zeros(40, "i4", "out")
    run(checked_target, "copy_from", 40, values=values, first=60, out=out, n=40)
    assert checked_target.download(out).tolist() == list(range(60, 100))


@pytest.mark.parametrize("first", [61, -1, 1 << 20])
def test_a_place_that_is_none_is_an_error_and_the_target_goes_on(checked_target: Target, first: int) -> None:
    values, out = numbers(checked_target), checked_target.zeros(40, "i4", "out")
    place = -1 if first < 0 else first if first > 100 else 100
    with pytest.raises(CheckFailedError) as raised:
        run(checked_target, "copy_from", 40, values=values, first=first, out=out, n=40)
    said = str(raised.value)
    assert "The kernel copy_from went to element" in said and "where there are 100 (numbers)" in said
    if checked_target.kind == "host" or first < 100:  # of many threads any may be the first
        assert f"element {place:,} " in said
    run(checked_target, "copy_from", 40, values=values, first=60, out=out, n=40)
    assert checked_target.download(out).tolist() == list(range(60, 100))


def test_pointers_in_structs_are_checked(checked_target: Target) -> None:
    values, out = numbers(checked_target), checked_target.zeros(4, "i4", "out")
    view = make_struct(struct_dtype([("values", "pointer")]), values=values)
    run(checked_target, "copy_of_struct", 4, numbers=view, first=96, out=out, n=4)
    assert checked_target.download(out).tolist() == [96, 97, 98, 99]
    with pytest.raises(CheckFailedError, match=r"copy_of_struct went to element 100 where there are 100 \(numbers\)"):
        run(checked_target, "copy_of_struct", 1, numbers=view, first=100, out=out, n=1)
    nothing = make_struct(struct_dtype([("values", "pointer")]), values=None)
    with pytest.raises(CheckFailedError, match="element 3 of an array that it was not given"):
        run(checked_target, "copy_of_struct", 1, numbers=nothing, first=3, out=out, n=1)


@pytest.mark.parametrize(("start", "place"), [(11, 0), (0, 10), (1 << 30, 0)])
def test_what_is_written_behind_an_array_is_not(checked_target: Target, start: int, place: int) -> None:
    out = checked_target.zeros(10, "i4", "out")
    with pytest.raises(CheckFailedError, match=r"write_behind went to element [\d,]+ where there are 10 \(out\)"):
        run(checked_target, "write_behind", 1, out=out, **{"from": start}, place=place)


def test_a_stack_has_a_bound(checked_target: Target) -> None:
    out = checked_target.zeros(1, "i4", "out")
    run(checked_target, "push_too_often", 1, out=out, count=4)
    assert checked_target.download(out)[0] == 4
    with pytest.raises(CheckFailedError, match="push_too_often pushed one more onto a stack of 4, with 4 on it"):
        run(checked_target, "push_too_often", 1, out=out, count=5)


def test_a_replay_is_checked_as_well(checked_target: Target) -> None:
    """What is wrong is known when frames are replayed, too: here the place is in the array that they read it from."""
    values, out = numbers(checked_target, 8), checked_target.zeros(8, "i4", "out")

    def body() -> None:
        checked_target.launch(checked_target.unit(SOURCE), "copy_from", 8, values=values, first=1, out=out, n=8)

    with pytest.raises(CheckFailedError):
        body()
        checked_target.synchronize()
    replay = checked_target.capture(body)
    with pytest.raises(CheckFailedError, match="element 8 where there are 8"):
        replay()
        checked_target.synchronize()


# -- traversals -------------------------------------------------------------------------------------------------------
def built(target: Target, name: str = "lbvh") -> Hierarchy:
    hierarchy = make(target, name, traversal="full_stack" if name == "median_sah" else "auto")
    hierarchy.build(soup(400).upload(target))
    return hierarchy


def traced(hierarchy: Hierarchy, origins: np.ndarray, directions: np.ndarray, **interval: Any) -> HitBuffer:
    found = Tracer(hierarchy.target, hierarchy.traversal()).trace(
        upload_rays(hierarchy.target, origins, directions, **interval)
    )
    hierarchy.target.synchronize()
    return found


def bundle(count: int = 64) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(4)
    origins, directions = random.uniform(-1, 1, (2, count, 3)).astype(np.float32)
    return origins, directions


@pytest.mark.parametrize("name", ["lbvh", "median_sah"])
def test_a_depth_that_is_said_too_small_is_found(
    checked_target: Target, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Without the check the traversal writes behind its stack."""
    hierarchy = built(checked_target, name)
    assert (checked_target.download(traced(hierarchy, *bundle()).prim_id) >= 0).any()
    monkeypatch.setattr(type(hierarchy), "max_depth", lambda self: 1, raising=False)
    for family in (bvh, kdtree):
        monkeypatch.setattr(family, "LEAST_STACK", 1)
    with pytest.raises(CheckFailedError, match="trace_rays pushed one more onto a stack of"):
        traced(hierarchy, *bundle())


@pytest.mark.parametrize("scene_name", CRAFTED)
def test_the_depth_that_is_proven_holds_where_trees_are_deepest(
    checked_target: Target, monkeypatch: pytest.MonkeyPatch, scene_name: str
) -> None:
    """Stacks as small as the bound allows, scenes made to break builders."""
    monkeypatch.setattr(bvh, "LEAST_STACK", 1)
    scene = crafted(scene_name, 700)
    corners = scene.corners()
    corners = corners[np.isfinite(corners).all(axis=(1, 2))]
    with np.errstate(over="ignore"):
        middles = corners.mean(axis=1)
        towards = middles - middles[:1] + np.float32(1e-3)
    is_ray = np.isfinite(towards).all(axis=1) & np.isfinite(middles).all(axis=1)
    hierarchy = make(checked_target, "lbvh")
    hierarchy.build(scene.upload(checked_target))
    traced(hierarchy, np.broadcast_to(middles[:1], middles.shape)[is_ray], towards[is_ray])


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        (0, np.nan, "origin is not a number"),
        (0, np.inf, "origin is not a number or is infinite"),
        (1, np.nan, "direction is not a number"),
        (1, -np.inf, "direction is not a number or is infinite"),
    ],
)
def test_a_ray_that_is_none_is_found(checked_target: Target, part: int, value: float, said: str) -> None:
    hierarchy, rays = built(checked_target), bundle()
    rays[part][37, 1] = value
    with pytest.raises(CheckFailedError, match=f"trace_rays was to trace a ray whose {said}"):
        traced(hierarchy, *rays)


def test_a_ray_needs_a_direction_and_an_interval_of_numbers(checked_target: Target) -> None:
    hierarchy, (origins, directions) = built(checked_target), bundle()
    with pytest.raises(CheckFailedError, match="a ray without a direction"):
        traced(hierarchy, origins, directions * (np.arange(64) != 5)[:, None])
    ends = np.where(np.arange(64) == 5, 0.0, 9.0).astype(np.float32)
    directions[5] = np.nan
    traced(hierarchy, origins, directions, t_max=ends)  # nobody traces it


def test_a_wrong_link_of_a_tree_is_found(checked_target: Target) -> None:
    """A root's number that is no node's."""
    hierarchy = built(checked_target)
    assert isinstance(hierarchy, bvh.BvhHierarchy)
    checked_target.write(hierarchy.tree.root, np.full(hierarchy.tree.root.shape, 1 << 20, np.int32))
    with pytest.raises(
        CheckFailedError, match=r"trace_rays went to element [\d,]+ where there are [\d,]+ \(hierarchy\)"
    ):
        traced(hierarchy, *bundle())


# -- without a check --------------------------------------------------------------------------------------------------
def test_other_units_know_nothing_of_checks() -> None:
    for kind in ("host", "cuda"):
        plain, checked = (write_unit(TRACE, kind, 8, checks) for checks in (False, True))
        assert "IS_CHECKED" not in plain.text and "begins_checked" not in plain.text
        assert "#define IS_CHECKED 1" in checked.text and "Pointer<float> t, Pointer<int> prim_id" in checked.text
        assert plain.kernels == checked.kernels and plain.digest != checked.digest


def test_reports_of_an_unknown_array_or_kernel_are_sentences() -> None:
    checks = Checks()
    report = np.zeros(1, REPORT)
    assert checks.error(report[0]) is None
    report[0] = (1, kernel_id("gone"), 7, 3, 4096)
    assert "went to element 7 where there are 3 (an array that is gone)" in str(checks.error(report[0]))
    checks.know(["gone"])
    assert "The kernel gone went" in str(checks.error(report[0]))


def test_memory_that_is_lent_twice_is_known_until_both_are_gone() -> None:
    """Constant arrays are not copied onto a target in main memory: a view and its array may begin at one place."""
    checks = Checks()
    whole, part = checks.add(64, 16, "whole"), checks.add(64, 8, "part")
    other = checks.add(32, 8, "other")
    assert checks.arrays().tolist() == [2, 32, 40, 64, 80]
    checks.forget(other)
    checks.forget(whole)
    assert checks.has_changed and checks.arrays().tolist() == [1, 64, 72]
    checks.forget(part)
    assert checks.arrays().tolist() == [0]


@pytest.mark.parametrize("source", [SOURCE, TRACE], ids=lambda source: source.path)
def test_checked_units_compile_for_nvidia_gpus(source: UnitSource) -> None:
    """What the device runs is tested there (`checked_target`)."""
    from raygrove.gpu.target.base import NoDeviceError
    from raygrove.gpu.target.nvrtc import compile_unit

    try:
        cubin = compile_unit(write_unit(source, "cuda", 1, checks=True), 90, name=source.path)
    except NoDeviceError as error:
        pytest.skip(str(error))
    assert b"check_state" in cubin.image
