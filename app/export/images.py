"""Pictures to PNG files, with what they were drawn from as text entries."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from .whole_files import Check, nothing_to_check, write_atomically


def save_png(
    path: Path,
    pixels: np.ndarray,
    text: Mapping[str, str] | None = None,
    check: Check = nothing_to_check,
    palette: np.ndarray | None = None,
) -> None:
    """Write (H, W, 4) uint8 pixels, row 0 on top, sRGB, alpha left out, or with a `palette` (K, 3) uint8 numbers in it,
    (H, W) uint8; `text` becomes the file's text entries, packed. OSError where it cannot be written."""
    from PIL import Image, PngImagePlugin  # a window starts without

    information = PngImagePlugin.PngInfo()
    for key, value in (text or {}).items():
        information.add_itxt(key, value, zip=True)
    if palette is None:
        image = Image.fromarray(np.ascontiguousarray(pixels[:, :, :3]), "RGB")
    else:
        image = Image.fromarray(np.ascontiguousarray(pixels), "P")
        image.putpalette(palette.tobytes())
    write_atomically(path, lambda file: image.save(file, "PNG", pnginfo=information, compress_level=6), check)


def encoded(pixels: np.ndarray, kind: str, quality: int = 88) -> bytes:
    """(H, W, 3) uint8 pixels, sRGB, as the bytes of a JPEG or PNG."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels), "RGB").save(file, kind, quality=quality)
    return file.getvalue()


def read_png(path: Path) -> np.ndarray:
    """The pixels of a picture that `save_png` wrote, (H, W, 4) uint8. Raises OSError."""
    from PIL import Image

    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGBA"))
