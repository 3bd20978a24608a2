"""Damage that libassimp reads over or refuses in its own words, in OFF, 3DS, STL, OBJ, Collada and glTF; what is none
opens."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, SceneError, load
from raygrove.app.scene_io.index_damage import index_damage
from tests.app.scene_io import writers
from tests.app.scene_io.test_costs import triangle
from tests.app.scene_io.test_faults import FACET, OFF, PLY_TEXT
from tests.app.scene_io.test_references import COLLADA


@pytest.mark.parametrize("place", range(7))
def test_an_off_may_have_comments_anywhere(place: int, tmp_path: Path) -> None:
    """libassimp reads one before the counts, or behind them, for ever."""
    lines = OFF.splitlines()
    for text in (
        lines[:place] + ["# one"] + lines[place:],
        [*lines[:place], *[line + " # two" for line in lines[place:]]],
    ):
        (tmp_path / "a.off").write_text("\n".join(text) + "\n")
        scene = load([tmp_path / "a.off"], ImportLimits(seconds=20.0))
        assert scene.triangle_count == 1 and scene.upper == (1.0, 1.0, 0.0)


def test_a_point_of_a_3ds_that_is_not_there_is_told(tmp_path: Path) -> None:
    """libassimp takes the last point of the mesh in its stead. Each mesh has points of its own."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    few, many = np.array([[0, 1, 2]]), np.array([[0, 1, 2], [0, 2, 3]])
    path = writers.write_3ds(tmp_path / "model.3ds", (points, many), (points[:3], few))
    assert load([path]).triangle_count == 3
    writers.write_3ds(path, (points, many), (points[:3], many))
    with pytest.raises(
        SceneError, match=r"is damaged: face 1 of its list at byte \d+ names the point 3, and 3 are there"
    ):
        load([path])
    first = writers.write_3ds(tmp_path / "first.3ds", (points[:3], few), (points, many)).read_bytes()
    faces = first.rindex(b"\x20\x41")  # of the second mesh, put before its points
    begin = first.rindex(b"\x10\x41", 0, faces)
    assert index_damage(first, "3ds") == "" == index_damage(first[:begin] + first[faces:] + first[begin:faces], "3ds")
    writers.write_3ds(path, (points, many))
    data = path.read_bytes()
    for wrong, said in {
        data[:-5]: r"The first fault: its part at byte 0 should have 121 bytes, and 116 are there",
        data.replace(b"\x20\x41\x18\0\0\0\2\0", b"\x20\x41\x18\0\0\0\5\0"): "should have 5 entries, and 2 are there",
        b"hello": "The first fault: it does not begin as a 3DS",
    }.items():
        path.write_bytes(wrong)
        with pytest.raises(SceneError, match=said):
            load([path])


