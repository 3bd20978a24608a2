"""How trees come about: each of the project's builders of boxes says it in one of the words there are."""

from __future__ import annotations

import pytest

from raygrove.gpu.hierarchy import registry


@pytest.mark.parametrize("name", list(registry.own_structures()))
def test_a_builder_of_boxes_says_how(name: str) -> None:
    kind = registry.structure(name)
    assert (kind.construction in registry.CONSTRUCTIONS) == (kind.family == "bvh")
