"""By-value kernel structs as 0-d structured numpy arrays, laid out as a C compiler does."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..rows import Struct
from .base import TargetError

_KINDS: dict[str, Any] = {
    "pointer": "u8",
    "int": "i4",
    "unsigned": "u4",
    "float": "f4",
    "int64": "i8",
    "uint64": "u8",
    "float3": ("f4", (3,)),
    "float4": ("f4", (4,)),
}


def struct_dtype(fields: Sequence[tuple[str, str]]) -> np.dtype:
    """The dtype of a C struct from (name, kind) pairs; kinds: pointer, int, unsigned, float, int64, uint64, float3,
    float4 (as arrays of floats)."""
    return np.dtype([(name, *_as_tuple(_KINDS[kind])) for name, kind in fields], align=True)


def pack(struct: Struct) -> np.ndarray:
    """A struct as kernels take it by value; arrays become their addresses, and structs that it holds may be given
    packed. The caller keeps the arrays alive."""
    kind = type(struct)
    values = {field.name: getattr(struct, field.name) for field in dataclasses.fields(struct)}
    packed = {name: pack(value) if isinstance(value, Struct) else value for name, value in values.items()}
    return make_struct(kind.dtype_with({name: packed[name].dtype for name in kind.open_fields()}), **packed)


def pack_behind(view: np.ndarray, more: Struct) -> np.ndarray:
    """A packed struct and another one behind it, as kernels have a struct that derives from both."""
    parts = (view, pack(more))
    fields = [(name, part.dtype[name]) for part in parts for name in part.dtype.names or ()]
    made = np.zeros((), np.dtype(fields, align=True))
    for part in parts:
        for name in part.dtype.names or ():
            made[name] = part[name]
    return made


def make_struct(dtype: np.dtype, **values: Any) -> np.ndarray:
    """A struct with every field given; arrays become their addresses. The caller keeps the arrays alive."""
    if set(values) != set(dtype.names or ()):
        raise TypeError(f"The struct has the fields {dtype.names}, given were {tuple(values)}.")
    made = np.zeros((), dtype)
    for name, value in values.items():
        wanted = dtype[name]
        if wanted.names is not None and wanted != getattr(value, "dtype", None):  # numpy would fill it by position
            raise TypeError(f"The struct's {name} has the fields {wanted.names}; {value!r} was given.")
        try:
            made[name] = address(value) if wanted == np.dtype("u8") and not isinstance(value, int) else value
        except OverflowError as error:
            raise TargetError(
                f"{value:,} is beyond what a kernel's {name} ({wanted.name}) holds. A smaller scene or "
                f"picture needs less."
            ) from error
    return made


def address(array: Any) -> int:
    """The address of an array's first element on its target; 0 for None."""
    if array is None:
        return 0
    interface = getattr(array, "__cuda_array_interface__", None) or array.__array_interface__
    return int(interface["data"][0])


def _as_tuple(kind: Any) -> tuple[Any, ...]:
    return kind if isinstance(kind, tuple) else (kind,)
