"""Packs a launch's arguments, by their names, into the `void*[]` that both cuLaunchKernel and the host pool take, by
the types that the kernel declares.

Most launches come again in every frame with the same arrays. Once these have been looked at, whether their types are
right and where they lie, a row of addresses is known by the arrays' identities, until one of them is gone; then only
numbers and structs are packed. Names cost nothing beside that: arguments are taken by them, so where their number is
right and none is missing there is none too many either (docs/decisions/launch-by-name.md).

A block goes with the last who holds it: nothing that it holds refers to it but weakly. A target has hundreds, which
would lie in wait for Python's search for garbage, a tenth of all objects of the window (docs/reliability.md).
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import dataclasses
import difflib
import functools
import operator
import struct
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .base import TargetError
from .translation_unit import KernelSignature, Parameter

_SCALARS = {"int": "i", "unsigned": "I", "float": "f", "int64": "q", "uint64": "Q", "bool": "?", "uint8": "B"}
_POINTEES = {"int": "i4", "unsigned": "u4", "float": "f4", "int64": "i8", "uint64": "u8", "uint8": "u1", "double": "f8"}
_VECTOR_BASES = {
    f"{base}{width}": kind for base, kind in (("float", "f4"), ("int", "i4"), ("uint", "u4")) for width in (2, 3, 4)
}
_DTYPES = {name: np.dtype(kind) for name, kind in (_POINTEES | _VECTOR_BASES).items()}
_MOST_CHECKED = 64
_MOST_ROWS = 256
_MOST_USELESS = 32
"""Rows that were forgotten one after the other without having been of use: this kernel is given arrays that live for
one launch."""


@dataclasses.dataclass(slots=True, eq=False)
class _Row:
    """The addresses of a launch's pointers as they are packed, what tells when one of their arrays is gone, and whether
    they came once more."""

    addresses: bytes
    references: list[weakref.ref[Any]]
    is_used: bool = False


Arguments = Mapping[str, Any]
"""Of one launch, by the names of the kernel's parameters."""


def _taker(names: list[str]) -> Callable[[Arguments], tuple[Any, ...]]:
    """What takes the arguments of these names; raises KeyError where one is missing."""
    if len(names) > 1:
        return operator.itemgetter(*names)
    name = names[0] if names else None
    return (lambda _: ()) if name is None else (lambda arguments: (arguments[name],))


