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
_FIELDS: dict[type, dict[str, Kind]] = {}
_DTYPES: dict[tuple[type, tuple[np.dtype, ...]], np.dtype] = {}
_NUMPY: dict[str, tuple[Any, tuple[int, ...]]] = {
    "int": (np.int32, ()),
    "float": (np.float32, ()),
    "unsigned": (np.uint32, ()),
    "int64": (np.int64, ()),
    "uint64": (np.uint64, ()),
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
    derives from another one does so in kernels.

    What kernels alone can name is told as "class Spheres": the declaration is a template of such types. The annotated
    type is the struct that they derive from, without fields of their own, or np.ndarray alone where each unit has
    another; either may be given packed."""

    @classmethod
    def dtype(cls) -> np.dtype:
        """The struct in memory; pointers are uint64. Raises TypeError where it holds what each unit has another of."""
        return cls.dtype_with({})

    @classmethod
    def dtype_with(cls, parts: Mapping[str, np.dtype]) -> np.dtype:
        """The same where these fields, of types that kernels alone can name, are such structs."""
        key = (cls, tuple(parts.values()))
        if key not in _DTYPES:
            fields = [(name, *_numpy(kind, parts.get(name))) for name, kind in _field_types(cls).items()]
            _DTYPES[key] = np.dtype(fields, align=True)
        return _DTYPES[key]

    @classmethod
    def words(cls) -> int:
        """Words of 32 bits that one takes, by which memory for kernels' own use is made."""
        return cls.dtype().itemsize // 4

    @classmethod
    def lays_out(cls, dtype: np.dtype) -> bool:
        """Whether a packed struct has these fields in their order and places; what each unit has another of is taken as
        it is."""
        if dtype.names != tuple(_field_types(cls)):
            return False
        return dtype == cls.dtype_with({name: dtype[name] for name in cls.open_fields()})

    @classmethod
    def open_fields(cls) -> tuple[str, ...]:
        """The fields of which each unit has another type."""
        kinds = _field_types(cls).items()
        return tuple(name for name, kind in kinds if isinstance(kind, TypeOfKernels) and kind.base is None)

    @classmethod
    def c_types(cls) -> dict[str, str]:
        """Each field's type in C. Raises TypeError where one has none."""
        return {
            name: kind if isinstance(kind, str) else kind.name if isinstance(kind, TypeOfKernels) else kind.__name__
            for name, kind in _field_types(cls).items()
        }

    @classmethod
    def types_of_kernels(cls) -> tuple[TypeOfKernels, ...]:
        """What the declaration is a template of."""
        kinds = (kind for kind in _field_types(cls).values() if isinstance(kind, TypeOfKernels))
        return tuple(dict.fromkeys(kinds))

    @classmethod
    def needs(cls) -> tuple[type[Struct], ...]:
        """The structs that this one derives from or holds: they are declared before."""
        bases = (kind.base if isinstance(kind, TypeOfKernels) else kind for kind in _field_types(cls).values())
        held = (base for base in bases if base is not None and not isinstance(base, str))
        return tuple(dict.fromkeys((*_bases(cls), *held)))

    @classmethod
    def table(cls, structs: Sequence[Self]) -> np.ndarray:
        """Structs without pointers one after the other."""
        rows = [tuple(getattr(one, name) for name in cls.c_types()) for one in structs]
        return np.array(rows, cls.dtype())


@dataclasses.dataclass(frozen=True)
class TypeOfKernels:
    """A type that kernels alone can name, since it has functions or is another in each unit; `base` is what it derives
    from, where that is known."""

    name: str
    base: type[Struct] | None


Kind = str | type[Struct] | TypeOfKernels
"""What a field is: a type of C, a struct, or what kernels alone can name."""


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
    of_kernels = thing.types_of_kernels()
    for one in of_kernels:
        if one.base is not None:  # a derived type with fields of its own would move what comes behind it
            said = f'"{one.name} adds no field to {one.base.__name__}"'
            fields.append(f"static_assert(sizeof({one.name}) == sizeof({_of_bases(one.base)}), {said});")
    lines = [*sorted(unknown), f"struct {name}{derived} {{ {' '.join(fields)} }};"]
    if of_kernels:
        lines.insert(-1, f"template <{', '.join(f'class {one.name}' for one in of_kernels)}>")
    if not thing.open_fields():
        size = thing.dtype().itemsize
        lines.append(f'static_assert(sizeof({_of_bases(thing, name)}) == {size}, "as {thing.__module__} has it");')
    return " ".join(lines)


def _of_bases(thing: type[Struct], name: str = "") -> str:
    """The struct in kernels, where it is a template that of the structs which its types derive from."""
    bases = [_of_bases(one.base) for one in thing.types_of_kernels() if one.base is not None]
    return (name or thing.__name__) + (f"<{', '.join(bases)}>" if bases else "")


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


def _field_types(cls: type[Struct]) -> dict[str, Kind]:
    """What each field of a struct is."""
    if cls in _FIELDS:
        return _FIELDS[cls]
    found: dict[str, Kind] = {}
    for name, kind in _kinds(cls).items():
        if typing.get_origin(kind) is Annotated:
            held, word = typing.get_args(kind)[:2]
            is_open = word.startswith("class ")
            base = next((one for one in typing.get_args(held) or (held,) if _is_struct(one)), None)
            found[name] = TypeOfKernels(word.removeprefix("class "), base) if is_open else str(word)
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


def _numpy(kind: Kind, part: np.dtype | None = None) -> tuple[Any, ...]:
    if isinstance(kind, TypeOfKernels):
        known = part if kind.base is None else kind.base.dtype()
        if known is None:
            raise TypeError(f"What {kind.name} is in memory each unit says.")
        return (known,)
    if not isinstance(kind, str):
        return (kind.dtype(),)
    if kind.endswith("*"):
        return (np.uint64,)
    base, _, length = kind.rstrip("]").partition("[")
    number, shape = _NUMPY[base]
    shape = (int(length), *shape) if length else shape
    return (number, shape) if shape else (number,)
