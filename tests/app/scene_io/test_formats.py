"""Generated files of each format, through the child process: counts, colours, textures, nodes, clips."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from raygrove.app.scene_io import COMMON, EXTENSIONS, load
from raygrove.app.scene_io.describe import describe
from raygrove.app.scene_io.transforms import Pose, sample
from tests.app.scene_io import writers
from tests.data import ROOT


def test_an_obj_is_joined_and_gets_smooth_normals(tmp_path: Path) -> None:
    positions, triangles = writers.sphere(12, 16)
    scene = load(writers.write_obj(tmp_path / "ball.obj", positions, triangles))
    (mesh,) = scene.meshes
    assert scene.triangle_count == len(triangles) and len(mesh.positions) == len(positions)
    assert mesh.positions.dtype == np.float32 and mesh.triangles.dtype == np.int32 and mesh.normals is not None
    outwards = mesh.positions / np.linalg.norm(mesh.positions, axis=1)[:, None]
    assert np.einsum("ij,ij->i", mesh.normals, outwards).min() > 0.98
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-5)
    assert scene.lower == pytest.approx((-1, -1, -1), abs=1e-6) and scene.upper == pytest.approx((1, 1, 1), abs=1e-6)
    assert scene.remarks == ()


def test_an_obj_brings_its_materials_and_texture(tmp_path: Path) -> None:
    scene = load([writers.write_textured_obj(tmp_path)])
    materials = {material.name: material for material in scene.materials}
    painted, red = materials["painted"], materials["red"]
    assert painted.base_color == pytest.approx((0.5, 0.5, 0.5, 1.0)) and painted.base_color_texture == 0
    assert red.base_color == pytest.approx((0.9, 0.1, 0.2, 0.75)) and red.base_color_texture == -1
    assert (
        red.emission == pytest.approx((0.25, 0.0, 0.0))
        and red.roughness == pytest.approx(math.sqrt(2.0 / 50.0))
        and red.metallic == 0.0
    )
    (texture,) = scene.textures
    assert texture.is_srgb and np.array_equal(texture.pixels, writers.quarters())
    left = next(mesh for mesh in scene.meshes if scene.materials[mesh.material_ids[0]].name == "painted")
    assert len(scene.meshes) == 2 and left.uvs is not None
    top = left.positions[:, 1] == 1.0
    assert (left.uvs[top, 1] == 0.0).all() and (left.uvs[~top, 1] == 1.0).all(), (
        "v runs downwards: the upper edge shows row 0"
    )


def test_a_missing_texture_is_listed_and_drawn_plain(tmp_path: Path) -> None:
    path = writers.write_textured_obj(tmp_path)
    (tmp_path / "picture.png").unlink()
    scene = load([path])
    (remark,) = [remark for remark in scene.remarks if "picture.png" in remark.sentence]
    assert remark.count == 1 and "not found" in remark.sentence and scene.textures == ()
    assert all(material.base_color_texture == -1 for material in scene.materials)


def test_a_texture_is_found_whatever_its_case_and_slashes(tmp_path: Path) -> None:
    path = writers.write_textured_obj(tmp_path)
    (tmp_path / "picture.png").rename(tmp_path / "PICTURE.png")
    mtl = tmp_path / "quads.mtl"
    mtl.write_text(mtl.read_text().replace("picture.png", "C:\\work\\Picture.png"))
    assert len(load([path]).textures) == 1


def test_a_damaged_texture_is_listed(tmp_path: Path) -> None:
    path = writers.write_textured_obj(tmp_path)
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    assert any("cannot be decoded" in remark.sentence for remark in load([path]).remarks)


@pytest.mark.parametrize(
    ("form", "kind"), [("ascii", "float"), ("binary_little_endian", "float"), ("binary_big_endian", "double")]
)
def test_a_ply_in_each_form(tmp_path: Path, form: str, kind: str) -> None:
    positions, triangles = writers.sphere()
    scene = load([writers.write_ply(tmp_path / "ball.ply", positions, triangles, form, kind)])
    (mesh,) = scene.meshes
    assert np.allclose(mesh.positions, positions, atol=1e-6) and np.array_equal(mesh.triangles, triangles)


@pytest.mark.parametrize(("ending", "opener"), [(".gz", gzip.open), (".xz", lzma.open), (".bz2", bz2.open)])
def test_packed_files_open_and_find_what_lies_beside_them(tmp_path: Path, ending: str, opener: object) -> None:
    plain = writers.write_textured_obj(tmp_path)
    packed = tmp_path / ("quads.obj" + ending)
    with opener(packed, "wb") as file:  # type: ignore[operator]
        file.write(plain.read_bytes())
    plain.unlink()
    scene = load([packed])
    assert scene.name == "quads.obj" and scene.triangle_count == 4 and len(scene.textures) == 1


def test_a_glb_with_texture_and_animation(tmp_path: Path) -> None:
    scene = load([writers.write_animated_glb(tmp_path / "wave.glb")])
    names = {node.name: index for index, node in enumerate(scene.nodes)}
    arm, hand = scene.nodes[names["arm"]], scene.nodes[names["hand"]]
    assert arm.translation == (0.0, 2.0, 0.0) and arm.scale == pytest.approx((2, 2, 2)) and hand.parent == names["arm"]
    paint = next(material for material in scene.materials if material.name == "paint")
    assert paint.base_color == (0.5, 0.25, 1.0, 1.0) and (paint.metallic, paint.roughness) == (0.75, 0.125)
    assert paint.emission == pytest.approx((0.5, 0.0, 1.0)) and paint.base_color_texture == 0
    assert np.array_equal(scene.textures[0].pixels, writers.quarters())
    (mesh,) = scene.meshes
    assert mesh.uvs is not None and np.allclose(
        mesh.uvs[np.argmax(mesh.positions[:, 1] - mesh.positions[:, 0])], (0.0, 0.0)
    )
    (clip,) = scene.clips
    tracks = {(channel.node, channel.path): channel.track for channel in clip.channels}
    assert clip.name == "wave" and clip.duration == pytest.approx(2.0) and len(tracks) == 2
    turn, step = tracks[names["arm"], "rotation"], tracks[names["hand"], "translation"]
    assert (
        turn.interpolation == "linear"
        and np.allclose(turn.times, [0.0, 0.5, 2.0])
        and np.allclose(turn.values, writers.TURN, atol=1e-6)
    )
    assert (
        step.interpolation == "step"
        and np.allclose(sample(step, 0.49), (3, 0, 0))
        and np.allclose(sample(step, 0.5), (4, 0, 0))
    )
    corner = Pose(scene.nodes).matrices(clip, 0.5)[names["hand"]] @ np.array([0.0, 0.0, 0.0, 1.0])
    assert np.allclose(corner[:3], (0.0, 2.0, -8.0), atol=1e-5), (
        "turned by 90 degrees about Y, stepped to x = 4, twice as large"
    )
    assert scene.lower[0] <= -10.0 and scene.upper[0] >= 8.0 and scene.upper[2] >= 0.0, "the bounds cover the animation"


@pytest.mark.parametrize("turn", [0.0, 0.5])
def test_a_texture_transform_moves_the_texture_coordinates(tmp_path: Path, turn: float) -> None:
    """KHR_texture_transform: offset, rotation and scale about the upper left corner."""

    def edit(document: dict[str, Any]) -> None:
        texture = document["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]
        texture["extensions"] = {
            "KHR_texture_transform": {"offset": [0.25, 0.125], "scale": [2.0, 0.5], "rotation": turn}
        }
        document["extensionsUsed"] = ["KHR_texture_transform"]

    path = writers.write_animated_glb(tmp_path / "plain.glb")
    plain, moved = load(path).meshes[0].uvs, load(writers.edit_glb(path, edit)).meshes[0].uvs
    c, s = math.cos(turn), math.sin(turn)
    expected = (plain * (2.0, 0.5)) @ np.array([[c, s], [-s, c]]).T + (0.25, 0.125)
    assert np.allclose(moved, expected, atol=1e-5)


def test_a_camera_and_its_angle(tmp_path: Path) -> None:
    scene = load([writers.write_animated_glb(tmp_path / "wave.glb")])
    (camera,) = scene.cameras
    assert camera.fov == pytest.approx(math.degrees(0.8), abs=1e-3) and scene.nodes[camera.node].translation == (
        0.0,
        0.0,
        9.0,
    )


def test_maps_of_emission_normals_and_roughness_are_read(tmp_path: Path) -> None:
    def shine(document: dict[str, Any]) -> None:
        paint = document["materials"][0]
        paint.update(
            emissiveFactor=[1.0, 0.5, 1.0], emissiveTexture={"index": 0}, normalTexture={"index": 0, "scale": 0.5}
        )
        paint["pbrMetallicRoughness"]["metallicRoughnessTexture"] = {"index": 0}

    scene = load([writers.edit_glb(writers.write_animated_glb(tmp_path / "wave.glb"), shine)])
    paint = scene.materials[0]
    assert paint.emission == (1.0, 0.5, 1.0) and paint.normal_scale == 0.5 and min(paint.texture_ids) >= 0
    color, metal, normal, emission = (scene.textures[index] for index in paint.texture_ids)
    assert color.is_srgb and emission.is_srgb and not metal.is_srgb and not normal.is_srgb and len(scene.textures) == 2
    assert np.array_equal(normal.pixels, color.pixels) and scene.remarks == ()


def test_glass_and_alpha_of_a_glb(tmp_path: Path) -> None:
    def melt(document: dict[str, Any]) -> None:
        volume = {"thicknessFactor": 1.0, "attenuationDistance": 0.25, "attenuationColor": [0.5, 0.75, 1.0]}
        extensions = {
            "KHR_materials_transmission": {"transmissionFactor": 0.9},
            "KHR_materials_ior": {"ior": 1.33},
            "KHR_materials_volume": volume,
        }
        document["materials"][0].update(alphaMode="MASK", alphaCutoff=0.25, extensions=extensions)
        document["extensionsUsed"] = list(extensions)

    scene = load([writers.edit_glb(writers.write_animated_glb(tmp_path / "wave.glb"), melt)])
    paint = next(material for material in scene.materials if material.name == "paint")
    assert (paint.transmission, paint.ior, paint.is_thin) == (pytest.approx(0.9), pytest.approx(1.33), False)
    assert (paint.attenuation_color, paint.attenuation_distance) == (pytest.approx((0.5, 0.75, 1.0)), 0.25)
    assert (paint.alpha_mode, paint.alpha_cutoff) == ("mask", 0.25)

    def thin(document: dict[str, Any]) -> None:
        document["materials"][0].update(
            alphaMode="BLEND", extensions={"KHR_materials_transmission": {"transmissionFactor": 1.0}}
        )
        document["extensionsUsed"] = ["KHR_materials_transmission"]

    panes = load([writers.edit_glb(writers.write_animated_glb(tmp_path / "pane.glb"), thin)]).materials
    pane = next(material for material in panes if material.name == "paint")
    assert pane.is_thin and pane.alpha_mode == "blend" and pane.transmission == 1.0 and pane.ior == 1.5


def test_a_glb_says_which_materials_shine_from_their_backs(tmp_path: Path) -> None:
    plain = load([writers.write_animated_glb(tmp_path / "lamp.glb")]).materials
    both = load(
        [writers.edit_glb(tmp_path / "lamp.glb", lambda document: document["materials"][0].update(doubleSided=True))]
    ).materials
    assert [next(m for m in materials if m.name == "paint").is_double_sided for materials in (plain, both)] == [
        False,
        True,
    ]
    assert all(m.is_double_sided for m in load([writers.write_textured_obj(tmp_path)]).materials), (
        "an OBJ's surfaces have no front"
    )


def test_an_opacity_map_becomes_alpha_and_glass_is_glass(tmp_path: Path) -> None:
    path = writers.write_textured_obj(tmp_path)
    mask = np.zeros_like(writers.quarters())
    mask[: len(mask) // 2], mask[..., 3] = 255, 255
    (tmp_path / "mask.png").write_bytes(writers.png(mask))
    mtl = tmp_path / "quads.mtl"
    text = mtl.read_text().replace("map_Kd picture.png", "map_Kd picture.png\nmap_d mask.png")
    mtl.write_text(text + "\nnewmtl void\nd 0\n")
    materials = {material.name: material for material in load([path]).materials}
    assert (
        materials["painted"].alpha_mode == "mask"
        and materials["red"].alpha_mode == "blend"
        and materials["red"].ior == 1.5
    )
    pixels = load([path]).textures[materials["painted"].base_color_texture].pixels
    assert (
        pixels[0, 0, 3] == 255
        and pixels[-1, -1, 3] == 0
        and np.array_equal(pixels[..., :3], writers.quarters()[..., :3])
    )
    mtl.write_text(text.replace("newmtl red", "newmtl red\nillum 7\nNi 1.7"))
    red = next(material for material in load([path]).materials if material.name == "red")
    assert (red.transmission, red.alpha_mode, red.ior) == (pytest.approx(0.25), "opaque", pytest.approx(1.7))


@pytest.mark.parametrize("side", [1, 16384])
def test_a_texture_may_be_a_texel_or_very_large(tmp_path: Path, side: int) -> None:
    path = writers.write_textured_obj(tmp_path)
    Image.new("L", (side, side), 200).save(tmp_path / "picture.png", compress_level=1)
    scene = load([path])
    (texture,) = scene.textures
    assert texture.pixels.shape == (min(side, 4096), min(side, 4096), 4) and texture.pixels[0, 0].tolist() == [
        200,
        200,
        200,
        255,
    ]
    assert not any("picture.png" in remark.sentence for remark in scene.remarks)


def test_lights_of_a_glb_keep_their_kind(tmp_path: Path) -> None:
    def light(document: dict[str, Any]) -> None:
        spot = {
            "type": "spot",
            "name": "lamp",
            "intensity": 5.0,
            "color": [1.0, 0.5, 0.25],
            "spot": {"innerConeAngle": 0.2, "outerConeAngle": 0.6},
        }
        document["extensions"] = {"KHR_lights_punctual": {"lights": [spot]}}
        document["extensionsUsed"] = ["KHR_lights_punctual"]
        document["nodes"][1]["extensions"] = {"KHR_lights_punctual": {"light": 0}}

    (lamp,) = load([writers.edit_glb(writers.write_animated_glb(tmp_path / "wave.glb"), light)]).lights
    assert (
        lamp.kind == "spot"
        and lamp.color == pytest.approx((5.0, 2.5, 1.25))
        and lamp.node >= 0
        and lamp.direction == (0.0, 0.0, -1.0)
    )
    assert (lamp.inner_angle, lamp.outer_angle) == (pytest.approx(math.degrees(0.2)), pytest.approx(math.degrees(0.6)))


def test_a_skinned_and_morphing_glb(tmp_path: Path) -> None:
    scene = load([writers.write_skinned_glb(tmp_path / "strip.glb")])
    (mesh,) = scene.meshes
    names = {node.name: index for index, node in enumerate(scene.nodes)}
    assert mesh.skin is not None and mesh.morph_targets is not None
    assert [scene.nodes[joint].name for joint in mesh.skin.joints] == ["low", "high"]
    bend = np.zeros((len(mesh.positions), 2))
    np.put_along_axis(bend, mesh.skin.joint_ids[:, :2].astype(np.int64), mesh.skin.weights[:, :2], axis=1)
    assert np.allclose(bend[:, 1], mesh.positions[:, 1] / 2.0) and np.allclose(mesh.skin.weights.sum(axis=1), 1.0)
    high = [scene.nodes[joint].name for joint in mesh.skin.joints].index("high")
    assert np.allclose(mesh.skin.inverse_bind[high][:3, 3], (0, -1, 0))
    assert np.allclose(mesh.morph_targets.positions, [[[0, 1, 0]] * 6]) and mesh.morph_targets.weights == pytest.approx(
        [0.25]
    )
    (channel,) = scene.clips[0].channels
    assert (
        channel.path == "weights"
        and channel.node == names["body"]
        and np.allclose(channel.track.values, [[0.0], [1.0]])
    )


def test_describe_is_plain_and_complete(tmp_path: Path) -> None:
    import json

    told = json.loads(json.dumps(describe(load([writers.write_animated_glb(tmp_path / "wave.glb")]))))
    assert (told["triangles"], told["vertices"], told["objects"]) == (2, 4, 1)
    assert told["clips"] == [{"name": "wave", "duration": pytest.approx(2.0), "channels": 2, "keys": 3}]
    assert told["textures"][0]["width"] == 4 and told["textures"][0]["height"] == 2
    assert told["cameras"][0]["name"] == "eye" and told["duration"] == pytest.approx(2.0)


def test_the_guide_lists_which_formats_ask_first() -> None:
    guide = (ROOT / "docs" / "guide.md").read_text().replace("\n", " ")
    common = re.search(r"- ([a-z0-9, ]+) and ([a-z0-9]+) open at once\.", guide)
    rare = re.search(r"so that the +window lives\): ([a-z0-9, ]+)\.", guide)
    assert common is not None and rare is not None
    assert (*common[1].split(", "), common[2]) == COMMON
    assert rare[1].split(", ") == sorted(set(EXTENSIONS) - set(COMMON))
