"""Reductions against numpy: odd sizes, every type, the same bytes whatever the block width."""

from __future__ import annotations

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from raygrove.gpu.primitives.reduce import OPERATIONS, TILE, reduce
from raygrove.gpu.target.base import Target

SIZES = (1, 2, 31, 255, 256, 257, TILE - 1, TILE, TILE + 1, 3 * TILE + 17, 100_003)
NUMPY = {"sum": np.sum, "minimum": np.min, "maximum": np.max}


def reduced(target: Target, operation: str, values: np.ndarray) -> np.generic:
    out = target.zeros(1, values.dtype, "test")
    reduce(target, operation, target.upload(values, "test"), out)
    return target.download(out)[0]


def random_values(dtype: str, n: int, seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    if dtype == "float32":
        return random.normal(size=n).astype(np.float32)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, n, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "float32"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_reduce_agrees_with_numpy(target: Target, operation: str, dtype: str) -> None:
    for n in SIZES:
        values = random_values(dtype, n, seed=n)
        found = reduced(target, operation, values)
        if operation == "sum" and dtype == "float32":
            exact = np.sum(values, dtype=np.float64)
            assert abs(found - exact) <= 1e-6 * np.sum(np.abs(values)), n
        else:
            expected = NUMPY[operation](values, dtype=dtype) if operation == "sum" else NUMPY[operation](values)
            assert found == expected, n


def test_reduce_of_nothing_is_the_identity(target: Target) -> None:
    empty = np.zeros(0, np.float32)
    assert [reduced(target, name, empty) for name in OPERATIONS] == [0.0, np.inf, -np.inf]
    assert reduced(target, "maximum", np.zeros(0, np.int32)) == np.iinfo(np.int32).min


@pytest.mark.parametrize("seed", range(8))
def test_nan_is_no_extreme(target: Target, seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(size=random.integers(2, 600)).astype(np.float32)
    values[random.random(len(values)) < 0.5] = np.nan
    values[0] = 0.25
    assert reduced(target, "minimum", values) == np.nanmin(values)
    assert reduced(target, "maximum", values) == np.nanmax(values)


def test_float_sum_is_the_drawn_tree(target: Target) -> None:
    """The order of additions is part of the contract: columns first, then halves, tile after tile."""
    values = random_values("float32", 2 * TILE + 1000)
    partials = []
    for first in range(0, len(values), TILE):
        tile = np.zeros(TILE, np.float32)
        tile[: len(values[first : first + TILE])] = values[first : first + TILE]
        column = np.zeros(256, np.float32)
        for row in tile.reshape(-1, 256):
            column += row
        while len(column) > 1:
            column = column[: len(column) // 2] + column[len(column) // 2 :]
        partials.append(column[0])
    assert reduced(target, "sum", values) == reduced(target, "sum", np.array(partials, np.float32))


@hypothesis.given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=700))
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_extremes_of_any_floats(target: Target, numbers: list[float]) -> None:
    values = np.array(numbers, np.float32)
    assert reduced(target, "minimum", values) == values.min()
    assert reduced(target, "maximum", values) == values.max()


def test_wrong_use_is_refused(target: Target) -> None:
    values, out = target.zeros(4, "f4", "test"), target.zeros(1, "i4", "test")
    with pytest.raises(ValueError, match="float32"):
        reduce(target, "sum", values, out)
    with pytest.raises(ValueError, match="median"):
        reduce(target, "median", values, target.zeros(1, "f4", "test"))
    with pytest.raises(ValueError, match="float64"):
        reduce(target, "sum", target.zeros(4, "f8", "test"), target.zeros(1, "f8", "test"))
