"""Builders: a folder each, whose package defines one subclass of `BvhHierarchy`."""

from __future__ import annotations

import importlib
import pathlib
from typing import Any


def builder_names() -> tuple[str, ...]:
    """The folders, in alphabetical order."""
    return tuple(sorted(path.parent.name for path in pathlib.Path(__file__).parent.glob("*/__init__.py")))


def builder_class(name: str) -> type[Any]:
    """The builder in the folder of that name: for structures that are made of other builders' trees, which know them by
    their names alone."""
    package = importlib.import_module(f".{name}", __package__)
    found = [
        thing for thing in vars(package).values() if isinstance(thing, type) and getattr(thing, "name", "") == name
    ]
    assert len(found) == 1, f"gpu/hierarchy/registry.py checks that {name} defines one structure of that name"
    return found[0]
