"""The commonest ways in which a file is wrong, each with its place and what to do (review V12)."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, SceneError, load
from raygrove.app.scene_io.damage import damage
from raygrove.app.scene_io.file_kinds import other_kind
from raygrove.app.scene_io.gltf_faults import gltf_fault, unread_extension
from tests.app.scene_io import writers
from tests.app.scene_io.test_costs import triangle

PLY = "ply\nformat ascii 1.0\nelement vertex 1\nproperty {}\nend_header\n1\n"


def _without(name: str) -> dict[str, Any]:
    return {key: value for key, value in triangle().items() if key != name}


def _mesh(**primitive: Any) -> dict[str, Any]:
    return triangle(meshes=[{"primitives": [{"attributes": {"POSITION": 0}, **primitive}]}])


def _accessor(**changes: Any) -> dict[str, Any]:
    """With other words of the first one; None takes one away."""
    first, *others = triangle()["accessors"]
    first = {key: value for key, value in (first | changes).items() if value is not None}
    return triangle(accessors=[first, *others])


def _indices(*values: int) -> dict[str, Any]:
    """A triangle of these points."""
    changed, data = _mesh(indices=3), np.array(values, "<u2").tobytes()
    changed["accessors"].append({"bufferView": 3, "componentType": 5123, "count": len(values), "type": "SCALAR"})
    changed["bufferViews"].append({"buffer": 1, "byteLength": len(data)})
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    changed["buffers"].append({"byteLength": len(data), "uri": uri})
    return changed


FBX = b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", 7400)
DRACO = "KHR_draco_mesh_compression"
WRONG: dict[str, tuple[str, Any, str]] = {
    "a web page": ("a.glb", "<!DOCTYPE html><html>404</html>", "it is a web page, .* Fetch the file itself"),
    "a pointer": ("a.glb", "version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS, .* `git lfs pull`"),
    "an archive": ("a.glb", "PK\x03\x04 and so on", "it is a ZIP archive. Unpack it"),
    "a packed file": ("a.obj", b"\x1f\x8b\x08", "it is packed by gzip. Name it .gz behind its own ending"),
    "a picture": ("a.stl", b"\x89PNG and so on", "it is a PNG picture. Open the model"),
    "an FBX by another name": ("a.obj", "Kaydara FBX Binary  ", "it is an FBX. Name it .fbx"),
    "zeros": ("a.stl", bytes(500), "it holds nothing but zeros"),
    "JSON with a comma too many": ("a.gltf", json.dumps(triangle())[:-1] + ",}", r"line 1, column \d+ of its JSON"),
    "no number of JSON": ("a.gltf", json.dumps(_mesh(mode=0)).replace('"mode": 0', '"mode": NaN'), "its JSON says NaN"),
    "no asset": ("a.gltf", _without("asset") | {"meshes": []}, "its JSON has no `asset`"),
    "glTF 1": ("a.gltf", triangle(asset={"version": "1.0"}), "glTF of version 1.0, and 2.0 is read"),
    "no scene": ("a.gltf", triangle(scenes=[]), "it has no scene that places its nodes"),
    "a scene that is not there": ("a.gltf", triangle(scene=5), "scene = 5, and there are 1 scenes"),
    "no meshes": ("a.gltf", _without("meshes"), "it has no meshes"),
    "points that are nowhere": ("a.gltf", _mesh(attributes={}), r"meshes\[0\]\.primitives\[0\] has no POSITION, so"),
    "an accessor that is not there": (
        "a.gltf",
        _mesh(attributes={"POSITION": 99}),
        r"meshes\[0\]\.primitives\[0\]\.attributes\.POSITION = 99, and there are 3 accessors",
    ),
    "a child that is not there": ("a.gltf", triangle(nodes=[{"mesh": 0, "children": [9]}]), r"children\[0\] = 9, and"),
    "a circle": ("a.gltf", triangle(nodes=[{"mesh": 0, "children": [0]}]), r"nodes\[0\] hangs from itself"),
    "a view past its buffer": (
        "a.gltf",
        triangle(bufferViews=[{"buffer": 0, "byteLength": 9_999_999}] * 3),
        r"bufferViews\[0\] ends at byte 9,999,999, and its buffer has 68",
    ),
    "a buffer that is not there": (
        "a.gltf",
        triangle(buffers=[{"byteLength": 68, "uri": "gone.bin"}]),
        r"buffers\[0\] is the file 'gone.bin', which is not there: put it beside the model",
    ),
    "no base64": (
        "a.gltf",
        triangle(buffers=[{"byteLength": 68, "uri": "data:application/octet-stream;base64,%%%"}]),
        r"buffers\[0\] should be base64",
    ),
    "less base64 than it says": (
        "a.gltf",
        triangle(buffers=[{"byteLength": 68, "uri": "data:application/octet-stream;base64,AAAA"}]),
        r"buffers\[0\] has 3 bytes in its `uri`, and should have 68",
    ),
    "no points": ("a.gltf", _accessor(count=0), r"accessors\[0\]\.count is 0, and it should be a whole number from 1"),
    "a count that is a text": ("a.gltf", _accessor(count="3"), r"accessors\[0\]\.count is \"3\""),
    "numbers of no type": ("a.gltf", _accessor(componentType=1), r"accessors\[0\]\.componentType is 1,"),
    "no values beside a circle": (
        "a.gltf",
        _accessor(bufferView=None) | {"nodes": [{"mesh": 0, "children": [0]}]},
        r"nodes\[0\] hangs from itself",
    ),
    "values that nothing uses, and points that are nowhere": (
        "a.gltf",
        _mesh(attributes={}) | {"accessors": _accessor(bufferView=None)["accessors"]},
        r"meshes\[0\]\.primitives\[0\] has no POSITION, so",
    ),
    "values that are nowhere": ("a.gltf", _accessor(bufferView=None), r"accessors\[0\] has no bufferView, which means"),
    "more values than there are": (
        "a.gltf",
        _accessor(count=4),
        r"accessors\[0\] takes 48 bytes, and its bufferViews\[0\] has 36",
    ),
    "indices of points that are not there": (
        "a.gltf",
        _indices(9, 9, 9),
        r"a.gltf cannot be read: no face of its meshes\[0\] names points that are there\. Check",
    ),
    "an entity that names a file": (
        "a.dae",
        '<?xml version="1.0"?><!DOCTYPE c [<!ENTITY x SYSTEM "file:///etc/passwd">]><COLLADA version="1.4.1"><asset>'
        "<contributor><author>&x;</author></contributor></asset></COLLADA>",
        "a.dae cannot be read: it holds no scene, or nothing in its scene that can be drawn",
    ),
    "an FBX that is cut": ("a.fbx", FBX + struct.pack("<III", 9999, 0, 0), "a record of it ends at byte 9,999, and 39"),
    "an FBX that is cut between records": ("a.fbx", FBX, "its records go on at byte 27, and 27 are there"),
    "a compression": (
        "a.gltf",
        triangle(extensionsUsed=[DRACO], extensionsRequired=[DRACO]),
        f"it needs the extension {DRACO}, which is not read: export it without",
    ),
    "a PLY of an unknown type": ("a.ply", PLY.format("floaty x"), "line 4, `property floaty x`: there is no type"),
    "a PLY without a magic word": ("a.ply", "hello", "line 1: it does not begin with the word ply"),
    "Collada that ends": ("a.dae", '<?xml version="1.0"?>\n<COLLADA version="1.4.1">', "cut short, at line 2"),
    "an OFF that is none": ("a.off", "hello", "line 1: it does not begin with the word OFF"),
    "an FBX that is none": ("a.fbx", "hello", "it begins neither with the words Kaydara FBX Binary"),
    "an STL that is cut": (
        "a.stl",
        "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n",
        "cut short: line 5, its last, is within facet 1",
    ),
    "an FBX whose text is cut": ("a.fbx", "; FBX 7.1.0\nFBXHeaderExtension: {\n", "ends in the middle: it may be cut"),
    "glTF 1 of another form": (
        "a.gltf",
        {"asset": {"version": "1.0"}, "scene": "first", "scenes": {"first": {"nodes": []}}},
        "glTF of version 1.0, and 2.0 is read. Export it",
    ),
    "a GLB of version 1": ("a.glb", struct.pack("<4sIIII", b"glTF", 1, 20, 0, 0), "glTF of version 1, and 2.0 is read"),
    "a buffer that lies nowhere": (
        "a.gltf",
        triangle(buffers=[{"byteLength": 68}]),
        r"buffers\[0\] has no `uri`, and the file has no binary chunk",
    ),
    **{
        f"UTF-16 in an {ending}": (f"a.{ending}", "solid a\n".encode("utf-16"), "UTF-16, as .* Save it as UTF-8")
        for ending in ("obj", "off", "ply", "stl")
    },
    "a mark before a PLY": ("a.ply", "\ufeff" + PLY.format("float x"), "a mark of UTF-8. Save it as ASCII"),
    "another program's own": ("a.skp", "x", "SketchUp's own format is not supported. Export the model as USD or glTF"),
    "the materials of an OBJ": ("a.mtl", "newmtl a", "it holds materials alone. Open the .obj"),
    "an STL that is none": ("a.stl", "hello", "neither a text that begins with solid nor records"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_its_place(name: str, tmp_path: Path) -> None:
    file, content, words = WRONG[name]
    path = tmp_path / file
    data = content if isinstance(content, bytes | str) else json.dumps(content)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(SceneError, match=words) as caught:
        load([path])
    said = str(caught.value)
    assert str(path) in said and said.endswith(".") and "Assimp" not in said


FACET = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
OFF = "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
PLY_TEXT = (
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
)
READ_OVER: dict[str, tuple[str, str, str]] = {
    "a zero byte in an STL": (
        "a.stl",
        f"solid a\n{FACET}{FACET}endsolid a\n".replace("endloop", "end\0oop", 1),
        "line 7",
    ),
    "a word that no STL has": (
        "a.stl",
        f"solid a\n{FACET[:-4]}\xff{FACET}{FACET}endsolid a\n",
        "it has 3 facets, and 2",
    ),
    "a zero byte in an OBJ": ("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n\0\nf 3 2 1\n", "line 5 holds a zero byte"),
    "a zero byte in an OFF": ("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n\0\nx\n", "line 7 holds a zero"),
    "a zero byte in a PLY": ("a.ply", PLY_TEXT + "\0\nx\n", "line 14 holds a zero byte"),
    "a line too many": (
        "a.ply",
        PLY_TEXT.replace("1 0 0\n", "1 0 0\n0.5 0 0\n"),
        "says 4 lines of data, and 5 are there",
    ),
    "a fraction among indices": (
        "a.ply",
        PLY_TEXT.replace("3 0 1 2", "3 0 1e-46 2"),
        "line 13 has '1e-46' where the index of a vertex should be",
    ),
    "a vertex of an OFF that is not there": (
        "a.off",
        OFF.replace("3 0 1 2", "3 0 1 3"),
        "line 6, `3 0 1 3`: there is no",
    ),
    "a word among an OFF's faces": ("a.off", OFF.replace("3 0 1 2", "3 0 1 x"), "line 6, .*: x is not the number of a"),
    "a face of too few vertices": ("a.off", OFF.replace("3 0 1 2", "3 0 1"), "line 6, .*: a face has a number of"),
    "a number of an OFF with two points": ("a.off", OFF.replace("0 1 0", "0 1.2.3 0"), "line 5, .*: `1.2.3` is not a"),
    "a number of a PLY with two points": ("a.ply", PLY_TEXT.replace("1 0 0\n", "1.2.3 0 0\n"), "line 11, .*: `1.2.3`"),
    "a number of a PLY in another base": ("a.ply", PLY_TEXT.replace("0 1 0\n", "0 1 0x10\n"), "line 12, .*: `0x10`"),
    "a number of a PLY that is not there": (
        "a.ply",
        PLY_TEXT.replace("1 0 0\n", "1 0\n").replace("0 1 0\n", "0 1 0 0\n"),
        "line 11, `1 0`: it should hold 3 numbers, and 2",
    ),
    "a word of a PLY's header": (
        "a.ply",
        PLY_TEXT.replace("property float z", "propertx float z"),
        "line 6, .* header",
    ),
    "a type of a PLY's header": ("a.ply", PLY_TEXT.replace("property float z", "property floax z"), "line 6, .* floax"),
    "points without a z": ("a.ply", PLY_TEXT.replace("property float z", "property float w"), "its vertices have no z"),
    "a number of an STL with two points": (
        "a.stl",
        f"solid a\n{FACET}endsolid a\n".replace("vertex 1 0 0", "vertex 1.2.3 0 0"),
        "line 5, .*: `1.2.3` is not a number",
    ),
    "a corner of an STL of four numbers": (
        "a.stl",
        f"solid a\n{FACET}endsolid a\n".replace("vertex 1 0 0", "vertex 1 0 0 1"),
        "line 5, `1 0 0 1`: it should hold 3 numbers, and 4",
    ),
}


def test_numbers_of_faces_that_may_be_fractions_are_no_damage() -> None:
    """Those of a property that is one, of an element behind the faces, and where an empty line moves all rows."""
    weighed = PLY_TEXT.replace("_indices\n", "_indices\nproperty float weight\n").replace("3 0 1 2", "3 0 1 2 0.5")
    followed = PLY_TEXT.replace("end_header", "element point 1\nproperty float x\nend_header") + "0.25\n"
    empty = PLY_TEXT.replace("end_header\n0 0 0\n1 0 0", "end_header\n0 0 0\n\n0.5 0 0")
    for text in (PLY_TEXT, weighed, followed, empty, PLY_TEXT[: PLY_TEXT.index("0 0 0")]):
        assert damage(text.encode(), "ply") == ""
        assert damage(text.replace("\n", "\r\n").encode(), "ply") == ""


@pytest.mark.parametrize("name", READ_OVER)
def test_what_libassimp_reads_over_is_no_silent_picture(name: str, tmp_path: Path) -> None:
    """A campaign found scenes with fewer triangles than the file, or others, and no word (tests/campaign)."""
    file, text, words = READ_OVER[name]
    (tmp_path / file).write_text(text)
    with pytest.raises(SceneError, match=words) as caught:
        load([tmp_path / file])
    assert f"{file} is damaged: " in str(caught.value) and "export it once more." in str(caught.value)


def test_a_wrong_corner_at_the_end_of_a_long_stl_is_told_in_time(tmp_path: Path) -> None:
    """Lines are counted once, not to each corner anew."""
    text = f"solid a\n{30_000 * FACET}{FACET.replace('0 1 0', '0 1.2.3 0')}endsolid a\n"
    (tmp_path / "a.stl").write_text(text)
    with pytest.raises(SceneError, match="line 210,006, .*: `1.2.3` is not a number"):
        load([tmp_path / "a.stl"], ImportLimits(seconds=20.0))


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n" + bytes(512)),
        ("a.ply", PLY_TEXT.encode() + b"\n \n# the end\n"),
        ("a.ply", PLY_TEXT.replace("\n", "\r\n").encode()),
        ("a.ply", PLY_TEXT.replace("ply", "PLY", 1).encode()),
        ("a.ply", PLY_TEXT.replace("1 0 0\n", "1,5 +0 -0.\n").encode()),
        ("a.off", b"# one\nOFF 3 1 0 # counts\n\n0 0 0 0.5\n1 0 0 # corner\n0 1 0\n 3 0 1 2 0.5 0.5 1\n"),
        ("a.off", OFF.replace("\n", "\r\n").replace("1 0 0", "1,5 1e-3 .5").encode()),
        ("a.stl", f"solid a\n{FACET}endsolid a\n".replace("\n", " ").replace("0 loop", "0\nloop").encode()),
        ("a.stl", f"solid vertex shader\n{FACET}endsolid\n".replace("vertex 1 0 0", "vertex\t1,5  0 -0.").encode()),
        ("a.stl", b"solid of records" + bytes(64) + (1).to_bytes(4, "little") + bytes(12)
         + np.array([0, 0, 0, 1, 0, 0, 0, 1, 0], "<f4").tobytes() + bytes(2)),
    ],
)  # fmt: skip
def test_what_is_only_unusual_opens(file: str, data: bytes, tmp_path: Path) -> None:
    """A file that is filled up, lines without data, records behind the word solid."""
    (tmp_path / file).write_bytes(data)
    assert load([tmp_path / file]).triangle_count == 1


@pytest.mark.parametrize(("name", "is_said"), [("EXT_nobody_reads_this", True), ("KHR_materials_unlit", False)])
def test_an_extension_that_is_needed_and_not_read_is_a_remark(name: str, is_said: bool, tmp_path: Path) -> None:
    """libassimp reads over it; glTF asks for no picture at all."""
    (tmp_path / "a.gltf").write_text(json.dumps(triangle(extensionsUsed=[name], extensionsRequired=[name])))
    said = [remark.sentence for remark in load([tmp_path / "a.gltf"]).remarks if name in remark.sentence]
    assert len(said) == is_said and all("is not read" in sentence for sentence in said)


def test_what_is_right_has_no_fault(tmp_path: Path) -> None:
    animated, skinned = writers.write_animated_glb(tmp_path / "a.glb"), writers.write_skinned_glb(tmp_path / "s.glb")
    for path in (animated, skinned):
        assert gltf_fault(path.read_bytes()) == "" and other_kind(path.read_bytes(), "glb") == ""
    assert gltf_fault(json.dumps(triangle()).encode()) == ""


@pytest.mark.parametrize(
    "data",
    [
        b'{"asset": {"version": "2.0"}, "extensionsRequired": ["EXT_x"], "nodes": [{"name": "\xe9"}]}',
        b'{"extensionsRequired": ["EXT_x"]} and more',
        b'["extensionsRequired"]',
        b'{"extensionsRequired": 3}',
    ],
)
def test_a_gltf_that_was_read_all_the_same_needs_no_sound_text(data: bytes) -> None:
    assert unread_extension(data) == ""
    assert unread_extension(b'{"extensionsRequired": ["EXT_x"]}') == "EXT_x"


def test_a_buffer_that_is_packed_is_to_be_unpacked(tmp_path: Path) -> None:
    """Models are handed on with their buffers packed."""
    path = tmp_path / "a.gltf"
    path.write_text(json.dumps(triangle(buffers=[{"byteLength": 68, "uri": "points%201.bin"}])))
    (tmp_path / "points 1.bin.xz").touch()
    with pytest.raises(SceneError, match=r"which is not there: unpack the file \.xz of that name"):
        load([path])
