"""Ray types are found by their files, and what is wrong with one is an error."""

from __future__ import annotations

import dataclasses
import pathlib
import re

import pytest

from raygrove.gpu.settings import checked, fields_of
from raygrove.gpu.shade import registry
from raygrove.gpu.shade.base import RayType


def test_every_ray_type_in_a_file_is_found() -> None:
    found = registry.ray_types()
    assert {"flat", "smooth", "steps"} <= set(found)
    texts = [path.read_text(encoding="utf-8") for path in pathlib.Path(registry.__file__).parent.glob("*.py")]
    named = [name for text in texts for name in re.findall(r'\n    name = "(\w+)"\n    title = ', text)]
    assert sorted(named) == list(found)


def test_options_are_frozen_and_described() -> None:
    for kind in registry.ray_types().values():
        options = kind.Options()
        assert fields_of(options) and all(field.info.sentence.endswith(".") for field in fields_of(options))
        assert checked(kind.Options, {field.name: field.default for field in fields_of(options)}) == options
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(options, fields_of(options)[0].name, 0)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(LookupError, match=r"'phong'.*flat, .*smooth, steps"):
        registry.ray_type("phong")


def test_a_name_taken_twice_and_a_missing_title_are_refused() -> None:
    flat = registry.ray_type("flat")
    with pytest.raises(TypeError, match="taken by raygrove.gpu.shade.flat"):
        registry._check(type("Other", (flat,), {}), "other.py", {"flat": flat})
    with pytest.raises(TypeError, match="lacks name, title, Options"):
        registry._check(type("Bare", (RayType,), {}), "bare.py", {})
