"""Points as discs and splats: by the file's normals or estimated ones, with the file's radii, a chosen one, or radii
that close the gaps; what cannot be is said, and spheres stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io.limits import ImportLimits
from raygrove.app.scene_io.particles.flat_points import WIDEST, neighbourhood
from raygrove.gpu.glyph_shapes import Glyphs
from raygrove.gpu.scene import Scene
from tests.app.scene_io.particles import files
from tests.oracle.glyphs import rotation

DISC, SPLAT = ImportLimits(point_shape="disc"), ImportLimits(point_shape="splat")


def on_sphere(count: int = 2000) -> np.ndarray:
    """Evenly on a sphere of radius 2."""
    z = (np.arange(count) + 0.5) / count * 2.0 - 1.0
    angle = np.pi * (1.0 + 5.0**0.5) * np.arange(count)
    r = np.sqrt(1.0 - z * z)
    return 2.0 * np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)


def flat_of(scene: Scene) -> Glyphs:
    (group,) = scene.glyphs
    assert not scene.spheres and [thing.glyphs for thing in scene.objects] == [0]
    return group


def normals_of(turns: np.ndarray | None) -> np.ndarray:
    assert turns is not None
    return rotation(turns)[:, :, 2]


@pytest.mark.parametrize("shape", ["disc", "splat"])
def test_without_normals_they_are_estimated_and_said(tmp_path: Path, shape: str) -> None:
    """Those of a sphere are known; each disc reaches over the gaps, and the scene's box holds all."""
    points = on_sphere()
    np.savez(tmp_path / "a.npz", positions=points, color=np.full((2000, 3), 0.5))
    scene = files.read(tmp_path / "a.npz", ImportLimits(point_shape=shape))
    group = flat_of(scene)
    assert group.shape == shape and np.allclose(group.centres, points, atol=1e-6) and group.colours is not None
    cosine = np.abs(np.einsum("ij,ij->i", normals_of(group.turns), points / 2.0))
    assert cosine.min() > 0.995
    side = np.sqrt(4.0 * np.pi * 4.0 / 2000)  # of a point's share of the area
    inner = np.abs(points[:, 2]) < 1.8
    np.testing.assert_allclose(group.sizes[inner, 0], side, rtol=0.25)
    assert (group.sizes[:, 0] == group.sizes[:, 2]).all()
    said = files.said(scene)
    assert "2,000 points without a normal in the file have one estimated from their 12 nearest points" in said
    assert "each point reaches over the distance to its neighbours" in said and "half the usual" not in said
    assert min(scene.lower) <= -2.0 and max(scene.upper) >= 2.0


def test_normals_and_radii_of_the_file_are_taken(tmp_path: Path) -> None:
    """Of any length; where one is missing its neighbours say it."""
    points = on_sphere(500)
    table = np.concatenate([points, -3.0 * points, np.full((500, 1), 0.25)], axis=1)
    table[7, 3:6] = 0.0
    rows = "\n".join(",".join(f"{value:.9g}" for value in row) for row in table)
    (tmp_path / "a.csv").write_text("x,y,z,nx,ny,nz,radius\n" + rows + "\n")
    scene = files.read(tmp_path / "a.csv", DISC)
    group = flat_of(scene)
    found = normals_of(group.turns)
    others = np.arange(500) != 7
    np.testing.assert_allclose(found[others], -points[others] / 2.0, atol=1e-5)
    assert abs(found[7] @ points[7]) > 1.98 and (group.sizes == 0.25).all()
    assert "1 points without a normal" in files.said(scene) and "no radii" not in files.said(scene)
    assert "attributes" not in files.said(scene), "normals are no loss"


@pytest.mark.parametrize("shape", ["sphere", "disc", "splat"])
def test_a_chosen_radius_is_that_of_all(tmp_path: Path, shape: str) -> None:
    np.savez(tmp_path / "a.npz", positions=on_sphere(60), radius=np.linspace(0.1, 0.2, 60))
    scene = files.read(tmp_path / "a.npz", ImportLimits(point_shape=shape, point_radius=0.03))
    radii = scene.spheres[0].radii if shape == "sphere" else flat_of(scene).sizes
    assert (radii == np.float32(0.03)).all() and "no radii" not in files.said(scene)


