"""What readers of particles say where they take a file otherwise than it is written, and where they cannot read it."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, SceneError
from tests.app.scene_io.particles import files

ATOMS = b"H 0 0 0\nH 1 0 0\n"
DUMP = b"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp ff\n0 9\n0 9\n0 9\nITEM: ATOMS id x y z\n"
DUMP += b"1 0 0 0\n2 1 0 0\n"
VTK = files.vtk(np.eye(3)[:2], np.arange(2.0), np.ones((2, 3)), True)
PCD = files.pcd(np.eye(3)[:2], "ascii")
LATTICE, PROPERTIES = "there is no periodic box", "an element and a position are taken"


def npz(**arrays: np.ndarray) -> bytes:
    """Two particles in a file of NumPy's."""
    file = io.BytesIO()
    np.savez(file, positions=np.eye(3, dtype=np.float32)[:2], **arrays)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "remark"),
    [
        ("a.xyz", b"2\n\nH 0 0 0\nZz 1 0 0\n", "Particles of no known element"),
        ("a.xyz", b'2\nLattice="1 0 0 0 1 0 0 0 x"\n' + ATOMS, LATTICE),
        ("a.xyz", b'2\nLattice="1 0 0 0 1 0 0 1 0"\n' + ATOMS, LATTICE),
        ("a.xyz", b"2\nProperties=species:S:1:pos:R\n" + ATOMS, PROPERTIES),
        ("a.xyz", b"2\nProperties=species:S:1:pos::3\n" + ATOMS, PROPERTIES),
        ("a.csv", b"x,y\n1,2\n3,4\n", "The file has no column z"),
        ("a.dump", DUMP.replace(b"0 9", b"0 0", 1), "The periodic box has no volume, or is not finite"),
        ("a.dump", DUMP.replace(b"pp pp", b"pp p"), 'and says "pp p ff": it was taken as periodic along all axes.'),
        ("a.dump", DUMP.replace(b"pp pp ff", b"pp pp ff ff x"), "it was taken as periodic along all axes."),
        ("a.dump", DUMP.replace(b"pp pp ff", b"x pp pp ff"), "it is periodic along the axes with pp."),
        (
            "a.pcd",
            PCD.replace(b"COUNT", b"COUN"),
            "Line 6 begins with no word of a PCD's header and was left out: \"COU",
        ),
        (
            "a.vtk",
            VTK.replace(b"VECTORS", b"VECTOR"),
            'not read in a VTK file were left out, the first is "VECTOR velo',
        ),
        (
            "a.vtk",
            VTK.replace(b"POINT_DATA 2", b"POINT_DATA 3"),
            'data of 2 points should follow, and POINT_DATA says "3"',
        ),
        ("a.npz", npz(box=np.array([np.inf, 1.0, 1.0])), "The periodic box has no volume, or is not finite"),
        ("a.pcd", PCD.replace(b"WIDTH 2", b"WIDTH 20"), "says 2 points, and 20 times 1 for width and height: 2 were"),
    ],
)
def test_what_is_taken_otherwise_is_said(tmp_path: Path, name: str, data: bytes, remark: str) -> None:
    (tmp_path / name).write_bytes(data)
    scene = files.read(tmp_path / name)
    assert len(scene.spheres[0].centres) == 2
    assert remark in files.said(scene)


def test_what_is_as_it_should_be_is_not_said(tmp_path: Path) -> None:
    words = b'2\nLattice="1 0 0 0 1 0 0 0 1" Properties=species:S:1:pos:R:3\n'
    (tmp_path / "a.xyz").write_bytes(words + ATOMS)
    (tmp_path / "a.csv").write_bytes(b"x,y,z,radius\n1,2,3,1\n3,4,5,1\n")
    assert files.said(files.read(tmp_path / "a.xyz")) == files.said(files.read(tmp_path / "a.csv")) == ""
    (tmp_path / "a.dump").write_bytes(DUMP)
    (tmp_path / "a.pcd").write_bytes(PCD)
    for name in ("a.dump", "a.pcd"):
        assert files.said(files.read(tmp_path / name)).startswith("The file has no radii: ")
    (tmp_path / "a.vtk").write_bytes(VTK)
    assert files.said(files.read(tmp_path / "a.vtk")) == ""


def test_frames_that_are_left_out_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_bytes(5 * (b"2\n\n" + ATOMS))
    said = files.said(files.read(tmp_path / "a.xyz", ImportLimits(every_frame=2)))
    assert "3 of 5 frames were read, as import.every_frame is 2." in said
    assert "every_frame" not in files.said(files.read(tmp_path / "a.xyz"))


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.xyz", b"-3\n\n" + ATOMS, 'should say how many atoms follow, and says "-3". Export or'),
        ("a.xyz", b"2.5\n\n" + ATOMS, 'should say how many atoms follow, and says "2.5". Export or'),
        ("a.xyz", b"hello world\nno table\n", 'a count of atoms, or a row x y z .* and is "hello world". Export or'),
        ("a.xyz", bytes(range(128, 256)) * 3, "and is no text. Export or"),
        (
            "a.dump",
            DUMP.replace(b"2 1 0 0", b"2 1 0 0 7"),
            'line 11 does not have the columns that it should: "2 1 0 0 7"',
        ),
        (
            "a.dump",
            DUMP.replace(b"0 9", b"0 0", 1).replace(b"x y z", b"xs ys zs"),
            "scaled by a box that has no volume",
        ),
        ("a.pcd", PCD[:-1] + b" 7\n", "line 13 does not have the columns that it should"),
        ("a.pcd", PCD.replace(b"TYPE F", b"TYPE U").replace(b"1.0", b"1.5"), "x holds 1.5, and should hold whole num"),
        ("a.pcd", PCD.replace(b"TYPE F", b"TYPE U").replace(b"1.0", b"-1"), "x holds -1, and should .* from 0 to 4,29"),
        ("a.xyz", b"2\nProperties=species:S:1:pos:R:3\nH 0 0 0\nH 1 0 0 7\n", "line 4 does not have the columns that"),
        ("a.pdb", b"hello world\n", "no atom is in it; they are lines that begin with ATOM or HETATM. Export or"),
        ("a.pdb", bytes(range(128, 256)) * 3, "no atom is in it"),
    ],
)
def test_what_is_no_such_file_is_a_sentence(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SceneError, match=why):
        files.read(tmp_path / name)
