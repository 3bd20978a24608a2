"""Pictures of a scene by many cameras at once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..camera import Camera
from ..errors import Error
from ..target.base import Array, Target, UnitSource
from ..target.foreign import on_host
from ..trace.arrays import EVERY_GROUP, EVERY_MASK
from . import arrays
from .building import build
from .hits import _empty
from .rays import RaySet
from .scenes import Scene
from .sensors import Sensor, SensorRays, plane_beams
from .trees import Structure

OUTPUTS = ("color", "depth", "object_id", "normal")
BACKGROUND = (0, 0, 0)


@dataclasses.dataclass(frozen=True, eq=False)
class Pictures:
    """What C cameras see, row 0 on top, on the scene's device: NumPy's arrays there on the CPU, CuPy's on a GPU.

    `color` (C, H, W, 3) uint8, sRGB: the meshes' colours in the light of a lamp at the camera. `depth` (C, H, W)
    float32, along the axis of view, inf where nothing is. `object_id` (C, H, W) int32: the instance, counted in the
    order of `add_mesh`, -1 where nothing is. `normal` (C, H, W, 3) float32, in the scene's axes, towards the camera, 0
    where nothing is. None is what was not asked for; iterating gives the others in that order."""

    color: Any = None
    depth: Any = None
    object_id: Any = None
    normal: Any = None

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __iter__(self) -> Iterator[Any]:
        return (array for name in OUTPUTS if (array := getattr(self, name)) is not None)


def render(
    scene: Scene | Structure,
    cameras: Camera | Sequence[Camera],
    *,
    size: tuple[int, int] = (640, 480),
    outputs: Sequence[str] = ("color",),
    groups: Any = EVERY_GROUP,
    masks: Any = EVERY_MASK,
    background: tuple[int, int, int] = BACKGROUND,
) -> Pictures:
    """Pictures of `size` (width, height) pixels by all `cameras` at once: one launch traces their rays, whatever their
    number. Of a scene a tree is kept and brought up to date first; of a tree its `update()` is the caller's.

    `outputs`: color, depth, object_id, normal. `groups` and `masks`: what each camera sees, one for all or (C,), as of
    a RaySet; `background`: three bytes. Cameras are perspective or orthographic ones; their `near` and `far` are left
    out.

    Raises Error for an output or a size that there is not.

    >>> import raygrove as rg
    >>> scene = rg.Scene(device="cpu")
    >>> mesh = scene.add_mesh([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> cameras = [rg.Camera(eye=(0, 0, 2)), rg.Camera(eye=(0, 0, 4))]
    >>> seen = rg.render(scene, cameras, size=(9, 9), outputs=("depth", "object_id"))
    >>> seen.depth.shape, seen.depth[:, 4, 4].tolist(), seen.object_id[1, 0, 0].item()
    ((2, 9, 9), [2.0, 4.0], -1)
    """
    views = [cameras] if isinstance(cameras, Camera) else list(cameras)
    wanted, behind = _checked(views, size, outputs), _bytes(background)
    tree = _tree_of(scene)
    width, height = size
    beams = Sensor(plane_beams(width, height, 90.0), (height, width)).rays(_poses(views), groups=groups, masks=masks)
    is_parallel = np.array([view.orthographic for view in views], np.uint8)
    with tree._used("rg.render") as target:
        rays = _parallel(target, beams, is_parallel) if is_parallel.any() else beams
        shape = (len(views), height, width)
        needed = {"t", "prim_id", "instance", *(("normal",) if {"color", "normal"} & set(wanted) else ())}
        hits = tree.trace(rays, out=tree.empty_hits(len(rays), tuple(needed)))
        found = {"depth": hits.t, "object_id": hits.instance, "normal": hits.normal}
        if "color" in wanted:
            found["color"] = _shaded(target, tree.scene, hits, beams, is_parallel, behind)
        ends = {"color": (3,), "normal": (3,)}
        return Pictures(**{name: found[name].reshape(*shape, *ends.get(name, ())) for name in wanted})


def _bytes(background: Any) -> tuple[int, int, int]:
    what = "three bytes, red, green and blue, from 0 to 255, such as (255, 255, 255)"
    red, green, blue = arrays.taken_numbers(background, "background", what, 3)
    if not all(part in range(256) for part in (red, green, blue)):
        raise arrays.ArrayError(f"background is {what}; it is {background!r}", "rg.render")
    return int(red), int(green), int(blue)


def _tree_of(scene: Any) -> Structure:
    """The tree to look through; a scene's own is made once."""
    if isinstance(scene, Structure):
        if scene.scene is None:
            raise Error("pictures are of meshes, and this tree has none", "rg.render", "build it over a rg.Scene")
        return scene
    if not isinstance(scene, Scene):
        raise Error(f"pictures are of a rg.Scene or a tree, not of a {type(scene).__name__}", "rg.render", "give one")
    scene.check_open("rg.render")
    tree: Structure | None = scene.own_tree
    if tree is None:
        tree = scene.own_tree = build(scene, "hploc@auto")
    else:
        tree.update()
    return tree


def _checked(views: list[Camera], size: tuple[int, int], outputs: Sequence[str]) -> tuple[str, ...]:
    if isinstance(outputs, str) or not outputs or not set(outputs) <= set(OUTPUTS):
        raise arrays.ArrayError(f"outputs are some of {', '.join(OUTPUTS)}; they are {outputs!r}", "rg.render")
    arrays.check_size(size, "rg.render")
    for number, view in enumerate(views):
        if not isinstance(view, Camera):
            raise arrays.ArrayError(f"camera {number} is no rg.Camera but a {type(view).__name__}", "rg.render")
    return tuple(name for name in OUTPUTS if name in outputs)


def _poses(views: list[Camera]) -> np.ndarray:
    """(C, 3, 4) float32: the cameras' axes, stretched by what they see, so that all have the same beams."""
    made = np.zeros((len(views), 3, 4), np.float32)
    for pose, view in zip(made, views, strict=True):
        right, up, forward = view.basis()
        tall = view.height / 2.0 if view.orthographic else math.tan(math.radians(view.fov) / 2.0)
        pose[:] = np.stack([right * tall, up * tall, -forward, np.asarray(view.eye)], axis=1)
    return made


def _parallel(target: Target, beams: SensorRays, is_parallel: np.ndarray) -> RaySet:
    """The rays of cameras of which some are orthographic: made on the target, as theirs begin at many places."""
    origins, directions = (target.empty((len(beams), 3), np.float32, "face") for _ in range(2))
    target.launch(
        target.unit(UnitSource("gpu/face/pictures.cu")),
        "make_camera_rays",
        len(beams),
        **_cameras(target, beams, is_parallel),
        n=len(beams),
        origins=origins,
        directions=directions,
    )
    each = {
        name: np.repeat(on_host(values, name), beams.sensor.count) if len(values.shape) else values
        for name, values in (("groups", beams.groups), ("masks", beams.masks))
    }
    return RaySet(origins, directions, check=False, **each)


def _cameras(target: Target, beams: SensorRays, is_parallel: np.ndarray) -> dict[str, Any]:
    """What kernels know of the cameras."""
    return {
        "poses": target.upload(np.asarray(beams.poses), "face"),
        "is_parallel": target.upload(is_parallel, "face"),
        "beams": beams.sensor.beams_on(target),
        "beam_count": beams.sensor.count,
    }


def _shaded(
    target: Target, scene: Scene, hits: Any, beams: SensorRays, is_parallel: np.ndarray, behind: tuple[int, int, int]
) -> Array:
    colors = np.repeat([mesh.color for mesh in scene.meshes] or [(0.0,) * 3], _counts(scene), axis=0)
    count, color = len(hits), _empty(target, (len(hits), 3), np.uint8)
    red, green, blue = behind
    target.launch(
        target.unit(UnitSource("gpu/face/pictures.cu")),
        "shade_pictures",
        count,
        instance=hits.instance,
        normal=hits.normal,
        **_cameras(target, beams, is_parallel),
        colors=target.upload(np.ascontiguousarray(colors, np.float32), "face"),
        background_red=red,
        background_green=green,
        background_blue=blue,
        n=count,
        color=color,
    )
    return color


def _counts(scene: Scene) -> list[int]:
    return [mesh.instance_count for mesh in scene.meshes] or [1]
