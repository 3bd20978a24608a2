"""Stand-ins for CUDA's side of the interop: a runtime that writes its calls down and refuses what it is told to, and
targets that draw into the window's buffers."""

from __future__ import annotations

import types
from typing import Any

import numpy as np


class RecordingRuntime:
    """Answers like cuda.bindings.runtime. `failing` names a function that refuses."""

    def __init__(self, failing: str = "") -> None:
        self.cudaStreamNonBlocking, self.cudaEventDisableTiming = 1, 2
        self.cudaError_t = types.SimpleNamespace(cudaSuccess=0)
        self.cudaGraphicsRegisterFlags = types.SimpleNamespace(cudaGraphicsRegisterFlagsWriteDiscard=2)
        self.calls: list[tuple[Any, ...]] = []
        self.failing = failing
        self._events = 0

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cuda"):
            raise AttributeError(name)

        def call(*arguments: Any) -> tuple[Any, ...]:
            self.calls.append((name.removeprefix("cuda"), *arguments))
            if name == self.failing:
                return (999,)
            return (0, *self._answer(name))

        return call

    def _answer(self, name: str) -> tuple[Any, ...]:
        if name == "cudaEventCreateWithFlags":
            self._events += 1
            return (f"event{self._events}",)
        answers = {
            "cudaStreamCreateWithFlags": ("gui stream",),
            "cudaGraphicsGLRegisterBuffer": ("resource",),
            "cudaGraphicsResourceGetMappedPointer": (4096, 320 * 240 * 4),
            "cudaGetErrorString": (b"unknown error",),
        }
        return answers.get(name, ())

    def names(self) -> list[str]:
        """The functions called, in order."""
        return [call[0] for call in self.calls]


class OtherTarget:
    """A target that is not the buffer's device."""

    kind, ordinal = "host", -1

    def empty(self, shape: tuple[int, ...], dtype: Any, tag: str) -> np.ndarray:
        return np.full(shape, 171, dtype)  # whatever was there

    def upload(self, array: np.ndarray, tag: str) -> np.ndarray:
        return array.copy()

    def download(self, array: np.ndarray) -> np.ndarray:
        return array.copy()


class FakeTarget(OtherTarget):
    """The CUDA target's words for the window."""

    kind, ordinal, stream_pointer = "cuda", 1, 77
    has_waited = False

    def synchronize(self) -> None:
        self.has_waited = True

    def wrap_pointer(self, pointer: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        assert pointer == 4096
        return np.zeros(shape, dtype)
