"""Models of an instant: read again by the program's own readers they are what was written."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest

import raygrove as rg
from raygrove.app.cli.main import main
from raygrove.app.export.scene_files import Instant, glb_of, ply_of, save_scene
from raygrove.app.frames.instants import instant_of
from raygrove.app.scene_io import load
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.scene import Material, Mesh, Moment, Object, Scene, Texture
from raygrove.gpu.target import choose

GLASS = Material("glass & co", (0.9, 0.5, 0.25, 1.0), 0.25, 0.125, (3.0, 1.5, 0.0), transmission=0.75, ior=1.25,
                 attenuation_color=(0.5, 0.25, 1.0), attenuation_distance=2.0, is_double_sided=False)  # fmt: skip
PICTURED = Material("pictured", base_color_texture=0, alpha_mode="mask", alpha_cutoff=0.25)


@pytest.fixture
def instant() -> Instant:
    """Two quads far from zero, one of glass, one with a picture."""
    quad = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    positions = np.concatenate([quad, quad + (2, 0, 0), [(9, 9, 9)]]).astype(np.float32)
    uvs = np.array([[0, 1], [1, 1], [1, 0], [0, 0]] * 2 + [[0, 0]])
    triangles = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]], np.int32)
    pixels = np.random.default_rng(1).integers(0, 256, (4, 8, 4), dtype=np.uint8)
    return Instant(
        "two quads", positions, np.tile(np.array([0, 0, 1], np.float32), (9, 1)), uvs.astype(np.float32),
        triangles, np.array([1, 1, 0, 0]), (PICTURED, GLASS), (Texture("noise", pixels),), (1e6, 0.0, -5.0),
    )  # fmt: skip


def sorted_rows(rows: np.ndarray) -> np.ndarray:
    """Triangles (T, 9) in an order of their own."""
    found: np.ndarray = rows[np.lexsort(np.round(rows, 3).T[::-1])]
    return found


def corners_of(path: Path) -> np.ndarray:
    """The triangles of a file in its own coordinates, (T, 9)."""
    scene = load([str(path)])
    vertices, triangles = rg.open(str(path)).at(0.0)
    return sorted_rows((vertices.astype(np.float64) + np.asarray(scene.origin))[triangles].reshape(-1, 9))


@pytest.mark.parametrize("ending", ["glb", "ply"])
def test_triangles_come_back_where_they_are(instant: Instant, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"quads.{ending}"
    save_scene(instant, path)
    true = (instant.positions.astype(np.float64) + instant.origin)[instant.triangles].reshape(-1, 9)
    assert np.allclose(corners_of(path), sorted_rows(true), rtol=0.0, atol=0.1)


def test_materials_and_pictures_come_back(instant: Instant, tmp_path: Path) -> None:
    save_scene(instant, tmp_path / "quads.glb")
    scene = load([str(tmp_path / "quads.glb")])
    found = {material.name: material for material in scene.materials}
    glass, pictured = found["glass & co"], found["pictured"]
    for name in ("base_color", "metallic", "roughness", "emission", "transmission", "ior", "attenuation_color",
                 "attenuation_distance", "is_thin", "is_double_sided"):  # fmt: skip
        assert getattr(glass, name) == pytest.approx(getattr(GLASS, name), abs=1e-5), name
    assert pictured.alpha_mode == "mask" and pictured.alpha_cutoff == 0.25 and pictured.base_color_texture >= 0
    texture = scene.textures[pictured.base_color_texture]
    assert np.array_equal(texture.pixels, instant.textures[0].pixels) and texture.is_srgb
    uvs = {tuple(row) for mesh in scene.meshes if mesh.uvs is not None for row in mesh.uvs.tolist()}
    assert uvs == {(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)}


def test_what_nobody_uses_is_left_out_and_nothing_is_an_empty_file(instant: Instant) -> None:
    data = glb_of(instant)
    length = int.from_bytes(data[12:16], "little")
    document = json.loads(data[20 : 20 + length])
    assert document["accessors"][0]["count"] == 8 and len(document["meshes"][0]["primitives"]) == 2
    assert int.from_bytes(data[8:12], "little") == len(data) and len(data) % 4 == 0
    nothing, none = np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32)
    empty = Instant("none", nothing, nothing, None, none, np.zeros(0, int), (Material(),), ())
    assert b'"scenes":[{"nodes":[]}]' in glb_of(empty) and b"element face 0" in ply_of(empty)


@pytest.mark.parametrize("ending", ["glb", "ply"])
def test_an_instant_of_an_animation_is_written(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"walker.{ending}"
    words = ["render", "--demo", "walker", "--set", "demo.triangles=800", "--device", "cpu", "--quiet"]
    assert main([*words, "--time", "0.7", "--out", str(path)]) == 0
    vertices, triangles = rg.Clip.from_plain(make_demo("walker", 800)).at(0.7)
    found, true = corners_of(path), sorted_rows(vertices[triangles].reshape(-1, 9).astype(np.float64))
    assert len(found) == len(true) and np.allclose(found.sum(), true.sum(), atol=1e-2)
    assert np.allclose(found.min(axis=0), true.min(axis=0), atol=1e-4)
    assert np.allclose(found.max(axis=0), true.max(axis=0), atol=1e-4)
    assert main([*words, "--time", "0.7", "--hide", "1", "--out", str(path)]) == 0
    assert 0 < len(corners_of(path)) < len(true)


def rows_of(instant: Instant, ending: str) -> np.ndarray:
    """All that is said of each triangle's corners, and of its material where the kind of file holds that."""
    corners = [instant.positions, instant.normals, np.zeros((0, 2)) if instant.uvs is None else instant.uvs]
    rows = [one[instant.triangles].reshape(len(instant.triangles), -1) for one in corners if len(one)]
    if ending == "glb":
        materials = [(*one.base_color, one.metallic, one.roughness, *one.emission, one.base_color_texture >= 0)
                     for one in instant.materials]  # fmt: skip
        rows.append(np.array(materials)[instant.material_ids])
    return sorted_rows(np.concatenate(rows, axis=1))


