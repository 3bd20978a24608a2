"""Fronts of mirrored objects: the side that a glTF file means, whichever way its nodes turn it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import load
from raygrove.app.scene_io.transforms import compose
from raygrove.app.scene_io.winding import are_mirrored
from raygrove.gpu.scene import Node, Scene

from . import writers


def fronts(scene: Scene) -> list[np.ndarray]:
    """The direction that each object's first triangle looks to, in the world."""
    found = []
    for thing in scene.objects:
        chain, node = np.eye(4), thing.node
        while node >= 0:
            at = scene.nodes[node]
            chain = compose(at.translation, at.rotation, at.scale) @ chain
            node = at.parent
        corners = (
            scene.meshes[thing.mesh].positions[scene.meshes[thing.mesh].triangles[0]].astype(np.float64)
            @ chain[:3, :3].T
        )
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        found.append(normal / np.linalg.norm(normal))
    return found


def still(document: dict[str, Any]) -> None:
    del document["animations"]


@pytest.mark.parametrize("scale", [(1, 1, 1), (-1, 1, 1), (1, -1, 1), (-1, -1, 1), (1, 1, -1), (-1, -1, -1)])
@pytest.mark.parametrize("of_parent", [1, -1])
def test_the_front_of_a_mirrored_quad_is_where_its_picture_is(
    tmp_path: Path, scale: tuple[int, int, int], of_parent: int
) -> None:
    def mirror(document: dict[str, Any]) -> None:
        still(document)
        document["nodes"][0]["scale"] = [of_parent, 1, 1]
        document["nodes"][1]["scale"] = list(scale)

    scene = load([writers.edit_glb(writers.write_animated_glb(tmp_path / "quad.glb"), mirror)])
    (front,) = fronts(scene)
    assert front == pytest.approx([0.0, 0.0, 1.0 if scale[2] > 0 else -1.0], abs=1e-6)  # the quad's own looks to +z


def test_a_mesh_placed_both_ways_becomes_two(tmp_path: Path) -> None:
    def twice(document: dict[str, Any]) -> None:
        still(document)
        document["nodes"].append({"name": "mirrored", "mesh": 0, "scale": [-1, 1, 1]})
        document["nodes"].append({"name": "again", "mesh": 0, "scale": [1, -1, 1]})
        document["nodes"][0]["children"] += [3, 4]

    scene = load([writers.edit_glb(writers.write_animated_glb(tmp_path / "quads.glb"), twice)])
    assert len(scene.objects) == 3 and len(scene.meshes) == 2
    assert np.stack(fronts(scene)) == pytest.approx(np.tile([0.0, 0.0, 1.0], (3, 1)), abs=1e-6)


def test_a_mirror_in_a_mirror_is_none() -> None:
    nodes = (
        Node(scale=(-1.0, 1.0, 1.0)),
        Node(parent=0, scale=(1.0, -2.0, 1.0)),
        Node(parent=0),
        Node(scale=(0.0, -1.0, 1.0)),
    )
    assert are_mirrored(nodes) == [True, False, True, False]
