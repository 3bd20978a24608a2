"""How what an integrator has drawn is shown and read: exposure and tone, the legend, and the numbers behind colours.

Nothing of it changes what is traced. `Presentation` is that of pictures whose colours are just colours; ray types whose
colours stand for numbers name their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ..animate.animate import Surface
from ..stats import Reading, StepCounts
from ..trace.trace import CameraRays, Tracer


@dataclasses.dataclass(frozen=True)
class Legend:
    """A scale that explains a picture's colours: `colors` (N, 3) uint8 sRGB from `low` to `high` of `label`. Whether
    there is less and more than its ends, and the colour (3,) uint8 sRGB of what has no value, where there is such."""

    label: str
    low: float
    high: float
    colors: np.ndarray
    has_less: bool = False
    has_more: bool = True
    missing: tuple[int, int, int] | None = None


class Presentation:
    """See the module. One instance a view, for the integrator that draws it."""

    def __init__(self, integrator: Any) -> None:
        self.integrator = integrator

    def exposure(self, options: Any) -> float:
        """The factor on linear colours before they are clamped."""
        return float(2.0**options.exposure)

    def tone(self, options: Any) -> str:
        """One of TONES: what becomes of linear colours before they are clamped."""
        return str(options.tone)

    def step_reader(self) -> Callable[[], StepCounts | None]:
        """Start reading back the histogram of the rows last drawn; the function gives it once it is there, else
        None."""
        return lambda: None

    def reading(self, tracer: Tracer, surface: Surface, rays: CameraRays) -> Reading | None:
        """What the colour of the first of these rays stands for; None where colours are just colours. Waits: outside a
        frame."""
        return None

    @classmethod
    def legend(cls, integrator: Any, options: Any) -> Legend | None:
        """What the colours of an integrator (the class) mean, where they mean a number."""
        return None


class NumberPresentation(Presentation):
    """Of colours that stand for numbers: they are shown as they are, or the legend would not fit."""

    def exposure(self, options: Any) -> float:
        return 1.0

    def tone(self, options: Any) -> str:
        return "none"
