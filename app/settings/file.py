"""Settings files: TOML to settings and back, with the line of whatever is wrong.

Precedence, weakest first: built-in values, the user's file, the file of `--settings`, the command line. A file says
only what it changes; saving writes only what differs from the built-in values, into the text that is there.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import platformdirs

from raygrove.app.settings import ray_options
from raygrove.app.settings.kept_files import UnusableFileError, locked, put_aside, read_bytes, write_bytes
from raygrove.app.settings.older import Entry, Older, renewed, was_option
from raygrove.app.settings.settings import KEPT, TABLES, Settings, edit_groups, option_field, option_groups, set_option
from raygrove.app.settings.text import merged_text
from raygrove.app.settings.tree_options import FILES as TREES
from raygrove.app.settings.tree_options import from_folder, named_first
from raygrove.gpu.settings import OptionError, fields_of

SIZE_LIMIT_BYTES = 1 << 20


class SettingsError(ValueError):
    """A settings file cannot be used: `path`, `line` (0 where the whole file is meant), `key` and a sentence."""

    def __init__(self, path: Path, line: int, key: str, reason: str) -> None:
        super().__init__(f"{path}{f', line {line}' if line else ''}: {reason}")
        self.path, self.line, self.key = path, line, key


def user_file() -> Path:
    """The user's settings file; a user without a home has one among the temporary files, in a folder that nobody else
    can change. Raises NotPrivateError where there cannot be such a folder."""
    try:
        folder = Path(platformdirs.user_config_dir("raygrove", appauthor=False))
    except RuntimeError:
        from raygrove.gpu.target.private_folders import temporary_folder

        folder = temporary_folder()
    return folder / "settings.toml"


def load_settings(
    path: Path, base: Settings | None = None, skipped: list[str] | None = None, older: Older | None = None
) -> Settings:
    """`base` (default: the built-in values) with what a file changes. Raises SettingsError with file, line, key and
    what is allowed; with a list
    `skipped`, a wrong entry is left out and its sentence goes there instead. `older` gets what is said in words of
    older versions."""
    return settings_of(read_text(path), path, base, skipped, older)


def settings_of(
    text: str, path: Path, base: Settings | None = None, skipped: list[str] | None = None, older: Older | None = None
) -> Settings:
    """`base` with what a text in TOML changes; errors speak of `path`, from where the text is."""
    found = renewed(
        base or Settings(),
        [Entry(key, _from_folder(key, value, path), key) for key, value in leaves(_parsed(text, path))],
    )
    settings = found.settings
    if older is not None:
        older.sentences += [
            str(SettingsError(path, line_of(text, key), key, sentence)) for key, sentence in found.remarks
        ]
        older.structures |= found.structures
    for entry in named_first((entry.key, entry) for entry in found.entries):
        try:
            settings = set_option(settings, entry.key, entry.value)
        except OptionError as error:
            wrong = SettingsError(path, line_of(text, entry.place), entry.place, sentence_of(error))
            if skipped is None:
                raise wrong from error
            skipped.append(str(wrong))
    return settings


def sentence_of(error: OptionError) -> str:
    """The sentence for a key nobody knows, or a value an option does not take."""
    if error.allowed.startswith("the known"):
        return f"there is no setting {error.key}; {error.allowed}."
    return str(error)


def load_user_settings(path: Path | None = None) -> tuple[Settings, str]:
    """The user's settings and a warning, a line per entry. A wrong entry is left out and stays in the file, one in
    older words is used; a file that cannot be read as settings at all is renamed to .bad, and the built-in values are
    taken."""
    found, warning = find_user_settings(path)
    return Settings() if found is None else found, warning


def find_user_settings(path: Path | None = None) -> tuple[Settings | None, str]:
    """The same, with None where there is no file, or none that can be read as settings."""
    path = path or user_file()
    skipped: list[str] = []
    older = Older()
    try:
        if not path.exists():
            return None, ""
        settings = load_settings(path, None, skipped, older)
    except OSError as error:
        return None, f"{path}: {error.strerror}. The built-in settings are used; correct the file's permissions."
    except SettingsError as error:
        if isinstance(error.__cause__, OSError):
            return None, f"{error} The built-in settings are used; correct the file's permissions."
        if isinstance(error.__cause__, UnusableFileError):
            return None, f"{error} The built-in settings are used; it is left as it is."
        try:
            kept = put_aside(path)
        except OSError as renaming:
            return (
                None,
                f"{error} The built-in settings are used; the file could not be renamed ({renaming.strerror}).",
            )
        return None, f"{error} The built-in settings are used; the file is kept as {kept}."
    return settings, "\n".join([*(f"{sentence} The entry is not used." for sentence in skipped), *older.sentences])


def save_settings(settings: Settings | Callable[[], Settings], path: Path | None = None) -> str:
    """Write what differs from the built-in values, atomically; comments and unknown keys of the file that is there
    stay. A function is asked for the settings once no other program writes the file. Returns a sentence where something
    of it was lost, else an empty text; OSError where it cannot be written."""
    path = Path(os.path.realpath(path or user_file()))
    path.parent.mkdir(parents=True, exist_ok=True)
    old, lost = "", ""
    with locked(path):
        wanted = settings if isinstance(settings, Settings) else settings()
        try:
            old = read_text(path) if path.exists() else ""
        except SettingsError as error:
            if isinstance(error.__cause__, OSError):  # it may be whole, and is left as it is
                raise OSError(
                    error.__cause__.errno, f"it cannot be read: {error.__cause__.strerror}", str(path)
                ) from error
            if isinstance(error.__cause__, UnusableFileError):
                raise OSError(
                    errno.EINVAL, f"what stands there is left as it is: {error.__cause__}", str(path)
                ) from error
            lost = f"{error} It was written anew."
            with contextlib.suppress(OSError):
                lost = f"{error} It was written anew; the old one is kept as {put_aside(path)}."
        text, dropped = merged_text(old, dict(leaves(to_table(wanted))), is_known)
        try:
            data = text.encode()
        except UnicodeEncodeError as error:  # a path by bytes
            raise OSError(
                errno.EILSEQ, "A name in the settings is not UTF-8, which TOML cannot hold", str(path)
            ) from error
        write_bytes(path, data)
    return lost or dropped


def overridden(own: Settings, started: Settings) -> dict[str, Any]:
    """The keys that a start with --settings or flags set otherwise than the user's own settings, with the values they
    got."""
    before, now = (dict(leaves(to_table(settings, everything=True))) for settings in (own, started))
    return {key: value for key, value in now.items() if before.get(key) != value}


def to_keep(settings: Settings, own: Settings, overrides: Mapping[str, Any]) -> tuple[Settings, list[str]]:
    """The settings as the user's file should have them: what only --settings or a flag said, and was not changed since,
    stays as in `own`. With the keys that were left so."""
    now, before = (dict(leaves(to_table(one, everything=True))) for one in (settings, own))
    left = [key for key, value in overrides.items() if now.get(key) == value and before.get(key) != value]
    for key in left:
        settings = without(settings, key) if key not in before else set_option(settings, key, before[key])
    return settings, left


def without(settings: Settings, key: str) -> Settings:
    """The settings without a value that is only kept."""
    kept = {name: value for name, value in settings.meister.items() if f"{KEPT}.{name}" != key}
    return dataclasses.replace(settings, meister=kept)


def is_known(key: str) -> bool:
    """Whether a dotted key is a setting of this program, or was one."""
    try:
        return key.startswith(f"{KEPT}.") or was_option(key) or bool(option_field(key))
    except OptionError:
        return False


def settings_text(settings: Settings) -> str:
    """What differs from the built-in values, as a new file says it."""
    return merged_text("", dict(leaves(to_table(settings))), is_known)[0]


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        number = int(line.group(1)) if line else text.count("\n") + 1
        reason = re.sub(r" \(at .*\)$", "", str(error))
        raise SettingsError(path, number, "", f"this is not TOML: {reason}.") from error
    except RecursionError as error:
        raise SettingsError(
            path, 0, "", "this is not a settings file: its lists or tables lie too deep in one another."
        ) from error
    except ValueError as error:  # a number of more digits than Python reads
        raise SettingsError(path, 0, "", f"this is not a settings file: {error}.") from error


def _from_folder(key: str, value: Any, path: Path) -> Any:
    """A scene, trees or rays that a file names are meant from the file's own folder."""
    if key == ray_options.MEASURED and isinstance(value, str):
        return ray_options.from_folder(value, path.absolute().parent)
    if key == TREES and isinstance(value, str):
        return from_folder(value, path.absolute().parent)
    if key == "start.scene" and isinstance(value, str) and value:
        return os.path.normpath(os.path.join(path.absolute().parent, value))
    return value


