"""Where rays spend their steps, as the library says it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any, cast

from ..analysis.divergence import Divergence, divergence_of_rays
from ..analysis.hot_findings import HotFinding
from ..analysis.hot_frames import divergence_of, hot_spots_of, measured_remedy, with_findings
from ..analysis.hot_spots import HotSpots
from ..analysis.traced_rays import in_rows
from ..camera import Camera
from ..engine import Engine, View
from ..errors import Error
from ..pixels import ArrayPixels
from ..scene import Moment
from ..settings import OptionError, checked
from ..shade.registry import ray_types
from ..view import ViewSettings
from .clips import Clip, numbers_of, seen_by
from .devices import device_of
from .races import entry_of
from .rays import RaySet, buffered
from .sensors import HungSensor, SensorRays
from .trees import Structure
from .workloads import workload_of


def hot_spots(
    what: Clip | Structure,
    configuration: str | RaySet | SensorRays = "hploc",
    *,
    rays: str | RaySet | SensorRays | HungSensor = "all",
    kind: str = "both",
    frame: int = 0,
    camera: Camera | None = None,
    ray_type: str = "smooth",
    ray_type_options: dict[str, Any] | None = None,
    size: tuple[int, int] = (512, 384),
    remedies: bool = False,
    device: str = "auto",
) -> HotSpots:
    """Where the rays of a picture spend their steps: visits, boxes and primitives tested and hit, and the share of the
    cost, by node, depth, object, material and triangle (`top(by=...)`). Waits.

    Of a clip, `configuration` says through which structure its `frame` is drawn, by a camera that sees all of it unless
    one is given, with the rays that `ray_type` casts: all, or those called `primary`, `shadow`, `occlusion`, `bounce 1`
    and so on; of `kind` closest, any or both. `rays` may be a set, or sensors, one on a node too (`Sensor.on`): then
    these are counted in the picture's place, for their closest hits or for any. Of a structure, `hot_spots(tree, rays)`
    counts given rays.

    `findings` of the answer say in words what is paid for, and what may help; with `remedies` each remedy is built, and
    its `gain` is how many times less the same rays cost with it.

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
    with _drawn(what, configuration, frame, camera, ray_type, ray_type_options, size, device) as (engine, view, moment):
        given = None
        if not isinstance(rays, str):
            given = in_rows(engine.target, workload_of(rays, engine.scene, "rg.hot_spots").at(moment))
        found = hot_spots_of(engine, view, rays if isinstance(rays, str) else "all", kind, given)
        found = with_findings(engine, view, found, given)
        if not remedies:
            return found
        measured = (measured_remedy(engine, view, found, cast(HotFinding, one), given) for one in found.findings)
        return dataclasses.replace(found, findings=tuple(measured))


def divergence(
    what: Clip | Structure,
    configuration: str | RaySet | SensorRays = "hploc",
    *,
    rays: RaySet | SensorRays | HungSensor | str | None = None,
    frame: int = 0,
    camera: Camera | None = None,
    size: tuple[int, int] = (512, 384),
    device: str = "auto",
) -> Divergence:
    """For whom the primary rays of a picture wait: the steps of each warp of 8 x 4 pixels in the traversal that runs,
    the longest warp, and the lanes that are idle, at nodes and at primitives. Counted as a GPU's warps are, whatever
    the device. Of a clip as `hot_spots` has it, by the picture's rays or by others (`rays`, as `rg.race` takes them),
    32 at a time; `divergence(tree, rays)` takes given rays. Waits.

    >>> import raygrove as rg
    >>> found = rg.divergence(rg.open("walker"), "lbvh", size=(64, 48), device="cpu")
    >>> found.map().shape, found.longest >= found.mean, 0.0 < found.idle < 1.0
    ((12, 8), True, True)
    """
    if isinstance(what, Structure) and isinstance(configuration, RaySet | SensorRays):
        with what._used("rg.divergence") as target:
            return divergence_of_rays(target, what._hierarchy, buffered(target, configuration, "closest"))
    if not isinstance(what, Clip) or not isinstance(configuration, str):
        raise Error("divergence is of a rg.Clip and a configuration, or of a tree and rays", "rg.divergence",
                    "call rg.divergence(clip, 'hploc')")  # fmt: skip
    with _drawn(what, configuration, frame, camera, "flat", None, size, device) as (engine, view, moment):
        given = None
        if rays is not None:
            given = in_rows(engine.target, workload_of(rays, engine.scene, "rg.divergence").at(moment))
        return divergence_of(engine, view, given)


@contextlib.contextmanager
def _drawn(
    clip: Clip,
    configuration: str,
    frame: int,
    camera: Camera | None,
    ray_type: str,
    ray_type_options: dict[str, Any] | None,
    size: tuple[int, int],
    device: str,
) -> Iterator[tuple[Engine, View, Moment]]:
    """An engine that has drawn a frame of a clip, the view, and the frame's instant."""
    if ray_type not in ray_types():
        raise OptionError("ray_type", ray_type, "one of " + ", ".join(ray_types()))
    options: Any = checked(ray_types()[ray_type].Options, ray_type_options or {}, f"{ray_type}.")
    entry = entry_of(configuration, ViewSettings(ray_type=ray_type, ray_type_options=options))
    scene = clip.to_plain()
    seen = seen_by(scene, camera, size, "rg.hot_spots")
    (number,) = numbers_of(clip, [frame], "rg.hot_spots")
    with device_of(device).used("rg.hot_spots") as target, contextlib.closing(Engine(target, scene)) as engine:
        view = View(entry.settings, seen, ArrayPixels(target, *size))
        moment = Moment(number / (scene.fps or clip.fps), frame_id=number)
        engine.render_frame(moment, [view])
        engine.flush()
        yield engine, view, moment
