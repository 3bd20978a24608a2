"""Writes the few-line unit that both compilers read, and digests everything it includes.

A unit is text: constants, headers, aliases, the kernel file, and on the host one entry a kernel. Kernel signatures are parsed from the kernel file,
so that launches are checked against what the kernel declares.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import pathlib
import re

from .base import CompileError, UnitSource

ROOT = pathlib.Path(__file__).resolve().parents[2]

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_KERNEL = re.compile(r'extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\)\s*\{')
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


def write_unit(source: UnitSource, kind: str, lane_count: int) -> UnitText:
    """The unit of `source` for a target of `kind`; `lane_count` is used where the source leaves the pack's width to the target."""
    width = source.rays_per_thread or lane_count
    headers = (("gpu/target/cuda_on_host.cuh",) if kind == "host" else ()) + source.headers
    kernels = parse_kernels(read_source(source.path), source.path)
    lines = [f"#define RAYS_PER_THREAD {width}"]
    lines += [f"constexpr {_c_type(value)} {name} = {_c_value(value)};" for name, value in source.constants]
    lines += [f'#include "{header}"' for header in headers]
    lines += [f"using {name} = {type_name};" for name, type_name in source.aliases]
    lines += [f'#include "{source.path}"']
    if kind == "host":
        lines += [f"HOST_ENTRY({name})" for name in kernels]
    text = "\n".join(lines) + "\n"
    digest = hashlib.sha256(text.encode())
    for path in include_closure((*headers, source.path)):
        digest.update(path.encode() + b"\0" + read_source(path).encode() + b"\0")
    return UnitText(text, digest.hexdigest(), kernels)


def parse_kernels(text: str, path: str) -> dict[str, KernelSignature]:
    """The kernels that a file defines, in its order."""
    found = {}
    for match in _KERNEL.finditer(_COMMENT.sub("", text)):
        found[match[1]] = KernelSignature(match[1], tuple(_parameter(part, path) for part in match[2].split(",") if part.strip()))
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


def read_source(path: str) -> str:
    """The text of a project file; raises CompileError where it is missing."""
    full = ROOT / path
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


def _c_type(value: int | float | bool) -> str:
    if isinstance(value, bool):
        return "bool"
    return "int" if isinstance(value, int) else "float"


def _c_value(value: int | float | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f"{float(value)!r}f"
