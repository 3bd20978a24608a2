"""Packs a launch's arguments into the `void*[]` that both cuLaunchKernel and the host pool take, by the kernel's declared types."""

from __future__ import annotations

import contextlib
import ctypes
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


class ArgumentBlock:
    """Arguments of one kernel, packed again at every launch. `address` is the `void**`; valid until the next `pack`."""

    def __init__(self, signature: KernelSignature, address_of: Callable[[Any], int]) -> None:
        self.signature, self._address_of = signature, address_of
        self._convert = [self._converter(parameter) for parameter in signature.parameters]
        self._has_structs = any(not p.is_pointer and p.type_name not in _SCALARS for p in signature.parameters)
        self._packer: struct.Struct | None = None
        self._struct_sizes: tuple[int, ...] = ()
        self._buffer = ctypes.create_string_buffer(1)
        self._pointers = (ctypes.c_void_p * max(1, len(signature.parameters)))()
        self.address = ctypes.addressof(self._pointers)

    def pack(self, arguments: tuple[Any, ...]) -> None:
        """Take the values of one launch; raises TargetError where they do not fit the declaration."""
        if len(arguments) != len(self._convert):
            raise TargetError(f"Kernel {self.signature.name} takes {len(self._convert)} arguments, {len(arguments)} were given.")
        values = [convert(argument) for convert, argument in zip(self._convert, arguments, strict=True)]
        sizes = tuple(len(v) for v in values if isinstance(v, bytes)) if self._has_structs else ()
        if self._packer is None or sizes != self._struct_sizes:
            self._lay_out(sizes)
        assert self._packer is not None
        self._packer.pack_into(self._buffer, self._base, *values)

    def _lay_out(self, struct_sizes: tuple[int, ...]) -> None:
        # Every argument has its own pointer, so only natural alignment matters (16 for structs).
        sizes, layout, offset, offsets = iter(struct_sizes), "=", 0, []
        for parameter in self.signature.parameters:
            code = "Q" if parameter.is_pointer else _SCALARS.get(parameter.type_name, "")
            size = struct.calcsize("=" + code) if code else next(sizes)
            aligned = -(-offset // (size if code else 16)) * (size if code else 16)
            layout += f"{aligned - offset}x" + (code or f"{size}s")
            offsets.append(aligned)
            offset = aligned + size
        self._packer, self._struct_sizes = struct.Struct(layout), struct_sizes
        self._buffer = ctypes.create_string_buffer(offset + 16)
        start = ctypes.addressof(self._buffer)
        self._base = -start % 16
        for index, place in enumerate(offsets):
            self._pointers[index] = start + self._base + place

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
            return kind(value)

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
