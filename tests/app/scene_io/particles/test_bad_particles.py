"""Damage of any kind to files of particles: spheres that kernels may trust, or one sentence. And which files are taken
for particles at all."""

from __future__ import annotations

import dataclasses
import io
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, SceneError, exchange, load
from raygrove.app.scene_io.describe import describe
from raygrove.app.scene_io.files import check_file
from raygrove.app.scene_io.particles import form_of
from raygrove.app.scene_io.particles.headers import las_fault
from tests.app.scene_io.particles import files

POSITIONS = files.moving(2, 12)
CHARGE = np.arange(12.0)
IDS = np.arange(12)
COLOURS = np.arange(36, dtype=np.uint8).reshape(12, 3)
LIMITS = ImportLimits(memory_mib=256, max_particles=100_000)


def _npz() -> bytes:
    import io

    file = io.BytesIO()
    np.savez_compressed(file, positions=POSITIONS, radius=CHARGE, time=[0.0, 1.0], charge=CHARGE)
    return file.getvalue()


OWN: dict[str, Callable[[], bytes]] = {
    "a.xyz": lambda: files.xyz(POSITIONS, 'Lattice="1 0 0 0 2 0 0 0 3" Properties=species:S:1:pos:R:3'),
    "a.dump": lambda: files.lammps([(k, IDS, POSITIONS[k]) for k in range(2)]),
    "a.csv": lambda: b"x,y,z,frame\n" + b"".join(b"%d,2,%f,%d\n" % (n, n / 7, n % 3) for n in range(12)),
    "ascii.ply": lambda: files.ply(POSITIONS[0], COLOURS, "ascii"),
    "binary.ply": lambda: files.ply(POSITIONS[0], COLOURS, "binary_big_endian"),
    "ascii.pcd": lambda: files.pcd(POSITIONS[0], "ascii"),
    "binary.pcd": lambda: files.pcd(POSITIONS[0], "binary"),
    "packed.pcd": lambda: files.pcd(POSITIONS[0], "binary_compressed"),
    "ascii.vtk": lambda: files.vtk(POSITIONS[0], CHARGE, POSITIONS[1], True),
    "binary.vtk": lambda: files.vtk(POSITIONS[0], CHARGE, POSITIONS[1], False),
    "ascii.vtp": lambda: files.vtp(POSITIONS[0], CHARGE, "ascii"),
    "zlib.vtp": lambda: files.vtp(POSITIONS[0], CHARGE, "zlib"),
    "raw.vtp": lambda: files.vtp(POSITIONS[0], CHARGE, "raw"),
    "a.tipsy": lambda: files.tipsy(3, 4, 5)[0],
    "a.npz": _npz,
    "a.f32": lambda: POSITIONS.astype("<f4").tobytes(),
}


def mutants(data: bytes, count: int, generator: random.Random) -> list[bytes]:
    """Cut, bytes changed, a piece doubled, a number made large."""
    result = []
    for index in range(count):
        place = generator.randrange(1, len(data))
        changed = bytearray(data)
        if index % 4 == 0:
            changed = changed[:place]
        elif index % 4 == 1:
            for _ in range(generator.choice((1, 4, 16))):
                changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
        elif index % 4 == 2:
            changed[place:place] = changed[place : place + 40]
        else:
            digits = [n for n, byte in enumerate(data) if 48 <= byte <= 57]
            at = generator.choice(digits) if digits else place
            changed[at:at] = b"987654321" * generator.choice((1, 3))
        result.append(bytes(changed))
    return result


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(OWN))
def test_any_damage_gives_spheres_or_a_sentence(tmp_path: Path, name: str) -> None:
    """Readers of this program's own run in this process: what escapes them fails here."""
    generator, path = random.Random(name), tmp_path / name
    outcomes = set()
    for data in mutants(OWN[name](), 60, generator):
        path.write_bytes(data)
        try:
            scene = files.read(path, LIMITS)
        except SceneError as error:
            assert str(error).rstrip().endswith((".", ")")) and str(path) in str(error), str(error)
            outcomes.add("sentence")
            continue
        except RuntimeError as error:
            pytest.fail(f"{data!r}: {error}")
        exchange.check(scene)
        assert scene.sphere_count <= 100_000 and np.isfinite([*scene.lower, *scene.upper]).all()
        describe(scene)
        outcomes.add("spheres")
    assert outcomes, "something came out"


