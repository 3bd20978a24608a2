"""Radiosity: light that goes from surface to surface, between points of them, until it converges.

Idea: Points lie on all surfaces as evenly as blue noise. Each sends out what it emits and reflects, and gathers what
all others send, as far as they see each other; after some such bounces little changes. Then a surface is as bright as
the points around it: colour bleeds from wall to wall, shadows are soft, and the light does not depend on the eye.

Paper: Goral, Torrance, Greenberg and Battaile, Modeling the Interaction of Light between Diffuse Surfaces (1984);
between points of a model, by the fast multipole method on an octree built on the GPU, as in the octrees' paper, section
6; docs/decisions/radiosity.md says what is summed.

Cost: For each place of the surfaces once a tree, its lists, and rays between nodes that may not see each other; then a
pass over the lists for each bounce, and for each pixel the points around its hit. Time grows little faster than the
number of points.

Limits: All surfaces are diffuse: metal is black, glass is not seen through, and the environment gives no light.
Shadows are no sharper than points are near each other. Points lie on fronts alone, unless both sides are asked for:
what is seen from behind is dark. Files of points are lit as the spheres that they are shown as.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ..animate.animate import Surface
from ..radiosity.direct import Bounces
from ..radiosity.hierarchical import HierarchicalOptions, HierarchicalSum
from ..radiosity.pairs import SightOptions
from ..radiosity.point_set import PointSet, empty_points
from ..settings import option
from ..stats import Reading
from ..target.base import Array, Target
from ..trace.trace import CameraRays, Tracer
from .base import PictureOptions, PictureRow, RayType
from .frame_context import FrameContext
from .materials import Materials
from .presentation import Presentation
from .radiosity_points import SampledPoints, ScenePoints

SHOWN = ("surfaces", "points")
NO_EMITTER = (
    "This scene has no emitter, so radiosity is black: give a material an emission or the scene a light, in the "
    "panels Materials and Lights or in the settings."
)
NO_SURFACE = (
    "Radiosity lights triangles and spheres, and none of either is shown here, so it is black: choose another ray "
    "type, and for a file of points that they are drawn as spheres."
)
MOST_ASKED = 500_000
"""Pairs that the error is measured by."""
SPACINGS = 2.5
"""How far around a hit points are brought together, in sides of a square as large as a point's area."""


@dataclasses.dataclass(frozen=True)
class RadiosityOptions(PictureOptions, HierarchicalOptions):
    """Options of radiosity."""

    points: int = option(
        5_000, "Points on all surfaces together: more make finer shadows.", minimum=16, maximum=2_000_000
    )
    bounces: int = option(8, "How often light goes from surface to surface.", minimum=0, maximum=1000)
    bounces_per_frame: int = option(
        4, "Bounces of each frame: a picture that stays gets the others later.", minimum=1, maximum=1000
    )
    rays: int = option(
        16,
        "Rays that find out whether the points of two boxes see each other; with 0 nothing throws a shadow.",
        minimum=0,
        maximum=1024,
    )
    light_samples: int = option(16, "Rays from each point to a light that has an area.", minimum=1, maximum=1024)
    both_sides: bool = option(
        False,
        "Points on the backs of triangles, too: for surfaces that are seen from both sides, or wound the wrong way.",
    )
    show: str = option(
        "surfaces", "Surfaces, lit by the points around each place, or the points themselves.", choices=SHOWN
    )


@dataclasses.dataclass(frozen=True)
class RadiosityRow(PictureRow):
    """The options as kernels read them."""

    reach: float
    """How far from a hit points are looked for."""
    shows_points: bool
    both_sides: bool
    begins_anew: bool
    """Whether the sample is worth all before it."""


class RadiosityPresentation(Presentation):
    """Says under the pointer how far light has spread, and how wrong its sums are."""

    def reading(self, tracer: Tracer, surface: Surface, rays: CameraRays) -> Reading | None:
        radiosity: Radiosity = self.integrator
        return Reading(radiosity.described(tracer), None)


