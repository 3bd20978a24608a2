"""The standard headers of units, compiled once: parsing them takes longer than compiling most kernels.

GCC reads a precompiled header in place of the headers in it, whose guards are set then. What units mean and what they
are compiled to stays as it is, so a unit that cannot be compiled with it is compiled without.
"""

from __future__ import annotations

import hashlib
import pathlib
import threading
from collections.abc import Callable

from .base import CompileError
from .cache import cached_file, find_file
from .translation_unit import ROOT, include_closure, read_source

PATH = "gpu/target/host_prelude.cuh"

SUFFIX = ".h.gch"
"""GCC looks for a header's name with .gch behind it."""

PAYS_FROM = 4
"""It takes as long to make as a few units gain: the first units of a process are compiled without, unless it is
there."""

Run = Callable[[list[str]], None]
"""Runs a compiler's command; raises CompileError."""


class Prelude:
    """The precompiled header of one compiler with one set of flags; `described` names both."""

    def __init__(self, described: str, is_understood: bool) -> None:
        texts = map(read_source, include_closure((PATH,)))
        self._key = "prelude-" + hashlib.sha256("\n".join((described, *texts)).encode()).hexdigest()[:32]
        self._units, self._making = 0, threading.Lock()
        self._path: pathlib.Path | None = None
        self._is_usable = is_understood

    def options(self, command: list[str], run: Run) -> list[str]:
        """What to add to `command`, the compiler and its flags, so that a unit is compiled with the header: nothing
        where there is none, or another thread makes it, for which no processor waits. `run` compiles it where it is
        missing and pays."""
        self._units += 1
        if self._is_usable and self._path is None and self._making.acquire(blocking=False):
            try:
                self._path = self._found_or_made(command, run, self._units)
            except CompileError:
                self._is_usable = False
            finally:
                self._making.release()
        return ["-include", str(self._path.with_suffix(""))] if self._is_usable and self._path is not None else []

    def make(self, command: list[str], run: Run) -> None:
        """Compile it where it is missing, for who knows that it will pay. What fails here is done without."""
        with self._making:
            if self._is_usable and self._path is None:
                try:
                    self._path = self._found_or_made(command, run, PAYS_FROM)
                except CompileError:
                    self._is_usable = False

    def give_up(self) -> None:
        """Compile without it from now on."""
        self._is_usable = False

    def _found_or_made(self, command: list[str], run: Run, units: int) -> pathlib.Path | None:
        if units < PAYS_FROM:
            found = find_file(self._key, SUFFIX)
            return found and found.absolute()
        line = [*command, "-x", "c++-header", str(ROOT / PATH), "-o"]
        return cached_file(self._key, SUFFIX, lambda path: run([*line, str(path.absolute())])).absolute()
