"""Pictures of all directions, inside the importing child process: Radiance .hdr, OpenEXR, and what Pillow reads, to
linear radiance.

Radiance files are decoded here (Ward, Real Pixels, Graphics Gems II, 1991): bytes of red, green, blue and a common
exponent, in runs.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from raygrove.gpu.scene import Environment

from . import images
from .errors import SceneError, display_path

LONGEST_SIDE = 4096
MOST_PIXELS, MOST_SIDE, PIXELS_AT_ONCE = 1 << 28, 1 << 16, 1 << 20
BRIGHTEST = 1e6
"""A sun may be this bright; more is the sign of a damaged file and would make sparks of everything."""
PICTURES = ("png", "jpg", "jpeg", "webp", "tif", "tiff", "bmp")
_RESOLUTION = re.compile(rb"-Y (\d{1,7}) \+X (\d{1,7})\Z")


class UnusableError(ValueError):
    """The file cannot be used; the text says why."""


def read_environment(path: str) -> Environment:
    """The environment of a file; `SceneError` with a sentence where it cannot be used."""
    ending = Path(path).suffix[1:].lower()
    try:
        if ending == "hdr":
            pixels = decode_radiance(Path(path).read_bytes(), LONGEST_SIDE)
        elif ending == "exr":
            pixels = _read_exr(path)
        elif ending in PICTURES:
            pixels = _linear(images.decode(Path(path), LONGEST_SIDE)[..., :3])
        else:
            known = ", ".join(f".{name}" for name in ("hdr", "exr", *PICTURES))
            raise UnusableError(f"environments are pictures of all directions ({known})")
    except (UnusableError, images.ImageError) as error:
        raise SceneError(
            f"{display_path(path)} cannot be an environment: {error}. Choose another file for import.environment.", path
        ) from error
    except OSError as error:
        raise SceneError(f"{display_path(path)} cannot be read: {error.strerror}. Check the file.", path) from error
    return Environment(Path(path).name, smaller(sane(pixels), LONGEST_SIDE))


def sane(pixels: np.ndarray) -> np.ndarray:
    """Finite radiance from 0 to BRIGHTEST, float32."""
    return np.clip(np.nan_to_num(pixels.astype(np.float32), nan=0.0, posinf=BRIGHTEST, neginf=0.0), 0.0, BRIGHTEST)


def smaller(pixels: np.ndarray, longest: int) -> np.ndarray:
    """No side longer than `longest`: means of whole blocks, the rest at the right and below repeated to fill the last
    one."""
    return _blocks(pixels, -(-max(pixels.shape[:2]) // longest))


def _blocks(pixels: np.ndarray, step: int) -> np.ndarray:
    if step == 1:
        return np.ascontiguousarray(pixels)
    height, width = (-(-side // step) for side in pixels.shape[:2])
    padded = np.pad(pixels, ((0, height * step - pixels.shape[0]), (0, width * step - pixels.shape[1]), (0, 0)), "edge")
    return padded.reshape(height, step, width, step, 3).mean(axis=(1, 3), dtype=np.float64).astype(np.float32)


def _linear(pixels: np.ndarray) -> np.ndarray:
    values = pixels.astype(np.float64) / 255.0
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _read_exr(path: str) -> np.ndarray:
    try:
        import OpenEXR
    except ImportError as error:
        raise UnusableError("EXR needs the library OpenEXR: pip install 'raygrove[exr]'") from error
    try:
        with OpenEXR.File(path) as file:
            channels = {name: channel.pixels for name, channel in file.channels().items()}
    except (RuntimeError, ValueError, TypeError) as error:
        raise UnusableError(f"it cannot be decoded ({str(error).rstrip('.')})") from error
    for name in ("RGB", "RGBA"):
        if name in channels:
            return np.asarray(channels[name], np.float32)[..., :3]
    if all(name in channels for name in "RGB"):
        return np.stack([np.asarray(channels[name], np.float32) for name in "RGB"], axis=-1)
    raise UnusableError(f"it has no channels R, G and B but {', '.join(sorted(channels)) or 'none'}")


def decode_radiance(data: bytes, longest: int = LONGEST_SIDE) -> np.ndarray:
    """(H, W, 3) float32 of a .hdr file's bytes, sane and no longer than `longest`: some rows at a time, as the numbers
    of a whole one take eight times the memory of its bytes."""
    if not data.startswith(b"#?"):
        raise UnusableError("it does not begin like a Radiance picture")
    header, blank, body = data.partition(b"\n\n")
    size, line_end, body = body.partition(b"\n")
    match = _RESOLUTION.match(size.strip())
    if not blank or not line_end or match is None:
        raise UnusableError("its header has no size of the form -Y HEIGHT +X WIDTH")
    if b"32-bit_rle_xyze" in header:
        raise UnusableError("its colours are XYZ, not RGB")
    height, width = int(match[1]), int(match[2])
    if not 0 < width * height <= MOST_PIXELS or max(width, height) > MOST_SIDE:
        raise UnusableError(f"it has {width} x {height} pixels")
    step, parts, place = -(-max(width, height) // longest), [], 0
    at_once = step * max(1, PIXELS_AT_ONCE // (step * width))
    for first in range(0, height, at_once):
        rows = np.zeros((min(at_once, height - first), width, 4), np.uint8)
        for row in rows:
            place = _read_row(body, place, row)
        scale = np.ldexp(1.0, rows[..., 3].astype(np.int32) - 136)
        light = np.where(rows[..., 3:] > 0, rows[..., :3] * scale[..., None], 0.0)
        parts.append(_blocks(sane(light), step))
    return np.concatenate(parts)


def _read_row(body: bytes, place: int, row: np.ndarray) -> int:
    """One row of pixels: four runs of bytes, or plain; returns where the next begins."""
    width = len(row)
    start = body[place : place + 4]
    if not (8 <= width < 32768 and start[:2] == b"\x02\x02" and len(start) == 4 and start[2] << 8 | start[3] == width):
        plain = body[place : place + 4 * width]
        if len(plain) < 4 * width:
            raise UnusableError("it ends too early")
        row[:] = np.frombuffer(plain, np.uint8).reshape(width, 4)
        return place + 4 * width
    place += 4
    for channel in range(4):
        x = 0
        while x < width:
            count = body[place] if place < len(body) else 0
            length = count - 128 if count > 128 else count
            values = body[place + 1 : place + 1 + (1 if count > 128 else length)]
            if not 0 < length <= width - x or len(values) < (1 if count > 128 else length):
                raise UnusableError("a row of it does not fit, or it ends too early")
            row[x : x + length, channel] = values[0] if count > 128 else np.frombuffer(values, np.uint8)
            x, place = x + length, place + 1 + len(values)
    return place