class ArgumentBlock:
    """Arguments of one kernel, packed again at every launch. `address` is the `void**`, `pointer` the same
    for ctypes; valid until the next `pack`."""

    def __init__(self, signature: KernelSignature, address_of: Callable[[Any], int]) -> None:
        self.signature, self._address_of = signature, address_of
        parameters = signature.parameters
        self._accepted: dict[str, np.dtype] = {}
        self._convert: dict[str, Callable[[Any], Any]] = {
            parameter.name: self._converter(parameter) for parameter in parameters
        }
        self._count = len(parameters)
        # What has an address of its own can lie anywhere: pointers come first, then numbers, then structs.
        pointers = [one for one in parameters if one.is_pointer]
        numbers = [one for one in parameters if not one.is_pointer and one.type_name in _SCALARS]
        structs = [one for one in parameters if not one.is_pointer and one.type_name not in _SCALARS]
        self._in_order, self._struct_names = (*pointers, *numbers, *structs), [one.name for one in structs]
        self._pointers_of, self._numbers_of = (
            _taker([one.name for one in pointers]),
            _taker([one.name for one in numbers]),
        )
        self._codes = "Q" * len(pointers), [_SCALARS[one.type_name] for one in numbers]
        self._rows: dict[tuple[int, ...], _Row] = {}
        self._met: set[tuple[int, ...]] = set()
        self._useless = 0
        self._pointers = array.array("Q", bytes(8 * max(1, self._count)))
        self.address = self._pointers.buffer_info()[0]
        self.pointer = ctypes.c_void_p(self.address)
        self._struct_sizes = (0,) * len(structs)
        self._lay_out()

    def pack(self, arguments: Arguments, block: int = 1) -> None:
        """Take the values of one launch in blocks of `block` threads; raises TargetError where they do not fit the
        declaration."""
        if block > self.signature.most_threads:
            raise TargetError(
                f"Kernel {self.signature.name} takes blocks of at most {self.signature.most_threads} threads (its "
                f"__launch_bounds__), and is launched in blocks of {block}."
            )
        try:
            arrays = self._pointers_of(arguments)
            if len(arguments) != self._count:
                raise self._wrong_names(arguments)
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
            if self._struct_names:
                self._pack_structs(arguments)
        except KeyError:
            raise self._wrong_names(arguments) from None

    def _wrong_names(self, arguments: Arguments) -> TargetError:
        """What to say of names that are not those of the kernel's parameters."""
        missing = [name for name in self._convert if name not in arguments]
        strange = [name for name in arguments if name not in self._convert]
        wrong = [f"{name} is missing" for name in missing]
        for name in strange:
            near = difflib.get_close_matches(name, missing or self._convert, 1)
            wrong.append(f"there is no {name}" + (f" (did you mean {near[0]}?)" if near else ""))
        return TargetError(
            f"Kernel {self.signature.name}: {', '.join(wrong)}. Its arguments are "
            f"{', '.join(self._convert) or 'none at all'}."
        )

    def _pack_anew(self, arguments: Arguments) -> None:
        """Look at every argument."""
        values = [self._convert[one.name](arguments[one.name]) for one in self._in_order]
        pointer_count, number_count = len(self._codes[0]), len(self._codes[1])
        numbers = values[pointer_count : pointer_count + number_count]
        self._addresses.pack_into(self._buffer, self._base, *values[:pointer_count])
        try:
            self._numbers.pack_into(self._buffer, self._numbers_at, *numbers)
        except (struct.error, OverflowError) as error:
            raise self._too_large(numbers) from error
        if self._struct_names:
            self._pack_structs(arguments)

    def _pack_structs(self, arguments: Arguments) -> None:
        buffer = self._buffer
        for name, place in self._structs:
            value = arguments[name]
            is_known = type(value) is np.ndarray and not value.shape and value.dtype is self._accepted.get(name)
            data = value.tobytes() if is_known else self._convert[name](value)
            try:
                buffer[place] = data
            except ValueError:  # of another size than before
                self._make_room(arguments)
                return

    def _make_room(self, arguments: Arguments) -> None:
        """Lay out anew for structs of these sizes; pointers and numbers stay as they are packed."""
        values = [self._convert[name](arguments[name]) for name in self._struct_names]
        before = self._buffer[self._base : self._structs_at]
        self._struct_sizes = tuple(map(len, values))
        self._lay_out()
        self._buffer[self._base : self._structs_at] = before
        for (_, place), value in zip(self._structs, values, strict=True):
            self._buffer[place] = value

    def _too_large(self, numbers: list[Any]) -> TargetError:
        """What to say of the first number that its parameter cannot hold."""
        parameters = self._in_order[len(self._codes[0]) :]
        for parameter, code, number in zip(parameters, self._codes[1], numbers, strict=False):
            try:
                struct.pack("=" + code, number)
            except (struct.error, OverflowError):
                return _error(self.signature.name, parameter, f"{number} is beyond what {parameter.type_name} holds")
        raise AssertionError("all of them can be packed")

    def _meet(self, key: tuple[int, ...]) -> None:
        if self._useless < _MOST_USELESS:
            if len(self._met) >= _MOST_ROWS:
                self._met.clear()
            self._met.add(key)

    def _remember(self, key: tuple[int, ...], arrays: tuple[Any, ...]) -> None:
        """Keep the addresses that have just been packed, until one of the arrays is gone: then its identity may become
        another's."""
        rows = self._rows
        self._met.discard(key)
        forget = functools.partial(_forget_row, weakref.ref(self), key)
        with contextlib.suppress(TypeError):  # of what cannot be referred to weakly
            references = [weakref.ref(one, forget) for one in arrays if one is not None]
            if len(rows) >= _MOST_ROWS:
                rows.clear()
            rows[key] = _Row(bytes(self._buffer[self._pointers_at]), references)

    def forget_row(self, key: tuple[int, ...]) -> None:
        """One of the arrays of a row is gone."""
        row = self._rows.pop(key, None)
        if row is not None:
            self._useless = 0 if row.is_used else self._useless + 1

    def _lay_out(self) -> None:
        """A buffer with room for the structs of these sizes, and where everything lies in it. Natural alignment is
        enough, 16 bytes for structs."""
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
        raw = bytearray(size + 16)  # an array of ctypes has a type of its own for each size
        start = ctypes.addressof(ctypes.c_char.from_buffer(raw))
        self._base = -start % 16
        self._held, self._buffer = raw, memoryview(raw)
        self._addresses, self._numbers = struct.Struct("=" + self._codes[0]), struct.Struct(numbers)
        self._numbers_at, self._pointers_at = self._base + first, slice(self._base, self._base + first)
        starts = [self._base + place for place in structs]
        lengths = zip(self._struct_names, starts, self._struct_sizes, strict=True)
        self._structs = [(name, slice(first, first + length)) for name, first, length in lengths]
        self._structs_at = starts[0] if starts else self._base + size
        place_of = {parameter.name: place for place, parameter in enumerate(self.signature.parameters)}
        for parameter, offset in zip(self._in_order, [*offsets, *structs], strict=True):
            self._pointers[place_of[parameter.name]] = start + self._base + offset

    def _converter(self, parameter: Parameter) -> Callable[[Any], int | float | bytes]:
        """How one parameter's value is packed. Launches are frequent: what can be known beforehand is."""
        wrong = functools.partial(_error, self.signature.name, parameter)
        if parameter.is_pointer:
            return _pointer_converter(parameter, self._address_of, wrong)
        if parameter.type_name in _SCALARS:
            return _number_converter(float if parameter.type_name == "float" else int, wrong)
        return _struct_converter(parameter, self._accepted, wrong)


