"""Bookmarks of cameras, kept from one start to the next in cameras.toml beside the user's settings: a [[bookmark]]
each, with its scene."""

from __future__ import annotations

import dataclasses
import errno
import itertools
import os
import tomllib
from pathlib import Path
from typing import Any

import tomli_w

from raygrove.app.camera.moves import LENS
from raygrove.app.camera.path_options import LONGEST_S, SECONDS, SHORTEST_S
from raygrove.app.document.state import Bookmark, SceneReference
from raygrove.app.settings import file as settings_file
from raygrove.app.settings.kept_files import UnusableFileError, locked, put_aside, read_bytes, write_bytes
from raygrove.gpu.camera import Camera
from raygrove.gpu.settings import OptionError, OptionField, OptionInfo

SIZE_LIMIT_BYTES = 4 << 20
FIELDS = {field.name: field for field in LENS}
TIME = OptionField(
    "seconds",
    float,
    SECONDS,
    OptionInfo("Time from this bookmark to the next one of the path.", SHORTEST_S, LONGEST_S, "s"),
)


class BookmarksError(ValueError):
    """The file of bookmarks cannot be used; the message is a sentence."""


def file_of_user() -> Path:
    """Where the user's bookmarks are."""
    return settings_file.user_file().with_name("cameras.toml")


def scene_key(reference: SceneReference) -> str:
    """How a scene is told from others: its kind and its first name, a file's with its whole path. Bytes of a name that
    are no UTF-8, which TOML cannot hold, are written out."""
    if reference.kind == "none" or not reference.names:
        return ""
    name = os.path.abspath(reference.names[0]) if reference.kind == "files" else reference.names[0]
    return f"{reference.kind}:{os.fsencode(name).decode('utf-8', 'backslashreplace')}"


def load(reference: SceneReference, path: Path | None = None) -> tuple[Bookmark, ...]:
    """The bookmarks of a scene. Raises BookmarksError for a file that cannot be used; that one is then
    kept as .bad, or left as it is where it cannot be read at all."""
    key = scene_key(reference)
    return tuple(bookmark for scene, bookmark in _read(path or file_of_user()) if scene == key)


def save(
    reference: SceneReference,
    bookmarks: tuple[Bookmark, ...],
    path: Path | None = None,
    before: tuple[Bookmark, ...] | None = None,
) -> tuple[Bookmark, ...]:
    """Keep the bookmarks of a scene beside those of the others, atomically, and return them under the names that they
    are kept by. With those that this program had `before`, what another program has kept of the scene meanwhile stays,
    too. Raises OSError and BookmarksError."""
    path, key = path or file_of_user(), scene_key(reference)
    if not key:
        return bookmarks
    with locked(path):
        there, kept = _read(path), bookmarks
        if before is not None:
            kept = merged(before, bookmarks, tuple(one for scene, one in there if scene == key))
        entries = [(scene, one) for scene, one in there if scene != key] + [(key, one) for one in kept]
        write_bytes(path, tomli_w.dumps({"bookmark": [_table(scene, one) for scene, one in entries]}).encode())
    names = [one.name for one in kept[: len(bookmarks)]]
    return tuple(dataclasses.replace(one, name=name) for one, name in zip(bookmarks, names, strict=True))


def merged(
    before: tuple[Bookmark, ...], after: tuple[Bookmark, ...], there: tuple[Bookmark, ...]
) -> tuple[Bookmark, ...]:
    """A program's bookmarks after a change, with what another one has made of those that it had `before`: what was
    changed `there` and not here is as it is there, and what was added there follows. What is new here gets a free name
    where the other has taken its own: the other one knows its bookmarks by their names. Nothing is taken away for being
    gone there: a file that was put aside has none."""
    known, theirs = {one.name: one for one in before}, {one.name: one for one in there}
    added = [one for one in there if one.name not in known and one not in after]
    foreign = {one.name for one in added}
    taken, result = foreign | {one.name for one in after}, list[Bookmark]()
    for one in after:
        mine = one
        if known.get(one.name) == one:
            mine = theirs.get(one.name, one)
        elif one.name in foreign:
            numbered = (f"{one.name} ({number})" for number in itertools.count(2))
            mine = dataclasses.replace(one, name=next(name for name in numbered if name not in taken))
            taken.add(mine.name)
        result.append(mine)
    return (*result, *added)


def read(path: Path) -> tuple[Bookmark, ...]:
    """The bookmarks of a file, whatever scenes they are of: it is left as it is. Raises BookmarksError and OSError."""
    try:
        return tuple(bookmark for _, bookmark in _entries(path))
    except (ValueError, RecursionError) as error:
        raise BookmarksError(f"{path}: the bookmarks in it cannot be used: {str(error).rstrip('.')}.") from error


def _table(scene: str, bookmark: Bookmark) -> dict[str, Any]:
    values = dataclasses.asdict(bookmark.camera)
    return {
        "scene": scene,
        "name": bookmark.name,
        "seconds": bookmark.seconds,
        **{name: list(value) if isinstance(value, tuple) else value for name, value in values.items()},
    }


def _read(path: Path) -> list[tuple[str, Bookmark]]:
    try:
        return _entries(path)
    except FileNotFoundError:
        return []
    except (OSError, UnusableFileError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BookmarksError(
            f"{path}: the bookmarks cannot be read: {reason}. It is left as it is; bookmarks are not kept meanwhile."
        ) from error
    except (ValueError, RecursionError) as error:
        reason = str(error).rstrip(".")
        try:
            kept = put_aside(path)
        except OSError:
            raise BookmarksError(f"{path}: the bookmarks cannot be read: {reason}.") from error
        raise BookmarksError(
            f"{path}: the bookmarks cannot be read: {reason}. The file is kept as {kept}; new bookmarks begin a "
            f"new one."
        ) from error


def _entries(path: Path) -> list[tuple[str, Bookmark]]:
    data = read_bytes(path, SIZE_LIMIT_BYTES)
    if data is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    entries = tomllib.loads(data.decode("utf-8")).get("bookmark", [])
    if not isinstance(entries, list):
        raise BookmarksError("a bookmark is a table [[bookmark]]")
    return [_bookmark(entry) for entry in entries]


def _bookmark(entry: object) -> tuple[str, Bookmark]:
    if (
        not isinstance(entry, dict)
        or not isinstance(entry.get("scene", ""), str)
        or not isinstance(entry.get("name"), str)
    ):
        raise BookmarksError("a bookmark is a table with a name, and its scene is a text")
    seconds = TIME.checked(entry.get("seconds", SECONDS))
    values = {name: value for name, value in entry.items() if name not in ("scene", "name", "seconds")}
    for name in values:
        if name not in FIELDS:
            raise OptionError(name, values[name], "the known names of a bookmark are " + ", ".join(FIELDS))
    camera = Camera(**{name: FIELDS[name].checked(value) for name, value in values.items()})
    return entry.get("scene", ""), Bookmark(entry["name"], camera, seconds)
