"""Values of a glTF that cannot stand in their place, for which libassimp takes its own and says nothing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.scene_io import SceneError, load
from raygrove.app.scene_io.gltf_texts import parts_of
from raygrove.app.scene_io.gltf_values import wrong_value
from raygrove.gpu.scene import Scene
from tests.app.scene_io import writers

WRONG: dict[str, Callable[[Any], object]] = {
    'bufferViews[0].byteOffset is "1"': lambda one: one["bufferViews"][0].update(byteOffset="1"),
    "bufferViews[0].byteOffset is true": lambda one: one["bufferViews"][0].update(byteOffset=True),
    "bufferViews[0].byteOffset is 1.5": lambda one: one["bufferViews"][0].update(byteOffset=1.5),
    "bufferViews[1].byteStride is -8": lambda one: one["bufferViews"][1].update(byteStride=-8),
    "accessors[0].byteOffset is []": lambda one: one["accessors"][0].update(byteOffset=[]),
    "accessors[0].componentType is null": lambda one: one["accessors"][0].update(componentType=None),
    "accessors[0].type is []": lambda one: one["accessors"][0].update(type=[]),
    "nodes[0].translation is [0, 2]": lambda one: one["nodes"][0].update(translation=[0, 2]),
    'nodes[0].translation is [0, 2, "0"]': lambda one: one["nodes"][0].update(translation=[0, 2, "0"]),
    "nodes[1].rotation is [0, 0, 1]": lambda one: one["nodes"][1].update(rotation=[0, 0, 1]),
    "nodes[1].matrix is [1, 0, 0]": lambda one: one["nodes"][1].update(matrix=[1, 0, 0]),
    "nodes[0].scale is true": lambda one: one["nodes"][0].update(scale=True),
    "scene is -1": lambda one: one.update(scene=-1),
    "meshes[0].weights[0] is null": lambda one: one["meshes"][0].update(weights=[None]),
    'materials[0].pbrMetallicRoughness.metallicFactor is "1"': lambda one: one["materials"][0][
        "pbrMetallicRoughness"
    ].update(metallicFactor="1"),
    "materials[0].pbrMetallicRoughness is []": lambda one: one["materials"][0].update(pbrMetallicRoughness=[]),
    "materials[0].emissiveFactor is [1, 1]": lambda one: one["materials"][0].update(emissiveFactor=[1, 1]),
    "cameras[0].perspective.yfov is []": lambda one: one["cameras"][0]["perspective"].update(yfov=[]),
    'cameras[0].type is "wide"': lambda one: one["cameras"][0].update(type="wide"),
    'animations[0].samplers[0].interpolation is "EASE"': lambda one: one["animations"][0]["samplers"][0].update(
        interpolation="EASE"
    ),
    "animations[0].channels[0].target is 5": lambda one: one["animations"][0]["channels"][0].update(target=5),
}


@pytest.mark.parametrize("said", WRONG)
def test_what_cannot_stand_there_is_told_with_its_place(said: str, tmp_path: Path) -> None:
    """Each was opened as another scene, without a remark."""
    path = writers.write_animated_glb(tmp_path / "model.glb")
    assert not load([path]).remarks
    writers.edit_glb(path, WRONG[said])
    with pytest.raises(SceneError, match="is damaged: ") as caught:
        load([path])
    assert f"is damaged: {said}, and " in str(caught.value) and " should stand there. " in str(caught.value)


def _figures(scene: Scene) -> list[Any]:
    (mesh,), (clip,) = scene.meshes, scene.clips
    nodes = [(node.name, node.parent, node.translation, node.rotation, node.scale) for node in scene.nodes]
    assert mesh.uvs is not None
    return [nodes, clip.duration, mesh.positions.tolist(), mesh.triangles.tolist(), mesh.uvs.tolist()]


def test_whole_numbers_may_be_written_as_fractions(tmp_path: Path) -> None:
    """JSON lets 48 be 48.0, for which libassimp takes 0."""
    path = writers.write_animated_glb(tmp_path / "model.glb")
    whole = load([path])

    def change(document: Any) -> None:
        document["scene"] = 0.0
        for view in document["bufferViews"]:
            view["byteOffset"] = float(view["byteOffset"])
        for accessor in document["accessors"]:
            accessor |= {key: float(accessor[key]) for key in ("bufferView", "componentType", "count")}
        part = document["meshes"][0]["primitives"][0]
        part["attributes"] = {name: float(number) for name, number in part["attributes"].items()}

    writers.edit_glb(path, change)
    scene = load([path])
    assert _figures(whole) == _figures(scene) and not scene.remarks


@pytest.mark.parametrize("write", [writers.write_animated_glb, writers.write_skinned_glb])
def test_whole_files_and_what_is_left_out_or_null_pass(write: Callable[[Path], Path], tmp_path: Path) -> None:
    text, _ = parts_of(write(tmp_path / "whole.glb").read_bytes())
    document = json.loads(text or b"")
    assert wrong_value(copy.deepcopy(document)) == ("", False)
    document["nodes"][0] |= {"translation": None, "camera": None}
    assert wrong_value(document) == ("", False)
    assert wrong_value({"skins": [{"joints": []}], "nodes": [], "meshes": [{"weights": []}]}) == ("", False)
    assert wrong_value({"materials": {"glTF 1.0 has objects here": {}}, "nodes": {"a": 1}}) == ("", False)
    assert wrong_value({"extensions": 5, "nodes": 7})[0].startswith("extensions is 5, and an object")


def test_long_and_deep_values_are_told_in_few_words() -> None:
    assert "translation is a list of 1,000," in wrong_value({"nodes": [{"translation": [1] * 1000}]})[0]
    keys = dict.fromkeys(map(str, range(1000)), 1)
    assert "translation is an object of 1,000 keys," in wrong_value({"nodes": [{"translation": keys}]})[0]
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert "scene is something nested," in wrong_value({"scene": deep})[0]
    while deep:  # else it is taken down level by level, on the stack
        deep = deep.pop()
