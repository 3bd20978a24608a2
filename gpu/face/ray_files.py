"""Sets of rays for measurements: recorded as a picture casts them, and kept in files of NumPy."""

from __future__ import annotations

import contextlib
import importlib
import os
from typing import Any

import numpy as np

from ..analysis.recording import COLUMNS, recorded_rays
from ..analysis.recording import save_rays as write_rays
from ..analysis.workload import Rays
from ..camera import Camera
from ..engine import Engine, View
from ..errors import Error, UnreadableError
from ..pixels import ArrayPixels
from ..scene import Moment
from ..settings import OptionError, checked
from ..shade.registry import ray_types
from ..target.foreign import on_host
from ..view import ViewSettings
from .clips import Clip, seen_by
from .devices import device_of
from .rays import RaySet
from .sensors import SensorRays


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
    settings = ViewSettings(hierarchy="lbvh", ray_type=ray_type, ray_type_options=options, seed=seed)
    with device_of(device).used("rg.RaySet.record") as target, contextlib.closing(Engine(target, scene)) as engine:
        view = View(settings, seen, ArrayPixels(target, *size))
        engine.render_frame(Moment(time), [view])
        engine.flush()
        found = recorded_rays(engine, view, name)
    return RaySet(found.origins, found.directions, found.t_min, found.t_max)


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
    write_rays(rig_rays(rays), path)


def load_rays(path: str | os.PathLike[str]) -> RaySet:
    """Read the file (RaySet.load)."""
    files = importlib.import_module(f"{__name__.partition('.')[0]}.app.scene_io")
    try:
        return RaySet(**files.load_rays(path))
    except files.SceneError as error:
        raise UnreadableError(str(error)) from error
    except Error as error:
        where = files.display_path(os.fspath(path))
        raise UnreadableError(f"{where} holds no rays: {str(error).rstrip('.')}.") from error
