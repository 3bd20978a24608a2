"""Sets of rays for measurements: recorded as a picture casts them, and kept in files of NumPy."""

from __future__ import annotations

import contextlib
import importlib
import os
from typing import Any

import numpy as np

from ..analysis.frame_rays import PRIMARY, CastRays, cast_rays
from ..analysis.rig import camera_rays
from ..analysis.whole_file import whole_file
from ..analysis.workload import Rays
from ..camera import Camera
from ..engine import Engine, View
from ..errors import Error
from ..pixels import ArrayPixels
from ..scene import Moment
from ..settings import OptionError, checked
from ..shade.registry import ray_types
from ..target.base import Target
from ..target.foreign import on_host
from ..trace.trace import BufferRays, QueueRays, Tracer
from ..view import ViewSettings
from .clips import Clip, seen_by
from .devices import device_of
from .rays import RaySet
from .sensors import SensorRays

COLUMNS = ("origins", "directions", "t_min", "t_max")


def recorded(
    clip: Clip,
    time: float,
    name: str,
    ray_type: str,
    ray_type_options: dict[str, Any] | None,
    camera: Camera | None,
    size: tuple[int, int],
    seed: int,
    device: str,
) -> RaySet:
    """The rays called `name` of a picture's first sample (RaySet.record)."""
    if not isinstance(clip, Clip):
        what = f"rays are recorded of a rg.Clip, and this is {type(clip).__name__}"
        raise Error(what, "rg.RaySet.record", "give rg.open(...) or rg.Clip(vertices, triangles)")
    if ray_type not in ray_types():
        raise OptionError("ray_type", ray_type, "one of " + ", ".join(ray_types()))
    options: Any = checked(ray_types()[ray_type].Options, ray_type_options or {}, f"{ray_type}.")
    scene = clip.to_plain()
    seen = seen_by(scene, camera, size, "rg.RaySet.record")
    if name == PRIMARY:
        rays = camera_rays(seen, *size)
        return RaySet(rays.origins, rays.directions)
    settings = ViewSettings(hierarchy="lbvh", ray_type=ray_type, ray_type_options=options, seed=seed)
    heard: list[np.ndarray] = []
    cast: list[str] = []
    with device_of(device).used("rg.RaySet.record") as target, contextlib.closing(Engine(target, scene)) as engine:

        def hear(tracer: Tracer, found: CastRays) -> None:
            cast.append(found.name)
            if found.name == name and isinstance(found.source, BufferRays | QueueRays):
                heard.append(_rows_of(target, found.source))

        view = View(settings, seen, ArrayPixels(target, *size))
        engine.render_frame(Moment(time), [view])
        engine.flush()
        slot = engine.drawn_slot(view)
        slot.bring_up_to_date()
        cast_rays(slot, hear)
    rows = np.concatenate([*heard, np.zeros((8, 0), np.float32)], axis=1)
    if not rows.shape[1]:
        there = ", ".join(dict.fromkeys(cast))
        raise Error(f"{ray_type} casts no rays called {name!r} in this picture", "rg.RaySet.record",
                    f"choose one of {there}, or another ray type")  # fmt: skip
    return RaySet(np.ascontiguousarray(rows[0:3].T), np.ascontiguousarray(rows[3:6].T), rows[6].copy(), rows[7].copy())


def _rows_of(target: Target, source: BufferRays | QueueRays) -> np.ndarray:
    """Those of the columns that are rays, (8, N): in use, with a direction, and not ended before they begin."""
    rows = np.array(target.download(source.rows))
    used = int(target.download(source.length)[0]) if isinstance(source, QueueRays) else source.count
    rows = rows[:8, :used]  # ray types keep more of a ray behind these
    is_ray = np.isfinite(rows[:6]).all(axis=0) & rows[3:6].any(axis=0) & (rows[7] > rows[6])
    found: np.ndarray = rows[:, is_ray]
    return found


def rig_rays(rays: RaySet | SensorRays) -> Rays:
    """Rays as measurements take them, on the host."""
    if isinstance(rays, SensorRays):
        rays = rays.to_rays()
    given = [np.asarray(on_host(getattr(rays, name), name), np.float32) for name in COLUMNS]
    rows = [np.ascontiguousarray(np.broadcast_to(one, (len(rays), 3))) for one in given[:2]]
    bounds = [np.ascontiguousarray(one) if one.ndim else float(one) for one in given[2:]]
    return Rays(rows[0], rows[1], bounds[0], bounds[1])


def save_rays(rays: RaySet, path: str | os.PathLike[str]) -> None:
    """Write the file (RaySet.save)."""
    arrays = {name: np.asarray(on_host(getattr(rays, name), name), np.float32) for name in COLUMNS}
    with whole_file(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def load_rays(path: str | os.PathLike[str]) -> RaySet:
    """Read the file (RaySet.load)."""
    files = importlib.import_module(f"{__name__.partition('.')[0]}.app.scene_io")
    try:
        found = files.load_rays(path)
    except files.SceneError as error:
        raise Error(str(error).rstrip("."), "rg.RaySet.load", "") from error
    return RaySet(**found)
