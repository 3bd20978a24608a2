"""Finds a C++ compiler, and turns a unit's text into a shared library in the cache."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from ..linux import kill_group, lower_priority, processor_lines
from .base import CompileError, NoDeviceError
from .cache import cached_file, find_file
from .host_prelude import Prelude
from .translation_unit import ROOT, foreign_roots

INSTALL_HINT = "Install one with: sudo apt-get install g++   (or: pip install ziglang)"

_PATIENCE_S, _CHECK_S = 600.0, 0.1
"""How long the compiler may take, and how often it is asked whether its work is still wanted."""

OF_INTRINSICS = re.compile(r"_mm\d*_|__m\d|intrin|__builtin_ia32")
"""What a compiler speaks of that does not take instructions by the headers' parts."""

FULL, QUICK = "-O3", "-O1"
"""Levels of the compiler: of code that stays, and of a first picture's, which is compiled in two thirds of the time."""

_FLAGS = [
    "-std=c++17",
    "-march=native",
    "-fPIC",
    "-shared",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-w",
]


@functools.lru_cache(maxsize=1)
def find_compiler() -> tuple[str, ...]:
    """The compiler's command: CXX where it is set, else the first of c++, g++, clang++, zig. Raises NoDeviceError where
    there is none."""
    named = os.environ.get("CXX")
    if named:
        try:
            words = shlex.split(named)
        except ValueError as error:
            raise NoDeviceError(
                f"CXX, {named}, cannot be read as a command: {error}".rstrip(".") + ". Unset CXX or correct it."
            ) from error
        if not words or shutil.which(words[0]) is None:
            raise NoDeviceError(f"The compiler named by CXX, {named}, is not there. Unset CXX or name one that is.")
        return tuple(words)
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name):
            return (name,)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-P", "-m", "ziglang", "c++")
    raise NoDeviceError(
        f"The host target compiles its kernels with a C++ compiler, and none was found (c++, g++, clang++, "
        f"ziglang). {INSTALL_HINT}"
    )


@functools.lru_cache(maxsize=1)
def compiler_version() -> str:
    """The first line that the compiler says of itself."""
    command = [*find_compiler(), "--version"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError) as error:
        raise NoDeviceError(
            f"The C++ compiler {command[0]} does not run: {str(error).rstrip('.')}. {INSTALL_HINT}"
        ) from error


@functools.lru_cache(maxsize=1)
def processor() -> tuple[str, frozenset[str]]:
    """The processor's name and its feature flags as Linux lists them."""
    lines = processor_lines()
    name = next((value for key, value in lines if key == "model name"), platform.machine())
    flags = frozenset(next((value for key, value in lines if key == "flags"), "").split())
    return name, flags


def compiled_file(
    text: str,
    digest: str,
    contraction: bool,
    libraries: tuple[str, ...] = (),
    check: Callable[[], None] = lambda: None,
    *,
    is_idle: bool = False,
    level: str = FULL,
) -> pathlib.Path:
    """The file of a unit's library, compiled where the cache has none for these sources, flags, compiler and processor.
    Any thread may ask for it. What `check` raises while the compiler runs ends it. `is_idle`: it has the lowest
    priority."""
    flags, key = _key(digest, contraction, libraries, level)

    def make(path: pathlib.Path) -> None:
        _compile(text, flags, ["-x", "c++", "-", "-o", str(path.absolute()), *libraries], check, is_idle)

    return cached_file(key, ".so", make, check)


def is_compiled(digest: str, contraction: bool, level: str = FULL, libraries: tuple[str, ...] = ()) -> bool:
    """Whether the cache has the library of a unit."""
    return ready_file(digest, contraction, level, libraries) is not None


def ready_file(
    digest: str, contraction: bool, level: str = FULL, libraries: tuple[str, ...] = ()
) -> pathlib.Path | None:
    """The checked file of a unit's library, where the cache has it."""
    return find_file(_key(digest, contraction, libraries, level)[1], ".so")


def _key(digest: str, contraction: bool, libraries: tuple[str, ...], level: str = FULL) -> tuple[list[str], str]:
    """The compiler's flags, and the name of what it makes."""
    extra = shlex.split(os.environ.get("RAYGROVE_HOST_FLAGS", ""))
    flags = [level, *_FLAGS, f"-ffp-contract={'fast' if contraction else 'off'}", *extra]
    described = "\n".join([digest, *flags, *libraries, compiler_version(), *find_compiler(), *sorted(processor()[1])])
    return flags, "host-" + hashlib.sha256(described.encode()).hexdigest()[:32]


