"""The one rule for what a model names: regular files inside its folder, unless the user allows more."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from raygrove.app.scene_io import ImportLimits, SceneError, load, references
from raygrove.app.scene_io.errors import OutsideError
from raygrove.gpu.scene import Scene
from tests.app.scene_io import writers

ALLOWING = ImportLimits(allow_outside=True)
SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl red\nf 1/1 2/2 3/3 4/4\n"
MATERIALS = "newmtl red\nKd 0.9 0.1 0.2\n"


def written(folder: Path, library: str, picture: str = "") -> Path:
    """A square whose OBJ names a material library, and whose library, beside it, names a picture."""
    folder.mkdir(exist_ok=True)
    (folder / "square.obj").write_text(f"mtllib {library}\n{SQUARE}")
    (folder / "square.mtl").write_text(MATERIALS + (f"map_Kd {picture}\n" if picture else ""))
    return folder / "square.obj"


def picture_at(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((2, 2, 3), 200, np.uint8)).save(path)
    return path


def said(scene: Scene) -> str:
    return " ".join(remark.sentence for remark in scene.remarks)


@pytest.mark.parametrize("form", ["../outside/picture.png", "absolute", "link", "folder link"])
def test_a_texture_outside_is_read_where_that_is_allowed(form: str, tmp_path: Path) -> None:
    picture = picture_at(tmp_path / "outside" / "picture.png")
    name = {"absolute": str(picture), "link": "linked.png", "folder link": "away/picture.png"}.get(form, form)
    path = written(tmp_path / "model", "square.mtl", name)
    if form == "link":
        (path.parent / name).symlink_to(picture)
    if form == "folder link":
        (path.parent / "away").symlink_to(picture.parent)
    scene = load([path])
    assert not scene.textures and references.OUTSIDE in said(scene) and "--" not in said(scene)
    assert [remark.setting for remark in scene.remarks if remark.setting] == [references.ALLOWED]
    allowed = load([path], ALLOWING)
    assert len(allowed.textures) == 1 and not allowed.remarks


def test_what_lies_inside_is_read_by_way_of_the_parent(tmp_path: Path) -> None:
    """A path that leaves the folder and comes back is inside; so is a link to what lies inside."""
    path = written(tmp_path / "model", "../model/square.mtl", "linked.png")
    picture_at(path.parent / "textures" / "picture.png")
    (path.parent / "linked.png").symlink_to("textures/picture.png")
    scene = load([path])
    assert len(scene.textures) == 1 and not scene.remarks


def test_a_library_of_materials_outside_is_refused_and_named(tmp_path: Path) -> None:
    (tmp_path / "secret.mtl").write_text("newmtl red\nKd 0.1 0.2 0.3\n")
    path = written(tmp_path / "model", "../secret.mtl")
    (path.parent / "square.mtl").unlink()
    scene = load([path])
    assert "../secret.mtl" in said(scene) and references.OUTSIDE in said(scene)
    assert all(material.base_color[:3] != pytest.approx((0.1, 0.2, 0.3)) for material in scene.materials)
    colours = [material.base_color[:3] for material in load([path], ALLOWING).materials]
    assert any(colour == pytest.approx((0.1, 0.2, 0.3)) for colour in colours)


def gltf_with_buffer(folder: Path, uri: str) -> Path:
    """One triangle whose positions lie in a buffer of 36 bytes."""
    folder.mkdir(exist_ok=True)
    document = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "buffers": [{"uri": uri, "byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}
        ],
    }
    (folder / "one.gltf").write_text(json.dumps(document))
    return folder / "one.gltf"


def test_a_buffer_outside_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "points.bin").write_bytes(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes())
    path = gltf_with_buffer(tmp_path / "model", "../points.bin")
    with pytest.raises(OutsideError, match=references.OUTSIDE) as caught:
        load([path])
    assert caught.value.trust == ("allow_outside", (str(path),)), "so that it can be opened all the same"
    assert str(caught.value).count("points.bin") == 1 and "Assimp" not in str(caught.value)
    assert load([path], ALLOWING).triangle_count == 1


@pytest.mark.parametrize("what", ["library", "picture", "buffer"])
def test_a_fifo_makes_nobody_wait(what: str, tmp_path: Path) -> None:
    """Nobody writes into it: who opened it as a file would wait for the whole of import.seconds."""
    os.makedirs(tmp_path / "model")
    os.mkfifo(tmp_path / "model" / "pipe")
    if what == "buffer":
        with pytest.raises(SceneError, match="pipe") as caught:
            load([gltf_with_buffer(tmp_path / "model", "pipe")], ImportLimits(seconds=30.0))
        assert references.NO_FILE in str(caught.value)
        return
    path = written(tmp_path / "model", "pipe" if what == "library" else "square.mtl", "pipe")
    if what == "library":
        (path.parent / "square.mtl").unlink()
    scene = load([path], ImportLimits(seconds=30.0))
    assert scene.triangle_count == 2 and references.NO_FILE in said(scene)
    assert "square.mtl" not in said(scene), "which nobody named"


def test_a_missing_library_is_named_once_and_its_stand_in_taken(tmp_path: Path) -> None:
    path = written(tmp_path / "model", "painted.mtl")
    assert not load([path]).remarks  # square.mtl, which is called as the model is, stands in for it
    (path.parent / "square.mtl").unlink()
    scene = load([path])
    assert "Materials missing, drawn plain: painted.mtl was not found" in said(scene)
    (path.parent / "square.obj").write_text(SQUARE.replace("usemtl red\n", ""))
    assert not load([path]).remarks


def test_one_of_two_libraries_that_is_missing_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "model", "red.mtl\nmtllib blue.mtl")
    (path.parent / "square.mtl").rename(path.parent / "red.mtl")
    scene = load([path])
    assert "Materials missing, drawn plain: blue.mtl was not found" in said(scene)
    assert any(material.base_color[0] == pytest.approx(0.9) for material in scene.materials)


@pytest.mark.parametrize("name", ["colours.txt", "file:///models/painted.png", "%2e%2e/painted"])
def test_a_missing_library_of_another_ending_is_named_as_the_file_does(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "model", name)
    (path.parent / "square.mtl").unlink()
    words = said(load([path]))
    assert f"drawn plain: {os.path.normpath(name)} was not found" in words and "square.mtl" not in words


def test_a_packed_model_obeys_the_same_rule(tmp_path: Path) -> None:
    picture_at(tmp_path / "picture.png")
    path = written(tmp_path / "model", "square.mtl", "../picture.png")
    packed = path.with_suffix(".obj.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert references.OUTSIDE in said(load([packed])) and len(load([packed], ALLOWING).textures) == 1


def test_a_sequence_obeys_the_same_rule(tmp_path: Path) -> None:
    picture_at(tmp_path / "picture.png")
    path = written(tmp_path / "model", "square.mtl", "../picture.png")
    (path.parent / "square2.obj").write_bytes(path.read_bytes())
    files = [path, path.parent / "square2.obj"]
    assert references.OUTSIDE in said(load(files)) and len(load(files, ALLOWING).textures) == 1


def test_a_file_that_is_a_link_is_the_users_own_choice(tmp_path: Path) -> None:
    """Whoever opens a link means what it leads to; what that names is looked for beside the link."""
    path = written(tmp_path / "kept", "square.mtl")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "link.obj").symlink_to(path)
    assert load([tmp_path / "model" / "link.obj"]).triangle_count == 2


def test_a_folder_is_no_texture(tmp_path: Path) -> None:
    path = written(tmp_path / "model", "square.mtl", "picture.png")
    (path.parent / "picture.png").mkdir()
    assert "picture.png (not found)" in said(load([path]))


def test_what_libassimp_reads_is_what_lies_in_the_file(tmp_path: Path) -> None:
    """By our functions, in pieces: a file larger than what is read at once gives every vertex of it."""
    rows, columns = 700, 700
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1).reshape(-1, 2)
    lines = [f"v {x}.123456789 {y}.987654321 0.00000000000000000000000000000000000000000000000000" for x, y in grid]
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1) + 1
    lines += [f"f {i} {i + 1} {i + columns}" for i in corner]
    path = tmp_path / "grid.obj"
    path.write_text("\n".join(lines) + "\n")
    assert path.stat().st_size > 16 << 20
    scene = load([path])
    assert scene.triangle_count == len(corner)
    assert scene.meshes[0].positions.max(axis=0)[:2] == pytest.approx([698.1235, 699.9877], abs=1.5)


def test_textures_of_the_writers_are_found(tmp_path: Path) -> None:
    scene = load([writers.write_textured_obj(tmp_path)])
    assert scene.textures and not any(remark.setting for remark in scene.remarks)


COLLADA = """<?xml version="1.0"?><!DOCTYPE COLLADA [{entities}]>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g" name="g"><mesh><source id="p"><float_array id="a" count="9">0 0 0 1 0 0 0 1 0
</float_array><technique_common><accessor source="#a" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles count="1">
<input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n" name="a {name}"><instance_geometry url="#g"/></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


