"""Which points of a scene exchange light: drawn once for its surfaces as they are when the animation starts, so that
an instant has the same points however it was come to; placed on the surfaces as they are at each instant.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable

import numpy as np

from ..animate.animate import Surface
from ..radiosity.point_set import PointSet
from ..radiosity.sampling import SurfaceSamples, sample_spheres, sample_surface
from ..target.base import Array, Target, Unit
from ..trace.trace import TRACE_BLOCK, Tracer
from .frame_context import FrameContext
from .materials import Materials
from .surface_view import surface_view

LAMP_DENSITY = 4.0
"""Points for each area of a lamp, beside those of other surfaces: its light is the sharpest there is."""

REGISTERS = 128
"""Room for a traversal beside a material and its textures."""


@dataclasses.dataclass(frozen=True, eq=False)
class SampledPoints:
    """N points by where on which primitive they lie, on the target. `spacing` is the side of a square as large as a
    point's share of the area, in scene units; `materials` are the indices of those that they lie on."""

    prim_id: Array
    u: Array
    v: Array
    side: Array
    share: Array
    spacing: float
    materials: frozenset[int] = frozenset()

    @property
    def count(self) -> int:
        """N."""
        return len(self.prim_id)


class ScenePoints:
    """See the module. `draw` draws them, `place` launches."""

    def __init__(self, target: Target, materials: Materials) -> None:
        self._target, self._materials = target, materials
        self._key: Hashable = None
        self.samples: SampledPoints | None = None
        """The points last drawn."""

    def are_missing(self, surface: Surface, count: int, both_sides: bool) -> bool:
        """Whether this surface needs other points: it has other primitives or sizes of spheres, or materials that shine
        where they did not."""
        return self._key != self._key_of(surface, count, both_sides)

    def draw(self, surface: Surface, count: int, both_sides: bool) -> None:
        """Draw the points of a surface, as it is when the animation starts. Waits."""
        self._key = self._key_of(surface, count, both_sides)
        self.samples = self._draw(surface, count, both_sides, np.array(self._shining()))

    def _key_of(self, surface: Surface, count: int, both_sides: bool) -> Hashable:
        return surface.primitives.topology, surface.sizing, count, both_sides, self._shining()

    def _shining(self) -> tuple[bool, ...]:
        return tuple(max(material.emission) > 0.0 for material in self._materials.materials)

    def _draw(self, surface: Surface, count: int, both_sides: bool, shines: np.ndarray) -> SampledPoints:
        triangles, radii, area = self._visible(surface)
        of_spheres = round(count * _sphere_area(radii) / area) if area > 0.0 else 0
        found = self._on_triangles(surface, triangles, count - of_spheres, shines)
        found += self._on_spheres(surface, radii, of_spheres)
        columns = [np.concatenate(column) for column in zip(*found, strict=True)]
        materials = np.clip(self._target.download(surface.material_ids)[columns[0]], 0, len(shines) - 1)
        ids, u, v, share = columns
        sides = np.ones(len(ids), np.float32)
        if both_sides:
            sides = np.repeat(np.array([1.0, -1.0], np.float32), len(ids))
            ids, u, v, share = (np.tile(column, 2) for column in columns)
        if not len(ids):  # nothing has an area: one point without any
            ids, u, v, share, sides = np.full(1, -1, np.int32), *(np.zeros(1, np.float32) for _ in range(4))
        ids, u, v, sides, share = (
            self._target.upload(np.ascontiguousarray(x), "radiosity") for x in (ids, u, v, sides, share)
        )
        spacing = float(np.sqrt(area / max(count, 1)))
        return SampledPoints(ids, u, v, sides, share, spacing, frozenset(np.unique(materials).tolist()))

    def _visible(self, surface: Surface) -> tuple[np.ndarray, np.ndarray, float]:
        """The numbers of the triangles that are there, the radii of all spheres, and the area of all."""
        total = len(surface.triangles) if surface.spheres is None else surface.spheres.first_id
        ids = np.arange(total)
        if surface.primitives.scene_ids is not None:
            ids = np.unique(self._target.download(surface.primitives.scene_ids))
        ids = ids[ids < total]
        radii = np.zeros(0) if surface.spheres is None else self._target.download(surface.spheres.radii)
        areas = _areas(self._corners(surface, ids))
        return ids, radii, float(areas.sum()) + _sphere_area(radii)

    def _corners(self, surface: Surface, ids: np.ndarray) -> np.ndarray:
        positions, triangles = self._target.download(surface.positions), self._target.download(surface.triangles)
        return np.asarray(positions[triangles[ids]], np.float64)

    def _on_triangles(
        self, surface: Surface, ids: np.ndarray, count: int, shines: np.ndarray
    ) -> list[tuple[np.ndarray, ...]]:
        corners = self._corners(surface, ids)
        groups = np.clip(self._target.download(surface.material_ids)[ids], 0, len(shines) - 1)
        samples = sample_surface(corners, groups, np.where(shines, LAMP_DENSITY, 1.0), count)
        return [_columns(samples, ids[samples.prim_id], _areas(corners)[samples.prim_id])]

    def _on_spheres(self, surface: Surface, radii: np.ndarray, count: int) -> list[tuple[np.ndarray, ...]]:
        if surface.spheres is None:
            return []
        samples = sample_spheres(radii, count)
        areas = 4.0 * np.pi * radii[samples.prim_id].astype(np.float64) ** 2
        return [_columns(samples, samples.prim_id + surface.spheres.first_id, areas)]

    # -- launches -------------------------------------------------------------------------------------------------
    def compile(self, tracer: Tracer, context: FrameContext) -> None:
        """Compile what `place` launches."""
        self._unit(tracer, context)

    def place(
        self,
        tracer: Tracer,
        context: FrameContext,
        samples: SampledPoints,
        points: PointSet,
        direct: Array,
        light_samples: int,
    ) -> None:
        """Write the points of this instant, and what lights give them. Launches only."""
        unit, view = self._unit(tracer, context)
        self._target.launch(
            unit,
            "place_points",
            -(-samples.count // tracer.lanes),
            input=view,
            surface=surface_view(context.surface, self._materials),
            prim_id=samples.prim_id,
            u=samples.u,
            v=samples.v,
            side=samples.side,
            share=samples.share,
            count=samples.count,
            light_samples=light_samples,
            places=points.places,
            normals=points.normals,
            reflectance=points.reflectance,
            emission=points.emission,
            direct=direct,
            block=TRACE_BLOCK,
        )

    def _unit(self, tracer: Tracer, context: FrameContext) -> tuple[Unit, np.ndarray]:
        constants = self._materials.constants
        return tracer.unit("gpu/shade/radiosity_points.cu", context.rays, constants=constants, registers=REGISTERS)


def _columns(samples: SurfaceSamples, ids: np.ndarray, areas: np.ndarray) -> tuple[np.ndarray, ...]:
    """Primitives, u, v and what share of its primitive's area each point stands for."""
    return ids.astype(np.int32), samples.u, samples.v, (samples.area / np.maximum(areas, 1e-30)).astype(np.float32)


def _areas(corners: np.ndarray) -> np.ndarray:
    edges = corners[:, 1:] - corners[:, :1]
    return np.asarray(np.nan_to_num(np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) * 0.5))


def _sphere_area(radii: np.ndarray) -> float:
    return float(np.sum(4.0 * np.pi * np.maximum(np.nan_to_num(radii.astype(np.float64)), 0.0) ** 2))
