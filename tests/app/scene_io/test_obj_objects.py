"""Many objects of an OBJ are read as groups: the same scene, in a time that grows as their number does."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.app.scene_io import ImportLimits, obj_objects
from raygrove.app.scene_io.obj_objects import as_groups
from raygrove.app.scene_io.read import read_files
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


@pytest.mark.parametrize("names", [("o part{}", "g part{} of many"), ("o one{}", "o two")], ids=["mixed", "twice"])
def test_no_name_is_left_to_be_compared(names: tuple[str, str], tmp_path: Path) -> None:
    lines = "".join(f"{names[i % 2].format(i)}\nf 1 2 3\n" for i in range(2 * COUNT))
    path = written(tmp_path, "v 0 0 0\nv 0 1 0\nv 0 0 1\n" + lines)
    written_anew = as_groups(path.read_bytes())
    assert written_anew is not None and b"\no" not in written_anew and written_anew.count(b"\ng") == 2 * COUNT
    found = read_files([str(path)], ImportLimits(), 0.0, lambda fraction, text: None)
    assert found.triangle_count == len(found.objects) == 2 * COUNT


@pytest.mark.parametrize(
    "changed",
    [
        text_of(COUNT) + "group some\nf 1 2 3\n",
        text_of(COUNT) + "o a \\\nb\nf 1 2 3\n",
        text_of(COUNT) + "f 1 2 \\\no 3\n",
        text_of(10),
        text_of(COUNT, "g part{}"),
    ],
    ids=["another word", "a name that goes on", "a line that goes on", "few", "groups alone"],
)
def test_what_could_be_another_scene_stays(changed: str) -> None:
    assert as_groups(changed.encode()) is None


def test_lines_stay_where_they_are() -> None:
    text = text_of(COUNT)
    found = as_groups(text.encode())
    assert found is not None and found.decode() == text_of(COUNT, "g part{}")
