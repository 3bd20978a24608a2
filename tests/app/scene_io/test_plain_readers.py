"""The small readers that try once more where libassimp dies of a file or refuses it (review V2, V3)."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, SceneError, importer, load
from raygrove.app.scene_io.gltf_texts import Buffers
from raygrove.app.scene_io.plain_gltf import read_gltf
from raygrove.app.scene_io.plain_readers import PlainError, read_plain
from raygrove.app.scene_io.read import read_files
from raygrove.app.scene_io.references import References
from raygrove.gpu.scene import Scene
from tests.app.scene_io import writers
from tests.app.scene_io.test_importer import take_shell

FACET = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
TWO_SOLIDS = f"solid one\n{FACET}endsolid one\nsolid two\nendsolid two\n"
RAW = "first\n0.5 0.25 0 0 0 0 0 1 0 1 0 0\nsecond\n0 0 0 0 1 0 1 0 3 texture.png\n0 0 0 0 1 0 1 0 4\n"


def test_a_text_stl_with_an_empty_solid_opens(tmp_path: Path) -> None:
    """libassimp 6.0.5 dies of it."""
    path = tmp_path / "two.stl"
    path.write_text(TWO_SOLIDS)
    scene = load([path])
    assert scene.triangle_count == 1 and scene.meshes[0].name == "one" and scene.upper == (1.0, 1.0, 0.0)
    said = " ".join(remark.sentence for remark in scene.remarks)
    assert "simple reader of our own" in said and "crashed (SIGSEGV)" in said


@pytest.mark.parametrize("change", [str.upper, str.title])
def test_a_text_stl_in_capitals_opens(tmp_path: Path, change: Callable[[str], str]) -> None:
    """libassimp 6.0.5 does not know it for one."""
    path = tmp_path / "loud.stl"
    path.write_text(change(f"solid one\n{FACET}{FACET.replace('1 0 0', '2 0 0')}endsolid one\n"))
    scene = load([path])
    assert scene.triangle_count == 2 and scene.upper == (2.0, 1.0, 0.0)
    assert "simple reader of our own" in " ".join(remark.sentence for remark in scene.remarks)


def test_names_of_several_words_begin_groups_of_a_raw_file(tmp_path: Path) -> None:
    path = tmp_path / "model.raw"
    path.write_text("# made by hand\nmy own part\n0 0 0 1 0 0 0 1 0\n")
    scene = load([path])
    assert [mesh.name for mesh in scene.meshes] == ["my own part"] and scene.triangle_count == 1
    path.write_text("part\n0 0 0 1 0 0 0 1 0\nx0 0 0 1 0 0 0 1 0\n")  # a number that is damaged is no name
    with pytest.raises(SceneError, match="a line holds 0 numbers"):
        load([path])


def test_raw_triangles_open_with_their_groups_and_colours(tmp_path: Path) -> None:
    path = tmp_path / "model.raw"
    path.write_text(RAW)
    scene = load([path])
    assert [mesh.name for mesh in scene.meshes] == ["first", "second"] and scene.triangle_count == 3
    first, second = (scene.materials[int(mesh.material_ids[0])].base_color for mesh in scene.meshes)
    assert first == (0.5, 0.25, 0.0, 1.0) and second == (0.8, 0.8, 0.8, 1.0) and scene.remarks == ()


def _write_stl(path: Path, positions: np.ndarray, triangles: np.ndarray) -> Path:
    records = np.zeros(len(triangles), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    records["corners"] = positions[triangles]
    path.write_bytes(bytes(80) + struct.pack("<I", len(records)) + records.tobytes())
    return path


@pytest.mark.parametrize("ending", ["obj", "ply", "stl", "glb"])
def test_both_readers_agree_about_a_good_file(ending: str, tmp_path: Path) -> None:
    path, ball = tmp_path / f"model.{ending}", writers.sphere()
    if ending == "obj":
        writers.write_obj(path, *ball)
    elif ending == "ply":
        writers.write_ply(path, *ball)
    elif ending == "stl":
        _write_stl(path, *ball)
    else:
        writers.write_animated_glb(path)
    scenes = [read_files([str(path)], ImportLimits(), 30.0, lambda *_: None, twice) for twice in (False, True)]
    by_assimp, plain = scenes
    assert plain.triangle_count == by_assimp.triangle_count
    if not by_assimp.clips:
        assert np.allclose(plain.lower, by_assimp.lower) and np.allclose(plain.upper, by_assimp.upper)


@pytest.mark.parametrize("form", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_ply_of_every_form_and_of_polygons(form: str) -> None:
    header = f"ply\nformat {form} 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty double z\n"
    header += "property uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 2)]
    if form == "ascii":
        body = "".join(f"{x} {y} {z} 7\n" for x, y, z in points).encode() + b"4 0 1 2 3\n"
    else:
        order = "<" if form == "binary_little_endian" else ">"
        body = b"".join(struct.pack(order + "ffdB", *point, 7) for point in points)
        body += struct.pack(order + "B4i", 4, 0, 1, 2, 3)
    mesh = read_plain("model.ply", header.encode() + body, "ply").meshes[0]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]] and mesh.positions.tolist() == [list(p) for p in points]


def test_both_readers_divide_by_a_weight_and_leave_colours_out(tmp_path: Path) -> None:
    path = tmp_path / "model.obj"
    path.write_text("v 0 0 0 1\nv 1 0 0 0.5\nv 0 -1 0 4\nv 1 1 1 0.1 0.2 0.3\nf 1 2 3\nf 2 4 3\n")
    scenes = [read_files([str(path)], ImportLimits(), 30.0, lambda *_: None, twice) for twice in (False, True)]
    corners = [scene.meshes[0].positions[scene.meshes[0].triangles] for scene in scenes]
    assert np.allclose(corners[1][0], [[0, 0, 0], [2, 0, 0], [0, -0.25, 0]]) and np.allclose(*corners)


BAD = {
    "a vertex without a weight": ("obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0 0\nf 1 2 3\n"),
    "a vertex of five numbers": ("obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0 1 1\nf 1 2 3\n"),
    "an index out of range": ("obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n"),
    "vertex 0": ("obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n"),
    "a word in a vertex": ("obj", b"v 0 zero 0\n"),
    "a facet of two vertices": ("stl", TWO_SOLIDS.replace("vertex 1 0 0\n", "").encode()),
    "a facet of six vertices": ("stl", TWO_SOLIDS.replace("vertex 1 0 0\n", "vertex 1 0 0\n" * 4).encode()),
    "neither kind of STL": ("stl", b"hello"),
    "a PLY that ends too soon": (
        "ply",
        b"ply\nformat ascii 1.0\nelement vertex 9\nproperty float x\nproperty float y\nproperty float z\nend_header\n1",
    ),
    "a fraction among indices": (
        "ply",
        b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        b"element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1.0 2\n",
    ),
    "faces without columns": ("ply", b"ply\nformat ascii 1.0\nelement face 999999999999\nend_header\n"),
    "ten numbers": ("raw", b"1 2 3 4 5 6 7 8 9 10\n"),
    "no triangle": ("raw", b"name\n"),
}


@pytest.mark.parametrize("name", BAD)
def test_plain_readers_are_strict(name: str) -> None:
    ending, data = BAD[name]
    with pytest.raises(PlainError):
        read_plain("model", data, ending)


def test_a_gltf_that_does_not_fit_its_buffer_is_refused(tmp_path: Path) -> None:
    path = writers.write_animated_glb(tmp_path / "model.glb")

    def longer(document: dict) -> None:  # type: ignore[type-arg]
        document["accessors"][0]["count"] += 1000

    writers.edit_glb(path, longer)
    with pytest.raises(PlainError, match="outside its buffer"):
        read_gltf("model.glb", path.read_bytes(), References(str(tmp_path)))
    circle = {"asset": {"version": "2.0"}, "nodes": [{"children": [0]}], "scenes": [{"nodes": [0]}], "meshes": []}
    with pytest.raises(PlainError, match="no tree"):
        read_gltf("model.gltf", json.dumps(circle).encode(), References(str(tmp_path)))


@pytest.mark.parametrize("changed", [{"extensionsRequired": ["KHR_of_another"]}, {"asset": {"version": "3.0"}}])
def test_a_gltf_that_needs_more_than_the_plain_reader_knows_is_refused(changed: dict[str, Any], tmp_path: Path) -> None:
    """Read without what it needs, it would be another scene."""
    path = writers.write_animated_glb(tmp_path / "model.glb")
    assert read_gltf("model.glb", path.read_bytes(), References(str(tmp_path))).meshes
    writers.edit_glb(path, lambda document: document.update(changed))
    with pytest.raises(PlainError, match="of another version, or needs an extension"):
        read_gltf("model.glb", path.read_bytes(), References(str(tmp_path)))


def test_the_first_sentence_stands_where_both_fail(tmp_path: Path) -> None:
    path = tmp_path / "text.ply"
    path.write_bytes(b"hello")
    with pytest.raises(SceneError, match="line 1: it does not begin"):
        load([path])


def test_other_formats_and_sequences_are_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[Any] = []
    by_child = importer._scene_by

    def noted(job: dict[str, Any], *rest: Any) -> Scene:
        jobs.append(job)
        return by_child(job, *rest)

    monkeypatch.setattr(importer, "_scene_by", noted)
    for name, ended, tries in (("one.stl", "SEGV", 2), ("one.3ds", "SEGV", 1), ("one.stl", "KILL", 1)):
        take_shell(monkeypatch, f"kill -{ended} $$")
        (tmp_path / name).write_bytes(b"x")
        jobs.clear()
        with pytest.raises(SceneError, match=rf"crashed \(SIG{ended}\)"):
            load([tmp_path / name])
        assert len(jobs) == tries


def test_an_accessor_that_is_longer_than_its_view_is_refused() -> None:
    """Also where the buffer goes on: what lies behind the view is something else's."""
    view = {"buffer": 0, "byteOffset": 0, "byteLength": 24}
    accessor = {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 2}
    document = {"bufferViews": [view], "accessors": [accessor, {**accessor, "count": 4}], "buffers": [{}]}
    buffers = Buffers(document, bytes(96), References())
    assert buffers.accessor(0).shape == (2, 3)
    with pytest.raises(ValueError, match="outside its buffer"):
        buffers.accessor(1)


@pytest.mark.parametrize(
    ("extension", "text"),
    [
        ("obj", "v 0 0 0\nv 1 0 0\nv 0 {} 0\nf 1 2 3\n"),
        ("obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n" * 5 + "f 1 2 {}\n"),
        ("stl", TWO_SOLIDS.replace("vertex 1 0 0", "vertex {} 0 0")),
        ("ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
         "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n{} 0 0\n0 1 0\n3 0 1 2\n"),
        ("raw", "0 0 0 {} 0 0 0 1 0\n"),
    ],
)  # fmt: skip
def test_no_reader_takes_a_line_for_a_digit(extension: str, text: str) -> None:
    """1_5 is a number for Python, and for nobody else."""
    read_plain("a", text.format("15").encode(), extension)
    with pytest.raises(PlainError):
        read_plain("a", text.format("1_5").encode(), extension)
