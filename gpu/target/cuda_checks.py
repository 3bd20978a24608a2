"""The checks of a CUDA target (checks.py) on its device: what kernels know of its arrays, and the report that they
leave, read where the target waits. A kernel whose check fails ends and writes; nothing traps, so the context and all
that lies in it stay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .checks import ARRAYS_AT, REPORT, STATE, Checks
from .cuda_driver import Cuda, checked
from .cuda_memory import DeviceMemory, StagingRing


class CudaChecks:
    """The state that every checked unit's `check_state` leads to."""

    def __init__(self, cuda: Cuda, memory: DeviceMemory, staging: StagingRing) -> None:
        self._cuda, self._staging, self._checks = cuda, staging, Checks()
        self._state = memory.empty(STATE.itemsize, np.uint8, "checks")
        memory.checks = self._checks
        self._clear()

    def adopt(self, module: Any, kernels: Iterable[str]) -> None:
        """Tell a loaded unit where the state is, in the order of the stream."""
        self._checks.know(kernels)
        place, _ = checked(self._cuda.driver.cuModuleGetGlobal(module, b"check_state"), "finding a unit's checks")
        self._staging.write(int(place), np.array([self._state.data.ptr], np.uint64))

    def before_launch(self) -> None:
        """Tell kernels of arrays that have come or gone, in the order of the stream; not while launches are
        captured."""
        if self._checks.has_changed:
            self._staging.write(self._state.data.ptr + ARRAYS_AT, self._checks.arrays())

    def raise_failed(self) -> None:
        """CheckFailedError where a kernel has left a report. The stream must be idle."""
        report = np.zeros(1, REPORT)
        address, size = self._state.data.ptr, REPORT.itemsize
        checked(self._cuda.driver.cuMemcpyDtoH(report.ctypes.data, address, size), "reading what kernels report")
        error = self._checks.error(report[0])
        if error is not None:
            self._clear()
            raise error

    def _clear(self) -> None:
        """In the order of the stream: kernels that find a report begin nothing, and a copy from pageable memory is not
        awaited by streams that do not block."""
        self._staging.write(self._state.data.ptr, np.zeros(1, REPORT))
