"""Settings files: TOML to settings and back, with the line of whatever is wrong.

Precedence, weakest first: built-in values, the user's file, the file of `--settings`, the command line. A file says only what it
changes; saving writes only what differs from the built-in values.
"""

from __future__ import annotations

import os
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import platformdirs
import tomli_w

from app.settings import TABLES, Settings, option_groups, set_option
from gpu.settings import OptionError, fields_of

SIZE_LIMIT_BYTES = 1 << 20


class SettingsError(ValueError):
    """A settings file cannot be used: `path`, `line` (0 where the whole file is meant), `key` and a sentence."""

    def __init__(self, path: Path, line: int, key: str, reason: str) -> None:
        super().__init__(f"{path}{f', line {line}' if line else ''}: {reason}")
        self.path, self.line, self.key = path, line, key


def user_file() -> Path:
    """The user's settings file."""
    return Path(platformdirs.user_config_dir("raygrove", appauthor=False)) / "settings.toml"


def load_settings(path: Path, base: Settings | None = None) -> Settings:
    """`base` (default: the built-in values) with what a file changes. Raises SettingsError with file, line, key and what is allowed."""
    text = _read(path)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        number = int(line.group(1)) if line else text.count("\n") + 1
        reason = re.sub(r" \(at .*\)$", "", str(error))
        raise SettingsError(path, number, "", f"this is not TOML: {reason}.") from error
    settings = base or Settings()
    for key, value in leaves(table):
        try:
            settings = set_option(settings, key, value)
        except OptionError as error:
            raise SettingsError(path, line_of(text, key), key, sentence_of(error)) from error
    return settings


def sentence_of(error: OptionError) -> str:
    """The sentence for a key nobody knows, or a value an option does not take."""
    if error.allowed.startswith("the known"):
        return f"there is no setting {error.key}; {error.allowed}."
    return str(error)


def load_user_settings(path: Path | None = None) -> tuple[Settings, str]:
    """The user's settings and a warning. A file that cannot be used is renamed to .bad and the built-in values are taken."""
    path = path or user_file()
    try:
        if not path.exists():
            return Settings(), ""
        return load_settings(path), ""
    except (SettingsError, OSError) as error:
        kept = path.with_suffix(path.suffix + ".bad")
        try:
            os.replace(path, kept)
        except OSError as renaming:
            return Settings(), f"{error} The built-in settings are used; the file could not be renamed ({renaming.strerror})."
        return Settings(), f"{error} The built-in settings are used; the file is kept as {kept}."


def save_settings(settings: Settings, path: Path | None = None) -> Path:
    """Write what differs from the built-in values, atomically. Returns the file's path; OSError where it cannot be written."""
    path = path or user_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            tomli_w.dump(to_table(settings), file)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def to_table(settings: Settings, *, everything: bool = False) -> dict[str, Any]:
    """Nested tables as TOML writes them: what differs from the built-in values, or everything."""
    default = Settings()
    built_in = dict(option_groups(default))
    table: dict[str, Any] = {}
    for name, options in option_groups(settings):
        values = {field.name: getattr(options, field.name) for field in fields_of(options) if getattr(options, field.name) is not None}
        changed = {key: value for key, value in values.items() if everything or value != getattr(built_in[name], key)}
        if changed:
            group, _, rest = name.partition(".")
            place = table.setdefault(group, {})
            (place.setdefault(rest, {}) if rest else place).update({key: _plain(value) for key, value in changed.items()})
    return table


def leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and values of nested tables."""
    for name, value in table.items():
        key = prefix + name
        if isinstance(value, Mapping) and _is_table(key):
            yield from leaves(value, key + ".")
        else:
            yield key, value


def _is_table(key: str) -> bool:
    """Whether settings can go on below a key: only groups, and the named tables inside TABLES; deeper is a wrong value."""
    depth = key.count(".")
    return depth == 0 or (depth == 1 and key.partition(".")[0] in TABLES)


def line_of(text: str, key: str) -> int:
    """The line (from 1) that sets a dotted key, or the nearest table above it; 0 if there is none."""
    best, best_length, header = 0, 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        table = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
        entry = re.match(r"\s*([\w\-.\"' ]+?)\s*=", line)
        if table:
            header = _bare(table.group(1))
            found = header
        elif entry:
            found = (header + "." if header else "") + _bare(entry.group(1))
        else:
            continue
        if (key == found or key.startswith(found + ".")) and len(found) > best_length:
            best, best_length = number, len(found)
    return best


def _bare(name: str) -> str:
    return re.sub(r"[\"' ]", "", name)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _read(path: Path) -> str:
    """The file's text, with a sentence for each way it cannot be had."""
    try:
        if not path.is_file():
            reason = "it is not a file" if path.exists() else "there is no such file"
            raise SettingsError(path, 0, "", f"the settings cannot be read: {reason}.")
        data = path.read_bytes()
    except OSError as error:
        raise SettingsError(path, 0, "", f"the settings cannot be read: {error.strerror}.") from error
    if len(data) > SIZE_LIMIT_BYTES:
        raise SettingsError(path, 0, "", f"a settings file has at most {SIZE_LIMIT_BYTES} bytes, this one {len(data)}.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SettingsError(path, line, "", "the text is not UTF-8.") from error
