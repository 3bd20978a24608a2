"""What Python writes for kernels to read, defined once: rows of numbers, structs, and lists of names that are numbered.

A row or struct is a dataclass. A kernel file says what it reads by a line like an import of Python,
`// from gpu.light_row import LightRow`; every unit that includes the file then begins with the `declaration` of each
name (gpu/target/translation_unit.py), so that kernels know the places of fields by their names. Structs that have
functions of their own derive from what is declared. Plain values; `pack` of gpu/target/structs.py makes structs of
arrays' addresses.
"""

from __future__ import annotations

import dataclasses
import enum
import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

import numpy as np

Vector = tuple[float, float, float]

# What the fields of a struct are in kernels.
Int = Annotated[int, "int"]
Int64 = Annotated[int, "int64"]
Float = Annotated[float, "float"]
Floats = Annotated[Any, "const float*"]
Ints = Annotated[Any, "const int*"]

_PLACES: dict[type, dict[str, int]] = {}
_FIELDS: dict[type, dict[str, str | type[Struct]]] = {}
_DTYPES: dict[type, np.dtype] = {}
_NUMPY: dict[str, tuple[Any, tuple[int, ...]]] = {
    "int": (np.int32, ()),
    "float": (np.float32, ()),
    "unsigned": (np.uint32, ()),
    "int64": (np.int64, ()),
    "float3": (np.float32, (3,)),
}


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of float32 in an array that kernels read by places. Fields are numbers, which take one place, and tuples,
    which take one for each of their numbers."""

    @classmethod
    def places(cls) -> dict[str, int]:
        """Where each field begins, and how many FLOATS there are."""
        return dict(_places(cls))

    @classmethod
    def floats(cls) -> int:
        """Numbers in the row."""
        return _places(cls)["FLOATS"]

    def numbers(self) -> tuple[float, ...]:
        """The row as kernels read it."""
        found: list[float] = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            found.extend(value if isinstance(value, tuple | list | np.ndarray) else (value,))
        assert len(found) == self.floats(), f"{type(self).__name__} holds {len(found)} numbers."
        return tuple(map(float, found))


@dataclasses.dataclass(frozen=True)
class Struct:
    """A struct of kernels, laid out as a C compiler does. Fields are annotated by what they are in C: numbers, arrays
    of numbers ("float[4]"), pointers, which are given as arrays of a target or None, and other structs. A struct that
    derives from another one does so in kernels."""

    @classmethod
    def dtype(cls) -> np.dtype:
        """The struct in memory; pointers are uint64."""
        if cls not in _DTYPES:
            _DTYPES[cls] = np.dtype([(name, *_numpy(kind)) for name, kind in _field_types(cls).items()], align=True)
        return _DTYPES[cls]

    @classmethod
    def c_types(cls) -> dict[str, str]:
        """Each field's type in C. Raises TypeError where one has none."""
        return {name: kind if isinstance(kind, str) else kind.__name__ for name, kind in _field_types(cls).items()}

    @classmethod
    def needs(cls) -> tuple[type[Struct], ...]:
        """The structs that this one derives from or holds: they are declared before."""
        held = (kind for kind in _field_types(cls).values() if not isinstance(kind, str))
        return tuple(dict.fromkeys((*_bases(cls), *held)))

    @classmethod
    def table(cls, structs: Sequence[Self]) -> np.ndarray:
        """Structs without pointers one after the other."""
        rows = [tuple(getattr(one, name) for name in cls.c_types()) for one in structs]
        return np.array(rows, cls.dtype())


def declaration(name: str, thing: Any) -> str:
    """`thing` for kernels, by the name that it has in Python: a Row as the places of its fields (`LightRow::radius`,
    and FLOATS of them), a Struct as that, names that are numbered (an enum, a tuple of words, a mapping of words to
    numbers) as `Name::word`, a number as a constant. Raises TypeError where it is something else."""
    if isinstance(thing, type) and issubclass(thing, Struct):
        return _struct(name, thing)
    if isinstance(thing, type) and issubclass(thing, Row):
        return _numbered(name, thing.places())
    if isinstance(thing, type) and issubclass(thing, enum.Enum):
        return _numbered(name, {word: member.value for word, member in thing.__members__.items()})
    if isinstance(thing, Mapping):
        return _numbered(name, thing)
    if isinstance(thing, tuple) and thing and all(isinstance(word, str) for word in thing):
        return _numbered(name, {word: number for number, word in enumerate(thing)})
    return constant(name, thing)


