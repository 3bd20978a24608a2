"""Copies from the host that run beside the launches. Nothing here knows what is copied; gpu/animate/key_stream.py
streams key frames with it."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

Piece = tuple[Any, np.ndarray]
"""A contiguous array of the target, and the host values of its shape and type that go there."""


class Copy(Protocol):
    """One copy under way. It starts after everything that was launched before; what it overwrites may not be read until
    it has arrived or `order` was called."""

    def has_arrived(self) -> bool:
        """Whether the values are there for everything launched from now on. Does not wait."""

    def order(self) -> None:
        """Everything launched from now on sees the values. The target waits where it must; the caller at most until the
        copy has begun. Raises TargetError where it failed."""


class CopyQueue(abc.ABC):
    """Copies in the order they were started. `close` waits for the last of them."""

    @abc.abstractmethod
    def start(self, pieces: Sequence[Piece]) -> Copy:
        """Begin a copy. The host values stay unchanged until it has arrived. Not inside captured launches."""

    @abc.abstractmethod
    def close(self) -> None:
        """Wait, and give everything back; harmless the second time."""


class DoneCopy:
    """A copy that was done at once."""

    def has_arrived(self) -> bool:
        """It has."""
        return True

    def order(self) -> None:
        """Nothing to wait for."""


class ImmediateCopies(CopyQueue):
    """For targets whose launches run before they return: a copy is done when it is started."""

    def start(self, pieces: Sequence[Piece]) -> Copy:
        for array, values in pieces:
            np.copyto(array, values)
        return DoneCopy()

    def close(self) -> None:
        """Nothing is held."""
