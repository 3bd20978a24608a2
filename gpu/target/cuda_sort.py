"""Sorting and scanning on CUDA: NVIDIA's CUB through cuda.compute where it can be imported, else Raygrove's own
kernels.

cuda.compute builds an algorithm for a type in about three seconds; the result is kept in the cache folder and loaded in
milliseconds afterwards.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .base import Array, NoDeviceError, Target, TargetError
from .cache import find_bytes, keep_bytes
from .cuda_driver import Cuda
from .nvrtc import nvrtc_version
from .remarks import remark


class Sorter(Protocol):
    """How a target sorts and scans. `name` is library or own."""

    name: str

    def sort_keys(self, keys: Array, bits: tuple[int, int], scratch: str) -> Array: ...

    def sort_pairs(self, keys: Array, values: Array, bits: tuple[int, int], scratch: str) -> tuple[Array, Array]: ...

    def exclusive_scan(self, values: Array, out: Array, scratch: str) -> None: ...


@functools.cache
def library_reason() -> str:
    """Why cuda.compute cannot be used here; empty where it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import cuda.compute as library
    except Exception as error:  # it raises several types where a library of the toolkit is missing
        return f"cuda.compute cannot be imported: {error}"
    if not getattr(library, "_BINDINGS_AVAILABLE", True):
        return "cuda.compute finds no CUDA driver or no part of cuda-cccl that fits it"
    return ""


def choose_sorter(choice: str, target: Target, cuda: Cuda, stream: Any, architecture: int) -> Sorter:
    """The sorter that the option `sort` asks for: auto, library or own (any other name is of those that only sort,
    beside auto's scan). Raises NoDeviceError where it has to be the library and that is missing."""
    from .own_sort import OwnSorter

    reason = library_reason() if choice != "own" else "the option sort is own"
    if reason and choice == "library":
        raise NoDeviceError(f"The option sort is library, but {reason}. Install cuda-cccl, or set sort to auto or own.")
    return OwnSorter(target) if reason else LibrarySorter(target, cuda, stream, architecture)


class Lent:
    """Where an array lies, without the array. cuda.compute's algorithms keep what they were called with last, so that
    its memory would live as long as they do."""

    def __init__(self, array: Array) -> None:
        self.dtype, self.shape, self.size = array.dtype, array.shape, array.size
        place = {"data": (int(array.data.ptr), False), "typestr": self.dtype.str, "shape": self.shape}
        self.__cuda_array_interface__ = {**place, "strides": None, "version": 3}


