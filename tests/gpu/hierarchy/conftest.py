"""Of the contract suite's cases those that meet each combination which makes a difference; the rest under -m full.
Whoever runs the suite over a structure of another package (raygrove.testing) runs all of it.

A choice is a structure, its layout and its traversal. Structures differ in the trees that they build; layouts and
traversals in how these are written, refitted and gone through, whoever built them.
"""

from __future__ import annotations

from typing import Any

import pytest

from raygrove.gpu.hierarchy.registry import structures
from tests.covering import leave_to_full, parameters_of

BUILDER, LAYOUT, TRAVERSAL = "choice.0", "choice.0 choice.1", "choice.1 choice.2"

TRACED = (BUILDER, f"{TRAVERSAL} way")
"""What is asked of rays: each structure, and each traversal of each layout in trees launched and replayed."""

BUILT = (*TRACED, f"{BUILDER} way")

GROUPS = {
    "test_tree_hits_and_statistics": (*BUILT, LAYOUT, f"{BUILDER} scene_name", f"{TRAVERSAL} scene_name"),
    "test_refit_of_unmoved_is_identity": (*BUILT, LAYOUT, f"{TRAVERSAL} scene_name"),
    "test_refit_of_moved_finds_what_a_rebuild_finds": (*BUILT, f"{TRAVERSAL} scene_name"),
    "test_same_input_same_bytes": (f"{BUILDER} way", f"{BUILDER} scene_name"),
    "test_spheres": (*BUILT, f"{TRAVERSAL} count"),
    "test_triangles_and_spheres": (*BUILT, f"{TRAVERSAL} counts"),
    "test_any_sphere_is_hit_where_one_is_closest": ("family", "choice.2"),
    "test_any_of_both_kinds_is_hit_where_one_is_closest": ("family",),
    "test_checks_find_nothing": ("family",),
    "test_refit_says_why_it_cannot": (BUILDER,),
    "test_unknown_primitives_are_refused": (BUILDER,),
}
"""What is to be met of each test; of those that are not named, TRACED. Any hit of triangles is asked of each traversal
of each layout; of spheres, which leaves do not test many at once, of each traversal. Each layout runs checked under the
sanitizers, too."""

EACH_VALUE = {
    "test_tree_hits_and_statistics": ("choice.0", "choice.0 choice.1", TRAVERSAL, "scene_name", "way"),
    "test_spheres": ("choice.0", "choice.1", "choice.2", "count", "way"),
    "test_triangles_and_spheres": ("choice.0", "choice.1", "choice.2", "counts", "way"),
}
"""What the default run meets of them whatever it costs (tests/broad.py): each structure over each kind of primitive."""

REFITS = ("test_refit_of_unmoved_is_identity", "test_refit_of_moved_finds_what_a_rebuild_finds")
"""Refused by structures that are never refitted, which each is asked once."""


def values_of(item: pytest.Item) -> dict[str, Any]:
    """A case's parameters, and the family of its structure."""
    values = parameters_of(item)
    choice = values.get("choice") or values["way_through"]
    return {**values, "family": structures()[choice[0]].family}


def groups_of(item: pytest.Item) -> tuple[str, ...]:
    values = getattr(getattr(item, "callspec", None), "params", {})
    name = getattr(item, "originalname", "")
    if "way" not in values or "choice" not in values:
        return GROUPS.get(name, ()) if "way_through" in values else ()
    if name in REFITS and not structures()[values["choice"][0]].capabilities.refit:
        return (BUILDER,)
    return GROUPS.get(name, TRACED)


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    leave_to_full(items, groups_of, values_of)
    for item in items:
        groups = EACH_VALUE.get(getattr(item, "originalname", ""))
        if groups and groups_of(item):
            item.add_marker(pytest.mark.each_value(*groups))
