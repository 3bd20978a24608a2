"""glTF's extensions that libassimp leaves out or gets wrong, and OBJ's keys of physically based materials."""

from __future__ import annotations

import base64
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, SceneError, gltf_extensions, load
from raygrove.app.scene_io.gltf_meshopt import MESHOPT
from raygrove.app.scene_io.read import read_file
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.app.scene_io.transforms import global_matrices
from raygrove.gpu.scene import Object, Scene
from tests.app.scene_io import writers

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
Read = Callable[[Path], Scene]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Reads a file in this process, and comes back to the folder where it was."""
    monkeypatch.chdir(tmp_path)
    return lambda path: sanitise(read_file(str(path), ImportLimits()), str(path))


def quad() -> tuple[writers.Glb, dict[str, Any]]:
    """A square, and its primitive."""
    glb = writers.Glb()
    primitive = {
        "attributes": {"POSITION": glb.accessor(CORNERS, "VEC3")},
        "indices": glb.accessor(np.array([0, 1, 2, 0, 2, 3], np.uint32), "SCALAR"),
    }
    glb.json |= {"nodes": [{"mesh": 0}], "meshes": [{"primitives": [primitive]}]}
    return glb, primitive


def whole(glb: writers.Glb, values: np.ndarray, kind: str, stride: int, normalized: bool) -> int:
    """An accessor of whole numbers, its rows `stride` bytes apart."""
    codes = {"|i1": 5120, "|u1": 5121, "<i2": 5122, "<u2": 5123}
    view = glb.view(b"".join(row.tobytes().ljust(stride, b"\0") for row in values))
    glb.json["bufferViews"][view]["byteStride"] = stride
    entry = {"bufferView": view, "componentType": codes[values.dtype.str], "count": len(values), "type": kind}
    limits = {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
    glb.json["accessors"].append({**entry, "normalized": normalized, **limits})
    return len(glb.json["accessors"]) - 1


def places(scene: Scene, thing: Object) -> np.ndarray:
    matrix = global_matrices(scene.nodes)[thing.node]
    return np.asarray(scene.meshes[thing.mesh].positions @ matrix[:3, :3].T + matrix[:3, 3])


@pytest.mark.parametrize("is_normalised", [True, False])
def test_whole_numbers_are_places_normals_and_coordinates(is_normalised: bool, tmp_path: Path, read: Read) -> None:
    """glTF 2.0, 3.11: a normalised signed byte c is max(c / 127, -1), an unsigned short c / 65535."""
    glb, primitive = quad()
    largest = 127 if is_normalised else 100
    positions = (CORNERS * largest).astype(np.int8)
    primitive["attributes"] |= {
        "POSITION": whole(glb, positions, "VEC3", 4, is_normalised),
        "NORMAL": whole(glb, np.array([[0, -128, 0]] * 4, np.int8), "VEC3", 4, True),
        "TEXCOORD_0": whole(glb, (CORNERS[:, :2] * 65535).astype(np.uint16), "VEC2", 4, True),
    }
    glb.json["nodes"][0]["scale"] = [2.0 / (1 if is_normalised else largest)] * 3
    glb.json["extensionsUsed"] = glb.json["extensionsRequired"] = ["KHR_mesh_quantization"]
    scene = read(glb.save(tmp_path / "a.glb"))
    mesh = scene.meshes[0]
    assert places(scene, scene.objects[0]) == pytest.approx(2.0 * CORNERS)
    assert mesh.normals is not None and (mesh.normals == (0, -1, 0)).all()
    assert mesh.uvs is not None and (mesh.uvs == CORNERS[:, :2]).all() and not scene.remarks


def test_morph_targets_of_whole_numbers(tmp_path: Path, read: Read) -> None:
    glb, primitive = quad()
    lift = np.tile(np.array([[0, 0, 32767]], np.int16), (4, 1))
    primitive["targets"] = [{"POSITION": whole(glb, lift, "VEC3", 8, True)}]
    glb.json["extensionsUsed"] = ["KHR_mesh_quantization"]
    morph = read(glb.save(tmp_path / "a.glb")).meshes[0].morph_targets
    assert morph is not None and (morph.positions[0] == (0, 0, 1)).all()


def test_instances_are_placed(tmp_path: Path, read: Read) -> None:
    """Each by scale, rotation, translation, below its node; what the node has below it is placed once."""
    glb, _ = quad()
    turn = np.array([[0, 0, 0, 32767], [0, 0, 23170, 23170]], np.int16)
    attributes = {
        "TRANSLATION": glb.accessor(np.array([[0, 0, 0], [5, 0, 0]], np.float32), "VEC3"),
        "SCALE": glb.accessor(np.array([[1, 1, 1], [2, 2, 2]], np.float32), "VEC3"),
        "ROTATION": whole(glb, turn, "VEC4", 8, True),
        "_ID": glb.accessor(np.array([7, 8], np.uint32), "SCALAR"),
    }
    given = {"extensions": {gltf_extensions.INSTANCING: {"attributes": attributes}}}
    glb.json["nodes"] = [
        {"mesh": 0, "children": [1], "translation": [0, 0, 3], **given},
        {"mesh": 0, "translation": [0, 9, 0]},
    ]
    glb.json["extensionsUsed"] = glb.json["extensionsRequired"] = [gltf_extensions.INSTANCING]
    scene = read(glb.save(tmp_path / "a.glb"))
    found = sorted((places(scene, thing)[1].round(4).tolist() for thing in scene.objects), key=str)
    assert found == [[1, 0, 3], [1, 9, 3], [5, 2, 3]]


def test_too_many_instances_are_refused(tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    glb, _ = quad()
    where = glb.accessor(np.zeros((40, 3), np.float32), "VEC3")
    glb.json["nodes"][0]["extensions"] = {gltf_extensions.INSTANCING: {"attributes": {"TRANSLATION": where}}}
    glb.json["extensionsUsed"] = [gltf_extensions.INSTANCING]
    monkeypatch.setattr(gltf_extensions, "MAX_NODES", 40)
    with pytest.raises(SceneError, match=r"its instances make more than 40 nodes"):
        read(glb.save(tmp_path / "a.glb"))


def test_a_light_of_two_nodes_is_two_lights(tmp_path: Path, read: Read) -> None:
    glb, _ = quad()
    name = gltf_extensions.LIGHTS
    glb.json["extensions"] = {name: {"lights": [{"type": "point", "intensity": 3.0}]}}
    given = {"extensions": {name: {"light": 0}}}
    glb.json["nodes"] += [
        {"translation": [0, 5, 0], **given},
        {"translation": [9, 5, 0], "extensions": {name: {"light": 0}}},
    ]
    glb.json["scenes"][0]["nodes"] = [0, 1, 2]
    glb.json["extensionsUsed"] = [name]
    scene = read(glb.save(tmp_path / "a.glb"))
    matrices = global_matrices(scene.nodes)
    assert sorted(matrices[light.node][0, 3] for light in scene.lights) == [0.0, 9.0]
    assert {light.color for light in scene.lights} == {(3.0, 3.0, 3.0)}


def with_library(monkeypatch: pytest.MonkeyPatch, wanted: str, library: Any) -> None:
    """A package is another one; None: not installed."""
    real = importlib.import_module

    def found(name: str, *rest: Any) -> Any:
        if name == wanted and library is None:
            raise ImportError(name)
        return library if name == wanted else real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", found)


def packed_quad(path: Path, damage: bool = False) -> Path:
    """A square that Draco packed: its accessors have no bytes of their own."""
    library = pytest.importorskip("DracoPy", reason="Draco is read by DracoPy, which is not installed here")
    data = library.encode(CORNERS, np.array([[0, 1, 2], [0, 2, 3]], np.uint32), quantization_bits=14)
    glb, primitive = quad()
    view = glb.view(data[: len(data) // 2] if damage else data)
    for number in (0, 1):
        del glb.json["accessors"][number]["bufferView"]
    numbers = {"POSITION": library.decode(data).attributes[0]["unique_id"]}
    primitive["extensions"] = {gltf_extensions.DRACO: {"bufferView": view, "attributes": numbers}}
    glb.json["extensionsUsed"] = glb.json["extensionsRequired"] = [gltf_extensions.DRACO]
    return glb.save(path)


def test_draco_is_unpacked_in_the_child(tmp_path: Path) -> None:
    scene = load([packed_quad(tmp_path / "a.glb")])
    assert scene.triangle_count == 2
    rows = {tuple(row) for row in scene.meshes[0].positions.round(3).tolist()}
    assert rows == {tuple(row) for row in CORNERS.tolist()}


def test_damaged_draco_and_none_are_sentences(tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SceneError, match="what Draco packed in it is damaged"):
        read(packed_quad(tmp_path / "a.glb", damage=True))
    path = packed_quad(tmp_path / "b.glb")
    with_library(monkeypatch, "DracoPy", None)
    with pytest.raises(SceneError, match=r"which the package DracoPy reads, and that is not installed\. "):
        read(path)


def meshopt_quad(path: Path, pack: Callable[[bytes, str], bytes], more: int = 0) -> Path:
    """A square of whole numbers, all of whose views are packed; the buffer that they stand in has no bytes."""
    glb, primitive = quad()
    primitive["attributes"]["POSITION"] = whole(glb, (CORNERS * 100).astype(np.int16), "VEC3", 8, False)
    body = glb.data
    packed = b""
    for number, view in enumerate(glb.json["bufferViews"]):
        stride, mode = [(12, "ATTRIBUTES"), (4, "TRIANGLES"), (8, "ATTRIBUTES")][number]
        start = view.get("byteOffset", 0)
        raw = body[start : start + view["byteLength"]]
        data = pack(raw, mode)
        given = {"buffer": 1, "byteOffset": len(packed), "byteLength": len(data), "byteStride": stride, "mode": mode}
        view["extensions"] = {MESHOPT: {**given, "count": len(raw) // stride + more}}
        packed += data
    document = dict(glb.json)
    document["buffers"] = [
        {"byteLength": len(body), "extensions": {MESHOPT: {"fallback": True}}},
        {"byteLength": len(packed), "uri": "data:;base64," + base64.b64encode(packed).decode()},
    ]
    document["extensionsUsed"] = document["extensionsRequired"] = [MESHOPT, "KHR_mesh_quantization"]
    path.write_text(json.dumps(document))
    return path


def packed_by(library: Any) -> Callable[[bytes, str], bytes]:
    """How the package packs triangles, and rows of four vertices."""

    def pack(raw: bytes, mode: str) -> bytes:
        rows = np.frombuffer(raw, np.uint32) if mode == "TRIANGLES" else np.frombuffer(raw, np.uint8).reshape(4, -1)
        return bytes(library.encode_gltf_buffer(rows, mode))

    return pack


class Backwards:
    """Stands in for the package: what is packed is written backwards."""

    @staticmethod
    def decode_gltf_buffer(data: bytes, count: int, stride: int, mode: str, kind: str) -> np.ndarray:
        if len(data) != count * stride or kind != "NONE":
            raise RuntimeError("truncated.")
        return np.frombuffer(data[::-1], np.uint8).reshape(count, stride)


def test_views_that_meshopt_packed_are_read(tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places in whole numbers and triangles, unpacked before anything else looks at them."""
    path = meshopt_quad(tmp_path / "a.gltf", lambda raw, mode: raw[::-1])
    with_library(monkeypatch, "meshopt", Backwards)
    scene = read(path)
    assert scene.triangle_count == 2 and not scene.remarks
    assert sorted(scene.meshes[0].positions.tolist()) == sorted((100.0 * CORNERS).tolist())


