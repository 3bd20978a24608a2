"""Stream compaction against numpy's boolean indexing."""

from __future__ import annotations

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from raygrove.gpu.primitives.compact import compact, compact_indices
from raygrove.gpu.target.base import Target

UNTOUCHED = 0x5A5A5A5A


def compacted(target: Target, values: np.ndarray, flags: np.ndarray) -> tuple[np.ndarray, int]:
    out = target.upload(np.full(len(values), UNTOUCHED, np.uint32).view(values.dtype), "test")
    count = target.upload(np.array([-1], np.int32), "test")
    compact(target, target.upload(values, "test"), target.upload(flags, "test"), out, count)
    return target.download(out), int(target.download(count)[0])


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint32"])
@pytest.mark.parametrize("n", [0, 1, 2, 33, 1000, 65_537])
def test_compact_keeps_the_flagged_in_order(target: Target, n: int, dtype: str) -> None:
    random = np.random.default_rng(n)
    values = random.integers(0, 2**31, n).astype(dtype)
    flags = (random.random(n) < 0.3).astype(np.int32)
    out, count = compacted(target, values, flags)
    expected = values[flags == 1]
    assert count == len(expected)
    np.testing.assert_array_equal(out[:count], expected)
    assert np.all(out[count:].view(np.uint32) == UNTOUCHED)


@pytest.mark.parametrize("flag", [0, 1])
def test_none_or_all_are_kept(target: Target, flag: int) -> None:
    values = np.arange(777, dtype=np.int32)
    out, count = compacted(target, values, np.full(777, flag, np.int32))
    assert count == 777 * flag
    np.testing.assert_array_equal(out[:count], values[:count])


@hypothesis.given(st.lists(st.booleans(), max_size=400))
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_compact_indices_is_flatnonzero(target: Target, chosen: list[bool]) -> None:
    flags = np.array(chosen, np.int32)
    out, count = target.zeros(len(flags), "i4", "test"), target.zeros(1, "i4", "test")
    compact_indices(target, target.upload(flags, "test"), out, count)
    kept = int(target.download(count)[0])
    np.testing.assert_array_equal(target.download(out)[:kept], np.flatnonzero(flags))
    assert kept == np.count_nonzero(flags)


def test_wide_values_are_refused(target: Target) -> None:
    flags, count = target.zeros(4, "i4", "test"), target.zeros(1, "i4", "test")
    with pytest.raises(ValueError, match="32 bits"):
        compact(target, target.zeros(4, "f8", "test"), flags, target.zeros(4, "f8", "test"), count)
