"""Writes the few-line unit that both compilers read, and digests everything it includes.

A unit is text: constants, what its files read of Python's (gpu/rows.py) behind the header that its pointers come from,
headers, aliases, the kernel file, and on the host one entry per kernel. Kernel signatures are parsed from the kernel
file, so that launches are checked against what the kernel declares.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import importlib
import os
import pathlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..rows import Struct, constant, declaration
from .base import CompileError, UnitSource
from .checks import kernel_id

CHECKS = "gpu/device/checks.cuh"
MOST_THREADS = 1024
"""Of a block on any CUDA device."""
ROOT = pathlib.Path(__file__).resolve().parents[2]
_PACKAGE = __name__.partition(".gpu.")[0]
_foreign: list[pathlib.Path] = []

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_FROM_PYTHON = re.compile(r"^// from ([\w.]+) import (\w+(?:, \w+)*)$", re.MULTILINE)
_KERNEL = re.compile(
    r'extern\s+"C"\s+__global__\s+void\s+(?:__launch_bounds__\s*\((?P<bounds>[^)]*)\)\s*)?'
    r"(?P<name>\w+)\s*\((?P<parameters>[^)]*)\)\s*\{"
)
_POINTER = re.compile(r"^\s*([^*]*?)\s*\*\s*(?:__restrict__\s*)?(\w+)\s*$", re.DOTALL)
_DERIVED = re.compile(r"^struct\s+(\w+)\s*:\s*(\w+)(?:<[^{},]*(?:,[^{},]*)*>)?\s*\{", re.MULTILINE)
"""A struct that derives from one other."""
_COUNT = re.compile(
    r"^\s*(?:#define[ \t]+(\w+)[ \t]+|(?:static )?constexpr (?:int|unsigned) (\w+) = )([^;\n]+?);?[ \t]*$", re.MULTILINE
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel: `type_name` without const and pointer. `struct` is what Python lays it out by, where
    it is such a struct or derives from one."""

    name: str
    type_name: str
    is_pointer: bool
    struct: type[Struct] | None = None


@dataclasses.dataclass(frozen=True)
class KernelSignature:
    """A kernel's name and parameters in order, and the most threads that a block of it may have: what its
    `__launch_bounds__` say, else 1,024."""

    name: str
    parameters: tuple[Parameter, ...]
    most_threads: int = MOST_THREADS


_Declared = tuple[str, str, Any]
_Read = Callable[[str], str]
"""Gives the text of a file. While a unit is written each file is looked at once."""


@dataclasses.dataclass(frozen=True)
class UnitText:
    """The text a compiler gets, the digest of it and of all it includes, and the kernels in it."""

    text: str
    digest: str
    kernels: dict[str, KernelSignature]


def write_unit(source: UnitSource, kind: str, lane_count: int, checks: bool = False) -> UnitText:
    """The unit of `source` for a target of `kind`; `lane_count` is used where the source leaves the pack's width to the
    target. With `checks` it is a checked one (gpu/device/checks.cuh)."""
    width, read = source.rays_per_thread or lane_count, functools.cache(read_source)
    words: tuple[str, ...] = ("gpu/target/cuda_on_host.cuh",) if kind == "host" else ()
    own = _texts((*source.headers, source.path), read)
    known = _of_python(own)
    kernels, of_python = _signatures(source, known, own), [declared for _, declared, _ in known.values()]
    if checks or any(word in declared for declared in of_python for word in ("Pointer<", "int64 ")):
        words += (CHECKS,)
    files = _texts((*words, *source.headers, source.path), read)
    lines = [f"#define RAYS_PER_THREAD {width}", *(["#define IS_CHECKED 1"] if checks else [])]
    lines += [constant(name, value) for name, value in source.constants]
    lines += [f'#include "{header}"' for header in words]
    lines += of_python
    lines += [f'#include "{header}"' for header in source.headers]
    lines += [f"using {name} = {type_name};" for name, type_name in source.aliases]
    lines += _checked_lines(source.path, own[source.path]) if checks else [f'#include "{source.path}"']
    lines += _asserted_sizes(kernels)
    if kind == "host":
        lines += [f"HOST_ENTRY({name})" for name in kernels]
    text = "\n".join(lines) + "\n"
    digest = hashlib.sha256(text.encode())
    for path, content in files.items():
        digest.update(path.encode() + b"\0" + content.encode() + b"\0")
    return UnitText(text, digest.hexdigest(), kernels)


