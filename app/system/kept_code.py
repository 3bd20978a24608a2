"""What other libraries compile at every start, kept from one start to the next beside Python's own compiled modules.

`dataclasses` writes methods as text and compiles that, some nine hundred times until the first page is there, and what
binds Qt to Python compiles modules of its own from an archive (shiboken6 6.11.3): a fifth of what the page takes. Code
is found by the digest of its text and its name, so that it never is another's; it lies where Python keeps what it has
compiled of this module, and is trusted as that is. Where it cannot be read or written nothing is kept.
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

FEATURES = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
"""Of the future, as code has them among its flags; what is compiled in it takes them over."""

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
        part = self._place.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            try:
                part.write_bytes(marshal.dumps(everything if len(everything) <= MOST else self._used))
                part.replace(self._place)
            finally:
                part.unlink(missing_ok=True)

    def _read(self) -> dict[bytes, bytes]:
        try:
            found = marshal.loads(self._place.read_bytes())
        except (OSError, ValueError, EOFError, TypeError):
            return {}
        return found if isinstance(found, dict) else {}


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
