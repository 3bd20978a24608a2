"""docs/api.md is what the docstrings say now, and has every name of the library that has arrays in it."""

from __future__ import annotations

import raygrove
from raygrove.app.help import api_docs


def test_the_page_is_current() -> None:
    assert api_docs.PATH.read_text(encoding="utf-8") == api_docs.text(), "run python -m raygrove.app.help.api_docs"


def test_every_public_name_of_the_face_is_on_it() -> None:
    named = {name.partition(".")[0] for _, names in api_docs.PARTS for name in names}
    face = {name for name, home in raygrove._HOME_OF.items() if ".face." in home}
    assert face <= named and "### `rg.Scene`" in api_docs.text()


def test_examples_are_blocks_of_code() -> None:
    text = api_docs.text()
    assert text.count("```") % 2 == 0 and ">>> import raygrove as rg" in text and "**`.update(" in text
