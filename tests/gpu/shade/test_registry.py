"""Ray types are found by their files, and what is wrong with one is an error."""

from __future__ import annotations

import dataclasses
import pathlib

import pytest

from gpu.settings import checked, fields_of
from gpu.shade import registry
from gpu.shade.base import RayType


def test_every_file_with_a_ray_type_is_found() -> None:
    found = registry.ray_types()
    assert {"flat", "smooth", "steps"} <= set(found)
    folder = pathlib.Path(registry.__file__).parent
    with_class = {path.stem for path in folder.glob("*.py") if "\n    title = " in path.read_text(encoding="utf-8")}
    assert with_class == set(found)


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
    with pytest.raises(TypeError, match="taken by gpu.shade.flat"):
        registry._check(type("Other", (flat,), {}), "other.py", {"flat": flat})
    with pytest.raises(TypeError, match="lacks name, title, Options"):
        registry._check(type("Bare", (RayType,), {}), "bare.py", {})
