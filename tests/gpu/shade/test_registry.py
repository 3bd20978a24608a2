"""Ray types are found by their files, and what is wrong with one is an error."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import subprocess
import sys

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


@pytest.mark.parametrize("name", [*registry.ray_types(), "base", "registry", "heat", "../smooth", "no such type", ""])
def test_one_is_found_as_among_all(name: str) -> None:
    assert registry.find(name) is registry.ray_types().get(name)


def test_one_whose_file_has_its_name_is_found_without_the_others(tmp_path: pathlib.Path) -> None:
    program = (
        "import sys; from raygrove.gpu.shade import registry; registry.ray_type('flat');"
        "print([name for name in ('path', 'whitted', 'radiosity') if f'raygrove.gpu.shade.{name}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
