"""Traversal steps: a heat map of how much work each primary ray is, by nodes visited, boxes tested, primitives tested,
or boxes and primitives together.

The range of the colours belongs to the ray type, not to a structure, so that structures are compared on one scale; with
`automatic` it follows each picture. How many rays took how many steps goes with the frame's statistics.

Idea: Each primary ray counts the nodes that it visits, the boxes and the primitives that it is tested against until it
has found its nearest hit; the count is a colour. Bright places are where the structure fails: boxes overlap, leaves are
full, long thin triangles lie across them.

Paper: Meister, section 6.2.5 (2014), and the usual debug view of ray tracers; the colours are van der Walt and Smith's
Viridis (2015).

Cost: The primary rays of a picture, traversed one by one and not in packs, so that counts mean the same on every
target; this is slower than tracing.

Limits: Counts are not times: the boxes of a wide node are tested side by side, and memory that is near costs less than
far. A visit to a wide node counts as one node and as many boxes as the node has places for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from ..settings import option
from ..stats import StepCounts
from ..target.base import Target
from ..trace.trace import Tracer
from .base import RayType
from .color_maps import NAMES
from .frame_context import FrameContext
from .heat import HeatMap, HeatRow, legend
from .materials import Materials
from .presentation import Legend, NumberPresentation

COUNTED = {
    "nodes": (True, False, False),
    "boxes": (False, False, True),
    "primitives": (False, True, False),
    "total": (False, True, True),
}
"""What `count` takes, and whether it adds nodes visited, primitives tested and boxes tested."""

LABELS = {
    "nodes": "nodes visited per ray",
    "boxes": "boxes tested per ray",
    "primitives": "primitives tested per ray",
    "total": "boxes and primitives per ray",
}


@dataclasses.dataclass(frozen=True)
class StepsOptions:
    """Options of the heat map."""

    count: str = option(
        "nodes",
        "What is counted: nodes visited, boxes or primitives tested, or the total of both tests.",
        choices=tuple(COUNTED),
    )
    minimum: int = option(
        0, "Steps that get the darkest colour; fewer look the same.", minimum=0, maximum=100_000_000, unit="steps"
    )
    maximum: int = option(
        96, "Steps that get the brightest colour; more look the same.", minimum=1, maximum=100_000_000, unit="steps"
    )
    automatic: bool = option(
        False, "Fit the range to each picture; the brightest colour is what one ray in two hundred exceeds."
    )
    colors: str = option("viridis", "The colour map.", choices=NAMES)


@dataclasses.dataclass(frozen=True)
class StepsRow(HeatRow):
    """The options as kernels read them."""

    counts_nodes: bool
    counts_primitives: bool
    counts_boxes: bool


class StepsPresentation(NumberPresentation):
    """The scale of the counts, and how many rays took how many steps."""

    @classmethod
    def legend(cls, integrator: Any, options: Any) -> Legend:
        return legend(LABELS[options.count], options.minimum, max(options.maximum, options.minimum + 1), options.colors)

    def step_reader(self) -> Callable[[], StepCounts | None]:
        steps: Steps = self.integrator
        return steps.heat.reader(steps.counted)


class Steps(RayType):
    """Rays are traversed one by one on every target, so that a picture means the same everywhere."""

    name = "steps"
    title = "Traversal steps"
    is_debug_view = True
    Options = StepsOptions
    Presentation = StepsPresentation
    shows_materials = False

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self.heat = HeatMap(target)
        self.counted = ""

    def parameters(self, options: Any, context: FrameContext) -> StepsRow:
        self.counted = LABELS[options.count]
        colors = NAMES.index(options.colors)
        return StepsRow(options.minimum, options.maximum, options.automatic, colors, *COUNTED[options.count])

    def needs_whole_picture(self, options: Any, samples: int) -> bool:
        return bool(options.automatic)

    def compile(self, tracer: Tracer, context: FrameContext) -> None:
        tracer.compile(context.rays, "steps")
        self._unit("gpu/shade/steps.cu")
        self.heat.compile()

    def render(self, tracer: Tracer, context: FrameContext) -> None:
        with self.target.phase("trace.primary"):
            hits = tracer.trace(context.rays, "steps")
        with self.target.phase("shade"):
            packs = self._packs(context)
            self.target.launch(
                self._unit("gpu/shade/steps.cu"),
                "add_steps",
                packs,
                options=self._parameters,
                pack_count=packs,
                steps=hits.steps,
                tests=hits.tests,
                boxes=hits.boxes,
                values=self.heat.values(context),
            )
            self.heat.draw(context, self._parameters)
