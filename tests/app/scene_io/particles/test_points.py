"""PLY, PCD, LAS, VTK and Tipsy files, written by hand or by laspy."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raygrove.app.scene_io import SceneError
from raygrove.app.scene_io.particles.colours import linear_from_display
from raygrove.app.scene_io.particles.frame import ParticleError
from raygrove.app.scene_io.particles.point_cloud import lzf
from tests.app.scene_io.particles import files

POSITIONS = files.moving(1, 9)[0]
COLOURS = np.arange(27, dtype=np.uint8).reshape(9, 3) * 9


@pytest.mark.parametrize("form", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_ply_points(tmp_path: Path, form: str) -> None:
    data = files.ply(POSITIONS, COLOURS, form)
    (tmp_path / "a.ply").write_bytes(data)
    spheres = files.spheres_of(tmp_path / "a.ply")
    assert np.allclose(spheres.centres, POSITIONS) and (spheres.radii == 0.25).all() and spheres.colours is not None
    assert np.allclose(spheres.colours, linear_from_display(COLOURS))
    (tmp_path / "cut.ply").write_bytes(data[:-20])
    scene = files.read(tmp_path / "cut.ply")
    assert len(scene.spheres[0].centres) == 8 and "9 vertices, and 8 are there" in files.said(scene)


@pytest.mark.parametrize("form", ["ascii", "binary", "binary_compressed"])
def test_pcd_points(tmp_path: Path, form: str) -> None:
    points = POSITIONS.astype(np.float32).astype(np.float64)
    (tmp_path / "a.pcd").write_bytes(files.pcd(points, form))
    spheres = files.spheres_of(tmp_path / "a.pcd")
    assert np.array_equal(spheres.centres, points.astype(np.float32)) and spheres.colours is not None
    assert np.allclose(spheres.colours, linear_from_display(np.array([0x10, 0x20, 0x30], np.uint8)))
    (tmp_path / "cut.pcd").write_bytes(files.pcd(points, form)[: -20 if form != "ascii" else -60])
    if form == "binary_compressed":
        with pytest.raises(SceneError, match="it is cut short before the z"):
            files.read(tmp_path / "cut.pcd")
    else:
        assert "9 points, and" in files.said(files.read(tmp_path / "cut.pcd"))


def test_padding_between_fields_of_a_pcd_is_no_attribute(tmp_path: Path) -> None:
    fields = [("_", "u1", (4,)), ("z", "<f4"), ("x", "<i2"), ("y", "<f8"), ("weight", "<f4"), ("__", "u1", (2,))]
    points = np.zeros(3, fields)
    points["x"], points["y"], points["z"], points["weight"], points["_"] = [1, 4, 7], [2, 5, 8], [3, 6, 9], 0.5, 77
    header = "FIELDS _ z x y weight _\nSIZE 1 4 2 8 4 1\nTYPE U F I F F U\nCOUNT 4 1 1 1 1 2\nPOINTS 3\nDATA binary\n"
    (tmp_path / "a.pcd").write_bytes(header.encode() + points.tobytes())
    spheres = files.spheres_of(tmp_path / "a.pcd")
    assert spheres.centres.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert [(one.name, one.values.tolist()) for one in spheres.attributes] == [("weight", [0.5, 0.5, 0.5])]


def _packed(data: bytes) -> bytes:
    """LZF as simple as it can be: a copy where the last three bytes came before, else a literal."""
    out, at = bytearray(), 0
    while at < len(data):
        found = data.rfind(data[at : at + 3], max(at - 8192, 0), at + 2) if at + 3 <= len(data) else -1
        if 0 <= found < at:
            length = 3
            while at + length < len(data) and length < 264 and data[found + length] == data[at + length]:
                length += 1
            back = at - found - 1
            out += bytes([min(length - 2, 7) << 5 | back >> 8])
            out += (bytes([length - 9]) if length >= 9 else b"") + bytes([back & 255])
            at += length
        else:
            out += bytes([0, data[at]])
            at += 1
    return bytes(out)


@settings(max_examples=60, deadline=None)
@given(data=st.lists(st.sampled_from([b"a", b"abc", b"\0\0\0\0", b"xyzzy", bytes(300)]), max_size=12).map(b"".join))
def test_lzf_gives_back_what_was_packed(data: bytes) -> None:
    assert lzf(_packed(data), len(data)) == data


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=40), size=st.integers(0, 200))
def test_lzf_of_anything_ends(data: bytes, size: int) -> None:
    try:
        assert len(lzf(data, size)) == size
    except ParticleError as error:
        assert "packed data" in str(error)


@pytest.mark.parametrize("ending", ["las", "laz"])
def test_a_survey_far_from_zero(tmp_path: Path, ending: str) -> None:
    laspy = pytest.importorskip("laspy")
    header = laspy.LasHeader(point_format=3, version="1.2")
    header.offsets, header.scales = [500_000.0, 4_500_000.0, 0.0], [0.001] * 3
    survey = laspy.LasData(header)
    survey.x, survey.y, survey.z = POSITIONS[:, 0] + 500_000, POSITIONS[:, 1] + 4_500_000, POSITIONS[:, 2]
    survey.red, survey.green, survey.blue = (np.full(9, value, np.uint16) for value in (65535, 0, 32768))
    survey.intensity, survey.classification = np.arange(9), np.arange(9) % 3
    path = tmp_path / f"a.{ending}"
    survey.write(str(path))
    scene = files.read(path)
    (spheres,) = scene.spheres
    assert np.allclose(spheres.centres + np.array(scene.origin), POSITIONS + [500_000, 4_500_000, 0], atol=6e-4)
    assert spheres.colours is not None and np.allclose(spheres.colours[0], [1.0, 0.0, 0.2140], atol=1e-3)
    found = {one.name: one.values.tolist() for one in spheres.attributes}
    assert found["intensity"] == list(range(9)) and found["classification"] == [0, 1, 2] * 3
    whole = path.read_bytes()
    path.write_bytes(whole[:-40] if ending == "las" else whole[: header.offset_to_point_data + 30])
    if ending == "las":
        assert "9 points, and 7 are there" in files.said(files.read(path))
    else:
        with pytest.raises(SceneError, match=r"cannot be read \(LAS and LAZ surveys\)"):
            files.read(path)


@pytest.mark.parametrize("is_text", [True, False])
def test_legacy_vtk(tmp_path: Path, is_text: bool) -> None:
    charge, velocity = np.arange(9.0), POSITIONS * 2.0
    data = files.vtk(POSITIONS, charge, velocity, is_text)
    (tmp_path / "a.vtk").write_bytes(data)
    spheres = files.spheres_of(tmp_path / "a.vtk")
    assert np.allclose(spheres.centres, POSITIONS) and (spheres.radii == 0.5).all()
    found = {one.name: one.values for one in spheres.attributes}
    assert np.array_equal(found["charge"], charge) and np.allclose(found["velocity"], velocity)
    (tmp_path / "cut.vtk").write_bytes(data[:-30])
    assert "cut or damaged after its points" in files.said(files.read(tmp_path / "cut.vtk"))


@pytest.mark.parametrize("form", ["ascii", "binary", "zlib", "appended", "raw"])
def test_vtp(tmp_path: Path, form: str) -> None:
    charge = np.arange(9.0)
    data = files.vtp(POSITIONS, charge, form)
    (tmp_path / "a.vtp.gz").write_bytes(gzip.compress(data))
    spheres = files.spheres_of(tmp_path / "a.vtp.gz")
    assert np.allclose(spheres.centres, POSITIONS)
    assert [one.name for one in spheres.attributes] == ["charge"]
    assert np.array_equal(spheres.attributes[0].values, charge)
    (tmp_path / "cut.vtp").write_bytes(data[: len(data) // 2])
    with pytest.raises(SceneError, match=r"cut\.vtp cannot be read \(VTK XML\)"):
        files.read(tmp_path / "cut.vtp")


@pytest.mark.parametrize("order", ["<", ">"])
def test_tipsy(tmp_path: Path, order: str) -> None:
    data, positions = files.tipsy(2, 3, 4, order)
    for name in ("a.tipsy", "snapshot.00128"):
        (tmp_path / name).write_bytes(data)
        spheres = files.spheres_of(tmp_path / name)
        found = {one.name: one.values for one in spheres.attributes}
        assert np.array_equal(spheres.centres, positions) and found["type"].tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 2]
        assert np.array_equal(found["velocity"][8], [4, 5, 6]) and np.isnan(found["density"][2:]).all()
    (tmp_path / "a.tipsy").write_bytes(data[:-50])
    assert "9 particles, and 7 are there" in files.said(files.read(tmp_path / "a.tipsy"))
    (tmp_path / "a.tipsy").write_bytes(struct.pack(">d6i", 0.0, -1, 3, 0, 0, 0, 0))
    with pytest.raises(SceneError, match="its header is no Tipsy header"):
        files.read(tmp_path / "a.tipsy")
