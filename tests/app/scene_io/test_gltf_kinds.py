"""Numbers of a glTF that are of another kind than their use asks for, which libassimp reads as what they are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import SceneError, gltf_costs, load
from raygrove.app.scene_io.gltf_kinds import drop_lost_skins, no_number, wrong_kind
from raygrove.app.scene_io.gltf_texts import parts_of
from tests.app.scene_io import writers
from tests.app.scene_io.test_costs import triangle


def document_of(path: Path) -> dict[str, Any]:
    text, _ = parts_of(path.read_bytes())
    assert text is not None
    return dict(json.loads(text))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"componentType": 5125}, r"accessors\[0\]\.componentType is 5125, and POSITION takes 5126"),
        ({"componentType": 5123}, r"accessors\[0\]\.componentType is 5123, and POSITION"),
        ({"type": "VEC2"}, r"accessors\[0\]\.type is \"VEC2\", and POSITION takes VEC3"),
        ({"type": "VEC4 "}, r"accessors\[0\]\.type is \"VEC4 \""),
    ],
)
def test_a_scene_is_not_made_of_other_numbers(change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    """libassimp gives a triangle with corners at 1,065,353,216, or one that is flat, and says nothing."""
    document, path = triangle(), tmp_path / "one.gltf"
    document["accessors"][0] |= change
    path.write_text(json.dumps(document))
    with pytest.raises(SceneError, match=f"is damaged: {sentence}"):
        load([path])


@pytest.mark.parametrize(
    ("write", "used"),
    [
        (writers.write_skinned_glb, {"POSITION", "indices", "inverseBindMatrices", "input of a track", "JOINTS_0"}),
        (writers.write_animated_glb, {"POSITION", "indices", "input of a track"}),
    ],
)
def test_each_use_has_its_kinds(write: Callable[[Path], Path], used: set[str], tmp_path: Path) -> None:
    """Each accessor of a whole file is told once it is of a type that nothing takes."""
    document = document_of(write(tmp_path / "whole.glb"))
    assert wrong_kind(document) == ""
    told = set()
    for number in range(len(document["accessors"])):
        changed = json.loads(json.dumps(document))
        changed["accessors"][number]["type"] = "MAT2"
        said = wrong_kind(changed)
        assert said.startswith(f'accessors[{number}].type is "MAT2", and ')
        told.add(said.partition(" and ")[2].partition(" takes")[0])
    assert used <= told


def test_whole_numbers_are_let_through_where_the_file_says_so() -> None:
    document = triangle(extensionsUsed=["KHR_mesh_quantization"])
    document["accessors"][0]["componentType"] = 5122
    assert wrong_kind(document) == ""
    document["accessors"][0]["componentType"] = 5125
    assert wrong_kind(document).endswith("takes 5120 or 5121 or 5122 or 5123 or 5126")
    document["meshes"][0]["primitives"][0]["extensions"] = {"KHR_draco_mesh_compression": {}}
    assert wrong_kind(document) == "", "what is unpacked has kinds of its own"


@pytest.mark.parametrize("kind", [5120, 5121, 5122, 5123, 5126])
def test_targets_move_texture_coordinates_by_signed_numbers(kind: int) -> None:
    """What is added may be negative; the coordinates themselves may not."""
    document = triangle()
    document["accessors"].append({"componentType": kind, "normalized": kind != 5126, "count": 3, "type": "VEC2"})
    primitive = document["meshes"][0]["primitives"][0]
    primitive["targets"] = [{"TEXCOORD_0": 3}]
    assert wrong_kind(document) == ""
    primitive["attributes"]["TEXCOORD_0"] = 3
    said = f"accessors[3].componentType is {kind}, and TEXCOORD_0 takes 5121 or 5123 or 5126"
    assert wrong_kind(document) == (said if kind in (5120, 5122) else "")
    document["accessors"][3] |= {"type": "VEC3", "componentType": 5126}
    del primitive["attributes"]["TEXCOORD_0"]
    assert wrong_kind(document) == 'accessors[3].type is "VEC3", and TEXCOORD of a target takes VEC2'


@pytest.mark.parametrize("said", ["0", None, 0.5, -1, True, [0]])
def test_what_is_no_number_of_an_accessor_is_not_left_out(said: object, tmp_path: Path) -> None:
    """libassimp leaves out normals that a text stands for, and says nothing."""
    document, path = triangle(), tmp_path / "one.gltf"
    document["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = said
    path.write_text(json.dumps(document))
    place = r"meshes\[0\]\.primitives\[0\]\.attributes\.NORMAL"
    with pytest.raises(SceneError, match=f"is damaged: {place} is .*, and the number of an accessor should stand"):
        load([path])


@pytest.mark.parametrize("place", ["indices", "targets"])
def test_indices_and_targets_are_looked_at_too(place: str) -> None:
    document = triangle()
    primitive = document["meshes"][0]["primitives"][0]
    primitive[place] = "1" if place == "indices" else [{"POSITION": 0}, {"POSITION": "0"}]
    assert no_number(document).partition(" is ")[0] == "meshes[0].primitives[0]." + (
        "indices" if place == "indices" else "targets[1].POSITION"
    )


LOST: dict[str, Callable[[Any], object]] = {
    "no sampler": lambda animation: animation["channels"][-1].pop("sampler"),
    "one that is not there": lambda animation: animation["channels"][-1].update(sampler=9),
    "one without values": lambda animation: animation["samplers"][-1].pop("output"),
    "one without times": lambda animation: animation["samplers"][-1].pop("input"),
}


@pytest.mark.parametrize("name", LOST)
def test_a_channel_without_keys_is_told(name: str, tmp_path: Path) -> None:
    """libassimp leaves out a channel of several, and says nothing."""
    glb = writers.Glb()
    corners = glb.accessor(np.eye(3, dtype=np.float32), "VEC3")
    glb.json["meshes"] = [{"primitives": [{"attributes": {"POSITION": corners}}]}]
    glb.json["nodes"] = [{"mesh": 0, "name": "one"}, {"mesh": 0, "name": "other"}]
    glb.json["scenes"], glb.json["scene"] = [{"nodes": [0, 1]}], 0
    keys = {"input": glb.accessor(np.arange(3, dtype=np.float32), "SCALAR"), "output": corners}
    channels = [{"sampler": node, "target": {"node": node, "path": "translation"}} for node in range(2)]
    glb.json["animations"] = [{"samplers": [dict(keys), dict(keys)], "channels": channels}]
    assert not load([glb.save(tmp_path / "whole.glb")]).remarks
    LOST[name](glb.json["animations"][0])
    (told,) = load([glb.save(tmp_path / "lost.glb")]).remarks
    assert told.count == 1 and told.sentence == gltf_costs.STILL


@pytest.mark.parametrize("has_joints", [True, False])
def test_a_skin_that_is_not_there_is_told(has_joints: bool, tmp_path: Path) -> None:
    """libassimp reads the mesh as one that nothing bends, and says nothing."""
    path = (writers.write_skinned_glb if has_joints else writers.write_animated_glb)(tmp_path / "model.glb")
    remarks = load([path]).remarks

    def change(document: Any) -> None:
        next(node for node in document["nodes"] if "mesh" in node)["skin"] = 7

    writers.edit_glb(path, change)
    scene = load([path])
    (told,) = (one for one in scene.remarks if one not in remarks)
    assert told.count == 1 and told.sentence == gltf_costs.SKINLESS and not any(mesh.skin for mesh in scene.meshes)


@pytest.mark.parametrize("other", ["1", [], {}, 0.5, True, -1])
def test_a_skin_that_is_no_number_hides_no_other(other: object) -> None:
    """Those before it were taken away, but neither counted nor written. It is left to libassimp, which refuses it."""
    document: Any = {"skins": [{}], "nodes": [{"skin": 7}, {"skin": other}, {"skin": 0}, {}]}
    assert drop_lost_skins(document) == 1 and document["nodes"] == [{}, {"skin": other}, {"skin": 0}, {}]


def test_no_skin_is_taken_away_unsaid() -> None:
    """Where a later node is none, which is told by libassimp."""
    document: Any = {"nodes": [{"skin": 7}, 3]}
    with pytest.raises(AttributeError):
        drop_lost_skins(document)
    assert document["nodes"][0] == {"skin": 7}


AIMLESS: dict[str, Callable[[Any], object]] = {
    "no node": lambda channel: channel["target"].pop("node"),
    "null for a node": lambda channel: channel["target"].update(node=None),
    "no way of moving": lambda channel: channel["target"].pop("path"),
    "a way that nobody knows": lambda channel: channel["target"].update(path="pointer"),
    "no target": lambda channel: channel.pop("target"),
}


@pytest.mark.parametrize("which", [(0,), (0, 1)])
@pytest.mark.parametrize("name", AIMLESS)
def test_a_channel_that_says_no_node_is_told_and_moves_none(name: str, which: tuple[int, ...], tmp_path: Path) -> None:
    """libassimp drops some in silence, and by others moves the first node."""
    path = writers.write_animated_glb(tmp_path / "model.glb")
    whole = {(one.node, one.path) for one in load([path]).clips[0].channels}

    def change(document: Any) -> None:
        for number in which:
            AIMLESS[name](document["animations"][0]["channels"][number])

    writers.edit_glb(path, change)
    scene = load([path])
    (told,) = scene.remarks
    assert told.count == len(which) and told.sentence == gltf_costs.AIMLESS
    left = {(one.node, one.path) for clip in scene.clips for one in clip.channels}
    assert left == whole - {(0, "rotation")} if len(which) == 1 else left == set()


def test_an_aimless_channel_takes_nothing_from_the_others(tmp_path: Path) -> None:
    """With one, cubic tracks had been played as linear ones, and nodes of one name taken for one another."""
    path = writers.write_animated_glb(tmp_path / "model.glb")

    def change(document: Any) -> None:
        document["nodes"][1]["name"] = document["nodes"][0]["name"]
        channels = document["animations"][0]["channels"]
        channels.append({"sampler": 0, "target": {"path": "pointer"}})

    writers.edit_glb(path, change)
    scene = load([path])
    assert {(one.node, one.path) for one in scene.clips[0].channels} == {(0, "rotation"), (1, "translation")}
    assert [remark.sentence for remark in scene.remarks] == [gltf_costs.AIMLESS]


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document["textures"][0].pop("source"),
        lambda document: document["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"].pop("index"),
        lambda document: document["materials"][0].update(normalTexture={}),
    ],
)
def test_a_texture_without_a_picture_is_told(change: Callable[[Any], object], tmp_path: Path) -> None:
    path = writers.write_animated_glb(tmp_path / "model.glb")
    assert not load([path]).remarks
    writers.edit_glb(path, change)
    (told,) = load([path]).remarks
    assert told.count == 1 and told.sentence == gltf_costs.BARE