@pytest.mark.parametrize("kind", ["a file", "laughs"])
def test_entities_of_xml_read_nothing_and_grow_to_nothing(kind: str, tmp_path: Path) -> None:
    """XXE and the billion laughs (review S8): whether the scene opens or is refused, no text of elsewhere is in it."""
    (tmp_path / "secret.txt").write_text("of nobody's business")
    entities = f'<!ENTITY e0 SYSTEM "file://{tmp_path}/secret.txt">'
    if kind == "laughs":
        entities = '<!ENTITY x "ha">' + "".join(
            f'<!ENTITY e{level} "{("&x;" if level == 9 else f"&e{level + 1};") * 10}">' for level in range(9, -1, -1)
        )
    path = tmp_path / "model.dae"
    path.write_text(COLLADA.format(entities=entities, name="&e0;"))
    try:
        scene = load([path], ImportLimits(seconds=60.0, memory_mib=1024))
        names = " ".join([*(node.name for node in scene.nodes), *(mesh.name for mesh in scene.meshes), said(scene)])
    except SceneError as error:
        names = str(error)
        assert "more memory" not in names and "was stopped" not in names
    assert "business" not in names and "haha" not in names and len(names) < 10_000
    path.write_text(COLLADA.format(entities="", name="plain"))
    assert load([path]).triangle_count == 1, "it is the entities that are tried, not a file that is wrong otherwise"


