"""Races in files, race.toml: what the command line says, to be kept; what is typed is stronger.

demo = "walker"                                  # or: files = ["fox.glb"], named from the file's own folder
contestants = ["lbvh@refit", "hploc/bvh4@auto"]
frames = "0:48"                                  # also rays, size, ray_type, repeat, seed, device, camera, time, fps
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from raygrove.app.cli import values
from raygrove.app.problems.problems import UsageError
from raygrove.app.scene_io.references import References
from raygrove.app.settings.ray_options import file_of
from raygrove.app.settings.toml_files import TomlFileError, read_toml

ENDING = ".toml"
LONGEST = 1 << 20
"""Bytes of a file, at most."""
READ: dict[str, Callable[[str], Any]] = {
    "demo": str,
    "device": str,
    "ray_type": str,
    "camera": str,
    "seed": str,
    "fps": str,
    "threads": str,
    "size": values.size,
    "frames": values.frames,
    "time": values.seconds,
    "eye": values.vector,
    "look_at": values.vector,
    "up": values.vector,
    "fov": values.degrees,
    "orthographic": values.height,
    "repeat": values.count(1),
}
"""The flags that a file may say, by their names, and how each is read."""
EITHER = (("frames", "time"), ("fov", "orthographic"))
"""Flags of which one goes alone: where one is typed, the file's other one is not taken."""


def taken_from(names: argparse.Namespace) -> None:
    """Where FILE is a race.toml, take from it what the command line does not say. Raises UsageError."""
    named = [name for name in names.files if name.lower().endswith(ENDING)]
    if not named:
        return
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)}: one file says what is raced.")
    path = Path(named[0])
    table = _read(path)
    unknown = [key for key in table if key not in (*READ, "contestants", "files", "trees", "rays")]
    if unknown:
        known = ", ".join(("contestants", "files", "trees", "rays", *READ))
        raise UsageError(f"{path}: there is no {unknown[0]!r} in a race; it has {known}.")
    for first, second in EITHER:
        if first in table and second in table:
            raise UsageError(f"{path}: a race has {first} or {second}, not both.")
    names.files = [name for name in names.files if name not in named]
    names.race_file = (path, [key for key in table if key != "files" and getattr(names, key) in (None, [], ())])
    if not names.files and names.demo is None:
        names.files = files_named(path, "files", _texts(path, table, "files"), names)
    if names.rays is None and "rays" in table:
        names.rays = _rays(path, table["rays"], names)
    if not names.trees and "trees" in table:
        names.trees = _trees(path, table["trees"], names)
    if not names.contestants:
        names.contestants = tuple(_texts(path, table, "contestants"))
    said = {key for key in READ if getattr(names, key) is not None}
    passed_over = {one for pair in EITHER if said & set(pair) for one in pair}
    for key in table:
        if key in READ and key not in (*said, *passed_over) and (key != "demo" or not names.files):
            setattr(names, key, _value(path, key, table[key], READ[key]))


@contextlib.contextmanager
def said_by_its_key(names: argparse.Namespace) -> Iterator[None]:
    """While it lasts, what is wrong with a value of a race.toml is told by the file and its key, not by the flag that
    would say the same."""
    try:
        yield
    except UsageError as error:
        path, taken = getattr(names, "race_file", ("", ()))
        text = str(error)
        for key in taken:
            flag = "tree" if key == "trees" else key.replace("_", "-")
            text = re.sub(rf"--{flag}(?![\w-])", key, text)
        if text == str(error):
            raise
        raise UsageError(f"{path}: {text}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path, "race", LONGEST)
    except TomlFileError as error:
        raise UsageError(str(error)) from error


def files_named(path: Path, key: str, files: Sequence[str], names: argparse.Namespace) -> list[str]:
    """The files that another one names under `key`, by the program's rule: regular files in its own folder."""
    folder, found = path.parent, []
    references = References(str(folder), names.allow_outside is not None)
    for name in files:
        place = os.path.join(folder, name)
        try:
            refusal = references.refusal(place)
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: {key} names {name}, which is not there.") from error
        if refusal:
            ways = " (--allow-outside allows it)" if "outside" in refusal else ""
            raise UsageError(f"{path}: {key} names {name}, {refusal.replace('the model', 'this file')}{ways}.")
        found.append(place)
    return found


def _rays(path: Path, text: Any, names: argparse.Namespace) -> str:
    """Rays of a file, or of a sensor as it is spelt."""
    if not isinstance(text, str) or not text:
        raise UsageError(f'{path}: rays is a text, as rays = "rays.npz", or "lidar:rows=32:node=head".')
    return files_named(path, "rays", [text], names)[0] if file_of(text) else text


def _trees(path: Path, table: Any, names: argparse.Namespace) -> list[tuple[str, str]]:
    """Trees of files by the names under which they take part."""
    if not isinstance(table, dict) or not all(isinstance(file, str) and file for file in table.values()):
        raise UsageError(f'{path}: trees is a table of files by names, as trees.theirs = "theirs.rgtree".')
    files = files_named(path, "trees", list(table.values()), names)
    try:
        return [values.named_file(f"{name}={file}") for name, file in zip(table, files, strict=True)]
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"{path}: trees: {error}.") from error


def _texts(path: Path, table: dict[str, Any], key: str) -> list[str]:
    texts = table.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise UsageError(f'{path}: {key} is a list of texts, as {key} = ["a", "b"].')
    return texts


def _value(path: Path, key: str, value: Any, read: Callable[[str], Any]) -> Any:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise UsageError(f"{path}: {key} is a text or a number, as on the command line.")
    try:
        return read(str(value))
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"{path}: {key}: {error}.") from error