class LibrarySorter:
    """CUB's radix sort and scan, on the target's stream, with scratch memory of the target: nothing is allocated by the
    library."""

    name = "library"

    def __init__(self, target: Target, cuda: Cuda, stream: Any, architecture: int) -> None:
        import cuda.compute as library

        self._library, self._target, self._stream = library, target, stream
        self._flavour = f"sm_{architecture} {library_version()} {nvrtc_version()} {cuda.cupy.__version__}"
        self._algorithms: dict[tuple[Any, ...], Any] = {}
        self._scratch_bytes: dict[tuple[Any, ...], int] = {}
        self._zeros: dict[str, np.ndarray] = {}

    def sort_keys(self, keys: Array, bits: tuple[int, int], scratch: str) -> Array:
        """See Target.sort_keys."""
        return self._sort(keys, None, bits, scratch)[0]

    def sort_pairs(self, keys: Array, values: Array, bits: tuple[int, int], scratch: str) -> tuple[Array, Array]:
        """See Target.sort_pairs."""
        return self._sort(keys, values, bits, scratch)

    def exclusive_scan(self, values: Array, out: Array, scratch: str) -> None:
        """See Target.exclusive_scan."""
        kind, lent, lent_out = values.dtype.str, Lent(values), Lent(out)
        zero = self._zeros.setdefault(kind, np.zeros(1, values.dtype))
        plus = self._library.OpKind.PLUS
        scan = self._algorithm(
            ("scan", kind, out.dtype.str),
            lambda: self._library.make_exclusive_scan(d_in=lent, d_out=lent_out, op=plus, init_value=zero),
        )
        common = {
            "d_in": lent,
            "d_out": lent_out,
            "op": plus,
            "init_value": zero,
            "num_items": values.size,
            "stream": self._stream,
        }
        self._run(scan, ("scan", kind, values.size), scratch, common)

    def _sort(self, keys: Array, values: Array | None, bits: tuple[int, int], scratch: str) -> tuple[Array, Array]:
        library = self._library
        key_buffers, keys_of = self._double_buffer(keys, scratch + ".keys")
        value_buffers: Any = None
        if values is not None:
            value_buffers, values_of = self._double_buffer(values, scratch + ".values")
        kind = ("sort", keys.dtype.str, None if values is None else values.dtype.str)
        arrays = {"d_in_keys": key_buffers, "d_out_keys": None, "d_in_values": value_buffers, "d_out_values": None}
        sort = self._algorithm(kind, lambda: library.make_radix_sort(**arrays, order=library.SortOrder.ASCENDING))
        common = {**arrays, "num_items": keys.size, "begin_bit": bits[0], "end_bit": bits[1], "stream": self._stream}
        self._run(sort, (*kind, keys.size, bits), scratch, common)
        return keys_of[key_buffers.current()], values if value_buffers is None else values_of[value_buffers.current()]

    def _double_buffer(self, array: Array, scratch: str) -> tuple[Any, dict[Lent, Array]]:
        """An array and the scratch array that a sort moves it to and fro, and which is which of what was lent."""
        arrays = {Lent(one): one for one in (array, self._target.scratch(scratch, array.shape, array.dtype))}
        return self._library.DoubleBuffer(*arrays), arrays

    def _run(self, algorithm: Any, key: tuple[Any, ...], scratch: str, arguments: dict[str, Any]) -> None:
        size = self._scratch_bytes.get(key)
        if size is None:
            if len(self._scratch_bytes) > 1024:
                self._scratch_bytes.clear()
            size = self._scratch_bytes[key] = max(1, int(algorithm(temp_storage=None, **arguments)))
        algorithm(temp_storage=self._target.scratch(scratch + ".storage", size, np.uint8), **arguments)

    def _algorithm(self, kind: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """The built algorithm of a kind: of this process, from the cache folder, or built now and written there."""
        found = self._algorithms.get(kind)
        if found is None:
            found = self._algorithms[kind] = self._load(kind, make)
        return found

    def _load(self, kind: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        if not hasattr(self._library, "serialize"):
            return make()
        key = "sort-" + hashlib.sha256(repr((kind, self._flavour)).encode()).hexdigest()[:32]
        kept = find_bytes(key, ".cccl")
        # Bytes of another build of the library are refused in several ways, and not every build of it can be written
        # down.
        if kept is not None:
            with contextlib.suppress(Exception):
                return self._library.deserialize(kept)
        made, written = make(), b""
        with contextlib.suppress(Exception):
            written = self._library.serialize(made)
        try:
            if written:
                keep_bytes(key, ".cccl", written)
        except OSError as error:
            remark(
                f"NVIDIA's sort, built for this GPU, cannot be kept and is built again at the next start: "
                f"{error.filename}: {error.strerror}."
            )
        return made


def library_version() -> str:
    """The version of cuda-cccl, or a dash."""
    import importlib.metadata

    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version("cuda-cccl")
    return "-"


def check_sort(keys: Array, values: Array | None, bits: tuple[int, int]) -> None:
    """Raise TargetError where arrays cannot be sorted."""
    if (
        keys.dtype.itemsize not in (4, 8)
        or keys.dtype.kind not in "ui"
        or (values is not None and values.dtype.itemsize != 4)
    ):
        raise TargetError(f"Sorting takes 32- or 64-bit integer keys and 32-bit values, not {keys.dtype.name}.")
    if not 0 <= bits[0] <= bits[1] <= keys.dtype.itemsize * 8:
        raise TargetError(
            f"Keys of {keys.dtype.itemsize * 8} bits cannot be sorted by the bits {bits[0]} to {bits[1]}."
        )
    if values is not None and values.size != keys.size:
        raise TargetError(f"There are {keys.size} keys and {values.size} values to sort.")
