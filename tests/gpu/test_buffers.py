"""Depth, normals, ids, steps and totals on request: what picking finds pixel by pixel, whatever the structure, and a
frame that is left as it was."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import pytest

from raygrove.gpu.buffers import pixel_directions
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions
from tests.gpu.moving_scene import CAMERA, moving_scene, shown, view_of

pytestmark = pytest.mark.usefixtures("capture_turn")

SIZE = (45, 31)
PARALLEL = Camera(eye=(0.0, 5.0, 0.0), look_at=(0.0, 0.0, 0.0), up=(0.0, 0.0, -1.0), orthographic=True, height=7.2)


@pytest.mark.parametrize("camera", [CAMERA, PARALLEL])
def test_buffers_are_what_picking_finds(target: Target, camera: Camera) -> None:
    with contextlib.closing(Engine(target, moving_scene())) as engine:
        view = view_of(target, camera=camera, size=SIZE, samples=3)
        engine.render_frame(Moment(0.7), [view])
        found = engine.buffers(view)
        directions, forward = pixel_directions(camera, *SIZE), camera.basis()[2]
        hits = 0
        for y in range(0, SIZE[1], 3):
            for x in range(0, SIZE[0], 3):
                hit, told = engine.pick(view, x + 0.5, y + 0.5), engine.steps(view, x + 0.5, y + 0.5)
                # The very same ray: one that only nearly is meets other boxes where it grazes them.
                counted = tuple(int(found[name][y, x]) for name in ("steps", "tests", "boxes"))
                assert (told.nodes, told.primitives, told.boxes) == counted
                if hit is None:
                    assert (found["prim_id"][y, x], found["object_id"][y, x], found["depth"][y, x]) == (-1, -1, np.inf)
                    assert not found["normal"][y, x].any()
                    continue
                hits += 1
                assert (found["prim_id"][y, x], found["object_id"][y, x]) == (hit.prim_id, hit.object_id)
                assert found["depth"][y, x] == pytest.approx(hit.t * float(directions[y, x] @ forward), rel=1e-5)
                assert found["depth"][y, x] == pytest.approx(
                    float(np.subtract(hit.position, camera.eye) @ forward), rel=1e-4
                )
        assert hits > 50
        assert {name: array.dtype.name for name, array in found.items()} == {
            "depth": "float32", "normal": "float32", "prim_id": "int32", "object_id": "int32", "steps": "int32",
            "tests": "int32", "boxes": "int32",
        }  # fmt: skip


def test_normals_have_unit_length_and_look_to_the_eye(target: Target) -> None:
    with contextlib.closing(Engine(target, moving_scene())) as engine:
        view = view_of(target, size=SIZE)
        engine.render_frame(Moment(0.2), [view])
        found = engine.buffers(view)
    is_hit, is_floor = found["prim_id"] >= 0, found["object_id"] == 0
    assert is_floor.sum() > 50
    assert np.allclose(found["normal"][is_floor], (0.0, 1.0, 0.0), atol=1e-6)
    assert np.allclose(np.linalg.norm(found["normal"][is_hit], axis=1), 1.0, atol=1e-5)
    assert ((found["normal"] * pixel_directions(CAMERA, *SIZE)).sum(axis=2)[is_hit] <= 1e-6).all()


def test_every_structure_finds_the_same_and_traverses_its_own_way(target: Target) -> None:
    with contextlib.closing(Engine(target, moving_scene())) as engine:
        views = [view_of(target, name, size=SIZE, hierarchy=name) for name in ("brute_force", "lbvh")]
        engine.render_frame(Moment(0.7), views)
        before = [shown(view) for view in views]
        one, other = (engine.buffers(view) for view in views)
        for name in ("prim_id", "object_id"):
            assert np.array_equal(one[name], other[name])
        for name in ("depth", "normal"):
            assert np.allclose(one[name], other[name], rtol=1e-5, atol=1e-5)
        assert (other["steps"] > 0).any() and not np.array_equal(one["steps"], other["steps"])
        engine.render_frame(Moment(0.7), views)
        assert all(np.array_equal(shown(view), picture) for view, picture in zip(views, before, strict=True))


def test_a_view_that_was_not_drawn_and_an_empty_scene(target: Target) -> None:
    with contextlib.closing(Engine(target, Scene("empty"))) as engine:
        view = view_of(target, size=SIZE)
        with pytest.raises(HierarchyError, match="not been drawn"):
            engine.buffers(view)
        engine.render_frame(Moment(0.0), [view])
        found = engine.buffers(view)
        assert (found["prim_id"] == -1).all() and (found["object_id"] == -1).all() and np.isinf(found["depth"]).all()
        engine.render_frame(Moment(0.0), [dataclasses.replace(view, camera=PARALLEL)])
        assert (engine.buffers(view)["steps"] == found["steps"]).all()


@pytest.mark.parametrize(("samples", "seed"), [(1, 0), (3, 0), (3, 5)])
def test_totals_are_those_of_the_first_sample(target: Target, samples: int, seed: int) -> None:
    """Further samples have other rays, and a view that has all its samples draws none: what is counted does not depend
    on either."""
    view = view_of(target, samples=samples, seed=seed, update=UpdateOptions("auto"))
    found = []
    with contextlib.closing(Engine(target, moving_scene())) as engine:
        for frame in range(5):
            engine.render_frame(Moment(0.7, 0, frame), [view])
            found.append(engine.totals(view))
        depth = engine.buffers(view)["depth"]  # of the rays through the pixels' middles, which are those of seed 0
    with contextlib.closing(Engine(target, moving_scene())) as fresh:
        fresh.render_frame(Moment(0.7), [view])
        expected = fresh.totals(view)
    assert found == [expected] * 5
    assert (expected.hits == np.isfinite(depth).sum()) == (seed == 0)
