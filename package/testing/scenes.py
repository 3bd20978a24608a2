"""The contract suite's scenes: small, seeded, and nasty where the program's users are."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from raygrove.gpu.hierarchy.base import Hierarchy, Primitives, StructureChoice
from raygrove.gpu.hierarchy.primitives import mixed_primitives, sphere_primitives, triangle_primitives
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer, upload_rays


@dataclasses.dataclass(frozen=True, eq=False)
class TriangleScene:
    """Vertices (V, 3) at two instants, triangles (T, 3)."""

    positions: np.ndarray
    indices: np.ndarray
    later: np.ndarray

    def corners(self, later: bool = False) -> np.ndarray:
        """(T, 3, 3)."""
        return (self.later if later else self.positions)[self.indices]

    def boxes(self, later: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper of each triangle (T, 3); inverted where a vertex is not finite."""
        corners = self.corners(later)
        largest = np.float32(np.finfo(np.float32).max)
        is_active = np.isfinite(corners).all(axis=(1, 2))[:, None]
        return np.where(is_active, corners.min(axis=1), largest), np.where(is_active, corners.max(axis=1), -largest)

    def upload(self, target: Target, later: bool = False, **versions: Any) -> Primitives:
        """The scene at one instant on a target."""
        positions = target.upload(self.later if later else self.positions, "test")
        return triangle_primitives(positions, target.upload(self.indices, "test"), **versions)


def scene_of(corners: np.ndarray, later: np.ndarray | None = None) -> TriangleScene:
    """Triangles (T, 3, 3) that share no vertex; later they are where they were unless told."""
    positions = np.ascontiguousarray(corners.reshape(-1, 3), np.float32)
    moved = positions if later is None else np.ascontiguousarray(later.reshape(-1, 3), np.float32)
    return TriangleScene(positions, np.arange(len(positions), dtype=np.int32).reshape(-1, 3), moved)


def soup(count: int, seed: int = 7, size: float = 0.15) -> TriangleScene:
    """Triangles anywhere in the unit cube; each moves on its own."""
    random = np.random.default_rng(seed)
    corners = random.random((count, 1, 3)) + size * random.standard_normal((count, 3, 3))
    return scene_of(corners, corners + 0.3 * random.standard_normal((count, 1, 3)))


def smooth(count: int) -> TriangleScene:
    """A wavy sphere."""
    side = int((count / 4) ** 0.5)
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 2 * side + 1), np.linspace(0, np.pi, side + 1))
    radius = 1 + 0.1 * np.sin(9 * u) * np.sin(7 * v) + 0.02 * np.sin(71 * u) * np.sin(53 * v)
    points = np.stack(
        [radius * np.sin(v) * np.cos(u), radius * np.cos(v), radius * np.sin(v) * np.sin(u)], axis=-1
    ).reshape(-1, 3)
    row = 2 * side + 1
    a = (np.arange(side)[:, None] * row + np.arange(2 * side)).reshape(-1)
    return scene_of(
        points[np.concatenate([np.stack([a, a + 1, a + row], 1), np.stack([a + 1, a + row + 1, a + row], 1)])]
    )


def stairs(steps: int = 40) -> TriangleScene:
    """Axis-aligned steps and risers, flat boxes without volume; later the flight is steeper."""
    corners = []
    for i in range(steps):
        x, y = i / steps, i / steps
        for a, b in (((x, y), (x + 1 / steps, y)), ((x + 1 / steps, y), (x + 1 / steps, y + 1 / steps))):
            low, high = [(*a, 0.0), (*b, 0.0)], [(*a, 1.0), (*b, 1.0)]
            corners += [[low[0], low[1], high[0]], [low[1], high[1], high[0]]]
    flight = np.array(corners)
    return scene_of(flight, flight * (1.0, 1.7, 1.0))


