"""The flat file between child and program: the same scene comes out, and nothing that is not one."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, exchange
from raygrove.app.scene_io.exchange import ExchangeError
from raygrove.app.scene_io.read import read_file
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.gpu.scene import Material, Node, Object, Scene, Spheres
from tests.app.scene_io import writers
from tests.app.scene_io.exchanged import edited, read, written
from tests.app.scene_io.same import same


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A scene with something in most fields, read in this process."""
    monkeypatch.chdir(tmp_path)
    path = writers.write_skinned_glb(tmp_path / "strip.glb")
    made = read_file(str(path), ImportLimits())
    monkeypatch.chdir(tmp_path)
    textured = read_file(str(writers.write_animated_glb(tmp_path / "wave.glb")), ImportLimits())
    return sanitise(dataclasses.replace(made, textures=textured.textures, cameras=textured.cameras[:1]))


def test_the_same_scene_comes_out(scene: Scene) -> None:
    back = read(written(scene))
    assert same(scene, back) and back.meshes[0].skin is not None and back.textures and back.cameras
    back.meshes[0].positions[0] = 7.0
    assert not same(scene, back), "arrays are copies on write"


def test_a_file_cut_short_or_changed_is_refused(scene: Scene) -> None:
    data = written(scene)
    for bad in (b"", data[:10], data[:-1], data[:-24] + b"\xff" * 24, data[: len(data) // 2]):
        with pytest.raises(ExchangeError):
            read(bad)


def _set(*path: Any, value: Any) -> Any:
    def edit(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        _set("arrays", value=1 << 30),
        _set("arrays", value=-1),
        _set("arrays", value="O"),
        _set("table", value=4),
        _set("table", value=-64),
        _set("scene", "nodes", "counts", value=1),
        _set("scene", "nodes", "of", "name", "texts", value=["one"]),
        _set("scene", "nodes", "of", "name", "texts", 0, value=3),
        _set("scene", "meshes", "of", "positions", value={"arrays": 9999}),
        _set("scene", "meshes", "of", "positions", value={"numbers": 0}),
        _set("scene", "meshes", "of", "positions", value=[1, 2, 3]),
        _set("scene", "meshes", "of", "surprise", value=1),
        _set("scene", "name", "texts", value=[3]),
        _set("scene", "name", "texts", value="x"),
    ],
)
def test_a_description_that_lies_is_refused(scene: Scene, edit: Any) -> None:
    with pytest.raises(ExchangeError):
        read(edited(written(scene), edit))


def test_no_row_of_the_table_is_believed(scene: Scene) -> None:
    """Each number of the table changed in turn: the file is refused, or what comes out passes the check. A code that
    no type has, a length or an offset beyond the file are refused always."""
    data = written(scene)
    start, _, _ = exchange.TRAILER.unpack(data[-24:])
    document = json.loads(data[start:-24])
    table = np.frombuffer(data, "<i8", document["arrays"] * exchange.ROW, document["table"])
    refused = 0
    for place in range(0, len(table), 5):
        for value in (-1, 1 << 39, 1 << 62):
            changed = table.copy()
            changed[place] = value
            at = document["table"]
            try:
                exchange.check(read(data[:at] + changed.tobytes() + data[at + changed.nbytes :]))
            except ExchangeError:
                refused += 1
    changed = table.copy()
    row = changed[-exchange.ROW :]
    row[:] = (2, 1, start - row[-1] + 8, 1, 1, 1, row[-1])  # bytes, as far as into the description
    at = document["table"]
    with pytest.raises(ExchangeError, match="outside"):
        read(data[:at] + changed.tobytes() + data[at + changed.nbytes :])
    places = len(range(0, len(table), 5))
    assert refused >= 2 * places, "of the three values all but lengths that do not count are beyond any file"


@pytest.mark.parametrize(
    "changed",
    [
        {"objects": (Object(0, 9),)},
        {"objects": (Object(-1, 0),)},
        {"nodes": (Node(parent=5),)},
        {"nodes": (Node(translation=(float("nan"), 0.0, 0.0)),)},
        {"lower": (float("inf"), 0.0, 0.0)},
        {"materials": (Material(base_color_texture=44),)},
        {"materials": ()},
        {"nodes": ()},
    ],
)
def test_values_that_would_hurt_are_refused(scene: Scene, changed: dict[str, Any]) -> None:
    with pytest.raises(ExchangeError):
        read(written(dataclasses.replace(scene, **changed)))


def test_arrays_that_are_shared_are_written_once_and_small_ones_lie_together(scene: Scene) -> None:
    mesh, count = scene.meshes[0], 300
    assert mesh.skin is not None
    plain = dataclasses.replace(mesh, skin=None)
    many = tuple(dataclasses.replace(plain, name=f"part {index}") for index in range(count))
    data = written(dataclasses.replace(scene, meshes=many))
    back = read(data)
    assert [one.name for one in back.meshes] == [one.name for one in many]
    assert all(same(one.positions, mesh.positions) for one in back.meshes)
    start = exchange.TRAILER.unpack(data[-24:])[0]
    assert json.loads(data[start:-24])["arrays"] < 200, "each array is there once"
    copies = tuple(dataclasses.replace(plain, positions=mesh.positions + np.float32(i)) for i in range(count))
    longer = written(dataclasses.replace(scene, meshes=copies))
    table = count * (8 * exchange.ROW + mesh.positions.nbytes + exchange.SMALL_ALIGNMENT)
    assert len(longer) - len(data) < table, "a small array costs its bytes and its row"
    assert same(read(longer).meshes[-1].positions, copies[-1].positions)


def test_indices_and_positions_that_would_hurt_are_refused(scene: Scene) -> None:
    mesh = scene.meshes[0]
    assert mesh.skin is not None and mesh.normals is not None
    for changed in (
        dataclasses.replace(mesh, triangles=mesh.triangles + np.int32(100)),
        dataclasses.replace(mesh, positions=np.full_like(mesh.positions, np.nan)),
        dataclasses.replace(mesh, material_ids=mesh.material_ids - np.int32(1)),
        dataclasses.replace(mesh, normals=mesh.normals[:1]),
        dataclasses.replace(mesh, skin=dataclasses.replace(mesh.skin, joint_ids=mesh.skin.joint_ids + np.int32(9))),
    ):
        with pytest.raises(ExchangeError):
            read(written(dataclasses.replace(scene, meshes=(changed,))))


def test_objects_show_one_thing_each_and_meshes_before_spheres(scene: Scene) -> None:
    """Kernels find an object's vertices by its place among the others."""
    balls = Spheres("balls", np.zeros((2, 3), np.float32), np.ones(2, np.float32))
    scene = dataclasses.replace(scene, spheres=(balls,))
    mesh, spheres = Object(0, 0), Object(0, spheres=0)
    assert read(written(dataclasses.replace(scene, objects=(mesh, spheres)))).objects == (mesh, spheres)
    with pytest.raises(ExchangeError, match="order"):
        read(written(dataclasses.replace(scene, objects=(spheres, mesh))))
    for wrong in (Object(0, 0, spheres=0), Object(0), Object(0, -2, spheres=0), Object(0, spheres=1)):
        with pytest.raises(ExchangeError, match="an object's"):
            read(written(dataclasses.replace(scene, objects=(wrong,))))
