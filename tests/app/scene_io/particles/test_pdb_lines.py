"""Lines of a PDB: what lacks a letter or has one too many is told, whole files are not, and elements are those of their
own columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import SceneError
from tests.app.scene_io.particles import files

pytest.importorskip("chemfiles")
ATOMS = (
    "ATOM      1  N   MET A   1     -11.921  26.307 -10.410  1.00  0.00           N  ",
    "ATOM      2  CA  MET A   1    -111.447-126.741-109.595  1.00  0.00           C  ",
    "ATOM      3 FE   HEM A   2    1110.000 -25.741   9.595  1.00  0.00          FE  ",
    "HETATM    4  O   HOH A   3       1.500   2.250   3.125  1.00  0.00           O1-",
    "ATOM      5  C   MET A   1    1111.4471126.7411109.595  1.00  0.00           C  ",
    "ATOM      6  C   MET A   1    12345.671-1234.561234.567  1.00  0.00           C  ".replace("71-1", "7-1"),
)
WHERE = np.array(
    [
        [-11.921, 26.307, -10.41], [-111.447, -126.741, -109.595], [1110.0, -25.741, 9.595], [1.5, 2.25, 3.125],
        [1111.447, 1126.741, 1109.595], [12345.67, -1234.56, 1234.567],
    ]
)  # fmt: skip
NUMBERS = [7, 6, 26, 8, 6, 6]


def write(folder: Path, lines: tuple[str, ...] = ATOMS, end: str = "\n") -> Path:
    path = folder / "a.pdb"
    path.write_bytes((end.join(["TITLE     six atoms", "REMARK   1", *lines, "END"]) + end).encode())
    return path


def centres(path: Path) -> tuple[np.ndarray, list[int], str]:
    scene = files.read(path)
    (spheres,) = scene.spheres
    return np.asarray(spheres.centres) + scene.origin, spheres.attributes[0].values.tolist(), files.said(scene)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_whole_lines_are_read_as_they_are_and_nothing_is_said(tmp_path: Path, end: str) -> None:
    """Numbers that fill their columns, and those with fewer digits behind the point as they are large, among them."""
    found, numbers, said = centres(write(tmp_path, end=end))
    assert np.abs(found - WHERE).max() < 2e-3 and numbers == NUMBERS
    assert "line" not in said and "columns" not in said


@pytest.mark.parametrize("number", range(len(ATOMS)))
@pytest.mark.parametrize("kind", ["less", "more"])
def test_a_letter_less_or_more_is_told(tmp_path: Path, number: int, kind: str) -> None:
    """At each place up to the coordinates' end: a sentence, or the same atoms; a record that is none is a remark."""
    told = 0
    for place in range(54):
        line = ATOMS[number]
        changed = line[:place] + ("" if kind == "less" else line[place]) + line[place + (kind == "less") :]
        path = write(tmp_path, (*ATOMS[:number], changed, *ATOMS[number + 1 :]))
        try:
            found, _, said = centres(path)
        except SceneError as error:
            assert f"line {number + 3} has " in str(error) and "31 to 54" in str(error), place
            told += 1
            continue
        if len(found) < len(ATOMS):
            assert f"begin with no record of a PDB were left out, the first is line {number + 3}: " in said, place
        else:
            assert np.abs(found - WHERE).max() < 2e-3, place
    assert told > 40


def test_frames_before_a_line_that_moved_are_kept(tmp_path: Path) -> None:
    moved = ATOMS[0].replace("  26.307", " 26.307")
    models = [("MODEL        1", *ATOMS, "ENDMDL"), ("MODEL        2", moved, *ATOMS[1:], "ENDMDL")]
    scene = files.read(write(tmp_path, (*models[0], *models[1])))
    assert len(scene.spheres[0].centres) == len(ATOMS)
    assert "Frame 2 is cut or damaged: line 12 has its coordinates in other columns" in files.said(scene)


def test_a_file_that_is_written_otherwise_as_a_whole_opens_with_a_remark(tmp_path: Path) -> None:
    lines = tuple(line.replace("   1.500   2.250   3.125", " 1.5     2.25    3.125  ") for line in ATOMS[3:4] * 3)
    found, _, said = centres(write(tmp_path, lines))
    assert np.abs(found - WHERE[3]).max() < 2e-3
    assert "coordinates of most atoms do not stand as the format says" in said and "from line 3 on" in said


@pytest.mark.parametrize(
    ("name", "residue", "tail", "number"),
    [
        (" CA ", "ALA", "1CRN  70", 6),
        (" CA ", "ALA", "1CRN 700", 6),
        ("CA  ", " CA", "1CRN 701", 20),
        ("SE  ", "MSE", "    SE  ", 34),
        ("CL1 ", "LIG", "    CL1-", 17),
        ("1HB ", "ALA", "        ", 1),
        ("1HB ", "ALA", "", 1),
    ],
)
def test_elements_are_those_of_their_columns_else_of_the_name(
    tmp_path: Path, name: str, residue: str, tail: str, number: int
) -> None:
    """Selenium of MSE was sulphur, and atoms of files from before these columns had no element."""
    line = f"ATOM      1 {name} {residue} A   1      11.104   6.134  -6.504  1.00  0.00      {tail}".rstrip()
    assert centres(write(tmp_path, (line,)))[1] == [number]


def test_an_element_that_a_cif_says_is_believed(tmp_path: Path) -> None:
    names = ["id", "type_symbol", "label_atom_id", "label_comp_id", "label_asym_id", "label_seq_id"]
    names += ["Cartn_x", "Cartn_y", "Cartn_z"]
    head = "data_a\nloop_\n_atom_site.group_PDB\n" + "".join(f"_atom_site.{name}\n" for name in names)
    path = tmp_path / "a.cif"
    path.write_text(head + "HETATM 1 FE FE HEM A 1 1.0 2.0 3.0\nATOM 2 C CA ALA A 2 4.0 5.0 6.0\n#\n")
    assert files.spheres_of(path).attributes[0].values.tolist() == [26, 6]
