"""Several files as the key frames of one scene."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import SceneError, load, natural_order
from raygrove.app.scene_io.files import expand
from tests.app.scene_io import writers


def test_files_become_key_frames(tmp_path: Path) -> None:
    scene = load(writers.write_sequence(tmp_path), fps=10.0)
    (mesh,) = scene.meshes
    keys = mesh.key_frames
    assert keys is not None and keys.normals is not None and scene.fps == 10.0
    assert np.allclose(keys.times, [0.0, 0.1, 0.2, 0.3]) and keys.positions.shape == (4, len(mesh.positions), 3)
    assert len(mesh.positions) == len(writers.sphere()[0]), "vertices are joined"
    assert np.allclose(keys.positions[3], mesh.positions * 2.5, atol=1e-5) and np.array_equal(
        keys.positions[0], mesh.positions
    )
    assert np.allclose(np.linalg.norm(keys.normals, axis=2), 1.0, atol=1e-5)
    assert scene.lower == pytest.approx((-2.5, -2.5, -2.5), abs=1e-5), "the bounds cover every key frame"
    assert scene.duration() == pytest.approx(0.3)


@pytest.mark.parametrize("pattern", ["frame_%04d.obj", "frame_####.obj", "frame_*.obj"])
def test_patterns_and_globs_name_the_frames(tmp_path: Path, pattern: str) -> None:
    files = writers.write_sequence(tmp_path)
    assert expand([tmp_path / pattern]) == [str(file) for file in files]


def test_a_number_of_thousands_of_digits_is_no_pattern(tmp_path: Path) -> None:
    """It ended as a fault of the program."""
    with pytest.raises(SceneError, match="File name too long"):
        load([tmp_path / f"frame_%0{'9' * 5000}d.obj"])


def test_numbers_are_sorted_as_people_count(tmp_path: Path) -> None:
    for number in (100, 5, 10, 15) + tuple(range(20, 100, 5)):
        (tmp_path / f"f{number}.obj").touch()
    assert [Path(path).stem for path in expand([tmp_path / "f%d.obj"])] == [f"f{number}" for number in range(5, 101, 5)]
    assert natural_order(["f10", "f9", "f1"]) == ["f1", "f9", "f10"]


def test_a_gap_in_the_numbers_is_named(tmp_path: Path) -> None:
    files = writers.write_sequence(tmp_path)
    files[2].unlink()
    with pytest.raises(SceneError, match="number 2 is missing"):
        load([tmp_path / "frame_%04d.obj"])


def test_a_frame_with_other_counts_is_named(tmp_path: Path) -> None:
    files = writers.write_sequence(tmp_path)
    writers.write_obj(files[2], *writers.sphere(5, 8))
    with pytest.raises(
        SceneError, match=r"frame_0002\.obj does not fit.*64 faces.*frame_0000\.obj has 80 faces"
    ) as caught:
        load(files)
    assert caught.value.path == str(files[2])


def test_a_frame_that_connects_other_vertices_is_named(tmp_path: Path) -> None:
    files = writers.write_sequence(tmp_path)
    positions, triangles = writers.sphere()
    writers.write_obj(files[1], positions, np.roll(triangles, 1, axis=0))
    with pytest.raises(SceneError, match=r"frame_0001\.obj does not fit.*at face 1"):
        load(files)


def test_ply_frames_and_their_differences(tmp_path: Path) -> None:
    positions, triangles = writers.sphere()
    files = [
        writers.write_ply(tmp_path / f"b{k}.ply", positions + k, triangles, "binary_little_endian") for k in range(3)
    ]
    keys = load(files).meshes[0].key_frames
    assert keys is not None and np.allclose(keys.positions[2], positions + 2.0, atol=1e-5)
    writers.write_ply(files[2], positions, triangles[:, [1, 2, 0]], "binary_little_endian")
    with pytest.raises(SceneError, match=r"b2\.ply does not fit.*connects? other vertices"):
        load(files)


def test_vertices_that_later_frames_pull_apart_stay_apart(tmp_path: Path) -> None:
    """Two triangles share an edge's places in frame 0 only: the bursting of an object must not be welded."""
    triangles = np.array([[0, 1, 2], [3, 4, 5]])
    still = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)
    burst = still + np.array([[0, 0, 0]] * 3 + [[0, 0, 1]] * 3)
    files = [
        writers.write_obj(tmp_path / f"b{k}.obj", points, triangles) for k, points in enumerate((still, still, burst))
    ]
    mesh = load(files).meshes[0]
    assert mesh.key_frames is not None and len(mesh.positions) == 6
    assert np.allclose(mesh.key_frames.positions[2][mesh.triangles], burst[triangles])
    assert np.allclose(mesh.key_frames.positions[0][mesh.triangles], still[triangles])


def test_quads_keep_one_triangulation(tmp_path: Path) -> None:
    """Assimp splits a concave quad elsewhere than a convex one; the first frame's split holds for all."""
    shapes = (
        "0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0",
        "0 0 0\nv 2 0 0\nv 0.5 0.5 0\nv 0 2 0",
        "0 0 0\nv 0.4 0.5 0\nv 2 2 0\nv 0 2 0",
    )
    files = []
    for number, shape in enumerate(shapes):
        files.append(tmp_path / f"q{number}.obj")
        files[-1].write_text(f"v {shape}\nf 1 2 3 4\n")
    mesh = load(files).meshes[0]
    assert mesh.key_frames is not None and len(mesh.triangles) == 2 and mesh.key_frames.positions.shape == (3, 4, 3)


def test_packed_frames(tmp_path: Path) -> None:
    files = []
    for file in writers.write_sequence(tmp_path, 2):
        files.append(file.with_name(file.name + ".gz"))
        files[-1].write_bytes(gzip.compress(file.read_bytes()))
    assert len(load(files).meshes[0].key_frames.times) == 2


def test_a_point_that_is_no_number_in_one_frame_drops_its_triangles(tmp_path: Path) -> None:
    files = writers.write_sequence(tmp_path, 3)
    files[1].write_text(files[1].read_text().replace("v 0 1.5 0", "v 0 nan 0", 1))
    scene = load(files)
    assert scene.triangle_count == 80 - 8 and any(r.count == 8 and "not a number" in r.sentence for r in scene.remarks)


@pytest.mark.parametrize("fps", [0.0, -1.0, float("nan")])
def test_a_wrong_rate_is_refused(tmp_path: Path, fps: float) -> None:
    with pytest.raises(SceneError, match="key frames per second"):
        load(writers.write_sequence(tmp_path, 2), fps=fps)
