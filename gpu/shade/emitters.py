"""The triangles and spheres that shine, and how often each is to be chosen as a light: by its area at rest, of each
side that shines, and by its brightness."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..scene import Material, Mesh, Scene, Spheres

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def emitter_table(
    scene: Scene, materials: tuple[Material, ...], hidden: Collection[int] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """`ids` (E,) int32, the scene's primitives whose material shines, ascending, and `cdf` (E,) float32, the share of
    all up to and with each; the last is 1. Hidden objects do not shine. Shares are for choosing alone: areas change
    with the moment, and whoever samples divides by the share and the area there is."""
    strength = np.array(
        [
            float(np.dot(LUMINANCE, material.emission)) * (2.0 if material.is_double_sided else 1.0)
            for material in materials
        ]
    )
    if not (strength > 0.0).any():
        return np.zeros(0, np.int32), np.zeros(0, np.float32)
    ids, weights, first = [], [], 0
    for index, thing in enumerate(scene.objects):
        if thing.mesh < 0 and thing.spheres < 0:
            break  # what comes after spheres is met by chance
        count = scene.count_of(index)
        if index not in hidden:
            if thing.mesh >= 0:
                glow = strength[np.clip(scene.meshes[thing.mesh].material_ids, 0, len(strength) - 1)]
                shining = np.flatnonzero(glow > 0.0)
                areas = _areas(scene.meshes[thing.mesh], shining)
            else:
                group = scene.spheres[thing.spheres]
                glow = np.full(count, strength[min(max(group.material_id, 0), len(strength) - 1)])
                shining = np.flatnonzero(glow > 0.0)
                areas = _sphere_areas(group)[shining] if len(shining) else np.zeros(0)
            ids.append(shining + first)
            weights.append(glow[shining] * np.maximum(areas, 1e-30))
        first += count
    order, share = (
        np.concatenate([np.zeros(0, np.int32), *ids]).astype(np.int32),
        np.concatenate([np.zeros(0), *weights]),
    )
    if not len(order):
        return np.zeros(0, np.int32), np.zeros(0, np.float32)
    cdf = np.cumsum(share / share.sum())
    cdf[-1] = 1.0
    return order, np.minimum(cdf, 1.0).astype(np.float32)


def _areas(mesh: Mesh, triangles: np.ndarray) -> np.ndarray:
    corners = mesh.positions[mesh.triangles[triangles]].astype(np.float64)
    across, up = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return np.asarray(np.linalg.norm(np.cross(across, up), axis=1) * 0.5)


def _sphere_areas(group: Spheres) -> np.ndarray:
    """Of the largest that each sphere is in any key frame; 0 for what is never there."""
    keys = group.key_frames
    radii = group.radii if keys is None or keys.radii is None else np.max(keys.radii, axis=0)
    return np.asarray(4.0 * np.pi * np.maximum(radii.astype(np.float64), 0.0) ** 2)
