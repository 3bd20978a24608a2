"""What menus and sheets offer is in the user's language, also what the library has its names for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QTranslator

from raygrove.app.document.document import Document
from raygrove.app.settings import option_tables
from raygrove.app.ui.pipeline.faces import update_word
from raygrove.app.ui.session.choices import Choices


@pytest.fixture
def loud(qapp: Any) -> Iterator[None]:
    """A language of capitals."""

    class Loud(QTranslator):
        def translate(self, context: str, text: str, *rest: Any) -> str:
            return text.upper()

    translator = Loud()
    qapp.installTranslator(translator)
    yield
    qapp.removeTranslator(translator)


@pytest.mark.parametrize("structure", ["lbvh", "sbvh"])
def test_update_policies_are_offered_in_the_users_language(loud: None, structure: str) -> None:
    document = Document()
    document.change("settings.render.hierarchy", structure)
    offers = Choices(document).updates()
    assert {name for name, *_ in offers} == set(option_tables.update_policies())
    assert all(title.isupper() and tip.isupper() for _, title, tip, _ in offers), offers
    can_refit = option_tables.builders()[structure].capabilities.refit
    assert {name for name, _, _, is_free in offers if not is_free} == {
        name for name, policy in option_tables.update_policies().items() if policy.refits and not can_refit
    }


def test_a_chip_says_the_policy_in_the_users_language(loud: None) -> None:
    assert all(update_word(name).isupper() for name in option_tables.update_policies())
