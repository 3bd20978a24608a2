"""The table of gestures: names, ways and kinds that fit together."""

from __future__ import annotations

import pytest

from raygrove.app.camera.gestures import BY_NAME, GESTURES, Gestures, way_of, ways_of


def test_the_programs_own_ways_are_legal_and_belong_to_one_gesture() -> None:
    assert len(BY_NAME) == len(GESTURES)
    gestures = Gestures()
    for gesture in GESTURES:
        assert gestures.problem_of(gesture.name, gesture.own) == "", gesture


@pytest.mark.parametrize(
    ("kind", "way", "name"),
    [
        ("drag", "Left drag", "mouse.orbit"),
        ("drag", "Shift+Left drag", "mouse.pan"),
        ("drag", "Ctrl+Right drag", "mouse.look"),  # failing an own way, the button alone counts
        ("drag", "Back drag", ""),
        ("click", "Middle click", ""),
        ("click", "Shift+Left click", "mouse.pick"),
        ("click", "Ctrl+Shift+Left click", ""),  # a click is nothing but what was said
        ("wheel", "Alt+Wheel", "mouse.nearer"),
        ("key", "W", "fly.forward"),
    ],
)
def test_a_way_finds_its_gesture(kind: str, way: str, name: str) -> None:
    assert Gestures().find(kind, way) == name


def test_ways_are_written_in_one_order() -> None:
    assert way_of("drag", "Left", ("Alt", "Ctrl")) == "Ctrl+Alt+Left drag" and way_of(
        "drag", "Left", ("Alt", "Ctrl")
    ) in ways_of("drag")
    assert way_of("wheel", "", ("Shift",)) == "Shift+Wheel"