REFUSED: dict[str, tuple[str, str, str]] = {
    "an OFF that ends too soon": ("a.off", OFF[:-8], "line 2 says 3 vertices and 1 faces, and 3 lines of data"),
    "a vertex of an OFF of two numbers": ("a.off", OFF.replace("1 0 0", "1 0"), "line 4, .* 3 numbers or more, and 2"),
    "an OFF without counts": ("a.off", "OFF\nx y\n", "line 2 should say how many vertices, faces and edges"),
    "an OBJ without a face": ("a.obj", "v 0 0 0\n", "it has 1 vertices and no face"),
    "a vertex of an OBJ of two numbers": ("a.obj", "v 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "line 1, .* 3 numbers, and 2"),
    "no OBJ": ("a.obj", "hello", "no line of it begins with v or f"),
    "a corner of an STL": (
        "a.stl", f"solid a\n{FACET}".replace("vertex 1 0 0", "vertex 1 0"), "line 5, `1 0`: it should hold 3 numbers",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_libassimp_refuses_is_told_with_its_place(name: str, tmp_path: Path) -> None:
    file, text, words = REFUSED[name]
    (tmp_path / file).write_text(text)
    with pytest.raises(SceneError, match=words) as caught:
        load([tmp_path / file])
    assert "Assimp says" not in str(caught.value)


def test_faces_that_all_name_what_is_not_there_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.ply").write_text(PLY_TEXT.replace("3 0 1 2", "3 0 1 9"))
    with pytest.raises(SceneError, match="is damaged: each of its 1 faces names a vertex that is not there"):
        load([tmp_path / "a.ply"])


def test_lines_that_no_obj_has_are_a_remark(tmp_path: Path) -> None:
    text = "mtllib a b.mtl\no one\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\ns off\nf 1//1 2//1 3//1\nl 1 2\n# x\n\n  g a\n"
    (tmp_path / "a.obj").write_text(text)
    assert not any("begin with no word" in remark.sentence for remark in load([tmp_path / "a.obj"]).remarks)
    (tmp_path / "a.obj").write_text(text.replace("l 1 2", "ff 1 2 3\nx 1 2 3"))
    (told,) = (one for one in load([tmp_path / "a.obj"]).remarks if "begin with no word of an OBJ" in one.sentence)
    assert told.count == 2 and told.sentence.endswith("the first: line 9, `ff 1 2 3`.")


NUMBERED = {
    "obj": "v 0 0 0\nv 1 0 0\nv 0 2 0.5\nv 1 1 {}\nvn 0 0 1\nvt 0 1\nf 1 2 3\nf 2 3 4\n",
    "off": "OFF\n4 2 0\n0 0 0\n1 0 0\n0 2 0.5\n1 1 {}\n3 0 1 2\n3 1 2 3\n",
    "ply": PLY_TEXT.replace("vertex 3", "vertex 4")
    .replace("face 1", "face 2")
    .replace("3 0 1 2", "1 1 {}\n3 0 1 2\n3 1 2 3"),
    "stl": f"solid a\n{FACET}{FACET.replace('vertex 0 1 0', 'vertex 1 1 {}')}endsolid a\n",
}


@pytest.mark.parametrize("word", ["1_5", "1.2.3", "0x10", "1.5D+01", "1.5f"])
@pytest.mark.parametrize("extension", NUMBERED)
def test_a_word_that_libassimp_takes_for_another_number_is_told(extension: str, word: str, tmp_path: Path) -> None:
    """Python alone takes 1_5 for a number; libassimp takes what each begins with."""
    path, text = tmp_path / f"a.{extension}", NUMBERED[extension]
    path.write_text(text.format("1.5"))
    assert load([path]).triangle_count == 2 and load([path]).upper[2] == 1.5
    path.write_text(text.format(word))
    line = text.partition("{}")[0].count("\n") + 1
    with pytest.raises(SceneError, match=rf"is damaged: line {line}, `.*{word.replace('+', '.')}`: .* is not a number"):
        load([path])


def test_numbers_of_normals_and_textures_of_an_obj_are_looked_at(tmp_path: Path) -> None:
    """Behind a comment there may be anything, and a line that goes on is left to libassimp."""
    path, text = tmp_path / "a.obj", NUMBERED["obj"].format("1.5")
    path.write_text("\t v 9 9 9 # 1.2.3\n" + text.replace("v 0 0 0", "v 0 0 0#1.2.3").replace("vn 0", "vn \\\n0"))
    assert not any("damaged" in one.sentence for one in load([path]).remarks)
    for old, new, line in (("vn 0", "vn 0.0.1", 5), ("vt 0", "vt 0x1", 6), ("v 1 1", "  v 1.5.5 1", 4)):
        path.write_text(text.replace(old, new))
        with pytest.raises(SceneError, match=f": line {line}, "):
            load([path])


@pytest.mark.parametrize("word", ["-1.#IND", "-1.#IND00", "1.#QNAN", "1.#SNAN", "1.#INF"])
@pytest.mark.parametrize("extension", [*NUMBERED, "dae"])
def test_what_is_printed_for_no_number_is_taken_for_that(extension: str, word: str, tmp_path: Path) -> None:
    """libassimp takes -1 for -1.#IND, and of an OFF the rest for a comment."""
    dae = COLLADA.format(entities="", name="one").replace('count="9">0 0 0', 'count="12">0 0 0 0 0 {}')
    dae = dae.replace('count="3" stride', 'count="4" stride').replace('triangles count="1"', 'triangles count="2"')
    text = NUMBERED.get(extension, dae.replace("<p>0 1 2", "<p>0 1 2 0 2 3"))
    path = tmp_path / f"a.{extension}"
    path.write_text(text.format("-1"))
    whole = load([path])
    assert whole.triangle_count == 2 and whole.lower[2] == -1.0 and not whole.remarks
    path.write_text(text.format(word))
    scene = load([path])
    assert scene.triangle_count == 1 and scene.lower[2] == 0.0
    (told,) = (one for one in scene.remarks if "-1.#IND" in one.sentence)
    assert told.count == 1


def test_the_mark_of_utf_8_is_no_line_that_no_obj_has(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text("\ufeff# one\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", encoding="utf-8")
    scene = load([tmp_path / "a.obj"])
    assert scene.triangle_count == 1 and not scene.remarks


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('count="9">0 ', 'count="9">0.1.2 ', "<float_array> at line 3 should hold 9 numbers, and something else"),
        ('count="9">0 ', 'count="9">0 0 ', "<float_array> at line 3 should hold 9 numbers, and 10 are there"),
        ('stride="3"', 'stride="1.2.3"', "has '1.2.3' for a stride, which is a whole number"),
        ('stride="3"', 'stride="1"', "<accessor> at line 4 has 3 columns and the stride 1"),
        ('stride="3"', "", "<accessor> at line 4 has 3 columns and the stride 1"),
        ("<p>0 1 2", "<p>0 1 -1", "line 7 has '-1' among the numbers of <p>"),
    ],
)
def test_numbers_of_a_collada_file_are_counted(old: str, new: str, said: str, tmp_path: Path) -> None:
    """One too many, or a word that libassimp takes for two, moves all points that follow."""
    text = COLLADA.format(entities="", name="one")
    assert old in text
    (tmp_path / "a.dae").write_text(text)
    load([tmp_path / "a.dae"])
    (tmp_path / "a.dae").write_text(text.replace(old, new, 1))
    with pytest.raises(SceneError, match="is damaged: .*") as caught:
        load([tmp_path / "a.dae"])
    assert said in str(caught.value)


def test_what_a_collada_file_holds_for_others_is_no_damage(tmp_path: Path) -> None:
    """Comments, and what a program has added for itself; lines behind them are counted as they are."""
    text = COLLADA.format(entities="", name="one")
    more = "<!-- <matrix>\n1 2</matrix> -->\n<extra/><extra type='x'><technique profile='X'>\n"
    more += "<scale>1</scale><tile offset='0.5'/></technique></extra>"
    whole = text.replace("<library_geometries>", f"{more}<library_geometries>", 1)
    assert more in whole
    (tmp_path / "a.dae").write_text(whole)
    assert load([tmp_path / "a.dae"]).triangle_count == 1
    (tmp_path / "a.dae").write_text(whole.replace("<p>0 1 2", "<p>0 1 -1"))
    with pytest.raises(SceneError, match="line 10 has '-1' among the numbers of <p>"):
        load([tmp_path / "a.dae"])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("<p>0 1 2", "<p>0 1 9", "a list <p> names the entry 9 of a source, and there are 3"),
        ("<p>0 1 2", "<p>0 1", "a list <p> has more or fewer numbers than its element's count asks for"),
        ('source="#a" count="3"', 'source="#a" count="9"', "an <accessor> counts more entries than its array holds"),
    ],
)
def test_what_is_wrong_in_a_collada_file_is_told_in_its_words(old: str, new: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.dae").write_text(COLLADA.format(entities="", name="one").replace(old, new, 1))
    with pytest.raises(SceneError) as caught:
        load([tmp_path / "a.dae"])
    assert said in str(caught.value) and "Assimp says" not in str(caught.value)


def test_a_gltf_whose_pictures_alone_are_wrong_opens_by_the_second_reader(tmp_path: Path) -> None:
    path = writers.write_animated_glb(tmp_path / "a.glb")
    writers.edit_glb(path, lambda one: one["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"].update(index=7))
    said = " ".join(remark.sentence for remark in load([path]).remarks)
    assert "baseColorTexture.index = 7, and there are 1 textures" in said and "simple reader" in said
    writers.write_animated_glb(path)
    writers.edit_glb(path, lambda one: one["images"][0].pop("bufferView"))
    assert "images[0] has neither a uri" in " ".join(remark.sentence for remark in load([path]).remarks)


def test_a_buffer_that_is_no_regular_file_is_told(tmp_path: Path) -> None:
    document = triangle(buffers=[{"byteLength": 68, "uri": "pipe.bin"}])
    (tmp_path / "a.gltf").write_text(json.dumps(document))
    os.mkfifo(tmp_path / "pipe.bin")
    with pytest.raises(SceneError, match="buffers\\[0\\] is 'pipe.bin', which is no regular file: put the file"):
        load([tmp_path / "a.gltf"])
