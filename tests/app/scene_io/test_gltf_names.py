"""Nodes of a glTF that share a name: what means one of them by its number gets that one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.app.scene_io import load
from raygrove.app.scene_io.gltf_names import told_apart
from raygrove.app.scene_io.transforms import global_matrices
from tests.app.scene_io import writers

LIGHTS = "KHR_lights_punctual"


def lit_glb(path: Path) -> Path:
    """A square that moves by a cubic track, a lamp and a camera, each at a node of its own."""
    glb = writers.Glb()
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
    triangles = glb.accessor(np.array([0, 1, 2, 0, 2, 3], np.uint32), "SCALAR")
    primitive = {"attributes": {"POSITION": glb.accessor(corners, "VEC3")}, "indices": triangles}
    times = glb.accessor(np.array([0, 1], np.float32), "SCALAR")
    keys = np.array([[0, 0, 0], [0, 0, 0], [9, 0, 0], [0, 9, 0], [2, 0, 0], [0, 0, 0]], np.float32)
    sampler = {"input": times, "output": glb.accessor(keys, "VEC3"), "interpolation": "CUBICSPLINE"}
    channel = {"sampler": 0, "target": {"node": 2, "path": "translation"}}
    glb.json |= {
        "nodes": [
            {"name": "lamp", "translation": [0, 5, 0], "extensions": {LIGHTS: {"light": 0}}},
            {"name": "eye", "translation": [0, 0, 7], "camera": 0},
            {"name": "square", "mesh": 0},
        ],
        "scenes": [{"nodes": [0, 1, 2]}], "meshes": [{"primitives": [primitive]}], "extensionsUsed": [LIGHTS],
        "cameras": [{"type": "perspective", "perspective": {"yfov": 0.7, "znear": 0.1}}],
        "animations": [{"channels": [channel], "samplers": [sampler]}],
        "extensions": {LIGHTS: {"lights": [{"type": "point"}]}},
    }  # fmt: skip
    return glb.save(path)


def figures(path: Path) -> list[np.ndarray]:
    """Where vertices are at five instants, and lights and cameras at rest."""
    scene, clip = load([str(path)]), rg.open(str(path))
    matrices = global_matrices(scene.nodes)
    placed = [matrices[one.node] @ [*one.position, 1.0] for one in scene.lights]
    placed += [matrices[one.node] for one in scene.cameras]
    return [*(np.array(clip.at(clip.duration * turn / 4)[0]) for turn in range(5)), *placed]


def same_name(document: dict[str, Any]) -> None:
    for node in document["nodes"]:
        node["name"] = "one for all"


@pytest.mark.parametrize("write", [lit_glb, writers.write_skinned_glb, writers.write_animated_glb],
                         ids=["light, camera, cubic track", "skin", "animation"])  # fmt: skip
def test_names_do_not_say_which_node_is_meant(write: Callable[[Path], Path], tmp_path: Path) -> None:
    true = figures(write(tmp_path / "a.glb"))
    found = figures(writers.edit_glb(write(tmp_path / "b.glb"), same_name))
    assert len(found) == len(true) > (5 if write is lit_glb else 4)
    assert all(np.array_equal(one, other) for one, other in zip(found, true, strict=True))
    assert not np.array_equal(true[0], true[2]), "nothing moves, so that nothing is shown"


def test_only_what_is_meant_is_renamed_and_never_to_a_name_that_is_there() -> None:
    nodes: list[dict[str, Any]] = [
        {"name": "a"},
        {"name": "a", "camera": 0},
        {"name": "a.001"},
        {"name": "b", "camera": 0},
        {"camera": 0},
    ]
    document = {"nodes": nodes}
    assert told_apart(document) and [node.get("name") for node in nodes] == ["a", "a.002", "a.001", "b", None]
    assert not told_apart(document)
    assert not told_apart({}) and json.dumps(document).count("a.002") == 1
