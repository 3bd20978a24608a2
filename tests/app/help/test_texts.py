"""Every structure and every ray type has its help page; tests/test_house.py asks that nothing is missing in any."""

from __future__ import annotations

from raygrove.app.help import texts as help_texts
from raygrove.app.settings import option_tables

PAGES = help_texts.pages()


def test_nothing_that_can_be_chosen_is_without_a_page() -> None:
    parts = {
        "hierarchy": option_tables.builders(),
        "optimiser": option_tables.optimisers(),
        "ray_type": option_tables.ray_types(),
    }
    wanted = {f"{part}.{name}" for part, names in parts.items() for name in names}
    assert set(PAGES) == wanted and {"hierarchy.lbvh", "ray_type.steps"} <= wanted


def test_a_docstring_is_taken_apart() -> None:
    summary, sections = help_texts.parsed(
        "What it\nis.\n\nMore of it.\n\nIdea: split\nit.\n\nAgain.\n\nCost: none: really.\n"
    )
    assert summary == "What it is.\nMore of it."
    assert sections == {"Idea": "split it.\nAgain.", "Cost": "none: really."}


def test_what_is_missing_is_named() -> None:
    page = help_texts.HelpText("hierarchy.x", "X", "bvh", "It is.", {"Idea": "one", "Cost": ""}, (), ())
    assert page.missing == ("Paper", "Cost", "Limits")
