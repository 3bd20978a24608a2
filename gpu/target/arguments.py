"""Packs a launch's arguments into the `void*[]` that both cuLaunchKernel and the host pool take, by the kernel's declared types.

Most launches come again in every frame with the same arrays. Once these have been looked at, whether their types are right and where they lie, a row
of addresses is known by the arrays' identities, until one of them is gone; then only numbers and structs are packed.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import operator
import struct
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .base import TargetError
from .translation_unit import KernelSignature, Parameter

_SCALARS = {"int": "i", "unsigned": "I", "float": "f", "int64": "q", "uint64": "Q", "bool": "?", "uint8": "B"}
_POINTEES = {"int": "i4", "unsigned": "u4", "float": "f4", "int64": "i8", "uint64": "u8", "uint8": "u1", "double": "f8"}
_VECTOR_BASES = {f"{base}{width}": kind for base, kind in (("float", "f4"), ("int", "i4"), ("uint", "u4")) for width in (2, 3, 4)}
_DTYPES = {name: np.dtype(kind) for name, kind in (_POINTEES | _VECTOR_BASES).items()}
_MOST_CHECKED = 64
_MOST_ROWS = 256
_MOST_USELESS = 32
"""Rows that were forgotten one after the other without having been of use: this kernel is given arrays that live for one launch."""


@dataclasses.dataclass(slots=True, eq=False)
class _Row:
    """The addresses of a launch's pointers as they are packed, what tells when one of their arrays is gone, and whether they came once more."""

    addresses: bytes
    references: list[weakref.ref[Any]]
    is_used: bool = False


