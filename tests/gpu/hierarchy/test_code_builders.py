"""Builders that take Morton codes apart yield one tree: by split lists, by treelets, by work queues or from below, it
is the same."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target
from raygrove.testing.scenes import SCENES, TriangleScene, make, scene_of, soup

from .test_lbvh import morton_codes

WITH_DISTINCT_CODES = ("lbvh_lauterbach", "hlbvh_treelets", "hlbvh_median")
"""Builders that split at the bits of the codes, as lbvh does; where codes are equal each goes its own way."""
ALWAYS = ("lbvh_lauterbach", "hlbvh_treelets")
"""Those that part equal codes by position, as lbvh does."""


def table_of(target: Target, name: str, scene: TriangleScene, **options: object) -> NodeTable:
    hierarchy = make(target, name, **options)
    hierarchy.build(scene.upload(target))
    return hierarchy.nodes()


def boxes_of(table: NodeTable) -> np.ndarray:
    """The set of node boxes, sorted: depth, lower, upper."""
    return np.unique(np.column_stack([table.depth, table.lower, table.upper]).astype(np.float32), axis=0)


def assert_same(found: NodeTable, expected: NodeTable) -> None:
    for column, values in vars(expected).items():
        np.testing.assert_array_equal(getattr(found, column), values, err_msg=column)


def distinct(code_bits: int) -> TriangleScene:
    """A soup of which every triangle has a code of its own; the outermost stay, so that no code changes."""
    scene = soup(2500, size=0.01)
    corners, codes = scene.corners(), morton_codes(scene, code_bits)
    extremes = np.concatenate([corners.min(axis=1).argmin(axis=0), corners.max(axis=1).argmax(axis=0)])
    order = np.concatenate([extremes, np.setdiff1d(np.arange(len(corners)), extremes)])
    _, first = np.unique(codes[order], return_index=True)
    kept = scene_of(corners[np.sort(np.union1d(order[first], extremes))])
    assert len(np.unique(morton_codes(kept, code_bits))) == len(kept.indices) > 2400
    return kept


@pytest.mark.parametrize("code_bits", [30, 60])
@pytest.mark.parametrize("name", WITH_DISTINCT_CODES)
def test_distinct_codes_give_one_set_of_boxes(exact_target: Target, name: str, code_bits: int) -> None:
    """With one triangle per leaf. Bites: the number of nodes, every box and its depth."""
    scene = distinct(code_bits)
    expected = table_of(exact_target, "lbvh", scene, code_bits=str(code_bits), max_leaf_size=1)
    found = table_of(exact_target, name, scene, code_bits=str(code_bits), max_leaf_size=1)
    assert len(found) == len(expected) == 2 * len(scene.indices) - 1
    assert len(boxes_of(expected)) == len(expected)
    np.testing.assert_array_equal(boxes_of(found), boxes_of(expected))


@pytest.mark.parametrize("scene_name", ["two", "soup", "degenerate", "coincident", "moving"])
@pytest.mark.parametrize(("code_bits", "max_leaf_size"), [("30", 1), ("30", 4), ("60", 3)])
@pytest.mark.parametrize("name", ALWAYS)
def test_the_tree_is_that_of_lbvh(
    target: Target, name: str, code_bits: str, max_leaf_size: int, scene_name: str
) -> None:
    """Node by node, ties and all."""
    scene = SCENES[scene_name]()
    expected = table_of(target, "lbvh", scene, code_bits=code_bits, max_leaf_size=max_leaf_size)
    assert_same(table_of(target, name, scene, code_bits=code_bits, max_leaf_size=max_leaf_size), expected)


@pytest.mark.parametrize("code_bits", [30, 60])
def test_whole_lists_have_every_level_and_give_the_same_tree(
    host_target: Target, code_bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gap has a record of its own level and of each below, as many as the paper says; short lists have far fewer."""
    scene = distinct(code_bits)
    listed: dict[str, int] = {}
    launch = host_target.launch

    def noted(unit: Any, kernel: str, n: Any, /, **arguments: Any) -> None:
        launch(unit, kernel, n, **arguments)
        if kernel == "write_records":
            listed[lists] += int(host_target.download(arguments["record_count"])[0])

    monkeypatch.setattr(host_target, "launch", noted)
    expected = table_of(host_target, "lbvh", scene, code_bits=str(code_bits))
    for lists in ("short", "whole"):
        listed[lists] = 0
        options = {"code_bits": str(code_bits), "lists": lists}
        assert_same(table_of(host_target, "lbvh_lauterbach", scene, **options), expected)
    codes = np.sort(morton_codes(scene, code_bits)).tolist()
    own = [code_bits - (a ^ b).bit_length() for a, b in itertools.pairwise(codes)]
    levels = code_bits + len(own).bit_length()
    ties = sum(a == b for a, b in itertools.pairwise(codes))
    assert ties == 0 and listed["whole"] == sum(levels - level for level in own)
    assert listed["short"] < 0.4 * listed["whole"]


