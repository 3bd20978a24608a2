"""Many objects of an OBJ are read as groups: the same scene, in a time that grows as their number does."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, obj_objects
from raygrove.app.scene_io.obj_objects import as_groups
from raygrove.app.scene_io.read import read_files
from raygrove.gpu.scene import Scene
from tests.app.scene_io.same import same

COUNT = obj_objects.FEW + 500


def text_of(count: int, name: str = "o part{} and more") -> str:
    corners = "v {0} 0 0\nv {0} 1 0\nv {0} 0 1\nusemtl m{1}\nf -3 -2 -1\n"
    return "".join(f"{name.format(i)}\n" + corners.format(i, i % 3) for i in range(count))


def written(folder: Path, text: str) -> Path:
    (folder / "many.obj").write_text("mtllib many.mtl\n" + text)
    (folder / "many.mtl").write_text("".join(f"newmtl m{i}\nKd 0.{i + 1} 0 0\n" for i in range(3)))
    return folder / "many.obj"


def test_objects_read_as_groups_make_the_same_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, text_of(COUNT))
    monkeypatch.chdir(tmp_path)
    assert as_groups(path.read_bytes()) is not None
    grouped = read_files([str(path)], ImportLimits(), 0.0, lambda fraction, text: None)
    monkeypatch.setattr(obj_objects, "FEW", COUNT)
    assert as_groups(path.read_bytes()) is None
    plain = read_files([str(path)], ImportLimits(), 0.0, lambda fraction, text: None)
    assert len(plain.objects) == COUNT and plain.nodes[plain.objects[7].node].name == "part7"
    assert same(grouped, plain)


def test_objects_among_groups_make_the_same_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that goes on behind an object begins no part, one that comes again or has no name begins another."""
    face = "v {0} 0 0\nv {0} 1 0\nv {0} 0 1\nf -3 -2 -1\n"
    words = ("g some", "o part{0}", "g some", "o", "g many parts  ", "o last{0} word", " o blank", "g", "g some")
    text = "".join(f"{word.format(number)}\n{face.format(number)}" for number in range(12) for word in words)
    path = written(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    plain = read_files([str(path)], ImportLimits(), 0.0, lambda fraction, text: None)
    monkeypatch.setattr(obj_objects, "FEW", 2)
    assert as_groups(path.read_bytes()) is not None
    grouped = read_files([str(path)], ImportLimits(), 0.0, lambda fraction, text: None)
    names = [plain.nodes[one.node].name for one in plain.objects]
    assert names[:6] == ["some", "part0", "many parts  ", "last0", "", "some"]
    assert plain.triangle_count == 12 * len(words) and same(grouped, plain)


def test_a_name_that_comes_again_is_another_part_and_twins_are_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    face = "v 0 0 0\nv 0 1 0\nv 0 0 1\nf -3 -2 -1\n"
    path = written(tmp_path, "".join(f"{line}\n{face}" for line in ("o a", "o b", "o a", "g a", "o a", "g c", "o c")))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(obj_objects, "FEW", 2)
    found = read_files([str(path)], ImportLimits(), 0.0, lambda fraction, text: None)
    assert [found.nodes[one.node].name for one in found.objects] == ["a", "b", "a", "c"]
    assert found.triangle_count == 7


@pytest.mark.parametrize(
    "names",
    [
        ("o part{}", "g part{} of many"),
        ("o one{}", "o two"),
        ("o part\\\n{}", "o \\\nother{} word"),
        ("obj part{}", "group part{} of many"),
    ],
    ids=["mixed", "twice", "in two lines", "other words"],
)
def test_no_name_is_left_to_be_compared(names: tuple[str, str], tmp_path: Path) -> None:
    lines = "".join(f"{names[i % 2].format(i)}\nf 1 2 3\n" for i in range(2 * COUNT))
    path = written(tmp_path, "v 0 0 0\nv 0 1 0\nv 0 0 1\n" + lines)
    written_anew = as_groups(path.read_bytes())
    assert written_anew is not None and written_anew.count(b"\ng") == 2 * COUNT
    assert not re.search(rb"\no(?!ther)", written_anew) and written_anew.count(b"\n") == path.read_bytes().count(b"\n")
    found = read_files([str(path)], ImportLimits(), 0.0, lambda fraction, text: None)
    assert found.triangle_count == len(found.objects) == 2 * COUNT


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_that_go_on_make_the_same_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    """Of names, of words, and of lines that begin as an object does and are more of the line before."""
    words: tuple[str, ...] = (
        "o part\\\n{}",
        "g some\\\n of\\\n many",
        "o \\\nlast{}",
        "usemtl m\\\no {}",
        "obj w{}",
        "o a\\b{}",
        "group one two",
    )
    words = words if end != "\r" else ("o part{}", "obj w{}", "group one two", "g a b", "o a\\b{}")
    face = (
        "v {0} 0 0\nv {0} 1 0\nv {0} 0 1\nf -3 -2 \\\n-1\n"
        if end != "\r"
        else "v {0} 0 0\nv {0} 1 0\nv {0} 0 1\nf -3 -2 -1\n"
    )
    text = "".join(f"{word.format(number)}\n{face.format(number)}" for number in range(9) for word in words)
    (tmp_path / "many.obj").write_bytes(text.replace("\n", end).encode())
    monkeypatch.chdir(tmp_path)
    plain, grouped = (_read_with(few, tmp_path / "many.obj", monkeypatch) for few in (COUNT, 2))
    assert same(plain.nodes, grouped.nodes) and same(plain.objects, grouped.objects)
    assert [one.positions.tolist() for one in plain.meshes] == [one.positions.tolist() for one in grouped.meshes]
    assert plain.triangle_count == 9 * len(words)


def _read_with(few: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(obj_objects, "FEW", few)
    assert (as_groups(path.read_bytes()) is None) == (few == COUNT)
    return read_files([str(path)], ImportLimits(), 0.0, lambda fraction, text: None)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("line", ["# C:\\models\\", "o part\\", "v 9 9 9\\", "o part\\\n\\\n\\"])
def test_a_line_that_goes_on_in_an_empty_one_takes_no_more(tmp_path: Path, line: str, end: str) -> None:
    path = tmp_path / "a.obj"
    face = "v 0 0 0\nv 0 1 0\nv 0 0 1\nf -3 -2 -1\n"
    path.write_bytes(f"{line}\n\n{face}{line}\n\n{face}".replace("\n", end).encode())
    found = read_files([str(path)], ImportLimits(), 0.0, lambda fraction, text: None)
    places = found.meshes[0].positions + np.array(found.origin)
    assert (
        found.triangle_count == 2 and np.allclose(places.min(axis=0), 0) and np.allclose(places.max(axis=0), (0, 1, 1))
    )


@pytest.mark.parametrize(
    "changed",
    [
        text_of(COUNT) + "o a\fo b\nf 1 2 3\n",
        text_of(10),
        text_of(COUNT, "g part{}"),
    ],
    ids=["another end of a line", "few", "groups alone"],
)
def test_what_could_be_another_scene_stays(changed: str) -> None:
    assert as_groups(changed.encode()) is None


def test_lines_stay_where_they_are() -> None:
    text = text_of(COUNT)
    found = as_groups(text.encode())
    assert found is not None and found.decode() == text_of(COUNT, "g part{}")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_few_objects_are_counted_by_their_first_letters_alone(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The expression that knows lines which go on takes several times as long."""
    assert as_groups(text_of(COUNT).replace("\n", end).encode()) is not None
    continued = "o a\n" + "usemtl m\\\no {}\n" * COUNT
    assert as_groups(continued.encode()) is None, "one object, and more of other lines"
    monkeypatch.setattr(obj_objects, "NAMED", None)
    few = text_of(obj_objects.FEW) + "v 0 0 0\n# o g\n" * COUNT
    assert as_groups(few.replace("\n", end).encode()) is None
