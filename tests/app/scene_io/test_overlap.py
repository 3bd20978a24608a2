"""Scenes in which a ray meets nearly all triangles are remarked on, others are not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.app.scene_io import overlap
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.scene_io.overlap import MOST_MET, boxes_met
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.gpu.scene import Material, Mesh, Node, Object, Scene


def scene_of(corners: np.ndarray, nodes: tuple[Node, ...] = (Node(),)) -> Scene:
    """Triangles with corners (T, 3, 3), placed at each node."""
    triangles = np.arange(3 * len(corners), dtype=np.int32).reshape(-1, 3)
    ids = np.zeros(len(corners), np.int32)
    mesh = Mesh("soup", corners.reshape(-1, 3).astype(np.float32), triangles, ids)
    objects = tuple(Object(node, 0) for node in range(len(nodes)))
    return sanitise(Scene("soup", nodes=nodes, meshes=(mesh,), objects=objects, materials=(Material(),)))


def met_by_lines(scene: Scene, corners: np.ndarray, count: int = 4000) -> float:
    """How many boxes of triangles lines meet on average, of random lines that meet the scene's box."""
    random = np.random.default_rng(3)
    lower, upper = np.asarray(scene.lower), np.asarray(scene.upper)
    centre, reach = (lower + upper) / 2.0, np.linalg.norm(upper - lower) / 2.0
    along = random.normal(size=(count, 3))
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    aside = random.normal(size=(count, 3))
    aside -= (aside * along).sum(axis=1, keepdims=True) * along
    aside *= (reach * np.sqrt(random.random(count)) / np.linalg.norm(aside, axis=1))[:, None]
    start = centre + aside - 3.0 * reach * along
    boxes = np.stack([corners.min(axis=1), corners.max(axis=1)], axis=1)

    def meets(boxes: np.ndarray) -> np.ndarray:
        at = (boxes[None] - start[:, None, None]) / along[:, None, None]
        return np.asarray(at.min(axis=2).max(axis=2) <= at.max(axis=2).min(axis=2))

    is_inside = meets(np.stack([lower, upper])[None])[:, 0]
    return float(meets(boxes)[is_inside].sum(axis=1).mean())


def test_the_average_is_that_of_random_lines() -> None:
    random = np.random.default_rng(1)
    corners = random.random((1500, 1, 3)) + 0.3 * random.random((1500, 3, 3))
    scene = scene_of(corners)
    assert boxes_met(scene) == pytest.approx(met_by_lines(scene, corners), rel=0.05)


def test_copies_at_one_place_are_remarked_on() -> None:
    one = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [0.0, 1.0, 0.2]]])
    scene = scene_of(np.repeat(one, 5000, axis=0))
    assert boxes_met(scene) == pytest.approx(5000.0) and "boxes of 5,000 of them" in scene.remarks[-1].sentence
    placed = scene_of(np.repeat(one, 100, axis=0), (Node(),) * 60)
    assert boxes_met(placed) == pytest.approx(6000.0)
    scaled = scene_of(np.repeat(one, 1500, axis=0), (Node(), Node(scale=(0.1, 0.1, 0.1))))
    assert boxes_met(scaled) == pytest.approx(1515.0, rel=1e-3)


@pytest.mark.parametrize("name", ["room", "explode", "walker"])
def test_others_are_not(name: str) -> None:
    scene = make_demo(name)
    assert 0.0 < boxes_met(scene) < MOST_MET / 10.0
    assert boxes_met(dataclasses.replace(scene, lower=(0.0, 0.0, 0.0), upper=(0.0, 0.0, 0.0))) == 0.0


def test_every_nth_triangle_tells_what_all_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two meshes of other sizes, of which a large scene looks at a sixth each."""
    random = np.random.default_rng(5)
    one, other = (scene_of(random.random((n, 1, 3)) + 0.3 * random.random((n, 3, 3))) for n in (4000, 1000))
    both = dataclasses.replace(one, meshes=(*one.meshes, *other.meshes), objects=(Object(0, 0), Object(0, 1)))
    every = boxes_met(both)
    monkeypatch.setattr(overlap, "SAMPLED", 800)
    assert boxes_met(both) == pytest.approx(every, rel=0.03) and boxes_met(both) != every
