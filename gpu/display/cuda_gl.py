"""CUDA-GL interop: a GL buffer that kernels write, through cuda-bindings.

Two threads take part, each with a stream of its own. The GUI thread, which owns the GL context, maps and unmaps on its
stream; the render thread writes on the target's. Events order them both ways, so that neither thread waits on the host:

    GUI thread       map · record `ready` · hand over                           · wait for `done` (stream) · unmap ·
    draw render thread                               wait for `ready` (stream) · write · record `done`
"""

from __future__ import annotations

from types import ModuleType
from typing import Any


class InteropUnavailable(RuntimeError):  # noqa: N818 - a state of the machine, not a mistake
    """CUDA cannot share a buffer with this GL context. The message is a sentence for a person; the caller copies
    instead."""


_HINT = (
    "On a machine with two graphics processors, start with __NV_PRIME_RENDER_OFFLOAD=1 "
    "__GLX_VENDOR_LIBRARY_NAME=nvidia "
    "so that the window is drawn by the NVIDIA one."
)


def _runtime() -> ModuleType:
    try:
        from cuda.bindings import runtime
    except ImportError as error:
        raise InteropUnavailable(
            f"The package cuda-bindings is not installed ({error}), so pictures are copied through main memory."
        ) from error
    return runtime


class CudaGl:
    """The GUI thread's side of the interop on one device: its stream, and registered buffers.

    Raises InteropUnavailable from any call that CUDA refuses, after clearing the sticky error.
    """

    def __init__(self, device_id: int = 0) -> None:
        self._cuda = _runtime()
        self.device_id = device_id
        self._call("select the device", self._cuda.cudaSetDevice, device_id)
        flags = self._cuda.cudaStreamNonBlocking
        self.stream = self._call("make a stream", self._cuda.cudaStreamCreateWithFlags, flags)

    def register(self, buffer_id: int) -> Any:
        """Register a GL buffer that CUDA overwrites entirely; the GL context that owns it is current. Returns the
        resource."""
        flags = self._cuda.cudaGraphicsRegisterFlags.cudaGraphicsRegisterFlagsWriteDiscard
        return self._call(
            "register the window's pixel buffer", self._cuda.cudaGraphicsGLRegisterBuffer, buffer_id, flags
        )

    def unregister(self, resource: Any) -> None:
        """Give a resource back; before its GL buffer goes."""
        self._call("unregister the pixel buffer", self._cuda.cudaGraphicsUnregisterResource, resource)

    def map(self, resource: Any) -> tuple[int, int]:
        """Lend the buffer to CUDA: (device pointer, bytes), valid until `unmap`."""
        self._call("map the pixel buffer", self._cuda.cudaGraphicsMapResources, 1, resource, self.stream)
        pointer, size = self._call(
            "find the pixel buffer's address", self._cuda.cudaGraphicsResourceGetMappedPointer, resource
        )
        return int(pointer), int(size)

    def unmap(self, resource: Any) -> None:
        """Give the buffer back to GL, after what was ordered on this stream so far."""
        self._call("unmap the pixel buffer", self._cuda.cudaGraphicsUnmapResources, 1, resource, self.stream)

    def new_event(self) -> Any:
        """An event without a clock."""
        return self._call("make an event", self._cuda.cudaEventCreateWithFlags, self._cuda.cudaEventDisableTiming)

    def destroy_event(self, event: Any) -> None:
        """Give an event back."""
        self._call("destroy an event", self._cuda.cudaEventDestroy, event)

    def record(self, event: Any, stream: Any = None) -> None:
        """Record `event` on `stream` (a raw pointer), by default the GUI thread's."""
        self._call("record an event", self._cuda.cudaEventRecord, event, self.stream if stream is None else stream)

    def wait(self, event: Any, stream: Any = None) -> None:
        """Let `stream` (by default the GUI thread's) wait for `event`, not the host."""
        self._call(
            "wait for an event", self._cuda.cudaStreamWaitEvent, self.stream if stream is None else stream, event, 0
        )

    def is_done(self, event: Any) -> bool:
        """Whether the device has passed `event`."""
        (code,) = self._cuda.cudaEventQuery(event)
        return bool(code == self._cuda.cudaError_t.cudaSuccess)

    def _call(self, purpose: str, function: Any, *arguments: Any) -> Any:
        code, *values = function(*arguments)
        if code != self._cuda.cudaError_t.cudaSuccess:
            self._cuda.cudaGetLastError()
            _, text = self._cuda.cudaGetErrorString(code)
            reason = text.decode() if isinstance(text, bytes) else str(text)
            raise InteropUnavailable(
                f"CUDA could not {purpose}: {reason}. Pictures are copied through main memory. {_HINT}"
            )
        return values[0] if len(values) == 1 else tuple(values) or None
