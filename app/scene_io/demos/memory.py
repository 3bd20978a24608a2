"""The memory that a large scene of spheres takes while it is made: said first, or refused."""

from __future__ import annotations

from raygrove.gpu.linux import free_memory
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target.remarks import remark

SAID_FROM = 1 << 30
"""Bytes."""


def check_memory(count: int, bytes_a_sphere: int, asked: int = 0) -> None:
    """Say what so many spheres take where it is a GiB or more; OptionError, with the figure, where it is more than the
    free main memory. Where `asked` was for more, triangles among them, it is that which is refused."""
    needed, free = count * bytes_a_sphere, free_memory()
    taken = f"{count:,} spheres take {needed / 2**30:.1f} GiB while they are made"
    if free and needed > free:
        raise OptionError("demo.triangles", asked or count, f"fewer: {taken}, and {free / 2**30:.1f} GiB are free")
    if needed >= SAID_FROM:
        remark(f"{taken}, of {free / 2**30:.1f} GiB that are free." if free else f"{taken}.")
