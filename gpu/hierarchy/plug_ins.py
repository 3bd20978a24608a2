"""Structures of other packages: modules behind the entry points of the group `raygrove.structures`.

An entry point has the structure's name and leads to a module that defines it, as a folder of `builders/` does, or
registers it (bvh/own/decorator.py). Kernels are named from the folder that holds the package
(`their_package/halve.cu`), and include the project's by its paths. A plug-in that cannot be used is left out, and that
is said: the structures of the project work without it.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from ..target.remarks import remark
from ..target.translation_unit import add_include_root

GROUP = "raygrove.structures"


def modules() -> Iterator[tuple[str, ModuleType]]:
    """Name and module of each plug-in that can be imported, by name."""
    for point in sorted(_points(), key=lambda point: (point.name, point.value)):
        try:
            module = point.load()
            if not isinstance(module, ModuleType):
                raise TypeError(f"{point.value} is no module")
        except Exception as error:  # whatever a foreign module does, the others work
            say_left_out(point.name, f"{type(error).__name__}: {error}")
            continue
        add_include_root(_include_root(module))
        yield point.name, module


def _points() -> Iterable[Any]:
    """The entry points of structures. Their module is imported here: it needs the standard library's for mail."""
    import importlib.metadata

    return importlib.metadata.entry_points(group=GROUP)


def names() -> dict[str, str]:
    """The names that entry points give structures, and the modules they lead to; nothing is imported."""
    return {point.name: point.module for point in _points()}


def say_left_out(name: str, reason: str) -> None:
    """Tell the person that a plug-in is not there, and why."""
    remark(f"The structure {name} of another package is left out: {reason.rstrip('.')}.")


def _include_root(module: ModuleType) -> pathlib.Path:
    """The folder that holds the module's top package."""
    file = pathlib.Path(sys.modules[module.__name__.partition(".")[0]].__file__ or module.__file__ or "").resolve()
    return file.parents[1] if file.name == "__init__.py" else file.parent