def degenerate() -> TriangleScene:
    """Points, lines, slivers, -0, vertices that are not finite, among sound triangles."""
    sound = soup(60, seed=3).corners()
    points = np.repeat(sound[:5, :1], 3, axis=1)
    lines = np.stack([sound[5:10, 0], sound[5:10, 1], (sound[5:10, 0] + sound[5:10, 1]) / 2], axis=1)
    doubled = sound[10:15][:, [0, 1, 1]]
    broken = sound[15:20].copy()
    broken[0, 0, 0], broken[1, 1, 1], broken[2, 2, 2], broken[3], broken[4, 0] = np.nan, np.inf, -np.inf, np.nan, np.inf
    zeros = np.array(
        [[[-0.0, 0.0, 0.0], [0.0, -0.0, 1.0], [0.0, 1.0, -0.0]], [[0.0, 0.0, -0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    )
    return scene_of(np.concatenate([points, sound, lines, broken, doubled, zeros]))


def coincident(count: int = 90) -> TriangleScene:
    """The same three triangles again and again: equal codes, equal distances."""
    return scene_of(np.tile(soup(3, seed=5, size=0.5).corners(), (count // 3, 1, 1)))


def moving() -> TriangleScene:
    """A shared-vertex sheet that curls."""
    side = 24
    x, z = np.meshgrid(np.linspace(0, 1, side), np.linspace(0, 1, side))
    flat = np.stack([x, 0.1 * np.sin(5 * x) * np.cos(4 * z), z], axis=-1).reshape(-1, 3).astype(np.float32)
    curled = (
        np.stack([0.4 * np.cos(4 * x), 0.4 * np.sin(4 * x) + 0.2 * z, z], axis=-1).reshape(-1, 3).astype(np.float32)
    )
    a = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).reshape(-1)
    faces = np.concatenate([np.stack([a, a + 1, a + side], 1), np.stack([a + 1, a + side + 1, a + side], 1)]).astype(
        np.int32
    )
    return TriangleScene(flat, faces, curled)


SCENES = {
    "empty": lambda: scene_of(np.zeros((0, 3, 3))),
    "one": lambda: soup(1, size=0.5),
    "two": lambda: soup(2, size=0.5),
    "coincident": coincident,
    "degenerate": degenerate,
    "soup": lambda: soup(1500),
    "stairs": stairs,
    "moving": moving,
}


def sphere_scene(target: Target, count: int, seed: int = 11) -> tuple[np.ndarray, np.ndarray, Primitives]:
    """Spheres of many sizes; of every 20 one is inactive and one a point."""
    random = np.random.default_rng(seed)
    centres = random.random((count, 3)).astype(np.float32)
    radii = (0.08 * random.random(count) ** 3 + 0.01).astype(np.float32)
    radii[5::20], radii[6::20] = -1.0, 0.0
    return centres, radii, sphere_primitives(target.upload(centres, "test"), target.upload(radii, "test"))


def mixed_scene(
    target: Target, triangle_count: int, sphere_count: int
) -> tuple[TriangleScene, np.ndarray, np.ndarray, Primitives]:
    """A soup of triangles and, after it, spheres as above."""
    triangles, (centres, radii, _) = soup(triangle_count), sphere_scene(target, sphere_count)
    vertices, indices = target.upload(triangles.positions, "test"), target.upload(triangles.indices, "test")
    spheres = target.upload(centres, "test"), target.upload(radii, "test")
    return triangles, centres, radii, mixed_primitives(vertices, indices, *spheres)


def make(target: Target, name: str, layout: str = "auto", traversal: str = "auto", **options: Any) -> Hierarchy:
    """A structure by its name, with options of its own."""
    return make_with(target, name, StructureChoice(layout=layout, traversal=traversal), **options)


def make_with(target: Target, name: str, choice: StructureChoice, **options: Any) -> Hierarchy:
    """The same with whatever else is chosen."""
    found = structures()[name]
    return found(target, dataclasses.replace(choice, options=found.Options(**options)))


def rays(count: int = 300, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Unit rays from around and inside the unit cube, every direction sign among neighbours; a tenth along the axes."""
    random = np.random.default_rng(seed)
    origins = random.random((count, 3)) * 2 - 0.5
    directions = random.random((count, 3)) - origins
    directions[::10] = np.eye(3)[random.integers(0, 3, len(directions[::10]))] * random.choice(
        [-1, 1], (len(directions[::10]), 1)
    )
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    return origins.astype(np.float32), directions.astype(np.float32)


@dataclasses.dataclass(frozen=True)
class Traced:
    """A hit buffer on the host, cut to the rays."""

    t: np.ndarray
    prim_id: np.ndarray
    u: np.ndarray
    v: np.ndarray


def trace(
    hierarchy: Hierarchy, origins: np.ndarray, directions: np.ndarray, kind: str = "closest", t_max: float = np.inf
) -> Traced:
    """Trace through a structure."""
    target, count = hierarchy.target, len(origins)
    hits = Tracer(target, hierarchy.traversal()).trace(upload_rays(target, origins, directions, 0.0, t_max), kind)
    return Traced(*(target.download(array)[:count] for array in (hits.t, hits.prim_id, hits.u, hits.v)))
