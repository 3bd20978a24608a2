"""Options: one frozen dataclass a thing, from which the dialog, the TOML file, the command line and the docs are
derived.

A field made by `option` carries its default, range, unit and a sentence. `fields_of` reads them back, `checked` makes
an instance from untrusted values and raises `OptionError` with the key, the value and what is allowed.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from .errors import Error

Options = TypeVar("Options")


class OptionError(Error, ValueError):
    """A value that an option does not take. `key` is the option's name, `allowed` says in words what it takes."""

    def __init__(self, key: str, value: object, allowed: str) -> None:
        super().__init__(f"{key} = {value!r} is not allowed", remedy=allowed)
        self.key, self.value, self.allowed = key, value, allowed


@dataclasses.dataclass(frozen=True)
class OptionInfo:
    """What a field made by `option` says of itself."""

    sentence: str
    minimum: float | None = None
    maximum: float | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    is_color: bool = False
    least: str = ""


@dataclasses.dataclass(frozen=True)
class OptionField:
    """One option as a form, a file or a command line sees it. `type` is bool, int, float, str or a tuple of floats."""

    name: str
    type: Any
    default: Any
    info: OptionInfo

    def allowed(self) -> str:
        """What the option takes, in words."""
        if self.info.choices:
            return "one of " + ", ".join(self.info.choices)
        noun = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}.get(self.type)
        noun = noun or f"{len(typing.get_args(self.type))} numbers"
        low, high = self.info.minimum, self.info.maximum
        if low is not None and high is not None:
            noun += f" from {_written(low)} to {_written(high)}"
        elif low is not None:
            noun += f" of at least {_written(low)}"
        elif high is not None:
            noun += f" of at most {_written(high)}"
        return noun + (f" ({self.info.unit})" if self.info.unit else "")

    def checked(self, value: object, key: str = "") -> Any:
        """`value` as this option's type, or `OptionError`. An int is taken where a float is asked for, never a bool."""
        key = key or self.name
        if self.type is bool and isinstance(value, bool):
            return value
        if self.type is int and isinstance(value, int) and not isinstance(value, bool):
            return self._in_range(value, key)
        if self.type is float and isinstance(value, int | float) and not isinstance(value, bool):
            return self._in_range(_float(value), key)
        if self.type is str and isinstance(value, str):
            if not self.info.choices or value in self.info.choices:
                return value
        if typing.get_origin(self.type) is tuple and isinstance(value, list | tuple):
            numbers = [v for v in value if isinstance(v, int | float) and not isinstance(v, bool)]
            if len(numbers) == len(value) == len(typing.get_args(self.type)):
                return tuple(self._in_range(_float(v), key) for v in numbers)
        raise OptionError(key, value, self.allowed())

    def _in_range(self, value: Any, key: str) -> Any:
        low, high = self.info.minimum, self.info.maximum
        outside = (low is not None and value < low) or (high is not None and value > high)
        if outside or not math.isfinite(_float(value)):
            raise OptionError(key, value, self.allowed())
        return value


def option(
    default: Any,
    sentence: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    unit: str = "",
    choices: tuple[str, ...] = (),
    is_color: bool = False,
    least: str = "",
) -> Any:
    """A dataclass field that is an option of the program. The sentence is shown to people: what it does, and when it
    matters. `is_color`: three numbers that are a linear colour, which people choose by eye. `least`: what a
    form shows for the minimum, where that is no number like the others."""
    info = OptionInfo(sentence, minimum, maximum, unit, choices, is_color, least)
    return dataclasses.field(default=default, metadata={"option": info})


def fields_of(options: Any) -> tuple[OptionField, ...]:
    """The options of a dataclass (type or instance), in the order of their declaration."""
    return _fields_of(options if isinstance(options, type) else type(options))


@functools.lru_cache(maxsize=512)
def _fields_of(kind: type) -> tuple[OptionField, ...]:
    """Kept, as types are read from text: forms ask thousands of times while a window is made."""
    hints = typing.get_type_hints(kind)
    return tuple(
        OptionField(f.name, _plain_type(hints[f.name]), f.default, f.metadata["option"])
        for f in dataclasses.fields(kind)
        if "option" in f.metadata
    )


def checked(kind: type[Options], values: Mapping[str, object], prefix: str = "") -> Options:
    """An instance of `kind` from untrusted values; unknown names and wrong values raise `OptionError` with `prefix`
    before the name."""
    known = {field.name: field for field in fields_of(kind)}
    for name, value in values.items():
        if name not in known:
            raise OptionError(prefix + name, value, "the known names here are " + (", ".join(known) or "none"))
    return kind(**{name: known[name].checked(value, prefix + name) for name, value in values.items()})


def parse_value(kind: Any, text: str) -> object:
    """A typed value from text, several numbers also in the brackets of a settings file; the text itself where it does
    not read as one, so that the check can name what is allowed."""
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    try:
        if kind is bool:
            return words.get(text.lower(), text)
        if kind in (int, float):
            return kind(text)
        if typing.get_origin(kind) is tuple:
            return [float(part) for part in re.sub(r"^\s*\[(.*?),?\s*\]\s*$", r"\1", text).split(",")]
    except ValueError:
        pass
    return text


def _float(value: float) -> float:
    """A number as a float; a whole number beyond all floats is infinite, and so in no range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _written(bound: float) -> str:
    """A bound as one would type it: whole numbers with all their digits."""
    return str(int(bound)) if math.isfinite(bound) and bound == int(bound) and abs(bound) < 1e15 else f"{bound:g}"


def _plain_type(hint: Any) -> Any:
    """`X | None` is X for a form: None is written as an absent value."""
    if isinstance(hint, types.UnionType):
        return next(part for part in typing.get_args(hint) if part is not type(None))
    return hint
