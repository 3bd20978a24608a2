"""What of the state has kernels of its own: whoever draws another for the first time may have to wait for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raygrove.app.document.state import State
from raygrove.app.settings.titles import short_title

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