def _error(kernel: str, parameter: Parameter, what: str) -> TargetError:
    return TargetError(f"Kernel {kernel}, parameter {parameter.name}: {what}.")


def _forget_row(block: weakref.ref[ArgumentBlock], key: tuple[int, ...], _: object) -> None:
    found = block()
    if found is not None:
        found.forget_row(key)


class _Checked(dict[int, tuple[weakref.ref[Any], int]]):
    """Arrays given before and their addresses, by their ids: most are given again in every frame."""

    __slots__ = ("__weakref__",)


def _forget_array(checked: weakref.ref[_Checked], key: int, _: object) -> None:
    found = checked()
    if found is not None:
        found.pop(key, None)


def _struct_converter(
    parameter: Parameter, accepted: dict[str, np.dtype], wrong: Callable[[str], TargetError]
) -> Callable[[Any], bytes]:
    """The bytes of a struct; its type is put among those that are `accepted`."""

    def struct_bytes(value: Any) -> bytes:
        if not isinstance(value, np.ndarray | np.void) or value.shape:
            raise wrong(f"a struct {parameter.type_name} was expected, {type(value).__name__} was given")
        if parameter.struct is not None and not parameter.struct.lays_out(value.dtype):
            raise wrong(
                f"a struct {parameter.type_name} was expected, with the fields "
                f"{', '.join(parameter.struct.c_types())} as {parameter.struct.__name__} has them; one with "
                f"{', '.join(value.dtype.names or ('none',))} was given"
            )
        accepted[parameter.name] = value.dtype
        return value.tobytes()

    return struct_bytes


def _number_converter(
    kind: Callable[[Any], int | float], wrong: Callable[[str], TargetError]
) -> Callable[[Any], int | float]:
    def number(value: Any) -> int | float:
        if type(value) is kind:
            return value
        if getattr(value, "shape", ()):
            raise wrong(f"a number was expected, an array of shape {value.shape} was given")
        try:
            return kind(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise wrong(f"a number was expected, {type(value).__name__} was given") from error

    return number


def _pointer_converter(
    parameter: Parameter, address_of: Callable[[Any], int], wrong: Callable[[str], TargetError]
) -> Callable[[Any], int]:
    wanted = _DTYPES.get(parameter.type_name)
    width = int(parameter.type_name[-1]) if parameter.type_name in _VECTOR_BASES else 1
    checked = _Checked()
    own = weakref.ref(checked)

    def pointer(value: Any) -> int:
        if value is None:
            return 0
        known = checked.get(id(value))
        if known is not None and known[0]() is value:
            return known[1]
        dtype = getattr(value, "dtype", None)
        if dtype is None:
            raise wrong(f"an array was expected, {type(value).__name__} was given")
        if wanted is not None and dtype is not wanted and dtype != wanted and dtype.kind != "V":
            raise wrong(f"an array of {wanted.name} was expected, {dtype.name} was given")
        if width > 1 and dtype.kind != "V" and value.size % width:
            raise wrong(f"whole {parameter.type_name}s were expected, an array of shape {value.shape} was given")
        if not value.flags.c_contiguous:
            raise wrong("the array is not contiguous")
        found = address_of(value)
        if len(checked) >= _MOST_CHECKED:
            checked.clear()
        key = id(value)
        with contextlib.suppress(TypeError):  # of what cannot be referred to weakly
            checked[key] = weakref.ref(value, functools.partial(_forget_array, own, key)), found
        return found

    return pointer
