"""The scale that a picture's colours have: the ray type's own, or that of the attribute which colours spheres."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from raygrove.app.document.state import State
from raygrove.app.export.legend import with_legend
from raygrove.app.settings import option_tables
from raygrove.gpu import attributes
from raygrove.gpu.attributes import SphereOptions
from raygrove.gpu.camera import Vector
from raygrove.gpu.scene import Scene
from raygrove.gpu.stats import StepCounts


def legend_of(state: State, scene: Scene | None, measured: tuple[float, float] | None = None) -> Any:
    """The scale (label, low, high, colors) of the first view; None where colours mean no number. What OpenGL
    draws has flat shading whatever the ray type. `measured` are the ends of a range that is fitted to the picture."""
    settings = state.settings
    if settings.display.spheres != "rays":
        return attribute_legend(settings.spheres, scene)
    name = state.ray_type_of()
    if not shows_materials(name):
        options = settings.ray_type_options(name)
        ends = measured if getattr(options, "automatic", False) else None
        scale = option_tables.legend(name, options)
        return scale if scale is None or ends is None else type(scale)(scale.label, *ends, scale.colors)
    return attribute_legend(settings.spheres, scene)


def shows_materials(ray_type: str) -> bool:
    """Whether surfaces have their own colours there, and spheres those of an attribute."""
    kind = option_tables.ray_type(ray_type)
    return kind is not None and bool(kind.shows_materials)


def attribute_legend(chosen: SphereOptions, scene: Scene | None) -> Any:
    """The scale of the attribute that colours spheres; None where none of the scene does."""
    if scene is None or not chosen.color_by or attributes.range_of(scene, chosen.color_by) is None:
        return None
    low, high = attributes.color_range(chosen, scene)
    least, greatest = attributes.range_of(scene, chosen.color_by) or (low, high)
    scale = option_tables.scale(attributes.label_of(scene, chosen.color_by), low, high, chosen.colors)
    missing = _srgb(chosen.missing) if attributes.has_missing(scene, chosen.color_by) else None
    return dataclasses.replace(scale, has_less=least < low, has_more=greatest > high, missing=missing)


def _srgb(linear: Vector) -> tuple[int, int, int]:
    """A linear colour in bytes."""
    value = np.clip(np.asarray(linear, np.float64), 0.0, 1.0)
    red, green, blue = np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055) * 255.0
    return round(red), round(green), round(blue)


def explained(pixels: np.ndarray, state: State, scene: Scene, counts: StepCounts | None) -> np.ndarray:
    """A written picture: with its legend, where the settings want one. `counts` are those of the picture's heat map."""
    if not state.settings.render.legend:
        return pixels
    scale = legend_of(state, scene, None if counts is None else (counts.number(counts.low), counts.number(counts.high)))
    return pixels if scale is None else with_legend(pixels, scale)
