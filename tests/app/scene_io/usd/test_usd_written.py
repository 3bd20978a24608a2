"""Scenes of USD written as GLB and PLY, and read again: an instant of what moves is what USD says of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import raygrove as rg
from raygrove.app.cli.main import main

from .stages import SKINNED, mesh, read, skinned, stage


def rows(corners: np.ndarray) -> np.ndarray:
    """Triangles (T, 9) in an order of their own."""
    flat = corners.reshape(-1, 9)
    return np.asarray(flat[np.lexsort(np.round(flat, 3).T[::-1])])


@pytest.mark.parametrize("ending", ["glb", "ply"])
def test_an_instant_of_a_skin_with_blend_shapes_comes_back(ending: str, tmp_path: Path) -> None:
    """At half of its second: both weights a half, the knee turned by 45 degrees, the hip half its way; beside it a
    square that is placed twice by an instancer."""
    placed = """def PointInstancer "two" { rel prototypes = </square>; int[] protoIndices = [0, 0]
        point3f[] positions = [(0, 5, 0), (0, 7, 0)] }\n"""
    path = stage(tmp_path / "a.usda", SKINNED.format(more="\n" + mesh() + placed))
    scene = read(path)
    out = tmp_path / f"out.{ending}"
    assert main(["render", str(path), "--time", "0.5", "--quiet", "--out", str(out), "--device", "cpu"]) == 0
    vertices, triangles = rg.open(str(out)).at(0.0)
    leg = scene.meshes[0]
    assert leg.morph_targets is not None
    shaped = leg.positions + np.tensordot([0.5, 0.5], leg.morph_targets.positions, 1)
    moved = skinned(scene, 0.5, shaped)
    square = scene.meshes[1].positions
    true = np.concatenate(
        [moved[leg.triangles], *((square + (0, high, 0))[scene.meshes[1].triangles] for high in (0, 5, 7))]
    )
    assert rows(vertices[triangles]) == pytest.approx(rows(true), abs=1e-4)
