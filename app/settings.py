"""The settings: every option of the program in one frozen value, made of groups whose fields are `gpu.settings.option`s.

The groups' names are the tables of the settings file and the first word of `--set`: `render.hierarchy`, `update.mode`. Options of one
structure, optimiser, layout or ray type are kept in tables of their own, `hierarchy.lbvh.morton_bits`, which the registries describe.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.timeline import TimelineOptions
from gpu.settings import option
from gpu.target.base import TargetOptions
from gpu.update_policy import UpdateOptions

SIZE_LIMIT = 16384


@dataclasses.dataclass(frozen=True)
class RenderOptions:
    """What is drawn, and with what."""

    target: str = option("auto", "Where kernels run: auto, host, cuda, or cuda:N for the N-th GPU.")
    hierarchy: str = option("lbvh", "The structure's builder.")
    optimiser: str = option("none", "What improves the tree after it is built.")
    layout: str = option("auto", "How nodes lie in memory; auto takes the builder's best for the target.")
    traversal: str = option("auto", "How rays walk the layout; auto takes the layout's best.")
    ray_type: str = option("smooth", "What the rays show.")
    samples: int = option(1, "Samples of a pixel; more make smooth edges and take as many times longer.", minimum=1, maximum=65536)
    width: int = option(1024, "Width of pictures that are written to files.", minimum=1, maximum=SIZE_LIMIT, unit="pixels")
    height: int = option(768, "Height of pictures that are written to files.", minimum=1, maximum=SIZE_LIMIT, unit="pixels")
    seed: int = option(0, "Seed of everything random in the picture.", minimum=0, maximum=2**31 - 1)


@dataclasses.dataclass(frozen=True)
class DisplayOptions:
    """How pictures come into the window."""

    view: str = option("auto", "GL through the graphics card, or painted by Qt; auto takes GL where it is in hardware.", choices=("auto", "gl", "painter"))
    adapt_resolution: bool = option(True, "Draw fewer pixels while the camera moves or the animation plays, to stay fluent.")
    minimum_fps: float = option(20.0, "Frames a second to stay above while something moves.", minimum=1.0, maximum=240.0, unit="1/s")
    swap_interval: int = option(1, "Screen refreshes a frame waits for; 0 draws as fast as it can.", minimum=0, maximum=4)


TABLES = ("hierarchy", "optimiser", "layout", "ray_type")
"""The groups that hold one table of options a name."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """Everything that can be chosen. The tables hold only what was changed; `app.option_tables` knows the rest."""

    render: RenderOptions = RenderOptions()
    update: UpdateOptions = UpdateOptions()
    target: TargetOptions = TargetOptions()
    display: DisplayOptions = DisplayOptions()
    timeline: TimelineOptions = TimelineOptions()
    hierarchy: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    optimiser: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    layout: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    ray_type: Mapping[str, Any] = dataclasses.field(default_factory=dict)
