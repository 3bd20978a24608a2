"""Pictures to pixels: what they show, and what that takes."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from raygrove.app.scene_io import images
from raygrove.app.scene_io.images import ImageError, decode

MIB = 1 << 20


def packed(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def most_mib(work: Callable[[], object]) -> float:
    """What this process held at most, above what it held before."""
    Path("/proc/self/clear_refs").write_text("5")
    before = _held("VmRSS")
    work()
    return _held("VmHWM") - before


def weighed_by_alpha(pixels: np.ndarray) -> np.ndarray:
    return np.concatenate([pixels[..., :3] * (pixels[..., 3:] / 255.0), pixels[..., 3:]], axis=-1)


def _held(what: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


@pytest.mark.parametrize(
    ("mode", "bytes_of_pixel"), [("1", 1), ("P", 1), ("L", 1), ("RGB", 4), ("RGBA", 4), ("LA", 4), ("I;16", 2)]
)
def test_a_picture_takes_little_more_than_its_own_pixels(mode: str, bytes_of_pixel: int) -> None:
    """One of 109 kB with a palette took 8.3 GiB: all of it as RGBA, and once more to be made smaller."""
    side = 5000
    data = packed(Image.new(mode, (side, side)))
    assert most_mib(lambda: decode(data, 512)) < bytes_of_pixel * side * side / MIB + 20


@pytest.mark.parametrize("kind", ["WEBP", "AVIF", "JPEG2000"])
def test_what_a_decoder_holds_more_than_once_is_counted_so(kind: str) -> None:
    side = 3000
    options = {"lossless": True, "quality": 0, "method": 0} if kind == "WEBP" else {}
    data = packed(Image.new("RGBA", (side, side)), kind, **options)
    assert most_mib(lambda: decode(data, 512)) < images.COPIES[kind] * 4 * side * side / MIB + 20


def test_a_small_file_that_decoders_hold_often_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_BYTES", 4 * 600 * 600)
    picture = Image.new("RGB", (512, 512))
    assert decode(packed(picture), 128).shape == (128, 128, 4)
    with pytest.raises(ImageError, match="512 x 512 pixels, which is too many"):
        decode(packed(picture, "WEBP", lossless=True), 128)
    with pytest.raises(ImageError, match="too many"):
        decode(packed(picture), 512)  # beside which the result has no room
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 256, (512, 512, 3), np.uint8))
    assert decode(packed(noise, "WEBP", lossless=True), 512).shape == (512, 512, 4), "a hundred times its file"


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK"])
@pytest.mark.parametrize("size", [(200, 131), (61, 333)])
def test_a_smaller_picture_is_the_mean_of_the_larger(mode: str, size: tuple[int, int]) -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (*size[::-1], 4), np.uint8)
    picture = Image.fromarray(pixels).convert("RGB").convert(mode)
    if mode in ("RGBA", "LA"):
        picture.putalpha(Image.fromarray(pixels[..., 3]))
    kind = "TIFF" if mode == "CMYK" else "PNG"
    found = decode(packed(picture, kind), 48).astype(int)
    whole = np.asarray(picture.convert("RGBA").resize(found.shape[1::-1], Image.Resampling.BOX))
    assert max(found.shape) == 48 and found.shape[0] == max(round(size[1] * 48 / max(size)), 1)
    assert np.abs(weighed_by_alpha(found) - weighed_by_alpha(whole)).max() <= 2
    assert (decode(packed(picture, kind), 333) == np.asarray(picture.convert("RGBA"))).all()


def test_a_colour_that_is_seen_through_becomes_alpha_before_colours_are_mixed() -> None:
    pixels = np.zeros((40, 40, 3), np.uint8)
    pixels[:, ::2] = (255, 0, 0)
    data = packed(Image.fromarray(pixels), transparency=(255, 0, 0))
    assert (decode(data, 40)[0, :2] == [[255, 0, 0, 0], [0, 0, 0, 255]]).all()
    assert (decode(data, 20) == [0, 0, 0, 128]).all()


def test_a_long_picture_keeps_a_row() -> None:
    assert decode(packed(Image.new("RGB", (5000, 1), (9, 8, 7))), 100).tolist() == [[[9, 8, 7, 255]] * 100]


def test_postscript_is_no_texture() -> None:
    """Pillow has another program draw it."""
    text = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n"
    assert Image.open(io.BytesIO(text)).format == "EPS"
    with pytest.raises(ImageError, match="no kind of picture that is known"):
        decode(text, 100)


def test_pixels_that_a_header_promises_and_nothing_holds_are_refused_at_once() -> None:
    data = bytearray(packed(Image.new("RGBA", (16, 16)), "DDS"))
    data[12:20] = struct.pack("<II", 14_000, 14_000)
    with pytest.raises(ImageError, match=r"cannot be decoded \(not enough image data\)"):
        decode(bytes(data), 4096)
