"""The pool of threads of the host target and what it does besides kernels, from host_runtime.cpp."""

from __future__ import annotations

import ctypes
import hashlib
import pathlib
from collections.abc import Callable

from .host_compiler import compile_library, compiled_file, is_compiled

_LIBRARIES = ("-lpthread",)


def has_runtime() -> bool:
    """Whether the cache has it."""
    return is_compiled(_text()[1], False, libraries=_LIBRARIES)


def make_runtime(check: Callable[[], None]) -> None:
    """Compile it where the cache has it not. What `check` raises ends the compiler."""
    compiled_file(*_text(), False, _LIBRARIES, check)


def _text() -> tuple[str, str]:
    """The source, and what tells it from others."""
    text = pathlib.Path(__file__).with_name("host_runtime.cpp").read_text(encoding="utf-8")
    return text, hashlib.sha256(text.encode()).hexdigest()


def load_runtime() -> ctypes.CDLL:
    """The compiled library, its functions with their types."""
    library = compile_library(*_text(), False, _LIBRARIES)
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    library.pool_create.restype = pointer
    library.pool_create.argtypes = [integer, integer, integer]
    library.pool_threads.argtypes = [pointer]
    library.pool_run.argtypes = [pointer, pointer, pointer, integer, pointer]
    library.pool_run.restype = None
    library.pool_destroy.argtypes = [pointer]
    library.pool_destroy.restype = None
    for sort in (library.sort_u32, library.sort_u64):
        sort.argtypes = [pointer, pointer, pointer, pointer, pointer, ctypes.c_int64, integer, integer]
        sort.restype = None
    library.sort_passes.argtypes = [ctypes.c_int64, integer, integer]
    library.exclusive_scan.argtypes = [pointer, pointer, pointer, ctypes.c_int64]
    library.exclusive_scan.restype = None
    library.fill.argtypes = [pointer, pointer, ctypes.c_uint64, ctypes.c_int64]
    library.fill.restype = None
    return library
