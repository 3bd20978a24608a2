"""Texture files and bytes to RGBA8 pixels, by Pillow, inside the importing child process."""

from __future__ import annotations

import io
import math
import os
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .costs import MOST_TIMES
from .references import References

if TYPE_CHECKING:
    from PIL import Image


BYTES = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16B": 2, "I;16L": 2}
"""What a pixel takes while it is decoded; in all other modes, RGB and LA among them, Pillow keeps it in 4."""
RGBA = 4
MAX_BYTES = 1 << 30
"""What a picture may take in memory while it is decoded; with its copies and the result, it may be a hundred times its
file if that is more."""
COPIES = {"WEBP": 4, "AVIF": 3, "JPEG2000": 6}
"""How often the decoders of these formats hold a picture at once, measured; all others once."""
FORMATS = (
    "PNG",
    "JPEG",
    "TGA",
    "BMP",
    "DIB",
    "TIFF",
    "WEBP",
    "DDS",
    "GIF",
    "PSD",
    "JPEG2000",
    "AVIF",
    "PPM",
    "PCX",
    "SGI",
)
"""What is tried on a texture. Pillow knows thirty more, one of which (EPS) starts another program."""
ROWS = 16
SMALLER_FIRST = ("L", "RGB", "RGBA")
"""Modes whose pixels are mixed as they are: less work than as RGBA."""


class ImageError(ValueError):
    """A texture that cannot be used; the text says why."""


class PictureRoom:
    """What all pictures of a file may take beyond a hundred times their own bytes: as much as one alone. Those that
    show something are never that much larger than their files."""

    def __init__(self) -> None:
        self.left = MAX_BYTES

    def take(self, size: int, packed: int) -> None:
        """Room for a picture of `packed` bytes that takes `size`; `ImageError` where there is none left."""
        more = max(size - MOST_TIMES * packed, 0)
        if more > self.left:
            raise ImageError(
                f"unpacks from {packed:,} bytes to {size >> 20:,} MiB, for which the pictures before it leave no room"
            )
        self.left -= more


def decode(data: bytes | Path, longest_side: int, room: PictureRoom | None = None) -> np.ndarray:
    """(H, W, 4) uint8, row 0 on top, scaled down so that no side is longer than `longest_side`; `ImageError` where it
    cannot be read, or takes more than the `room` that is left."""
    from PIL import Image, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(io.BytesIO(data) if isinstance(data, bytes) else data, formats=FORMATS) as image:
            packed = len(data) if isinstance(data, bytes) else data.stat().st_size
            size = image.width * image.height * BYTES.get(image.mode, RGBA)
            copies = size * COPIES.get(image.format or "", 1)
            kept = RGBA * min(image.width, longest_side) * min(image.height, longest_side)
            if size > MAX_BYTES or copies + kept > max(MAX_BYTES, MOST_TIMES * packed):
                raise ImageError(f"has {image.width} x {image.height} pixels, which is too many")
            if room is not None:
                room.take(max(copies, kept), packed)
            image.draft("RGB", (longest_side, longest_side))
            image.load()
            return _rgba(image, longest_side)
    except ImageError:
        raise
    except MemoryError:
        raise
    except UnidentifiedImageError as error:
        raise ImageError(
            "cannot be decoded: it is no kind of picture that is known, or its beginning is damaged"
        ) from error
    except Exception as error:
        raise ImageError(f"cannot be decoded ({error})") from error


def _rgba(image: Image.Image, longest_side: int) -> np.ndarray:
    """(H, W, 4) uint8, some rows at a time, so that little more than the picture and the result is held at once."""
    scale = min(longest_side / max(image.size), 1.0)
    width, height = (max(round(side * scale), 1) for side in image.size)
    result = np.empty((height, width, RGBA), np.uint8)
    for row in range(0, height, ROWS):
        end = min(row + ROWS, height)
        first, last = row * image.height / height, end * image.height / height
        top = math.floor(first)
        rows = image.crop((0, top, image.width, math.ceil(last)))
        result[row:end] = _rows_as_rgba(rows, (width, end - row), (0.0, first - top, image.width, last - top))
    return result


def _rows_as_rgba(rows: Image.Image, size: tuple[int, int], box: tuple[float, float, float, float]) -> np.ndarray:
    """What lies in the `box` of these rows, as RGBA of that size. Where a colour stands for what is seen through it has
    to become alpha before colours are mixed."""
    from PIL import Image

    if rows.mode.startswith("I") or rows.mode == "F":
        rows = _grey(rows)
    if rows.mode not in SMALLER_FIRST or "transparency" in rows.info:
        rows = rows.convert("RGBA")
    if rows.size != size:
        rows = rows.resize(size, Image.Resampling.BOX, box)
    return np.asarray(rows.convert("RGBA"))


def _grey(image: Image.Image) -> Image.Image:
    """Of 16 bits or of fractions; Pillow clips such values instead of scaling them."""
    from PIL import Image

    top = 65535.0 if image.mode.startswith("I") else 1.0
    values = np.asarray(image, np.float32)
    return Image.fromarray(np.clip(values / top * 255.0 + 0.5, 0, 255).astype(np.uint8))


def resized(channel: np.ndarray, width: int, height: int) -> np.ndarray:
    """A picture of one channel, (height, width) uint8."""
    from PIL import Image

    if channel.shape == (height, width):
        return channel
    return np.array(
        Image.fromarray(np.ascontiguousarray(channel)).resize((width, height), Image.Resampling.BILINEAR), np.uint8
    )


def find(name: str, folder: Path, references: References) -> Path:
    """The texture file that a model in `folder` means by `name`: beside it, whatever the slashes, the case and the
    percent signs; `ImageError` where it is absent or may not be read."""
    plain = name.replace("\\", "/")
    candidates = [plain, urllib.parse.unquote(plain)]
    tail = plain.rsplit("/", 1)[-1]
    candidates += [tail, f"textures/{tail}"]
    refusal = ""
    for candidate in candidates:
        for path in (folder / candidate, _other_case(folder / candidate)):
            if path is None or not _is_there(path):
                continue
            why = references.refusal(str(path))
            if not why:
                return path
            refusal = refusal or why
    raise ImageError(refusal or "not found")


def _is_there(path: Path) -> bool:
    try:
        return os.access(path, os.R_OK) and not path.is_dir()
    except (OSError, ValueError):
        return False


def _other_case(path: Path) -> Path | None:
    try:
        entries = sorted(os.listdir(path.parent))
    except (OSError, ValueError):
        return None
    for entry in entries:
        if entry.lower() == path.name.lower() and _is_there(path.parent / entry):
            return path.parent / entry
    return None