def to_table(settings: Settings, *, everything: bool = False) -> dict[str, Any]:
    """Nested tables as TOML writes them: what differs from the built-in values, or everything."""
    built_in = dict(option_groups(Settings()))
    table: dict[str, Any] = {}
    for name, options in (*option_groups(settings), *edit_groups(settings)):
        values = {
            field.name: getattr(options, field.name)
            for field in fields_of(options)
            if getattr(options, field.name) is not None
        }
        changed = {
            key: value
            for key, value in values.items()
            if everything or value != getattr(built_in.get(name) or type(options)(), key)
        }
        if changed:
            group, _, rest = name.partition(".")
            place = table.setdefault(group, {})
            (place.setdefault(rest, {}) if rest else place).update(
                {key: _plain(value) for key, value in changed.items()}
            )
    return table | ({KEPT: dict(settings.meister)} if settings.meister else {})


def leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and values of nested tables."""
    for name, value in table.items():
        key = prefix + name
        if isinstance(value, Mapping) and _is_table(key):
            yield from leaves(value, key + ".")
        else:
            yield key, value


def _is_table(key: str) -> bool:
    """Whether settings can go on below a key: only groups, and the named tables inside TABLES; deeper is a wrong
    value."""
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


def read_text(path: Path) -> str:
    """The file's text, with a sentence for each way it cannot be had."""
    try:
        data = read_bytes(path, SIZE_LIMIT_BYTES)
    except OSError as error:
        raise SettingsError(path, 0, "", f"the settings cannot be read: {error.strerror}.") from error
    except UnusableFileError as error:
        raise SettingsError(path, 0, "", f"the settings cannot be read: {error}.") from error
    if data is None:
        raise SettingsError(path, 0, "", "the settings cannot be read: there is no such file.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SettingsError(path, line, "", "the text is not UTF-8.") from error
