"""Counts that a block adds up do not overflow."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.target.base import Target

from .units import run_kernel


@pytest.mark.parametrize("threads", [32, 128, 1024])
def test_counts_of_a_block_go_far_beyond_what_an_int_holds(target: Target, threads: int) -> None:
    rounds, blocks, before = 300, 3, 5
    (totals,) = run_kernel(
        target,
        "block_counts",
        "count_much",
        1,
        threads,
        rounds,
        np.full(4, before, np.uint64),
        block=threads,
        blocks=blocks,
    )
    thread, turn = np.arange(threads)[:, None], np.arange(rounds)[None, :]
    added = np.broadcast_to((1 << 20) - thread % 3, (threads, rounds))
    expected = [before + blocks * int(added[(thread + turn) % 3 == place].sum()) for place in range(3)]
    assert totals.tolist() == [*expected, before]
    assert threads < 1024 or min(expected) > 1 << 36
