"""Titles of values of settings: what people are shown in menus, forms, charts and statistics."""

from __future__ import annotations

import pytest

from raygrove.app.settings import option_tables, titles

GROUPS = {
    "render.hierarchy": tuple(option_tables.own_builders()),
    "render.optimiser": tuple(option_tables.optimisers()),
    "render.layout": tuple(
        dict.fromkeys(one for kind in option_tables.own_builders().values() for one in kind.layouts())
    ),
    "render.traversal": tuple(
        dict.fromkeys(
            one
            for kind in option_tables.own_builders().values()
            for layout in kind.layouts()
            for one in kind.traversals(layout)
        )
    ),
    "update.mode": tuple(option_tables.update_policies()),
}


@pytest.mark.parametrize("key", GROUPS)
def test_everything_has_a_title_of_its_own(key: str) -> None:
    """Short ones, too, tell things apart, and nothing is shown by the name that files have for it."""
    names = GROUPS[key]
    shown = {name: (titles.title(key, name), titles.short_title(key, name)) for name in names}
    for column in zip(*shown.values(), strict=True):
        assert len(set(column)) == len(names)
    for name, (title, short) in shown.items():
        assert title.startswith(short) and short and "_" not in title and name not in (title, short)


def test_a_layout_that_nobody_has_given_a_title_is_shown_as_words() -> None:
    assert titles.title("render.layout", "some_nodes") == "Some nodes"
    assert titles.title("render.layout", "auto") == "Automatic" and titles.title("render.optimiser", "none") == "None"


def test_words_of_options_are_plain() -> None:
    assert titles.title("render.triangle_test", "moeller_trumbore") == "Möller-Trumbore"
    assert titles.title("render.device", "cpu") == "CPU"
    assert titles.title("ray_type.ao.strategy", "per_hit") == "Per hit"


def test_a_layout_is_not_called_by_an_option_of_the_same_name() -> None:
    """A title belongs to its setting."""
    assert (
        titles.title("render.layout", "bvh4") == "4-wide (BVH4)" and titles.title("display.spheres", "bvh4") == "Bvh4"
    )


def test_names_of_settings_in_a_sentence_stay() -> None:
    """Who is told to turn a setting on looks for it by its name."""
    setting = "optimiser.rotations.in_refits is off: turn it on for hierarchy.lbvh"
    assert titles.in_titles(setting) == setting
    rotations, lbvh = (titles.short_title(*one) for one in (("optimiser", "rotations"), ("hierarchy", "lbvh")))
    assert rotations != "rotations" and lbvh != "lbvh"
    assert titles.in_titles("rotations mend lbvh, bvh4 or lbvh.") == f"{rotations} mend {lbvh}, BVH4 or {lbvh}."
