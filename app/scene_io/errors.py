"""The one error of this room: a sentence that names the file, the place, the reason and what to do."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from raygrove.printable import printable, printable_lines


def without_call(error: Exception) -> str:
    """What an error of the library says, without the call that it was in (rg.NAME) and a full stop: who looks at a
    window or types a command has called nothing."""
    return re.sub(r"^rg\.[\w.]+: ", "", str(error)).rstrip(".")


class SceneError(Exception):
    """A scene that cannot be had. `str()` is a sentence to show; `path` is the file it speaks of ("" for none)."""

    def __init__(self, message: str, path: str | os.PathLike[str] = "") -> None:
        super().__init__(printable_lines(message))
        self.path = os.fspath(path)


class TreeOfSceneError(SceneError):
    """A file of a tree that cannot be had over a scene, which is as it was."""


class RefusedError(SceneError):
    """A file that libassimp refused without a reason that can be shown: another reader may take it."""


class RareFormatError(SceneError):
    """Files of a rare format, which are opened only when that is asked for. `trust` is the setting of `import` that
    does, and the files."""

    def __init__(self, message: str, path: str, paths: Sequence[str]) -> None:
        super().__init__(message, path)
        self.trust = ("all_formats", tuple(paths))


class OutsideError(SceneError):
    """A saved picture, or a model that cannot be read without, names files outside its folder. `trust` as of
    `RareFormatError`."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message, path)
        self.trust: tuple[str, tuple[str, ...]] = ("allow_outside", (path,))


class CrashedError(SceneError):
    """The reader ended by a signal."""


class ImportCancelled(SceneError):  # noqa: N818 - it is no error of the file
    """The caller asked to stop; nothing is wrong with the file."""


def display_path(path: str | os.PathLike[str]) -> str:
    """A path as a person can read it: what no terminal should obey is escaped (printable.py), what is very long is
    shortened in the middle."""
    text = printable(os.fspath(path))
    return text if len(text) <= 160 else f"{text[:70]}...{text[-80:]}"
