"""The door to CUDA: cupy and cuda-bindings, imported when they are first needed, devices, and errors as sentences."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from .. import linux
from .base import NoDeviceError, OutOfMemoryError, TargetError
from .nvrtc import architecture_for, nvrtc_version

MINIMUM_CAPABILITY = 75
_ELSEWHERE = "Choose the device cpu to run on the CPU."
_DRIVER = "libcuda.so.1"
_EXTRA = "Install the cuda13 extra of Raygrove (cuda12 for drivers older than 580)"

# Errors after which every call of this process on the device fails, by number (CUresult and cudaError_t agree).
_LOST = {
    214: "the memory of the device has an uncorrectable error",
    700: "a kernel read or wrote outside its arrays",
    702: "a kernel ran longer than the driver allows on a device with a display",
    710: "a kernel stopped at an assertion",
    714: "the stack of a kernel is broken",
    715: "a kernel met an illegal instruction",
    716: "a kernel read or wrote a misaligned address",
    717: "a kernel used an address of the wrong memory space",
    718: "a kernel jumped outside its code",
    719: "a kernel failed",
}

_NO_MEMORY = 2
"""cudaErrorMemoryAllocation."""


class DeviceLostError(TargetError):
    """A kernel broke the device's state for this process: no target on this device works until the program is started
    anew."""


@dataclasses.dataclass(frozen=True)
class Cuda:
    """The libraries, imported."""

    cupy: Any
    driver: Any
    runtime: Any


@dataclasses.dataclass(frozen=True)
class DeviceFacts:
    """A device as the driver describes it: `capability` is 90 for 9.0, `memory` in bytes, `processors` its
    multiprocessors."""

    ordinal: int
    name: str
    capability: int
    memory: int
    processors: int


@functools.cache
def load() -> Cuda:
    """The libraries. Raises NoDeviceError with what to install."""
    try:
        from cuda.bindings import driver, runtime
    except ImportError as error:
        raise NoDeviceError(f"cuda-bindings cannot be imported ({error}). {_EXTRA}. {_ELSEWHERE}") from error
    try:
        import cupy
    except Exception as error:  # cupy raises more than ImportError where a library of the toolkit is missing
        raise NoDeviceError(
            f"cupy cannot be imported ({str(error).strip().splitlines()[0]}). {_EXTRA}. {_ELSEWHERE}"
        ) from error
    return Cuda(cupy, driver, runtime)


def checked(result: tuple[Any, ...], doing: str = "") -> Any:
    """The values of a call of cuda-bindings without its status; raises TargetError where that is an error."""
    status = int(result[0])
    if status:
        raise error_for(status, doing)
    return result[1] if len(result) == 2 else result[1:]


def error_for(status: int, doing: str = "") -> TargetError:
    """The sentence for a CUDA error number."""
    during = f" while {doing}" if doing else ""
    if status in _LOST:
        return DeviceLostError(
            f"The CUDA device stopped{during}: {_LOST[status]} (error {status}). Start the program anew to use "
            f"the device again."
        )
    return TargetError(f"CUDA failed{during}: {_description(status)} (error {status}).")


def pinned_memory(cuda: Cuda, size: int, what: str) -> Any:
    """Page-locked memory of the host from CuPy's pool, for `what`. Raises OutOfMemoryError where there is none, and
    TargetError for another error of CUDA."""
    try:
        return cuda.cupy.cuda.alloc_pinned_memory(size)
    except cuda.cupy.cuda.runtime.CUDARuntimeError as error:
        if int(error.status) != _NO_MEMORY:
            raise error_for(int(error.status), f"taking page-locked memory for {what}") from error
        raise OutOfMemoryError(f"page-locked memory for {what}", size, linux.main_memory()[1]) from error


def devices() -> tuple[DeviceFacts, ...]:
    """Every CUDA device that this process sees. Raises NoDeviceError where there is no driver or no device. Without a
    driver nothing is imported: that takes longer than a first picture on the CPU."""
    if not linux.has_library(_DRIVER):
        raise NoDeviceError(_none_usable("there is no NVIDIA driver"))
    cuda = load()
    status, count = cuda.runtime.cudaGetDeviceCount()
    if int(status) == 35:
        _, version = cuda.runtime.cudaDriverGetVersion()
        found = f"the NVIDIA driver knows CUDA {_dotted(version)} only" if version else "there is no NVIDIA driver"
        raise NoDeviceError(_none_usable(found))
    if int(status) or not count:
        reason = _description(int(status)) if int(status) else "the driver reports no device"
        raise NoDeviceError(f"No CUDA device can be used: {reason}. {_ELSEWHERE}")
    return tuple(_facts(cuda, ordinal) for ordinal in range(count))


def _none_usable(reason: str) -> str:
    return f"No CUDA device can be used: {reason}. Install or update the driver. {_ELSEWHERE}"


def choose_device(ordinal: int) -> DeviceFacts:
    """The device with this number, if kernels can run on it. Raises NoDeviceError with the reason."""
    found = devices()
    if not 0 <= ordinal < len(found):
        names = ", ".join(f"{device.ordinal}: {device.name}" for device in found)
        raise NoDeviceError(f"There is no CUDA device {ordinal}; there are {names}.")
    device = found[ordinal]
    if device.capability < MINIMUM_CAPABILITY:
        raise NoDeviceError(
            f"{device.name} has compute capability {_capability(device)}; Raygrove needs "
            f"{MINIMUM_CAPABILITY / 10} (Turing) or later. {_ELSEWHERE}"
        )
    architecture_for(device.capability)
    return device


def cuda_available(ordinal: int = 0) -> tuple[bool, str]:
    """Whether a CUDA target can be made, and the device's name or the reason why not. Never raises, makes no
    context."""
    try:
        device = choose_device(ordinal)
    except Exception as error:
        return False, str(error) or type(error).__name__
    return True, f"{device.name} (compute capability {_capability(device)})"


def cuda_report() -> list[tuple[str, str]]:
    """What `doctor` prints of CUDA: pairs of a name and a value. Never raises."""
    rows: list[tuple[str, str]] = []
    for name, read in (
        ("NVRTC", _nvrtc_text),
        ("CUDA libraries", _library_text),
        ("CUDA driver", driver_text),
        ("GPU sort", _sort_text),
    ):
        try:
            rows.append((name, read()))
        except Exception as error:
            rows.append((name, f"missing: {error}"))
    try:
        for device in devices():
            memory = f"{device.memory / 2**30:.1f} GiB"
            text = (
                f"{device.name}, compute capability {_capability(device)}, {memory}, {device.processors} "
                f"multiprocessors"
            )
            rows.append((f"CUDA device {device.ordinal}", text))
    except Exception as error:
        rows.append(("CUDA device", f"none: {error}"))
    return rows


def _facts(cuda: Cuda, ordinal: int) -> DeviceFacts:
    properties = cuda.cupy.cuda.runtime.getDeviceProperties(ordinal)
    name = properties["name"]
    return DeviceFacts(
        ordinal,
        name.decode(errors="replace") if isinstance(name, bytes) else str(name),
        properties["major"] * 10 + properties["minor"],
        properties["totalGlobalMem"],
        properties["multiProcessorCount"],
    )


def _nvrtc_text() -> str:
    return ".".join(map(str, nvrtc_version()))


def _library_text() -> str:
    cuda = load()
    _, runtime = cuda.runtime.cudaRuntimeGetVersion()
    return f"cupy {cuda.cupy.__version__}, CUDA runtime {_dotted(runtime)}"


def driver_text() -> str:
    """The driver's CUDA version, as people write it."""
    _, version = load().runtime.cudaDriverGetVersion()
    return f"CUDA {_dotted(version)}" if version else "none"


def _sort_text() -> str:
    from .cuda_sort import library_reason

    reason = library_reason()
    return f"Raygrove's own radix sort ({reason})" if reason else "cuda.compute (CUB)"


def _description(status: int) -> str:
    try:
        runtime = load().runtime
        _, text = runtime.cudaGetErrorString(runtime.cudaError_t(status))
        return text.decode() if isinstance(text, bytes) else str(text)
    except Exception:
        return "unknown error"


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def _capability(device: DeviceFacts) -> str:
    return f"{device.capability // 10}.{device.capability % 10}"
