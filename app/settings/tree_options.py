"""Trees of files that a scene is shown with, each a structure by the name that it is given."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from raygrove.gpu.errors import Error
from raygrove.gpu.settings import OptionError, option

FILES = "trees.files"
LATEST_S = 1e9

Entry = TypeVar("Entry")


@dataclasses.dataclass(frozen=True)
class TreeOptions:
    """Trees of files over the scene (docs/trees.md)."""

    files: str = option(
        "",
        "Trees of files over the scene, NAME=FILE with semicolons between them, from the settings file's own folder: "
        "each is a structure called NAME.",
    )
    time: float = option(
        0.0, "The instant of the scene that they were made over.", minimum=0.0, maximum=LATEST_S, unit="s"
    )


def trees_of(options: TreeOptions) -> dict[str, str]:
    """The files by their names."""
    return _named(options.files)


def with_tree(options: TreeOptions, name: str, path: str, time: float) -> TreeOptions:
    """The same with one more, or another file of that name."""
    return TreeOptions(_text(trees_of(options) | {name: path}), time)


def from_folder(text: str, folder: Path) -> str:
    """The same with every file as it is called from anywhere; what is no list of files stays."""
    try:
        named = _named(text)
    except OptionError:
        return text
    return _text({name: os.path.normpath(folder / path) for name, path in named.items()})


def checked_files(text: str) -> str:
    """Files as settings keep them; from here on their names are structures. Raises OptionError."""
    named = _named(text)
    if not named:
        return ""
    from raygrove.gpu.face.given_trees import expect_tree  # with the first tree, not with the program

    for name in named:
        try:
            expect_tree(name)
        except (Error, ValueError) as error:
            raise OptionError(FILES, text, f"NAME=FILE with another name; {str(error).rstrip('.')}") from error
    return _text(named)


def named_first(entries: Iterable[tuple[str, Entry]]) -> list[Entry]:
    """Entries of settings, by their keys, in an order in which they can be set: other settings name trees."""
    return [entry for _, entry in sorted(entries, key=lambda pair: pair[0] != FILES)]


def _named(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, sign, path = (word.strip() for word in part.partition("="))
        if not (name and sign and path) or name in found:
            raise OptionError(FILES, text, "NAME=FILE, with semicolons between several, each name once")
        found[name] = path
    return found


def _text(named: dict[str, str]) -> str:
    return "; ".join(f"{name}={path}" for name, path in named.items())


CHECKS = {FILES: checked_files}
"""What the types of options do not say, by their keys."""