GRO = b"title\n    1\n    1SOL     OW    1   0.126   1.624   1.679\n   1.8 1.8 1.8\n"
DUMP = files.lammps([(0, np.array([1, 2]), np.eye(3)[:2])])


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.lammpstrj", b"", "it is empty"),
        ("a.lammpstrj", b"letter\n", 'line 1: an ITEM should stand where "letter" is'),
        ("a.lammpstrj", b"\x00\xff" * 99, "line 1: an ITEM should stand where no text is"),
        ("a.lammpstrj", DUMP.replace(b"ATOMS\n2", b"ATOMS\nmany"), 'line 4: the number of atoms should stand where "m'),
        ("a.lammpstrj", DUMP.replace(b"1 1 1.0", b"1 1 one"), 'line 10: column x holds "one", which is no number'),
        ("a.lammpstrj", DUMP.replace(b"2 1 0.0", b"2 1 one"), 'line 11 has "one" where a number should be'),
        ("a.lammpstrj", DUMP.replace(b"id type x", b"id type q"), "line 9: no columns x, y and z are among"),
        ("a.gro", GRO.replace(b"    1\n", b"  abc\n"), 'line 2 has "abc" where the number of atoms should be'),
        ("a.gro", GRO.replace(b"0.126", b"x.yyy"), 'line 3 has "x.yyy" where a number should be'),
        ("a.gro", GRO[:40], "it ends before the last of its atoms"),
        ("a.dcd", b"letter", "it ends within a frame: 6 bytes are there, and more should follow"),
        ("a.dcd", b"T" + bytes(3) + b"CORD" + bytes(400), "a block of it does not end where it should"),
        ("a.dcd", b"letters and " * 9, "it, or a frame in it, does not begin as DCD does"),
        ("a.npz", b"letter", "it is no whole archive of arrays, as numpy.savez writes them"),
        ("a.npz", _npz().replace(b"positions.npy", b"possitions.py"), "no array of it is called positions"),
        ("a.csv", "x,y,z\n1,2,3\n".encode("utf-16"), "it is text in UTF-16, and tables are read in UTF-8"),
        ("a.csv", b"x,y,z\n1,2,3\n\n4,5\n6,7,8\n", 'line 4 has 2 columns, and 3 are named: "4,5"'),
        ("a.csv", b"x,y,z\n1,2,3\n4,5,six\n", 'column z holds "six", which is no number'),
        ("a.xyz", b"2\n\nO 1 2 3\nO 1 x 3\n", 'line 4 has "x" where a number should be'),
    ],
)
def test_a_sentence_says_where_a_file_is_wrong(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    """In words of its own, not those of an exception, and what to do."""
    if name.endswith((".gro", ".dcd")):
        pytest.importorskip("chemfiles")
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SceneError) as caught:
        files.read(tmp_path / name)
    said = str(caught.value)
    assert said.startswith(str(tmp_path / name)) and why in said and said.endswith("Export or fetch it again."), said
    assert "Error" not in said and "b'" not in said


def test_a_later_frame_of_an_xyz_file_is_wrong_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_bytes(b"\n1\n\nO 1 2 3\n\n\n2\n\nO 1 2 3\nO 1 2 x\n")
    assert 'line 10 has "x" where a number should be' in files.read(tmp_path / "a.xyz").remarks[-1].sentence
    (tmp_path / "a.xyz").write_bytes(b"1\n\nO 1 2 3\n\nO 1 2 3\n")
    assert 'line 5 should be a count of atoms, and is "O 1 2 3"' in files.read(tmp_path / "a.xyz").remarks[-1].sentence


