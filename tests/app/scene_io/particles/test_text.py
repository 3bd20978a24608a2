"""XYZ, LAMMPS dumps and tables of text: what is read against what was written by hand and by chemfiles."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raygrove.app.scene_io import SceneError, load
from raygrove.app.scene_io.particles import elements
from raygrove.gpu.scene import ABSENT
from tests.app.scene_io.particles import files

chemfiles = pytest.importorskip("chemfiles")


def test_an_xyz_trajectory_has_its_frames_elements_and_colours(tmp_path: Path) -> None:
    positions = files.moving()
    path = tmp_path / "water.xyz"
    path.write_bytes(files.xyz(positions))
    scene = files.read(path)
    (spheres,) = scene.spheres
    assert spheres.key_frames is not None and scene.fps == 30.0
    assert np.allclose(spheres.key_frames.centres, positions, atol=1e-6)
    assert np.allclose(spheres.key_frames.times, np.arange(3) / 30.0)
    assert (spheres.radii == np.float32(1.52)).all() and spheres.colours is not None
    assert np.allclose(spheres.colours[0], elements.COLOURS[8]) and spheres.key_frames.radii is None


def test_xyz_as_chemfiles_writes_it(tmp_path: Path) -> None:
    frame = chemfiles.Frame()
    for name in ("C", "H", "Zn"):
        frame.add_atom(chemfiles.Atom(name), [float(len(name)), 2.0, 3.0], [1.0, 0.5, 0.25])
    frame.cell = chemfiles.UnitCell([10.0, 11.0, 12.0], [90.0, 90.0, 60.0])
    with chemfiles.Trajectory(str(tmp_path / "a.xyz"), "w") as trajectory:
        trajectory.write(frame)
    spheres = files.spheres_of(tmp_path / "a.xyz")
    assert np.allclose(spheres.centres, frame.positions) and spheres.box is not None
    assert np.allclose(spheres.box.vectors, np.array(frame.cell.matrix).T, atol=1e-5)
    assert np.allclose(spheres.radii, elements.RADII[[6, 1, 30]])


def test_extended_xyz_keeps_its_columns_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz.gz"
    words = (
        'Lattice="5 0 0 0 6 0 1 0 7" pbc="T T F" Properties=species:S:1:pos:R:3:charge:R:1:forces:R:3:id:I:1 Time=2.5'
    )
    path.write_bytes(gzip.compress(f"2\n{words}\nC 1 2 3 0.5 7 8 9 41\nH 4 5 6 nan 1 2 3 40\n".encode()))
    scene = files.read(path)
    (spheres,) = scene.spheres
    found = {one.name: one.values for one in spheres.attributes}
    assert np.array_equal(found["forces"], [[7, 8, 9], [1, 2, 3]]) and found["charge"][0] == 0.5
    assert np.isnan(found["charge"][1])
    assert "'charge' has no finite value at some particles (1)." in files.said(scene)
    assert spheres.ids is not None and spheres.ids.tolist() == [41, 40]
    assert spheres.box is not None and spheres.box.periodic == (True, True, False)
    assert np.array_equal(spheres.box.vectors, [[5, 0, 0], [0, 6, 0], [1, 0, 7]])


def test_frames_before_a_cut_one_are_kept_and_it_is_named(tmp_path: Path) -> None:
    data = files.xyz(files.moving(4, 5))
    path = tmp_path / "cut.xyz"
    path.write_bytes(data[: len(data) - 60])
    scene = files.read(path)
    assert scene.spheres[0].key_frames is not None and len(scene.spheres[0].key_frames.times) == 3
    assert "Frame 4 is cut or damaged" in files.said(scene)
    path.write_bytes(data[:40])
    with pytest.raises(
        SceneError, match=r"cut\.xyz cannot be read \(XYZ and extended XYZ\): .*5 particles should follow"
    ):
        files.read(path)


def test_frames_of_different_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.write_bytes(files.xyz(files.moving(1, 4)) + files.xyz(files.moving(1, 2)) + files.xyz(files.moving(1, 6)))
    scene = files.read(path)
    keys = scene.spheres[0].key_frames
    assert keys is not None and keys.centres.shape == (3, 6, 3) and keys.radii is not None
    assert (keys.radii > 0.0).sum(axis=1).tolist() == [4, 2, 6]
    assert (keys.radii[1, 2:] == ABSENT).all() and "2 to 6 particles" in files.said(scene)


def test_lammps_as_chemfiles_reads_it(tmp_path: Path) -> None:
    """Ids in another order in each frame, positions scaled by the box."""
    generator = np.random.default_rng(3)
    scaled = generator.random((2, 7, 3))
    orders = [generator.permutation(7) for _ in range(2)]
    path = tmp_path / "a.lammpstrj"
    path.write_bytes(
        files.lammps([(k, order + 1, scaled[k][order]) for k, order in enumerate(orders)], "id type xs ys zs")
    )
    spheres = files.spheres_of(path)
    assert spheres.key_frames is not None and spheres.ids is not None and spheres.ids.tolist() == list(range(1, 8))
    with chemfiles.Trajectory(str(path)) as trajectory:
        for key in range(2):
            frame = trajectory.read()
            assert np.allclose(spheres.key_frames.centres[key], np.array(frame.positions), atol=1e-5)
    assert spheres.box is not None and spheres.box.periodic == (True, True, False)
    assert np.array_equal(spheres.box.vectors, np.diag([10, 20, 10])) and spheres.box.origin.tolist() == [0, 0, -5]


@pytest.mark.parametrize(
    "box",
    [
        # LAMMPS writes the bounds of the box around a tilted one: xlo + min(0, xy, xz, xy + xz), and so on.
        "ITEM: BOX BOUNDS xy xz yz pp pp pp\n-1 13 1\n0 10.5 -2\n-5 5 0.5",
        "ITEM: BOX BOUNDS abc origin pp pp pp\n11 0 0 1\n1 10 0 0\n-2 0.5 10 -5",
    ],
)
def test_a_tilted_box_of_lammps(tmp_path: Path, box: str) -> None:
    path = tmp_path / "a.dump"
    path.write_bytes(
        files.lammps(
            [(0, np.arange(3), np.array([[0.0, 0, 0], [0.25, 0.5, 0.75], [1, 1, 1]]))], "id type xs ys zs", box
        )
    )
    spheres = files.spheres_of(path)
    assert spheres.box is not None and np.allclose(spheres.box.vectors, [[11, 0, 0], [1, 10, 0], [-2, 0.5, 10]])
    assert np.allclose(spheres.box.origin, [1, 0, -5])
    middle = (
        np.array([1, 0, -5]) + 0.25 * np.array([11, 0, 0]) + 0.5 * np.array([1, 10, 0]) + 0.75 * np.array([-2, 0.5, 10])
    )
    assert np.allclose(spheres.centres, [[1, 0, -5], middle, [11, 10.5, 5]], atol=1e-5)


def test_atoms_that_come_and_go_keep_their_places(tmp_path: Path) -> None:
    given = {5: [1.0, 1.0, 1.0], 9: [2.0, 2.0, 2.0], 3: [3.0, 3.0, 3.0], 70: [4.0, 4.0, 4.0]}
    present = [(5, 9, 3), (3, 9), (70, 5, 3)]
    frames = [(k, np.array(ids), np.array([given[i] for i in ids]) + k) for k, ids in enumerate(present)]
    path = tmp_path / "dump.1000"
    path.write_bytes(files.lammps(frames))
    spheres = files.spheres_of(path)
    keys = spheres.key_frames
    assert spheres.ids is not None and spheres.ids.tolist() == [3, 5, 9, 70] and keys is not None
    assert keys.radii is not None
    for key, ids in enumerate(present):
        for slot, name in enumerate((3, 5, 9, 70)):
            assert (keys.radii[key, slot] > 0.0) == (name in ids)
            assert name not in ids or np.allclose(keys.centres[key, slot], np.array(given[name]) + key)


def test_an_id_that_comes_twice_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.dump"
    path.write_bytes(files.lammps([(0, np.array([1, 2, 1]), np.eye(3)), (1, np.array([1, 2]), np.eye(3)[:2])]))
    scene = files.read(path)
    assert len(scene.spheres[0].centres) == 2 and (
        "1 particles with an id that their frame has before were left out, in 1 of 2 frames." in files.said(scene)
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "x,y,z,radius,temperature\n1,2,3,0.5,10\n4,5,6,0.25,\n"),
        ("a.tsv", "X\tY\tZ\tRadius\ttemperature\n1\t2\t3\t0.5\t10\n4\t5\t6\t0.25\tnan\n"),
        ("a.tsv", "x\ty\tz\tradius\ttemperature\n1\t2\t3\t0.5\t10\n4\t5\t6\t0.25\t\n"),
        ("a.tsv", "temperature\tx\ty\tz\tradius\r\n10\t1\t2\t3\t0.5\r\n\t4\t5\t6\t0.25\r\n"),
        ("a.txt", "# x y z radius temperature\n1 2 3 0.5 10\n4 5 6 0.25 NaN\n"),
        ("a.csv", "x (m), y (m), z (m), radius [m], temperature\n1, 2, 3, 0.5, 10\n4, 5, 6, 0.25, null\n"),
        ("a.csv", '"Points:0","Points:1","Points:2","radius","temperature"\n1,2,3,0.5,10\n4,5,6,0.25,NA\n'),
    ],
)
def test_tables_of_text(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    spheres = files.spheres_of(tmp_path / name)
    assert spheres.centres.tolist() == [[1, 2, 3], [4, 5, 6]] and spheres.radii.tolist() == [0.5, 0.25]
    (temperature,) = spheres.attributes
    assert temperature.name == "temperature" and temperature.values[0] == 10.0 and np.isnan(temperature.values[1])


@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.tsv"])
@pytest.mark.parametrize(
    "text",
    [
        "1\t2\t3\t\n4\t5\t6\t\n",
        "1\t2\t3\t\t \r\n4\t5\t6\t\t\r\n",
        "1\t2\t3\t\n4\t5\t6\n",
        "\t1\t2\t3\n\t4\t5\t6\n",
        "\t1\t2\t3\n4\t5\t6\n",
        "\t1\t2\t3\t\n4\t5\t6\t\n",
        "# x\ty\tz\n1\t2\t3\t\n4\t5\t6\t\n",
        "#\tx\ty\tz\t\n1\t2\t3\n4\t5\t6\n",
        "x\ty\tz\n1\t2\t3\t\n4\t5\t6\t\n",
        "x\ty\tz\n1\t2\t3\n4\t5\t6\t\n",
        "x\ty\tz\n\t1\t2\t3\n\t4\t5\t6\n",
        "x\ty\tz\n1\t2\t3\t\n4\t5\t6\t\n7\t8",
        "x\ty\tz\t\n1\t2\t3\n4\t5\t6\n",
        "x\ty\tz\t\n1\t2\t3\t\n4\t5\t6\t\n",
        "\tx\ty\tz\n1\t2\t3\n4\t5\t6\n",
        "\tx\ty\tz\n\t1\t2\t3\n\t4\t5\t6\n",
    ],
)
def test_tabs_at_the_ends_of_rows_are_no_columns(tmp_path: Path, name: str, text: str) -> None:
    """Where the columns need none there: a radius without values, a kind without names and refusals came of them."""
    (tmp_path / name).write_bytes(text.encode())
    spheres = files.spheres_of(tmp_path / name)
    assert spheres.centres.tolist() == [[1, 2, 3], [4, 5, 6]] and not spheres.attributes
    assert np.all(spheres.radii == spheres.radii[0]) and spheres.radii[0] > 0


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("x\ty\tz\tmass\n1\t2\t3\t\n4\t5\t6\t7\n", [np.nan, 7]),
        ("x\ty\tz\tmass\n1\t2\t3\t\t\n4\t5\t6\t7\t\n", [np.nan, 7]),
        ("mass\tx\ty\tz\n\t1\t2\t3\n7\t4\t5\t6\t\n", [np.nan, 7]),
        ("\tx\ty\tz\n0\t1\t2\t3\n\t4\t5\t6\n", [0, np.nan]),
        ("1\t2\t3\t0.5\t\n4\t5\t6\t0.5\t7\n", [np.nan, 7]),
        ("1\t2\t3\t0.5\t7\n4\t5\t6\t0.5\t\n", [7, np.nan]),
    ],
)
def test_tabs_that_the_columns_need_are_gaps(tmp_path: Path, text: str, values: list[float]) -> None:
    (tmp_path / "a.tsv").write_text(text)
    spheres = files.spheres_of(tmp_path / "a.tsv")
    assert spheres.centres.tolist() == [[1, 2, 3], [4, 5, 6]]
    (one,) = spheres.attributes
    assert np.array_equal(one.values, values, equal_nan=True)


def test_a_separator_in_quotes_is_part_of_a_value(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"y";"kind";"x";"z"\n2;"a, b";1;3\n5;"c;d";4;6\n')
    spheres = files.spheres_of(tmp_path / "a.csv")
    assert spheres.centres.tolist() == [[1, 2, 3], [4, 5, 6]]
    (kind,) = spheres.attributes
    assert kind.values.tolist() == [0.0, 1.0] and "a, b" in kind.unit and "c;d" in kind.unit


def test_a_table_without_names_and_one_with_instants(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2,3,0.5\n4,5,6,0.25\n")
    assert files.spheres_of(tmp_path / "a.csv").radii.tolist() == [0.5, 0.25]
    (tmp_path / "b.csv").write_text("time,id,x,y,z\n0.5,7,1,0,0\n0,7,0,0,0\n0.5,8,5,5,5\n")
    spheres = files.spheres_of(tmp_path / "b.csv")
    assert spheres.key_frames is not None and spheres.key_frames.times.tolist() == [0.0, 0.5]
    assert spheres.ids is not None and spheres.ids.tolist() == [7, 8]
    assert spheres.key_frames.radii is not None and spheres.key_frames.radii[0, 1] == ABSENT


TABLE = b"x,y,z,frame,charge\n" + b"".join(b"%d,0,0,%d,0.5\n" % (row, row // 3) for row in range(6))


@pytest.mark.parametrize("word", [b"1_5", b"1.2.3", b"0x10", b"true"])
def test_a_word_among_numbers_of_a_table_is_told(word: bytes, tmp_path: Path) -> None:
    """One made names of a whole column: of six instants one frame. 1_5 is a number for Python alone."""
    path = tmp_path / "a.csv"
    path.write_bytes(TABLE)
    whole = files.read(path)
    assert whole.spheres[0].key_frames is not None
    path.write_bytes(TABLE.replace(b"0,0,0,0,", b"0,0,0,%s," % word))
    with pytest.raises(SceneError, match=rf'column frame holds "{word.decode()}", which is no number'):
        files.read(path)
    path.write_bytes(TABLE.replace(b"0.5", word, 1))
    (told,) = (one for one in files.read(path).remarks if one not in whole.remarks)
    first = f'1 of 6 values of the column charge are no numbers, the first "{word.decode()}": all were taken for names.'
    assert told.sentence == first and told.count == 1
    path.write_bytes(TABLE.replace(b"0.5", b"one"))
    assert not any("no numbers" in one.sentence for one in files.read(path).remarks), "a column of names"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"TIMESTEP\n0", b"TIMESTEP\n1_5", 'line 2: the time step should stand where "1_5" is'),
        (b"TIMESTEP\n0", b"TIMESTEP\nnan", 'line 2: the time step should stand where "nan" is'),
        (b"ATOMS\n3", b"ATOMS\n2.5", "line 4: a number of 2.5 atoms cannot be"),
        (b"\n0 10", b"\n0 inf", 'line 6: the bounds of the box should stand where "0 inf" is'),
        (b"\n0 1 ", b"\n0 1.2.3 ", 'line 10 has "1.2.3" where a number should be'),
    ],
)
def test_what_is_no_number_in_a_dump_of_lammps_is_told(old: bytes, new: bytes, said: str, tmp_path: Path) -> None:
    """A box that is not finite was left out without a word, and a kind in the first row made names of all."""
    whole, path = files.lammps([(0, np.arange(3), np.eye(3))]), tmp_path / "a.lammpstrj"
    path.write_bytes(whole)
    files.read(path)
    assert old in whole
    path.write_bytes(whole.replace(old, new, 1))
    with pytest.raises(SceneError) as caught:
        files.read(path)
    assert said in str(caught.value)


@pytest.mark.parametrize("ending", ["vtk", "vtp"])
def test_1_5_is_no_number_of_vtk(ending: str, tmp_path: Path) -> None:
    """It was 15, as for Python."""
    positions, charge = np.full((2, 3), 1.25), np.arange(2.0)
    whole = files.vtk(positions, charge, positions, True) if ending == "vtk" else files.vtp(positions, charge, "ascii")
    path = tmp_path / f"a.{ending}"
    path.write_bytes(whole)
    files.read(path)
    path.write_bytes(whole.replace(b"1.25", b"1_5", 1))
    with pytest.raises(SceneError, match='"1_5"'):
        files.read(path)


def test_widths_and_counts_of_headers_are_whole_numbers(tmp_path: Path) -> None:
    """A width of 0_3 was 3, and 0_2 vertices were two."""
    path, polygon = tmp_path / "a.xyz", tmp_path / "a.ply"
    for width, is_layout in (("3", True), ("0_3", False)):
        path.write_text(f"2\nProperties=species:S:1:charge:R:1:pos:R:{width}\nO 9 1 2 3\nO 9 4 5 6\n")
        assert (files.spheres_of(path).centres.tolist() == [[1, 2, 3], [4, 5, 6]]) == is_layout
    head = "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
    polygon.write_text(head.format("2") + "end_header\n0 0 0\n1 2 3\n")
    assert len(files.spheres_of(polygon).centres) == 2
    polygon.write_text(head.format("0_2") + "end_header\n0 0 0\n1 2 3\n")
    with pytest.raises(SceneError, match="line 3, `element vertex 0_2`: an element has a name and a count"):
        load([polygon])


def test_the_time_of_an_xyz_is_a_number(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    for word, has_time in (("15", True), ("1_5", False)):
        path.write_text("".join(f"1\nTime={word if frame else 0}\nO {frame} 0 0\n" for frame in range(2)))
        assert any("0 to 15" in one.sentence for one in files.read(path).remarks) == has_time


def test_lines_of_an_xyz_with_different_ends(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("2\n\nC 1 2 3 0.5\nC 4 5 6\n")
    assert files.spheres_of(tmp_path / "a.xyz").centres.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_table_of_a_plane(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y,mass\n1,2,7\n3,4,8\n")
    assert files.spheres_of(tmp_path / "a.csv").centres.tolist() == [[1, 2, 0], [3, 4, 0]]


def test_what_is_wrong_with_a_table_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SceneError, match="no columns x, y and z are among a, b"):
        files.read(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("x,y,z\n1,2,3\n4,5\n7,8,9\n")
    with pytest.raises(SceneError, match="line 3 has 2 columns, and 3 are named"):
        files.read(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("x,y,z\n1,2,3\n4,5")
    assert "The last row is cut short" in files.said(files.read(tmp_path / "a.csv"))


@pytest.mark.parametrize("gap", ["NA", "-", "null", "none", "n/a"])
def test_a_gap_that_ends_a_table_without_a_line_break_is_no_cut(tmp_path: Path, gap: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"x,y,z,mass\n1,2,3,7\n4,5,6,{gap}")
    scene = files.read(path)
    assert len(scene.spheres[0].centres) == 2 and "The last row" not in files.said(scene)
    path.write_text(f"frame,x,y,z,mass\n0,1,2,3,7\n0,4,5,6,8\n1,1,2,4,7\n1,4,5,7,{gap}")
    keys = files.spheres_of(path).key_frames
    assert keys is not None and len(keys.centres) == 2
    path.write_text("x,y,z,mass\n1,2,3,7\n4,5,6,")
    assert "The last row is cut short" in files.said(files.read(path))


NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32, min_value=-1e6, max_value=1e6)


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=6), gap=st.sampled_from([" ", "\t", "   "])
)
def test_any_positions_come_back_from_xyz_and_csv(
    tmp_path_factory: pytest.TempPathFactory, rows: list, gap: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    lines = [gap.join(["Fe", *(repr(value) for value in row)]) for row in rows]
    (folder / "a.xyz").write_text(f"{len(rows)}\n\n" + "\n".join(lines))
    (folder / "a.csv").write_text("x,y,z\n" + "\n".join(",".join(map(repr, row)) for row in rows))
    for name in ("a.xyz", "a.csv"):
        scene = files.read(folder / name)
        expected = np.array(rows) - np.array(scene.origin)
        assert np.allclose(scene.spheres[0].centres, expected, rtol=1e-6, atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(present=st.lists(st.lists(st.integers(1, 9), unique=True, max_size=9), min_size=2, max_size=4))
def test_any_ids_keep_their_places(tmp_path_factory: pytest.TempPathFactory, present: list[list[int]]) -> None:
    path = tmp_path_factory.mktemp("ids") / "a.dump"
    frames = [
        (k, np.array(ids), np.array([[i, k, 0.5] for i in ids], float).reshape(-1, 3)) for k, ids in enumerate(present)
    ]
    path.write_bytes(files.lammps(frames))
    if not any(present):
        with pytest.raises(SceneError, match="no particles"):
            files.read(path)
        return
    scene = files.read(path)
    (spheres,) = scene.spheres
    keys = spheres.key_frames
    assert keys is not None and spheres.ids is not None
    radii = np.broadcast_to(spheres.radii, keys.centres.shape[:2]) if keys.radii is None else keys.radii
    for k, ids in enumerate(present):
        there = {int(i): keys.centres[k, slot] for slot, i in enumerate(spheres.ids) if radii[k, slot] > 0.0}
        assert sorted(there) == sorted(ids) and all(
            np.allclose(at + np.array(scene.origin), [i, k, 0.5]) for i, at in there.items()
        )
