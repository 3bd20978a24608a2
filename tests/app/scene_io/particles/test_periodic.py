"""Periodic boxes when a file is read: particles put back into them, and copies beside themselves; and fewer frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, SceneError
from tests.app.scene_io.particles import files

EDGES = np.array([[[10.0, 0, 0], [2, 8, 0], [1, -1, 6]], [[11.0, 0, 0], [2, 9, 0], [1, -1, 7]]])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two frames of a box that grows, with particles up to two boxes outside."""
    shares = np.random.default_rng(5).random((2, 6, 3)) * 5.0 - 2.0
    positions = np.einsum("kni,kij->knj", shares, EDGES)
    np.savez(tmp_path / "a.npz", positions=positions, box=EDGES, charge=shares[..., 0], ids=np.arange(6), radius=0.5)
    return tmp_path / "a.npz"


def test_particles_are_put_back_into_their_box(path: Path) -> None:
    plain, inside = files.spheres_of(path), files.read(path, ImportLimits(wrap=True)).spheres[0]
    assert plain.key_frames is not None and inside.key_frames is not None
    for key in range(2):
        shares = inside.key_frames.centres[key] @ np.linalg.inv(EDGES[key])
        assert shares.min() > -1e-5 and shares.max() < 1.0 + 1e-5
        steps = (inside.key_frames.centres[key] - plain.key_frames.centres[key]) @ np.linalg.inv(EDGES[key])
        assert np.allclose(steps, np.round(steps), atol=1e-5) and np.abs(steps).max() > 0.5
    assert np.array_equal(inside.centres, inside.key_frames.centres[0])


def test_copies_along_the_edges(path: Path) -> None:
    plain = files.spheres_of(path)
    copied = files.read(path, ImportLimits(copies_a=2, copies_c=3)).spheres[0]
    assert plain.key_frames is not None and copied.key_frames is not None and copied.box is not None
    assert copied.ids is not None and copied.ids.tolist() == list(range(6)) * 6 and len(copied.radii) == 36
    assert np.array_equal(copied.box.vectors, EDGES.astype(np.float32)), "images are those of the file's box"
    assert copied.box.copies == (2, 1, 3)
    for key in range(2):
        for index, (a, c) in enumerate((a, c) for a in range(2) for c in range(3)):
            expected = plain.key_frames.centres[key] + a * EDGES[key, 0] + c * EDGES[key, 2]
            assert np.allclose(copied.key_frames.centres[key, index * 6 : index * 6 + 6], expected, atol=1e-4)
    assert np.array_equal(copied.attributes[0].values, np.tile(plain.attributes[0].values, (1, 6)))
    with pytest.raises(SceneError, match="has 36 particles, copies counted, and the limit is 20"):
        files.read(path, ImportLimits(copies_a=2, copies_c=3, max_particles=20))


def test_a_file_without_a_box_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y,z\n1,2,3\n")
    scene = files.read(tmp_path / "a.csv", ImportLimits(wrap=True, copies_b=2))
    assert len(scene.spheres[0].centres) == 1 and "no periodic box" in files.said(scene)


def test_every_third_frame(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", files.moving(8, 4))
    spheres = files.read(tmp_path / "a.npy", ImportLimits(every_frame=3, max_key_frames=3)).spheres[0]
    assert spheres.key_frames is not None and np.allclose(spheres.key_frames.centres, files.moving(8, 4)[::3])
    with pytest.raises(SceneError, match="8 frames and the limit is 3"):
        files.read(tmp_path / "a.npy", ImportLimits(max_key_frames=3))