def compile_library(
    text: str,
    digest: str,
    contraction: bool,
    libraries: tuple[str, ...] = (),
    check: Callable[[], None] = lambda: None,
    *,
    level: str = FULL,
    ready: pathlib.Path | None = None,
) -> ctypes.CDLL:
    """The shared library of a unit, compiled where the cache has none. What `check` raises while the compiler runs ends
    it. `ready` is its `ready_file`, where that was just looked for."""
    path = ready or compiled_file(text, digest, contraction, libraries, check, level=level)
    try:
        return ctypes.CDLL(str(path))
    except OSError:
        with contextlib.suppress(OSError):
            path.unlink(
                missing_ok=True
            )  # whole, but of a system with other libraries (a home folder of several machines): made once more
    try:
        return ctypes.CDLL(str(compiled_file(text, digest, contraction, libraries, check, level=level)))
    except OSError as error:
        raise CompileError(
            f"What the C++ compiler {find_compiler()[0]} made cannot be loaded: {error}. {INSTALL_HINT}"
        ) from error


def _compile(text: str, flags: list[str], more: list[str], check: Callable[[], None], is_idle: bool = False) -> None:
    """Compile a unit with the prelude's headers where they are there, else without; and with all instructions where the
    compiler does not take those that are named (gpu/device/intrinsics.cuh)."""
    (command, prelude), (of_header, _) = _command(flags), _command([FULL, *flags[1:]])
    run = functools.partial(_run_compiler, check=check, is_idle=is_idle)
    included = prelude.options(of_header, lambda line: run(line, ""))
    if included:
        try:
            return run([*command, *included, *more], text)
        except CompileError:
            pass
    try:
        run([*command, *more], text)
    except CompileError as error:
        if not OF_INTRINSICS.search(str(error)):
            raise
        run([*command, "-DWHOLE_INTRINSICS", *more], text)
    if included:
        prelude.give_up()


def make_headers(contraction: bool, check: Callable[[], None] = lambda: None) -> None:
    """Compile the headers of units where the cache has them not, before units are: what a first start does beside other
    things, many units being compiled in it. What `check` raises ends the compiler."""
    command, prelude = _command(_key("", contraction, ())[0])
    prelude.make(command, lambda line: _run_compiler(line, "", check))


def _command(flags: list[str]) -> tuple[list[str], Prelude]:
    """The compiler with its flags, the level first, and what units compiled so have in common, whatever the level."""
    described = "\n".join([*flags[1:], compiler_version(), *find_compiler(), *sorted(processor()[1])])
    return [*find_compiler(), *flags, f"-I{ROOT}"], _prelude(described)


@functools.lru_cache(maxsize=64)
def _prelude(described: str) -> Prelude:
    return Prelude(described, is_understood="clang" not in compiler_version().lower())


def _run_compiler(command: list[str], text: str, check: Callable[[], None], is_idle: bool = False) -> None:
    check()
    command = [*command, *(f"-I{root}" for root in foreign_roots())]
    pipe = subprocess.PIPE
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as source:  # a pipe would have to be fed between the checks
            source.write(text)
            source.seek(0)
            # A group of its own: the compiler's own processes end with it.
            compiler = subprocess.Popen(
                command, stdin=source, stdout=pipe, stderr=pipe, text=True, start_new_session=True, cwd=ROOT
            )
    except (OSError, subprocess.SubprocessError) as error:
        raise CompileError(f"The C++ compiler {command[0]} could not be run: {error}.") from error
    with compiler:
        try:
            if is_idle:
                with contextlib.suppress(ProcessLookupError):
                    lower_priority(compiler.pid)
            said = _heard(compiler, check)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                kill_group(compiler.pid)
            raise
    if compiler.returncode != 0:
        lines = said.splitlines() or ["it gives no reason"]
        reason = next((line for line in lines if "error" in line.lower() or "No space left" in line), lines[-1])
        advice = (
            " Free some space, or name other places by RAYGROVE_CACHE and TMPDIR." if "No space left" in reason else ""
        )
        why = f"A kernel unit did not compile with {command[0]}: {reason[:300].rstrip('.')}.{advice}"
        raise CompileError(f"{why}\n{said[:4000]}")


def _heard(compiler: subprocess.Popen[str], check: Callable[[], None]) -> str:
    """What a compiler says, once it has ended."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return compiler.communicate(timeout=_CHECK_S)[1].strip()
        except subprocess.TimeoutExpired as error:
            check()
            if time.monotonic() > until:
                raise CompileError(
                    f"The C++ compiler {find_compiler()[0]} was still not done after {_PATIENCE_S:.0f} s."
                ) from error
        except OSError as error:
            raise CompileError(f"The C++ compiler {find_compiler()[0]} could not be run: {error}.") from error
