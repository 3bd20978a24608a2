"""What people are shown for values of settings, whose names are for files and commands: structures, layouts, ray types
and the like by the titles that they give themselves, any other word as plain English. One place for menus, forms,
charts and statistics."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from raygrove.app.settings import option_tables

_WORDS = {
    "auto": "Automatic",
    "cpu": "CPU",
    "cuda": "NVIDIA GPU",
    "gl": "OpenGL",
    "moeller_trumbore": "Möller-Trumbore",
    "opengl": "OpenGL",
    "sah": "SAH",
}
_KINDS: dict[str, Callable[[], Mapping[str, Any]]] = {
    "hierarchy": option_tables.builders,
    "optimiser": option_tables.optimisers,
    "ray_type": option_tables.ray_types,
    "update": option_tables.update_policies,
}
_LAYOUTS = {
    "bvh2": "BVH2",
    "bvh2_compact": "BVH2, compact",
    "bvh2_soa": "BVH2, arrays",
    "bvh4": "BVH4",
    "bvh8": "BVH8",
    "cwbvh": "CWBVH",
}
_GROUPS = {"update.mode": "update"}


def title(key: str, value: str) -> str:
    """The title of a value of a setting, by its dotted key ("render.layout"), or of a part of the program by its group
    ("hierarchy"). A name that nobody has given a title is written as words."""
    name = _GROUPS.get(key, key.removeprefix("render."))
    if name in _KINDS:
        found = getattr(_KINDS[name]().get(value), "title", "")
    else:
        found = option_tables.titles().get(value, "") if name in ("layout", "traversal") else ""
    return found or _WORDS.get(value) or words(value)


def short_title(key: str, value: str) -> str:
    """The same without what it says in brackets, for where there is little room."""
    return re.sub(r" \([^()]*\)$", "", title(key, value))


def brief_layout(name: str) -> str:
    """What the field calls a layout, for where it stands behind a builder: "H-PLOC / BVH4"."""
    return _LAYOUTS.get(name) or short_title("layout", name)


def words(name: str) -> str:
    """A name as plain words: `task_pool` is "Task pool"."""
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]
