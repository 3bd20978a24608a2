"""Closed rooms: what is one, however often its walls are covered, and that each scene is looked through once."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

import numpy as np
import pytest

from raygrove.app.camera import walls
from raygrove.app.camera.walls import is_room
from raygrove.app.scene_io.demos import ALL_DEMOS, make_demo
from raygrove.gpu.scene import Mesh, Node, Object, Scene

MIDDLE = (0.5, 0.5, 0.5)


def box(part: float, squares: int = 1, layers: int = 1, times: int = 1) -> Scene:
    """A unit cube, of each side the part that begins at one edge, in so many layers, each given so many times."""
    steps = np.linspace(0.0, 1.0, squares + 1)
    u, v = (grid.ravel() for grid in np.meshgrid(steps * part, steps))
    first = (np.arange(squares)[:, None] * (squares + 1) + np.arange(squares)).ravel()
    step = squares + 1
    square = np.concatenate([first[:, None] + [0, 1, step + 1], first[:, None] + [0, step + 1, step]])
    positions: list[np.ndarray] = []
    triangles: list[np.ndarray] = []
    for side in range(6):
        for layer in range(layers):
            at = np.empty((len(u), 3))
            end = 0.01 * layer
            at[:, side % 3], at[:, (side + 1) % 3], at[:, (side + 2) % 3] = end if side < 3 else 1.0 - end, u, v
            triangles += [square + len(u) * len(positions)] * times
            positions.append(at)
    corners = np.concatenate(triangles).astype(np.int32)
    mesh = Mesh("box", np.concatenate(positions).astype(np.float32), corners, np.zeros(len(corners), np.int32))
    return Scene("box", meshes=(mesh,), objects=(Object(0, 0),), lower=(0.0, 0.0, 0.0), upper=(1.0, 1.0, 1.0))


@pytest.mark.parametrize("squares", [1, 7, 64, 150])
def test_layers_and_triangles_that_lie_on_others_count_once(squares: int) -> None:
    assert is_room(box(1.0, squares), MIDDLE) and is_room(box(0.85, squares), MIDDLE)
    assert not is_room(box(0.7, squares), MIDDLE)
    assert not is_room(box(0.5, squares, layers=2), MIDDLE)
    assert not is_room(box(0.5, squares, times=3), MIDDLE)
    assert not is_room(box(1.0, squares), (1.5, 0.5, 0.5))


def test_a_room_is_found_wherever_its_node_is() -> None:
    room = box(1.0, 5)
    node = Node(translation=(10.0, -4.0, 2.0), scale=(3.0, 2.0, 0.5))
    moved = Scene("moved", (node,), room.meshes, room.objects, lower=(10.0, -4.0, 2.0), upper=(13.0, -2.0, 2.5))
    assert is_room(moved, (11.0, -3.0, 2.2)) and not is_room(moved, MIDDLE)


@pytest.mark.filterwarnings("error")
def test_vertices_that_are_no_numbers_are_in_no_wall() -> None:
    room = box(1.0, 5)
    (mesh,) = room.meshes
    bad = np.array([[np.nan, 0.5, 0.0], [np.inf, 0.0, 0.0], [0.0, -np.inf, 3e38]], np.float32)
    corners = np.concatenate([mesh.triangles, len(mesh.positions) + np.array([[0, 1, 2]], np.int32)])
    broken = dataclasses.replace(
        mesh,
        positions=np.concatenate([mesh.positions, bad]),
        triangles=corners,
        material_ids=np.zeros(len(corners), np.int32),
    )
    assert is_room(dataclasses.replace(room, meshes=(broken,)), MIDDLE)


def test_each_scene_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Scene] = []
    real = walls._is_closed

    def is_closed(scene: Scene, hidden: Collection[int], lower: np.ndarray, upper: np.ndarray) -> bool:
        asked.append(scene)
        return real(scene, hidden, lower, upper)

    monkeypatch.setattr(walls, "_is_closed", is_closed)
    scene, other = box(1.0), box(0.5)
    for _ in range(3):
        assert is_room(scene, MIDDLE) and not is_room(scene, (2.0, 0.5, 0.5))
    assert asked == [scene]
    assert not is_room(scene, MIDDLE, (0,)) and is_room(scene, MIDDLE)
    assert not is_room(other, MIDDLE) and len(asked) == 4


@pytest.mark.parametrize("triangles", [2_000, 60_000])
def test_demos_are_told_right(triangles: int) -> None:
    """Orbit, its variants and Room are rooms; Cornell's is open to who looks into it."""
    found = set()
    for name in [info.name for info in ALL_DEMOS]:
        scene = make_demo(name, triangles)
        if is_room(scene, tuple((np.asarray(scene.lower) + scene.upper) / 2.0)):
            found.add(name)
    assert found == {"orbit", "metal", "glass", "room"} and len(ALL_DEMOS) == 14
