"""Keys that the user has given to commands, kept in keys.toml beside the settings.

A command's name and a list of keys, only where they are not the program's own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import tomli_w

from raygrove.app.settings import file as settings_file
from raygrove.app.settings.kept_files import UnusableFileError, locked, put_aside, read_bytes, write_bytes

SIZE_LIMIT_BYTES = 1 << 20
KEYS_LIMIT = 4

Bindings = dict[str, tuple[str, ...]]
"""The keys of each command, by its name; no key is an empty tuple."""


class KeysError(ValueError):
    """The file of keys cannot be used; the message is a sentence."""


def file_of_user() -> Path:
    """Where the user's keys are."""
    return settings_file.user_file().with_name("keys.toml")


def load(path: Path | None = None) -> Bindings:
    """The user's keys. Raises KeysError for a file that cannot be used; that one is then kept as .bad, or left as
    it is where it cannot be read at all, and the program's own keys count."""
    path = path or file_of_user()
    try:
        data = read_bytes(path, SIZE_LIMIT_BYTES)
        if data is None:
            return {}
        return {name: _keys(name, value) for name, value in tomllib.loads(data.decode("utf-8")).get("keys", {}).items()}
    except (OSError, UnusableFileError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise KeysError(
            f"{path}: the keys cannot be read: {reason}. The program's own keys count; the file is left as it is."
        ) from error
    except (ValueError, AttributeError, RecursionError) as error:
        reason = str(error).rstrip(".")
        try:
            kept = put_aside(path)
        except OSError:
            raise KeysError(f"{path}: the keys cannot be read: {reason}. The program's own keys count.") from error
        raise KeysError(
            f"{path}: the keys cannot be read: {reason}. The program's own keys count; the file is kept as {kept}."
        ) from error


def save(changes: Mapping[str, tuple[str, ...] | None], path: Path | None = None) -> None:
    """Keep other keys of these commands, atomically, beside what the file says of others; None stands for the program's
    own. No keys at all remove the file. Raises OSError and KeysError, of a file that cannot be read as `load` does."""
    path = path or file_of_user()
    with locked(path):
        kept = {name: keys for name, keys in {**load(path), **changes}.items() if keys is not None}
        if kept:
            table = {"keys": {name: list(keys) for name, keys in sorted(kept.items())}}
            write_bytes(path, tomli_w.dumps(table).encode())
        else:
            path.unlink(missing_ok=True)


def remove(path: Path | None = None) -> None:
    """The program's own keys for all commands, and what the file says of others is gone. Raises OSError."""
    path = path or file_of_user()
    with locked(path):
        path.unlink(missing_ok=True)


def _keys(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > KEYS_LIMIT or not all(isinstance(key, str) for key in value):
        raise KeysError(f"{name} has a list of at most {KEYS_LIMIT} keys, such as ['Ctrl+K']")
    return tuple(value)
