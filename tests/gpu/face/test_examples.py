"""The examples in the docstrings of the library do what they say, with no names but those that they import: a person
copies them from the page."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import raygrove.gpu.face
from raygrove.gpu import configuration, errors

MODULES = [
    *(f"raygrove.gpu.face.{file.name}" for file in pkgutil.iter_modules(raygrove.gpu.face.__path__)),
    errors.__name__,
    configuration.__name__,
]

pytestmark = pytest.mark.usefixtures("registry_as_before")


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name), globs={}).failed == 0
