"""The folder of compiled code: a file a key, checked before anything of it is loaded.

The folder is one that nobody else can change (private_folders.py). A file holds what was made and, behind it, a seal: a
mark, the length and the SHA-256 of what stands before it. Libraries, programs and cubins may have bytes behind their
end, and one file cannot disagree with another. It is written under another name, flushed to the disk and renamed. So a
file whose seal holds is whole; one that is cut, changed, or somebody else's is made anew, and that is said.

Programs that need the same file at once wait for the first one to have made it (makers.py).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import pathlib
import stat
import struct
import tempfile
import time
from collections.abc import Callable

from ..linux import user
from .makers import LOCK, only_maker
from .private_folders import NotPrivateError, open_private, temporary_folder
from .remarks import remark

_PART = ".part-"
_STALE_S, _LOOKED_FOR_S = 3600.0, 60.0
"""Seconds after which a file under its temporary name counts as left by a program that was ended; and how often a
program looks for such files, at most: a folder of thousands takes longer to list than a file to write."""

RENAMES = 20
"""How often a file is given its name where folders are put in its place meanwhile."""

_looked: dict[pathlib.Path, float] = {}
"""When this program looked for them, by folder."""

_SEAL = struct.Struct("<16sQ32s")
_MARK = b"raygrove sealed\0"
SEALED = "-sealed"
"""In every name, so that files of versions without seals are never looked at."""


class DamagedError(Exception):
    """A file of the cache must not be used; the message says why."""


def cache_folder() -> pathlib.Path:
    """Where compiled code is kept: RAYGROVE_CACHE, or the user's cache folder; made where it is missing. Where that
    cannot be, or is not for this user alone, a folder among the temporary files, and that is said. Raises
    NotPrivateError where there is none either."""
    folder, why = place_and_reason()
    if why:
        remark(why)
    return folder


def place_and_reason() -> tuple[pathlib.Path, str]:
    """The folder of compiled code, and a sentence where it is another than was meant."""
    try:
        wanted = _wanted_folder()
    except RuntimeError:  # this user has no home
        return temporary_folder(), ""
    try:
        return open_private(wanted), ""
    except NotPrivateError as error:
        reason, advice = error.reason, "Remove it, or make it and the folders above it yours alone,"
    except OSError as error:
        reason, advice = f"{error.filename or wanted}: {error.strerror}", "Make that possible,"
    folder = temporary_folder()
    why = f"The cache folder {wanted} is not used: {reason}. Compiled kernels are kept in {folder}."
    return folder, f"{why} {advice} or set RAYGROVE_CACHE to a folder that only you can write."


def cached_file(
    key: str, suffix: str, make: Callable[[pathlib.Path], None], check: Callable[[], None] = lambda: None
) -> pathlib.Path:
    """The checked file of `key`; where there is none, `make` writes it under a temporary name. What `check` raises
    while another program makes it ends the waiting."""
    found = find_file(key, suffix)
    if found is None:
        path = _places(key + SEALED + suffix)[-1]
        with only_maker(path.with_name(LOCK + key), check):
            found = find_file(key, suffix) or _made(path, make)  # another one may have made it meanwhile
    return found


def find_file(key: str, suffix: str) -> pathlib.Path | None:
    """The checked file of `key`, or None."""
    places = _places(key + SEALED + suffix)
    return next((path for path in places if _found(path, path == places[-1]) is not None), None)


def cached_bytes(key: str, suffix: str, make: Callable[[], bytes]) -> bytes:
    """What is kept under `key`: checked as it was read; made where there is nothing, and kept where that can be."""
    found = find_bytes(key, suffix)
    if found is None:
        with only_maker(_places(key + SEALED + suffix)[-1].with_name(LOCK + key)):
            found = find_bytes(key, suffix)  # another one may have made it meanwhile
            if found is None:
                found = make()
                try:
                    keep_bytes(key, suffix, found)
                except OSError as error:
                    where = f"{error.filename or cache_folder()}: {error.strerror}"
                    remark(f"A compiled kernel cannot be kept and is made again at the next start: {where}.")
    return found


def find_bytes(key: str, suffix: str) -> bytes | None:
    """What is kept under `key`, or None."""
    places = _places(key + SEALED + suffix)
    return next((found for path in places if (found := _found(path, path == places[-1])) is not None), None)


def keep_bytes(key: str, suffix: str, data: bytes) -> None:
    """Keep `data` under `key`, in the place of what is there."""
    _made(_places(key + SEALED + suffix)[-1], lambda path: _write(path, data))


def damaged_files(folder: pathlib.Path) -> list[str]:
    """The sealed files of a folder that must not be used, with the reason for each."""
    bad = []
    for path in sorted(folder.glob(f"*{SEALED}*")):
        try:
            contents_of(path)
        except DamagedError as error:
            bad.append(f"{path.name}: {error}")
    return bad


def contents_of(path: pathlib.Path) -> bytes | None:
    """What a sealed file holds, None where there is no file. Looks at the file that it has open, so that the bytes are
    those that were checked. Raises DamagedError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DamagedError("it is a symbolic link" if error.errno == errno.ELOOP else error.strerror) from error
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):  # nor can a folder be opened as one
        os.close(handle)
        raise DamagedError("it is not a file")
    with open(handle, "rb") as file:
        if status.st_uid not in (user(), 0):
            raise DamagedError(f"it belongs to user {status.st_uid}")
        if status.st_mode & 0o022:
            raise DamagedError(f"others can write it (mode {stat.S_IMODE(status.st_mode):04o})")
        try:
            data = file.read()
        except OSError as error:
            raise DamagedError(error.strerror) from error
    return _unsealed(data)


