"""Loops visit every item once, whatever the number of blocks and threads."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.target.base import Target

from .units import run_kernel


@pytest.mark.parametrize("blocks", [0, 1, 2, 7, 300])
@pytest.mark.parametrize("n", [1, 2, 255, 1000, 70_001])
def test_grid_stride_visits_all_once(target: Target, n: int, blocks: int) -> None:
    (visits,) = run_kernel(target, "loops", "visit_grid", n, n, np.zeros(n, np.int32), blocks=blocks)
    assert np.all(visits == 1)


@pytest.mark.parametrize("n", [0, 1, 33, 500])
def test_block_stride_visits_all_once_in_each_block(target: Target, n: int) -> None:
    (visits,) = run_kernel(target, "loops", "visit_block", 5, n, np.zeros(max(1, 5 * n), np.int32), blocks=5)
    assert np.all(visits[: 5 * n] == 1)
