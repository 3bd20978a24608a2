"""The clipping plane: the half space that options mean, and that everything that looks at a scene keeps to it."""

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.clip import ClipOptions, half_space, position_of
from raygrove.gpu.engine import Boxes, Engine, View, ViewSettings
from raygrove.gpu.scene import Material, Mesh, Moment, Node, Object, Scene
from raygrove.gpu.target.base import Target

pytestmark = pytest.mark.usefixtures("capture_turn")

LOWER, UPPER = (-2.0, 0.0, 0.0), (2.0, 1.0, 8.0)


class Pixels:
    """A picture in the target's memory."""

    def __init__(self, target: Target, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.array = target.empty((height, width, 4), np.uint8, "test")

    def map(self) -> Any:
        return contextlib.nullcontext(self.array)


def walls() -> Scene:
    """Three squares of 2 x 2 across the view, at depths 0, -1 and -2, one object each."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    mesh = Mesh("wall", corners, triangles, np.zeros(2, np.int32))
    nodes = tuple(Node(f"wall {k}", translation=(0.0, 0.0, -float(k))) for k in range(3))
    objects = tuple(Object(k, 0) for k in range(3))
    return Scene(
        "walls", nodes, (mesh,), objects, materials=(Material(),), lower=(-1.0, -1.0, -2.0), upper=(1.0, 1.0, 0.0)
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (1.0, 0.0, 0.0, 0.0)),
        ({"axis": "z", "position": 0.25}, (0.0, 0.0, 1.0, 2.0)),
        ({"axis": "z", "position": 0.25, "flip": True}, (0.0, 0.0, -1.0, -2.0)),
        ({"axis": "normal", "normal": (0.0, 0.0, -4.0), "position": 0.25}, (0.0, 0.0, -1.0, -6.0)),
        ({"axis": "normal", "normal": (0.0, 0.0, 0.0), "position": 1.0}, (1.0, 0.0, 0.0, 2.0)),
    ],
)
def test_options_are_a_half_space(changes: dict[str, Any], expected: tuple[float, ...]) -> None:
    assert half_space(ClipOptions(on=True, **changes), LOWER, UPPER) == pytest.approx(expected)
    assert half_space(ClipOptions(**changes), LOWER, UPPER) is None


def test_a_plane_goes_through_the_point_it_was_placed_at() -> None:
    point, options = (0.5, 0.3, 3.0), ClipOptions(on=True, axis="normal", normal=(1.0, -2.0, 0.5))
    placed = half_space(dataclasses.replace(options, position=position_of(options, point, LOWER, UPPER)), LOWER, UPPER)
    assert placed is not None and np.dot(placed[:3], point) == pytest.approx(placed[3])
    assert position_of(options, (1e3, 0.0, 0.0), LOWER, UPPER) == 1.0


@pytest.mark.parametrize("hierarchy", ["lbvh", "brute_force"])
@pytest.mark.parametrize("orthographic", [False, True])
def test_what_lies_beyond_is_not_seen(target: Target, hierarchy: str, orthographic: bool) -> None:
    """Cut behind the first wall, the second is hit; the other way round nothing lies behind the first."""
    camera = Camera(eye=(0.0, 0.0, 5.0), orthographic=orthographic)
    for clip, prim_id, hits in (
        (ClipOptions(), {0, 1}, True), (ClipOptions(on=True, axis="z", position=0.75), {2, 3}, True),
        (ClipOptions(on=True, axis="z", position=0.75, flip=True), {0, 1}, True), (ClipOptions(on=True, axis="x",
        position=0.0), set(), False),
    ):  # fmt: skip
        engine, pixels = Engine(target, walls()), Pixels(target, 24, 16)
        view = View(ViewSettings(hierarchy=hierarchy, ray_type="flat", clip=clip), camera, pixels)
        engine.render_frame(Moment(), [view])
        found = engine.pick(view, 12.5, 8.4)
        assert (found is not None) == hits and (found is None or found.prim_id in prim_id)
        buffers = engine.buffers(view)
        assert {int(one) for one in np.unique(buffers["prim_id"])} - {-1} == prim_id
        assert (engine.totals(view).hits > 0) == hits
        engine.close()


def test_a_cut_across_the_view_leaves_one_side(target: Target) -> None:
    engine, pixels = Engine(target, walls()), Pixels(target, 32, 32)
    settings = ViewSettings(ray_type="flat")
    camera = Camera(eye=(0.0, 0.0, 5.0), orthographic=True, height=2.0)
    view = View(settings, camera, pixels)
    engine.render_frame(Moment(), [view])
    whole = engine.buffers(view)["prim_id"]
    view.settings = dataclasses.replace(settings, clip=ClipOptions(on=True, axis="x", position=0.5))
    engine.render_frame(Moment(), [view])
    cut = engine.buffers(view)["prim_id"]
    assert (cut[:, 16:] == -1).all() and (cut[:, :16] == whole[:, :16]).all() and (whole >= 0).all()
    engine.close()


def test_boxes_end_at_the_plane(target: Target) -> None:
    engine, pixels = Engine(target, walls()), Pixels(target, 32, 32)
    camera = Camera(eye=(0.0, 0.0, 5.0), orthographic=True, height=3.0)
    view = View(ViewSettings(ray_type="flat", clip=ClipOptions(on=True, axis="x", position=0.5)), camera, pixels)
    engine.render_frame(Moment(), [view])
    before = target.download(pixels.array)
    ends = np.array([[-1.0, -1.0, -2.0]], np.float32), np.array([[1.0, 1.0, 0.0]], np.float32)
    engine.paint_boxes(view, Boxes(*ends, np.zeros(1, np.int32), 1, 1.0))
    changed = np.flatnonzero((target.download(pixels.array) != before).any(axis=(0, 2)))
    assert changed.min() < 8 and changed.max() == 16
    engine.close()
