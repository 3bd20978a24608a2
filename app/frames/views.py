"""From the state to what the engine draws: one `ViewSettings` a view, empty names filled in from `settings.render`."""

from __future__ import annotations

import dataclasses
from typing import Any

from raygrove.app.document.state import State
from raygrove.app.frames.contestants import RacedView, raced
from raygrove.app.settings.settings import Settings
from raygrove.gpu.view import ViewSettings


def while_looking(shown: ViewSettings, filter_samples: int) -> ViewSettings:
    """What the window shows while samples add up: noisy light filtered until there are so many, 0: as it is."""
    options: Any = shown.ray_type_options
    if not filter_samples or not hasattr(options, "filter_samples") or options.filtered:
        return shown
    filtered = dataclasses.replace(options, filtered=True, filter_samples=filter_samples)
    return dataclasses.replace(shown, ray_type_options=filtered)


def other_choice(settings: Settings, chosen: ViewSettings, hierarchy: str, ray_type: str) -> ViewSettings:
    """The same with another structure or ray type, as it is where somebody chooses that: another structure brings its
    own layout, and no optimiser."""
    is_same = hierarchy == chosen.hierarchy
    return dataclasses.replace(
        chosen,
        hierarchy=hierarchy,
        layout=chosen.layout if is_same else "auto",
        traversal=chosen.traversal if is_same else "auto",
        optimiser=chosen.optimiser if is_same else "none",
        optimiser_options=chosen.optimiser_options if is_same else None,
        hierarchy_options=settings.hierarchy_options(hierarchy),
        ray_type=ray_type,
        ray_type_options=settings.ray_type_options(ray_type),
    )


def view_settings(state: State, view: int = 0, *, samples: int = 0) -> ViewSettings:
    """What one view shows; `samples` 0 takes the settings'. A contestant of a race has what it is spelt."""
    settings, chosen = state.settings, state.views[view]
    render = settings.render
    hierarchy, ray_type = chosen.hierarchy or render.hierarchy, chosen.ray_type or render.ray_type
    made = ViewSettings(
        hierarchy=hierarchy,
        optimiser=chosen.optimiser or render.optimiser,
        layout=chosen.layout or render.layout,
        traversal=chosen.traversal or render.traversal,
        triangle_test=render.triangle_test,
        ray_type=ray_type,
        primary=render.primary,
        samples=samples or render.samples,
        seed=render.seed,
        update=settings.update,
        statistics=settings.statistics,
        clip=settings.clip,
        tiles=settings.tiles,
        hierarchy_options=settings.hierarchy_options(hierarchy),
        optimiser_options=settings.optimiser_options(chosen.optimiser or render.optimiser),
        ray_type_options=settings.ray_type_options(ray_type),
    )
    return raced(chosen.configuration, made) if isinstance(chosen, RacedView) else made
