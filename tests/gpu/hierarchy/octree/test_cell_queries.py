"""Cells by number alone, against sets of finest cells and Python's integers."""

from __future__ import annotations

import itertools

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.hierarchy.octree import cell_queries
from raygrove.gpu.hierarchy.octree.cell_queries import DIRECTIONS, Cells, upload_cells
from raygrove.gpu.target.base import Target


def code_of(place: tuple[int, ...], level: int) -> int:
    """By interleaving bit strings."""
    digits = [format(coordinate, "b").zfill(level) for coordinate in place]
    return int("".join(bit for bits in zip(*digits, strict=True) for bit in bits) or "0", 2) if level else 0


def pairs_of(target: Target, cells: Cells) -> list[tuple[int, int] | None]:
    """(code, level) of each; None of what does not exist."""
    codes, levels = target.download(cells.code).reshape(-1), target.download(cells.level).reshape(-1)
    return [(int(c), int(n)) if n >= 0 else None for c, n in zip(codes, levels, strict=True)]


def path(code: int, level: int) -> list[tuple[int, int]]:
    """The cells from the root down to one, by recursion."""
    return [*path(code // 8, level - 1), (code, level)] if level else [(0, 0)]


CELLS = st.integers(0, 21).flatmap(lambda level: st.tuples(st.integers(0, 8**level - 1), st.just(level)))
RELATED = st.tuples(CELLS, CELLS, st.integers(0, 21)).map(
    lambda made: (made[0], path(*made[0])[min(made[2], made[0][1])] if made[2] < 15 else made[1])
)


@hypothesis.given(st.lists(RELATED, min_size=1, max_size=20))
def test_pairs_of_cells(host_target: Target, pairs: list[tuple[tuple[int, int], tuple[int, int]]]) -> None:
    first, second = (upload_cells(host_target, *np.array([p[k] for p in pairs], np.uint64).T) for k in (0, 1))
    paths = [(path(*a), path(*b)) for a, b in pairs]
    assert pairs_of(host_target, cell_queries.parents(host_target, first)) == [
        (a[-2:-1] or [None])[0] for a, _ in paths
    ]
    inside = cell_queries.contains(host_target, second, first)
    assert host_target.download(inside).tolist() == [int(b[-1] in a) for a, b in paths]
    below = [a[len(b)] if b[-1] in a[:-1] else None for a, b in paths]
    assert pairs_of(host_target, cell_queries.children_holding(host_target, second, first)) == below
    common = [max(set(a) & set(b), key=lambda cell: cell[1]) for a, b in paths]
    assert pairs_of(host_target, cell_queries.common_ancestors(host_target, first, second)) == common


def test_children(target: Target) -> None:
    cells = upload_cells(target, np.array([0, 5, 5, 8**21 - 1, 3]), np.array([0, 1, 1, 21, -1]))
    octant = target.upload(np.array([7, 0, 8, 1, 1], np.int32), "test")
    assert pairs_of(target, cell_queries.children(target, cells, octant)) == [(7, 1), (40, 2), None, None, None]


@pytest.mark.parametrize("kind", DIRECTIONS)
def test_neighbours_of_one_size(target: Target, kind: str) -> None:
    rng = np.random.default_rng(3)
    made = [(tuple(rng.integers(0, 2**n, 3).tolist()), n) for n in (0, 1, 1, 2, 2, 3, 10, 21, 21) for _ in range(4)]
    cells = upload_cells(target, np.array([code_of(*c) for c in made], np.uint64), np.array([n for _, n in made]))
    found = cell_queries.neighbours(target, cells, kind)
    steps = {"face": 6, "edge": 12, "corner": 8, "all": 26}[kind]
    assert found.code.shape == (steps, len(made))
    expected = []
    for step in itertools.product((-1, 0, 1), repeat=3):
        if np.count_nonzero(step) not in {"face": (1,), "edge": (2,), "corner": (3,), "all": (1, 2, 3)}[kind]:
            continue
        for place, level in made:
            moved = tuple(a + b for a, b in zip(place, step, strict=True))
            is_inside = all(0 <= c < 2**level for c in moved)
            expected.append((code_of(moved, level), level) if is_inside else None)
    assert pairs_of(target, found) == expected


def test_boxes(target: Target) -> None:
    cells = upload_cells(target, np.array([0, 4 * 8 + 3, 0]), np.array([0, 2, -1]))
    root = target.upload(np.array([1.0, 2.0, 3.0, 8.0], np.float32), "test")
    found = target.download(cell_queries.boxes(target, cells, root))
    np.testing.assert_array_equal(found, [[1, 2, 3, 8], [5, 4, 5, 2], [np.nan] * 4])


def test_what_cannot_be_asked(host_target: Target) -> None:
    one, two = (upload_cells(host_target, np.zeros(n), np.zeros(n)) for n in (1, 2))
    with pytest.raises(HierarchyError, match="pairs; 1 and 2 were given"):
        cell_queries.contains(host_target, one, two)
    with pytest.raises(HierarchyError, match="across a face, edge, corner, all; 'side' was asked for"):
        cell_queries.neighbours(host_target, one, "side")
    with pytest.raises(HierarchyError, match=r"1 octants of int32 were expected; \(2,\)"):
        cell_queries.children(host_target, one, two.level)
    with pytest.raises(HierarchyError, match="as many levels of int32"):
        Cells(one.code, two.level)
    none = upload_cells(host_target, np.zeros(0), np.zeros(0))
    assert len(cell_queries.parents(host_target, none)) == 0
