"""Texture files and bytes to RGBA8 pixels, by Pillow, inside the importing child process."""

from __future__ import annotations

import io
import os
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .costs import MOST_TIMES
from .references import References

if TYPE_CHECKING:
    from PIL import Image


BYTES = {"1": 1, "L": 1, "P": 1, "I;16": 3, "I;16B": 3, "I;16L": 3}
"""What a pixel takes while it is decoded, of 16 bits with the grey made of it; in all other modes, RGB and LA among
them, Pillow keeps it in 4."""
RGBA = 4
MAX_BYTES = 1 << 30
"""What a picture may take in memory while it is decoded."""
ROWS = 64
SMALLER_FIRST = ("L", "RGB", "RGBA")
"""Modes of pictures that are made smaller before anything else: a quarter of the memory and more."""


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
        with Image.open(io.BytesIO(data) if isinstance(data, bytes) else data) as image:
            size = image.width * image.height * BYTES.get(image.mode, RGBA)
            if size > MAX_BYTES:
                raise ImageError(f"has {image.width} x {image.height} pixels, which is too many")
            if room is not None:
                kept = RGBA * min(image.width, longest_side) * min(image.height, longest_side)
                room.take(max(size, kept), len(data) if isinstance(data, bytes) else data.stat().st_size)
            image.draft("RGB", (longest_side, longest_side))
            if image.mode in SMALLER_FIRST and max(image.size) > longest_side:
                image.thumbnail((longest_side, longest_side), Image.Resampling.BOX)
            pixels = _to_rgba(image, longest_side)
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
    if max(pixels.size) > longest_side:
        pixels.thumbnail((longest_side, longest_side), Image.Resampling.BOX)
    return np.array(pixels, np.uint8)


def _to_rgba(image: Image.Image, longest_side: int) -> Image.Image:
    """Pillow clips 16-bit grey instead of scaling it, so that case is done here, some rows at a time."""
    from PIL import Image

    if image.mode.startswith("I") or image.mode == "F":
        top = 65535.0 if image.mode.startswith("I") else 1.0
        grey = np.empty((image.height, image.width), np.uint8)
        for row in range(0, image.height, ROWS):
            values = np.asarray(image.crop((0, row, image.width, min(row + ROWS, image.height))), np.float32)
            grey[row : row + ROWS] = np.clip(values / top * 255.0 + 0.5, 0, 255).astype(np.uint8)
        image = Image.fromarray(grey)
        if max(image.size) > longest_side:
            image.thumbnail((longest_side, longest_side), Image.Resampling.BOX)
    return image.convert("RGBA")


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
