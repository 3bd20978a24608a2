"""The files that the opening benchmark writes are what it says they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.scene_io import load
from bench import opening


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