@pytest.mark.parametrize("treelet_levels", [1, 2, 3, 4])
@pytest.mark.parametrize("coarse_bits", [3, 17, 24])
def test_steps_and_coarse_cells_do_not_change_the_tree(target: Target, treelet_levels: int, coarse_bits: int) -> None:
    scene = SCENES["soup"]()
    options = {"treelet_levels": treelet_levels, "coarse_bits": coarse_bits}
    assert_same(table_of(target, "hlbvh_treelets", scene, **options), table_of(target, "lbvh", scene))


@pytest.mark.parametrize("code_bits", ["30", "60"])
def test_a_cell_larger_than_a_tile_is_sorted_too(target: Target, code_bits: str) -> None:
    """3,000 triangles in a few cells of the coarse grid, 2,000 in one place, and one far away."""
    crowd, far = soup(3000, size=0.01).corners(), soup(1, seed=2).corners() + 40
    scene = scene_of(
        np.concatenate([crowd, np.tile(crowd[:1], (2000, 1, 1)), far])[np.random.default_rng(1).permutation(5001)]
    )
    codes = morton_codes(scene, int(code_bits))
    assert np.unique(codes >> np.uint64(int(code_bits) - 15), return_counts=True)[1].max() > 3000
    expected = table_of(target, "lbvh", scene, code_bits=code_bits)
    assert_same(table_of(target, "hlbvh_treelets", scene, code_bits=code_bits), expected)
    assert_same(table_of(target, "lbvh_lauterbach", scene, code_bits=code_bits), expected)


@pytest.mark.parametrize("kind", ["host", pytest.param("cuda", marks=pytest.mark.cuda)])
@pytest.mark.parametrize(("sort", "scan"), [("merrill_4", "hillis_steele"), ("merrill_5", "blelloch")])
def test_who_sorts_does_not_change_the_tree(kind: str, sort: str, scan: str) -> None:
    scene, usual, other = SCENES["soup"](), make_target(kind), make_target(kind, sort=sort, scan=scan)
    expected = table_of(usual, "lbvh", scene)
    for name in ("lbvh", *ALWAYS):
        assert_same(table_of(other, name, scene), expected)
    usual.close()
    other.close()


@given(
    cells=arrays.arrays(np.int8, st.tuples(st.integers(0, 40), st.just(3), st.just(3)), elements=st.integers(-3, 3)),
    max_leaf_size=st.integers(1, 32),
    code_bits=st.sampled_from(["30", "60"]),
    treelet_levels=st.integers(1, 4),
)
def test_any_soup_of_small_integers(
    host_target: Target, cells: np.ndarray, max_leaf_size: int, code_bits: str, treelet_levels: int
) -> None:
    scene, options = scene_of(cells.astype(np.float32)), {"max_leaf_size": max_leaf_size, "code_bits": code_bits}
    expected = table_of(host_target, "lbvh", scene, **options)
    assert_same(table_of(host_target, "lbvh_lauterbach", scene, **options), expected)
    assert_same(table_of(host_target, "hlbvh_treelets", scene, treelet_levels=treelet_levels, **options), expected)


@pytest.mark.parametrize(
    "options",
    [{}, {"code_bits": "60"}, {"launches": "levels"}, {"top_splits": "bins"}, {"planes": "uniform"}],
    ids=lambda options: " ".join(options.values()) or "default",
)
def test_the_scratch_memory_is_what_statistics_say(options: dict[str, str]) -> None:
    scene = soup(5_000, size=0.01)
    layouts = [(name, kind.layouts()[0]) for name, kind in structures().items()] + [
        ("lbvh", name) for name in structures()["lbvh"].layouts()[1:]
    ]
    if "code_bits" in options:  # words of codes are reserved in one place
        layouts = [("lbvh", "bvh2"), ("hploc", "bvh2"), ("lbvh_lauterbach", "bvh2")]
    for name, layout in layouts:
        if not options.keys() <= {field.name for field in dataclasses.fields(structures()[name].Options)}:
            continue
        target = make_target("host")
        hierarchy = make(target, name, layout, **options)
        primitives = scene.upload(target)
        for _ in range(2):  # what grows adds headroom to its first draft
            hierarchy.build(primitives)
        assert hierarchy.stats().scratch_bytes == pytest.approx(target.memory().get("scratch", 0), rel=0.03), (
            name,
            layout,
        )
        target.close()
