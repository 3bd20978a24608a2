"""What trees of 2^26 references and more ask of a builder's options (docs/decisions/canonical-bvh.md)."""

from __future__ import annotations

from ..base import HierarchyError
from ..primitives import REFERENCE_BITS, reference_bits


def check_wide(structure: str, count: int, leaf_size: int, most: int) -> None:
    """HierarchyError where there are so many references and leaves may have more than `most` of them."""
    if reference_bits(count) > REFERENCE_BITS and leaf_size > most:
        raise HierarchyError(
            f"The structure {structure} holds {count:,} references with leaves of at most {most} alone: lower "
            f"max_leaf_size, which is {leaf_size}."
        )
