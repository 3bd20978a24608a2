"""Finds the structures: every folder `<family>/builders/<name>` whose package defines a Hierarchy, and every family
that is one itself (brute_force).

Nothing of the project is registered by hand: a new folder is in the menu, on the command line, in the benchmark and in
the contract tests. What is wrong with a folder is an error that names it. Other packages offer structures by entry
points (plug_ins.py); a running program registers its own (bvh/own/decorator.py).
"""

from __future__ import annotations

import functools
import importlib
import inspect
import keyword
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType, ModuleType

from ..errors import Error
from ..settings import OptionError
from ..target.base import Target
from . import plug_ins
from .base import Hierarchy, HierarchyError, StructureChoice

CONSTRUCTIONS = ("linear", "top_down", "bottom_up", "insertion", "two_level")
"""Along a curve, by splits from the root, by joining neighbours, one primitive after the other, a tree of trees."""

_ROOM = pathlib.Path(__file__).parent


class StructureNameError(Error, ValueError):
    """A structure cannot be called so; a sentence."""


_registered: dict[str, type[Hierarchy]] = {}

named_plug_ins: list[str] = []
"""Files and modules that a person named to have their structures (plug_in_files.py): who starts the program once more
names them again."""


def structures() -> dict[str, type[Hierarchy]]:
    """Every structure by its name on the command line, as a class with `title`, `family` and `Options`; families in
    alphabetical order, those of other packages and those that were registered last. HierarchyError where a folder
    breaks its promise."""
    return {**_installed(), **_registered}


@functools.cache
def _installed() -> dict[str, type[Hierarchy]]:
    """Those that are there when the program starts."""
    found = collect(_packages())
    for name, module in plug_ins.modules():
        made = _registered.get(name)
        if made is not None and made.__module__.startswith(module.__name__):
            continue  # the module registered it
        try:
            found = collect([(name, module)], found)
        except HierarchyError as error:
            plug_ins.say_left_out(name, str(error))
    return found


def register(made: type[Hierarchy]) -> None:
    """Add a structure to those that there are, until the process ends. A module may register a name again, as a
    notebook does whose cell is run again. Raises StructureNameError where the name is none, or somebody else's."""
    name, before = made.name, _registered.get(made.name)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise StructureNameError(
            f"A structure cannot be called {name!r}: names are small letters, digits and underscores."
        )
    if before is not None and before.__module__ != made.__module__:
        raise StructureNameError(
            f"Two structures are called {name}: {before.__module__} and {made.__module__} define them."
        )
    others = {**dict.fromkeys(_folder_names(), "the project"), **plug_ins.names()}
    if before is None and name in others and not made.__module__.startswith(others[name]):
        raise StructureNameError(f"There is a structure called {name} already, of {others[name]}: choose another name.")
    _registered[name] = made


def registered_by(module: str) -> list[str]:
    """The names that a module registered."""
    return [name for name, made in _registered.items() if made.__module__ == module]


def unregister(name: str) -> None:
    """Forget a structure that was registered; harmless where none was."""
    _registered.pop(name, None)


def own_structures() -> dict[str, type[Hierarchy]]:
    """Those of this project alone."""
    own = __name__.partition(".")[0] + "."
    return {name: found for name, found in structures().items() if found.__module__.startswith(own)}


def structure(name: str) -> type[Hierarchy]:
    """The structure of that name; OptionError lists what there is."""
    found = find(name)
    if found is None:
        raise OptionError("hierarchy", name, "one of " + ", ".join(structures()))
    return found


def find(name: str) -> type[Hierarchy] | None:
    """The structure of that name, None where there is none. One of the project's own is imported without the others,
    and nobody looks for plug-ins: a program that builds one tree waits for no other."""
    return _registered.get(name) or _own(name) or structures().get(name)


@functools.cache
def _own(name: str) -> type[Hierarchy] | None:
    module = dict(_folders()).get(name)
    return None if module is None else collect([(name, importlib.import_module(module, __package__))])[name]


def layouts() -> dict[str, tuple[str, ...]]:
    """The layouts of every structure by its name."""
    return {name: found.layouts() for name, found in structures().items()}


