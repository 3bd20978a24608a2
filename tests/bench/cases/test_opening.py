"""The files that the opening benchmark writes are what it says they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import load
from raygrove.bench.cases import opening


def test_its_three_files_hold_the_same_sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 2 * opening.COLUMNS * opening.ROWS == 200_000
    monkeypatch.setattr(opening, "COLUMNS", 8)
    monkeypatch.setattr(opening, "ROWS", 5)
    positions, _, triangles = opening.waves()
    for path in opening.write_files(tmp_path):
        scene = load((path,))
        (mesh,) = scene.meshes
        assert scene.triangle_count == len(triangles) == 80
        found = np.asarray(mesh.positions, np.float64)[mesh.triangles] + np.asarray(scene.origin)
        np.testing.assert_allclose(found, positions[triangles], atol=2e-6)


def test_its_trajectory_has_the_atoms_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("chemfiles")
    monkeypatch.setattr(opening, "ATOMS", 500)
    (path,) = opening.write_atoms(tmp_path)
    scene = load((path,))
    assert scene.sphere_count == 500 and scene.spheres[0].box is not None
    assert path.rpartition(".")[2] in opening.GOALS