def constant(name: str, value: float) -> str:
    """`constexpr` of a bool, an int or a float32. Raises TypeError where it is none."""
    if isinstance(value, bool):
        return f"constexpr bool {name} = {'true' if value else 'false'};"
    if isinstance(value, int):
        return f"constexpr int {name} = {value};"
    if isinstance(value, float):
        return f"constexpr float {name} = {float(value)!r}f;"
    raise TypeError(f"{name} is neither a row, a struct, a list of names nor a number.")


def _numbered(name: str, numbers: Mapping[str, Any]) -> str:
    for word, number in numbers.items():
        if not word.isidentifier() or not isinstance(number, int):
            raise TypeError(f"{name}: {word!r} cannot stand for {number!r} in kernels.")
    # An enum, because units for GPUs would hold static members as data.
    return f"struct {name} {{ enum : int {{ {', '.join(f'{word} = {n}' for word, n in numbers.items())} }}; }};"


def _struct(name: str, thing: type[Struct]) -> str:
    bases = _bases(thing)
    inherited = {field for base in bases for field in base.c_types()}
    fields, unknown = [], set()
    for field, kind in thing.c_types().items():
        if field in inherited:
            continue
        if kind.endswith("*"):
            pointed = kind.removesuffix("*")
            fields.append(f"Pointer<{pointed}> {field};")
            if pointed.removeprefix("const ")[:1].isupper():
                unknown.add(f"struct {pointed.removeprefix('const ')};")
            continue
        base, bracket, length = kind.partition("[")
        fields.append(f"{base} {field}{bracket}{length};")
    derived = f" : {', '.join(base.__name__ for base in bases)}" if bases else ""
    lines = [*sorted(unknown), f"struct {name}{derived} {{ {' '.join(fields)} }};"]
    return " ".join(
        [*lines, f'static_assert(sizeof({name}) == {thing.dtype().itemsize}, "as {thing.__module__} has it");']
    )


def _places(cls: type[Row]) -> dict[str, int]:
    if cls in _PLACES:
        return _PLACES[cls]
    found, place = {}, 0
    for name, kind in _kinds(cls).items():
        found[name] = place
        place += len(typing.get_args(kind)) if typing.get_origin(kind) is tuple else 1
    _PLACES[cls] = {**found, "FLOATS": place}
    return _PLACES[cls]


def _kinds(cls: Any) -> dict[str, Any]:
    """The annotations of a dataclass's fields, in their order."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def _field_types(cls: type[Struct]) -> dict[str, str | type[Struct]]:
    """What each field of a struct is: a type of C, or another struct."""
    if cls in _FIELDS:
        return _FIELDS[cls]
    found: dict[str, str | type[Struct]] = {}
    for name, kind in _kinds(cls).items():
        if typing.get_origin(kind) is Annotated:
            found[name] = str(typing.get_args(kind)[1])
        elif _is_struct(kind):
            found[name] = kind
        else:
            raise TypeError(f"{cls.__name__}.{name} is not annotated by what it is in kernels.")
    _FIELDS[cls] = found
    return found


def _bases(cls: type[Struct]) -> list[type[Struct]]:
    return [base for base in cls.__bases__ if _is_struct(base)]


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct) and kind is not Struct


def _numpy(kind: str | type[Struct]) -> tuple[Any, ...]:
    if not isinstance(kind, str):
        return (kind.dtype(),)
    if kind.endswith("*"):
        return (np.uint64,)
    base, _, length = kind.rstrip("]").partition("[")
    number, shape = _NUMPY[base]
    shape = (int(length), *shape) if length else shape
    return (number, shape) if shape else (number,)