@pytest.mark.parametrize("ending", ["glb", "ply"])
@pytest.mark.parametrize("demo", ["walker", "room"])
def test_all_of_a_triangle_comes_back(demo: str, ending: str, tmp_path: Path) -> None:
    """Positions to the last bit; normals are made unit again."""
    path = tmp_path / f"scene.{ending}"
    with contextlib.closing(choose("host")) as target:
        true = instant_of(target, make_demo(demo, 300), Moment(0.7))
        save_scene(true, path)
        found = instant_of(target, load([str(path)]), Moment(0.0))
    assert len(found.triangles) == len(true.triangles) > 100
    assert np.array_equal(sorted_rows(found.positions[found.triangles].reshape(-1, 9)),
                          sorted_rows(true.positions[true.triangles].reshape(-1, 9)))  # fmt: skip
    assert np.abs(rows_of(found, ending) - rows_of(true, ending)).max() < 3e-7


def test_triangles_that_are_nowhere_are_left_out() -> None:
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [np.nan, 0, 0], [0, np.inf, 0]], np.float32)
    mesh = Mesh("torn", positions, np.array([[0, 1, 2], [0, 1, 3], [4, 1, 2]], np.int32), np.zeros(3, np.int32))
    scene = Scene("torn", meshes=(mesh,), objects=(Object(0, 0),))
    with contextlib.closing(choose("host")) as target:
        found = instant_of(target, scene, Moment(0.0))
    assert found.triangles.tolist() == [[0, 1, 2]]
    assert b"NaN" not in glb_of(found) and b"Infinity" not in glb_of(found)
    assert b"element vertex 3\n" in ply_of(found)


def test_what_is_no_instant_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--device", "cpu", "--out", str(tmp_path / "a.glb")]
    assert main(["render", "--demo", "walker", *words, "--frames", "0:3"]) == 2
    assert "a model is of one instant: say --time S" in capsys.readouterr().err
    assert main(["render", "--demo", "spheres", "--set", "demo.triangles=20", *words]) == 2
    assert "has no triangles, and a model is written of these alone" in capsys.readouterr().err