def _taker(places: list[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """What takes the arguments at these places."""
    if len(places) > 1:
        return operator.itemgetter(*places)
    return operator.itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


class ArgumentBlock:
    """Arguments of one kernel, packed again at every launch. `address` is the `void**`; valid until the next `pack`."""

    def __init__(self, signature: KernelSignature, address_of: Callable[[Any], int]) -> None:
        self.signature, self._address_of = signature, address_of
        parameters = signature.parameters
        self._convert: list[Callable[[Any], Any]] = [self._converter(parameter) for parameter in parameters]
        self._count = len(parameters)
        # What has an address of its own can lie anywhere: pointers come first, then numbers, then structs.
        pointers = [place for place, parameter in enumerate(parameters) if parameter.is_pointer]
        numbers = [place for place, parameter in enumerate(parameters) if not parameter.is_pointer and parameter.type_name in _SCALARS]
        self._struct_places = [place for place in range(self._count) if place not in pointers and place not in numbers]
        self._places = [*pointers, *numbers, *self._struct_places]
        self._pointers_of, self._numbers_of = _taker(pointers), _taker(numbers)
        self._codes = "Q" * len(pointers), [_SCALARS[parameters[place].type_name] for place in numbers]
        self._rows: dict[tuple[int, ...], _Row] = {}
        self._met: set[tuple[int, ...]] = set()
        self._useless = 0
        self._pointers = (ctypes.c_void_p * max(1, self._count))()
        self.address = ctypes.addressof(self._pointers)
        self._struct_sizes = (0,) * len(self._struct_places)
        self._lay_out()

    def pack(self, arguments: tuple[Any, ...]) -> None:
        """Take the values of one launch; raises TargetError where they do not fit the declaration."""
        if len(arguments) != self._count:
            raise TargetError(f"Kernel {self.signature.name} takes {self._count} arguments, {len(arguments)} were given.")
        arrays = self._pointers_of(arguments)
        key = tuple(map(id, arrays))
        row = self._rows.get(key)
        if row is None:
            self._pack_anew(arguments)
            if key in self._met:  # for the second time: arrays that live for one launch are not worth remembering
                self._remember(key, arrays)
            else:
                self._meet(key)
            return
        try:
            self._numbers.pack_into(self._buffer, self._numbers_at, *self._numbers_of(arguments))
        except (struct.error, TypeError, ValueError, OverflowError):
            self._pack_anew(arguments)  # takes more than numbers, or says what is wrong
            return
        row.is_used = True
        self._buffer[self._pointers_at] = row.addresses
        if self._struct_places:
            self._pack_structs(arguments)

    def _pack_anew(self, arguments: tuple[Any, ...]) -> None:
        """Look at every argument."""
        values = [self._convert[place](arguments[place]) for place in self._places]
        pointer_count, number_count = len(self._codes[0]), len(self._codes[1])
        numbers = values[pointer_count : pointer_count + number_count]
        self._addresses.pack_into(self._buffer, self._base, *values[:pointer_count])
        try:
            self._numbers.pack_into(self._buffer, self._numbers_at, *numbers)
        except (struct.error, OverflowError) as error:
            raise self._too_large(numbers) from error
        if self._struct_places:
            self._pack_structs(arguments)

    def _pack_structs(self, arguments: tuple[Any, ...]) -> None:
        values = [self._convert[place](arguments[place]) for place in self._struct_places]
        sizes = tuple(map(len, values))
        if sizes != self._struct_sizes:
            before = self._buffer[self._base : self._structs_at]
            self._struct_sizes = sizes
            self._lay_out()
            self._buffer[self._base : self._structs_at] = before
        for place, value in zip(self._structs, values, strict=True):
            self._buffer[place : place + len(value)] = value

    def _too_large(self, numbers: list[Any]) -> TargetError:
        """What to say of the first number that its parameter cannot hold."""
        parameters = [self.signature.parameters[place] for place in self._places[len(self._codes[0]) :]]
        for parameter, code, number in zip(parameters, self._codes[1], numbers, strict=False):
            try:
                struct.pack("=" + code, number)
            except (struct.error, OverflowError):
                return self._error(parameter, f"{number} is beyond what {parameter.type_name} holds")
        raise AssertionError("all of them can be packed")

    def _meet(self, key: tuple[int, ...]) -> None:
        if self._useless < _MOST_USELESS:
            if len(self._met) >= _MOST_ROWS:
                self._met.clear()
            self._met.add(key)

    def _remember(self, key: tuple[int, ...], arrays: tuple[Any, ...]) -> None:
        """Keep the addresses that have just been packed, until one of the arrays is gone: then its identity may become another's."""
        rows = self._rows
        self._met.discard(key)

        def forget(_: object) -> None:
            row = rows.pop(key, None)
            if row is not None:
                self._useless = 0 if row.is_used else self._useless + 1

        with contextlib.suppress(TypeError):  # of what cannot be referred to weakly
            references = [weakref.ref(array, forget) for array in arrays if array is not None]
            if len(rows) >= _MOST_ROWS:
                rows.clear()
            rows[key] = _Row(bytes(self._buffer[self._pointers_at]), references)

    def _lay_out(self) -> None:
        """A buffer with room for the structs of these sizes, and where everything lies in it. Natural alignment is enough, 16 bytes for structs."""
        codes, numbers = self._codes[1], "="
        size = first = 8 * len(self._codes[0])
        offsets = list(range(0, size, 8))
        for code in codes:
            width = struct.calcsize("=" + code)
            padding = -size % width
            numbers += f"{padding}x{code}"
            offsets.append(size + padding)
            size += padding + width
        structs = []
        for length in self._struct_sizes:
            size += -size % 16
            structs.append(size)
            size += length
        raw = ctypes.create_string_buffer(size + 16)
        start = ctypes.addressof(raw)
        self._base = -start % 16
        self._held, self._buffer = raw, memoryview(raw).cast("B")
        self._addresses, self._numbers = struct.Struct("=" + self._codes[0]), struct.Struct(numbers)
        self._numbers_at, self._pointers_at = self._base + first, slice(self._base, self._base + first)
        self._structs = [self._base + place for place in structs]
        self._structs_at = self._structs[0] if structs else self._base + size
        for place, offset in zip(self._places, [*offsets, *structs], strict=True):
            self._pointers[place] = start + self._base + offset

    def _converter(self, parameter: Parameter) -> Callable[[Any], int | float | bytes]:
        """How one parameter's value is packed. Launches are frequent: what can be known beforehand is."""
        if parameter.is_pointer:
            return self._pointer_converter(parameter)
        if parameter.type_name in _SCALARS:
            return self._number_converter(parameter, float if parameter.type_name == "float" else int)

        def struct_bytes(value: Any) -> bytes:
            if not isinstance(value, np.ndarray | np.void):
                raise self._error(parameter, f"a struct {parameter.type_name} was expected, {type(value).__name__} was given")
            return value.tobytes()

        return struct_bytes

    def _number_converter(self, parameter: Parameter, kind: Callable[[Any], int | float]) -> Callable[[Any], int | float]:
        def number(value: Any) -> int | float:
            if type(value) is kind:
                return value
            if getattr(value, "shape", ()):
                raise self._error(parameter, f"a number was expected, an array of shape {value.shape} was given")
            try:
                return kind(value)
            except (TypeError, ValueError, OverflowError) as error:
                raise self._error(parameter, f"a number was expected, {type(value).__name__} was given") from error

        return number

    def _pointer_converter(self, parameter: Parameter) -> Callable[[Any], int]:
        wanted, address_of = _DTYPES.get(parameter.type_name), self._address_of
        checked: dict[int, tuple[weakref.ref[Any], int]] = {}  # arrays given before, by their ids: most are given again in every frame

        def pointer(value: Any) -> int:
            if value is None:
                return 0
            known = checked.get(id(value))
            if known is not None and known[0]() is value:
                return known[1]
            dtype = getattr(value, "dtype", None)
            if dtype is None:
                raise self._error(parameter, f"an array was expected, {type(value).__name__} was given")
            if wanted is not None and dtype is not wanted and dtype != wanted and dtype.kind != "V":
                raise self._error(parameter, f"an array of {wanted.name} was expected, {dtype.name} was given")
            if not value.flags.c_contiguous:
                raise self._error(parameter, "the array is not contiguous")
            found = address_of(value)
            if len(checked) >= _MOST_CHECKED:
                checked.clear()
            with contextlib.suppress(TypeError):  # of what cannot be referred to weakly
                checked[id(value)] = weakref.ref(value), found
            return found

        return pointer

    def _error(self, parameter: Parameter, what: str) -> TargetError:
        return TargetError(f"Kernel {self.signature.name}, parameter {parameter.name}: {what}.")
