"""Corners kept by refits: nobody sees that they are kept, whatever comes between two refits."""

from __future__ import annotations

import numpy as np
import pytest

from gpu.hierarchy.bvh.bvh import BvhHierarchy
from gpu.hierarchy.bvh.kept_corners import KEEPS_CORNERS, NOBODY, KeptCorners
from gpu.target.base import Target

from .scenes import make, soup

COUNT = 700


def records(hierarchy: BvhHierarchy) -> np.ndarray:
    """Each reference's vertices and triangle."""
    return np.array(hierarchy.target.download(hierarchy.tree.records)[: hierarchy.tree.count])


def kept_rows(hierarchy: BvhHierarchy, target: Target) -> np.ndarray:
    """What is kept: a row a reference."""
    rows = hierarchy._corners._rows
    assert rows is not None
    return np.array(target.download(rows)[: hierarchy.tree.count])


@pytest.fixture
def hierarchy(target: Target, monkeypatch: pytest.MonkeyPatch) -> BvhHierarchy:
    monkeypatch.setitem(KEEPS_CORNERS, target.kind, True)
    made = make(target, "lbvh", "bvh2")
    assert isinstance(made, BvhHierarchy)
    return made


def test_the_first_refit_keeps_what_the_next_ones_read(target: Target, hierarchy: BvhHierarchy) -> None:
    scene = soup(COUNT)
    hierarchy.build(scene.upload(target))
    assert hierarchy._corners.bytes == 0
    built, scratch = records(hierarchy), hierarchy.stats().scratch_bytes
    primitives = scene.upload(target)
    hierarchy.refit(primitives)
    order = target.download(hierarchy.tree.order)
    np.testing.assert_array_equal(kept_rows(hierarchy, target), np.column_stack([scene.indices[order], order]))
    assert hierarchy.stats().scratch_bytes == scratch + 16 * COUNT
    swapped = scene.indices.copy()
    swapped[order[5]] = scene.indices[order[6]]
    target.write(primitives.keep_alive[1], swapped)  # behind everybody's back: a refit must not look there again
    hierarchy.refit(primitives)
    np.testing.assert_array_equal(records(hierarchy).view(np.int32), built.view(np.int32))


def test_another_order_is_seen_without_a_word(target: Target, hierarchy: BvhHierarchy) -> None:
    scene = soup(COUNT)
    now, later = scene.upload(target), scene.upload(target, later=True)
    hierarchy.build(now)
    hierarchy.refit(now)
    hierarchy.emit(later)  # what a captured build does: kernels alone
    expected = records(hierarchy)
    hierarchy.refit(later)
    np.testing.assert_array_equal(records(hierarchy).view(np.int32), expected.view(np.int32))


@pytest.mark.parametrize("is_replayed", [False, True])
def test_indices_that_change_in_place_are_read_again(target: Target, hierarchy: BvhHierarchy, is_replayed: bool) -> None:
    """As when objects are hidden: by a build, or by what goes before a build that is replayed."""
    scene = soup(COUNT)
    primitives = scene.upload(target)
    hierarchy.build(primitives)
    hierarchy.refit(primitives)
    changed = scene.indices[:, ::-1].copy()
    target.write(primitives.keep_alive[1], changed)
    primitives.topology_version += 1
    if is_replayed:
        hierarchy.prepare(primitives, "rebuild")
        hierarchy.emit(primitives)
    else:
        hierarchy.build(primitives)
    expected = records(hierarchy)
    hierarchy.refit(primitives)
    np.testing.assert_array_equal(records(hierarchy).view(np.int32), expected.view(np.int32))


def test_another_scene_of_the_same_size_is_read_again(target: Target, hierarchy: BvhHierarchy) -> None:
    one, other = soup(COUNT), soup(COUNT)
    other.indices[:] = other.indices[::-1, ::-1]
    for scene in (one, other, one):
        primitives = scene.upload(target)
        hierarchy.build(primitives)
        expected = records(hierarchy)
        hierarchy.refit(primitives)
        np.testing.assert_array_equal(records(hierarchy).view(np.int32), expected.view(np.int32))


def test_rebuilds_keep_nothing_and_forget_nothing(target: Target, hierarchy: BvhHierarchy) -> None:
    primitives = soup(COUNT).upload(target)
    hierarchy.build(primitives)
    hierarchy.build(primitives)
    assert hierarchy._corners.bytes == 0
    hierarchy.refit(primitives)
    hierarchy.build(primitives)
    assert (kept_rows(hierarchy, target)[:, 3] != NOBODY).all()


def test_spheres_have_no_corners(target: Target) -> None:
    primitives = soup(3).upload(target)
    primitives.kind = "sphere"
    assert KeptCorners(target).rows(primitives, 3) is None
