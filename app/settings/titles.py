"""What people are shown for values of settings, whose names are for files and commands: structures, layouts, ray types
and the like by the titles that they give themselves, any other word as plain English. One place for menus, forms,
charts and statistics."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from raygrove.app.settings import option_tables
from raygrove.gpu.configuration import Part, parse

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
_FINDERS: dict[str, Callable[[str], Any]] = {
    "hierarchy": option_tables.builder,
    "optimiser": lambda name: option_tables.optimisers().get(name),
    "ray_type": option_tables.ray_type,
    "update": lambda name: option_tables.update_policies().get(name),
}
_GROUPS = {"update.mode": "update"}


def title(key: str, value: str) -> str:
    """The title of a value of a setting, by its dotted key ("render.layout"), or of a part of the program by its group
    ("hierarchy"). A name that nobody has given a title is written as words."""
    name = _GROUPS.get(key, key.removeprefix("render."))
    if name in _FINDERS:
        found = getattr(_FINDERS[name](value), "title", "")
    else:
        found = option_tables.titles().get(value, "") if name in ("layout", "traversal") else ""
    return found or _WORDS.get(value) or words(value)


def layout_title(hierarchy: str, layout: str) -> str:
    """The title of a layout of a structure, which is imported without the others."""
    kind = option_tables.builder(hierarchy)
    return (kind.titles().get(layout, "") if kind is not None else "") or title("layout", layout)


def short_title(key: str, value: str) -> str:
    """The same without what it says in brackets, for where there is little room."""
    return re.sub(r" \([^()]*\)$", "", title(key, value))


def brief_layout(name: str) -> str:
    """What the field calls a layout, for where it stands behind a builder: "H-PLOC / BVH4"."""
    return _LAYOUTS.get(name) or short_title("layout", name)


def structure_title(configuration: str, layout: str = "") -> str:
    """The structure of a configuration: "H-PLOC + Reinsertion / BVH4"; `layout` is what `auto` has become."""
    spelt = parse(configuration)
    text = short_title("hierarchy", spelt.builder.name) + options_of(spelt.builder)
    if spelt.optimiser is not None and spelt.optimiser.name != "none":
        text += f" + {short_title('optimiser', spelt.optimiser.name)}{options_of(spelt.optimiser)}"
    shown = spelt.layout.name if spelt.layout is not None and spelt.layout.name != "auto" else layout
    return f"{text} / {brief_layout(shown)}" if shown else text


def options_of(part: Part) -> str:
    """The options that a configuration gives to a part of it: " n=7"."""
    return "".join(f" {name}={value}" for name, value in part.options)


def in_titles(sentence: str) -> str:
    """A sentence of the library's with titles in place of the names of structures, optimisers and layouts; names of
    settings ("optimiser.rotations.in_refits") stay, as they are looked for by them."""
    kinds = {name: kind for kind in ("hierarchy", "optimiser") for name in _KINDS[kind]()}
    known = {name: short_title(kind, name) for name, kind in kinds.items()} | _LAYOUTS
    return re.sub(r"(?<!\w\.)\b\w+\b(?!\.\w)", lambda word: known.get(word[0], word[0]), sentence)


def words(name: str) -> str:
    """A name as plain words: `task_pool` is "Task pool"."""
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]
