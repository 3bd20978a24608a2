"""Functions as builders: every layout and optimiser takes their trees, frames go on with them, and what is wrong with a
function or its tree is a sentence before anything follows it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy.base import CannotRefitError, Hierarchy, HierarchyError, StructureChoice
from raygrove.gpu.hierarchy.bvh.optimisers import optimiser_classes
from raygrove.gpu.hierarchy.bvh.own.tree import Tree
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions
from raygrove.testing.closest_hits import triangle_hits
from raygrove.testing.scenes import SCENES, TriangleScene, make, make_with, rays, soup, trace
from raygrove.testing.tree_walker import check_tree, tree_statistics
from tests.gpu.moving_scene import CAMERA, SIZE, moving_scene

from .given_tree import random_tree
from .own_builders import any_tree, builder, cut_in_two, halved, registered, rows_of, with_bounds

LAYOUTS = ("bvh2", "bvh2_compact", "bvh2_soa", "bvh4", "bvh8", "cwbvh")


pytestmark = pytest.mark.usefixtures("registry_as_before")


def assert_hits(made: Hierarchy, scene: TriangleScene, later: bool = False) -> None:
    expected = triangle_hits(scene.corners(later), *rays())
    sure = expected.is_certain
    np.testing.assert_array_equal(trace(made, *rays()).prim_id[sure], expected.prim_id[sure])


# -- what is built -----------------------------------------------------------------------------------------------------
@pytest.mark.covers("layout", "scene_name")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scene_name", ["one", "two", "soup", "degenerate", "moving"])
def test_any_tree_is_built_refitted_and_traced(target: Target, scene_name: str, layout: str) -> None:
    scene = SCENES[scene_name]()
    builder("mine")(any_tree)
    made = make(target, "mine", layout)
    for seed in (1, 2):  # another tree in the memory of the one before
        made = made if seed == 1 else make(target, "mine", layout, seed=seed)
        made.build(scene.upload(target))
        check_tree(made.nodes(), *scene.boxes())
        assert_hits(made, scene)
        made.refit(scene.upload(target, later=True))
        check_tree(made.nodes(), *scene.boxes(later=True))
        assert_hits(made, scene, later=True)


def test_the_tree_is_the_functions(host_target: Target) -> None:
    """Leaves, what they list, and who lies below whom are as the function said."""
    scene = soup(300)
    lower, upper = scene.boxes()
    boxes = np.hstack([lower, upper])
    given = any_tree(boxes, seed=9)
    builder("mine")(lambda bounds: given)
    made = make(host_target, "mine")
    made.build(scene.upload(host_target))
    table = made.nodes()
    places = {0: 0}  # row of the table -> row of the function's tree
    for row in range(len(table)):
        node, below = places[row], np.flatnonzero(table.parent == row)
        places |= dict(zip(below.tolist(), given.children[node].tolist(), strict=True)) if len(below) else {}
        np.testing.assert_array_equal(table.lower[row], given.bounds[node, :3])
        first, count = given.first[node], given.count[node]
        if count > 0:
            listed = table.references[table.first_reference[row] :][: table.reference_count[row]]
            np.testing.assert_array_equal(listed, given.primitives[first : first + count])
    assert len(places) == len(table)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_split_references_keep_their_parts(target: Target, layout: str) -> None:
    scene = soup(300, size=0.3)
    builder("mine", splits_references=True)(cut_in_two)
    made = make(target, "mine", layout)
    for seed in (5, 6):
        made = made if seed == 5 else make(target, "mine", layout, seed=seed)
        made.build(scene.upload(target))
        table = made.nodes()
        check_tree(table, *scene.boxes(), splits_references=True)
        leaves = np.flatnonzero(table.is_leaf)
        whole = np.prod(np.subtract(*scene.boxes()), axis=1)[table.references[table.first_reference[leaves]]]
        parts = np.prod(table.lower[leaves] - table.upper[leaves], axis=1)
        assert len(table.references) == len(leaves) == 600
        np.testing.assert_allclose(parts, whole / 2, rtol=1e-3, atol=1e-6)
        assert_hits(made, scene)
    made.measure()
    target.synchronize()
    assert made.stats().reference_count == 600
    assert made.stats().sah_cost == pytest.approx(tree_statistics(table).sah_cost, rel=1e-5)
    with pytest.raises(CannotRefitError):
        made.refit(scene.upload(target))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_leaves_of_any_size(target: Target, layout: str) -> None:
    """Longer ones than words can say, in a tree that had none before and has none after."""
    scene = soup(700)
    builder("mine")(halved)
    made = make(target, "mine", layout)
    for size in (4, 32, 90, 700, 4):
        object.__setattr__(made.options, "max_leaf_size", size)
        made.build(scene.upload(target))
        table = made.nodes()
        check_tree(table, *scene.boxes())
        assert table.reference_count.max() == min(700, {4: 3, 32: 22, 90: 88}.get(size, 700))
        assert_hits(made, scene)
        made.refit(scene.upload(target, later=True))
        assert_hits(made, scene, later=True)


@pytest.mark.parametrize("optimiser", sorted(optimiser_classes()))
def test_optimisers_take_its_trees(target: Target, optimiser: str) -> None:
    scene = soup(1500)
    builder("mine")(any_tree)
    plain = make(target, "mine", "bvh4")
    improved = make_with(target, "mine", StructureChoice(layout="bvh4", optimiser=optimiser))
    for made in (plain, improved):
        made.build(scene.upload(target))
        made.measure()
    target.synchronize()
    check_tree(improved.nodes(), *scene.boxes())
    assert improved.stats().sah_cost < 0.95 * plain.stats().sah_cost
    assert_hits(improved, scene)


def test_the_function_sees_active_boxes_alone(target: Target) -> None:
    """Those that have none come beside, and are there after a refit that gives them one."""
    scene, seen = soup(500), []
    broken = TriangleScene(scene.positions.copy(), scene.indices, scene.positions)
    broken.positions[scene.indices[::5, 1]] = np.nan

    def build(bounds: np.ndarray) -> Tree:
        seen.append(bounds.copy())
        bounds[:] = 7.0  # its own copy
        return halved(bounds)

    builder("mine")(build)
    made = make(target, "mine")
    made.build(broken.upload(target))
    lower, upper = broken.boxes()
    is_active = (lower <= upper).all(axis=1)
    assert seen[0].dtype == np.float32 and is_active.sum() == 400
    np.testing.assert_array_equal(seen[0], np.hstack([lower, upper])[is_active])
    check_tree(made.nodes(), lower, upper)
    made.refit(scene.upload(target))
    assert_hits(made, scene)
    broken.positions[:] = np.nan
    made.build(broken.upload(target))
    assert len(seen) == 1 and (trace(made, *rays()).prim_id == -1).all()
    check_tree(made.nodes(), *broken.boxes())


def test_rows_in_any_order_are_the_same_tree(host_target: Target) -> None:
    """Numbers of rows mean nothing: canonical arrays are those of the tree."""
    scene, given = soup(200), random_tree(200, 4)
    tables = []
    for seed in (1, 2):
        rows = rows_of(given, seed)
        with registered("mine", _giving(rows)):
            made = make(host_target, "mine")
            made.build(scene.upload(host_target))
            tables.append([np.ascontiguousarray(column).tobytes() for column in vars(made.nodes()).values()])
    assert tables[0] == tables[1]


def _giving(rows: dict[str, np.ndarray]) -> Any:
    return lambda bounds: with_bounds(rows, bounds)


# -- frames ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", ["rebuild", "refit", "auto"])
def test_frames_draw_what_they_draw_by_another_builder(
    target: Target, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Whatever is replayed: refits are, rebuilds are not, and both go on in turn."""
    calls: list[int] = []
    captured: list[int] = []
    capture = target.capture

    def noted(body: Callable[[], None]) -> Callable[[], None]:
        captured.append(len(calls))
        return capture(body)

    monkeypatch.setattr(target, "capture", noted)

    def build(bounds: np.ndarray) -> Tree:
        assert not target.is_capturing
        calls.append(len(bounds))
        return halved(bounds)

    builder("mine")(build)
    pictures: dict[str, list[np.ndarray]] = {}
    for name in ("mine", "lbvh"):
        pixels = ArrayPixels(target, *SIZE)
        settings = ViewSettings(name, ray_type="normals", update=UpdateOptions(mode=mode))
        with contextlib.closing(Engine(target, moving_scene())) as engine:
            for step in range(8):
                engine.render_frame(Moment(step / 4), [View(settings, CAMERA, pixels)])
                pictures.setdefault(name, []).append(pixels.download().copy())
            frame = engine.flush()
        if name == "mine":
            assert len(calls) >= (8 if mode == "rebuild" else 1)
            assert mode == "auto" or bool(captured) == (mode == "refit")
            phases = frame.views[0].phases_ms
            assert ("build.function" in phases) == (frame.views[0].update == "rebuild")
            if "build.function" in phases:
                own = sum(ms for phase, ms in phases.items() if phase.startswith("build."))
                assert phases["check.tree"] > 0 and frame.views[0].build_ms == pytest.approx(own)
    for mine, other in zip(pictures["mine"], pictures["lbvh"], strict=True):
        np.testing.assert_array_equal(mine, other)


def test_a_build_is_never_captured(target: Target) -> None:
    builder("mine")(halved)
    scene = soup(50)
    made, primitives = make(target, "mine"), scene.upload(target)
    made.build(primitives)
    with pytest.raises(HierarchyError, match="mine is built by a function on the host, which cannot be captured"):
        target.capture(lambda: made.build(primitives))
    made.refit(primitives)
    replay = target.capture(lambda: made.refit(primitives))
    replay()
    assert_hits(made, scene)
