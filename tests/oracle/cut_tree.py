"""What a bound of the depth may do to a tree: make leaves there, and nothing else."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.hierarchy.base import NodeTable

from .tree_quality import members


def assert_is_cut(cut: NodeTable, whole: NodeTable, depth: int, splits_references: bool = False) -> None:
    """`cut` is `whole` down to `depth`: what is no leaf there lists all that lies below it."""
    rows = int((whole.depth <= depth).sum())  # level by level, so these come first
    assert len(cut) == rows and int(cut.depth.max()) <= depth
    np.testing.assert_array_equal(cut.parent, whole.parent[:rows])
    np.testing.assert_array_equal(cut.is_leaf, whole.is_leaf[:rows] | (whole.depth[:rows] == depth))
    assert members(cut) == members(whole)[:rows]
    if splits_references:  # pieces are cut again further down, where their boxes may be smaller
        assert (cut.lower <= whole.lower[:rows]).all() and (cut.upper >= whole.upper[:rows]).all()
    else:
        np.testing.assert_array_equal(cut.lower, whole.lower[:rows])
        np.testing.assert_array_equal(cut.upper, whole.upper[:rows])
