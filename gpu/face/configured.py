"""What a configuration (gpu/configuration.py) stands for: the structure, how it is made, and how it is updated."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable
from typing import Any

from ..configuration import Configuration, ConfigurationError, Part, parse
from ..hierarchy.base import Hierarchy, StructureChoice
from ..hierarchy.primitives import TRIANGLE_TESTS
from ..hierarchy.registry import find, structures
from ..settings import OptionError, OptionField, checked, fields_of, parse_value
from ..update.options import UpdateOptions


@dataclasses.dataclass(frozen=True)
class Configured:
    """A structure by its name, how it is made, and how it follows what moves. `text` is its spelling."""

    name: str
    choice: StructureChoice
    update: UpdateOptions
    text: str


def configured(configuration: str | Configuration, update: str = "rebuild") -> Configured:
    """What a configuration stands for, its options checked as the settings are. Without a policy it is `update`.

    ConfigurationError for a name that there is not, or that does not go with the others; OptionError for an option.
    """
    spelt = parse(configuration) if isinstance(configuration, str) else configuration
    text = str(spelt)
    kind = find(spelt.builder.name)
    if kind is None:
        raise _unknown("builder", spelt.builder.name, text, structures())
    options = _options(kind.Options, spelt.builder)
    improved = _optimiser(kind, spelt.optimiser, text)
    layout = _named("layout", spelt.layout, kind.layouts(), text)
    if spelt.layout is not None and spelt.layout.options:
        raise ConfigurationError(f"the layout {layout} has no options", text, "leave them out")
    traversals = {name for one in kind.layouts() if layout in ("auto", one) for name in kind.traversals(one)}
    traversal = _named("traversal", spelt.traversal, sorted(traversals), text)
    choice = StructureChoice(options, layout, traversal, *improved, _triangle_test(spelt.traversal))
    return Configured(kind.name, choice, _update(spelt.policy, update, text), text)


def _optimiser(kind: type[Hierarchy], part: Part | None, text: str) -> tuple[str, Any]:
    known = kind.optimisers()
    if part is None or part.name == "none":
        return "none", None
    if part.name not in known:
        raise _unknown(f"optimiser of {kind.name}", part.name, text, ("none", *known))
    return part.name, _options(known[part.name].Options, part)  # type: ignore[attr-defined]


def _named(what: str, part: Part | None, known: Iterable[str], text: str) -> str:
    if part is None or part.name == "auto":
        return "auto"
    if part.name not in known:
        raise _unknown(what, part.name, text, known)
    return part.name


def _triangle_test(part: Part | None) -> str:
    """The option that every traversal has."""
    said = dict(part.options) if part is not None else {}
    test = said.pop("triangle_test", TRIANGLE_TESTS[0])
    for name, value in said.items():
        raise OptionError(f"{part.name if part else ''}.{name}", value, "a traversal has the option triangle_test")
    if test not in TRIANGLE_TESTS:
        raise OptionError("triangle_test", test, "one of " + ", ".join(TRIANGLE_TESTS))
    return test


def _update(part: Part | None, update: str, text: str) -> UpdateOptions:
    fields = {field.name: field for field in fields_of(UpdateOptions)}
    modes = fields["mode"].info.choices
    name = update if part is None else part.name
    if name not in modes:
        raise _unknown("update policy", name, text, modes)
    options: UpdateOptions = _options(UpdateOptions, part, without=("mode",))
    return dataclasses.replace(options, mode=name)


def _options(kind: Any, part: Part | None, without: tuple[str, ...] = ()) -> Any:
    """An instance of an options' dataclass from the texts of a part."""
    fields = {field.name: field for field in fields_of(kind)}
    values: dict[str, object] = {}
    for name, value in () if part is None else part.options:
        known: OptionField | None = None if name in without else fields.get(name)
        if known is None:
            there = ", ".join(one for one in fields if one not in without)
            raise OptionError(
                f"{part.name if part else ''}.{name}", value, f"the known names here are {there or 'none'}"
            )
        values[name] = parse_value(known.type, value)
    return checked(kind, values, f"{part.name}." if part is not None else "")


def _unknown(what: str, name: str, text: str, known: Iterable[str]) -> ConfigurationError:
    there = list(known)
    near = difflib.get_close_matches(name, there, 1)
    meant = f"did you mean {near[0]}? There are " if near else "there are "
    return ConfigurationError(f"there is no {what} {name!r}", text, meant + ", ".join(there))
