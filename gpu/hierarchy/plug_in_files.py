"""Structures of a file that a person names: `--plug-in mine.py`. Its code is run as importing it would; nothing else
names such files, no setting and no picture."""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import sys
from collections.abc import Iterable
from types import ModuleType

from ..errors import Error
from ..target.translation_unit import add_include_root
from . import registry
from .base import Hierarchy, HierarchyError


class PlugInError(HierarchyError):
    """A file gives no structure; a sentence."""


def take_files(names: Iterable[str]) -> None:
    """Import each file, or module by its dotted name, and the structures that it registers or defines. Raises
    PlugInError."""
    for name in names:
        module = _imported(name)
        if not registry.registered_by(module.__name__):
            _register_defined(name, module)
        path = pathlib.Path(name)
        registry.named_plug_ins.append(str(path.resolve()) if path.is_file() else name)


def _imported(name: str) -> ModuleType:
    path = pathlib.Path(name)
    if path.exists() and not path.is_file() and path.suffix == ".py":  # a pipe would be waited for
        raise PlugInError(f"--plug-in {name}: it is not a file.")
    try:
        return _run_file(path.resolve()) if path.suffix == ".py" or path.is_file() else importlib.import_module(name)
    except Exception as error:  # whatever a person's own code does
        is_missing = isinstance(error, FileNotFoundError) and not path.exists()
        named = "" if isinstance(error, Error) else f"{type(error).__name__}: "
        what = "there is no such file" if is_missing else named + str(error).rstrip(".")
        raise PlugInError(f"--plug-in {name}: {what}.") from error


def _run_file(path: pathlib.Path) -> ModuleType:
    """A file as the module of its name, or of another where that is taken."""
    known = sys.modules.get(path.stem)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    module_name = path.stem if known is None else f"plug_in_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None
    sys.path.append(str(path.parent))  # what lies beside the file can be imported from it
    add_include_root(path.parent)
    module = sys.modules[module_name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module


def _register_defined(name: str, module: ModuleType) -> None:
    """The structure that a module defines as a class, as a folder of `builders/` does."""
    own = [thing for thing in vars(module).values() if getattr(thing, "__module__", "") == module.__name__]
    kinds = [
        thing for thing in own if isinstance(thing, type) and issubclass(thing, Hierarchy) and hasattr(thing, "name")
    ]
    if not kinds:
        raise PlugInError(
            f"--plug-in {name} registers no builder",
            remedy='put @raygrove.builder("name") on a function that gives a raygrove.Tree',
        )
    try:
        for found in registry.collect([(kinds[0].name, module)]).values():
            registry.register(found)
    except (HierarchyError, ValueError) as error:
        raise PlugInError(f"--plug-in {name}: {error}") from error
