"""Names, options and capabilities of functions that are builders."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
import pytest

from raygrove.gpu.hierarchy import registry
from raygrove.gpu.hierarchy.bvh.own.tree import Tree
from raygrove.gpu.settings import checked, fields_of
from raygrove.gpu.target.base import Target
from raygrove.testing.scenes import make, soup

from .own_builders import any_tree, builder, cut_in_two, halved, registered

pytestmark = pytest.mark.usefixtures("registry_as_before")


def test_options_come_from_the_signature() -> None:
    def build(
        bounds: np.ndarray,
        *,
        bins: Annotated[int, (2, 256), "Bins an axis."] = 8,
        rule: Literal["size", "sah"] = "sah",
        share: Annotated[float, (0.0, None)] = 1,
        is_quick: bool = False,
    ) -> Tree:
        return halved(bounds)

    builder("mine", bins=16)(build)
    kind = registry.structure("mine")
    found = {field.name: field for field in fields_of(kind.Options)}
    assert list(found) == ["bins", "rule", "share", "is_quick"]
    assert (found["bins"].default, found["bins"].allowed()) == (16, "a whole number from 2 to 256")
    assert found["bins"].info.sentence == "Bins an axis."
    assert found["rule"].allowed() == "one of size, sah"
    assert (found["share"].default, found["share"].type, found["share"].info.minimum) == (1.0, float, 0.0)
    assert checked(kind.Options, {"bins": 32, "is_quick": True}).bins == 32  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="mine.bins = 1 is not allowed: a whole number from 2 to 256"):
        checked(kind.Options, {"bins": 1}, "mine.")


def test_options_reach_the_function(host_target: Target) -> None:
    given: list[dict[str, Any]] = []

    def build(bounds: np.ndarray, size: int = 2, **more: Any) -> Tree:
        given.append({"size": size, **more})
        return halved(bounds, max_leaf_size=size)

    builder("mine", depth=5)(build)
    make(host_target, "mine", size=7).build(soup(30).upload(host_target))
    assert given == [{"size": 7, "depth": 5}]


def needs(bounds: np.ndarray, bins: int) -> Tree:
    raise NotImplementedError


def many(bounds: np.ndarray, bins: int | None = None) -> Tree:
    raise NotImplementedError


def listed(bounds: np.ndarray, bins: tuple[int, ...] = ()) -> Tree:
    raise NotImplementedError


def far(bounds: np.ndarray, bins: Annotated[int, (2, 8)] = 16) -> Tree:
    raise NotImplementedError


def nothing() -> Tree:
    raise NotImplementedError


@pytest.mark.parametrize(
    "function, defaults, sentence",
    [
        (needs, {}, r'the parameter bins without a default: builder\("mine", bins=...\) gives it one'),
        (needs, {"bins": 3, "bin": 4}, "has no parameter bin, which the decorator gives a default"),
        (many, {}, "the option bins has several types"),
        (listed, {}, "the option bins is of the type .*tuple.*: options are bool, int, float or str"),
        (far, {}, "the default bins = 16 is not allowed: a whole number from 2 to 8"),
        (nothing, {}, "takes no boxes: its first parameter is the array of them"),
    ],
)
def test_a_function_that_cannot_be_called_so_is_refused(function: Any, defaults: Any, sentence: str) -> None:
    with pytest.raises(TypeError, match=f"The function {function.__name__} of the structure mine.*{sentence}"):
        builder("mine", **defaults)(function)
    assert "mine" not in registry.structures()


def test_a_name_is_one_structures() -> None:
    for name, sentence in (
        ("lbvh", "There is a structure called lbvh already, of the project"),
        ("brute_force", "of the project"),
        ("My tree", "cannot be called 'My tree'"),
        ("class", "cannot be called 'class'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            builder(name)(halved)
    with pytest.raises(TypeError, match="A builder has a name: write @raygrove.builder"):
        builder(halved)  # type: ignore[arg-type]
    builder("mine")(halved)
    builder("mine")(any_tree)  # of another module

    def again(bounds: np.ndarray) -> Tree:
        raise NotImplementedError

    with pytest.raises(ValueError, match="Two structures are called mine: .*own_builders and .*test_own_options"):
        builder("mine")(again)
    builder("other")(again)
    builder("other", title="Once more")(again)
    assert registry.structure("other").title == "Once more"


def test_capabilities_say_what_it_can() -> None:
    with registered("mine", cut_in_two, splits_references=True, deterministic=False):
        can = registry.structure("mine").capabilities
        assert can.splits_references and can.builds_on_host and not can.refit and not can.deterministic
        assert "mine" not in registry.own_structures()
    assert "mine" not in registry.structures()
    assert not any(kind.capabilities.builds_on_host for kind in registry.structures().values())
