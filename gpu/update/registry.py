"""Update policies by name: every file of this folder that defines an UpdatePolicy is one."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import sys

from .base import UpdatePolicy


@functools.cache
def policies() -> dict[str, UpdatePolicy]:
    """One of each, by name in alphabetical order. Raises TypeError where a file's policy is incomplete or a name is
    taken twice."""
    found: dict[str, UpdatePolicy] = {}
    for file in sorted(pkgutil.iter_modules(sys.modules[str(__package__)].__path__), key=lambda file: file.name):
        if file.name in ("base", "history", "costs", "options", "registry"):
            continue
        module = importlib.import_module(f"{__package__}.{file.name}")
        for kind in vars(module).values():
            is_own = isinstance(kind, type) and kind.__module__ == module.__name__
            if is_own and issubclass(kind, UpdatePolicy) and not inspect.isabstract(kind):
                _check(kind, file.name, found)
                found[kind.name] = kind()
    return dict(sorted(found.items()))


def policy(name: str) -> UpdatePolicy:
    """The policy of that name. Raises LookupError, which lists those there are."""
    known = policies()
    if name not in known:
        raise LookupError(f"There is no update policy {name!r}; there are {', '.join(known)}.")
    return known[name]


def _check(kind: type[UpdatePolicy], file_name: str, found: dict[str, UpdatePolicy]) -> None:
    missing = [attribute for attribute in ("name", "title", "sentence") if not hasattr(kind, attribute)]
    if missing:
        raise TypeError(f"gpu/update/{file_name}.py: {kind.__name__} lacks {', '.join(missing)}.")
    if kind.name in found:
        taken = type(found[kind.name]).__module__
        raise TypeError(f"gpu/update/{file_name}.py: the name {kind.name!r} is taken by {taken}.")
