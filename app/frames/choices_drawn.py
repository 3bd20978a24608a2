"""What of the state has kernels of its own, for which whoever draws another first may have to wait, and a pace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raygrove.app.document.state import State
from raygrove.app.settings.titles import short_title
from raygrove.gpu.scene import Scene

PREPARED = ("hierarchy", "optimiser", "layout", "traversal", "triangle_test", "ray_type", "primary")
"""Settings of `render` whose values have kernels of their own."""


def choices_of(state: State) -> dict[str, str]:
    """Each choice with its value."""
    render, view = state.settings.render, state.views[0]
    return {name: getattr(view, name, "") or getattr(render, name) for name in PREPARED} | {
        "options": repr(_options(state)),
        "gravity": repr(state.settings.gravity),
    }


def what_differs(chosen: Mapping[str, str], before: Mapping[str, str]) -> str:
    """The first choice that is another than before, in people's words; "" for none."""
    changed = [name for name, value in chosen.items() if before.get(name) != value]
    if not changed:
        return ""
    kind = "hierarchy" if changed[0] == "options" else changed[0]
    return "forces" if kind == "gravity" else short_title(kind, chosen[kind])


def _options(state: State) -> tuple[Any, ...]:
    settings = state.settings
    structure = (settings.hierarchy, settings.optimiser, settings.update.mode)
    return (*structure, settings.ray_type, settings.clip.on, state.views[1:])


def pace_of(scene: Scene, state: State) -> tuple[object, object]:
    """What pictures have in common that are drawn at one pace, and what those whose pace is much like it: they show the
    same scene by rays of the same type."""
    settings = state.settings
    return (settings.render, settings.update.mode, state.views), (id(scene), state.ray_type_of())
