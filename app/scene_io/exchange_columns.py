"""Values of a scene's types as columns: all values of one field together, as numbers of one array, as texts of a list,
or as numbers of arrays. A hundred thousand meshes are a dozen columns so, and no value is written by itself.

A column is what JSON holds: {"numbers": array}, {"texts": [...]}, {"arrays": array} (which array each value is),
{"there": array, "of": column} of what may be None, {"counts": array, "of": column} of tuples of any length, and for
dataclasses a column a field. What is read is checked against the types; what does not fit raises ValueError.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from raygrove.printable import printable

NUMBERS: dict[type, np.dtype[Any]] = {
    int: np.dtype("<i8"),
    float: np.dtype("<f8"),
    bool: np.dtype("u1"),
}

Put = Callable[[Sequence[np.ndarray]], list[int]]
"""Keeps arrays and returns their numbers."""


def column_of(values: Sequence[Any], hint: Any, put: Put) -> dict[str, Any]:
    """The column of values that all have the type that `hint` names."""
    if isinstance(hint, types.UnionType):
        there = [value is not None for value in values]
        some = [value for value in values if value is not None]
        return {"there": _put_numbers(there, bool, put), "of": column_of(some, _inner(hint), put)}
    if hint is np.ndarray:
        return {"arrays": put([np.array(put(values), np.int64)])[0]}
    if dataclasses.is_dataclass(hint):
        hints = hints_of(typing.cast(type, hint))
        return {name: column_of(list(map(operator.attrgetter(name), values)), of, put) for name, of in hints.items()}
    if hint is str:
        return {"texts": list(values)}
    if typing.get_origin(hint) is tuple and typing.get_args(hint)[-1] is Ellipsis:
        counts = _put_numbers(list(map(len, values)), int, put)
        return {"counts": counts, "of": column_of(list(itertools.chain(*values)), typing.get_args(hint)[0], put)}
    kind, width = _numbers_of(hint)
    return {"numbers": _put_numbers(values, kind, put, width)}


def _put_numbers(values: Sequence[Any], kind: type, put: Put, width: int | None = None) -> int:
    if width is None:
        return put([np.array(values, NUMBERS[kind]).reshape(len(values))])[0]
    if set(map(len, values)) - {width}:
        raise ValueError(f"a column of {width} numbers each holds more or fewer")
    # By a tenth of what numpy takes to find out what a list of tuples holds.
    numbers = np.fromiter(itertools.chain.from_iterable(values), NUMBERS[kind], len(values) * width)
    return put([numbers.reshape(-1, width)])[0]


def values_of(column: Any, hint: Any, count: int, arrays: Sequence[np.ndarray]) -> list[Any]:
    """The `count` values of such a column; ValueError, TypeError or LookupError where it holds anything else."""
    if isinstance(hint, types.UnionType):
        there = _numbers(column["there"], bool, (count,), arrays).tolist()
        some = iter(values_of(column["of"], _inner(hint), sum(there), arrays))
        return [next(some) if is_there else None for is_there in there]
    if hint is np.ndarray:
        return [arrays[index] for index in _numbers(column["arrays"], int, (count,), arrays, len(arrays)).tolist()]
    if dataclasses.is_dataclass(hint):
        kind = typing.cast(Any, hint)
        hints = hints_of(kind)
        if type(column) is not dict or set(column) != set(hints):
            raise ValueError(f"{kind.__name__} has other fields")
        columns = (values_of(column[name], of, count, arrays) for name, of in hints.items())
        return list(map(kind, *columns))
    if hint is str:
        return texts_of(column["texts"], count)
    if typing.get_origin(hint) is tuple and typing.get_args(hint)[-1] is Ellipsis:
        counts = _numbers(column["counts"], int, (count,), arrays, 1 << 40).tolist()
        parts = iter(values_of(column["of"], typing.get_args(hint)[0], sum(counts), arrays))
        return [tuple(itertools.islice(parts, length)) for length in counts]
    of, width = _numbers_of(hint)
    shape = (count,) if width is None else (count, width)
    numbers = _numbers(column["numbers"], of, shape, arrays)
    return numbers.tolist() if width is None else list(zip(*numbers.T.tolist(), strict=True))


def _numbers(
    index: Any, kind: type, shape: tuple[int, ...], arrays: Sequence[np.ndarray], below: int | None = None
) -> np.ndarray:
    """The array `index`, finite and of this kind and shape; with `below` its numbers count something: 0 to `below`."""
    if type(index) is not int or not 0 <= index < len(arrays):
        raise ValueError("a column names an array that is not there")
    found = arrays[index]
    if found.dtype != NUMBERS[kind] or found.shape != shape or not np.isfinite(found).all():
        raise ValueError(f"a column of {kind.__name__} holds other values, or another number of them")
    if below is not None and found.size and (found.min() < 0 or found.max() >= below):
        raise ValueError("a column counts what is not there")
    if kind is bool:
        return found != 0
    return found


def texts_of(texts: Any, count: int) -> list[str]:
    """A list of so many texts, without what no text shows; ValueError where it is anything else."""
    if type(texts) is not list or len(texts) != count or set(map(type, texts)) - {str}:
        raise ValueError("a column of texts holds something else, or another number of them")
    return texts if "".join(texts).isprintable() else list(map(printable, texts))


def _inner(hint: Any) -> Any:
    return next(part for part in typing.get_args(hint) if part is not type(None))


@functools.cache
def _numbers_of(hint: Any) -> tuple[type, int | None]:
    """The kind of number and, of a tuple of numbers, how many."""
    if hint in NUMBERS:
        return hint, None
    parts = typing.get_args(hint)
    if typing.get_origin(hint) is tuple and parts and set(parts) == {parts[0]} and parts[0] in NUMBERS:
        return parts[0], len(parts)
    raise TypeError(f"{hint} is no type of a scene's values")


@functools.cache
def hints_of(kind: type) -> dict[str, Any]:
    """The types of a dataclass' fields, in their order."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}
