"""Pictures of all directions: Radiance files against their definition, EXR and PNG, and what is wrong with a file."""

from __future__ import annotations

import dataclasses
import pathlib
import tracemalloc

import numpy as np
import pytest

from raygrove.app.document.opening import open_scene
from raygrove.app.document.state import SceneReference
from raygrove.app.scene_io import ImportLimits, SceneError, environments, load_environment
from raygrove.app.scene_io.environments import BRIGHTEST, decode_radiance, sane, smaller
from raygrove.app.settings.settings import Settings

HEADER = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n"


def radiance(rows: np.ndarray, packed: bool) -> bytes:
    """A .hdr file of bytes (H, W, 4): runs of equal bytes where there are any, else as they are."""
    height, width = rows.shape[:2]
    data = HEADER + b"-Y %d +X %d\n" % (height, width)
    if not packed:
        return data + rows.tobytes()
    for row in rows:
        data += bytes([2, 2, width >> 8, width & 255])
        for channel in range(4):
            x = 0
            while x < width:
                run = 1
                while run < 127 and x + run < width and row[x + run, channel] == row[x, channel]:
                    run += 1
                data += bytes([128 + run, row[x, channel]]) if run > 2 else bytes([1, row[x, channel]])
                x += run if run > 2 else 1
    return data


@pytest.mark.parametrize("packed", [False, True])
def test_radiance_files_are_mantissas_and_an_exponent(packed: bool) -> None:
    random = np.random.default_rng(1)
    rows = random.integers(0, 256, (5, 40, 4)).astype(np.uint8)
    rows[2] = rows[2, 0]
    rows[0, 0, 3] = 0
    wanted = rows[..., :3].astype(np.float64) / 256.0 * 2.0 ** (rows[..., 3:].astype(np.float64) - 128.0)
    wanted[0, 0] = 0.0
    wanted = np.minimum(wanted, BRIGHTEST)
    assert decode_radiance(radiance(rows, packed)) == pytest.approx(wanted, rel=1e-6)


def test_values_are_made_sane_and_pictures_smaller() -> None:
    assert sane(np.array([[[np.nan, -1.0, np.inf]]])).tolist() == [[[0.0, 0.0, BRIGHTEST]]]
    picture = np.random.default_rng(2).random((7, 12, 3)).astype(np.float32)
    less = smaller(picture, 6)
    assert less.shape == (4, 6, 3) and less[0, 0] == pytest.approx(picture[:2, :2].mean(axis=(0, 1)), rel=1e-5)
    assert smaller(picture, 12) is not None and np.array_equal(smaller(picture, 12), picture)


def test_files_light_every_scene(tmp_path: pathlib.Path) -> None:
    from PIL import Image

    rows = np.full((8, 16, 4), 128, np.uint8)
    (tmp_path / "sky.hdr").write_bytes(radiance(rows, True))
    Image.fromarray(np.full((8, 16, 3), 188, np.uint8)).save(tmp_path / "sky.png")
    found = load_environment(str(tmp_path / "sky.hdr"))
    assert found.name == "sky.hdr" and np.all(found.pixels == 0.5)
    assert load_environment(str(tmp_path / "sky.png")).pixels == pytest.approx(0.5029, abs=1e-3)
    settings = Settings(importer=ImportLimits(environment=str(tmp_path / "sky.hdr")))
    settings = dataclasses.replace(settings, demo=dataclasses.replace(settings.demo, triangles=2000))
    scene = open_scene(SceneReference("demo", ("orbit",)), settings)
    assert scene.environment is not None and scene.environment.pixels.shape == (8, 16, 3)


def test_exr_files(tmp_path: pathlib.Path) -> None:
    exr = pytest.importorskip("OpenEXR")
    pixels = np.random.default_rng(3).random((4, 8, 3)).astype(np.float32) * 100
    with exr.File({"type": exr.scanlineimage}, {"RGB": pixels}) as file:
        file.write(str(tmp_path / "sky.exr"))
    assert load_environment(str(tmp_path / "sky.exr")).pixels == pytest.approx(pixels)
    with exr.File({"type": exr.scanlineimage}, {"Z": pixels[..., 0].copy()}) as file:
        file.write(str(tmp_path / "depth.exr"))
    with pytest.raises(SceneError, match=r"no channels R, G and B but Z"):
        load_environment(str(tmp_path / "depth.exr"))


WRONG = {
    "sky.hdr": (b"P6 no", "does not begin like a Radiance picture"),
    "huge.hdr": (HEADER + b"-Y 9999999 +X 9999999\n", "9999999 x 9999999 pixels"),
    "turned.hdr": (HEADER + b"+X 4 -Y 4\n", "no size of the form"),
    "cut.hdr": (HEADER + b"-Y 4 +X 40\n\x02\x02\x00\x28\xff", "ends too early"),
    "sky.txt": (b"words", "pictures of all directions"),
    "sky.png": (b"\x89PNG nothing", "cannot be decoded"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_are_sentences(tmp_path: pathlib.Path, name: str) -> None:
    data, said = WRONG[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SceneError, match=said) as raised:
        load_environment(str(tmp_path / name))
    assert str(raised.value).startswith(name) or name in str(raised.value)


def test_a_missing_file_is_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(SceneError, match="does not exist"):
        load_environment(str(tmp_path / "none.hdr"))


def test_a_large_sky_is_made_smaller_as_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A packed one of some kilobytes asked for gigabytes; the means are those of the whole picture."""
    rows = np.repeat(np.random.default_rng(3).integers(1, 200, (700, 10, 4)).astype(np.uint8), 100, axis=1)
    rows[..., 3] = rows[..., 3] // 50 + 126
    whole = decode_radiance(radiance(rows, True), 1000)
    assert whole.shape == (700, 1000, 3)
    monkeypatch.setattr(environments, "PIXELS_AT_ONCE", 16_000)
    data = radiance(rows, True)
    tracemalloc.start()
    small = decode_radiance(data, 128)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert small.shape == (88, 125, 3) and np.allclose(small, smaller(whole, 128), rtol=1e-5)
    assert peak < 3 << 20, f"{peak:,} bytes, where all numbers at once take {rows.size * 8:,}"
    for sides in ((1 << 17, 2), (2, 1 << 17), (1 << 15, 1 << 15)):
        with pytest.raises(environments.UnusableError, match="pixels"):
            decode_radiance(HEADER + b"-Y %d +X %d\n" % sides)
