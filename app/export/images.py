"""Pictures to PNG files. A file appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image, PngImagePlugin


def save_png(path: Path, pixels: np.ndarray, text: dict[str, str] | None = None) -> None:
    """Write (H, W, 4) uint8 pixels, row 0 on top, sRGB, alpha left out; `text` becomes the file's text entries. OSError where it cannot be
    written."""
    information = PngImagePlugin.PngInfo()
    for key, value in (text or {}).items():
        information.add_itxt(key, value)
    image = Image.fromarray(np.ascontiguousarray(pixels[:, :, :3]), "RGB")
    write_atomically(path, lambda file: image.save(file, "PNG", pnginfo=information, compress_level=6))


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it. Nothing is left behind where that fails; the OSError names `path`."""
    try:
        with _temporary(path) as (file, name):
            write(file)
            file.flush()
            os.replace(name, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


@contextlib.contextmanager
def _temporary(path: Path) -> Iterator[tuple[IO[bytes], str]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            os.chmod(name, 0o666 & ~_umask())
            yield file, name
    finally:
        Path(name).unlink(missing_ok=True)


def _umask() -> int:
    """The process's mask for new files; it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