def test_the_package_meshopt_unpacks_what_it_packed(tmp_path: Path) -> None:
    pack = packed_by(pytest.importorskip("meshopt", reason="the package meshopt is not installed here"))
    scene = load([meshopt_quad(tmp_path / "a.gltf", pack)])
    assert scene.triangle_count == 2
    assert sorted(scene.meshes[0].positions.tolist()) == sorted((100.0 * CORNERS).tolist())
    with pytest.raises(SceneError, match="what meshopt packed in it is damaged"):
        load([meshopt_quad(tmp_path / "b.gltf", lambda raw, mode: pack(raw, mode)[:-3])])


def test_damaged_meshopt_and_none_are_sentences(tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    with_library(monkeypatch, "meshopt", Backwards)
    with pytest.raises(SceneError, match=r"what meshopt packed in it is damaged \(truncated\)\."):
        read(meshopt_quad(tmp_path / "a.gltf", lambda raw, mode: raw[:-4]))
    with pytest.raises(SceneError, match=r"take more than an import may use\. Raise import\.memory_mib\."):
        read(meshopt_quad(tmp_path / "b.gltf", lambda raw, mode: raw, 1 << 40))
    with_library(monkeypatch, "meshopt", None)
    with pytest.raises(SceneError, match=r"which the package meshopt reads, and that is not installed\. Install it"):
        read(meshopt_quad(tmp_path / "c.gltf", lambda raw, mode: raw))


@pytest.mark.parametrize("said", [{"byteStride": -12}, {"count": -90}, {"count": 4.5}, {"byteStride": True}])
def test_sizes_of_packed_views_are_whole_numbers(
    said: dict[str, Any], tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A view that is less than nothing would make room for a huge one beside it."""

    class Never:
        @staticmethod
        def decode_gltf_buffer(*given: Any) -> None:
            raise AssertionError("sizes are looked at before anything is unpacked")

    with_library(monkeypatch, "meshopt", Never)
    path = meshopt_quad(tmp_path / "a.gltf", lambda raw, mode: raw)
    document = json.loads(path.read_text())
    huge, small = (document["bufferViews"][number]["extensions"][MESHOPT] for number in (0, 2))
    huge["count"] = 1 << 40
    small |= {"count": 1 << 41, **said}
    path.write_text(json.dumps(document))
    with pytest.raises(SceneError, match="a count or byteStride is no whole number from 0 on"):
        read(path)


def test_meshopt_is_left_packed_where_its_data_is_there_too(tmp_path: Path, read: Read) -> None:
    glb, _ = quad()
    given = {"buffer": 0, "byteLength": 9, "byteStride": 12, "count": 4, "mode": "ATTRIBUTES"}
    glb.json["bufferViews"][0]["extensions"] = {MESHOPT: given}
    glb.json["extensionsUsed"] = [MESHOPT]
    assert read(glb.save(tmp_path / "a.glb")).triangle_count == 2


LAMP = {"extensions": {gltf_extensions.LIGHTS: {"light": 7}}}
DAMAGE: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
    "instances without an accessor": lambda json, node: node["attributes"].update(TRANSLATION=99),
    "instances of no list": lambda json, node: node.update(attributes=3),
    "rotations of three numbers": lambda json, node: node["attributes"].update(ROTATION=2),
    "a light that is not there": lambda json, node: json["nodes"].append(LAMP),
    "lights of no list": lambda json, node: json.update(extensions={gltf_extensions.LIGHTS: None}),
    "whole numbers of no type": lambda json, node: json["accessors"][0].update(componentType=77),
    "whole numbers beyond the buffer": lambda json, node: json["accessors"][0].update(count=4000),
    "fewer bytes than a row": lambda json, node: json["bufferViews"][2].update(byteStride=1),
    "a buffer that is not there": lambda json, node: json["bufferViews"][2].update(buffer=5),
    "extensions of no list": lambda json, node: json.update(extensionsUsed=4),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_extensions_are_scenes_or_sentences(name: str, tmp_path: Path, read: Read) -> None:
    """Whatever an extension claims: what can be read is, or a sentence says why not."""
    glb, primitive = quad()
    primitive["attributes"]["POSITION"] = whole(glb, (CORNERS * 100).astype(np.int16), "VEC3", 8, False)
    given = {"attributes": {"TRANSLATION": glb.accessor(np.zeros((2, 3), np.float32), "VEC3")}}
    glb.json["nodes"][0]["extensions"] = {gltf_extensions.INSTANCING: given}
    glb.json["extensionsUsed"] = ["KHR_mesh_quantization", gltf_extensions.INSTANCING, gltf_extensions.LIGHTS]
    DAMAGE[name](glb.json, given)
    try:
        scene = read(glb.save(tmp_path / "a.glb"))
    except SceneError as error:
        said = str(error)
        assert said.rstrip(")").endswith(".") and "a.glb" in said and "report" not in said and len(said) < 600
    else:
        assert scene.triangle_count >= 2 and np.isfinite([scene.lower, scene.upper]).all()


def test_instances_of_different_lengths_are_a_sentence(tmp_path: Path, read: Read) -> None:
    glb, _ = quad()
    places = {
        "TRANSLATION": glb.accessor(np.zeros((2, 3), np.float32), "VEC3"),
        "SCALE": glb.accessor(np.ones((3, 3), np.float32), "VEC3"),
    }
    glb.json["nodes"][0]["extensions"] = {gltf_extensions.INSTANCING: {"attributes": places}}
    glb.json["extensionsUsed"] = [gltf_extensions.INSTANCING]
    with pytest.raises(SceneError, match="the instances of node 0 have attributes of different lengths"):
        read(glb.save(tmp_path / "a.glb"))


def test_physically_based_keys_of_obj(tmp_path: Path, read: Read) -> None:
    """Pr, Pm, Ke and their maps, norm: maps count without a factor beside them. What is not drawn is said."""
    for name, level in (("r", 60), ("m", 200), ("n", 128), ("e", 90)):
        (tmp_path / f"{name}.png").write_bytes(writers.png(np.full((2, 2, 4), (level, level, level, 255), np.uint8)))
    (tmp_path / "a.mtl").write_text(
        "newmtl plain\nKd 1 1 1\nPr 0.3\nPm 0.8\nKe 1 2 3\nPs 0.4\nPc 1\nPcr 0.1\naniso 0.5\nnewmtl maps\nKd 1 1 1\n"
        "map_Pr r.png\nmap_Pm m.png\nnorm n.png\nmap_Ke e.png\n"
    )
    faces = "usemtl plain\nf 1/1 2/2 3/3\nusemtl maps\nf 1/1 3/3 4/4\n"
    corners = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
    (tmp_path / "a.obj").write_text(f"mtllib a.mtl\n{corners}{faces}")
    scene = read(tmp_path / "a.obj")
    plain, maps = (next(one for one in scene.materials if one.name == name) for name in ("plain", "maps"))
    assert (plain.roughness, plain.metallic) == pytest.approx((0.3, 0.8)) and plain.emission == (1.0, 2.0, 3.0)
    assert (maps.roughness, maps.metallic) == (1.0, 1.0)
    assert scene.textures[maps.metallic_roughness_texture].pixels[0, 0].tolist()[1:3] == [60, 200]
    assert scene.textures[maps.normal_texture].name == "n.png" and maps.emission_texture >= 0
    assert any("clear coat" in remark.sentence for remark in scene.remarks)


def test_extensions_that_do_not_fit_are_no_silent_picture(tmp_path: Path) -> None:
    """libassimp took whole numbers for fractions where one extension was damaged and others were left undone
    (tests/campaign)."""
    glb, primitive = quad()
    primitive["attributes"]["POSITION"] = whole(glb, (CORNERS * 100).astype(np.int16), "VEC3", 8, False)
    glb.json["nodes"][0]["extensions"] = {gltf_extensions.INSTANCING: {"attributes": 7}}
    glb.json["extensionsUsed"] = ["KHR_mesh_quantization", gltf_extensions.INSTANCING]
    with pytest.raises(SceneError, match="is damaged: what it says by its extensions does not fit"):
        load([glb.save(tmp_path / "a.glb")])


FAULTY: dict[str, Callable[[dict[str, Any]], object]] = {
    "a channel without a path": lambda json: json["animations"][0]["channels"][0]["target"].pop("path"),
    "a track without its values": lambda json: json["animations"][0]["samplers"][0].pop("output"),
    "a mesh without primitives": lambda json: json["meshes"].append({}),
    "a mesh that is none": lambda json: json["meshes"].append(None),
    "an accessor without a count": lambda json: json["accessors"].append({}),
    "a text as an attribute": lambda json: json["meshes"][0]["primitives"][0]["attributes"].update(_MINE="0"),
    "a channel without a sampler": lambda json: json["animations"][0]["channels"][0].pop("sampler"),
    "an animation without samplers": lambda json: json["animations"][0].pop("samplers"),
    "instances of which nothing is said": lambda json: json.pop("extensionsUsed"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_instances_are_there_whatever_else_is_damaged(name: str, tmp_path: Path, read: Read) -> None:
    """Whoever looks at the kinds of numbers cannot, and what the extensions say holds all the same."""
    glb, _ = quad()
    where = glb.accessor(np.array([[0, 0, 0], [5, 0, 0], [9, 0, 0]], np.float32), "VEC3")
    times, values = glb.accessor(np.arange(2, dtype=np.float32), "SCALAR"), glb.accessor(CORNERS[:2], "VEC3")
    channel = {"sampler": 0, "target": {"node": 1, "path": "translation"}}
    glb.json["animations"] = [{"samplers": [{"input": times, "output": values}], "channels": [channel]}]
    glb.json["nodes"][0]["extensions"] = {gltf_extensions.INSTANCING: {"attributes": {"TRANSLATION": where}}}
    glb.json["nodes"].append({"name": "moved"})
    glb.json["extensionsUsed"] = [gltf_extensions.INSTANCING]
    assert read(glb.save(tmp_path / "whole.glb")).triangle_count == 6
    FAULTY[name](glb.json)
    assert read(glb.save(tmp_path / "faulty.glb")).triangle_count == 6


@pytest.mark.parametrize("given", [None, {"attributes": {"TRANSLATION": True}}, {"attributes": {"TRANSLATION": -1}}])
def test_what_is_no_accessor_places_no_instances(given: object, tmp_path: Path, read: Read) -> None:
    """Python takes these for the second and for the last accessor, and nothing at all for no instances."""
    glb, _ = quad()
    glb.accessor(np.zeros((2, 3), np.float32), "VEC3")
    glb.json["nodes"][0]["extensions"] = {gltf_extensions.INSTANCING: given}
    glb.json["extensionsUsed"] = [gltf_extensions.INSTANCING]
    with pytest.raises(SceneError, match="is damaged: what it says by its extensions does not fit"):
        read(glb.save(tmp_path / "a.glb"))