class Radiosity(RayType):
    """One solution for all samples of a picture: it begins anew where something moves, and goes on while it stays."""

    name = "radiosity"
    title = "Radiosity"
    Options = RadiosityOptions
    Presentation = RadiosityPresentation

    def __init__(self, target: Target, materials: Materials) -> None:
        super().__init__(target, materials)
        self._scene_points = ScenePoints(target, materials)
        self._samples: SampledPoints | None = None
        self._points: PointSet
        self._direct: Array
        self._sum: HierarchicalSum
        self._light: Bounces
        self._options = RadiosityOptions()
        self._seen: Hashable = None
        self._last: tuple[int, int] = (-1, -1)
        self._done = self._steps = self._learning = self._light_count = 0
        self._places = self._begins_anew = self._lacks_room = False
        self._described_at: Hashable = None
        self._description = ""
        self._notices: tuple[str, ...] = ()
        self._notices_of: Hashable = None
        self._told: Callable[[], np.ndarray | None] | None = None

    # -- the host's part ------------------------------------------------------------------------------------------
    def parameters(self, options: Any, context: FrameContext) -> RadiosityRow:
        spacing = self._samples.spacing if self._samples is not None else 0.0
        colors = options.background_below, options.background_above
        return RadiosityRow(
            *colors, SPACINGS * spacing, options.show == "points", options.both_sides, self._begins_anew
        )

    def start_reader(self, options: Any, surface: Surface) -> Callable[[], None] | None:
        wanted = surface, options.points, options.both_sides
        return functools.partial(self._scene_points.draw, *wanted) if self._scene_points.are_missing(*wanted) else None

    def prepare(self, options: Any, context: FrameContext) -> None:
        self._take_points(options, context)
        self._choose_steps(options, context)
        super().prepare(options, context)

    def _take_points(self, options: RadiosityOptions, context: FrameContext) -> None:
        """The points that were drawn; the memory for their light where they are others. Waits then."""
        samples = self._scene_points.samples
        assert samples is not None  # the engine lets them be drawn before a frame
        ways = (options.order, options.angle, options.leaf_points)
        before = self._options
        is_other = samples is not self._samples or ways != (before.order, before.angle, before.leaf_points)
        self._options, self._samples = options, samples
        if is_other:
            self._told, self._places = None, False
            hierarchical = HierarchicalOptions(*ways)
            self._points = empty_points(self.target, samples.count)
            self._direct = self.target.zeros((samples.count, 4), np.float32, "radiosity")
            self._sum = HierarchicalSum(self.target, samples.count, hierarchical)
            self._take_light()
            self._seen = None
        self._light_count = context.surface.light_count
        self._lacks_room |= is_other
        self._learning += self._lacks_room  # as the film knew when this frame was chosen

    def _take_light(self) -> None:
        self._light = Bounces(self.target, self._sum.sorted_points, self._sum.sorted_direct)

    @property
    def lacks_room(self) -> bool:
        """Whether the lists of the points last placed had too little room, as far as they have been read back."""
        totals = self._told() if self._told is not None else None
        if totals is not None:
            self._told = None
            self._lacks_room |= self._sum.lists.lacks_room(totals)
        return self._lacks_room

    def read_lack_of_room(self) -> Callable[[], bool]:
        if self._places:
            self._told = self.target.read_later(self._sum.lists.totals)
        return lambda: self.lacks_room

    def _choose_steps(self, options: RadiosityOptions, context: FrameContext) -> None:
        """What this frame does to the light: from new places on, or some more bounces."""
        look = dataclasses.replace(options, show=SHOWN[0], exposure=0.0, tone="none")
        seen = (context.surface.version, self.materials.version, context.surface.light_count, look, self._learning)
        at = (context.sample_index, context.first_row)
        self._places = seen != self._seen
        if self._places:
            self._seen, self._done = seen, 0
        if context.first_row == 0:
            is_anew = self._places or at != self._last
            self._steps = min(options.bounces_per_frame, options.bounces - self._done) if is_anew else 0
            self._done += self._steps
            self._begins_anew = self._places or self._steps > 0
        else:
            self._steps = 0
        self._last = at

    def described(self, tracer: Tracer) -> str:
        """Points, bounces, and the error of the sums at some points beside rays between all pairs. Waits; after a
        frame."""
        count = self._points.count
        if self._described_at != (self._seen, self._done):
            asked = min(max(MOST_ASKED // count, 4), 32, count)
            error = self._sum.error(self._light.sent, asked, tracer if self._options.rays else None)
            self._described_at = (self._seen, self._done)
            light = f"error of the sums {100.0 * error:.2f} % at {asked} of them"
            if not self.target.download(self._light.radiance)[:, :3].any():
                light = "no light reaches them"
            self._description = f"{count:,} points, {self._done} bounces, {light}"
        return self._description

    @property
    def notices(self) -> tuple[str, ...]:
        if self._samples is None:
            return ()
        asked = (self._samples, self.materials.version, self._light_count > 0)
        if asked != self._notices_of:
            self._notices_of, self._notices = asked, self._warnings(self._samples)
        return self._notices

    def _warnings(self, samples: SampledPoints) -> tuple[str, ...]:
        """Why the picture is black, and which materials count as darker than they are."""
        if not samples.materials:
            return (NO_SURFACE,)
        materials = [self.materials.materials[number] for number in sorted(samples.materials)]
        has_emitter = self._light_count > 0 or any(max(material.emission) > 0.0 for material in materials)
        strange = [
            f"The material {material.name or 'without a name'} has a base colour of {max(material.base_color[:3]):g}: "
            "a surface cannot reflect more light than it receives, so radiosity takes 1."
            for material in materials
            if max(material.base_color[:3]) > 1.0
        ]
        return ((NO_EMITTER,) if not has_emitter else ()) + tuple(strange)

    @property
    def shape(self) -> Hashable:
        learning = self._learning if self._lacks_room else 0
        rays = self._options.rays, self._options.light_samples
        return (self._places, self._steps, rays, self._sum.generation, id(self._samples), learning)

    # -- launches -------------------------------------------------------------------------------------------------
    def compile(self, tracer: Tracer, context: FrameContext) -> None:
        context.compile_primary(tracer)
        self._unit("gpu/shade/radiosity.cu")
        self._scene_points.compile(tracer, context)

    def render(self, tracer: Tracer, context: FrameContext) -> None:
        if self._places:
            self._place(tracer, context)
        for _ in range(self._steps):
            self._light.add(self._sum.gather)
        with self.target.phase("trace.primary"):
            hits = context.primary_hits(tracer)
        with self.target.phase("shade"):
            packs = self._packs(context)
            self.target.launch(
                self._unit("gpu/shade/radiosity.cu"),
                "shade_radiosity",
                packs,
                surface=self._surface_view(context.surface),
                frame=context.frame,
                options=self._parameters,
                pack_count=packs,
                prim_id=hits.prim_id,
                u=hits.u,
                v=hits.v,
                tree=self._sum.tree.view,
                shapes=self._sum.shapes,
                normals=self._sum.sorted_points.normals,
                gathered=self._light.gathered,
                direct=self._sum.sorted_direct,
                radiance=self._light.radiance,
                sums=context.sums,
            )

    def _place(self, tracer: Tracer, context: FrameContext) -> None:
        """Points where surfaces are now, what lights give them, and who exchanges light with whom."""
        assert self._samples is not None
        sight = SightOptions(tracer, self._options.rays) if self._options.rays else None
        with self.target.phase("radiosity.place"):
            self._scene_points.place(
                tracer, context, self._samples, self._points, self._direct, self._options.light_samples
            )
        self._sum.place(self._points, self._direct, sight, self._lacks_room)
        if self._lacks_room:  # such a frame has a shape of its own, and is not captured
            self._take_light()
            self._lacks_room = False
        self._light.begin()
