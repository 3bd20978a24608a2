"""Where kernels run: one interface for the CUDA and the host target.

A `Target` gives arrays (numpy on the host, cupy on CUDA), compiles units with a cache, launches kernels by name, times
phases and keeps scratch memory. One thread uses a target. Nothing here knows what a kernel computes.
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import time
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from ..errors import Error
from ..settings import option
from .copies import CopyQueue, ImmediateCopies
from .stopping import Stoppable

Array = Any
"""numpy.ndarray on the host, cupy.ndarray on CUDA: shape, dtype, slicing, `.view`, `.reshape` are alike."""

WARP = 32
"""Threads of a launch for each item, where a warp has an item."""
MOST_ITEMS = (1 << 31) - (1 << 24)
"""Items of one launch: kernels count in 32 bits, and a grid-stride loop's last step, a grid, must not pass 2^31."""


class TargetError(Error, RuntimeError):
    """The target cannot do what was asked: the message says what, why and what to do."""


class NoDeviceError(TargetError):
    """There is no usable device (or compiler) for the target asked for."""


class CompileError(TargetError):
    """A kernel unit did not compile; the message holds the compiler's text."""


class OutOfMemoryError(TargetError):
    """An array did not fit: `needed` and `available` in bytes."""

    def __init__(self, what: str, needed: int, available: int) -> None:
        super().__init__(
            f"Not enough memory for {what}: {needed / 2**20:.1f} MiB needed, {available / 2**20:.1f} MiB free."
        )
        self.needed, self.available = needed, available


@dataclasses.dataclass(frozen=True)
class TargetOptions:
    """What can be chosen about a target."""

    threads: int = option(
        0, "Threads that the CPU device uses; 0 takes every core that this process may use.", minimum=0, maximum=1024
    )
    spin_us: int = option(
        100,
        "How long an idle thread of the CPU device spins before it sleeps; less is kinder to a busy machine.",
        minimum=0,
        maximum=100000,
        unit="us",
    )
    contraction: bool = option(
        True,
        "Let the compiler fuse multiplications and additions. When off, pictures are equal bit by bit on every device.",
    )
    profile: bool = option(False, "Time every single launch, not only phases.")
    checks: bool = option(
        False,
        "Compile checks into kernels: indices against the lengths of arrays, stacks against their bounds, rays that "
        "are not numbers or have no direction. What fails is an error that says where, instead of a crash or a wrong "
        "picture. Slower.",
    )
    sort: str = option(
        "auto",
        "How keys are sorted: library is NVIDIA's (cuda.compute, GPUs only), own is Raygrove's radix sort, auto "
        "takes the library where it is installed; the others are Merrill and Grimshaw's sort with digits of 4 or "
        "5 bits, as in Meister's thesis, for comparison.",
        choices=("auto", "library", "own", "merrill_4", "merrill_5"),
    )
    scan: str = option(
        "auto",
        "How prefix sums are computed: auto takes the library's or the device's own scan; hillis_steele and "
        "blelloch are the scans of Meister's thesis.",
        choices=("auto", "hillis_steele", "blelloch"),
    )
    key_memory_mib: int = option(
        0,
        "Memory on the device for key frames of meshes and spheres; a longer sequence streams through it while it "
        "plays. 0 takes half of what is free. Key frames of glyphs all lie there.",
        minimum=0,
        maximum=1048576,
        unit="MiB",
    )
    key_stream: str = option(
        "copies",
        "How key frames that do not fit reach a GPU: copies moves them into its memory ahead of time, mapped lets "
        "kernels read them where they lie in page-locked memory of the host, over the bus, each time they are shown "
        "(Soell, 3.3). The CPU device reads its own memory either way.",
        choices=("copies", "mapped"),
    )


@dataclasses.dataclass(frozen=True)
class UnitSource:
    """A translation unit: the text the target writes is constants, headers and aliases, then the kernel file.

    `path` and `headers` are relative to the project's root ("gpu/primitives/scan.cu"). `constants` become `constexpr`
    values (before the headers, which may use them), `aliases` become `using NAME = TYPE;` (after the headers).
    `rays_per_thread` is the lane pack's width; 0 takes the target's own (1 on CUDA).
    """

    path: str
    headers: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    constants: tuple[tuple[str, int | float | bool], ...] = ()
    rays_per_thread: int = 1


class Unit(Protocol):
    """A compiled unit. `kernels` names what can be launched."""

    kernels: tuple[str, ...]


class FrameTiming(NamedTuple):
    """A finished frame's clock: phases in order of their first use, launches, and the span from its first to its last
    event. A frame that replayed a graph without timing it (`Target.samples_phases`) `has_phases` of none, only the
    span."""

    frame_id: int
    phases_ms: dict[str, float]
    launches: int
    span_ms: float
    has_phases: bool = True


@dataclasses.dataclass(frozen=True)
class DeviceCount:
    """A launch size that lives on the target: an int32 array of one element, and an upper bound known on the host."""

    array: Array
    upper_bound: int


