"""A store: a folder with one file a result, `ab/<SHA-256 of the job>.json`, and pictures beside it.

A file is written aside and renamed, so that it is there whole or not at all: a process that is killed leaves nothing
half, two that write the same result do no harm, and to go on is to leave out what is there.
"""

from __future__ import annotations

import errno
import json
import os
import pathlib
import re
import stat
from collections.abc import Iterator, Mapping
from typing import IO, Any

from raygrove.app.export.whole_files import check_writable, write_atomically
from raygrove.gpu.errors import UnreadableError

from .jobs import FORMAT, sha_of

MARK = "raygrove-store.json"
"""The file by which a folder is known as a store: without it nothing is written there."""
DONE, FAILED, CRASHED = "done", "failed", "crashed"
STATUSES = (DONE, FAILED, CRASHED)
LONGEST = 1 << 26
"""Bytes of a result, at most."""


class StoreError(UnreadableError):
    """A folder that is no store, is none of this version, or cannot be written any more."""

    def __init__(self, what: str, folder: object, remedy: str) -> None:
        super().__init__(what, f"the store {folder}", remedy)


class Store:
    """The results in a folder that is a store already; `made` makes one of a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = pathlib.Path(folder)
        try:
            with opened(self.folder / MARK) as file:
                held = json.loads(file.read(LONGEST))["format"]
        except (FileNotFoundError, NotADirectoryError):
            is_there = "this folder is no store of results" if self.folder.is_dir() else "there is no such folder"
            raise StoreError(is_there, folder, "name the folder that `raygrove sweep` was given") from None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise StoreError(f"its file {MARK} cannot be read ({error})", folder, "name another folder") from error
        if held != FORMAT:
            raise StoreError(
                f"its results have format {held}, and this version reads {FORMAT}", folder, "name another folder"
            )

    @classmethod
    def made(cls, folder: str | os.PathLike[str]) -> Store:
        """The store of a folder, which is made where it is not there. Raises StoreError for a folder with other things
        in it, OSError where nothing can be written."""
        path = pathlib.Path(folder)
        if not (path / MARK).is_file():
            if path.is_dir() and any(path.iterdir()):
                raise StoreError("this folder holds other things", folder, "name a new folder, or an empty one")
            check_writable(path)
            write_atomically(path / MARK, lambda file: file.write(f'{{"format": {FORMAT}}}\n'.encode()))
        check_writable(path)
        return cls(path)

    def path_of(self, sha: str) -> pathlib.Path:
        """Where the result of a job is, or will be."""
        return self.folder / sha[:2] / f"{sha}.json"

    def pictures_of(self, sha: str) -> pathlib.Path:
        """The folder of a job's pictures."""
        return self.folder / sha[:2] / sha

    def picture(self, sha: str, name: str) -> pathlib.Path:
        """A job's picture, a regular file of this folder whatever a result says: stores of others may name, or lead to,
        what is none of their business. Raises StoreError."""
        path, whole = self.pictures_of(sha) / pathlib.Path(name).name, os.path.realpath(self.folder)
        try:
            is_inside = os.path.commonpath([os.path.realpath(path), whole]) == whole
            is_there, is_file = path.exists(), path.is_file()
        except (ValueError, OSError):  # a name that no file can have
            is_inside = is_there = is_file = False
        if not (is_inside and is_file):
            why = "leads out of the store" if is_there and not is_inside else "is not there"
            remedy = "take its result away, and its job is done again"
            raise StoreError(f"the picture {path.name} of {sha[:12]} {why}", self.folder, remedy)
        return path

    def has(self, sha: str) -> bool:
        """Whether the job has a result."""
        return os.path.exists(f"{self.folder}/{sha[:2]}/{sha}.json")

    def check(self) -> None:
        """Raise StoreError where the folder is not there any more: a disk that went away would otherwise be written
        beside."""
        if not (self.folder / MARK).is_file():
            raise StoreError("the folder is not there any more", self.folder, "bring it back")

    def put(self, record: dict[str, Any]) -> str:
        """Keep a result; returns the hash of its job. Raises StoreError, and OSError where it cannot be written."""
        sha = sha_of(record["job"])
        self.check()
        data = json.dumps({**record, "sha": sha}, separators=(",", ":"), allow_nan=False).encode() + b"\n"

        def write(file: IO[bytes]) -> None:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # a machine that fails leaves no empty file under the result's name

        write_atomically(self.path_of(sha), write)
        return sha

    def get(self, sha: str) -> dict[str, Any]:
        """A job's result. Raises FileNotFoundError, and StoreError where the file is damaged."""
        return read_record(self.path_of(sha))

    def hashes(self) -> Iterator[str]:
        """The hash of every job that has a result, sorted."""
        for prefix in sorted(name for name in os.listdir(self.folder) if re.fullmatch("[0-9a-f]{2}", name)):
            names = os.listdir(self.folder / prefix)
            yield from sorted(name[:-5] for name in names if re.fullmatch(r"[0-9a-f]{64}\.json", name))

    def records(self, damaged: list[str] | None = None) -> Iterator[dict[str, Any]]:
        """Every result. What cannot be read is an error, or with a list `damaged` a sentence there."""
        for sha in self.hashes():
            try:
                yield self.get(sha)
            except FileNotFoundError:
                continue  # taken away meanwhile
            except StoreError as error:
                if damaged is None:
                    raise
                damaged.append(str(error))

    def forget(self, sha: str) -> None:
        """Take a result away, so that its job is done again."""
        self.path_of(sha).unlink(missing_ok=True)


def opened(path: pathlib.Path) -> IO[bytes]:
    """A regular file to read; of a pipe nobody waits for who might write into it. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    raise OSError(errno.EINVAL, "It is no regular file", str(path))


def read_record(path: pathlib.Path) -> dict[str, Any]:
    """A result from its file. Raises StoreError where it is damaged."""
    remedy = f"delete {path.name}, and its job is done again"
    try:
        with opened(path) as file:
            data = file.read(LONGEST + 1)
        record: dict[str, Any] = json.loads(data)
        if len(data) > LONGEST or record["status"] not in STATUSES or sha_of(record["job"]) != path.stem:
            raise ValueError("it is not the result that its name says")
        if not is_readable(record):
            raise ValueError("its rows or samples are no lists of numbers by names")
        record["sha"] = path.stem  # whatever the file says: pictures lie by it
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(f"{path.name} is damaged ({error})", path.parent.parent, remedy) from error
    return record


def is_readable(record: Mapping[str, Any]) -> bool:
    """Whether what tables and comparisons read of a result is of the kind that they take it for."""
    rows, about, noise = record.get("rows", []), record.get("context") or {}, record.get("noise", [])
    if not isinstance(rows, list) or not all(isinstance(one, dict) for one in (record["job"], about, *rows)):
        return False
    tables = (record.get("samples", {}), *(row.get("rounds", {}) for row in rows))
    return isinstance(noise, list) and all(isinstance(one, str) for one in noise) and all(map(_is_table, tables))


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(one, list) and all(isinstance(x, int | float) and not isinstance(x, bool) for x in one)
        for one in value.values()
    )


def is_of_the_place(error: OSError) -> bool:
    """Whether the place is at fault, so that no other job could be kept either: it is full, read-only, not ours, or
    gone (a disk that was pulled out, a share whose host is away)."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM,
                           errno.ENOENT, errno.ENOTDIR, errno.EIO, errno.ENODEV, errno.ENXIO, errno.ESTALE,
                           errno.ENOTCONN, errno.EHOSTDOWN, errno.ETIMEDOUT)  # fmt: skip