@pytest.mark.parametrize(
    ("at", "data", "why"),
    [
        (0, b"LISP", "it does not begin with LASF"),
        (24, b"\x07\x01", "byte 24 of its header says version 7.1, and 1.0 to 1.4 are known"),
        (94, b"\xff\xff", "byte 94 of its header says that the header has 65,535 bytes, of 467 of the file"),
        (96, b"\xff\xff\xff\x00", "byte 96 of its header says that points begin at byte 16,777,215, of 467 of"),
        (100, b"\xff\x00\x00\x00", "byte 100 of its header says 255 records, for which there are 0 bytes"),
        (104, b"\x3f", "byte 104 of its header says point format 63, and 0 to 10 are known"),
        (105, b"\x05\x00", "byte 105 of its header says 5 bytes a point, and format 0 has 20"),
        (131, bytes(8), "byte 131 of its header says the scales 0, 0.01, 0.01"),
    ],
)
def test_a_sentence_says_at_which_byte_a_las_file_is_wrong(tmp_path: Path, at: int, data: bytes, why: str) -> None:
    """Where the library does not bear with it."""
    laspy = pytest.importorskip("laspy")
    survey = laspy.LasData(laspy.LasHeader(point_format=0, version="1.2"))
    survey.x, survey.y, survey.z = POSITIONS[0].T
    survey.write(str(tmp_path / "a.las"))
    whole = (tmp_path / "a.las").read_bytes()
    wrong = whole[:at] + data + whole[at + len(data) :]
    assert why in las_fault(io.BytesIO(wrong)), las_fault(io.BytesIO(wrong))
    (tmp_path / "a.las").write_bytes(wrong)
    if at in (0, 104, 105):
        with pytest.raises(SceneError) as caught:
            files.read(tmp_path / "a.las")
        assert str(caught.value).startswith(f"{tmp_path}/a.las cannot be read (") and why in str(caught.value)
    if at == 96:
        with pytest.raises(SceneError, match="none of its 12 points, which begin at byte 16,777,215, can be read"):
            files.read(tmp_path / "a.las")
    (tmp_path / "a.las").write_bytes(whole[:100])
    with pytest.raises(SceneError, match="its header ends after 100 of 227 bytes"):
        files.read(tmp_path / "a.las")


@pytest.mark.parametrize(
    ("at", "data", "why"),
    [
        (0, b"xx", "it does not begin as GSD files do"),
        (8, b"\xff\xff\xff", "entries of its index begin at byte 16,777,215, of "),
        (24, b"\xff\xff\xff", "names begin at byte 16,777,215, of "),
        (112, b"other\0", "byte 112 says that it holds 'other', and particles are in files that hold 'hoomd'"),
    ],
)
def test_a_sentence_says_at_which_byte_a_gsd_file_is_wrong(tmp_path: Path, at: int, data: bytes, why: str) -> None:
    hoomd = pytest.importorskip("gsd.hoomd")
    frame = hoomd.Frame()
    frame.particles.N, frame.particles.position = 12, POSITIONS[0]
    with hoomd.open(str(tmp_path / "a.gsd"), "w") as file:
        file.append(frame)
    whole = (tmp_path / "a.gsd").read_bytes()
    (tmp_path / "a.gsd").write_bytes(whole[:at] + data + whole[at + len(data) :])
    with pytest.raises(SceneError) as caught:
        files.read(tmp_path / "a.gsd")
    said = str(caught.value)
    assert said.startswith(f"{tmp_path}/a.gsd cannot be read (") and why in said and "Error" not in said, said
    (tmp_path / "a.gsd").write_bytes(whole[:100])
    with pytest.raises(SceneError, match="its header ends after 100 of 256 bytes"):
        files.read(tmp_path / "a.gsd")


@pytest.mark.parametrize("name", ["a.xtc", "a.gsd", "a.laz"])
def test_damage_to_what_libraries_read(tmp_path: Path, name: str) -> None:
    """In the child, which such damage may end."""
    path = tmp_path / name
    if name == "a.xtc":
        chemfiles = pytest.importorskip("chemfiles")
        frame = chemfiles.Frame()
        frame.resize(12)
        with chemfiles.Trajectory(str(path), "w") as trajectory:
            for positions in POSITIONS:
                frame.positions[:] = positions
                trajectory.write(frame)
    elif name == "a.gsd":
        hoomd = pytest.importorskip("gsd.hoomd")
        frame = hoomd.Frame()
        frame.particles.N, frame.particles.position = 12, POSITIONS[0]
        with hoomd.open(str(path), "w") as file:
            file.append(frame)
    else:
        laspy = pytest.importorskip("laspy")
        survey = laspy.LasData(laspy.LasHeader(point_format=0, version="1.2"))
        survey.x, survey.y, survey.z = POSITIONS[0].T
        survey.write(str(path))
    for data in mutants(path.read_bytes(), 2, random.Random(name)):
        path.write_bytes(data)
        try:
            exchange.check(load(str(path), ImportLimits(seconds=60.0, max_particles=100_000)))
        except SceneError as error:
            assert "a." in str(error) and str(error).rstrip().endswith((".", ")"))


