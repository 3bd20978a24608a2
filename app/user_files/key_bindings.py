"""Keys that the user has given to commands, kept in keys.toml beside the settings.

A command's name and a list of keys, only where they are not the program's own.
"""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

import tomli_w

from raygrove.app.settings import file as settings_file

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
    """The user's keys. Raises KeysError for a file that cannot be used; that one is then kept as .bad, and the
    program's own keys count."""
    path = path or file_of_user()
    try:
        if not path.exists():
            return {}
        data = path.read_bytes()
        if len(data) > SIZE_LIMIT_BYTES:
            raise KeysError(f"it has {len(data)} bytes, and at most {SIZE_LIMIT_BYTES} are read")
        return {name: _keys(name, value) for name, value in tomllib.loads(data.decode("utf-8")).get("keys", {}).items()}
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error).rstrip(".")
        kept = path.with_suffix(".toml.bad")
        try:
            os.replace(path, kept)
        except OSError:
            raise KeysError(f"{path}: the keys cannot be read: {reason}. The program's own keys count.") from error
        raise KeysError(
            f"{path}: the keys cannot be read: {reason}. The program's own keys count; the file is kept as {kept}."
        ) from error


def save(bindings: Mapping[str, tuple[str, ...]], path: Path | None = None) -> None:
    """Keep the keys, atomically; none at all removes the file. Raises OSError."""
    path = path or file_of_user()
    if not bindings:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            tomli_w.dump({"keys": {name: list(keys) for name, keys in sorted(bindings.items())}}, file)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _keys(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > KEYS_LIMIT or not all(isinstance(key, str) for key in value):
        raise KeysError(f"{name} has a list of at most {KEYS_LIMIT} keys, such as ['Ctrl+K']")
    return tuple(value)
