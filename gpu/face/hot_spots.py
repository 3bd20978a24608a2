"""Where rays spend their steps, as the library says it."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

from ..analysis.hot_frames import hot_spots_of
from ..analysis.hot_spots import HotSpots
from ..camera import Camera, fit
from ..engine import Engine, View
from ..errors import Error
from ..pixels import ArrayPixels
from ..scene import Moment
from ..settings import OptionError, checked
from ..shade.registry import ray_types
from ..view import ViewSettings
from .clips import Clip
from .devices import device_of
from .races import entry_of
from .rays import RaySet
from .sensors import SensorRays
from .trees import Structure


def hot_spots(
    what: Clip | Structure,
    configuration: str | RaySet | SensorRays = "hploc",
    *,
    rays: str = "all",
    kind: str = "both",
    frame: int = 0,
    camera: Camera | None = None,
    ray_type: str = "smooth",
    ray_type_options: dict[str, Any] | None = None,
    size: tuple[int, int] = (512, 384),
    device: str = "auto",
) -> HotSpots:
    """Where the rays of a picture spend their steps: visits, boxes and primitives tested and hit, and the share of the
    cost, by node, depth, object, material and triangle (`top(by=...)`). Waits.

    Of a clip, `configuration` says through which structure its `frame` is drawn, by a camera that sees all of it unless
    one is given, with the rays that `ray_type` casts: all, or those called `primary`, `shadow`, `occlusion`, `bounce 1`
    and so on; of `kind` closest, any or both. Of a structure, `hot_spots(tree, rays)` counts given rays.

    Raises Error where the picture casts no such rays, ConfigurationError and OptionError for a spelling.

    >>> import raygrove as rg
    >>> found = rg.hot_spots(rg.open("walker"), "lbvh", rays="primary", size=(32, 24), device="cpu")
    >>> found.counts.rays, found.top(1)[0].missed < 1.0, round(sum(one.share for one in found.top(99, "depth")), 6)
    (768, True, 1.0)
    """
    if isinstance(what, Structure):
        if not isinstance(configuration, RaySet | SensorRays):
            raise Error("a structure needs rays", "rg.hot_spots", "call rg.hot_spots(tree, rays)")
        return what.hot_spots(configuration, kind="closest" if kind == "both" else kind)
    if not isinstance(what, Clip) or not isinstance(configuration, str):
        said = f"{type(what).__name__} and {type(configuration).__name__}"
        raise Error(f"hot spots are of a rg.Clip and a configuration, or a tree and rays; not of {said}",
                    "rg.hot_spots", "call rg.hot_spots(clip, 'hploc')")  # fmt: skip
    if ray_type not in ray_types():
        raise OptionError("ray_type", ray_type, "one of " + ", ".join(ray_types()))
    options: Any = checked(ray_types()[ray_type].Options, ray_type_options or {}, f"{ray_type}.")
    entry = entry_of(configuration, ViewSettings(ray_type=ray_type, ray_type_options=options))
    scene = what.to_plain()
    seen = camera or fit(scene.lower, scene.upper, aspect=size[0] / size[1])
    with device_of(device).used("rg.hot_spots") as target, contextlib.closing(Engine(target, scene)) as engine:
        view = View(entry.settings, seen, ArrayPixels(target, *size))
        engine.render_frame(Moment(frame / (scene.fps or what.fps), frame_id=frame), [view])
        engine.flush()
        return dataclasses.replace(hot_spots_of(engine, view, rays, kind), configuration=entry.configuration)
