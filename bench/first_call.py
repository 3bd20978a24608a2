"""The library's first call: a program that imports it, builds a tree over arrays and traces rays, from its start to the
hits, with what is compiled in the cache."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from raygrove.gpu.target.base import Target

PROGRAM = """
import sys, time
import numpy as np
import raygrove as rg
def scattered(count):  # without numpy.random, whose import is a twentieth of it all
    return (np.arange(3 * count) ** 2 * 7919 % 2003 / 1001.5 - 1.0).astype(np.float32).reshape(-1, 3)
triangles = np.arange(3000, dtype=np.int32).reshape(-1, 3)
with rg.build(scattered(3000), triangles, device=sys.argv[1]) as tree:
    hits = tree.trace(np.zeros((1024, 3), np.float32), scattered(1024))
print(time.time(), time.process_time(), int((hits.prim_id >= 0).sum()))
"""
"""1,000 triangles in a cube, and 1,024 rays out of its midst."""

LONGEST_S = 300.0


class FirstCallError(RuntimeError):
    """The program failed; what it said."""


def first_call(device: str) -> tuple[float, float, int]:
    """Seconds from the start of the program to its hits, those of the processor, and how many hits there are. Raises
    FirstCallError."""
    begin = time.time()
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, device], capture_output=True, text=True, check=False, timeout=LONGEST_S
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"it ended with exit code {done.returncode}"]
        raise FirstCallError(f"The library's first call failed: {said[-1]}")
    end, processor, hits = done.stdout.split()
    return float(end) - begin, float(processor), int(hits)


def first_call_row(target: Target, repeat: int, say: Callable[[str], None]) -> dict[str, Any]:
    """The medians of so many programs, after one that compiles what is missing."""
    first_call(target.name)
    runs = [first_call(target.name) for _ in range(repeat)]
    seconds, processor, hits = ([run[column] for run in runs] for column in range(3))
    row = {
        "case": "first call",
        "seconds": statistics.median(seconds),
        "cpu_seconds": statistics.median(processor),
        "hits": hits[0],
        "samples": seconds,
    }
    say(
        f"first    a program from its start to its first hits, warm cache: {row['seconds']:.3f} s, "
        f"{row['cpu_seconds']:.3f} s of the processor (medians of {repeat}), {row['hits']:,} hits"
    )
    return row
