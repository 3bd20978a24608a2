"""Arrays that belong to somebody else, by `__array__`, `__cuda_array_interface__` or DLPack, as arrays of a target and
back: without a copy where they lie on the target already, and kept alive by what was made of them.

A library that an array comes from is never imported here: it is there, or nobody could have made the array.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..errors import Error
from .base import Array, Target, TargetError

_CPU_DEVICES = (1, 3, 11)  # of DLPack: memory of the host, page-locked memory, of ROCm
_BY_DLPACK = {"torch": "torch.utils.dlpack", "jax": "jax.dlpack", "jaxlib": "jax.dlpack", "warp": "warp"}


class WrongDeviceError(TargetError):
    """An array lies where the target cannot read it."""


class RaggedError(Error, ValueError):
    """Rows that are no array: they have not all the same length."""


def library_of(array: Any) -> str:
    """The package that an array's type is of: numpy, cupy, torch, jax, warp, ...; "" of plain sequences."""
    name = type(array).__module__.partition(".")[0]
    return "" if name == "builtins" else name


def of_numbers(array: Any) -> Any:
    """The array itself; an array of vectors or matrices, as Warp has them, as one of numbers over the same memory."""
    if library_of(array) != "warp" or not getattr(array.dtype, "_shape_", ()):
        return array
    return sys.modules["warp"].from_dlpack(array)


def is_on_gpu(array: Any) -> bool:
    """Whether an array lies in the memory of a GPU."""
    if isinstance(array, np.ndarray | list | tuple | int | float | np.generic):
        return False
    if has_cuda_interface(array):
        return True
    if hasattr(array, "__dlpack_device__"):
        return int(array.__dlpack_device__()[0]) not in _CPU_DEVICES
    return False


def has_cuda_interface(array: Any) -> bool:
    """Whether it says where on a GPU it lies. Libraries give the attribute to arrays of the host, too, and raise."""
    try:
        return isinstance(getattr(array, "__cuda_array_interface__", None), dict)
    except Exception:  # whatever their way of saying no is
        return False


def on_host(array: Any, name: str) -> np.ndarray:
    """The array as numpy's, without a copy where its memory can be read. Raises WrongDeviceError for a GPU's."""
    if is_on_gpu(array):
        raise WrongDeviceError(
            f"{name} lie on a GPU and the tree is on the CPU",
            remedy='copy them (.get(), .cpu(), .numpy()), or take device="cuda"',
        )
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__") or hasattr(array, "__array_interface__"):
        return in_rows(array, name)  # where DLPack would only lend it to be read, as Warp's does
    try:
        return np.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError):  # of a type or a layout that DLPack has no word for
        return np.asarray(array)


def in_rows(values: Any, name: str) -> np.ndarray:
    """numpy's array of a sequence, a number or an array of the host. RaggedError where rows have different lengths."""
    try:
        return np.asarray(values)
    except ValueError as error:
        lengths = [len(row) if hasattr(row, "__len__") else 0 for row in values]
        other = next((number for number, length in enumerate(lengths) if length != lengths[0]), None)
        what = (
            f"row 0 has {lengths[0]} and row {other} has {lengths[other]} numbers"
            if other is not None
            else "rows have different lengths within"
        )
        raise RaggedError(f"{name} are no array: {what}", remedy="give each row as many numbers") from error


def on_target(target: Target, array: Any, name: str) -> Array:
    """The array as the target's own kind. Of a GPU it is not copied; of the host it is, to a target that is a GPU."""
    if target.kind == "host":
        return on_host(array, name)
    if is_on_gpu(array):
        adopted: Array = target.adopt(array, name)  # type: ignore[attr-defined]
        return adopted
    return on_host(array, name)


def is_library(library: str) -> bool:
    """Whether it takes arrays by DLPack, and is imported."""
    return _BY_DLPACK.get(library, "") in sys.modules


def as_library(array: Array, library: str) -> Any:
    """An array of a target as the library's kind, over the same memory; the target's own kind where the library is
    none that takes DLPack."""
    module = sys.modules.get(_BY_DLPACK.get(library, ""))
    return array if module is None else module.from_dlpack(array)


def stream_of(target: Target, arrays: tuple[Any, ...], stream: Any = None) -> int | None:
    """The CUDA stream that the caller works on, as a number: `stream` where one is given (a number, or what cupy, torch
    or the protocol `__cuda_stream__` have), else the current one of the library that the arrays are of. None where the
    target is no GPU, or nothing of the caller lies on it."""
    if target.kind == "host":
        return None
    if stream is not None:
        return _pointer_of(stream)
    for array in arrays:
        if array is None or not is_on_gpu(array):
            continue
        torch = sys.modules.get("torch")
        if library_of(array) == "torch" and torch is not None:
            return int(torch.cuda.current_stream(array.device).cuda_stream)
        if library_of(array) == "warp":
            return int(array.device.stream.cuda_stream)
        said = array.__cuda_array_interface__.get("stream") if has_cuda_interface(array) else None
        if said is not None:
            return int(said)
        current: int = target.current_stream()  # type: ignore[attr-defined]
        return current
    return None


def _pointer_of(stream: Any) -> int:
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    return int(stream)