def _texts(paths: tuple[str, ...], read: _Read) -> dict[str, str]:
    """The texts of `paths` and of every project file that they include, in the order of `include_closure`."""
    found: dict[str, str] = {}
    waiting = collections.deque(paths)
    while waiting:
        path = waiting.popleft()
        if path not in found:
            found[path] = read(path)
            waiting.extend(_found_in(_INCLUDE, found[path]))
    return found


def _of_python(files: Mapping[str, str]) -> dict[str, _Declared]:
    """What these files read of Python's, by name: its module, how kernels have it, and what it is. A line `// from
    gpu.scene import LIGHT_KINDS` of a file stands for a declaration of that name, after those of the structs that it is
    made of. Raises CompileError where there is no such name."""
    found: dict[str, _Declared] = {}
    for path, text in files.items():
        for module, names in _found_in(_FROM_PYTHON, text):
            for name in names.split(", "):
                _declare(found, path, module, name)
    return found


def _declare(found: dict[str, _Declared], path: str, module: str, name: str) -> None:
    if found.get(name, (module,))[0] != module:
        raise CompileError(f"{path}: {name} of {module} is {found[name][0]}'s already.")
    if name in found:
        return
    full = f"{_PACKAGE}.{module}" if module.startswith("gpu.") else module
    try:
        thing = getattr(importlib.import_module(full), name)
        for needed in thing.needs() if isinstance(thing, type) and issubclass(thing, Struct) else ():
            _declare(found, path, needed.__module__.removeprefix(f"{_PACKAGE}."), needed.__name__)
        found[name] = (module, _declaration_of(name, thing), thing)
    except (ImportError, AttributeError, TypeError) as error:
        raise CompileError(f"{path} cannot read {name} of {module}: {error}") from error


def _declaration_of(name: str, thing: Any) -> str:
    """As gpu/rows.py declares it; classes, which stay as they are, once."""
    return _class_declaration(name, thing) if isinstance(thing, type) else declaration(name, thing)


@functools.lru_cache(maxsize=512)
def _class_declaration(name: str, thing: type) -> str:
    return declaration(name, thing)


def signatures(source: UnitSource) -> dict[str, KernelSignature]:
    """The kernels of a unit, and which structs of Python's they take by value."""
    files = _texts((*source.headers, source.path), read_source)
    return _signatures(source, _of_python(files), files)


def _signatures(
    source: UnitSource, known: dict[str, _Declared], files: Mapping[str, str]
) -> dict[str, KernelSignature]:
    aliases: dict[str, str] = dict(source.aliases)
    derived: dict[str, str] = {}
    for text in files.values():
        derived.update(_found_in(_DERIVED, text))

    def struct_of(name: str) -> type[Struct] | None:
        while True:
            name = aliases.get(name, name).partition("<")[0]
            if name not in derived:
                thing = known[name][2] if name in known else None
                return thing if isinstance(thing, type) and issubclass(thing, Struct) else None
            name = derived[name]

    def counts() -> Mapping[str, Any]:
        of_python: dict[str, Any] = {name: thing for name, (_, _, thing) in known.items() if isinstance(thing, int)}
        of_files = map(_counts, reversed(list(files.values())))  # the last file that names one has its say
        return collections.ChainMap(dict(source.constants), *of_files, of_python)

    def with_struct(one: Parameter) -> Parameter:
        return one if one.is_pointer else dataclasses.replace(one, struct=struct_of(one.type_name))

    return {
        name: KernelSignature(name, tuple(map(with_struct, kernel.parameters)), kernel.most_threads)
        for name, kernel in parse_kernels(files[source.path], source.path, counts).items()
    }


def _asserted_sizes(kernels: dict[str, KernelSignature]) -> list[str]:
    """What kernels take by value is as large as Python lays it out: a type that derives from a struct of Python has no
    field of its own. Structs of which each unit has another are as large as a constant of the unit says."""
    taken = {one.type_name: one.struct for kernel in kernels.values() for one in kernel.parameters if one.struct}
    return [
        f'static_assert(sizeof({name}) == {struct.dtype().itemsize}, "{name} is laid out by {struct.__name__}");'
        for name, struct in taken.items()
        if not struct.open_fields()
    ]


