"""Compiles units to cubins with NVRTC, through cuda-bindings: no driver and no device is needed, so every kernel is
checked on any machine.

Cubins, not PTX: a cubin loads on every driver of the same CUDA major version, PTX only on drivers as new as the
compiler. The assembler's report (registers, spills, stack, shared memory of each kernel) is kept behind the cubin and
read back by `Cubin.resources`.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
import struct
from collections.abc import Callable
from typing import Any

from .base import CompileError, NoDeviceError
from .cache import cached_bytes, find_bytes
from .translation_unit import ROOT, UnitText, foreign_roots

ARCHITECTURES = (75, 90, 120)
"""Compute capabilities that every kernel is compiled for in the tests: Turing, Hopper, Blackwell."""

_FUNCTION = re.compile(r"Compiling entry function '(\w+)'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_REPORT_LENGTH = struct.Struct("<Q")


@dataclasses.dataclass(frozen=True)
class KernelResources:
    """What one kernel takes of a multiprocessor: registers per thread, bytes of stack and of spills a thread, shared
    bytes per block."""

    registers: int = 0
    stack_bytes: int = 0
    spill_bytes: int = 0
    shared_bytes: int = 0


@dataclasses.dataclass(frozen=True)
class Cubin:
    """Machine code for one architecture, and the assembler's report."""

    image: bytes
    report: str

    @property
    def resources(self) -> dict[str, KernelResources]:
        """Resources by kernel name."""
        return parse_report(self.report)


def compile_unit(
    text: UnitText,
    architecture: int,
    contraction: bool = True,
    *,
    name: str = "unit",
    check: Callable[[], None] = lambda: None,
) -> Cubin:
    """`text` for compute capability `architecture` (90 is 9.0), from the cache where it is there. Raises CompileError
    with the compiler's text, and what `check` raises before it is compiled.

    Without `contraction` multiplications and additions stay apart, as on the host: results are equal bit by bit.
    """
    options, key = _key(text, architecture, contraction)

    def make() -> bytes:
        check()
        cubin = compile_text(text.text, options, name)
        report = cubin.report.encode()
        return cubin.image + report + _REPORT_LENGTH.pack(len(report))

    kept = cached_bytes(key, ".cubin", make)
    end = len(kept) - _REPORT_LENGTH.size
    start = end - _REPORT_LENGTH.unpack(kept[end:])[0]
    return Cubin(kept[:start], kept[start:end].decode())


def is_compiled(text: UnitText, architecture: int, contraction: bool) -> bool:
    """Whether the cache has the code of a unit."""
    return find_bytes(_key(text, architecture, contraction)[1], ".cubin") is not None


def _key(text: UnitText, architecture: int, contraction: bool) -> tuple[tuple[str, ...], str]:
    """The compiler's options, and the name of what it makes."""
    options = compile_options(architecture, contraction)
    described = "\0".join((text.digest, *options, *map(str, nvrtc_version())))
    return options, hashlib.sha256(described.encode()).hexdigest()[:40]


def compile_text(text: str, options: tuple[str, ...], name: str = "unit") -> Cubin:
    """`text` compiled as it stands, without the cache."""
    nvrtc = _bindings()
    options = (*options, *(f"--include-path={root}" for root in foreign_roots()))
    program = _checked(nvrtc.nvrtcCreateProgram(text.encode(), f"{name}.cu".encode(), 0, None, None))
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        report = _text_of(program)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise CompileError(
                f"NVRTC cannot compile {name} ({' '.join(options[:1])}):\n{report.strip() or status.name}"
            )
        image = bytearray(_checked(nvrtc.nvrtcGetCUBINSize(program)))
        _checked(nvrtc.nvrtcGetCUBIN(program, image))
        return Cubin(bytes(image), report)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def compile_options(architecture: int, contraction: bool = True) -> tuple[str, ...]:
    """NVRTC's options. `-default-device` lets `constexpr` values of a unit be used by reference in kernels, as C++ does
    on the host."""
    return (
        f"--gpu-architecture=sm_{architecture}",
        "--std=c++17",
        f"--include-path={ROOT}",
        "-default-device",
        f"--fmad={'true' if contraction else 'false'}",
        "--generate-line-info",
        "--ptxas-options=-v",
    )


def parse_report(report: str) -> dict[str, KernelResources]:
    """The assembler's report (`--ptxas-options=-v`) by kernel."""
    found: dict[str, KernelResources] = {}
    name = ""
    for line in report.splitlines():
        if match := _FUNCTION.search(line):
            name = match[1]
            found[name] = KernelResources()
        elif name and (match := _STACK.search(line)):
            found[name] = dataclasses.replace(
                found[name], stack_bytes=int(match[1]), spill_bytes=int(match[2]) + int(match[3])
            )
        elif name and (match := _USED.search(line)):
            shared = _SHARED.search(line)
            found[name] = dataclasses.replace(
                found[name], registers=int(match[1]), shared_bytes=int(shared[1]) if shared else 0
            )
            name = ""
    return found


@functools.cache
def nvrtc_version() -> tuple[int, int]:
    """Major and minor version of the NVRTC that is loaded. Raises NoDeviceError where there is none."""
    _, major, minor = _bindings().nvrtcVersion()
    return int(major), int(minor)


def architecture_for(capability: int) -> int:
    """The architecture to compile for on a device of `capability`: the newest that NVRTC knows of the same major
    version, not newer than the device.

    A cubin runs on devices of its own major version from its minor version on, on no others.
    """
    known = [int(a) for a in _checked(_bindings().nvrtcGetSupportedArchs())]
    usable = [a for a in known if a // 10 == capability // 10 and a <= capability]
    if not usable:
        raise NoDeviceError(
            f"NVRTC {'.'.join(map(str, nvrtc_version()))} has no code for compute capability "
            f"{capability // 10}.{capability % 10} "
            f"(it knows {', '.join(map(str, known))}). Install the CUDA extra that fits this device, or use "
            f"--device cpu."
        )
    return max(usable)


def _bindings() -> Any:
    try:
        from cuda.bindings import nvrtc
    except ImportError as error:
        raise NoDeviceError(
            f"cuda-bindings cannot be imported ({error}). Install the cuda13 or cuda12 extra of Raygrove, or "
            f"choose the device cpu."
        ) from error
    try:
        nvrtc.nvrtcVersion()
    except Exception as error:  # cuda-bindings raises several types where the library is missing
        raise NoDeviceError(
            f"The CUDA compiler library NVRTC cannot be loaded ({' '.join(str(error).split())}). Install "
            f"nvidia-cuda-nvrtc, or choose the device cpu."
        ) from error
    return nvrtc


def _checked(result: tuple[Any, ...]) -> Any:
    status, *values = result
    if int(status) != 0:
        raise CompileError(f"NVRTC failed: {status.name}.")
    return values[0] if len(values) == 1 else values


def _text_of(program: Any) -> str:
    nvrtc = _bindings()
    log = bytearray(_checked(nvrtc.nvrtcGetProgramLogSize(program)))
    _checked(nvrtc.nvrtcGetProgramLog(program, log))
    return log.rstrip(b"\0").decode(errors="replace")