def _unsealed(data: bytes) -> bytes:
    size = len(data) - _SEAL.size
    mark, length, digest = _SEAL.unpack(data[size:]) if size >= 0 else (b"", 0, b"")
    if mark != _MARK or length != size:
        raise DamagedError("it is not whole")
    contents = data[:size]
    if hashlib.sha256(contents).digest() != digest:
        raise DamagedError("its checksum is wrong")
    return contents


def _places(name: str) -> list[pathlib.Path]:
    """Where a file may lie; the last is where it is written. A folder that can only be read is read, and what it lacks
    is kept among the temporary files, which is said."""
    folder = cache_folder()
    if os.access(folder, os.W_OK | os.X_OK):
        return [folder / name]
    other = temporary_folder()
    remark(
        f"The cache folder {folder} cannot be written, so kernels that it lacks are kept in {other}. Set "
        f"RAYGROVE_CACHE to one that can."
    )
    readable = [folder / name] if os.access(folder, os.X_OK) else []
    return [*readable, other / name]


def _found(path: pathlib.Path, is_replaced: bool) -> bytes | None:
    """What a file holds; one that must not be used counts as none, and that is said."""
    try:
        return contents_of(path)
    except DamagedError as error:
        remark(
            f"{path} in the cache of compiled kernels is not used: {error}.{' It is made anew.' if is_replaced else ''}"
        )
        return None


def _wanted_folder() -> pathlib.Path:
    named = os.environ.get("RAYGROVE_CACHE")
    if named:
        return pathlib.Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (pathlib.Path(base) if base else pathlib.Path.home() / ".cache") / "raygrove"


def _made(path: pathlib.Path, make: Callable[[pathlib.Path], None]) -> pathlib.Path:
    """Let `make` write the file under another name, seal it, and give it its name once it lies on the disk."""
    _clear_left(path.parent)
    handle, name = tempfile.mkstemp(prefix=_PART, suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = pathlib.Path(name)
    try:
        make(temporary)
        try:
            _seal(temporary)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error
        _rename(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # some file systems cannot: the name is then there a little later
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return path


def _rename(temporary: pathlib.Path, path: pathlib.Path) -> None:
    """Give it its name, in the place of what is there: also of an empty folder, and of one that is put there within
    the rename. One that holds something is somebody's."""
    for _ in range(RENAMES):
        try:
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            temporary.replace(path)
            return
        except (IsADirectoryError, FileNotFoundError, NotADirectoryError):
            if not temporary.exists():
                raise
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error
    raise IsADirectoryError(errno.EISDIR, "a folder is put there again and again", str(path))


def _seal(path: pathlib.Path) -> None:
    with open(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC), "r+b") as file:
        contents = file.read()
        file.write(_SEAL.pack(_MARK, len(contents), hashlib.sha256(contents).digest()))
        os.fchmod(file.fileno(), 0o600 | stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o700)
        file.flush()
        os.fsync(file.fileno())


def _clear_left(folder: pathlib.Path) -> None:
    """Remove what programs that were ended while they wrote have left."""
    now = time.monotonic()
    if now - _looked.get(folder, -_LOOKED_FOR_S) < _LOOKED_FOR_S:
        return
    _looked[folder] = now
    for path in (*folder.glob(f"{_PART}*"), *folder.glob(f"{LOCK}*")):
        with contextlib.suppress(OSError):
            if time.time() - path.lstat().st_mtime > _STALE_S:
                path.unlink()


def _write(path: pathlib.Path, data: bytes) -> None:
    path.write_bytes(data)