def test_an_archive_writes_nothing_beside_itself(tmp_path: Path) -> None:
    """Paths that lead out of an archive (zip-slip, review S8)."""
    relation = '<Relationship Target="/3D/3dmodel.model" Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/'
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "model.3mf"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("../slipped.txt", f"{tmp_path}/slipped.txt", "../../../../../../tmp/slipped.txt"):
            archive.writestr(name, "x")
        archive.writestr("_rels/.rels", f'<Relationships>{relation}3dmodel"/></Relationships>')
        archive.writestr("3D/3dmodel.model", "<model><resources/></model>")
    with contextlib.suppress(SceneError):
        load([path], ImportLimits(all_formats=True, seconds=60.0))
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["in", "model.3mf"]
    assert not Path("/tmp/slipped.txt").exists()


def test_names_of_a_model_are_safe_to_show(tmp_path: Path) -> None:
    """Whatever a terminal would obey: in names of objects and materials, in remarks, and in errors."""
    path = tmp_path / "a.obj"
    path.write_text("o \x1b]0;title\x07one\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl \x9b2J\u202ered\nf 1 2 3\n")
    (tmp_path / "a.mtl").write_text("newmtl \x9b2J\u202ered\nmap_Kd \x1b[2Jgone.png\n")
    path.write_text("mtllib a.mtl\n" + path.read_text())
    scene = load([path])
    names = [*(mesh.name for mesh in scene.meshes), *(node.name for node in scene.nodes), said(scene)]
    names += [material.name for material in scene.materials]
    assert any(r"\x1b]0;title\x07one" in name for name in names), names
    assert any(r"\x9b2J\u202ered" in name for name in names), names
    assert r"\x1b[2Jgone.png (not found)" in said(scene)
    assert not any(letter in name for name in names for letter in "\x1b\x07\x9b\u202e")
    with pytest.raises(SceneError) as caught:
        load([tmp_path / "\x1b]2J\u202egone.obj"])
    assert r"\x1b]2J\u202egone.obj does not exist" in str(caught.value)
