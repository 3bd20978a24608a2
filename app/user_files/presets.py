"""Presets: settings kept under a name, a TOML file each in the folder `presets` beside the user's settings file.

A preset says what differs from the built-in values and stands for all settings: loading one gives exactly what was
saved. The files are made to be passed on; `--settings FILE` takes them too, there on top of the user's own settings.
Presets "as published" (published.py) are loaded by their names, too, and cannot be changed.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
from pathlib import Path

from raygrove.app.document.saved_state import OWN
from raygrove.app.settings.file import SettingsError, load_settings, save_settings, user_file
from raygrove.app.settings.meister_env import ENDING, load_environment
from raygrove.app.settings.older import Older
from raygrove.app.settings.settings import Settings
from raygrove.app.user_files.published import PREFIX, PUBLISHED

NAME = re.compile(r"[^\W_][\w .+-]{0,62}[\w+-]|[^\W_]")
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


class PresetError(ValueError):
    """A name that no preset can have, or a preset that is not there; the message is a sentence."""


def folder() -> Path:
    """Where the presets are."""
    return user_file().with_name("presets")


def names() -> list[str]:
    """The presets there are, in alphabetical order."""
    try:
        files = [path for path in folder().iterdir() if path.suffix == ".toml" and path.is_file()]
    except OSError:
        return []
    return sorted((path.stem for path in files if NAME.fullmatch(path.stem)), key=str.casefold)


def path_of(name: str) -> Path:
    """The file of a preset. Raises PresetError for a name that is none, and for one of those as published."""
    if name.startswith(PREFIX):
        raise PresetError(f"{name!r} is a preset as published: it is kept as it is. Save yours under another name.")
    if not NAME.fullmatch(name) or RESERVED.fullmatch(name):
        allowed = "letters, digits, blanks, and . _ + - inside; at most 64, beginning with a letter or digit"
        raise PresetError(f"{name!r} cannot be the name of a preset: it takes {allowed}.")
    return folder() / f"{name}.toml"


def save(name: str, settings: Settings) -> Path:
    """Keep settings under a name, atomically; one of that name is replaced. Raises PresetError and OSError."""
    path = path_of(name)
    save_settings(settings, path)
    return path


def load(name: str, older: Older | None = None) -> Settings:
    """The settings kept under a name, or published ones; `older` gets what is said in words of older versions. Raises
    PresetError and SettingsError."""
    if name in PUBLISHED:
        return PUBLISHED[name].settings
    known = [*names(), *PUBLISHED]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    path = None if name.startswith(PREFIX) else path_of(name)
    if path is None or not path.exists():
        raise PresetError(f"there is no preset {name!r}; there are {', '.join(near or known)}.")
    return load_settings(path, older=older)


def delete(name: str) -> None:
    """Remove a preset. Raises PresetError and OSError."""
    path_of(name).unlink()


def load_file(path: str, present: Settings) -> tuple[Settings, tuple[str, ...]]:
    """The settings of a file that somebody gave: TOML stands for all settings but the limits of imports, which protect
    this machine; Meister's .env changes `present`. With the sentences about what could not be used, or is said in words
    of older versions. Raises SettingsError."""
    if path.lower().endswith(ENDING):
        found = load_environment(Path(path), present)
        return found.settings, found.remarks
    older = Older()
    settings = load_settings(Path(path), older=older)
    limits = {name: getattr(present.importer, name) for name in OWN}
    return dataclasses.replace(settings, importer=dataclasses.replace(settings.importer, **limits)), tuple(
        older.sentences
    )


def is_settings_file(path: str) -> bool:
    """Whether a file's name says that it holds settings."""
    return os.path.splitext(path)[1].lower() in (".toml", ENDING) or os.path.basename(path).lower() == ENDING


__all__ = [
    "PresetError",
    "SettingsError",
    "delete",
    "folder",
    "is_settings_file",
    "load",
    "load_file",
    "names",
    "path_of",
    "save",
]
