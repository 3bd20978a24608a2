"""How libassimp reads files: by functions of ours (aiFileIO of assimp/cfileio.h), so that what a model names obeys the
one rule of references.py, a FIFO cannot make it wait, and what was not found is known."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, Structure, c_char_p, c_int, c_size_t, c_void_p

from .references import References

SUCCESS, FAILURE = 0, -1


class _AiFile(Structure):
    """struct aiFile; the number of the open file is its user data."""


_Transfer = ctypes.CFUNCTYPE(c_size_t, POINTER(_AiFile), c_void_p, c_size_t, c_size_t)
_Tell = ctypes.CFUNCTYPE(c_size_t, POINTER(_AiFile))
_Seek = ctypes.CFUNCTYPE(c_int, POINTER(_AiFile), c_size_t, c_int)
_Flush = ctypes.CFUNCTYPE(None, POINTER(_AiFile))
_AiFile._fields_ = [
    ("read", _Transfer), ("write", _Transfer), ("tell", _Tell), ("size", _Tell), ("seek", _Seek), ("flush", _Flush),
    ("user_data", c_void_p),
]  # fmt: skip


class AiFileIO(Structure):
    """struct aiFileIO."""


_Open = ctypes.CFUNCTYPE(c_void_p, POINTER(AiFileIO), c_char_p, c_char_p)
_Close = ctypes.CFUNCTYPE(None, POINTER(AiFileIO), POINTER(_AiFile))
AiFileIO._fields_ = [("open", _Open), ("close", _Close), ("user_data", c_void_p)]


class _OpenFile:
    """A file that libassimp has open: its place, and the bytes or the descriptor behind it."""

    def __init__(self, struct: _AiFile, data: bytes | None, descriptor: int, size: int) -> None:
        self.struct, self.data, self.descriptor, self.size, self.place = struct, data, descriptor, size, 0

    def read(self, target: int, wanted: int) -> int:
        """Copy the next bytes to an address; returns how many."""
        length = min(wanted, self.size - self.place)
        if length <= 0:
            return 0
        if self.data is not None:
            start = ctypes.cast(c_char_p(self.data), c_void_p).value or 0
            ctypes.memmove(target, start + self.place, length)
        else:
            memory = memoryview((ctypes.c_char * length).from_address(target)).cast("B")
            length = os.preadv(self.descriptor, [memory], self.place)
        self.place += length
        return length

    def seek(self, offset: int, origin: int) -> int:
        """Move the place from the start, itself or the end; offsets are two's complement there."""
        signed = ctypes.c_ssize_t(offset).value
        place = signed + (0, self.place, self.size)[origin]
        if not 0 <= place <= self.size:
            return FAILURE
        self.place = place
        return SUCCESS


class ModelFiles:
    """Opens the model `name` itself (or `data` in its place) and what it names, as far as `references` allow.
    `missing` has the names of what is not there, in the order in which it was asked for."""

    def __init__(self, name: str, data: bytes | None, references: References) -> None:
        self._name, self._data, self._references = os.fsencode(name), data, references
        self._open_files: dict[int, _OpenFile] = {}
        self.missing: dict[str, None] = {}
        self.opened: dict[str, None] = {}
        self._functions = (_Transfer(self._read), _Transfer(_write), _Tell(self._tell), _Tell(self._size))
        self._others = (_Seek(self._seek), _Flush(_flush))
        self.struct = AiFileIO(_Open(self._open), _Close(self._close), None)

    def close(self) -> None:
        """Close what libassimp left open."""
        for number in list(self._open_files):
            self._end(number)

    def _open(self, _: object, name: bytes, mode: bytes) -> int | None:
        """The address of an aiFile; None where it may not, or cannot, be read. Python's errors end here: there is
        nobody above that could take them."""
        if mode[:1] != b"r":
            return None
        path = os.fsdecode(name)
        try:
            if name == self._name and self._data is not None:
                return self._begin(self._data, -1, len(self._data))
            if name != self._name and self._references.refusal(path):
                return None
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            self.missing[path] = None
            return None
        except (OSError, ValueError):
            return None
        self.opened[path] = None
        return self._begin(None, descriptor, os.fstat(descriptor).st_size)

    def _begin(self, data: bytes | None, descriptor: int, size: int) -> int:
        struct = _AiFile(*self._functions, *self._others, None)
        address = ctypes.addressof(struct)
        self._open_files[address] = _OpenFile(struct, data, descriptor, size)
        return address

    def _close(self, _: object, file: ctypes._Pointer[_AiFile]) -> None:
        self._end(ctypes.addressof(file.contents))

    def _end(self, address: int) -> None:
        file = self._open_files.pop(address)
        if file.descriptor >= 0:
            os.close(file.descriptor)

    def _of(self, file: ctypes._Pointer[_AiFile]) -> _OpenFile:
        return self._open_files[ctypes.addressof(file.contents)]

    def _read(self, file: ctypes._Pointer[_AiFile], target: int, size: int, count: int) -> int:
        try:
            return self._of(file).read(target, size * count) // size if size and count else 0
        except OSError:
            return 0

    def _tell(self, file: ctypes._Pointer[_AiFile]) -> int:
        return self._of(file).place

    def _size(self, file: ctypes._Pointer[_AiFile]) -> int:
        return self._of(file).size

    def _seek(self, file: ctypes._Pointer[_AiFile], offset: int, origin: int) -> int:
        return self._of(file).seek(offset, origin)


def _write(_: object, source: int, size: int, count: int) -> int:
    """Nothing is written by a reader."""
    return 0


def _flush(_: object) -> None:
    """Nothing waits to be written."""
