"""Writes the few-line unit that both compilers read, and digests everything it includes.

A unit is text: constants, what its files read of Python's (gpu/rows.py) behind the header that its pointers come from,
headers, aliases, the kernel file, and on the host one entry per kernel. Kernel signatures are parsed from the kernel
file, so that launches are checked against what the kernel declares.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib
import pathlib
import re

from ..rows import Struct, constant, declaration
from .base import CompileError, UnitSource
from .checks import kernel_id

CHECKS = "gpu/device/checks.cuh"
ROOT = pathlib.Path(__file__).resolve().parents[2]
_PACKAGE = __name__.partition(".gpu.")[0]
_foreign: list[pathlib.Path] = []

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_FROM_PYTHON = re.compile(r"^// from ([\w.]+) import (\w+(?:, \w+)*)$", re.MULTILINE)
_KERNEL = re.compile(
    r'extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)\s*\{'
)
_POINTER = re.compile(r"^\s*([^*]*?)\s*\*\s*(?:__restrict__\s*)?(\w+)\s*$", re.DOTALL)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel: `type_name` without const and pointer."""

    name: str
    type_name: str
    is_pointer: bool


@dataclasses.dataclass(frozen=True)
class KernelSignature:
    """A kernel's name and parameters in order."""

    name: str
    parameters: tuple[Parameter, ...]


@dataclasses.dataclass(frozen=True)
class UnitText:
    """The text a compiler gets, the digest of it and of all it includes, and the kernels in it."""

    text: str
    digest: str
    kernels: dict[str, KernelSignature]


def write_unit(source: UnitSource, kind: str, lane_count: int, checks: bool = False) -> UnitText:
    """The unit of `source` for a target of `kind`; `lane_count` is used where the source leaves the pack's width to the
    target. With `checks` it is a checked one (gpu/device/checks.cuh)."""
    width = source.rays_per_thread or lane_count
    words: tuple[str, ...] = ("gpu/target/cuda_on_host.cuh",) if kind == "host" else ()
    kernels = parse_kernels(read_source(source.path), source.path)
    of_python = read_of_python(include_closure((*source.headers, source.path)))
    if checks or any(word in declared for declared in of_python for word in ("Pointer<", "int64 ")):
        words += (CHECKS,)
    files = include_closure((*words, *source.headers, source.path))
    lines = [f"#define RAYS_PER_THREAD {width}", *(["#define IS_CHECKED 1"] if checks else [])]
    lines += [constant(name, value) for name, value in source.constants]
    lines += [f'#include "{header}"' for header in words]
    lines += of_python
    lines += [f'#include "{header}"' for header in source.headers]
    lines += [f"using {name} = {type_name};" for name, type_name in source.aliases]
    lines += _checked_lines(source.path) if checks else [f'#include "{source.path}"']
    if kind == "host":
        lines += [f"HOST_ENTRY({name})" for name in kernels]
    text = "\n".join(lines) + "\n"
    digest = hashlib.sha256(text.encode())
    for path in files:
        digest.update(path.encode() + b"\0" + read_source(path).encode() + b"\0")
    return UnitText(text, digest.hexdigest(), kernels)


def read_of_python(paths: tuple[str, ...]) -> list[str]:
    """What these files read of Python's, as kernels have it: a line `// from gpu.scene import LIGHT_KINDS` of a file
    stands for a declaration of that name, after those of the structs that it is made of. Raises CompileError where
    there is no such name."""
    found: dict[str, tuple[str, str]] = {}
    for path in paths:
        for module, names in _FROM_PYTHON.findall(read_source(path)):
            for name in names.split(", "):
                _declare(found, path, module, name)
    return [declared for _, declared in found.values()]


def _declare(found: dict[str, tuple[str, str]], path: str, module: str, name: str) -> None:
    if found.get(name, (module,))[0] != module:
        raise CompileError(f"{path}: {name} of {module} is {found[name][0]}'s already.")
    if name in found:
        return
    full = f"{_PACKAGE}.{module}" if module.startswith("gpu.") else module
    try:
        thing = getattr(importlib.import_module(full), name)
        for needed in thing.needs() if isinstance(thing, type) and issubclass(thing, Struct) else ():
            _declare(found, path, needed.__module__.removeprefix(f"{_PACKAGE}."), needed.__name__)
        found[name] = (module, declaration(name, thing))
    except (ImportError, AttributeError, TypeError) as error:
        raise CompileError(f"{path} cannot read {name} of {module}: {error}") from error


def _checked_lines(path: str) -> list[str]:
    """A kernel file whose kernels take checked pointers, and begin only where no check has failed."""

    def rewritten(kernel: re.Match[str]) -> str:
        start, end = kernel.start(), kernel.start(2)
        pointers = ", ".join(_POINTER.sub(r"Pointer<\1> \2", part.strip()) for part in kernel[2].split(","))
        begin = f"if (!begins_checked({kernel_id(kernel[1])})) return;"
        return f"{kernel.string[start:end]}{pointers}) {{ {begin}"

    plain = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), read_source(path))
    return [f'#line 1 "{path}"', _KERNEL.sub(rewritten, plain)]


def parse_kernels(text: str, path: str) -> dict[str, KernelSignature]:
    """The kernels that a file defines, in its order."""
    found = {}
    for match in _KERNEL.finditer(_COMMENT.sub("", text)):
        found[match[1]] = KernelSignature(
            match[1], tuple(_parameter(part, path) for part in match[2].split(",") if part.strip())
        )
    return found


def include_closure(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Every project file that `paths` include, themselves first, each once."""
    seen: dict[str, None] = {}
    waiting = list(paths)
    while waiting:
        path = waiting.pop(0)
        if path not in seen:
            seen[path] = None
            waiting += _INCLUDE.findall(read_source(path))
    return tuple(seen)


def add_include_root(folder: pathlib.Path) -> None:
    """Let units name kernel files of another package, by their paths from `folder`. A file of the project comes
    first."""
    if folder not in _foreign:
        _foreign.append(folder)


def foreign_roots() -> tuple[pathlib.Path, ...]:
    """The folders of other packages' kernel files. They decide no key of the cache: what is included does."""
    return tuple(_foreign)


def read_source(path: str) -> str:
    """The text of a project file, or of another package's; raises CompileError where it is missing."""
    full = next((root / path for root in (ROOT, *_foreign) if (root / path).is_file()), ROOT / path)
    try:
        return _read(full, full.stat().st_mtime_ns)
    except OSError as error:
        raise CompileError(f"The kernel file {path} cannot be read: {error.strerror}.") from error


@functools.lru_cache(maxsize=512)
def _read(full: pathlib.Path, _changed: int) -> str:
    return full.read_text(encoding="utf-8")


def _parameter(text: str, path: str) -> Parameter:
    words = text.replace("__restrict__", " ").replace("*", " * ").split()
    if len(words) < 2:
        raise CompileError(f"{path}: the kernel parameter {text.strip()!r} has no name.")
    name, stars = words[-1], words.count("*")
    type_words = [word for word in words[:-1] if word not in ("const", "*")]
    return Parameter(name, " ".join(type_words), stars > 0)
