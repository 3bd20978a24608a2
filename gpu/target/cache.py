"""The folder of compiled units: a file a key, written under a temporary name and renamed, so that it is whole or absent."""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Callable


def cache_folder() -> pathlib.Path:
    """Where compiled units are kept: RAYGROVE_CACHE, or the user's cache folder; made where it is missing."""
    named = os.environ.get("RAYGROVE_CACHE")
    base = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = pathlib.Path(named) if named else base / "raygrove"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    except OSError:
        fallback = pathlib.Path(tempfile.gettempdir()) / f"raygrove-{os.getuid()}"
        fallback.mkdir(mode=0o700, exist_ok=True)
        return fallback


def cached_file(key: str, suffix: str, make: Callable[[pathlib.Path], None]) -> pathlib.Path:
    """The file of `key`; where it is missing, `make` writes it under a temporary name."""
    path = cache_folder() / (key + suffix)
    if not path.exists():
        handle, name = tempfile.mkstemp(suffix=suffix, dir=path.parent)
        os.close(handle)
        temporary = pathlib.Path(name)
        try:
            make(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    return path
