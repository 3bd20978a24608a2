"""A structure with some of its options changed: what an evaluation switches on and off. A switch that a structure has
not is said, not guessed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.registry import structure, structures
from raygrove.gpu.settings import checked
from raygrove.gpu.shade.registry import ray_type, ray_types


def missing(hierarchy: str, options: Mapping[str, Any]) -> list[str]:
    """Sentences for what is not there: the structure, or options of it."""
    if hierarchy not in structures():
        return [f"needs the structure {hierarchy}"]
    there = {field.name for field in dataclasses.fields(structure(hierarchy).Options)}
    absent = [name for name in options if name not in there]
    return [f"needs {hierarchy}'s option {' and '.join(absent)}"] if absent else []


def varied(hierarchy: str, options: Mapping[str, Any], **others: Any) -> ViewSettings:
    """What a view takes to build so."""
    chosen: Any = checked(structure(hierarchy).Options, dict(options))
    return ViewSettings(hierarchy=hierarchy, hierarchy_options=chosen, **others)


def missing_ray_type(name: str) -> list[str]:
    """The sentence for a ray type that is not there."""
    return [] if name in ray_types() else [f"needs the ray type {name}"]


def pictured(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What a view takes to draw by a ray type with some of its options; nothing where there is no such ray type."""
    return (
        {}
        if missing_ray_type(name)
        else {"ray_type": name, "ray_type_options": checked(ray_type(name).Options, dict(options))}
    )
