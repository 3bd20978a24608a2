"""Files of particles that end too early, each written by its own library where there is one: the frames before the cut,
equal to what was written, and the frame that is cut named."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import SceneError, load
from raygrove.gpu.scene import SphereKeys
from tests.app.scene_io.particles import files

FRAMES, COUNT = 4, 60
POSITIONS = files.moving(FRAMES, COUNT, 7)
CHARGE = files.moving(FRAMES, COUNT, 8)[..., 0]
NAMED = "Frame 4 is cut or damaged"


def _keys(path: Path) -> SphereKeys:
    keys = files.spheres_of(path).key_frames
    assert keys is not None
    return keys


@pytest.mark.parametrize(("ending", "pack"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)])
def test_a_packed_trajectory_that_is_cut(tmp_path: Path, ending: str, pack: Callable[[bytes], bytes]) -> None:
    """Nothing of it would come out if it were read as a whole. The bytes of bzip2 come in blocks of 900,000."""
    positions = files.moving(FRAMES, 6000)
    packed = pack(files.xyz(positions))
    path = tmp_path / f"a.xyz.{ending}"
    path.write_bytes(packed[: len(packed) * 9 // 10])
    said = files.said(files.read(path))
    assert "The packed file is cut short: the " in said and "Only the frames before it are shown" in said
    kept = _keys(path).centres
    assert len(kept) in (2, 3) and np.allclose(kept, positions[: len(kept)], atol=1e-6)
    path.write_bytes(packed[:10])
    with pytest.raises(SceneError, match="cannot be unpacked: it is damaged or cut short"):
        files.read(path)


def test_a_packed_cloud_that_is_cut_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    packed = gzip.compress(files.ply(POSITIONS[0], np.zeros((COUNT, 3), np.uint8), "binary_little_endian"))
    (tmp_path / "a.ply.gz").write_bytes(packed[:-200])
    centres = files.spheres_of(tmp_path / "a.ply.gz").centres
    assert 10 < len(centres) < COUNT and np.allclose(centres, POSITIONS[0, : len(centres)])


def test_a_gsd_file_that_is_cut(tmp_path: Path) -> None:
    hoomd = pytest.importorskip("gsd.hoomd")
    path = tmp_path / "a.gsd"
    with hoomd.open(str(path), "w") as file:
        for positions in POSITIONS:
            frame = hoomd.Frame()
            frame.particles.N, frame.particles.position = COUNT, positions
            file.append(frame)
    whole = path.read_bytes()
    for less in (1, COUNT * 12 - 1):
        path.write_bytes(whole[:-less])
        assert f"{NAMED}: the file ends within it" in files.said(files.read(path))
        assert np.allclose(_keys(path).centres, POSITIONS[:3])
    path.write_bytes(whole[:600])
    with pytest.raises(SceneError, match="its index begin at byte 256|byte 8 says"):
        files.read(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_npz_that_is_cut(tmp_path: Path, save: Callable[..., None]) -> None:
    path = tmp_path / "a.npz"
    save(path, time=np.arange(4.0), mass=CHARGE[:, :], positions=POSITIONS, charge=CHARGE)
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    assert "The archive is cut short: arrays may be missing" in files.said(files.read(path))
    assert [one.name for one in files.spheres_of(path).attributes] == ["mass", "charge"]
    path.write_bytes(whole[:-1000])
    assert "The archive is cut short: the array 'charge' is not whole" in files.said(files.read(path))
    assert np.allclose(_keys(path).centres, POSITIONS)
    begin = whole.index(b"charge.npy") - 30
    path.write_bytes(whole[: begin - 200])
    assert f"{NAMED}: the archive ends within it" in files.said(files.read(path))
    spheres, keys = files.spheres_of(path), _keys(path)
    assert np.allclose(keys.centres, POSITIONS[:3]) and keys.times.tolist() == [0.0, 1.0, 2.0]
    assert [one.values.shape for one in spheres.attributes] == [(3, COUNT)]
    save(path, positions=POSITIONS[0], charge=CHARGE[0])
    path.write_bytes(path.read_bytes()[:1200])
    centres = files.spheres_of(path).centres
    assert 0 < len(centres) < COUNT and np.allclose(centres, POSITIONS[0, : len(centres)])


def test_an_npz_with_a_changed_byte_is_none_that_is_cut(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", positions=POSITIONS)
    data = bytearray((tmp_path / "a.npz").read_bytes())
    data[500] ^= 1
    (tmp_path / "a.npz").write_bytes(data[:-10])
    with pytest.raises(SceneError, match="it is no whole archive of arrays"):
        files.read(tmp_path / "a.npz")


def test_a_table_of_frames_that_is_cut(tmp_path: Path) -> None:
    """In a row, the frame is left out; between two it cannot be known, and is said."""
    rows = [f"{k},{x!r},{y!r},{z!r}" for k, frame in enumerate(POSITIONS) for x, y, z in frame.tolist()]
    path = tmp_path / "a.csv"
    for last in ("3,0.5", "3,0.5,0.5,1e-"):
        path.write_text("\n".join(["frame,x,y,z", *rows[:-20], last]))
        assert f"{NAMED}: the file ends within a row of it" in files.said(files.read(path))
        assert np.allclose(_keys(path).centres, POSITIONS[:3])
    path.write_text("\n".join(["frame,x,y,z", *rows[:-20]]))
    assert "the last value of frame 4 may be cut short, and more of it may be missing" in files.said(files.read(path))
    path.write_text("\n".join(["frame,x,y,z", *rows, ""]))
    assert "cut" not in files.said(files.read(path))


@pytest.mark.parametrize(
    ("ending", "why"),
    [
        ("sdf", "it ends before the last of its atoms"),
        ("mol2", "it ends before the last of its atoms"),
        ("cif", "cannot parse CIF file"),
    ],
)
def test_molecules_one_after_another_that_are_cut(tmp_path: Path, ending: str, why: str) -> None:
    chemfiles = pytest.importorskip("chemfiles")
    path = tmp_path / f"a.{ending}"
    with chemfiles.Trajectory(str(path), "w") as trajectory:
        for positions in POSITIONS:
            frame = chemfiles.Frame()
            frame.cell = chemfiles.UnitCell([10.0, 10.0, 10.0])  # what a CIF holds is wrapped into it
            for place in positions:
                frame.add_atom(chemfiles.Atom("O"), place)
            trajectory.write(frame)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20] if ending == "cif" else whole[: len(whole) * 85 // 100])
    said = files.said(files.read(path))
    assert f"{NAMED}: {why}" in said and "line break" not in said
    assert np.allclose(_keys(path).centres, POSITIONS[:3], atol=1e-3)
    path.write_bytes(whole[: whole.find(b"\ndata_") - 20 if ending == "cif" else len(whole) // 10])
    with pytest.raises(SceneError, match=why):
        files.read(path)


@pytest.mark.parametrize(("form", "version"), [(3, "1.2"), (7, "1.4")])
def test_a_laz_that_is_cut_keeps_the_points_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: int, version: str
) -> None:
    """Packed 50,000 at a time, with a table of these at the end, which is lost. Small steps are taken in the piece with
    the cut alone."""
    laspy = pytest.importorskip("laspy")
    count = 120_000
    survey = laspy.LasData(laspy.LasHeader(point_format=form, version=version))
    survey.header.scales = [0.001] * 3
    survey.x, survey.y, survey.z = np.random.default_rng(3).random((3, count)) * 50.0
    survey.write(str(tmp_path / "a.laz"))
    whole = (tmp_path / "a.laz").read_bytes()
    (tmp_path / "a.laz").write_bytes(whole[: len(whole) * 9 // 10])
    asked: list[int] = []
    read_points = laspy.LasReader.read_points

    def counted(reader: Any, wanted: int) -> Any:
        asked.append(wanted)
        return read_points(reader, wanted)

    monkeypatch.setattr(laspy.LasReader, "read_points", counted)
    scene = files.read(tmp_path / "a.laz")
    centres = scene.spheres[0].centres
    assert len(asked) <= 4 + (len(centres) - 100_000) // 100
    told = [remark.sentence for remark in scene.remarks if "120,000" in remark.sentence]
    assert len(told) == 1 and f"The points after {len(centres):,} of 120,000 are cut or damaged" in told[0], told
    assert 100_000 <= len(centres) < count and (form == 7) == (len(centres) == 100_000)
    first = np.asarray(survey.xyz)[: len(centres)] - np.array(scene.origin)
    assert np.allclose(centres, first, atol=1e-3)


def test_a_cut_laz_of_small_chunks_gets_no_table_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a chunk for each point a table would be as long as the header claims."""
    laspy, lazrs = pytest.importorskip("laspy"), pytest.importorskip("lazrs")
    survey, path = laspy.LasData(laspy.LasHeader(point_format=0, version="1.2")), tmp_path / "a.laz"
    survey.x, survey.y, survey.z = np.random.default_rng(3).random((3, 3000)) * 50.0
    survey.write(str(path))
    with laspy.open(str(path)) as file:
        begin, record = file.header.offset_to_point_data, bytes(file.header.vlrs.get("LasZipVlr")[0].record_data)
    one_each = record[:12] + (1).to_bytes(4, "little") + record[16:]
    with path.open("r+b") as packed:
        head = packed.read(begin).replace(record, one_each)
        packed.seek(0)
        packed.truncate()
        packed.write(head)
        packer = lazrs.LasZipCompressor(packed, lazrs.LazVlr(one_each))
        packer.compress_many(np.frombuffer(survey.points.array.tobytes(), np.uint8))
        packer.done()
    path.write_bytes(path.read_bytes()[: begin + (path.stat().st_size - begin) * 2 // 3])
    entries: list[int] = []
    write = lazrs.write_chunk_table

    def counted(to: Any, table: list[tuple[int, int]], record: Any) -> None:
        entries.append(len(table))
        write(to, table, record)

    monkeypatch.setattr(lazrs, "write_chunk_table", counted)
    scene = files.read(path)
    centres = scene.spheres[0].centres
    assert entries == [1] and 1900 <= len(centres) <= 2000
    assert np.allclose(centres, np.asarray(survey.xyz)[: len(centres)] - np.array(scene.origin), atol=1e-3)


def test_a_text_of_points_that_ends_within_a_number(tmp_path: Path) -> None:
    pcd = files.pcd(POSITIONS[0], "ascii")
    (tmp_path / "a.pcd").write_bytes(pcd[: pcd.rindex(b"e-") + 2])
    assert np.allclose(files.spheres_of(tmp_path / "a.pcd").centres, POSITIONS[0, :-1])
    ply = files.ply(POSITIONS[0], np.zeros((COUNT, 3), np.uint8), "ascii").rstrip()[:-4] + b"2e"
    (tmp_path / "a.ply").write_bytes(ply)
    assert np.allclose(files.spheres_of(tmp_path / "a.ply").centres, POSITIONS[0, :-1])


def test_packed_fields_of_a_pcd_that_is_cut(tmp_path: Path) -> None:
    """One field lies behind another: what is after x, y and z may be lost, these may not."""
    data = files.pcd(POSITIONS[0], "binary_compressed")
    (tmp_path / "a.pcd").write_bytes(data[:-2])
    assert "The file is cut short: the points have no rgb." in files.said(files.read(tmp_path / "a.pcd"))
    assert np.allclose(files.spheres_of(tmp_path / "a.pcd").centres, POSITIONS[0])
    (tmp_path / "a.pcd").write_bytes(data[:-200])
    with pytest.raises(SceneError, match="it is cut short before the z of its 60 points"):
        files.read(tmp_path / "a.pcd")


@pytest.mark.parametrize("form", ["ascii", "binary", "zlib"])
def test_a_vtp_that_is_cut(tmp_path: Path, form: str) -> None:
    data = files.vtp(POSITIONS[0], CHARGE[0], form)
    place = data.index(b"charge")
    (tmp_path / "a.vtp").write_bytes(data[: place + 200])
    spheres = files.spheres_of(tmp_path / "a.vtp")
    assert np.allclose(spheres.centres, POSITIONS[0]) and not spheres.attributes
    assert "The file is cut short: the arrays that are whole were read." in files.said(files.read(tmp_path / "a.vtp"))
    (tmp_path / "a.vtp").write_bytes(data[: data.index(b"<Points>") + 200])
    with pytest.raises(SceneError, match="the array of its points is not there as a whole"):
        files.read(tmp_path / "a.vtp")
    (tmp_path / "a.vtp").write_bytes(data.replace(b"</Points>", b"</Pints>"))
    with pytest.raises(SceneError, match="its XML is damaged or cut short"):
        files.read(tmp_path / "a.vtp")


def test_a_gro_without_an_end_is_said(tmp_path: Path) -> None:
    pytest.importorskip("chemfiles")
    data = files.gro(list(POSITIONS), [("OW", "SOL")] * COUNT)
    (tmp_path / "a.gro").write_bytes(data[:-3])
    assert "the last value of frame 4 may be cut short" in files.said(files.read(tmp_path / "a.gro"))
    (tmp_path / "a.gro").write_bytes(data)
    assert "cut short" not in files.said(files.read(tmp_path / "a.gro"))


def _mmcif(path: Path, frames: int = FRAMES) -> bytes:
    """One that chemfiles has written, without its last line break."""
    chemfiles = pytest.importorskip("chemfiles")
    with chemfiles.Trajectory(str(path), "w", "mmCIF") as trajectory:
        for positions in POSITIONS[:frames]:
            frame = chemfiles.Frame()
            for place in positions:
                frame.add_atom(chemfiles.Atom("O"), place)
            residue = chemfiles.Residue("SOL", 1)
            for index in range(COUNT):
                residue.atoms.append(index)
            frame.add_residue(residue)
            trajectory.write(frame)
    return path.read_bytes().rstrip()


@pytest.mark.parametrize("frames", [1, FRAMES])
@pytest.mark.parametrize("end", [b"#", b"#\n_exptl.method 'X-RAY DIFFRACTION'", b"#\nloop_\n_a.b\n_a.c\nA B"])
def test_a_whole_mmcif_without_a_last_line_break(tmp_path: Path, frames: int, end: bytes) -> None:
    path = tmp_path / "a.cif"
    path.write_bytes(_mmcif(path, frames) + b"\n" + end)
    scene = load(str(path))
    keys = scene.spheres[0].key_frames
    centres = scene.spheres[0].centres[None] if keys is None else keys.centres
    assert np.allclose(centres + np.array(scene.origin), POSITIONS[:frames], atol=1e-3)
    assert "cut" not in files.said(scene) and "ends within" not in files.said(scene)


def test_an_mmcif_that_ends_within_a_row(tmp_path: Path) -> None:
    """In the child: of a row with few values chemfiles reads what is not there."""
    path = tmp_path / "a.cif"
    whole = _mmcif(path)
    row = whole[whole.rindex(b"\n") + 1 :]
    for words in (1, 4, 8, len(row.split()) - 1):
        path.write_bytes(whole[: -len(row)] + b" ".join(row.split()[:words]))
        scene = load(str(path))
        keys = scene.spheres[0].key_frames
        assert keys is not None and np.allclose(keys.centres, POSITIONS[:3], atol=1e-3), words
        assert f"{NAMED}: the file ends within a row of it" in files.said(scene), words
    path.write_bytes(whole[: whole.index(b" 2\n") - 30])
    scene = load(str(path))
    assert len(scene.spheres[0].centres) == COUNT and "The last row is cut short" in files.said(scene)
    path.write_bytes(whole[: -len(row)] + row[:3])
    assert f"{NAMED}: the file ends within a row of it" in files.said(load(str(path)))
    path.write_bytes(whole[: whole.index(b"\nHETATM") + 12])
    with pytest.raises(SceneError, match="the file ends within a row of it"):
        load(str(path))


@pytest.mark.parametrize(
    "end", [b"", b"#\n", b"\n \n", b"# more\n# of it", b"data_b\n", b"#\nloop_\n_a.b\n1\n", b"_a.b 1\n", b"_atom_si"]
)
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_an_mmcif_that_has_names_of_columns_alone(tmp_path: Path, end: bytes, ends: bytes) -> None:
    """In the child: chemfiles crashes where no row follows them."""
    path = tmp_path / "a.cif"
    whole = _mmcif(path, 1)
    path.write_bytes((whole[: whole.index(b"\nHETATM") + 1] + end).replace(b"\n", ends))
    with pytest.raises(SceneError, match="no row of an atom follows the names of their columns"):
        load(str(path))


def test_an_mmcif_that_is_cut_within_the_names_of_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.cif"
    whole = _mmcif(path, 1)
    names = whole[: whole.index(b"\nHETATM")]
    for place in range(names.rindex(b"_atom_site.") + 1, len(names) + 1, 3):
        path.write_bytes(names[:place])
        with pytest.raises(SceneError, match="no row of an atom follows"):
            load(str(path))


@pytest.mark.parametrize("gap", [b"\n", b"# a remark\n", b"  \n", b"\r\n \r\n#\r\n"])
def test_gaps_among_the_rows_of_an_mmcif_lose_no_atom(tmp_path: Path, gap: bytes) -> None:
    """Which the format allows, and behind which chemfiles reads nothing."""
    path = tmp_path / "a.cif"
    whole = _mmcif(path, 1) + b"\n#\n"
    rows = [place + 1 for place in range(len(whole)) if whole.startswith(b"\nHETATM", place)]
    for place in (whole.index(b"_atom_site."), rows[0], rows[COUNT // 2]):
        at = whole.index(b"\n", place) + 1
        for where in {place, at}:
            path.write_bytes(whole[:where] + gap + whole[where:])
            centres = load(str(path)).spheres[0].centres
            assert len(centres) == COUNT, (place, where)