def test_moving_points_turn_with_their_surface(tmp_path: Path) -> None:
    """Normals of each key frame: the file's, or estimated anew, and never turned over from one to the next."""
    points = on_sphere(300)
    angle = np.array([0.0, 0.4, 0.8])
    turns = np.array([[[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]] for a in angle])
    moving = np.einsum("kij,nj->kni", turns, points * [1.0, 0.7, 0.4])
    given = np.einsum("kij,nj->kni", turns, points / [1.0, 0.7, 0.4])
    given /= np.linalg.norm(given, axis=2, keepdims=True)
    flipped = given * np.array([1.0, -1.0, 1.0])[:, None, None]
    np.savez(tmp_path / "given.npz", positions=moving, normal=flipped, radius=0.1)
    np.savez(tmp_path / "estimated.npz", positions=moving, radius=0.1)
    for name in ("given", "estimated"):
        keys = flat_of(files.read(tmp_path / f"{name}.npz", DISC)).key_frames
        assert keys is not None and keys.turns is not None
        found = np.array([normals_of(row) for row in keys.turns])
        cosine = np.einsum("kni,kni->kn", found, given)
        assert np.abs(cosine).min() > (0.999 if name == "given" else 0.8)
        assert (np.einsum("kni,kni->kn", found[1:], found[:-1]) > 0.0).all()


def test_absent_points_and_many_at_one_place(tmp_path: Path) -> None:
    """As sensors write them: not a number, or all at zero; and an outlier, which gets no huge disc."""
    points = np.concatenate([on_sphere(800), np.zeros((5000, 3)), [[60.0, 0.0, 0.0]], np.full((40, 3), np.nan)])
    np.savez(tmp_path / "a.npz", positions=points)
    group = flat_of(files.read(tmp_path / "a.npz", DISC))
    assert (group.sizes[-40:] == -1.0).all() and (group.sizes[:-40] > 0.0).all()
    assert np.isfinite(group.centres).all() and group.turns is not None and np.isfinite(group.turns).all()
    usual = np.median(group.sizes[:800, 0])
    assert group.sizes[5800, 0] == pytest.approx(WIDEST * usual, rel=0.01)
    for few in (1, 2, 3):
        np.savez(tmp_path / "few.npz", positions=points[:few])
        assert (flat_of(files.read(tmp_path / "few.npz", SPLAT)).sizes > 0.0).all()
    near = neighbourhood(np.repeat(points[:50], 3, axis=0))
    assert len(near.places) == 50 and np.array_equal(near.places[near.of][::3], points[:50])


def test_what_needs_spheres_keeps_them(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    positions = random.random((40, 3)) * 4.0
    np.savez(tmp_path / "box.npz", positions=positions, box=[4.0, 4.0, 4.0])
    scene = files.read(tmp_path / "box.npz", DISC)
    assert len(scene.spheres) == 1 and not scene.glyphs
    said = files.said(scene)
    assert "Points stay spheres (import.point_shape = disc): the file has a periodic box" in said
    assert "half the usual distance" in said
    (tmp_path / "a.xyz").write_bytes(files.xyz(positions[None], symbol="C"))
    scene = files.read(tmp_path / "a.xyz", ImportLimits(point_shape="disc", bonds="cut_off"))
    assert len(scene.spheres) == 1 and "choose import.bonds = none" in files.said(scene)


def test_attributes_are_named_and_arrows_stay(tmp_path: Path) -> None:
    points = on_sphere(100)
    np.savez(tmp_path / "a.npz", positions=points, charge=np.arange(100.0), force=points * 0.1)
    scene = files.read(tmp_path / "a.npz", ImportLimits(point_shape="splat", arrows="force"))
    assert [group.shape for group in scene.glyphs] == ["arrow", "splat"] and not scene.spheres
    assert sorted(thing.glyphs for thing in scene.objects) == [0, 1]
    assert "cannot be coloured, sized or selected by attributes (charge, force)" in files.said(scene)


@pytest.mark.parametrize("shape", ["disc", "splat"])
def test_what_has_no_place_is_called_a_point(tmp_path: Path, shape: str) -> None:
    """As the file calls it, and the import's settings: who opens a cloud knows of no glyphs."""
    points = on_sphere(20)
    points[[3, 5]] = np.nan
    (tmp_path / "a.pcd").write_bytes(files.pcd(points, "binary"))
    said = files.said(files.read(tmp_path / "a.pcd", ImportLimits(point_shape=shape)))
    assert "Points with a radius" in said and "are not drawn. (2 times)" in said and "lyphs" not in said
