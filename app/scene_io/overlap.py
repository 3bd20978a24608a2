"""How much triangles lie over one another: where a ray meets nearly all of them, no structure makes pictures fast."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.scene import Remark, Scene

from .mesh_stack import MeshStack, numbers_of, stacks_of, starts_of, triangle_counts_of
from .normals import columns_of
from .transforms import global_matrices

MOST_MET = 1_000
"""Triangles whose boxes a ray meets on average before it is remarked on. Of twenty models and built-in scenes Sponza
has most: 21."""

SAMPLED = 200_000
"""Triangles that are looked at, every n-th of each mesh of a larger scene."""

AT_ONCE = 1_000_000
"""Triangles of small meshes that are looked at together."""


def overlap_remarks(scene: Scene) -> tuple[Remark, ...]:
    """A remark where rays will meet very many triangles."""
    met = boxes_met(scene)
    if met <= MOST_MET:
        return ()
    sentence = (
        f"Triangles lie so much over one another that a ray meets the boxes of {met:,.0f} of them on average, whatever "
        "the structure: pictures take long. Look for copies at the same place, or triangles as long as the scene."
    )
    return (Remark(1, sentence),)


def boxes_met(scene: Scene) -> float:
    """How many triangles' boxes a random line that meets the scene's box meets on average, at rest: of the lines that
    meet a convex body, those that meet one inside it are the share of their surfaces (Cauchy and Crofton)."""
    nodes, meshes = numbers_of(scene.objects, "node"), numbers_of(scene.objects, "mesh")
    nodes, meshes = nodes[meshes >= 0], meshes[meshes >= 0]
    counts = triangle_counts_of(scene.meshes)
    whole = float(_areas(*(np.asarray(scene.upper, np.float64) - scene.lower)))
    if not whole > 0.0 or int(counts[meshes].sum()) < MOST_MET:
        return 0.0
    step = max(1, int(counts.sum()) // SAMPLED)
    areas = np.concatenate([_box_areas(some, step) for some in stacks_of(scene.meshes, AT_ONCE)])
    # As large as the node makes areas on average over all directions that scale alike.
    scales = np.abs(np.linalg.det(global_matrices(scene.nodes)[:, :3, :3])) ** (2.0 / 3.0)
    return float((areas[meshes] * scales[nodes]).sum() / whole)


def _box_areas(stack: MeshStack, step: int) -> np.ndarray:
    """(M,) the surfaces of the boxes of each mesh's triangles, added up, from every `step`-th of them."""
    counts = -(-stack.triangle_counts // step)
    starts = starts_of(stack.triangle_counts) - step * starts_of(counts)
    some = stack.triangles[np.repeat(starts, counts) + step * np.arange(int(counts.sum()))]
    firsts = np.repeat(starts_of(stack.vertex_counts), counts)
    columns = columns_of(stack.positions)
    first, second, third = (columns.take(corners + firsts, axis=1) for corners in some.T)
    lower = np.minimum(np.minimum(first, second), third)
    areas = _areas(*(np.maximum(np.maximum(first, second), third) - lower))
    sums = np.add.reduceat(areas, np.cumsum(counts) - counts)
    return np.asarray(sums * stack.triangle_counts / counts)


def _areas(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The surfaces of boxes of these extents."""
    return np.asarray(2.0 * (x * y + y * z + z * x))
