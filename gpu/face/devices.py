"""The device that a scene or a tree works on: one thread at a time, in the process that made it."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator

from ..errors import Error
from ..target import choose
from ..target.base import Target

_own = threading.local()
_of_targets: weakref.WeakKeyDictionary[Target, Device] = weakref.WeakKeyDictionary()


class Device:
    """A target and the lock that tells when two threads meet on it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._lock, self._process = threading.RLock(), os.getpid()

    @contextlib.contextmanager
    def used(self, where: str) -> Iterator[Target]:
        """The target for the length of a call. Error where another thread is within one, or where the process was
        forked since the target was made; errors of the call that have no place yet get `where`."""
        if os.getpid() != self._process:
            raise Error(
                "this process was forked from the one that made the device",
                where,
                "make scenes and trees in the process that uses them; start it by 'spawn', not by 'fork'",
            )
        if not self._lock.acquire(blocking=False):
            raise Error(
                f"another thread is using the device {self.target.name} just now",
                where,
                "let one thread at a time use a scene and its trees, or give each thread a scene of its own",
            )
        try:
            yield self.target
        except Error as error:
            error.where = error.where or where
            raise
        finally:
            self._lock.release()

    @contextlib.contextmanager
    def left(self) -> Iterator[None]:
        """For closing, which may not fail: waits until no other thread is within a call. In a forked one none is."""
        with contextlib.nullcontext() if os.getpid() != self._process else self._lock:
            yield


def device_of(name: str = "auto") -> Device:
    """This thread's device of that name: auto, cpu, cuda or cuda:N, the same in every call. Raises NoDeviceError where
    it cannot be used, Error for another name."""
    if not isinstance(name, str):
        raise Error(f"a device is a text, and this is {name!r}", "device", "give auto, cpu, cuda or cuda:N")
    known: dict[tuple[str, int], Device] = _own.__dict__.setdefault("devices", {})
    key = (name, os.getpid())
    if key not in known:
        try:
            target = choose(name)
        except ValueError as error:
            raise Error(str(error).rstrip("."), "device", "choose one of those") from error
        known[key] = next((device for device in known.values() if _is_same(device, target)), None) or of_target(target)
    return known[key]


def _is_same(device: Device, target: Target) -> bool:
    return device.target.name == target.name and device._process == os.getpid()


def of_target(target: Target) -> Device:
    """The device of a target that a caller made; the caller closes it."""
    if target not in _of_targets:
        _of_targets[target] = Device(target)
    return _of_targets[target]
