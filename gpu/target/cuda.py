"""The CUDA target: kernels compiled to cubins by NVRTC and launched through the driver, arrays by cupy, all work on one
stream of its own.

One thread uses a target; another thread may wait on `stream_pointer` with events (the window does). Nothing in a frame
allocates or waits, once every unit is compiled and every scratch buffer has its size.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .arguments import ArgumentBlock
from .base import Array, DeviceCount, FrameTiming, Target, TargetError, TargetOptions, Unit, UnitSource, item_count
from .copies import CopyQueue
from .cuda_checks import CudaChecks
from .cuda_copies import MappedCopies, StreamCopies
from .cuda_driver import Cuda, checked, choose_device, cuda_available, cuda_report, driver_text, error_for, load
from .cuda_foreign import ForeignMemory
from .cuda_graph import CapturedGraph
from .cuda_memory import DeviceMemory, StagingRing, address_of
from .cuda_sort import check_sort, choose_sorter
from .cuda_timing import CudaClock
from .cuda_uploads import Uploads
from .kernel_use import KernelUse, asked_use
from .nvrtc import KernelResources, architecture_for, compile_unit, nvrtc_version
from .thesis_sort import chosen_of_thesis
from .translation_unit import write_unit

__all__ = ["CudaTarget", "CudaUnit", "cuda_available", "cuda_report"]

_here = threading.local()
"""`ordinal` is the device that is current in this thread, as far as targets made it so."""

_BLOCKS_A_PROCESSOR = (
    40  # of a grid-stride loop: enough that the hardware balances uneven work (docs/decisions/tracing-on-cuda.md)
)


@dataclasses.dataclass(eq=False)
class CudaUnit:
    """A loaded module: a function and an argument block a kernel, and what each kernel takes of a multiprocessor."""

    kernels: tuple[str, ...]
    functions: dict[str, tuple[Any, ArgumentBlock]]
    resources: dict[str, KernelResources]
    module: Any


class CudaTarget(ForeignMemory, Target):
    """See the module. Raises NoDeviceError where there is no device, driver or library for it. `exact_memory` makes
    every array an allocation of its own, of exactly its size: slow, and what memory checkers need to find an access
    past an end."""

    kind = "cuda"
    lane_count = 1

    def __init__(self, options: TargetOptions | None = None, ordinal: int = 0, *, exact_memory: bool = False) -> None:
        self.options, self.ordinal = options or TargetOptions(), ordinal
        self.facts = choose_device(ordinal)
        self.name, self.device_name = f"cuda:{ordinal}", self.facts.name
        self.architecture, self.processors = architecture_for(self.facts.capability), self.facts.processors
        self._cuda: Cuda = load()
        self._runtime = self._cuda.runtime
        self._adopt_thread()
        self._stream = self._cuda.cupy.cuda.Stream(non_blocking=True)
        self.stream_pointer: int = int(self._stream.ptr)
        self._launch_kernel = self._cuda.driver.cuLaunchKernel
        self._launch_stream = self._cuda.driver.CUstream(self.stream_pointer)
        self._memory = DeviceMemory(self._cuda, ordinal, self._stream, exact_memory)
        self._staging = StagingRing(self._cuda, self._stream)
        self._uploads = Uploads(self._cuda, ordinal, self._stream.ptr)
        self._checks = CudaChecks(self._cuda, self._memory, self._staging) if self.options.checks else None
        self._clock = CudaClock(self._cuda, self.stream_pointer, self.options.profile)
        self._units: dict[UnitSource, CudaUnit] = {}
        self._graphs: weakref.WeakSet[CapturedGraph] = weakref.WeakSet()
        self._copies: weakref.WeakSet[StreamCopies] = weakref.WeakSet()
        self._max_blocks = _BLOCKS_A_PROCESSOR * self.processors
        usual = choose_sorter(self.options.sort, self, self._cuda, self._stream, self.architecture)
        self._sorter, self._scanner = chosen_of_thesis(self, usual)
        self._is_open = True

    @property
    def sorter_name(self) -> str:
        """Who sorts: library, own, merrill_4 or merrill_5."""
        return self._sorter.name

    @property
    def compiler(self) -> str:
        """NVRTC's version and the architecture compiled for."""
        return f"NVRTC {'.'.join(map(str, nvrtc_version()))}, sm_{self.architecture}"

    @property
    def driver(self) -> str:
        """The CUDA version of the driver."""
        return driver_text()

    @property
    def launch_count(self) -> int:
        """Kernels launched since the target was made, those of replayed graphs included."""
        return self._clock.total_launches

    @property
    def unit_count(self) -> int:
        """Units compiled or loaded so far."""
        return len(self._units)

    # -- memory ---------------------------------------------------------------------------------------------------
    def empty(self, shape: int | tuple[int, ...], dtype: Any, tag: str) -> Array:
        self._adopt_thread()
        return self._memory.empty(shape, dtype, tag)

    def fill(self, array: Array, value: int | float) -> None:
        if not array.size:
            return
        self._needs_contiguous(array)
        self._clock.count_work()
        pattern = np.full(1, value, array.dtype)
        words = pattern.view(f"u{min(4, array.dtype.itemsize)}")
        address, count, driver = array.data.ptr, array.size, self._cuda.driver
        if array.dtype.itemsize == 1:
            checked(driver.cuMemsetD8Async(address, int(words[0]), count, self._launch_stream), "filling an array")
        elif array.dtype.itemsize == 2:
            checked(driver.cuMemsetD16Async(address, int(words[0]), count, self._launch_stream), "filling an array")
        elif all(words == words[0]):
            checked(
                driver.cuMemsetD32Async(address, int(words[0]), count * len(words), self._launch_stream),
                "filling an array",
            )
        else:
            for place, word in enumerate(words):
                pitch = array.dtype.itemsize
                result = driver.cuMemsetD2D32Async(address + 4 * place, pitch, int(word), 1, count, self._launch_stream)
                checked(result, "filling an array")

    def upload(self, values: np.ndarray, tag: str) -> Array:
        values = np.ascontiguousarray(values).reshape(np.shape(values))
        array = self.empty(values.shape, values.dtype, tag)
        if values.size:
            self._uploads.copy(array.data.ptr, values, tag)
            self.synchronize()
        return array

    def write(self, array: Array, values: np.ndarray) -> None:
        self._not_captured("write to an array")
        values = np.asarray(values)
        if values.dtype != array.dtype:
            values = values.astype(array.dtype)
        if values.shape != array.shape:
            values = np.broadcast_to(values, array.shape)
        if values.size:
            self._needs_contiguous(array)
            self._clock.count_work()
            self._staging.write(array.data.ptr, np.ascontiguousarray(values))

    def download(self, array: Array) -> np.ndarray:
        self._not_captured("download an array")
        self._adopt_thread()
        if not array.flags.c_contiguous:
            with self._stream:
                array = self._cuda.cupy.ascontiguousarray(array)
        values = np.empty(array.shape, array.dtype)
        if values.size:
            to_host, source = self._runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost, array.data.ptr
            result = self._runtime.cudaMemcpyAsync(
                values.ctypes.data, source, values.nbytes, to_host, self._launch_stream
            )
            checked(result, "downloading an array")
        self.synchronize()
        return values

    def read_later(self, array: Array) -> Callable[[], np.ndarray | None]:
        self._not_captured("read an array back")
        self._needs_contiguous(array)
        self._clock.count_work()
        return self._staging.read(array.data.ptr, array.shape, array.dtype)

    def memory(self) -> dict[str, int]:
        return self._memory.by_tag()

    def free_bytes(self) -> int:
        self._adopt_thread()
        return self._memory.free_bytes()

    def idle_bytes(self) -> int:
        return self._memory.idle_bytes()

    def give_idle_back(self) -> None:
        self._adopt_thread()
        self._memory.give_idle_back()

    def upload_mapped(self, values: np.ndarray, tag: str) -> Array:
        return self._memory.mapped(np.ascontiguousarray(values))

    def copies(self, to_mapped: bool = False) -> CopyQueue:
        self._adopt_thread()
        kind = MappedCopies if to_mapped else StreamCopies
        self._copies.add(made := kind(self._cuda, self.ordinal, self.stream_pointer))
        return made

    def scratch(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> Array:
        return self._memory.scratch(name, shape, dtype)

    def forget_scratch(self) -> None:
        self._memory.forget_scratch()

    # -- kernels --------------------------------------------------------------------------------------------------
    def unit(self, source: UnitSource) -> Unit:
        made = self._units.get(source)
        if made is None:
            self._not_captured(f"compile {source.path}")
            self._adopt_thread()
            with self._compiling():
                made = self._units[source] = self._load_unit(source)
        return made

    def _load_unit(self, source: UnitSource) -> CudaUnit:
        text = write_unit(source, "cuda", self.lane_count, self.options.checks)
        cubin = compile_unit(text, self.architecture, self.options.contraction, name=source.path, check=self.check)
        driver = self._cuda.driver
        module = checked(driver.cuModuleLoadData(cubin.image), f"loading {source.path}")
        if self._checks is not None:
            self._checks.adopt(module, text.kernels)
        functions = {
            name: (
                checked(driver.cuModuleGetFunction(module, name.encode()), f"loading {name}"),
                ArgumentBlock(signature, address_of),
            )
            for name, signature in text.kernels.items()
        }
        return CudaUnit(tuple(text.kernels), functions, cubin.resources, module)

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
        if getattr(_here, "ordinal", -1) != self.ordinal:
            self._adopt_thread()
        try:
            function, packed = unit.functions[kernel]  # type: ignore[attr-defined]
        except KeyError:
            raise TargetError(f"There is no kernel {kernel} in this unit; it has {', '.join(unit.kernels)}.") from None
        count = item_count(kernel, n)
        if blocks <= 0:
            if count <= 0:
                return
            blocks = min(-(-count // block), self._max_blocks)
        packed.pack(arguments, block)
        if self._checks is not None and not self.is_capturing:
            self._checks.before_launch()
        if self.options.profile:
            with self._clock.timed_launch(kernel):
                status = self._launch_kernel(
                    function, blocks, 1, 1, block, 1, 1, 0, self._launch_stream, packed.address, 0
                )[0]
        else:
            status = self._launch_kernel(
                function, blocks, 1, 1, block, 1, 1, 0, self._launch_stream, packed.address, 0
            )[0]
            self._clock.count_launch()
        if status:
            raise error_for(int(status), f"launching {kernel} with {blocks} blocks of {block} threads")

    def kernel_use(self, unit: Unit, kernel: str, threads: int) -> KernelUse:
        self._adopt_thread()
        return asked_use(self._cuda.driver, unit, kernel, threads)

    def sort_keys(self, keys: Array, bits: tuple[int, int], scratch: str) -> Array:
        check_sort(keys, None, bits)
        if keys.size < 2 or bits[0] == bits[1]:
            return keys
        with self._library_launch("radix_sort", self._sorter.name):
            return _as(self._sorter.sort_keys(_unsigned(keys), bits, scratch), keys.dtype)

    def sort_pairs(self, keys: Array, values: Array, bits: tuple[int, int], scratch: str) -> tuple[Array, Array]:
        check_sort(keys, values, bits)
        if keys.size < 2 or bits[0] == bits[1]:
            return keys, values
        with self._library_launch("radix_sort", self._sorter.name):
            sorted_keys, sorted_values = self._sorter.sort_pairs(_unsigned(keys), values, bits, scratch)
        return _as(sorted_keys, keys.dtype), sorted_values

    def exclusive_scan(self, values: Array, out: Array, scratch: str) -> None:
        if values.dtype.itemsize != 4 or out.dtype.itemsize != 4:
            raise TargetError("The exclusive scan takes 32-bit integers.")
        if values.size:
            with self._library_launch("exclusive_scan", self._scanner.name):
                self._scanner.exclusive_scan(_unsigned(values), _unsigned(out), scratch)

    def _library_launch(self, name: str, who: str) -> contextlib.AbstractContextManager[None]:
        """Count a call of the library as one launch; our own kernels count themselves."""
        self._adopt_thread()
        return self._clock.timed_launch(name) if who == "library" else contextlib.nullcontext()

    # -- time -----------------------------------------------------------------------------------------------------
    def begin_frame(self, frame_id: int) -> None:
        self._adopt_thread()
        self._clock.samples_phases = self.samples_phases and not self.options.profile
        self._clock.begin_frame(frame_id)

    def end_frame(self) -> None:
        self._clock.end_frame()
        if self._checks is not None:
            self.synchronize()

    def finished_frames(self) -> list[FrameTiming]:
        return self._clock.take_finished()

    def _begin_phase(self, name: str) -> None:
        self._clock.begin_phase()

    def _end_phase(self, name: str) -> None:
        self._clock.end_phase(name)

    def profile_launches(self, on: bool) -> None:
        super().profile_launches(on)
        self._clock.profile = on

    def synchronize(self) -> None:
        self._adopt_thread()
        checked(self._runtime.cudaStreamSynchronize(self._launch_stream), "running kernels")
        self._clock.is_newest_fresh = False
        if self._checks is not None:
            self._checks.raise_failed()

    def capture(self, body: Callable[[], None]) -> Callable[[], None]:
        self._adopt_thread()
        self._not_captured("capture another graph")
        self._memory.is_frozen = True
        try:
            graph = CapturedGraph(self._cuda, self.stream_pointer, self._clock, body, self._memory.scratch_buffers)
        finally:
            self._memory.is_frozen = False
        self._graphs.add(graph)
        return graph

    @property
    def is_capturing(self) -> bool:
        return self._memory.is_frozen

    def close(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        with contextlib.suppress(TargetError):
            self.synchronize()
            for copies in list(self._copies):
                copies.close()
            for graph in list(self._graphs):
                graph.close()
            self._staging.close()
            self._uploads.close()
            self.close_handover()
            self._clock.close()
            for unit in self._units.values():
                self._cuda.driver.cuModuleUnload(unit.module)
        self._units.clear()
        with contextlib.suppress(Exception):  # of a lost device nothing can be given back
            self._memory.close()

    # -- inside ---------------------------------------------------------------------------------------------------
    def _adopt_thread(self) -> None:
        """Make the device current in the thread that uses the target now."""
        if getattr(_here, "ordinal", -1) != self.ordinal:
            checked(self._runtime.cudaSetDevice(self.ordinal), f"selecting CUDA device {self.ordinal}")
            self._cuda.cupy.cuda.Device(self.ordinal).use()
            checked(self._runtime.cudaFree(0), f"opening CUDA device {self.ordinal}")
            _here.ordinal = self.ordinal

    @staticmethod
    def _needs_contiguous(array: Array) -> None:
        if not array.flags.c_contiguous:
            raise TargetError(
                f"An array of shape {array.shape} is not contiguous; only whole rows are written or read."
            )


def _unsigned(array: Array) -> Array:
    return _as(array, np.dtype(f"u{array.dtype.itemsize}"))


def _as(array: Array, dtype: np.dtype) -> Array:
    return array if array.dtype == dtype else array.view(dtype)
