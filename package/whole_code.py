"""Compiled modules are written whole or not at all, also to a disk that is full; one that was cut is compiled anew.

Python 3.11 takes what the system took of one for all of it, gives it its name, and ends each later start with "marshal
data too short". This module is imported for that, by what is started as a program and not by the library.
"""

from __future__ import annotations

import contextlib
import importlib._bootstrap_external as importing
import os
from typing import Any

_unpacked = getattr(importing, "_compile_bytecode", None)


def write_whole(path: str, data: bytes, mode: int = 0o666) -> None:
    """What `importlib` writes compiled modules by, all bytes or no file. Raises OSError, which that lets pass."""
    temporary = f"{path}.{os.getpid()}.{id(path)}"
    handle = os.open(temporary, os.O_EXCL | os.O_CREAT | os.O_WRONLY, mode & 0o666)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def unpacked(data: Any, name: str = "", bytecode_path: str | None = None, source_path: str | None = None) -> Any:
    """What `importlib` reads a compiled module by. Where it is cut the source is compiled, as if there had been none;
    it is taken away, for the next start to write, by a process that may do so."""
    assert _unpacked is not None
    try:
        return _unpacked(data, name, bytecode_path, source_path)
    except EOFError:
        if bytecode_path is None or source_path is None:
            raise
    with contextlib.suppress(OSError):
        os.unlink(bytecode_path)
    with open(source_path, "rb") as file:
        return compile(file.read(), source_path, "exec", dont_inherit=True)


for _name, _ours in (("_write_atomic", write_whole), ("_compile_bytecode", unpacked)):
    if hasattr(importing, _name):
        setattr(importing, _name, _ours)
