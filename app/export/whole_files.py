"""Files that appear whole or not at all: written beside their place under another name, then renamed.

A file is never seen half written: on an error, a full disk or a cancel the old one stays and nothing is left beside it;
a process that is killed leaves the old file, and at worst a hidden `.NAME.*.part`, which the next one
takes away once it is a day old.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import glob
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

STALE_S = 86400.0
"""Seconds after which a half-written file counts as left over."""

Check = Callable[[], None]
"""Called now and then while a file is written; raises where someone asked to stop."""


def nothing_to_check() -> None:
    """Nobody can ask to stop."""


PROBE_BYTES = 4096


def check_writable(folder: Path, *names: str) -> None:
    """Raise the OSError that writing files of these names into `folder`, which may have to be made, would end in,
    before there is anything to write: a file without a name is filled where it would be, and is gone at once."""
    for name in names:
        path = folder / name
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if path.exists() and not path.is_file():
            raise FileExistsError(errno.EEXIST, "A device or a pipe stands there, not a file", str(path))
    while not folder.exists() and folder != folder.parent:
        if folder.is_symlink():
            raise FileNotFoundError(errno.ENOENT, "It is a link to what is not there", str(folder))
        folder = folder.parent
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        number = errno.EROFS if os.statvfs(folder).f_flag & os.ST_RDONLY else errno.EACCES
        raise OSError(number, os.strerror(number), str(folder))
    try:
        with tempfile.TemporaryFile(dir=folder) as file:  # a file system that takes no files, or is full
            file.write(bytes(PROBE_BYTES))
            file.flush()
    except FileNotFoundError as error:  # /proc says so of each new name
        raise PermissionError(errno.EPERM, "It takes no new files", str(folder)) from error
    except OSError as error:
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), str(folder)) from error


def write_atomically(path: Path, write: Callable[[IO[bytes]], object], check: Check = nothing_to_check) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it. Nothing is left behind where that fails; the
    OSError names `path`, unless another file is at fault."""
    with whole_file(path, check) as file:
        write(file)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file that is at hand already. Raises OSError."""
    write_atomically(path, lambda file: file.write(data))


@contextlib.contextmanager
def whole_file(path: Path, check: Check = nothing_to_check) -> Iterator[IO[bytes]]:
    """A file to write that takes the place of `path` at the end; an error inside leaves what was there."""
    with whole_path(path, check) as name, open(name, "r+b") as file:
        yield _Checked(file, check)  # type: ignore[misc]
        file.flush()


@contextlib.contextmanager
def whole_path(path: Path, check: Check = nothing_to_check) -> Iterator[Path]:
    """The name of an empty file that takes the place of `path` at the end, for libraries that open files themselves.
    Raises OSError, which names `path` unless another file is at fault."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.", suffix=".part")
    except OSError as error:
        raise _naming(path, error) from error
    _unfinished.add(name)
    try:
        try:
            os.fchmod(handle, 0o666 & ~_umask())
            os.close(handle)
            yield Path(name)
            check()
            os.replace(name, path)
        finally:
            Path(name).unlink(missing_ok=True)
            _unfinished.discard(name)
    except OSError as error:
        if error.filename is not None and str(error.filename) != name:
            raise  # of a file that was read meanwhile, say
        raise _naming(path, error) from error


def _naming(path: Path, error: OSError) -> OSError:
    return OSError(error.errno or errno.EIO, error.strerror or str(error), str(path))


def _sweep(path: Path) -> None:
    """Take away what programs that were killed left of this file; one that is still written was changed lately."""
    for left in path.parent.glob(f".{glob.escape(path.name[:80])}.*.part"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > STALE_S:
                left.unlink()


class _Checked:
    """A file that asks before each write whether to go on, so that a cancel acts in the middle of a large picture."""

    def __init__(self, file: IO[bytes], check: Check) -> None:
        self._file, self._check = file, check

    def write(self, data: Any) -> int:
        self._check()
        return self._file.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


_unfinished: set[str] = set()


@atexit.register
def _forget_unfinished() -> None:
    """The program ends while another thread writes: what it wrote so far is nobody's."""
    for name in list(_unfinished):
        Path(name).unlink(missing_ok=True)


def _umask() -> int:
    """The process's mask for new files; it can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