def telling_layouts(name: str) -> tuple[str, ...]:
    """The layouts of a structure that a check of everything goes through: all of them for the first structure of a
    family that has them, the best ones of both kinds of target for the others. A layout knows the family's tree and no
    builder."""
    found, kind = structures(), structure(name)
    first = next(
        other
        for other in sorted(found, key=lambda other: (other != "lbvh", other))
        if found[other].layouts() == kind.layouts()
    )
    return (
        kind.layouts()
        if first == name
        else tuple(dict.fromkeys(kind.default_layout(target) for target in ("host", "cuda")))
    )


def traversals() -> dict[str, tuple[str, ...]]:
    """The traversals of every layout of every structure, by the layout's name."""
    return {layout: found.traversals(layout) for found in structures().values() for layout in found.layouts()}


def titles() -> dict[str, str]:
    """What people are shown for layouts and traversals, by their names."""
    return dict(_titles_of(tuple(structures().values())))


@functools.lru_cache(maxsize=4)  # forms ask for each choice of each field
def _titles_of(kinds: tuple[type[Hierarchy], ...]) -> dict[str, str]:
    return {name: title for kind in kinds for name, title in kind.titles().items()}


def make_structure(target: Target, name: str, choice: StructureChoice | None = None) -> Hierarchy:
    """The structure of that name, as chosen. OptionError for a name that is not known, of the structure or in the
    choice."""
    return structure(name)(target, choice)


def optimisers() -> dict[str, type]:
    """Every optimiser of every family by its name on the command line."""
    return dict(_optimisers_of(tuple(structures().values())))


@functools.lru_cache(maxsize=4)
def _optimisers_of(kinds: tuple[type[Hierarchy], ...]) -> dict[str, type]:
    return {name: made for kind in kinds for name, made in kind.optimisers().items()}


def collect(
    packages: Iterable[tuple[str, ModuleType]], others: Mapping[str, type[Hierarchy]] = MappingProxyType({})
) -> dict[str, type[Hierarchy]]:
    """Names to classes, from (folder name, its package) pairs: one concrete Hierarchy a package, named like its folder,
    names unique, in these and in the `others`, which come first."""
    found = dict(others)
    for folder, package in packages:
        classes = [
            thing
            for thing in vars(package).values()
            if _is_structure(thing) and thing.__module__.startswith(package.__name__)
        ]
        if len(classes) != 1:
            raise HierarchyError(
                f"{package.__name__} must define one structure (a Hierarchy with every method given); it defines "
                f"{len(classes)}."
            )
        made = classes[0]
        missing = [field for field in ("name", "family", "title", "Options") if not hasattr(made, field)]
        if missing:
            raise HierarchyError(
                f"The structure {made.__name__} in {package.__name__} does not say its {' and '.join(missing)}."
            )
        if made.name != folder:
            raise HierarchyError(
                f"The structure {made.__name__} is called {made.name!r}; its folder {folder!r} must have the same name."
            )
        if made.name in found:
            raise HierarchyError(
                f"Two structures are called {made.name}: {found[made.name].__module__} and {made.__module__}."
            )
        found[made.name] = made
    return found


def _is_structure(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, Hierarchy) and not inspect.isabstract(thing)


def _folder_names() -> list[str]:
    """The names of the project's own, without importing them."""
    return [name for name, _ in _folders()]


@functools.cache
def _folders() -> tuple[tuple[str, str], ...]:
    """Name and module of each of the project's own: looked for once, as somebody asks for one after the other."""
    return tuple(_found_folders())


def _found_folders() -> Iterator[tuple[str, str]]:
    for family in sorted(path.parent for path in _ROOM.glob("*/__init__.py")):
        if (family / "builders").is_dir():
            for builder in sorted(path.parent for path in family.glob("builders/*/__init__.py")):
                yield builder.name, f".{family.name}.builders.{builder.name}"
        else:
            yield family.name, f".{family.name}"


def _packages() -> Iterator[tuple[str, ModuleType]]:
    for name, module in _folders():
        yield name, importlib.import_module(module, __package__)
