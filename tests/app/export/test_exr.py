"""EXR files read back: every channel bit for bit, and the text beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raygrove.app.export.exr import NOTHING, save_exr

OpenEXR = pytest.importorskip("OpenEXR", reason="OpenEXR is not installed (the extra `exr`)")


COUNTS = ("steps", "tests", "boxes")


def buffers(height: int = 7, width: int = 5) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    ids = rng.integers(-1, 50_000_000, (height, width), np.int32)
    ids[0, 0], ids[0, 1] = -1, 16_777_217  # which a float32 does not hold
    depth = np.where(ids < 0, np.inf, rng.uniform(0, 1e6, (height, width))).astype(np.float32)
    normal = rng.normal(size=(height, width, 3)).astype(np.float32)
    counts = {name: rng.integers(0, 999, (height, width), np.int32) for name in COUNTS}
    return {"depth": depth, "normal": normal, "prim_id": ids, "object_id": ids // 1000, **counts}


def test_channels_come_back_bit_for_bit(tmp_path: Path) -> None:
    given, path = buffers(), tmp_path / "new" / "one.exr"
    save_exr(path, given, {"raygrove.device": "läuft"})
    with OpenEXR.File(str(path), separate_channels=True) as file:
        found = {name: channel.pixels for name, channel in file.channels().items()}
        assert file.header()["raygrove.device"] == "läuft"
    assert set(found) == {"Z", "N.X", "N.Y", "N.Z", "id", "object", *COUNTS}
    assert np.array_equal(found["Z"], given["depth"]) and found["Z"].dtype == np.float32
    assert np.array_equal(np.stack([found[f"N.{axis}"] for axis in "XYZ"], axis=2), given["normal"])
    for name, source in (("id", "prim_id"), ("object", "object_id"), *zip(COUNTS, COUNTS, strict=True)):
        assert found[name].dtype == np.uint32 and np.array_equal(found[name].view(np.int32), given[source])
    assert found["id"][0, 0] == NOTHING and found["id"][0, 1] == 16_777_217
    assert [one.name for one in path.parent.iterdir()] == ["one.exr"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="inside.exr"):
        save_exr(tmp_path / "file" / "inside.exr", buffers())
