"""Objects by name, and what is left out at the start."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.app.edits.objects import ObjectsError, hidden_of, matching, materials_of, names_of
from raygrove.gpu.scene import Material, Mesh, Node, Object, Scene

MESH = Mesh("body", np.zeros((3, 3), np.float32), np.array([[0, 1, 2]], np.int32), np.array([1], np.int32))


def scene() -> Scene:
    """Two vases, a lamp of two meshes, and something without a name."""
    nodes = (Node("Vase_1"), Node("vase_1"), Node("lamp"), Node(""))
    meshes = (MESH, Mesh("shade", *(getattr(MESH, name) for name in ("positions", "triangles", "material_ids"))))
    objects = (Object(0, 0), Object(1, 0), Object(2, 0), Object(2, 1), Object(3, 0), Object(1, 0))
    return Scene("room", nodes, meshes, objects, materials=(Material("stone"), Material("")))


def test_every_object_has_a_name_of_its_own() -> None:
    assert names_of(scene()) == ("Vase_1", "vase_1", "body", "shade", "body (2)", "vase_1 (2)")
    assert names_of(Scene("empty")) == ()
    assert materials_of(scene(), 0) == ("Material 1",)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("vase_1", {0, 1}),
        ("VASE*", {0, 1, 5}),
        ("shade", {3}),
        ("4", {4}),
        (" shade ; 0;", {3, 0}),
        ("", set()),
        ("*", {0, 1, 2, 3, 4, 5}),
    ],
)
def test_names_patterns_and_numbers_are_understood(text: str, found: set[int]) -> None:
    assert matching(scene(), text) == found


@pytest.mark.parametrize("text", ["vas", "6", "-1", "shade;nothing"])
def test_what_names_nothing_is_said_with_what_there_is(text: str) -> None:
    with pytest.raises(ObjectsError, match=r"room has no object .*its objects are Vase_1, vase_1"):
        matching(scene(), text)


def test_isolating_hides_all_others_and_hiding_goes_on_top() -> None:
    assert hidden_of(scene()) == ()
    assert hidden_of(scene(), "shade") == (3,)
    assert hidden_of(scene(), "", "vase*") == (2, 3, 4)
    assert hidden_of(scene(), "0", "vase*") == (0, 2, 3, 4)
