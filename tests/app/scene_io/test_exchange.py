"""The flat file between child and program: the same scene comes out, and nothing that is not one."""

from __future__ import annotations

import dataclasses
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, exchange
from raygrove.app.scene_io.exchange import ExchangeError
from raygrove.app.scene_io.read import read_file
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.gpu.scene import Scene
from tests.app.scene_io import writers


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A scene with something in most fields, read in this process."""
    monkeypatch.chdir(tmp_path)
    path = writers.write_skinned_glb(tmp_path / "strip.glb")
    made = read_file(str(path), ImportLimits())
    monkeypatch.chdir(tmp_path)
    textured = read_file(str(writers.write_animated_glb(tmp_path / "wave.glb")), ImportLimits())
    return sanitise(dataclasses.replace(made, textures=textured.textures, cameras=textured.cameras[:1]))


def same(a: Any, b: Any) -> bool:
    """Deep equality of plain values and arrays."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def written(scene: Scene) -> bytes:
    """The file's bytes."""
    buffer = io.BytesIO()
    exchange.write(scene, buffer)
    return buffer.getvalue()


def read(data: bytes) -> Scene:
    """What the program reads from these bytes."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        return exchange.read(file)


def edited(data: bytes, edit: Any) -> bytes:
    """The file with its JSON changed."""
    start, length, magic = exchange.TRAILER.unpack(data[-24:])
    document = json.loads(data[start : start + length])
    edit(document)
    text = json.dumps(document).encode()
    return data[:start] + text + exchange.TRAILER.pack(start, len(text), magic)


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
        _set("arrays", 0, 2, value=1 << 30),
        _set("arrays", 0, 1, value=[-1, 3]),
        _set("arrays", 0, 0, value="O"),
        _set("scene", "objects", 0, "mesh", value=9),
        _set("scene", "objects", 0, "node", value=-1),
        _set("scene", "nodes", 0, "parent", value=5),
        _set("scene", "nodes", 0, "translation", value=[0, 0]),
        _set("scene", "nodes", 0, "translation", value=["0", 0, 0]),
        _set("scene", "meshes", 0, "positions", value={"array": 99}),
        _set("scene", "meshes", 0, "positions", value=[1, 2, 3]),
        _set("scene", "meshes", 0, "surprise", value=1),
        _set("scene", "lower", value=[float("nan"), 0.0, 0.0]),
        _set("scene", "materials", 0, "base_color_texture", value=44),
        _set("scene", "materials", value=[]),
        _set("scene", "name", value=3),
    ],
)
def test_a_description_that_lies_is_refused(scene: Scene, edit: Any) -> None:
    with pytest.raises(ExchangeError):
        read(edited(written(scene), edit))


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
