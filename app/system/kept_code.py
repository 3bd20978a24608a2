"""What other libraries compile at every start, kept from one start to the next beside Python's own compiled modules.

`dataclasses` writes methods as text and compiles that, some nine hundred times until the first page is there, and what
binds Qt to Python compiles modules of its own from an archive (shiboken6 6.11.3): a fifth of what the page takes. Code
is found by the digest of its text and its name, so that it never is another's; it lies where Python keeps what it has
compiled of this module. It is read where it belongs to this user or to root, nobody else can write it, this version of
Python made it, and its digest is right; where not, it is made anew, and where it cannot be written nothing is kept.
"""

from __future__ import annotations
import __future__

import atexit
import builtins
import contextlib
import dataclasses
import functools
import hashlib
import importlib.util
import marshal
import operator
import os
import pathlib
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

from raygrove.gpu.linux import user

FEATURES = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
"""Of the future, as code has them among its flags; what is compiled in it takes them over."""

VERSION = importlib.util.MAGIC_NUMBER
"""Of Python's compiled code: another one's is none of ours."""

OTHERS_WRITE, DIGEST = 0o022, 32

MOST = 8192
"""Texts whose code is kept: beyond that what no start has used lately goes."""


class KeptCode:
    """Compiles texts, or takes their code from the file `place`."""

    def __init__(self, place: pathlib.Path) -> None:
        self._place, self._used, self._has_new = place, dict[bytes, bytes](), False
        self._known, self._compile = self._read(), builtins.compile

    def code(self, text: str | bytes, name: str, features: int = 0) -> CodeType:
        """The code of a text that is run, with the `features` of the future that its caller has."""
        said = text if isinstance(text, bytes) else text.encode()
        key = hashlib.blake2b(b"\0".join((name.encode(), b"%d" % features, said)), digest_size=16).digest()
        kept = self._known.get(key)
        if kept is None:
            made: CodeType = self._compile(text, name, "exec", features, True)
            kept, self._has_new = marshal.dumps(made), True
        else:
            made = marshal.loads(kept)
        self._used[key] = kept
        return made

    def run(self, text: str, names: dict[str, Any], found: dict[str, Any]) -> None:
        """Run a text, as the built-in `exec` does."""
        exec(self.code(text, "<string>"), names, found)

    @contextlib.contextmanager
    def instead_of_compile(self) -> Iterator[None]:
        """While nothing else runs: texts that are compiled to be run, and nothing more is said of them, are taken from
        here."""

        def compiled(source: Any, filename: Any, mode: str, *more: Any, **named: Any) -> Any:
            is_plain = mode == "exec" and isinstance(source, str | bytes) and isinstance(filename, str)
            features = sys._getframe(1).f_code.co_flags & FEATURES
            if is_plain and not (more or named):
                return self.code(source, filename, features)
            if len(more) < 2 and "dont_inherit" not in named:  # it would ask this module
                named = {"flags": (more[0] if more else named.get("flags", 0)) | features, "dont_inherit": True}
                more = ()
            return self._compile(source, filename, mode, *more, **named)

        setattr(builtins, "compile", compiled)  # noqa: B010 - mypy takes it for constant
        try:
            yield
        finally:
            setattr(builtins, "compile", self._compile)  # noqa: B010

    def keep(self) -> None:
        """Keep what was used, where any of it is new."""
        if not self._has_new:
            return
        self._has_new = False
        everything = {**self._known, **self._used}
        written = marshal.dumps(everything if len(everything) <= MOST else self._used)
        part = self._place.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)  # of a program that was ended
            try:
                with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(VERSION + _digest(written) + written)
                part.replace(self._place)
            finally:
                part.unlink(missing_ok=True)

    def _read(self) -> dict[bytes, bytes]:
        try:
            with open(os.open(self._place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                about = os.fstat(file.fileno())
                if about.st_uid not in (user(), 0) or about.st_mode & OTHERS_WRITE:
                    return {}
                content = file.read()
        except OSError:
            return {}
        seal, written = content[: len(VERSION) + DIGEST], content[len(VERSION) + DIGEST :]
        found: dict[bytes, bytes] = marshal.loads(written) if seal == VERSION + _digest(written) else {}
        return found


def _digest(written: bytes) -> bytes:
    return hashlib.blake2b(written, digest_size=DIGEST).digest()


_kept: list[KeptCode] = []


def begin() -> None:
    """From now on take the methods of dataclasses from what is kept, and keep them at the program's end."""
    if _kept or sys.dont_write_bytecode:
        return
    with contextlib.suppress(NotImplementedError):
        kept = KeptCode(pathlib.Path(importlib.util.cache_from_source(__file__)).with_suffix(".kept"))
        _kept.append(kept)
        setattr(dataclasses, "exec", kept.run)  # noqa: B010 - stands before the built-in one there
        atexit.register(kept.keep)


def instead_of_compile() -> contextlib.AbstractContextManager[None]:
    """See KeptCode; nothing before `begin`."""
    return _kept[0].instead_of_compile() if _kept else contextlib.nullcontext()
