"""Readers of other packages: functions behind the entry points of the group `raygrove.readers`.

An entry point has the ending that is read ("vox") and leads to `read(path) -> raygrove.gpu.scene.Scene`. The
program's process knows the endings alone; the function is loaded and called in the importing child, under its limits,
and what it gives is sanitised as every reader's scene is. Endings that the program reads itself stay its own.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

from raygrove.gpu.scene import Scene

from .compressed import is_packed
from .errors import SceneError, display_path
from .files import EXTENSIONS, USD_ENDINGS, extension_of
from .particles.formats import PARTICLE_ENDINGS

GROUP = "raygrove.readers"
OWN = frozenset((*EXTENSIONS, *USD_ENDINGS, *PARTICLE_ENDINGS))


@functools.cache
def foreign_endings() -> tuple[str, ...]:
    """The endings that other packages read, in lower case."""
    named = {point.name.lower() for point in _points()}
    return tuple(sorted(name for name in named if re.fullmatch(r"[a-z0-9_]+", name) and name not in OWN))


def _points() -> Iterable[Any]:
    """The entry points of readers. Their module is imported here: it needs the standard library's for mail."""
    import importlib.metadata

    return importlib.metadata.entry_points(group=GROUP)


def is_foreign(path: str) -> bool:
    """Whether another package reads such files. Of our own endings no list of packages is read: it costs 30 ms."""
    return extension_of(path) not in OWN and extension_of(path) in foreign_endings()


def read_foreign(path: str) -> Scene:
    """The scene that the package gives, not yet sanitised; `SceneError` where it gives none. In the child alone."""
    ending = extension_of(path)
    if is_packed(path):
        raise SceneError(
            f"{display_path(path)}: files of the type .{ending} are read as they are. Unpack it first.", path
        )
    point = next(one for one in _points() if one.name.lower() == ending)
    reader = f"the reader of .{ending} files ({point.value})"
    try:
        scene = point.load()(path)
    except (SceneError, MemoryError):
        raise
    except Exception as error:  # whatever a foreign reader does, the person gets a sentence
        why = f"{type(error).__name__}: {error}".rstrip(".")
        raise SceneError(f"{display_path(path)}: {reader} failed: {why}.", path) from error
    if not isinstance(scene, Scene):
        raise SceneError(
            f"{display_path(path)}: {reader} gave {type(scene).__name__}, not a raygrove.gpu.scene.Scene.", path
        )
    return scene
