"""Damage to an FBX that libassimp reads over, or leaves a part out by, and what it says of that to its log alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.app.scene_io import SceneError, load
from raygrove.app.scene_io.fbx_damage import fbx_damage, without_long_numbers
from raygrove.gpu.scene import Scene
from tests.data import data_file

MESH = """	Geometry: {number}, "Geometry::{number}", "Mesh" {{
		Vertices: *9 {{
			a: 0,0,0,1,0,0,0,1,0.5
		}}
		PolygonVertexIndex: *3 {{
			a: 0,1,-3
		}}
	}}
	Model: 1{number}, "Model::{number}", "Mesh" {{
		Properties70:  {{
			P: "Lcl Translation", "Lcl Translation", "", "A",1,2,3
			P: "Show", "bool", "", "T 1_5 %",1
		}}
	}}
"""
FBX = f"""; FBX 7.3.0 project file, 0.0.1
FBXHeaderExtension:  {{
	FBXHeaderVersion: 1003
	FBXVersion: 7300
}}
Definitions:  {{
	Version: 100
}}
Objects:  {{
{MESH.format(number=1)}{MESH.format(number=2)}}}
Connections:  {{
	C: "OO",11,0
	C: "OO",12,0
	C: "OO",1,11
	C: "OO",2,12
}}
"""


def opened(tmp_path: Path, text: str | bytes) -> Scene:
    (tmp_path / "a.fbx").write_bytes(text.encode() if isinstance(text, str) else text)
    return load([tmp_path / "a.fbx"])


def test_the_text_of_an_fbx_opens(tmp_path: Path) -> None:
    scene = opened(tmp_path, FBX)
    assert scene.triangle_count == 2 and scene.upper == (2.0, 3.0, 3.5) and not scene.remarks


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0,1,0.5", "0,1,0.5%4", "line 12: `0.5%4` is not a number"),
        ("0,1,0.5", "0,1,\n0.5.5", "line 13: `0.5.5` is not a number"),
        ("0,1,0.5", "0,1,1_5", "line 12: `1_5` is not a number"),
        ("0,1,0.5", "0,1", "the list at line 11 should hold 9 numbers, and 8 are there"),
        ("0,1,0.5", "0,1,0.5,1,1,1", "the list at line 11 should hold 9 numbers, and 12 are there"),
        ('"A",1,2', '"A",1.0.1,2', "line 20: `1.0.1` is not a number"),
        ('C: "OO",12', 'C: "OO",1\xff2', "line 41: `1\\xc3\\xbf2` is not a number"),
    ],
)
def test_wrong_numbers_of_a_text_are_damage(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in FBX
    with pytest.raises(SceneError) as caught:
        opened(tmp_path, FBX.replace(old, new, 1))
    assert f"is damaged: {said}" in str(caught.value)


def test_a_number_is_one_however_long(tmp_path: Path) -> None:
    """libassimp takes 0 for one of more than 31 letters."""
    for word in ("0.50000000000000000000000000000000000", "5000000000000000000000000000000000e-34"):
        assert opened(tmp_path, FBX.replace("0.5", word)).upper == (2.0, 3.0, 3.5)
    assert without_long_numbers(FBX.encode()) is None
    names = f'"Geometry::{"1" * 40}" {"4" * 40}x -{"-" * 40} '.encode()
    assert without_long_numbers(names + b"1." + b"0" * 40 + b",") == names + b"1.0,"


@pytest.mark.parametrize("sign", ["", "-", "+"])
@pytest.mark.parametrize("letters", [31, 32, 33])
def test_the_sign_is_one_of_the_letters(sign: str, letters: int, tmp_path: Path) -> None:
    """libassimp counts it: of 32 letters with it, 0 was read and nothing said."""
    word = f"{sign}0.5".ljust(letters, "0")
    scene = opened(tmp_path, FBX.replace("0.5", word))
    assert (scene.lower[2], scene.upper[2]) == ((2.5, 3.0) if sign == "-" else (3.0, 3.5))
    assert (without_long_numbers(f"a: 1,{word},2".encode()) is None) == (letters < 32)


def test_numbers_that_are_none_are_taken_for_that(tmp_path: Path) -> None:
    for word in ("-1.#IND", "1.#QNAN00", "nan", "inf"):
        scene = opened(tmp_path, FBX.replace("0.5", word, 1))
        assert scene.triangle_count == 1 and any("not a number" in one.sentence for one in scene.remarks)
        assert any("-1.#IND" in one.sentence for one in scene.remarks) == ("#" in word)


def test_a_mesh_that_is_left_out_is_told(tmp_path: Path) -> None:
    """Of a whole mesh libassimp said so to its log alone."""
    wrong = FBX.replace("a: 0,1,-3", "a: 0,1,-9", 1)
    scene = opened(tmp_path, wrong)
    (told,) = scene.remarks
    assert scene.triangle_count == 1 and told.count == 1
    first = "polygon vertex index out of range (line 14, column 27)"
    assert told.sentence == f"Parts that could not be read were left out, the first: {first}."
    with pytest.raises(
        SceneError, match=r"is damaged: polygon vertex index out of range \(line 14, column 27\)\. Fetch it again"
    ):
        opened(tmp_path, wrong.replace("a: 0,1,-3", "a: 0,1,-9"))


def test_a_list_of_a_binary_file_that_cannot_be_unpacked_is_told(tmp_path: Path) -> None:
    """libassimp reads the file without the mesh, and says so to its log alone."""
    whole = data_file("animated/animation_with_skeleton.fbx").read_bytes()
    assert not any("Parts that" in one.sentence for one in opened(tmp_path, whole).remarks)
    begin = whole.index(b"d", whole.index(b"\x08Vertices") + 9)  # its type, three numbers of 4 bytes, the list
    assert int.from_bytes(whole[begin + 5 : begin + 9], "little") == 1, "it is packed"
    changed = whole[: begin + 15] + b"\xff" * 8 + whole[begin + 23 :]
    with pytest.raises(SceneError, match=r"is damaged: Compress.*\. Fetch it again"):
        opened(tmp_path, changed)


def test_what_is_no_number_by_right_is_no_damage() -> None:
    """Words of values, parts that are nested, comments; and the files of others."""
    assert fbx_damage(b'P: "x", "Blob", "", "",12 {\nP: "y", "bool", "", "",T\nC: "OP",1,2, "a.b.c"\n; 1.2.3\n') == ""
    data = data_file("animated/cubes_with_mirroring_and_pivot.fbx").read_bytes()
    assert fbx_damage(data) == "" and without_long_numbers(data) is None
