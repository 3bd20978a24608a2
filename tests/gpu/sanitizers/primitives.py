"""Reductions, compactions, sorts and scans under the sanitizers."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.primitives import radix_sort, thesis
from raygrove.gpu.primitives.compact import compact, compact_indices
from raygrove.gpu.primitives.reduce import OPERATIONS, reduce
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.own_sort import MOST_RUN, OwnSorter


def run_primitives(target: Target, few: bool = False) -> None:
    """Each primitive, with odd sizes; of a `few` each operation and each width of digits by turns."""
    random = np.random.default_rng(1)
    for turn, dtype in enumerate(("f4", "i4", "u4")):
        values = target.upload(random.integers(0, 2**31, 9001).astype(dtype), "test")
        for operation in list(OPERATIONS)[turn::3] if few else OPERATIONS:
            reduce(target, operation, values, target.zeros(1, dtype, "test"))
    flags = target.upload(random.integers(0, 2, 9001).astype(np.int32), "test")
    out, count = target.zeros(9001, "u4", "test"), target.zeros(1, "i4", "test")
    compact(target, target.upload(random.integers(0, 2**32, 9001, dtype=np.uint32), "test"), flags, out, count)
    compact_indices(target, flags, out.view("i4"), count)
    for dtype, bits in (("u4", 32), ("u8", 60)):
        keys = random.integers(0, 2**bits, 9001, dtype=np.uint64).astype(dtype)
        target.sort_keys(target.upload(keys, "test"), (0, bits), "sort")
        target.sort_pairs(target.upload(keys, "test"), target.zeros(9001, "u4", "test"), (0, bits), "sort")
        radix_sort.sort_keys(target, target.upload(keys, "test"), (0, bits))
        radix_sort.sort_pairs(target, target.upload(keys, "test"), target.zeros(9001, "u4", "test"), (0, bits))
        for digit_bits in ((4,) if dtype == "u4" else (5,)) if few else (4, 5):
            thesis.sort_keys(target, target.upload(keys, "test"), (0, bits), digit_bits)
            thesis.sort_pairs(
                target, target.upload(keys, "test"), target.zeros(9001, "u4", "test"), (0, bits), digit_bits
            )
    sort_in_runs(target)
    radix_sort.exclusive_scan(target, flags, target.zeros(9001, "i4", "test"))
    for algorithm in ("hillis_steele", "blelloch"):
        thesis.exclusive_scan(target, flags, target.zeros(9001, "i4", "test"), algorithm)


def sort_in_runs(target: Target) -> None:
    """As many long keys are sorted: in short runs, then with a long one out of order, and once more knowing of it."""
    sorter = OwnSorter(target, many_keys=1)
    keys = np.random.default_rng(3).integers(0, 2**63, 4 * MOST_RUN, dtype=np.uint64)
    crowded = np.concatenate([keys, np.arange(2 * MOST_RUN, dtype=np.uint64)[::-1]])
    for given in (keys, crowded, crowded):
        values = target.zeros(len(given), "u4", "test")
        sorter.sort_pairs(target.upload(given, "test"), values, (0, 64), f"sort.runs.{len(given)}")
    sorter.sort_keys(target.upload(crowded, "test"), (0, 64), "sort.runs.keys")
