"""What libraries that read particles raise: that memory ran out stays what it is, and the reason that they give for a
damaged file stands at the end of the sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits
from raygrove.app.scene_io.errors import SceneError
from raygrove.app.scene_io.particles import lidar
from raygrove.app.scene_io.particles.headers import in_brackets
from tests.app.scene_io.particles import files

POSITIONS = files.moving(1, 12)[0]


def survey(path: Path) -> Path:
    laspy = pytest.importorskip("laspy")
    one = laspy.LasData(laspy.LasHeader(point_format=0, version="1.2"))
    one.x, one.y, one.z = POSITIONS.T
    one.write(str(path))
    return path


def simulation(path: Path) -> Path:
    hoomd = pytest.importorskip("gsd.hoomd")
    frame = hoomd.Frame()
    frame.particles.N, frame.particles.position = 12, POSITIONS
    with hoomd.open(str(path), "w") as file:
        file.append(frame)
    return path


def raising(error: Exception, after: int = 0, first: Any = None) -> Any:
    """A function that raises after so many calls of `first`."""
    calls = []

    def called(*arguments: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) > after:
            raise error
        return first(*arguments, **named)

    return called


@pytest.mark.parametrize("pieces", [-1, 0, 1], ids=["open", "first piece", "second piece"])
@pytest.mark.parametrize("is_memory", [True, False])
def test_of_a_survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pieces: int, is_memory: bool) -> None:
    laspy, path = pytest.importorskip("laspy"), survey(tmp_path / "a.las")
    error = MemoryError("12 GiB") if is_memory else laspy.errors.LaspyException("IoError: a chunk\nis of no use.")
    monkeypatch.setattr(lidar, "PIECE", 8)
    if pieces < 0:
        monkeypatch.setattr(laspy, "open", raising(error))
    else:
        monkeypatch.setattr(laspy.LasReader, "read_points", raising(error, pieces, laspy.LasReader.read_points))
    if is_memory:
        with pytest.raises(MemoryError):
            files.read(path)
    elif pieces == 1:
        said = files.said(files.read(path))
        assert "The points after 8 of 12 are cut or damaged (a chunk is of no use)." in said
    else:
        with pytest.raises(SceneError, match=r"\(a chunk is of no use\)\. Export or fetch it again\.$"):
            files.read(path)


@pytest.mark.parametrize("name", ["open", "read_frame"])
@pytest.mark.parametrize("is_memory", [True, False])
def test_of_a_simulation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_memory: bool) -> None:
    hoomd, path = pytest.importorskip("gsd.hoomd"), simulation(tmp_path / "a.gsd")
    error = MemoryError() if is_memory else RuntimeError(f"Its chunk is no good: {path}")
    monkeypatch.setattr(
        *((hoomd, "open") if name == "open" else (hoomd.HOOMDTrajectory, "_read_frame")), raising(error)
    )
    if is_memory:
        with pytest.raises(MemoryError):
            files.read(path)
    else:
        with pytest.raises(SceneError, match=r"damaged \(Its chunk is no good\)\. Export or fetch it again\.$"):
            files.read(path)


def test_a_packed_survey_that_is_cut_says_what_its_library_said(tmp_path: Path) -> None:
    pytest.importorskip("lazrs")
    path = survey(tmp_path / "a.laz")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(SceneError, match=r"\(failed to fill whole buffer\)\. Export or fetch it again\.$"):
        files.read(path)


def test_what_says_nothing_is_left_out() -> None:
    """Numbers, paths, names of errors."""
    for error in (ValueError(), KeyError(63), RuntimeError("/a/b.gsd"), OSError("IoError: ."), ValueError("63 0x1f")):
        assert in_brackets(error, "/a/b.gsd") == "", error
    assert in_brackets(ValueError("A" + "b" * 999)) == f" (A{'b' * 199})"


def test_a_simulation_of_more_particles_than_its_file_can_hold(tmp_path: Path) -> None:
    """The library makes up what has no values: a file of a kilobyte took gigabytes (tests/campaign)."""
    gsd, path = pytest.importorskip("gsd.fl"), tmp_path / "a.gsd"
    for count, kind in ((90_000_000, "particles"), (150_000_000, "bonds")):
        kinds = {"mode": "w", "application": "tests", "schema": "hoomd", "schema_version": [1, 4]}
        with gsd.open(name=str(path), **kinds) as file:
            if kind != "particles":
                file.write_chunk("particles/N", np.array([2], np.uint32))
            file.write_chunk("particles/position", np.eye(2, 3, dtype=np.float32))
            file.write_chunk(f"{kind}/N", np.array([count], np.uint32))
            file.end_frame()
        with pytest.raises(SceneError, match=f"frame 1 says that there are {count:,} {kind}, in a file of"):
            files.read(path, ImportLimits(memory_mib=2048))


def test_a_panic_of_a_library_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries in Rust raise what is no Exception (tests/campaign found one of lazrs)."""
    laspy, path = pytest.importorskip("laspy"), survey(tmp_path / "a.las")
    panic = type("PanicException", (BaseException,), {})
    monkeypatch.setattr(laspy.LasReader, "read_points", raising(panic("capacity overflow")))
    with pytest.raises(SceneError, match=r"could not understand \(PanicException: capacity overflow\)"):
        files.read(path)


def test_packed_points_that_a_file_cannot_hold_are_refused(tmp_path: Path) -> None:
    laspy = pytest.importorskip("laspy")
    pytest.importorskip("lazrs")
    one = laspy.LasData(laspy.LasHeader(point_format=0, version="1.2"))
    one.x, one.y, one.z = POSITIONS.T
    one.write(str(tmp_path / "a.laz"))
    data = (tmp_path / "a.laz").read_bytes()
    (tmp_path / "a.laz").write_bytes(data[:107] + (4_000_000).to_bytes(4, "little") + data[111:])
    with pytest.raises(SceneError, match=r"its header says 4,000,000 points, and it has [\d,]+ bytes"):
        files.read(tmp_path / "a.laz")


def test_records_that_a_survey_cannot_hold_are_not_looked_for(tmp_path: Path) -> None:
    """The library looked for two thousand million of them (tests/campaign)."""
    path = survey(tmp_path / "a.las")
    data = path.read_bytes()
    path.write_bytes(data[:100] + (2_197_815_296).to_bytes(4, "little") + data[104:])
    with pytest.raises(SceneError, match=r"byte 100 of its header says 2,197,815,296 records, and it has 467 bytes"):
        files.read(path, ImportLimits(seconds=30.0))
