"""The host target: kernels compiled by a C++ compiler, blocks spread over the cores by a pool, numpy arrays.

Launches run before they return, so reads never wait; while a body is captured they are recorded instead
(host_recording.py). Environment, for tests: RAYGROVE_HOST_FLAGS adds compiler flags (sanitizers),
RAYGROVE_HOST_FORCE_SPLIT=1 makes every thread take its share of the blocks.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..linux import free_memory, processors
from .arguments import ArgumentBlock
from .base import (
    Array,
    DeviceCount,
    FrameTiming,
    NoDeviceError,
    OutOfMemoryError,
    Target,
    TargetError,
    TargetOptions,
    Unit,
    UnitSource,
    item_count,
)
from .checks import ARRAYS_AT, REPORT, STATE, Checks
from .host_clock import HostClock
from .host_compiler import processor, ready_file
from .host_recording import Recording
from .host_runtime import load_runtime
from .host_unit import HostUnit
from .quick_units import QuickUnits, entries_of
from .stopping import StopFlag
from .structs import address
from .thesis_sort import chosen_of_thesis
from .translation_unit import write_unit

_ALIGNMENT, _QUAD_BYTES = 64, 16
_MOST_VIEWS = 512
_ITEMS_A_BLOCK = 64
_SHARED_FILL = 1 << 18
"""Bytes from which on all threads fill an array together."""

_BLOCKS_A_THREAD, _STOPPABLE_BLOCKS_A_THREAD = 16, 256
"""Of a launch; what may be stopped has smaller blocks, since those that are begun are done: of a sample of ten seconds
one takes 40 ms."""


class HostTarget(Target):
    """See the module. Raises NoDeviceError where there is no compiler, or where the options ask for what only a GPU
    has."""

    kind = "host"
    name = "host"
    can_stop = True

    def __init__(self, options: TargetOptions | None = None) -> None:
        self.options = options or TargetOptions()
        if self.options.sort == "library":
            raise NoDeviceError(
                "device.sort is library, NVIDIA's sort, which needs a GPU, and this is the CPU. Set "
                "device.sort to auto or own, or render on a GPU."
            )
        self.device_name, flags = processor()
        self.lane_count = 16 if {"avx512f", "avx512vl"} <= flags else 8
        self._runtime = load_runtime()
        threads = self.options.threads or processors()
        split = int(os.environ.get("RAYGROVE_HOST_FORCE_SPLIT", "0") == "1")
        spin_us = self.options.spin_us
        if spin_us == TargetOptions.spin_us:  # nobody chose: tests, many of which run at once, let no thread spin
            spin_us = int(os.environ.get("RAYGROVE_HOST_SPIN_US", spin_us))
        self._pool = ctypes.c_void_p(self._runtime.pool_create(threads, spin_us, split))
        if not self._pool:
            raise OutOfMemoryError("the host target's threads", 1 << 20, free_memory())
        self.threads = self._runtime.pool_threads(self._pool)
        self._units: dict[UnitSource, HostUnit] = {}
        self.quick = QuickUnits()
        self._tags: dict[str, int] = {}
        self._scratch: dict[str, np.ndarray] = {}
        self._views: dict[tuple[str, Any, Any], np.ndarray] = {}
        self._clock = HostClock(self.options.profile)
        self._recording: Recording | None = None
        self._stop_flag = StopFlag()
        self._checks = Checks() if self.options.checks else None
        self._check_state = np.zeros(STATE.itemsize if self._checks else 0, np.uint8)
        self._sorter, self._scanner = chosen_of_thesis(self, None)

    # -- memory ---------------------------------------------------------------------------------------------------
    def empty(self, shape: int | tuple[int, ...], dtype: Any, tag: str) -> Array:
        self._not_captured(f"ask for memory ({tag})")
        dtype = np.dtype(dtype)
        count = math.prod(shape) if isinstance(shape, tuple) else int(shape)
        size = count * dtype.itemsize
        if size > 1 << 26 and size > free_memory():
            raise OutOfMemoryError(tag, size, free_memory())
        try:
            raw = np.empty(size + _ALIGNMENT, np.uint8)
        except MemoryError as error:
            raise OutOfMemoryError(tag, size, free_memory()) from error
        start = -address(raw) % _ALIGNMENT
        self._count(raw, tag, size, address(raw) + start)
        return raw[start : start + size].view(dtype).reshape(shape)

    def _count(self, array: np.ndarray, tag: str, size: int, first: int) -> None:
        """Know memory of `size` bytes from the address `first` on for as long as there is the array."""
        self._tags[tag] = self._tags.get(tag, 0) + size
        number = self._checks.add(first, size, tag) if self._checks is not None else 0
        weakref.finalize(array, self._forget, tag, size, number).atexit = False

    def _forget(self, tag: str, size: int, number: int) -> None:
        self._tags[tag] -= size
        if self._checks is not None:
            self._checks.forget(number)

    def fill(self, array: Array, value: int | float) -> None:
        is_plain = array.flags.c_contiguous and array.itemsize in (1, 2, 4, 8) and address(array) % 8 == 0
        if is_plain and array.nbytes >= _SHARED_FILL:
            self._run(self._fill, array, value)
        else:
            self._run(array.fill, value)

    def _fill(self, array: Array, value: int | float) -> None:
        words, in_word = array.nbytes // 8, 8 // array.itemsize
        word = int(np.full(in_word, value, array.dtype).view(np.uint64)[0])
        self._runtime.fill(self._pool, address(array), word, words)
        array.reshape(-1)[words * in_word :].fill(value)

    def _run(self, step: Callable[..., Any], *arguments: Any) -> None:
        """Do it now, or record it to be done at every replay."""
        if self._recording is None:
            step(*arguments)
        else:
            self._recording.add(step, *arguments)

    def upload(self, values: np.ndarray, tag: str) -> Array:
        values = np.asarray(values)
        array = self.empty(values.shape, values.dtype, tag)
        np.copyto(array, values)
        return array

    def upload_joined(self, parts: Sequence[np.ndarray], tag: str) -> Array:
        count, like = sum(len(part) for part in parts), parts[0]
        array = self.empty((count, *like.shape[1:]), like.dtype, tag)
        np.concatenate(parts, out=array)  # no copy in between, which may have most of what a scene has
        return array

    def upload_constant(self, values: np.ndarray, tag: str) -> Array:
        owner: Any = values
        while isinstance(owner, np.ndarray):
            if owner.flags.writeable:
                return self.upload(values, tag)
            owner = owner.base
        is_owned = owner is None or isinstance(owner, bytes)  # a mapped file's words may change
        if not is_owned or not values.flags.c_contiguous or address(values) % _QUAD_BYTES:
            return self.upload(values, tag)
        lent = values.view()
        self._count(lent, tag, values.nbytes, address(values))
        return lent

    def write(self, array: Array, values: np.ndarray) -> None:
        self._not_captured("write to an array")
        np.copyto(array, values)

    def download(self, array: Array) -> np.ndarray:
        self._not_captured("download an array")
        return np.array(array)

    def read_later(self, array: Array) -> Callable[[], np.ndarray | None]:
        self._not_captured("read an array back")
        values = np.array(array)
        return lambda: values

    def memory(self) -> dict[str, int]:
        return {tag: size for tag, size in self._tags.items() if size}

    def free_bytes(self) -> int:
        return free_memory()

    def scratch(self, name: str, shape: int | tuple[int, ...], dtype: Any) -> Array:
        key = (name, shape, dtype)
        view = self._views.get(key)
        if view is not None:  # the same array, so that launches know it again
            return view
        dtype = np.dtype(dtype)
        size = (math.prod(shape) if isinstance(shape, tuple) else int(shape)) * dtype.itemsize
        held = self._scratch.get(name)
        if held is None or held.size < size:
            self._views = {other: view for other, view in self._views.items() if other[0] != name}
            grown = size if held is None else max(size, held.size + held.size // 8)
            self._scratch[name] = held = self.empty(grown, np.uint8, "scratch")
        if len(self._views) > _MOST_VIEWS:
            self._views.clear()
        made = self._views[key] = held[:size].view(dtype).reshape(shape)
        return made

    def forget_scratch(self) -> None:
        self._scratch.clear()
        self._views.clear()

    # -- kernels --------------------------------------------------------------------------------------------------
    def unit(self, source: UnitSource) -> Unit:
        made = self._units.get(source)
        if made is None:
            self._not_captured(f"compile {source.path}")
            with self._compiling():
                written = write_unit(source, "host", self.lane_count, self.options.checks)
                library, entries = self.quick.library(source, written, self.options.contraction, self.check)
            made = self._units[source] = HostUnit.of(written, entries)
            if self._checks is not None:
                self._checks.know(written.kernels)
                made.check_state = ctypes.c_void_p.in_dll(library, "check_state")
        return made

    def load_ahead(self, source: UnitSource) -> bool:
        """Load a unit that the cache has, on any thread, before a frame asks for it; whether it is loaded."""
        if source not in self._units and self._checks is None:
            written = write_unit(source, "host", self.lane_count)
            ready = ready_file(written.digest, self.options.contraction)
            with contextlib.suppress(OSError):  # one that cannot be loaded is made anew by who needs it
                if ready is not None:
                    loaded = HostUnit.of(written, entries_of(ctypes.CDLL(str(ready)), written))
                    self._units.setdefault(source, loaded)
        return source in self._units

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
        assert isinstance(unit, HostUnit)
        if kernel not in unit.entries:
            raise TargetError(f"There is no kernel {kernel} in this unit; it has {', '.join(unit.kernels)}.")
        count = item_count(kernel, n)
        if count <= 0 and blocks <= 0:
            return
        if self._recording is not None:
            unit.blocks[kernel].pack(arguments, block)  # says what is wrong with them now
        most = (_STOPPABLE_BLOCKS_A_THREAD if self._stop_flag.has_begun else _BLOCKS_A_THREAD) * self.threads
        blocks = blocks or min(-(-count // _ITEMS_A_BLOCK), most)
        self._run(self._launch, unit, kernel, arguments, block, blocks)

    def _launch(self, unit: HostUnit, kernel: str, arguments: dict[str, Any], block: int, blocks: int) -> None:
        packed = unit.blocks[kernel]
        packed.pack(arguments, block)
        if self._checks is not None:
            self._run_checked(self._checks, unit, kernel, packed, blocks)
        elif self._clock.profile:
            with self._clock.launch(kernel):
                self._runtime.pool_run(self._pool, unit.entries[kernel], packed.pointer, blocks, self._stop_flag.at)
        else:
            self._clock.count_launch()
            self._runtime.pool_run(self._pool, unit.entries[kernel], packed.pointer, blocks, self._stop_flag.at)
        self._stop_flag.look()

    def _run_checked(self, checks: Checks, unit: HostUnit, kernel: str, packed: ArgumentBlock, blocks: int) -> None:
        """A launch whose kernel may report a failed check: CheckFailedError. Targets share a library, so it is told
        each time whose launch it is."""
        if checks.has_changed:
            known = checks.arrays().view(np.uint8)
            self._check_state[ARRAYS_AT:][: known.size] = known
        unit.check_state.value = address(self._check_state)
        with self._clock.launch(kernel):
            self._runtime.pool_run(self._pool, unit.entries[kernel], packed.pointer, blocks, self._stop_flag.at)
        report = self._check_state[: REPORT.itemsize]
        error = checks.error(report.view(REPORT)[0])
        if error is not None:
            report[:] = 0
            self._stop_flag.leave()  # of a replay nobody else does
            raise error

    def stop(self, builds: bool = False) -> None:
        self._stop_flag.set(True, builds)

    def go_on(self) -> None:
        self._stop_flag.set(False, builds=True)

    def be_patient(self, seconds: float) -> None:
        self._stop_flag.patience_s = seconds

    @contextlib.contextmanager
    def stoppable(self, builds: bool = False) -> Iterator[None]:
        with self._stop_flag.watched(self._run, builds):
            yield

    def sort_keys(self, keys: Array, bits: tuple[int, int], scratch: str) -> Array:
        return self._sort(keys, None, bits, scratch)[0]

    def sort_pairs(self, keys: Array, values: Array, bits: tuple[int, int], scratch: str) -> tuple[Array, Array]:
        keys, values_sorted = self._sort(keys, values, bits, scratch)
        assert values_sorted is not None
        return keys, values_sorted

    def _sort(
        self, keys: Array, values: Array | None, bits: tuple[int, int], scratch: str
    ) -> tuple[Array, Array | None]:
        if (
            keys.dtype.itemsize not in (4, 8)
            or keys.dtype.kind not in "ui"
            or (values is not None and values.dtype.itemsize != 4)
        ):
            raise TargetError(f"Sorting takes 32- or 64-bit integer keys and 32-bit values, not {keys.dtype.name}.")
        if self._sorter is not None:
            return (
                (self._sorter.sort_keys(keys, bits, scratch), None)
                if values is None
                else self._sorter.sort_pairs(keys, values, bits, scratch)
            )
        other = self.scratch(scratch + ".keys", keys.shape, keys.dtype)
        other_values = None if values is None else self.scratch(scratch + ".values", values.shape, values.dtype)
        self._run(self._radix_sort, (keys, other, values, other_values), bits)
        swapped = self._runtime.sort_passes(keys.size, *bits) % 2
        return (other, other_values) if swapped else (keys, values)

    def _radix_sort(self, arrays: tuple[Array | None, ...], bits: tuple[int, int]) -> None:
        keys = arrays[0]
        assert keys is not None
        function = self._runtime.sort_u32 if keys.dtype.itemsize == 4 else self._runtime.sort_u64
        places = [ctypes.c_void_p(address(array)) for array in arrays]
        with self._clock.launch("radix_sort"):
            function(self._pool, *places, ctypes.c_int64(keys.size), bits[0], bits[1])

    def exclusive_scan(self, values: Array, out: Array, scratch: str) -> None:
        if values.dtype.itemsize != 4 or out.dtype.itemsize != 4:
            raise TargetError("The exclusive scan takes 32-bit integers.")
        if self._scanner is not None:
            self._scanner.exclusive_scan(values, out, scratch)
            return
        self._run(self._scan, values, out)

    def _scan(self, values: Array, out: Array) -> None:
        with self._clock.launch("exclusive_scan"):
            self._runtime.exclusive_scan(
                self._pool, ctypes.c_void_p(address(values)), ctypes.c_void_p(address(out)), ctypes.c_int64(values.size)
            )

    # -- time -----------------------------------------------------------------------------------------------------
    def begin_frame(self, frame_id: int) -> None:
        self._clock.begin_frame(frame_id)

    def end_frame(self) -> None:
        self._clock.end_frame()

    def finished_frames(self) -> list[FrameTiming]:
        return self._clock.take_finished()

    def _begin_phase(self, name: str) -> None:
        self._run(self._clock.begin_phase, name)

    def _end_phase(self, name: str) -> None:
        self._run(self._clock.end_phase, name)

    def profile_launches(self, on: bool) -> None:
        super().profile_launches(on)
        self._clock.profile = on

    def synchronize(self) -> None:
        self._not_captured("wait")

    def capture(self, body: Callable[[], None]) -> Callable[[], None]:
        self._not_captured("capture another graph")
        for _ in range(2):  # as on CUDA, where a graph has a twin that does not time its phases
            recording = self._recording = Recording()
            try:
                body()
            finally:
                self._recording = None
        recording.keep = tuple(self._scratch.values())
        return recording

    @property
    def is_capturing(self) -> bool:
        return self._recording is not None

    def close(self) -> None:
        if self._pool:
            self._runtime.pool_destroy(self._pool)
            self._pool = ctypes.c_void_p(None)
        self._units.clear()
        self.forget_scratch()
