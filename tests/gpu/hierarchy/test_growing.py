"""Structures whose memory grows with what they find: how often their first tree is filled, and what they keep."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.hierarchy import growing
from raygrove.gpu.hierarchy.base import Primitives
from raygrove.gpu.hierarchy.growing import GrowingHierarchy
from raygrove.gpu.hierarchy.grown_tree import Capacity
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import make, soup

AMPLE = ("median_sah", "sah_events", "octree_bottom_up", "octree_top_down")
SIZES = {"median_sah": 0.04, "sah_events": 0.04, "octree_bottom_up": 0.03, "octree_top_down": 0.03}
"""Of loose triangles that need more than `first_capacity` of something."""


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch) -> list[Capacity]:
    """What drafts had room for."""
    fill, found = GrowingHierarchy._filled, list[Capacity]()

    def noted(self: GrowingHierarchy, primitives: Primitives, capacity: Capacity) -> object:
        found.append(capacity)
        return fill(self, primitives, capacity)

    monkeypatch.setattr(GrowingHierarchy, "_filled", noted)
    return found


def built(target: Target, name: str, size: float) -> tuple[GrowingHierarchy, int]:
    made, scene = make(target, name), soup(3000, size=size)
    assert isinstance(made, GrowingHierarchy)
    made.build(scene.upload(target))
    return made, len(scene.indices)


@pytest.mark.parametrize("name", AMPLE)
def test_a_first_tree_that_needs_more_than_most_is_filled_once(
    host_target: Target, filled: list[Capacity], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made, _ = built(host_target, name, SIZES[name])
    assert len(filled) == 1
    growing._rooms.clear()
    monkeypatch.setattr(type(made), "ample", ())
    other, _ = built(host_target, name, SIZES[name])
    assert len(filled) > 2
    for column, mine in dataclasses.asdict(made.nodes()).items():
        np.testing.assert_array_equal(mine, getattr(other.nodes(), column))
    assert other.memory()[0] == made.memory()[0]


@pytest.mark.parametrize("name", AMPLE)
def test_a_tree_keeps_nothing_of_what_a_first_draft_had_too_much(
    host_target: Target, filled: list[Capacity], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made, count = built(host_target, name, 0.001)
    first = made.first_capacity(count)
    assert filled[0].references > first.references
    assert made.tree.capacity.smaller(filled[0]) != filled[0]
    assert first.smaller(made.tree.capacity) == first
    growing._rooms.clear()
    monkeypatch.setattr(type(made), "ample", ())
    other, _ = built(host_target, name, 0.001)
    assert (
        other.memory()[0] == made.memory()[0] and other.memory()[1] < made.memory()[1]
    )  # scratch memory keeps its size


def test_where_memory_is_scarce_a_first_draft_has_what_most_need(
    host_target: Target, filled: list[Capacity], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(host_target), "free_bytes", lambda self: 1 << 20)
    made, count = built(host_target, "octree_top_down", 0.001)
    assert filled[0] == made.first_capacity(count)
