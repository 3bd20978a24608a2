"""What each choice has cost for as long as a scene is open: "2.1 ms here" beside a member of a sheet; and what of the
settings decides a cost, so that none is told of another choice."""

from __future__ import annotations

import collections
import dataclasses
import statistics
from typing import Any

from raygrove.app.frames.frame_history import Sample
from raygrove.app.settings import option_tables
from raygrove.app.settings.settings import Settings

NEWEST = 31
"""Frames of a choice whose median counts."""


def decided(kind: str, settings: Settings) -> tuple[Any, ...]:
    """What of the settings decides a cost: what is built (structure), what is done to it (update), or what is traced
    (rays), all of them with the structure."""
    render = settings.render
    tree = (
        render.hierarchy,
        settings.hierarchy_options(render.hierarchy),
        render.optimiser,
        settings.optimiser_options(render.optimiser),
        render.layout,
    )
    if kind == "structure":
        return tree
    if kind == "update":
        return (*tree, settings.update)
    return (*tree, render.traversal, render.triangle_test, render.primary, render.ray_type)


@dataclasses.dataclass
class _Found:
    """The newest costs of a choice, and what it was measured with."""

    decided: tuple[Any, ...]
    costs: collections.deque[float]


class Measured:
    """Medians of the newest frames that were drawn with each choice on each device, beside what else is chosen now: a
    cost with another structure, or other options, is none of this choice. Tracing and shading grow with the picture,
    whose size changes: they are kept per pixel."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], _Found] = {}
        self._device = ""

    def add(self, sample: Sample) -> None:
        """One more frame; it counts where its phases were timed."""
        self._device, view, parts = sample.frame.target_name, sample.view, sample.parts
        if view is None or not sample.is_timed:
            return
        settings = sample.frame.request.state.settings
        if view.update == "rebuild":
            self._add("structure", view.hierarchy, settings, parts["build"] + parts["optimise"])
        if view.update in ("rebuild", "refit"):
            spent = parts["build"] + parts["refit"] + parts["optimise"]
            self._add("update", settings.update.mode, settings, spent)
        if view.rays:
            spent = (parts["trace"] + parts["shade"]) / max(view.width * view.height, 1)
            self._add("rays", view.ray_type, settings, spent)

    def clear(self) -> None:
        """Another scene: nothing is known of it."""
        self._found.clear()

    def milliseconds(self, kind: str, value: str, settings: Settings) -> float | None:
        """The median of a choice (structure, update; of rays per pixel) on the device in use, were it chosen instead of
        that of the settings; None where it was not drawn like that."""
        found = self._found.get((self._device, kind, value))
        if found is None or found.decided != _measured_with(kind, _with(kind, value, settings)):
            return None
        return statistics.median(found.costs)

    def _add(self, kind: str, value: str, settings: Settings, spent: float) -> None:
        key, now = (self._device, kind, value), _measured_with(kind, settings)
        found = self._found.get(key)
        if found is None or found.decided != now:
            found = self._found[key] = _Found(now, collections.deque(maxlen=NEWEST))
        found.costs.append(spent)


def _measured_with(kind: str, settings: Settings) -> tuple[Any, ...]:
    """What decides a cost, and the options of the ray type, how deep it follows rays above all."""
    options = settings.ray_type_options(settings.render.ray_type) if kind == "rays" else None
    return (*decided(kind, settings), options)


def _with(kind: str, value: str, settings: Settings) -> Settings:
    """The settings with another choice, as a sheet makes it (Choices.choose_hierarchy)."""
    if kind == "update":
        return dataclasses.replace(settings, update=dataclasses.replace(settings.update, mode=value))
    render = settings.render
    if kind == "rays":
        return dataclasses.replace(settings, render=dataclasses.replace(render, ray_type=value))
    layout = render.layout if render.layout in option_tables.layouts(value) else "auto"
    return dataclasses.replace(settings, render=dataclasses.replace(render, hierarchy=value, layout=layout))
