"""Real models, where they are: counts as published, textures, key frames, clips, and how long it takes."""

from __future__ import annotations

import lzma
import tarfile
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, load
from raygrove.app.scene_io.describe import describe
from raygrove.app.scene_io.exchange import check
from tests.data import data_file


def test_stanford_bunny() -> None:
    scene = load([data_file("static/stanford-bunny.obj")])
    assert scene.triangle_count == 69_451 and scene.vertex_count == 34_834 and scene.remarks == ()
    assert scene.upper == pytest.approx((0.061009, 0.187321, 0.0588), abs=1e-5)


def test_a_packed_dragon() -> None:
    scene = load([data_file("static/dragon_vrip_res3.ply.gz")])
    assert scene.triangle_count == 47_794 and 22_900 < scene.vertex_count <= 22_998


def test_crytek_sponza_with_its_textures(tmp_path: Path) -> None:
    packed = data_file("crytek-sponza/sponza.obj.xz")
    (tmp_path / "sponza.obj").write_bytes(lzma.decompress(packed.read_bytes()))
    (tmp_path / "sponza.mtl").symlink_to(packed.parent / "sponza.mtl")
    (tmp_path / "textures").symlink_to(packed.parent / "textures")
    scene = load([tmp_path / "sponza.obj"], ImportLimits(allow_outside=True))
    assert scene.triangle_count == 262_205 and len(scene.textures) == 21 and len(scene.objects) == 381
    assert not any("missing" in remark.sentence for remark in scene.remarks)
    bricks = next(material for material in scene.materials if material.name == "bricks")
    assert (
        bricks.base_color[:3] == pytest.approx((0.4704,) * 3)
        and "bricks" in scene.textures[bricks.base_color_texture].name
    )
    assert sum(1 for mesh in scene.meshes if mesh.uvs is not None) == 381 and all(
        m.normals is not None for m in scene.meshes
    )


def test_the_horse_gallops(tmp_path: Path) -> None:
    with tarfile.open(data_file("sequences/horse-gallop.tar.xz")) as archive:
        for member in filter(
            tarfile.TarInfo.isfile, archive
        ):  # by hand: extractall has its filter only since Python 3.11.4
            (tmp_path / member.name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / member.name).write_bytes(archive.extractfile(member).read())
    scene = load([tmp_path / "horse-gallop" / "%04d.obj"])
    (mesh,) = scene.meshes
    assert len(mesh.triangles) == 16_843 and len(mesh.positions) == 8_431
    assert (
        mesh.key_frames is not None and len(mesh.key_frames.times) == 48 and scene.duration() == pytest.approx(47 / 30)
    )
    raw = [
        line.split()[1:]
        for line in (tmp_path / "horse-gallop" / "0030.obj").read_text().splitlines()
        if line.startswith("v ")
    ]
    faces = [
        line.split()[1:]
        for line in (tmp_path / "horse-gallop" / "0030.obj").read_text().splitlines()
        if line.startswith("f ")
    ]
    expected = np.array(raw, float)[np.array(faces, int) - 1]
    assert np.allclose(mesh.key_frames.positions[29][mesh.triangles], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "triangles", "clips", "skinned"),
    [
        ("animated/Fox.glb", 576, {"Survey": 3.4167, "Walk": 0.7083, "Run": 1.1583}, True),
        ("animated/CesiumMilkTruck.glb", 3_624, {"clip 1": 1.25}, False),
        ("animated/CesiumMan.glb", 4_672, {"clip 1": 2.0}, True),
        ("animated/AnimatedMorphSphere.glb", 960, {"Globe": 7.2}, False),
        ("animated/animation_with_skeleton.fbx", 2_112, {"Armature|ArmatureAction": 0.8333}, True),
        ("animated/box_nested_animation.dae", 12, {"Armature": 1.6667}, True),
    ],
)
def test_animated_models(name: str, triangles: int, clips: dict[str, float], skinned: bool) -> None:
    scene = load([data_file(name)])
    check(scene)
    assert scene.triangle_count == triangles and any(mesh.skin is not None for mesh in scene.meshes) == skinned
    assert {clip.name: clip.duration for clip in scene.clips} == pytest.approx(clips, abs=1e-3)
    assert describe(scene)["triangles"] == triangles


def test_an_fbx_camera_has_its_whole_angle() -> None:
    """Blender's camera of 50 mm on 36 mm at 16:9 sees 22.9 degrees vertically; Assimp hands out half angles for FBX
    only."""
    (camera,) = load([data_file("animated/animation_with_skeleton.fbx")]).cameras
    assert camera.fov == pytest.approx(22.9, abs=0.1)


def test_a_scan_without_faces_is_a_cloud_of_spheres() -> None:
    scene = load([data_file("points/room_scan1.ply")])
    assert (scene.triangle_count, scene.sphere_count) == (0, 112_586)
