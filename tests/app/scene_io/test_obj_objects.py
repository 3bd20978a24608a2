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


@pytest.mark.parametrize(
    "changed",
    [
        text_of(COUNT) + "o part0\nf 1 2 3\n",  # which goes on with the first one
        text_of(COUNT) + "g some\nf 1 2 3\n",
        text_of(COUNT) + "o\nf 1 2 3\n",
        text_of(COUNT).replace("f -3 -2 -1", "f -3 \\\n-2 -1", 1),
        text_of(10),
    ],
    ids=["a name twice", "a group", "no name", "a line that goes on", "few"],
)
def test_what_could_be_another_scene_stays(changed: str) -> None:
    assert as_groups(changed.encode()) is None


def test_lines_stay_where_they_are() -> None:
    text = text_of(COUNT)
    found = as_groups(text.encode())
    assert found is not None and found.decode() == text_of(COUNT, "g part{}")
