"""Distributed ray tracing (Cook, Porter and Carpenter 1984): depth of field, motion blur, rough mirrors and soft
shadows, by sampling.

Idea: Rays are those of recursive ray tracing, and each of them is sent another way in each sample of the picture:
through another point of a lens, at another instant while the shutter is open, to another point of a light with an area,
and mirrored or refracted at another of the surface's microfacets. The mean of the samples is sharp where things are in
focus, at rest and smooth.

Paper: Cook, Porter and Carpenter, Distributed Ray Tracing (1984); microfacets after Walter et al. (2007), sampled as
Dupuy and Benyoub do (2023).

Cost: As recursive ray tracing for each sample, with a mirrored ray at every surface whose reflection can be seen; with
a shutter the scene is animated and its structure brought up to date for each sample, too. It is progressive: 16 samples
show what is meant, some hundred are smooth.

Limits: Those of recursive ray tracing but sharp mirrors. No light from other surfaces. In frames of several views the
first one's instants are shown by all. Parallel projections have no depth of field.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..settings import option
from .frame_context import FrameContext
from .whitted import Whitted, WhittedOptions


@dataclasses.dataclass(frozen=True)
class DistributedOptions(WhittedOptions):
    """Options of distributed ray tracing."""

    light_samples: int = option(
        1, "Rays to each light that has an area, in one sample of the picture.", minimum=1, maximum=256
    )
    glossy: bool = option(True, "Spread mirrored and refracted rays by the surface's roughness; else they are sharp.")
    aperture: float = option(
        0.0,
        "Width of the lens, as a share of the distance in focus; 0 has everything in focus.",
        minimum=0.0,
        maximum=1.0,
    )
    focus: float = option(
        0.0, "Distance in focus; 0 takes the distance of what the camera looks at.", minimum=0.0, maximum=1e12
    )
    shutter: float = option(
        0.0, "How long the shutter is open: what moves meanwhile is blurred.", minimum=0.0, maximum=3600.0, unit="s"
    )


class Distributed(Whitted):
    """The kernel of `whitted`, told to spread its rays."""

    name = "distributed"
    title = "Distributed"
    Options = DistributedOptions

    def shutter(self, options: Any) -> float:
        return float(options.shutter)

    def has_lens(self, options: Any) -> bool:
        return bool(options.aperture > 0.0)

    def spread(self, options: Any, context: FrameContext) -> tuple[bool, float, float]:
        camera = context.camera
        focus = options.focus or float(np.linalg.norm(np.subtract(camera.look_at, camera.eye))) or 1.0
        return (options.glossy, 0.5 * options.aperture * focus, focus)
