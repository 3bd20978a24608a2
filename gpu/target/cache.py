"""The folder of compiled units: a file a key, written under a temporary name and renamed, so that it is whole or absent."""

from __future__ import annotations

import errno
import os
import pathlib
import stat
import tempfile
from collections.abc import Callable

_REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS)


def cache_folder() -> pathlib.Path:
    """Where compiled units are kept: RAYGROVE_CACHE, or the user's cache folder; made where it is missing. Where it cannot be made, a folder for
    this user alone among the temporary files."""
    try:
        folder = _wanted_folder()
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    except (OSError, RuntimeError):  # RuntimeError: this user has no home
        return _temporary_folder()


def cached_file(key: str, suffix: str, make: Callable[[pathlib.Path], None]) -> pathlib.Path:
    """The file of `key`; where it is missing, `make` writes it under a temporary name. A cache that can only be read is read, and what it lacks is
    written among the temporary files."""
    path = cache_folder() / (key + suffix)
    if path.exists():
        return path
    try:
        return _made(path, make)
    except OSError as error:
        if error.errno not in _REFUSALS:
            raise
    path = _temporary_folder() / path.name
    return path if path.exists() else _made(path, make)


def _wanted_folder() -> pathlib.Path:
    named = os.environ.get("RAYGROVE_CACHE")
    if named:
        return pathlib.Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (pathlib.Path(base) if base else pathlib.Path.home() / ".cache") / "raygrove"


def _temporary_folder() -> pathlib.Path:
    """A folder that only this user can write: libraries are loaded from it, so one that another user has put there is not taken."""
    folder = pathlib.Path(tempfile.gettempdir()) / f"raygrove-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022:
        return folder
    return pathlib.Path(tempfile.mkdtemp(prefix="raygrove-"))


def _made(path: pathlib.Path, make: Callable[[pathlib.Path], None]) -> pathlib.Path:
    handle, name = tempfile.mkstemp(suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = pathlib.Path(name)
    try:
        make(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
