"""Options of a function of one's own, from its signature: the dataclass that settings, forms and flags are made from.

A parameter beside the first is an option. Its default stands in the decorator or in the signature; its type is the
annotation's, or the default's. `Annotated[int, (2, 256), "Bins an axis."]` adds a range, both ends allowed and None
for none, and the sentence that people read; `Literal["size", "sah"]` the texts that there are to choose from.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from ....errors import Error
from ....settings import OptionError, fields_of, option

TYPES = (bool, int, float, str)


class SignatureError(Error, TypeError):
    """A function cannot be a builder: the message says what to change."""


def options_class(name: str, function: Callable[..., Any], defaults: Mapping[str, object]) -> type:
    """A frozen dataclass with an option for each parameter of `function` but the first; `defaults` are stronger than
    those of the signature. Raises SignatureError."""
    called = f"The function {function.__qualname__} of the structure {name}"
    parameters = list(inspect.signature(function).parameters.values())
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not parameters or parameters[0].kind not in by_place:
        raise SignatureError(f"{called} takes no boxes: its first parameter is the array of them, (N, 6).")
    annotations = _annotations(function, called)
    values = _defaults(name, parameters[1:], defaults, called)
    fields = [_field(key, value, annotations.get(key), called) for key, value in values.items()]
    made = dataclasses.make_dataclass(
        name.title().replace("_", "") + "Options",
        fields,
        frozen=True,
        namespace={"__doc__": f"Options of the structure {name}."},
    )
    _check_defaults(made, called)
    return made


def _defaults(
    name: str, parameters: Sequence[inspect.Parameter], given: Mapping[str, object], called: str
) -> dict[str, object]:
    """The options' names and defaults, in the order of the signature."""
    found: dict[str, object] = {}
    others = dict(given)
    takes_any = False
    for parameter in parameters:
        key = parameter.name
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            takes_any = True
        elif parameter.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL):
            raise SignatureError(f"{called} has the parameter {key}, which cannot be given by its name.")
        elif key not in others and parameter.default is inspect.Parameter.empty:
            raise SignatureError(
                f'{called} has the parameter {key} without a default: builder("{name}", {key}=...) gives it one.'
            )
        else:
            found[key] = others.pop(key, parameter.default)
    if others and not takes_any:
        raise SignatureError(f"{called} has no parameter {next(iter(others))}, which the decorator gives a default.")
    return {**found, **others}


def _annotations(function: Callable[..., Any], called: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception as error:  # an annotation is any expression
        raise SignatureError(f"{called} has an annotation that cannot be read: {error}.") from error


def _field(key: str, default: object, annotation: Any, called: str) -> tuple[str, type, Any]:
    """Name, type and field of an option."""
    where = f"{called}: the option {key}"
    sentence, low, high = f"The parameter {key} of t{called[1:]}.", None, None
    choices: tuple[str, ...] = ()
    if typing.get_origin(annotation) is Annotated:
        annotation, *more = typing.get_args(annotation)
        for item in more:
            if isinstance(item, str):
                sentence = item
            elif isinstance(item, tuple) and [isinstance(end, int | float | None) for end in item] == [True, True]:
                low, high = item
    if typing.get_origin(annotation) is Literal:
        choices, annotation = typing.get_args(annotation), str
        if not all(isinstance(choice, str) for choice in choices):
            raise SignatureError(f"{where} has choices that are no texts.")
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        raise SignatureError(f"{where} has several types; an option has one.")
    kind = type(default) if annotation is None else annotation
    if kind not in TYPES:
        raise SignatureError(
            f"{where} is of the type {getattr(kind, '__name__', kind)}: options are bool, int, float or str."
        )
    if kind is float and isinstance(default, int) and not isinstance(default, bool):
        default = float(default)
    if (low is not None or high is not None) and kind not in (int, float):
        raise SignatureError(f"{where} has a range, and is no number.")
    return key, kind, option(default, sentence, minimum=low, maximum=high, choices=choices)


def _check_defaults(made: type, called: str) -> None:
    """Raise SignatureError where a default is not allowed itself."""
    for field in fields_of(made):
        try:
            field.checked(field.default)
        except OptionError as error:
            raise SignatureError(f"{called}: the default {error}") from error
