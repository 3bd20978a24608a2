"""Triangles on a target and structures over them, for tests that trace."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.hierarchy.base import Hierarchy, StructureChoice
from raygrove.gpu.hierarchy.primitives import triangle_primitives
from raygrove.gpu.hierarchy.registry import make_structure
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer


def built(
    target: Target, vertices: np.ndarray, name: str = "lbvh", layout: str = "auto", traversal: str = "auto"
) -> Hierarchy:
    """A structure over separate triangles (T, 3, 3)."""
    made = make_structure(target, name, StructureChoice(layout=layout, traversal=traversal))
    positions = target.upload(np.ascontiguousarray(vertices, np.float32).reshape(-1, 3), "test")
    indices = target.upload(np.arange(3 * len(vertices), dtype=np.int32).reshape(-1, 3), "test")
    made.build(triangle_primitives(positions, indices, topology_version=1, shape_version=1))
    return made


class HeldTracer(Tracer):
    """A tracer that keeps its structure's memory."""

    def __init__(self, target: Target, structure: Hierarchy) -> None:
        super().__init__(target, structure.traversal())
        self.structure = structure


def tracer_over(target: Target, vertices: np.ndarray, name: str = "lbvh", layout: str = "auto") -> HeldTracer:
    """A tracer through a structure over separate triangles (T, 3, 3)."""
    return HeldTracer(target, built(target, vertices, name, layout))


def soup(seed: int, count: int, size: float = 0.2) -> np.ndarray:
    """Small triangles about the origin, (count, 3, 3) float32."""
    rng = np.random.default_rng(seed)
    return (rng.uniform(-1, 1, (count, 1, 3)) + rng.normal(0, size, (count, 3, 3))).astype(np.float32)


def random_rays(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Origins around the soup, unit directions through it, axis-parallel ones among them."""
    rng = np.random.default_rng(seed)
    origins = rng.normal(size=(count, 3))
    origins *= 3.0 / np.linalg.norm(origins, axis=1, keepdims=True)
    directions = rng.uniform(-1, 1, (count, 3)) - origins
    axes = np.eye(3)[rng.integers(0, 3, count)] * -np.sign(origins[np.arange(count), 0:1])
    directions = np.where(
        rng.uniform(size=(count, 1)) < 0.1, axes, directions / np.linalg.norm(directions, axis=1, keepdims=True)
    )
    return origins.astype(np.float32), directions.astype(np.float32)
