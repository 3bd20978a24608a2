"""Bonds by a cut-off are those of all pairs; ball and stick follows atoms and survives the way through the child."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io.bounds import scene_box
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.scene_io.describe import describe
from raygrove.app.scene_io.exchange import ExchangeError, check, read, write
from raygrove.app.scene_io.limits import ImportLimits
from raygrove.app.scene_io.particles import bonds
from raygrove.app.scene_io.particles.bonds import (
    LEAST,
    TOLERANCE,
    TooDenseError,
    ball_and_stick,
    bonds_within,
    covalent_radii,
)
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.gpu.glyph_shapes import GLYPH_SHAPES, Glyphs
from raygrove.gpu.scene import Object, Scene, Spheres
from tests.oracle.glyphs import rotation

from . import files


def test_bonds_are_those_of_all_pairs() -> None:
    random = np.random.default_rng(3)
    positions = random.uniform(-4, 9, (700, 3)).astype(np.float32)
    positions[5], positions[6, 0] = positions[4] + 0.1, np.nan
    radii = covalent_radii(random.choice([1, 6, 7, 8, 16, 92, np.nan], 700))
    apart = np.linalg.norm(positions[:, None].astype(np.float64) - positions[None], axis=2)
    near = (apart <= radii[:, None] + radii[None] + TOLERANCE) & (apart >= LEAST)
    expected = np.argwhere(np.triu(near, 1))
    assert len(expected) > 300 and [4, 5] not in expected.tolist()
    np.testing.assert_array_equal(bonds_within(positions, radii), expected)
    assert bonds_within(positions[:1], radii[:1]).shape == (0, 2)
    far = bonds_within(np.array([[0, 0, 0], [1, 0, 0], [1e17, 0, 0]]), np.full(3, 0.7))
    assert far.tolist() == [[0, 1]], "whatever else is how far away"


def test_pairs_are_tried_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(4)
    positions, radii = random.uniform(0, 12, (500, 3)), covalent_radii(np.full(500, 6))
    whole = bonds_within(positions, radii)
    monkeypatch.setattr(bonds, "PAIRS_AT_ONCE", 37)
    assert len(whole) > 100
    np.testing.assert_array_equal(bonds_within(positions, radii), whole)


def test_atoms_in_nanometres_are_refused_with_the_figure(tmp_path: Path) -> None:
    """Before memory is asked for the pairs of all with all."""
    near = np.random.default_rng(0).uniform(0.0, 0.3, (2500, 3))
    with pytest.raises(TooDenseError, match="each has more than 1,000 others within 2 on average"):
        bonds_within(near, np.full(len(near), 0.76))
    few = np.stack(np.meshgrid(*[np.arange(8.0)] * 3), axis=-1).reshape(-1, 3) * 0.15
    with pytest.raises(TooDenseError, match="each would have more than 16 bonds on average"):
        bonds_within(few, np.full(len(few), 0.76))
    (tmp_path / "a.xyz").write_bytes(files.xyz(few[None], symbol="C"))
    scene = files.read(tmp_path / "a.xyz", ImportLimits(bonds="cut_off"))
    assert not scene.glyphs and "take lengths in angstrom" in files.said(scene)


def test_ball_and_stick_has_two_halves_a_bond_and_comes_through_whole() -> None:
    scene = make_demo("ball_and_stick", 300)
    (sticks,) = scene.glyphs
    assert sticks.links is not None and len(sticks.links.pairs) > 2 * 200
    pairs = sticks.links.pairs.reshape(-1, 2, 2)
    np.testing.assert_array_equal(pairs[:, 0], pairs[:, 1, ::-1])
    clean = sanitise(scene, "")
    assert clean.glyph_count == len(sticks.centres) and clean.primitive_count == 300 + clean.glyph_count
    check(clean)
    with tempfile.TemporaryFile() as file:
        write(clean, file)
        file.seek(0)
        found = read(file)
        assert found.glyphs[0].links is not None and found.objects == clean.objects
        np.testing.assert_array_equal(found.glyphs[0].links.pairs, sticks.links.pairs)


def test_glyphs_are_cleaned_and_bounded() -> None:
    """What cannot be used keeps its place; groups that do not fit are left out with a remark; boxes hold all."""
    sizes = np.full((4, 3), 0.5)
    sizes[1], sizes[2, 0] = np.nan, 0.0
    turns = np.array([[0, 0, 0, 2.0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]])
    group = Glyphs("some", "box", np.arange(12.0).reshape(4, 3), sizes, turns)
    wrong = dataclasses.replace(group, sizes=sizes[:2])
    objects = (Object(0, glyphs=0), Object(0, glyphs=1))
    clean = sanitise(Scene("", glyphs=(wrong, group), objects=objects), "")
    (kept,) = clean.glyphs
    assert clean.objects == (Object(clean.objects[0].node, glyphs=0),)
    assert (kept.sizes > 0).all(axis=1).tolist() == [True, False, False, False]
    assert kept.turns is not None and kept.turns[0].tolist() == [0, 0, 0, 1] and kept.sizes.dtype == np.float32
    assert sorted(remark.count for remark in clean.remarks) == [1, 3]
    lower, upper = scene_box(clean)
    assert (lower <= kept.centres[0] - 0.5).all() and (upper >= kept.centres[0] + 0.5).all()
    assert (upper - lower < 2.0).all()
    broken = dataclasses.replace(clean, glyphs=(dataclasses.replace(kept, shape="cone"),))
    with pytest.raises(ExchangeError, match=f"it is one of {', '.join(GLYPH_SHAPES)}"):
        check(broken)


def test_lists_of_bonds_need_no_bond() -> None:
    atoms = Spheres("atoms", np.zeros((1, 3), np.float32), np.ones(1, np.float32))
    scene = ball_and_stick(Scene("", spheres=(atoms,), objects=(Object(0, spheres=0),)), 0, np.zeros((0, 2), np.int32))
    assert not scene.glyphs and scene.spheres[0].radii[0] == np.float32(0.25)


PDB = """CRYST1   30.000   30.000   30.000  90.00  90.00  90.00 P 1           1
ATOM      1  C   LIG A   1       0.000   0.000   0.000  1.00  0.00           C
ATOM      2  O   LIG A   1       1.200   0.000   0.000  1.00  0.00           O
ATOM      3  N   LIG A   1       0.000   5.000   0.000  1.00  0.00           N
CONECT    1    3
END
"""


@pytest.mark.parametrize(("bonds", "pair"), [("file", [0, 2]), ("cut_off", [0, 1])])
def test_bonds_of_files_are_those_asked_for(tmp_path: Path, bonds: str, pair: list[int]) -> None:
    """CONECT beside what stands near; copies have theirs."""
    path = tmp_path / "ligand.pdb"
    path.write_text(PDB)
    for copies in (1, 2):
        scene = files.read(path, ImportLimits(bonds=bonds, copies_b=copies))
        (sticks,) = scene.glyphs
        assert sticks.links is not None
        expected = [[pair[0] + 3 * k, pair[1] + 3 * k] for k in range(copies)]
        assert sticks.links.pairs[::2].tolist() == expected
        (group,) = describe(scene)["glyph_groups"]
        assert (group["shape"], group["glyphs"], group["links_spheres"]) == ("cylinder", 2 * copies, True)
    assert not files.read(path).glyphs
    none = files.read(path, ImportLimits(bonds="file", arrows="force"))
    assert any("'force' is none: it has none with three columns" in remark.sentence for remark in none.remarks)


def test_named_columns_tell_elements_by_which_bonds_are_found(tmp_path: Path) -> None:
    """In XYZ and in tables; names of no element are none."""
    atoms = [("O", 0.0), ("H", 0.96), ("H", 9.0)]
    (tmp_path / "water.xyz").write_text("3\nwater\n" + "".join(f"{name} {x} 0 0\n" for name, x in atoms))
    (tmp_path / "water.csv").write_text("element,x,y,z\n" + "".join(f"{name},{x},0,0\n" for name, x in atoms))
    for name in ("water.xyz", "water.csv"):
        scene = files.read(tmp_path / name, ImportLimits(bonds="cut_off"))
        (element,) = scene.spheres[0].attributes
        assert (element.name, element.values.tolist()) == ("element", [8.0, 1.0, 1.0])
        assert scene.glyphs[0].links is not None and scene.glyphs[0].links.pairs[::2].tolist() == [[0, 1]]
    (tmp_path / "none.csv").write_text("element,x,y,z\nbead,0,0,0\nbead,1,0,0\n")
    none = files.read(tmp_path / "none.csv", ImportLimits(bonds="cut_off"))
    assert any("need elements" in remark.sentence for remark in none.remarks) and not none.glyphs


def test_bonds_through_the_box_at_first_are_not_drawn(tmp_path: Path) -> None:
    """The longest stick is that of the longest bond, not of the way through the whole box."""
    path = tmp_path / "wrapped.pdb"
    path.write_text(PDB.replace("   1.200   0.000   0.000", "  29.000   0.000   0.000").replace("1    3", "1    2"))
    (sticks,) = files.read(path, ImportLimits(bonds="file")).glyphs
    assert sticks.links is not None and sticks.links.longest == pytest.approx(1.5 * 1.0)


def test_arrows_go_along_vectors(tmp_path: Path) -> None:
    """From the centre, four diameters the longest, where there is a vector; in each key frame."""
    path = tmp_path / "field.xyz"
    rows = ["C 0 0 0 0 0 2", "C 4 0 0 1 0 0", "C 8 0 0 0 0 0", "C 9 9 0 0 0 -1"]
    frame = "\n".join(["4", "Properties=species:S:1:pos:R:3:forces:R:3", *rows])
    path.write_text(frame + "\n" + frame.replace("0 0 2", "0 2 0") + "\n")
    scene = files.read(path, ImportLimits(arrows="forces"))
    (arrows,), (atoms,) = scene.glyphs, scene.spheres
    keys = arrows.key_frames
    assert arrows.shape == "arrow" and keys is not None and keys.sizes is not None and keys.turns is not None
    longest = 8.0 * float(atoms.radii[0])
    lengths = 2.0 * keys.sizes[..., 2]
    np.testing.assert_allclose(lengths[0, [0, 1, 3]], [longest, longest / 2, longest / 2], rtol=1e-5)
    assert lengths[0, 2] < 0.0
    for key, ways in enumerate(([[0, 0, 1], [1, 0, 0], [0, 0, -1]], [[0, 1, 0], [1, 0, 0], [0, 0, -1]])):
        axes = rotation(keys.turns[key, [0, 1, 3]])
        np.testing.assert_allclose(axes[:, :, 2], ways, atol=1e-6)
        starts = keys.centres[key, [0, 1, 3]] - axes[:, :, 2] * keys.sizes[key, [0, 1, 3], 2, None]
        np.testing.assert_allclose(starts, atoms.centres[[0, 1, 3]], atol=1e-5)
