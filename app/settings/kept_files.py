"""Files that the program keeps for its user (settings, cameras, keys): read where they are files and no larger than
they may be, written whole and to the disk, by one program at a time, and put aside under a name that nothing has."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from raygrove.gpu.linux import try_lock

STALE_S = 60.0
"""Seconds after which a half-written file counts as left over."""
WAIT_S, POLL_S = 10.0, 0.005
"""How long another program may keep a file, and how often it is asked for."""


class UnusableFileError(ValueError):
    """What stands there is no file, or larger than such files are; the text says which."""


def read_bytes(path: Path, limit: int) -> bytes | None:
    """The file's bytes; None where there is no such file. No more than `limit` bytes are read, and nobody is waited for
    who might write into a pipe. Raises UnusableFileError, and OSError where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnusableFileError("it is not a file")
    with open(descriptor, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise UnusableFileError(f"it has more than the {limit} bytes that are read of it")
    return data


def write_bytes(path: Path, data: bytes) -> None:
    """All of it or nothing, whatever ends the program or the machine: under another name first, then renamed; what a
    killed program left so is cleared away, also what a wrong clock stamped with a time to come. Where a link stands, it
    stays one. Raises OSError."""
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    for stale in path.parent.glob(f"{glob.escape(path.name)}.*.tmp"):
        with contextlib.suppress(OSError):
            if abs(time.time() - stale.stat().st_mtime) > STALE_S:
                stale.unlink()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # some file systems do not know it of folders
        folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def put_aside(path: Path) -> Path:
    """Rename a file that holds what cannot be used to NAME.bad, or NAME.bad2, .bad3 ...: none that was put aside before
    is lost. Returns the new name; raises OSError."""
    number = 1
    while True:
        kept = path.with_name(f"{path.name}.bad{number if number > 1 else ''}")
        try:
            os.link(path, kept, follow_symlinks=False)  # fails where the name is taken, as a rename would not
        except FileExistsError:
            number += 1
            continue
        except OSError:  # a file system without hard links
            if kept.exists():
                number += 1
                continue
            os.replace(path, kept)
            return kept
        path.unlink()
        return kept


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other programs that ask so from the files in the folder of `path` meanwhile: the folder itself is locked, so
    that no file for it is left behind. Where the file system knows no locks, nothing is kept from anyone. Raises
    TimeoutError where another program keeps it for long."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        end = time.monotonic() + WAIT_S
        while not _try(folder):
            if time.monotonic() > end:
                raise TimeoutError(errno.ETIMEDOUT, f"another program has kept it for {WAIT_S:g} seconds", str(path))
            time.sleep(POLL_S)
        yield
    finally:
        os.close(folder)


def _try(file: int) -> bool:
    try:
        return try_lock(file)
    except OSError:
        return True