def item_count(kernel: str, n: int | DeviceCount) -> int:
    """How many items a launch is for, at most. Raises TargetError where they are more than kernels count."""
    count = n.upper_bound if isinstance(n, DeviceCount) else int(n)
    if count > MOST_ITEMS:
        raise TargetError(
            f"The kernel {kernel} takes at most {MOST_ITEMS:,} items at once, and {count:,} were asked for. A "
            f"smaller scene or picture has fewer."
        )
    return count


class Target(Stoppable, abc.ABC):
    """See the module. `kind` is host or cuda; `name` as on the command line; `lane_count` the natural width of lane
    packs; `processors` a GPU's multiprocessors, 0 on the host, where `threads` work."""

    kind: str
    name: str
    device_name: str
    lane_count: int
    processors: int = 0
    threads: int = 0
    options: TargetOptions
    phase_prefix: str = ""
    """Put before the names of phases; the engine sets it, so that those of several views in one frame stay apart."""
    quick: Any = None
    """On the host: units of a first picture (quick_units.py)."""
    _unclaimed_frames: tuple[FrameTiming, ...] = ()
    planned_primitives: int = 0  # how many a scene has, where units are planned by a few of them
    samples_phases: bool = False
    """Whether frames that replay a captured body may leave their phases untimed but now and then: on a GPU, events
    within a graph are most of what its launch costs the host. The owner of the frames sets it, between frames."""

    def check(self) -> None:
        """Called before, and on the host target while, a unit is compiled that is not in the cache. Its owner may put a
        function here that raises Abandoned or NotCompiled."""

    compile_ms = 0.0
    """What making units has taken so far: writing them out, compiling or finding them in the cache, loading them."""

    compile_in_phases_ms = 0.0
    """The share of `compile_ms` that fell within phases, whose figures hold it, too."""

    @contextlib.contextmanager
    def _compiling(self) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.compile_ms += (time.perf_counter() - began) * 1000.0

    # -- memory ---------------------------------------------------------------------------------------------------
    @abc.abstractmethod
    def empty(self, shape: int | tuple[int, ...], dtype: Any, tag: str) -> Array:
        """An uninitialised array, 64-byte aligned at least, counted under `tag` until it is garbage. Raises
        OutOfMemoryError."""

    def zeros(self, shape: int | tuple[int, ...], dtype: Any, tag: str) -> Array:
        """An array of zeros."""
        array = self.empty(shape, dtype, tag)
        self.fill(array, 0)
        return array

    @abc.abstractmethod
    def fill(self, array: Array, value: int | float) -> None:
        """Set every element, in the order of the launches."""

    @abc.abstractmethod
    def upload(self, values: np.ndarray, tag: str) -> Array:
        """A copy of host values on the target; not for use inside a frame."""

    def upload_joined(self, parts: Sequence[np.ndarray], tag: str) -> Array:
        """A copy of host values (N_k, ...) of one type, one part after the other; not for use inside a frame."""
        return self.upload(np.concatenate(parts), tag)

    def upload_constant(self, values: np.ndarray, tag: str) -> Array:
        """Host values that neither launches nor `write` will change: a copy, but where the target computes in main
        memory, and nobody else can change them either (numpy has them read-only), these themselves. Not for use inside
        a frame."""
        return self.upload(values, tag)

    def upload_mapped(self, values: np.ndarray, tag: str) -> Array:
        """Such a copy in page-locked memory of the host, which launches read over the bus; on a target in main memory
        an upload like any other. `copies(to_mapped=True)` may change it."""
        return self.upload(values, tag)

    @abc.abstractmethod
    def write(self, array: Array, values: np.ndarray) -> None:
        """Overwrite a small array from the host without waiting (pinned staging on CUDA): camera, moment, counts of
        this frame."""

    @abc.abstractmethod
    def download(self, array: Array) -> np.ndarray:
        """A copy on the host. Waits; not for use inside a frame."""

    @abc.abstractmethod
    def read_later(self, array: Array) -> Callable[[], np.ndarray | None]:
        """Start copying a small array to the host without waiting; the returned function gives the values once they are
        there, None before."""

    @abc.abstractmethod
    def memory(self) -> dict[str, int]:
        """Reserved bytes by tag."""

    @abc.abstractmethod
    def free_bytes(self) -> int:
        """Bytes that arrays could still have, as far as is known."""

    def idle_bytes(self) -> int:
        """Bytes that the target holds back for the next arrays and that no array has."""
        return 0

    def give_idle_back(self) -> None:
        """Give those bytes back. May wait; not for use inside a frame."""

    def copies(self, to_mapped: bool = False) -> CopyQueue:
        """A queue of copies from the host that run beside the launches, into arrays of `upload_mapped` with
        `to_mapped`; on a target that has none beside them, at once."""
        return ImmediateCopies()

    @abc.abstractmethod
    def scratch(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> Array:
        """Scratch memory that keeps its place from frame to frame: the first elements of a buffer named `name`, which
        grows by at least 1/8 when it is too small (never inside a captured frame). Contents are what the last user of
        the name left."""

    @abc.abstractmethod
    def forget_scratch(self) -> None:
        """Let go of all scratch memory: who asks again gets other arrays. For when those who used it are gone; who
        still holds an array of it, as captured launches do, keeps that one. Not for use inside a frame."""

    # -- kernels --------------------------------------------------------------------------------------------------
    @abc.abstractmethod
    def unit(self, source: UnitSource) -> Unit:
        """Compile (or find in the cache) a unit. The key covers every included file, options, compiler and
        architecture."""

    @abc.abstractmethod
    def launch(
        self,
        unit: Unit,
        kernel: str,
        n: int | DeviceCount,
        /,
        *,
        block: int = 256,
        blocks: int = 0,
        **arguments: Any,
    ) -> None:
        """Run `kernel` for `n` items of a grid-stride loop, at most MOST_ITEMS; raises TargetError for more. Arguments
        have the names of the kernel's parameters, and are packed by their declared types: arrays and None for pointers,
        numbers for numbers, 0-d structured numpy arrays for by-value structs. TargetError says which name is missing or
        strange, and which array or number is of another type than declared. `block` is the threads of a block on CUDA;
        `blocks` fixes the number of blocks (for kernels with a tile per block), on both targets."""

    @abc.abstractmethod
    def sort_keys(self, keys: Array, bits: tuple[int, int], scratch: str) -> Array:
        """Sort unsigned keys (32 or 64 bits wide) ascending by the bits [first, last); returns the array that holds the
        result: `keys` itself or scratch memory. Stable."""

    @abc.abstractmethod
    def sort_pairs(self, keys: Array, values: Array, bits: tuple[int, int], scratch: str) -> tuple[Array, Array]:
        """Like sort_keys, with 32-bit values that go along."""

    @abc.abstractmethod
    def exclusive_scan(self, values: Array, out: Array, scratch: str) -> None:
        """Exclusive prefix sums of 32-bit integers; `out` may be `values`."""

    # -- time -----------------------------------------------------------------------------------------------------
    @abc.abstractmethod
    def begin_frame(self, frame_id: int) -> None:
        """Start a frame's clock and launch count."""

    @abc.abstractmethod
    def end_frame(self) -> None:
        """End it; its timing appears in `finished_frames` when the target has got there."""

    @abc.abstractmethod
    def finished_frames(self) -> list[FrameTiming]:
        """The frames that have finished since the last call, oldest first. Does not wait. A frame that has only just
        ended may be left for the next call, unless everything was waited for since."""

    def frames_of(self, numbers: Container[int]) -> list[FrameTiming]:
        """The finished frames that have one of these numbers, oldest first, as `finished_frames` gives all. Frames of
        others stay for who asks for them (two engines may use one target), the newest few of them."""
        known = (*self._unclaimed_frames, *self.finished_frames())
        self._unclaimed_frames = tuple(timing for timing in known if timing.frame_id not in numbers)[-256:]
        return [timing for timing in known if timing.frame_id in numbers]

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what is launched inside under `name` ("build.sort"); phases of one name add up within a frame; they do
        not nest."""
        name = self.phase_prefix + name
        compiled = self.compile_ms
        self._begin_phase(name)
        try:
            yield
        finally:
            self._end_phase(name)
            self.compile_in_phases_ms += self.compile_ms - compiled

    @abc.abstractmethod
    def _begin_phase(self, name: str) -> None: ...

    @abc.abstractmethod
    def _end_phase(self, name: str) -> None: ...

    def profile_launches(self, on: bool) -> None:
        """From now on time every launch as a phase `launch.KERNEL` beside the phases, or no longer. Between frames."""
        self.options = dataclasses.replace(self.options, profile=on)

    @abc.abstractmethod
    def synchronize(self) -> None:
        """Wait until everything launched is done; raises what a kernel did wrong."""

    @abc.abstractmethod
    def capture(self, body: Callable[[], None]) -> Callable[[], None]:
        """`body`'s launches as one call that can be repeated, with the arguments they have now: a CUDA graph, or a
        recording on the host. It must have run once before; here it runs twice, and nothing is launched. Within it
        nothing may be read back, written from the host, reserved or compiled: TargetError."""

    def between(self, stream: int | None) -> contextlib.AbstractContextManager[None]:
        """Order what is launched inside between the work so far and the work to come of a caller's CUDA stream, without
        waiting; None: of nobody's."""
        return contextlib.nullcontext()

    def is_captured_by(self, stream: int | None) -> bool:
        """Whether a caller captures what is launched between the work of that stream."""
        return False

    @property
    @abc.abstractmethod
    def is_capturing(self) -> bool:
        """Whether what is launched now is captured instead of run."""

    def _not_captured(self, doing: str) -> None:
        if self.is_capturing:
            raise TargetError(
                f"A captured graph cannot {doing}: do it before the graph, so that every replay sees the newest values."
            )

    @abc.abstractmethod
    def close(self) -> None:
        """Give everything back; harmless the second time."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