@pytest.mark.parametrize(
    ("name", "data", "form"),
    [
        ("dump.1000", b"ITEM: TIMESTEP\n0\n", "lammpstrj"),
        ("run.out", b"2\nwords\nC 0 0 0\nH 1.5e0 -1 0\n", "xyz"),
        ("points", b"# .PCD v0.7\n", "pcd"),
        ("points", b"# vtk DataFile Version 2.0\n", "vtk"),
        ("points.xml", b'<?xml version="1.0"?>\n<VTKFile type="PolyData">', "vtp"),
        ("part", b"LASF" + bytes(300), "las"),
        ("cloud.txt", b"ITEM: TIMESTEP\n0\n", "lammpstrj"),
        ("cloud.txt", b"1 2 3\n", "txt"),
        ("mesh.ply", b"ply\nformat ascii 1.0\nelement vertex 3\nelement face 1\nend_header\n", None),
        ("cloud.ply", b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nend_header\n", "ply"),
        ("soup.raw", b"0 0 0 1 0 0 0 1 0\n", None),
        ("letter.doc", b"Dear reader", None),
        ("model.obj", b"v 0 0 0\n", None),
    ],
)
def test_which_files_hold_particles(tmp_path: Path, name: str, data: bytes, form: str | None) -> None:
    (tmp_path / name).write_bytes(data)
    assert form_of(str(tmp_path / name)) == form
    if name == "letter.doc":
        with pytest.raises(SceneError, match=r"the type \.doc is not known"):
            check_file(str(tmp_path / name), ImportLimits())
    else:
        check_file(str(tmp_path / name), ImportLimits())


def test_a_raw_file_with_a_layout_is_particles(tmp_path: Path) -> None:
    (tmp_path / "a.raw").write_bytes(np.arange(6, dtype="<f4").tobytes())
    (tmp_path / "a.raw.toml").write_text('fields = ["x", "y", "z"]')
    assert files.spheres_of(tmp_path / "a.raw").centres.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_what_info_tells_of_particles(tmp_path: Path) -> None:
    (tmp_path / "a.dump").write_bytes(files.lammps([(k, IDS, POSITIONS[k]) for k in range(2)]))
    facts = describe(load(str(tmp_path / "a.dump")))
    (group,) = facts["sphere_groups"]
    assert (facts["spheres"], facts["triangles"], facts["key_frames"], group["has_ids"]) == (12, 0, 2, True)
    assert group["box"] == [10.0, 20.0, 10.0] and group["is_periodic"]
    (kind,) = group["attributes"]
    assert (kind["name"], kind["shape"], kind["lower"], kind["missing"]) == ("type", [12], 1.0, 0)


def test_info_counts_missing_numbers_of_particles_that_are_there(tmp_path: Path) -> None:
    """Of two frames the second lacks four particles; no number of theirs is missing from it."""
    (tmp_path / "a.dump").write_bytes(files.lammps([(0, IDS, POSITIONS[0]), (1, IDS[:-4], POSITIONS[1][:-4])]))
    scene = load(str(tmp_path / "a.dump"))
    (spheres,) = scene.spheres
    (kind,) = describe(scene)["sphere_groups"][0]["attributes"]
    assert kind["missing"] == 0 < np.count_nonzero(~np.isfinite(spheres.attributes[0].values))
    values = spheres.attributes[0].values.copy()
    values[..., 0] = np.nan
    wrong = dataclasses.replace(spheres, attributes=(dataclasses.replace(spheres.attributes[0], values=values),))
    (kind,) = describe(dataclasses.replace(scene, spheres=(wrong,)))["sphere_groups"][0]["attributes"]
    assert kind["missing"] == len(values)
