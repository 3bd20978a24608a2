"""Compiled modules are written whole or not at all, also to a disk that is full.

Python 3.11 takes what the system took of one for all of it, gives it its name, and ends each later start with "marshal
data too short". This module is imported for that, by what is started as a program and not by the library.
"""

from __future__ import annotations

import contextlib
import importlib._bootstrap_external as importing
import os

SAYS = "marshal data too short"


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


def told(error: BaseException) -> str:
    """What to do about a compiled module that was cut before, which is taken away; "" where the error is another."""
    if not isinstance(error, EOFError) or SAYS not in str(error):
        return ""
    trace, path = error.__traceback__, ""
    while trace is not None:
        path = trace.tb_frame.f_locals.get("bytecode_path") or path
        trace = trace.tb_next
    with contextlib.suppress(OSError):
        os.unlink(path)
        return f"{path}, a module that Python had compiled, was cut short, by a full disk most likely. Start again."
    return "A module that Python has compiled is cut short, by a full disk most likely: remove the folders __pycache__."


if hasattr(importing, "_write_atomic"):
    setattr(importing, "_write_atomic", write_whole)  # noqa: B010 - mypy knows nothing of it