def _checked_lines(path: str, text: str) -> list[str]:
    """A kernel file whose kernels take checked pointers, and begin only where no check has failed."""

    def rewritten(kernel: re.Match[str]) -> str:
        start, end = kernel.start(), kernel.start("parameters")
        parameters = kernel["parameters"].split(",")
        pointers = ", ".join(_POINTER.sub(r"Pointer<\1> \2", part.strip()) for part in parameters)
        begin = f"if (!begins_checked({kernel_id(kernel['name'])})) return;"
        return f"{kernel.string[start:end]}{pointers}) {{ {begin}"

    plain = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    return [f'#line 1 "{path}"', _KERNEL.sub(rewritten, plain)]


def parse_kernels(text: str, path: str, counts: Callable[[], Mapping[str, Any]] = dict) -> dict[str, KernelSignature]:
    """The kernels that a file defines, in its order; `counts` gives the named numbers that launch bounds are made of,
    where there are launch bounds."""
    found = {}
    for kernel, bounds in _parsed(text, path):
        most = launch_bound(bounds, counts()) if bounds else None
        found[kernel.name] = kernel if most is None else dataclasses.replace(kernel, most_threads=most)
    return found


@functools.lru_cache(maxsize=512)
def _parsed(text: str, path: str) -> tuple[tuple[KernelSignature, str], ...]:
    """Each kernel of a file, and how the most threads of its blocks are written; nothing where they are not."""
    found = {}
    for match in _KERNEL.finditer(_COMMENT.sub("", text)):
        parameters = tuple(_parameter(part, path) for part in match["parameters"].split(",") if part.strip())
        found[match["name"]] = KernelSignature(match["name"], parameters), (match["bounds"] or "").partition(",")[0]
    return tuple(found.values())


def launch_bound(text: str, counts: Mapping[str, Any], depth: int = 8) -> int | None:
    """What `__launch_bounds__` say of a block's threads: a number, a name among `counts`, or a product of such; None
    where it is more than that, so that the driver alone can tell."""
    product = 1
    for factor in text.split("*"):
        word = factor.strip()
        known = counts.get(word, word)
        if isinstance(known, str) and not known.isdecimal():
            value = launch_bound(known, counts, depth - 1) if word in counts and depth else None
            if value is None:
                return None
            known = value
        product *= int(known)
    return product


def include_closure(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Every project file that `paths` include, themselves first, each once."""
    return tuple(_texts(paths, read_source))


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
    problem = None
    for root in (ROOT, *_foreign):
        full = os.path.join(root, path)  # tens of thousands of files are asked for: faster than a Path
        try:
            return _read(full, os.stat(full).st_mtime_ns)
        except OSError as error:
            problem = problem or error
    assert problem is not None
    raise CompileError(f"The kernel file {path} cannot be read: {problem.strerror}.") from problem


@functools.lru_cache(maxsize=2048)
def _found_in(pattern: re.Pattern[str], text: str) -> tuple[Any, ...]:
    """What the pattern finds in the text of a file; each unit asks it of each file that it includes."""
    return tuple(pattern.findall(text))


@functools.lru_cache(maxsize=512)
def _counts(text: str) -> dict[str, str]:
    """The named numbers of a file, as they are written for the GPU."""
    found = _COUNT.findall(_COMMENT.sub("", text))
    return {defined or constant: value.removeprefix("RUNS_SERIAL ? 1 : ") for defined, constant, value in found}


@functools.lru_cache(maxsize=512)
def _read(full: str, _changed: int) -> str:
    return pathlib.Path(full).read_text(encoding="utf-8")


def _parameter(text: str, path: str) -> Parameter:
    words = text.replace("__restrict__", " ").replace("*", " * ").split()
    if len(words) < 2:
        raise CompileError(f"{path}: the kernel parameter {text.strip()!r} has no name.")
    name, stars = words[-1], words.count("*")
    type_words = [word for word in words[:-1] if word not in ("const", "*")]
    return Parameter(name, " ".join(type_words), stars > 0)
