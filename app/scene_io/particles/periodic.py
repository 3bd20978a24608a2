"""Particles in a periodic box: put back into it, and shown beside themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from raygrove.gpu.scene import Attribute, PeriodicBox, Spheres

Empty = Callable[[tuple[int, ...], type], np.ndarray]


def in_box(spheres: Spheres, empty: Empty = np.empty) -> Spheres:
    """The spheres with every centre inside the box, along its periodic edges. `empty` makes arrays of all keys."""
    box, keys = spheres.box, spheres.key_frames
    if box is None:
        return spheres
    if keys is not None:
        centres = empty(keys.centres.shape, np.float32)
        for key, row in enumerate(keys.centres):
            centres[key] = _inside(row, *_cell(box, key), box.periodic)
        return dataclasses.replace(spheres, centres=centres[0], key_frames=dataclasses.replace(keys, centres=centres))
    return dataclasses.replace(spheres, centres=_inside(spheres.centres, *_cell(box, 0), box.periodic))


def copied(spheres: Spheres, copies: tuple[int, int, int], empty: Empty = np.empty) -> Spheres:
    """The spheres `copies` times along each edge of the box, a whole copy after another. Ids, attributes and the box
    stay those of the file, and the box tells of its copies: the nearest image of a copy is that of the particle."""
    box, keys, count = spheres.box, spheres.key_frames, int(np.prod(copies))
    if box is None or count == 1:
        return spheres
    steps = np.stack(np.meshgrid(*(np.arange(n) for n in copies), indexing="ij"), axis=-1).reshape(-1, 3)
    key_count = 1 if keys is None else len(keys.times)
    still = spheres.centres[None] if keys is None else keys.centres
    centres = empty((key_count, count * still.shape[1], 3), np.float32)
    for key in range(key_count):
        shifts = steps @ _cell(box, key)[1]
        centres[key] = (still[key][None] + shifts[:, None]).reshape(-1, 3)
    if keys is not None:
        keys = dataclasses.replace(
            keys, centres=centres, radii=_tiled(keys.radii, count, 1), colours=_tiled(keys.colours, count, 1)
        )

    def repeated(attribute: Attribute) -> Attribute:
        axis = 1 if spheres.has_keys(attribute) else 0
        return dataclasses.replace(attribute, values=np.concatenate([attribute.values] * count, axis=axis))

    return dataclasses.replace(
        spheres,
        centres=centres[0],
        radii=np.tile(spheres.radii, count),
        colours=_tiled(spheres.colours, count, 0),
        ids=_tiled(spheres.ids, count, 0),
        attributes=tuple(repeated(attribute) for attribute in spheres.attributes),
        key_frames=keys,
        box=dataclasses.replace(box, copies=copies),
    )


def to_nearest_images(away: np.ndarray, box: PeriodicBox | None) -> np.ndarray:
    """Ways (N, 3) between particles at the first instant -> those to the nearest images, float64."""
    if box is None:
        return np.asarray(away, np.float64)
    vectors = _cell(box, 0)[1]
    edges = np.where(np.array(box.periodic), np.round(away @ np.linalg.inv(vectors)), 0.0)
    return np.asarray(away - edges @ vectors)


def _tiled(values: np.ndarray | None, count: int, axis: int) -> np.ndarray | None:
    return None if values is None else np.concatenate([values] * count, axis=axis)


def _cell(box: PeriodicBox, key: int) -> tuple[np.ndarray, np.ndarray]:
    """Corner (3,) and edges (3, 3) of the box at a key, float64."""
    is_still = np.ndim(box.vectors) == 2
    origin, vectors = (box.origin, box.vectors) if is_still else (box.origin[key], box.vectors[key])
    return np.asarray(origin, np.float64), np.asarray(vectors, np.float64)


def _inside(
    centres: np.ndarray, origin: np.ndarray, vectors: np.ndarray, periodic: tuple[bool, bool, bool]
) -> np.ndarray:
    shares = (centres - origin) @ np.linalg.inv(vectors)
    moved = np.where(np.array(periodic), shares - np.floor(shares), shares)
    return (moved @ vectors + origin).astype(np.float32)
