"""glTF means nodes by their number, libassimp by their name, which several may share: two characters with the same
bones, a lamp that is called as what it stands on."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

LIGHTS = "KHR_lights_punctual"


def told_apart(document: Any) -> bool:
    """Give a name of its own to each node that something else means (a channel, a skin, a camera, a light) and that
    shares its name; whether there was one."""
    nodes = document.get("nodes", [])
    names = [node.get("name") for node in nodes]
    taken = Counter(name for name in names if name)
    if len(taken) == len(names) or max(taken.values(), default=1) == 1:
        return False
    try:
        shared = [node for node in sorted(_meant(document)) if taken[names[node]] > 1]
    except (LookupError, TypeError, AttributeError):
        return False  # what is wrong is told by those who read it
    numbers: dict[str, itertools.count[int]] = {}
    for node in shared:
        name = names[node]
        count = numbers.setdefault(name, itertools.count(1))
        nodes[node]["name"] = next(new for number in count if (new := f"{name}.{number:03}") not in taken)
    return bool(shared)


def _meant(document: Any) -> set[int]:
    """The nodes that something means."""
    found = {joint for skin in document.get("skins", []) for joint in skin["joints"]}
    for animation in document.get("animations", []):
        found |= {channel["target"]["node"] for channel in animation["channels"] if "node" in channel["target"]}
    for number, node in enumerate(document["nodes"]):
        if "camera" in node or LIGHTS in node.get("extensions", {}):
            found.add(number)
    return found
