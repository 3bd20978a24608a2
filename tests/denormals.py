"""Numbers below float32's smallest normal one stay numbers: a test that leaves its thread's processor flushing them to
zero, as libraries built for speed do, is named in a warning, and the next test has them again."""

from __future__ import annotations

import ctypes
from collections.abc import Generator

import numpy as np
import pytest

SMALL = np.full(1, 1e-40, np.float32)
MXCSR, FLUSH = 28, 0x8040  # where C's environment of x86-64 has the word, and its bits FTZ and DAZ
LIBM = "libm.so.6"


def are_flushed() -> bool:
    """Whether this thread's processor takes denormal numbers for zero."""
    return bool((SMALL * np.float32(0.5))[0] == 0.0)


def flush(is_wanted: bool) -> None:
    """Let this thread's processor flush them, or not."""
    libm, environment = ctypes.CDLL(LIBM), (ctypes.c_uint32 * 8)()
    libm.fegetenv(environment)
    word = environment[MXCSR // 4]
    environment[MXCSR // 4] = word | FLUSH if is_wanted else word & ~FLUSH
    libm.fesetenv(environment)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Look after each test."""
    result = yield
    if are_flushed():
        flush(False)
        item.warn(pytest.PytestWarning(f"{item.nodeid} left denormal numbers flushed to zero"))
    return result
