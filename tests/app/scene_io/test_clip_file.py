"""Clips of NumPy, through the child process: what they show, and what is said of those that are none."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.cli.main import main
from raygrove.app.scene_io import ImportLimits, SceneError, load

TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]], np.int32)


def sheet(frames: int = 3) -> np.ndarray:
    """Four vertices that rise."""
    flat = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], np.float32)
    return np.stack([flat + (0, step, 0) for step in range(frames)]).astype(np.float32)


def saved(folder: Path, **arrays: Any) -> Path:
    np.savez(folder / "clip.npz", **arrays)
    return folder / "clip.npz"


def test_each_step_is_a_key_frame(tmp_path: Path) -> None:
    scene = load(saved(tmp_path, vertices=sheet(), triangles=TRIANGLES, time=[2.0, 2.5, 4.0], color=[255, 0, 0]))
    (mesh,) = scene.meshes
    assert mesh.key_frames is not None and scene.name == "clip.npz" and scene.remarks == ()
    np.testing.assert_array_equal(mesh.key_frames.positions, sheet())
    np.testing.assert_array_equal(mesh.triangles, TRIANGLES)
    assert mesh.key_frames.times.tolist() == [0.0, 0.5, 2.0] and scene.fps == 1.0 and scene.duration() == 2.0
    assert [material.base_color for material in scene.materials] == [(1.0, 0.0, 0.0, 1.0)]


@pytest.mark.parametrize("form", ["compressed", "float64", "unsigned", "fortran", "faces", "gz"])
def test_arrays_of_any_kind(tmp_path: Path, form: str) -> None:
    vertices, triangles = sheet(), TRIANGLES
    arrays: dict[str, Any] = {"vertices": vertices, "triangles": triangles}
    if form == "float64":
        arrays["vertices"] = vertices.astype(np.float64) + 4e6
    if form == "unsigned":
        arrays["triangles"] = triangles.astype(np.uint64)
    if form == "fortran":
        arrays["vertices"] = np.asfortranarray(vertices)
    if form == "faces":
        arrays = {"positions": vertices, "faces": triangles}
    path = saved(tmp_path, **arrays)
    if form == "compressed":
        np.savez_compressed(path, **arrays)
    if form == "gz":
        packed = tmp_path / "clip.npz.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path = packed
    scene = load(path, fps=10.0)
    keys = scene.meshes[0].key_frames
    assert keys is not None and keys.times.tolist() == pytest.approx([0.0, 0.1, 0.2])
    offset = (
        np.array(scene.nodes[scene.objects[0].node].translation) + scene.origin + keys.positions[0].astype(np.float64)
    )
    expected = arrays["vertices" if "vertices" in arrays else "positions"][0]
    np.testing.assert_allclose(offset, expected, atol=1e-6 if form != "float64" else 1e-3)


def test_one_step_stands_still(tmp_path: Path) -> None:
    for vertices in (sheet(1), sheet(1)[0]):
        scene = load(saved(tmp_path, vertices=vertices, triangles=TRIANGLES, time=[7.0]))
        assert scene.meshes[0].key_frames is None and scene.duration() == 0.0 and scene.triangle_count == 2


def test_colours_of_triangles_and_vertices(tmp_path: Path) -> None:
    by_triangle = np.array([[255, 0, 0], [0, 255, 0]], np.uint8)
    scene = load(saved(tmp_path, vertices=sheet(), triangles=TRIANGLES, color=by_triangle))
    shown = np.array([scene.materials[number].base_color[:3] for number in scene.meshes[0].material_ids])
    np.testing.assert_allclose(shown, [[1, 0, 0], [0, 1, 0]], atol=1e-6)
    by_vertex = np.array([[1, 0, 0, 1], [1, 0, 0, 1], [1, 0, 0, 1], [0, 0, 1, 1]], np.float32)
    scene = load(saved(tmp_path, vertices=sheet(), triangles=TRIANGLES, colors=by_vertex))
    shown = np.array([scene.materials[number].base_color[:3] for number in scene.meshes[0].material_ids])
    np.testing.assert_allclose(shown, [[1, 0, 0], [2 / 3, 0, 1 / 3]], atol=4e-3)
    assert any("mean colour" in remark.sentence for remark in scene.remarks)


def test_many_colours_are_rounded(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    vertices = random.random((9000, 3)).astype(np.float32)
    colours = random.random((3000, 3))
    scene = load(saved(tmp_path, vertices=vertices, triangles=np.arange(9000).reshape(-1, 3), color=colours))
    assert 200 < len(scene.materials) <= 1024
    shown = np.array([scene.materials[number].base_color[:3] for number in scene.meshes[0].material_ids])
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    assert np.abs(np.sqrt(shown) - np.sqrt(linear)).max() <= 0.5 / 9 + 1e-3


def test_what_does_not_fit_is_left_out_and_said(tmp_path: Path) -> None:
    vertices = sheet()
    vertices[1, 3] = np.nan
    triangles = [[0, 1, 2], [0, 2, 3], [0, 1, 4], [-1, 0, 1], [2**40, 1, 2]]
    scene = load(saved(tmp_path, vertices=vertices, triangles=triangles, time=[0, 2, 1], color=np.ones((7, 3))))
    assert scene.triangle_count == 1
    said = " ".join(f"{remark.count} {remark.sentence}" for remark in scene.remarks)
    for words in (
        "The array of times was left out",
        "The colours have the shape (7, 3)",
        "1 Triangles with a coordinate",
        "3 Triangles with an index out of range",
    ):
        assert words in said, said


@pytest.mark.parametrize(
    "arrays, sentence",
    [
        ({"vertices": np.zeros((2, 4))}, r"its vertices are \(2, 4\) of float64, not \(T, V, 3\) numbers"),
        ({"vertices": np.zeros((0, 4, 3))}, r"its vertices are \(0, 4, 3\)"),
        ({"vertices": np.zeros((3, 0, 3))}, r"its vertices are \(3, 0, 3\)"),
        ({"vertices": np.zeros((2, 2, 4, 3))}, r"its vertices are \(2, 2, 4, 3\)"),
        ({"vertices": np.zeros((4, 3), bool)}, "of bool"),
        ({"points": np.zeros((4, 3))}, "it has no array vertices: it has triangles"),
        ({"triangles": np.zeros((2, 4), int)}, r"its triangles are \(2, 4\)"),
        ({"triangles": np.zeros((2, 3))}, "of float64, not .N, 3. whole numbers"),
        ({"vertices": np.array([{"a": 1}, None], object)}, "has the type '|O', not numbers"),
        ({"triangles": np.zeros((0, 3), int)}, "has no triangles"),
        ({"vertices": np.full((2, 4, 3), np.nan)}, "all 2 of them have coordinates"),
    ],
)
def test_what_is_no_clip_is_refused(tmp_path: Path, arrays: dict[str, Any], sentence: str) -> None:
    sound = {"triangles": TRIANGLES} if "points" in arrays else {"vertices": sheet(), "triangles": TRIANGLES}
    path = saved(tmp_path, **{**sound, **arrays})
    with pytest.raises(SceneError, match=sentence):
        load(path)


def claimed(folder: Path, shape: tuple[int, ...], data: bytes = b"") -> Path:
    """A clip whose vertices say that they are so many."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    triangles = io.BytesIO()
    np.save(triangles, TRIANGLES)
    with zipfile.ZipFile(folder / "clip.npz", "w") as archive:
        archive.writestr("vertices.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)
        archive.writestr("triangles.npy", triangles.getvalue())
    return folder / "clip.npz"


def test_claims_are_not_believed(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"one of its arrays takes 11,444,092 MiB, .* Raise import.memory_mib"):
        load(claimed(tmp_path, (1000, 1_000_000_000, 3)))
    with pytest.raises(SceneError, match="'vertices' should have 1,200,000 bytes, and 400 are there"):
        load(claimed(tmp_path, (10, 10_000, 3), b"\0" * 400))
    with pytest.raises(SceneError, match="has 5 key frames and the limit is 4. Raise import.max_key_frames"):
        load(saved(tmp_path, vertices=sheet(5), triangles=TRIANGLES), ImportLimits(max_key_frames=4))
    with pytest.raises(SceneError, match="has 2 triangles and the limit is 1. Raise import.max_triangles"):
        load(saved(tmp_path, vertices=sheet(5), triangles=TRIANGLES), ImportLimits(max_triangles=1))
    path = saved(tmp_path, vertices=sheet(), triangles=TRIANGLES)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(SceneError, match="no whole archive of arrays"):
        load(path)


def test_clips_are_opened_one_at_a_time(tmp_path: Path) -> None:
    path = saved(tmp_path, vertices=sheet(), triangles=TRIANGLES)
    with pytest.raises(SceneError, match="holds a clip of meshes. Open it alone"):
        load([path, path])


def test_particles_stay_particles(tmp_path: Path) -> None:
    scene = load(saved(tmp_path, positions=sheet(), radius=0.1))
    assert scene.sphere_count == 4 and not scene.meshes


def test_commands_take_a_clip(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path, vertices=sheet(), triangles=TRIANGLES)
    assert main(["info", str(path), "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["triangles"] == 2
    picture = tmp_path / "picture.png"
    words = [
        "render",
        str(path),
        "--quiet",
        "--device",
        "cpu",
        "--size",
        "64x48",
        "--time",
        "0.05",
        "--out",
        str(picture),
    ]
    assert main([*words, "--hierarchy", "lbvh", "--ray-type", "flat"]) == 0 and picture.stat().st_size > 100
    capfd.readouterr()
    assert main(["bench", "build", str(path), "--device", "cpu", "--repeat", "1", "--hierarchy", "lbvh", "--json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)["results"]
    assert row["triangles"] == 2 and row["build_ms"] > 0


def test_the_page_writes_a_clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/clips.md, word for word."""
    page = (Path(__file__).parents[3] / "docs" / "clips.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(page.split("```python\n")[1].split("```")[0], {})
    scene = load("clip.npz")
    assert scene.remarks == () and scene.duration() == 2.0 and scene.triangle_count == 2 * 63 * 63
