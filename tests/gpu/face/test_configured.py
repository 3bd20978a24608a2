"""Configurations mean what the same choice said in parts means; what there is not is a sentence that names it."""

from __future__ import annotations

import pytest

from raygrove.gpu.configuration import Configuration, ConfigurationError, Part
from raygrove.gpu.errors import Error
from raygrove.gpu.face.configured import configured
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.settings import OptionError, fields_of
from raygrove.gpu.update.options import UpdateOptions


@pytest.mark.parametrize("name", structures())
def test_every_structure_is_named_alone(name: str) -> None:
    found = configured(name)
    assert (found.name, found.choice.layout, found.choice.optimiser, found.text) == (name, "auto", "none", name)
    assert found.choice.options == structures()[name].Options() and found.update == UpdateOptions()


@pytest.mark.parametrize("name", structures())
def test_every_part_there_is_can_be_named(name: str) -> None:
    kind = structures()[name]
    for layout in kind.layouts():
        for traversal in kind.traversals(layout):
            assert configured(f"{name}/{layout}/{traversal}@auto").choice.traversal == traversal
    for optimiser in kind.optimisers():
        assert configured(f"{name}+{optimiser}@refit").choice.optimiser == optimiser
    for field in fields_of(kind.Options):
        said = str(field.default).lower() if field.type is bool else str(field.default)
        part = Part(name, ((field.name, said.strip("()").replace(" ", "")),))
        assert configured(Configuration(part)).choice.options == kind.Options()


def test_options_are_those_that_are_said() -> None:
    found = configured("binned_sah:bins=16+rotations/bvh4/auto:triangle_test=watertight@auto:cost_ratio=2.5")
    assert found.choice.options.bins == 16 and found.choice.triangle_test == "watertight"
    assert found.update == UpdateOptions("auto", cost_ratio=2.5) and found.choice.optimiser_options is not None
    assert configured("hploc", "refit").update.mode == "refit"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hplok", "configuration 'hplok': there is no builder 'hplok': did you mean hploc"),
        ("hploc+rotation", "no optimiser of hploc 'rotation': did you mean rotations"),
        ("hploc/bvh5", "no layout 'bvh5': did you mean"),
        ("hploc/bvh4/bvh8_stack", "no traversal 'bvh8_stack'"),
        ("hploc/bvh4:wide=2", "the layout bvh4 has no options"),
        ("hploc/bvh4/auto:wide=2", "auto.wide = '2' is not allowed: a traversal has the option triangle_test"),
        ("hploc@never", "no update policy 'never'"),
        ("hploc@auto:mode=refit", "auto.mode = 'refit' is not allowed: the known names here are"),
        ("binned_sah:bins=many", "binned_sah.bins = 'many' is not allowed: a whole number from"),
        ("binned_sah:bean=1", "binned_sah.bean = '1' is not allowed: the known names here are"),
    ],
)
def test_what_there_is_not_is_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence) as raised:
        configured(text)
    assert isinstance(raised.value, Error) and isinstance(raised.value, ValueError)


def test_an_error_has_its_parts() -> None:
    with pytest.raises(ConfigurationError) as raised:
        configured("octopus@auto")
    error = raised.value
    assert (error.what, error.where) == ("there is no builder 'octopus'", "configuration 'octopus@auto'")
    assert "hploc" in error.remedy and error.value == "octopus@auto"
