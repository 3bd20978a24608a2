"""Traversal steps as a heat map: how much work each primary ray is, by nodes visited, boxes tested, primitives
tested, or boxes and primitives together.

The range of the colours belongs to the ray type, not to a structure, so that structures are compared on one scale; with `automatic` it follows each
picture. How many rays took how many steps goes with the frame's statistics.

Idea: Each primary ray counts the nodes that it visits, the boxes and the primitives that it is tested against until it has found its nearest
hit; the count is a colour.
Bright places are where the structure fails: boxes overlap, leaves are full, long thin triangles lie across them.

Paper: Meister, section 6.2.5 (2014), and the usual debug view of ray tracers; the colours are van der Walt and Smith's Viridis (2015).

Cost: The primary rays of a picture, walked one by one and not in packs, so that counts mean the same on every target; this is slower than tracing.

Limits: Counts are not times: the boxes of a wide node are tested side by side, and memory that is near costs less than far. A visit to a wide
node counts as one node and as many boxes as the node has places for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from ..animate.animate import Surface
from ..settings import option
from ..stats import StepCounts
from ..target.base import Target
from ..trace.trace import Tracer
from .base import Legend, RayType
from .color_maps import NAMES
from .film import Film
from .heat import HeatMap, legend
from .materials import Materials

COUNTED = {"nodes": (1.0, 0.0, 0.0), "boxes": (0.0, 0.0, 1.0), "primitives": (0.0, 1.0, 0.0), "total": (0.0, 1.0, 1.0)}
"""What `count` takes, and whether it adds nodes visited, primitives tested and boxes tested."""

LABELS = {
    "nodes": "nodes visited a ray",
    "boxes": "boxes tested a ray",
    "primitives": "primitives tested a ray",
    "total": "boxes and primitives a ray",
}


@dataclasses.dataclass(frozen=True)
class StepsOptions:
    """Options of the heat map."""

    count: str = option("nodes", "What is counted: nodes visited, boxes or primitives tested, or the total of both tests.", choices=tuple(COUNTED))
    minimum: int = option(0, "Steps that get the darkest colour; fewer look the same.", minimum=0, maximum=100_000_000, unit="steps")
    maximum: int = option(96, "Steps that get the brightest colour; more look the same.", minimum=1, maximum=100_000_000, unit="steps")
    automatic: bool = option(False, "Fit the range to each picture; the brightest colour is what one ray in two hundred exceeds.")
    colors: str = option("viridis", "The colour map.", choices=NAMES)


class Steps(RayType):
    """Rays are walked one by one on every target, so that a picture means the same everywhere."""

    name = "steps"
    title = "Traversal steps"
    Options = StepsOptions

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self._heat = HeatMap(target)
        self._what = ""

    @classmethod
    def legend(cls, options: Any) -> Legend:
        return legend(LABELS[options.count], options.minimum, max(options.maximum, options.minimum + 1), options.colors)

    def parameters(self, options: Any, surface: Surface) -> tuple[float, ...]:
        self._what = LABELS[options.count]
        heat = self._heat.parameters(options.minimum, options.maximum, options.automatic, options.colors)
        return (*heat, *COUNTED[options.count])

    def exposure(self, options: Any) -> float:
        # The legend is read against the colours as they are.
        return 1.0

    def compile(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        tracer.compile(film.rays, "steps")
        self._unit("gpu/shade/steps.cu")
        self._heat.compile()

    def render(self, tracer: Tracer, surface: Surface, film: Film) -> None:
        with self.target.phase("trace.primary"):
            hits = tracer.trace(film.rays, "steps")
        with self.target.phase("shade"):
            packs = self._packs(film)
            arguments = (self._parameters, packs, hits.steps, hits.tests, hits.boxes, self._heat.values(film))
            self.target.launch(self._unit("gpu/shade/steps.cu"), "add_steps", packs, *arguments)
            self._heat.draw(film, self._parameters)

    def step_reader(self) -> Callable[[], StepCounts | None]:
        return self._heat.reader(self._what)
