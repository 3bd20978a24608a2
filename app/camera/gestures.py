"""What the mouse and the flying keys do, as a table that a person may change: each gesture by name, with the ways to
make it.

A way is text such as "Left drag", "Shift+Left click", "Wheel", "W" or "Shift"; which of these a gesture takes is its
kind. The user's ways stand in keys.toml beside the keys of the commands.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping

BUTTONS = ("Left", "Middle", "Right", "Back", "Forward")
MODIFIERS = ("Ctrl", "Shift", "Alt")
POINTED = ("drag", "click", "double click")
"""Kinds that need a button; besides there are wheel, key (a letter held down) and modifier."""


@dataclasses.dataclass(frozen=True)
class Gesture:
    """One thing that the mouse or a held key does: its name in keys.toml, its kind, what it does, and the program's own
    ways."""

    name: str
    kind: str
    title: str
    own: tuple[str, ...]


GESTURES = (
    Gesture(
        "mouse.orbit",
        "drag",
        "Orbit about the point under the pointer, or what Camera > Left drag says",
        ("Left drag",),
    ),
    Gesture("mouse.pan", "drag", "Pan", ("Middle drag", "Shift+Left drag")),
    Gesture("mouse.look", "drag", "Look round from where the camera stands", ("Right drag",)),
    Gesture("mouse.roll", "drag", "Roll, where the camera is axis-free", ("Ctrl+Left drag",)),
    Gesture(
        "mouse.region",
        "drag",
        "Select a region around what lies under the pointer: what is in it is counted in Picked",
        ("Ctrl+Shift+Left drag",),
    ),
    Gesture("mouse.zoom", "drag", "Come nearer or go back", ()),
    Gesture("mouse.focus", "double click", "Look at what lies under the pointer", ("Left double click",)),
    Gesture(
        "mouse.pick", "click", "Pick: what lies under the pointer, and the nodes that lead to it", ("Shift+Left click",)
    ),
    Gesture(
        "mouse.select", "click", "Select the object under the pointer, nothing over the background", ("Left click",)
    ),
    Gesture("mouse.menu", "click", "Open the menu of what lies under the pointer", ("Right click",)),
    Gesture("mouse.nearer", "wheel", "Come nearer to what lies under the pointer", ("Wheel",)),
    Gesture("mouse.nearer_fast", "wheel", "Come nearer, three times as fast", ("Shift+Wheel",)),
    Gesture("mouse.nearer_slow", "wheel", "Come nearer, a fifth as fast", ("Ctrl+Wheel",)),
    Gesture("fly.forward", "key", "Fly forward", ("W",)),
    Gesture("fly.back", "key", "Fly back", ("S",)),
    Gesture("fly.left", "key", "Fly to the left", ("A",)),
    Gesture("fly.right", "key", "Fly to the right", ("D",)),
    Gesture("fly.down", "key", "Fly down", ("Q",)),
    Gesture("fly.up", "key", "Fly up", ("E",)),
    Gesture("fly.fast", "modifier", "Fly ten times as fast", ("Shift",)),
    Gesture("fly.slow", "modifier", "Fly at a tenth of the speed", ("Ctrl",)),
)
BY_NAME = {gesture.name: gesture for gesture in GESTURES}


def ways_of(kind: str) -> tuple[str, ...]:
    """Every way that a gesture of a kind may be made; empty for keys, of which there are too many to list."""
    if kind == "modifier":
        return MODIFIERS
    if kind == "key":
        return ()
    ends = ("Wheel",) if kind == "wheel" else tuple(f"{button} {kind}" for button in BUTTONS)
    prefixes = (
        "",
        *(f"{modifier}+" for modifier in MODIFIERS),
        "Ctrl+Shift+",
        "Ctrl+Alt+",
        "Shift+Alt+",
        "Ctrl+Shift+Alt+",
    )
    return tuple(prefix + end for end in ends for prefix in prefixes)


def way_of(kind: str, button: str, modifiers: Iterable[str]) -> str:
    """The way that a button (none for the wheel) and modifiers make."""
    held = set(modifiers)
    return "+".join([*(name for name in MODIFIERS if name in held), f"{button} {kind}" if kind in POINTED else "Wheel"])


class Gestures:
    """The ways as they are now. `on_change` holds callbacks."""

    def __init__(self) -> None:
        self._ways = {gesture.name: gesture.own for gesture in GESTURES}
        self.on_change: list[Callable[[], None]] = []

    def ways(self, name: str) -> tuple[str, ...]:
        """The ways to make a gesture."""
        return self._ways[name]

    def set(self, name: str, ways: tuple[str, ...]) -> None:
        """Give a gesture other ways; whoever calls has asked `problem_of` first."""
        self._ways[name] = ways
        for heard in list(self.on_change):
            heard()

    def find(self, kind: str, way: str) -> str:
        """The gesture of a kind that is made so; for drags and the wheel, failing that, the one that is made so without
        modifiers; else ""."""
        plain = way.rpartition("+")[2]
        for wanted in (way, plain) if kind != "click" else (way,):
            for gesture in GESTURES:
                if gesture.kind == kind and wanted in self._ways[gesture.name]:
                    return gesture.name
        return ""

    def holders(self, kind: str) -> Mapping[str, str]:
        """Way -> the gesture of this kind that it makes."""
        return {way: gesture.name for gesture in GESTURES if gesture.kind == kind for way in self._ways[gesture.name]}

    def problem_of(self, name: str, ways: Iterable[str]) -> str:
        """Why a gesture cannot have these ways, as a sentence; else an empty text. What commands hold is not looked at
        here."""
        gesture = BY_NAME[name]
        holders = self.holders(gesture.kind)
        for way in ways:
            if gesture.kind != "key" and way not in ways_of(gesture.kind):
                return f"{way!r} is none of the ways to make this: {', '.join(ways_of(gesture.kind)[:3])} and so on."
            if holders.get(way, name) != name:
                return f"{way} belongs to “{BY_NAME[holders[way]].title}”; take it away there first."
        return ""
