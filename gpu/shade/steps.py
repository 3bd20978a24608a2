"""Traversal steps as a heat map: how many nodes each primary ray visits, from dark blue (few) to yellow (many)."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..animate.animate import Surface
from ..settings import option
from ..target.base import Target
from ..trace.trace import Tracer
from . import srgb
from .base import Legend, RayType
from .film import Film
from .materials import Materials

VIRIDIS = ("440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725")
"""Ten points of the Viridis colour map (van der Walt and Smith 2015, CC0), sRGB."""


def palette() -> np.ndarray:
    """(256, 3) uint8 sRGB: Viridis, linear between its points."""
    points = np.array([[int(point[i : i + 2], 16) for i in (0, 2, 4)] for point in VIRIDIS], np.float64)
    places = np.linspace(0.0, len(points) - 1.0, 256)
    columns = [np.interp(places, np.arange(len(points)), points[:, channel]) for channel in range(3)]
    return np.round(np.stack(columns, axis=1)).astype(np.uint8)


@dataclasses.dataclass(frozen=True)
class StepsOptions:
    """Options of the heat map."""

    maximum: int = option(96, "Nodes visited that get the brightest colour; more look the same.", minimum=1, maximum=100000, unit="nodes")


class Steps(RayType):
    """Rays are walked one by one on every target, so that a picture means the same everywhere."""

    name = "steps"
    title = "Traversal steps"
    Options = StepsOptions

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self._palette = target.upload(srgb.decode(palette() / 255.0).astype(np.float32), "shade")

    @classmethod
    def legend(cls, options: Any) -> Legend:
        return Legend("nodes visited a ray", 0.0, float(options.maximum), palette())

    def parameters(self, options: Any, surface: Surface) -> tuple[float, ...]:
        return (float(options.maximum),)

    def exposure(self, options: Any) -> float:
        # The legend is read against the colours as they are.
        return 1.0

    def compile(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        tracer.compile(film.rays, "steps")
        self._unit("gpu/shade/steps.cu")

    def render(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        with self.target.phase("trace.primary"):
            hits = tracer.trace(film.rays, "steps")
        with self.target.phase("shade"):
            packs = self._packs(film)
            arguments = (film.frame, self._parameters, self._palette, packs, hits.steps, film.sums)
            self.target.launch(self._unit("gpu/shade/steps.cu"), "shade_steps", packs, *arguments)
