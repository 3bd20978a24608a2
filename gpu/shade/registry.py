"""Ray types by name: every file of this folder that defines a RayType is one."""

from __future__ import annotations

import functools
import importlib
import inspect
import pathlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import RayType
    from .presentation import Legend


class UnknownRayTypeError(LookupError):
    """No ray type has this name; the message lists those there are."""


@functools.cache
def ray_types() -> dict[str, type[RayType]]:
    """All ray types by name, in alphabetical order. Raises TypeError where a file's ray type is incomplete or a name is
    taken twice."""
    found: dict[str, type[RayType]] = {}
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        if path.stem == "__init__":
            continue
        for kind in _defined_in(path.stem):
            _check(kind, path.name, found)
            found[kind.name] = kind
    return dict(sorted(found.items()))


def ray_type(name: str) -> type[RayType]:
    """The ray type of that name, or UnknownRayTypeError."""
    found = find(name)
    if found is None:
        raise UnknownRayTypeError(f"There is no ray type {name!r}; there are {', '.join(ray_types())}.")
    return found


def find(name: str) -> type[RayType] | None:
    """The ray type of that name, None where there is none. One whose file is called as it is, is imported without the
    others: a program that draws by one ray type waits for no other."""
    return _of_own_file(name) or ray_types().get(name)


@functools.cache
def _of_own_file(name: str) -> type[RayType] | None:
    if not (name.isidentifier() and pathlib.Path(__file__).with_name(f"{name}.py").is_file()):
        return None
    return next((kind for kind in _defined_in(name) if getattr(kind, "name", "") == name), None)


def _defined_in(stem: str) -> list[type[RayType]]:
    """The ray types that a file of this folder defines."""
    from .base import RayType  # with the engine, which a start does not need

    module = importlib.import_module(f"{__package__}.{stem}")
    own = [thing for thing in vars(module).values() if isinstance(thing, type) and thing.__module__ == module.__name__]
    return [kind for kind in own if issubclass(kind, RayType) and not inspect.isabstract(kind)]


def legend(name: str, options: Any) -> Legend | None:
    """What the colours of the ray type of that name mean, where they mean a number. Raises UnknownRayTypeError."""
    kind = ray_type(name)
    return kind.Presentation.legend(kind, options)


def scale(label: str, low: float, high: float, colors: str) -> Legend:
    """The scale of something else's colours, by the name of their map."""
    from . import heat

    return heat.legend(label, low, high, colors)


def _check(kind: type[RayType], file_name: str, found: dict[str, type[RayType]]) -> None:
    missing = [attribute for attribute in ("name", "title", "Options") if not hasattr(kind, attribute)]
    if missing:
        raise TypeError(f"gpu/shade/{file_name}: {kind.__name__} lacks {', '.join(missing)}.")
    if kind.name in found:
        raise TypeError(f"gpu/shade/{file_name}: the name {kind.name!r} is taken by {found[kind.name].__module__}.")
