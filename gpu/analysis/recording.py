"""Rays as a picture casts them, kept for measurements, and in files of NumPy."""

from __future__ import annotations

import os

import numpy as np

from ..engine import Engine
from ..errors import Error
from ..target.base import Target
from ..trace.trace import BufferRays, QueueRays, Tracer
from ..view import View
from .frame_rays import PRIMARY, CastRays, cast_rays
from .rig import camera_rays
from .whole_file import whole_file
from .workload import Rays

COLUMNS = ("origins", "directions", "t_min", "t_max")


def recorded_rays(engine: Engine, view: View, name: str) -> Rays:
    """The rays called `name` (primary, shadow, occlusion, bounce 1 ...) of the first sample of the picture that a view
    shows. Waits; not in a frame. Error where it casts none."""
    slot, target = engine.drawn_slot(view), engine.target
    if name == PRIMARY:
        return camera_rays(view.camera, slot.film.width, slot.film.height)
    heard: list[np.ndarray] = []
    cast: list[str] = []

    def hear(tracer: Tracer, found: CastRays) -> None:
        cast.append(found.name)
        if found.name == name and isinstance(found.source, BufferRays | QueueRays):
            heard.append(rows_of(target, found.source))

    slot.bring_up_to_date()
    cast_rays(slot, hear)
    rows = np.concatenate([*heard, np.zeros((8, 0), np.float32)], axis=1)
    if not rows.shape[1]:
        there = ", ".join(one for one in dict.fromkeys(cast) if one != name)
        what = f"{view.settings.ray_type} casts no rays called {name!r} in this picture"
        seen = ", or look from a place where rays hit something on their way" if name in cast else ""
        raise Error(what, "recording", f"choose one of {there}, or another ray type{seen}")
    return Rays(np.ascontiguousarray(rows[0:3].T), np.ascontiguousarray(rows[3:6].T), rows[6].copy(), rows[7].copy())


def rows_of(target: Target, source: BufferRays | QueueRays) -> np.ndarray:
    """Those of the columns that are rays, (8, N): in use, with a direction, and not ended before they begin."""
    rows = np.array(target.download(source.rows))
    used = int(target.download(source.length)[0]) if isinstance(source, QueueRays) else source.count
    rows = rows[:8, :used]  # ray types keep more of a ray behind these
    is_ray = np.isfinite(rows[:6]).all(axis=0) & rows[3:6].any(axis=0) & (rows[7] > rows[6])
    found: np.ndarray = rows[:, is_ray]
    return found


def save_rays(rays: Rays, path: str | os.PathLike[str]) -> None:
    """Write an .npz, which appears whole or not at all. Raises OSError."""
    arrays = {name: np.asarray(getattr(rays, name), np.float32) for name in COLUMNS}
    with whole_file(path) as file:
        np.savez(file, allow_pickle=False, **arrays)
