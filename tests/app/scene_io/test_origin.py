"""Scenes far from zero: the origin is subtracted in float64 before positions are rounded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import load, recentre
from raygrove.app.scene_io.describe import describe
from raygrove.app.scene_io.origin import far_centre
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.app.scene_io.transforms import Pose, global_matrices
from raygrove.gpu.scene import Channel, Clip, Light, Mesh, Node, Object, Scene, Track
from tests.app.scene_io import writers

FAR = np.array([510_000.25, 5_400_000.5, -120.0])


def placed(scene: Scene, index: int = 0) -> np.ndarray:
    """An object's vertices in the file's coordinates (float64)."""
    thing = scene.objects[index]
    matrix = global_matrices(scene.nodes)[thing.node]
    return scene.meshes[thing.mesh].positions @ matrix[:3, :3].T + matrix[:3, 3] + np.array(scene.origin)


@pytest.mark.parametrize("kind", ["obj", "ascii", "binary_little_endian", "binary_big_endian"])
def test_files_far_from_zero_keep_their_shape(tmp_path: Path, kind: str) -> None:
    positions, triangles = writers.sphere(8, 10, 0.5)
    moved = positions + FAR
    if kind == "obj":
        path = writers.write_obj(tmp_path / "far.obj", moved, triangles, digits=15)
    else:
        path = writers.write_ply(tmp_path / "far.ply", moved, triangles, kind, "double")
    scene = load([path])
    mesh = scene.meshes[0]
    error = np.abs(placed(scene)[mesh.triangles] - moved[triangles]).max()
    assert error < 1e-6 and np.abs(mesh.positions).max() < 2.0, (
        f"float32 alone would be off by 0.25, this is off by {error}"
    )
    assert np.allclose(describe(scene)["lower"], moved.min(axis=0), atol=1e-5)


def test_a_far_sequence_keeps_its_shape(tmp_path: Path) -> None:
    positions, triangles = writers.sphere()
    frames = [positions * (1.0 + k) + FAR for k in range(3)]
    scene = load(
        [writers.write_obj(tmp_path / f"f{k}.obj", frame, triangles, digits=15) for k, frame in enumerate(frames)]
    )
    mesh = scene.meshes[0]
    offset = placed(scene)[0] - mesh.positions[0]
    assert mesh.key_frames is not None
    for key, frame in zip(mesh.key_frames.positions, frames, strict=True):
        assert np.abs((key + offset)[mesh.triangles] - frame[triangles]).max() < 1e-5


def test_a_scene_near_zero_is_left_alone(tmp_path: Path) -> None:
    positions, triangles = writers.sphere()
    scene = load([writers.write_obj(tmp_path / "near.obj", positions + 50.0, triangles)])
    assert scene.origin == (0.0, 0.0, 0.0) and scene.nodes[0].translation == (0.0, 0.0, 0.0)


def test_nodes_far_from_zero_move_with_their_tracks_and_lights() -> None:
    positions, triangles = writers.sphere()
    mesh = Mesh("ball", positions, triangles, np.zeros(len(triangles), np.int32))
    nodes = (
        Node("site", -1, tuple(FAR.tolist())),
        Node("still", 0, (3.0, 0.0, 0.0)),
        Node("mover", -1, tuple((FAR + 5.0).tolist())),
    )
    track = Track(np.array([0.0, 1.0]), np.stack([FAR + 5.0, FAR + 9.0]))
    scene = Scene(
        "site", nodes=nodes, meshes=(mesh,), objects=(Object(1, 0), Object(2, 0)), clips=(Clip("go", 1.0, (Channel(2,
        "translation", track),)),),
        lights=(Light("point", position=tuple((FAR + 1.0).tolist())),),
    )  # fmt: skip
    result = sanitise(scene)
    assert np.abs(np.array(result.origin) - FAR).max() < 20.0
    assert np.abs(placed(result, 0) - (positions + FAR + (3.0, 0.0, 0.0))).max() < 1e-6
    end = Pose(result.nodes).matrices(result.clips[0], 1.0)[result.objects[1].node][:3, 3] + np.array(result.origin)
    assert np.abs(end - (FAR + 9.0)).max() < 0.5, "a far track was float32 when it came"
    assert np.abs(np.array(result.lights[0].position) + result.origin - (FAR + 1.0)).max() < 1e-6
    assert np.abs([node.translation for node in result.nodes if node.parent < 0]).max() < 30.0


def test_tangents_of_a_far_track_are_no_places() -> None:
    """Of a cubic track the values move with the origin, and what it goes by does not."""
    positions, triangles = writers.sphere()
    mesh = Mesh("ball", positions, triangles, np.zeros(len(triangles), np.int32))
    tangents = np.array([[1.0, 2.0, 3.0], [-4.0, 0.5, 6.0]])
    values = np.stack([tangents, np.stack([FAR, FAR + 9.0]), 2.0 * tangents], axis=1)
    track = Track(np.array([0.0, 1.0]), values, "cubic")
    nodes = (Node("mover", -1, tuple(FAR.tolist())),)
    clip = Clip("go", 1.0, (Channel(0, "translation", track),))
    result = sanitise(Scene("site", nodes=nodes, meshes=(mesh,), objects=(Object(0, 0),), clips=(clip,)))
    moved = result.clips[0].channels[0].track.values
    assert result.origin != (0.0, 0.0, 0.0)
    assert np.allclose(moved[:, 0], tangents) and np.allclose(moved[:, 2], 2.0 * tangents)
    assert np.abs(moved[:, 1] + np.array(result.origin) - [FAR, FAR + 9.0]).max() < 0.5


@pytest.mark.parametrize(("distance", "is_far"), [(900.0, False), (1100.0, True), (5000.0, True)])
def test_far_is_a_thousand_times_its_half_size(distance: float, is_far: bool) -> None:
    assert (
        far_centre(np.array([distance - 1.0, -1.0, -1.0]), np.array([distance + 1.0, 1.0, 1.0])) is not None
    ) == is_far


@pytest.mark.parametrize("most", [1, 7, 1 << 16])
def test_small_meshes_looked_at_together_lie_where_they_do_alone(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no place (a NaN, 1e30) counts in none of them."""
    monkeypatch.setattr(recentre, "MOST_AT_ONCE", most)
    rows = np.random.default_rng(5).uniform(-1.0, 1.0, (9, 4, 3)).astype(np.float32) + np.float32(FAR)
    rows[2, 1], rows[4, 3, 0] = np.nan, 1e30
    rows[6] = np.inf
    empty = np.zeros((0, 3), np.int32)
    meshes = tuple(Mesh("", one, empty, np.zeros(0, np.int32)) for one in rows)
    good = rows.reshape(-1, 3)[(np.abs(rows.reshape(-1, 3)) < 1e18).all(axis=1)].astype(np.float64)
    found = recentre.far_origin(Scene("far", meshes=meshes), "obj")
    assert found is not None
    np.testing.assert_array_equal(found, far_centre(good.min(axis=0), good.max(axis=0)))
