"""Files of TOML that people write beside their settings: races, lessons, plans of sweeps."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from raygrove.app.settings.kept_files import UnusableFileError, read_bytes


class TomlFileError(ValueError):
    """A file that cannot be had as TOML: the message is a sentence with its path."""


def read_toml(path: Path, what: str, limit: int) -> dict[str, Any]:
    """The table of a file that should be a `what`. No more than `limit` bytes are read, and nobody is waited for who
    might write into a pipe. Raises TomlFileError."""
    try:
        data = read_bytes(path, limit)
    except UnusableFileError as error:
        raise TomlFileError(f"{path} is no {what}: {error}.") from error
    except OSError as error:
        raise TomlFileError(f"{path} cannot be read: {error.strerror}.") from error
    if data is None:
        raise TomlFileError(f"{path}: there is no such file.")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TomlFileError(f"{path} is no TOML: {error}.") from error
