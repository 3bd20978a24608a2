"""Sensors: rays that leave many places in the same pattern, made where they are traced, from the sensors' poses
alone."""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np

from ..target.base import Array, Target
from ..target.foreign import library_of, on_target
from ..trace.arrays import EVERY_GROUP, EVERY_MASK, ArrayRays, packed
from . import arrays
from .rays import LABELS, RaySet, _array, _kind, _number, _stride


class Sensor:
    """A pattern of beams: `beams` (B, 3) float32, unit directions in the sensor's own axes; `shape` says how hits are
    arranged, (rows, columns). `t_min` and `t_max` in scene units.

    >>> import numpy as np, raygrove as rg
    >>> lidar = rg.sensors.lidar(rows=4, columns=8, fov=(-10.0, 10.0), t_max=30.0)
    >>> lidar.count, lidar.shape
    (32, (4, 8))
    >>> rays = lidar.rays(np.eye(3, 4, dtype=np.float32)[None])
    >>> len(rays)
    32
    """

    def __init__(self, beams: np.ndarray, shape: tuple[int, int], t_min: float = 0.0, t_max: float = np.inf) -> None:
        self.beams = np.ascontiguousarray(beams, np.float32)
        self.shape = shape
        self.t_min, self.t_max = (
            np.asarray(arrays.taken_number(value, name, "one number, in scene units"))
            for name, value in (("t_min", t_min), ("t_max", t_max))
        )
        self._held: weakref.WeakKeyDictionary[Target, Array] = weakref.WeakKeyDictionary()

    @property
    def count(self) -> int:
        """Rays of one sensor."""
        return int(self.beams.shape[0])

    def rays(self, poses: Any, *, groups: Any = EVERY_GROUP, masks: Any = EVERY_MASK) -> SensorRays:
        """The rays of sensors at `poses` (P, 3, 4), rows of a matrix that takes the sensor's axes to the world's:
        sensor after sensor, of each its beams row by row. `groups` and `masks`: one for all, or (P,), one a sensor
        (RaySet). Poses of float32 on the tree's device are not copied; one that is not finite has rays that hit
        nothing."""
        return SensorRays(self, poses, groups, masks)

    def on(self, node: str | int, pose: Any = None) -> HungSensor:
        """This sensor on a node of the clip that is measured, where it moves with it: what `rg.race`, `rg.advise` and
        `rg.hot_spots` take as rays. `node` is its name, or its number in the file; `pose` (3, 4) says where the sensor
        is in the node's axes, as it is at first: in the node's place, along its axes. Error where it is no pose.

        >>> import raygrove as rg
        >>> hung = rg.sensors.lidar(rows=4, columns=16, t_max=30.0).on("head")
        >>> found = rg.race(rg.open("walker"), ["lbvh@refit", "hploc"], rays=hung, frames=range(2), device="cpu")
        >>> found.mismatches, found.size
        (0, (64, 1))
        """
        return HungSensor(self, node, np.eye(3, 4) if pose is None else pose)

    def beams_on(self, target: Target) -> Array:
        """The beams on a target, uploaded once."""
        if target not in self._held:
            self._held[target] = target.upload(self.beams, "face")
        return self._held[target]


class SensorRays:
    """The rays of P sensors, `len` of them, what `Sensor.rays` gives; traced like a RaySet. `to_rays` gives them as
    arrays of NumPy."""

    from_sensors = True

    def __init__(self, sensor: Sensor, poses: Any, groups: Any, masks: Any) -> None:
        self.sensor, self.poses = sensor, _array(poses, "poses")
        self.groups, self.masks = _array(groups, "groups"), _array(masks, "masks")
        shape = tuple(self.poses.shape)
        if len(shape) != 3 or shape[1:] not in ((3, 4), (4, 4)):
            raise arrays.ArrayError(f"poses have the shape (P, 3, 4); these are {arrays.shown(self.poses)}")
        self.count: int = shape[0] * sensor.count
        if self.count > 1 << 30:
            raise arrays.ArrayError(
                f"{shape[0]:,} sensors of {sensor.count:,} rays are more than {1 << 30:,} rays", remedy="trace some"
            )
        for name, column in (("groups", self.groups), ("masks", self.masks)):
            if tuple(column.shape) not in ((), shape[:1]) or _kind(column) not in "iu":
                raise arrays.ArrayError(
                    f"{name} are one whole number, or one for each of the {shape[0]} sensors; they are "
                    f"{arrays.shown(column)}"
                )
            arrays.check_range(column, name, *LABELS[name])
        self._taken: tuple[Target, np.ndarray, tuple[Array, ...]] | None = None

    def __len__(self) -> int:
        return self.count

    @property
    def library(self) -> str:
        """The package whose arrays the poses are."""
        return library_of(self.poses)

    @property
    def columns(self) -> tuple[Any, ...]:
        """All arrays."""
        return self.poses, self.groups, self.masks

    def view(self, target: Target) -> tuple[np.ndarray, tuple[Array, ...]]:
        """As RaySet.view."""
        if self._taken is not None and self._taken[0] is target:
            return self._taken[1:]
        found, sensor = on_target(target, self.poses, "poses"), self.sensor
        poses = arrays.taken(target, self.poses, "poses", tuple(found.shape))
        beams = sensor.beams_on(target)
        t_min, t_max = _number(sensor.t_min, 0.0, None), _number(sensor.t_max, np.inf, None)
        stride = _stride(poses.reshape(len(poses), -1)) if len(poses) else 12
        row = packed(ArrayRays, poses, beams, None, None, stride, 3, t_min, t_max, self.count, sensor.count)
        if poses is found:
            self._taken = (target, row, (poses, beams))
        return row, (poses, beams)

    def to_rays(self) -> RaySet:
        """The same rays as arrays of NumPy. Waits where the poses lie on a GPU."""
        poses = self.poses if not hasattr(self.poses, "get") else self.poses.get()
        matrices = np.asarray(poses, np.float32)
        origins = np.repeat(matrices[:, :3, 3], self.sensor.count, axis=0)
        directions = np.einsum("pij,bj->pbi", matrices[:, :3, :3], self.sensor.beams).reshape(-1, 3)
        columns = {}
        for name, column in (("groups", self.groups), ("masks", self.masks)):
            own = column if not hasattr(column, "get") else column.get()
            columns[name] = np.repeat(own, self.sensor.count) if own.ndim else own
        return RaySet(origins, directions, self.sensor.t_min, self.sensor.t_max, **columns, check=False)


class HungSensor:
    """A sensor on a node of a scene (Sensor.on): what it casts is known where the scene is."""

    def __init__(self, sensor: Sensor, node: str | int, pose: Any) -> None:
        rows = np.asarray(pose, np.float32)
        if rows.shape != (3, 4) or not np.isfinite(rows).all():
            raise arrays.ArrayError(f"a pose is (3, 4), finite numbers; this is {arrays.shown(rows)}")
        self.sensor, self.node, self.pose = sensor, node, rows

    def __len__(self) -> int:
        return self.sensor.count


def lidar(
    rows: int,
    columns: int,
    fov: tuple[float, float] = (-15.0, 15.0),
    *,
    turn: tuple[float, float] = (180.0, -180.0),
    t_min: float = 0.0,
    t_max: float = np.inf,
) -> Sensor:
    """A lidar that turns around its z axis: x is ahead, y to the left, z up. `rows` beams between the elevations `fov`
    (degrees, lowest and highest), the first row the highest; `columns` around it, from the azimuth turn[0] to turn[1]
    (degrees, counted from ahead to the left), the end left out. `t_min` and `t_max` in scene units.

    Raises Error where there is no beam, or no such angle.

    >>> import raygrove as rg
    >>> rg.sensors.lidar(rows=1, columns=4, fov=(0.0, 0.0)).beams.round(3).tolist()
    [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]
    """
    _check_counts(rows=rows, columns=columns)
    low, high = arrays.taken_numbers(fov, "fov", "the lowest and the highest elevation in degrees, (-15, 15)", 2)
    begin, end = arrays.taken_numbers(turn, "turn", "the first and the last azimuth in degrees, (180, -180)", 2)
    if not -90.0 <= low <= high <= 90.0:
        raise arrays.ArrayError(f"fov is the lowest and the highest elevation, from -90 to 90 degrees; it is {fov}")
    up = np.radians(np.linspace(high, low, rows) if rows > 1 else np.array([(low + high) / 2.0]))
    round_it = np.radians(begin + (end - begin) * np.arange(columns) / columns)
    flat = np.cos(up)[:, None]
    beams = np.stack(
        [flat * np.cos(round_it), flat * np.sin(round_it), np.broadcast_to(np.sin(up)[:, None], (rows, columns))],
        axis=-1,
    )
    return Sensor(beams.reshape(-1, 3) + 0.0, (rows, columns), t_min, t_max)


def pinhole(width: int, height: int, fov: float = 45.0, *, t_min: float = 0.0, t_max: float = np.inf) -> Sensor:
    """A camera of `width` x `height` pixels: it looks along -z, x is to the right, y up. `fov` is the vertical angle in
    degrees; rays go through the pixels' centres, row 0 on top. Distances are along the rays.

    Raises Error where there is no pixel, or no such angle.

    >>> import raygrove as rg
    >>> camera = rg.sensors.pinhole(3, 3, fov=90.0)
    >>> camera.beams[4].tolist()
    [0.0, 0.0, -1.0]
    """
    beams = plane_beams(width, height, fov)
    return Sensor(beams / np.linalg.norm(beams, axis=1, keepdims=True) + 0.0, (height, width), t_min, t_max)


def plane_beams(width: int, height: int, fov: float) -> np.ndarray:
    """(B, 3) float64: the beams of a pinhole camera to the plane at distance 1."""
    _check_counts(width=width, height=height)
    if not 0.0 < arrays.taken_number(fov, "fov", "one angle, the vertical one, in degrees") < 180.0:
        raise arrays.ArrayError(f"fov is an angle between 0 and 180 degrees; it is {fov}")
    tall = 2.0 * math.tan(math.radians(fov) / 2.0)
    x = ((np.arange(width) + 0.5) / width - 0.5) * tall * width / height
    y = (0.5 - (np.arange(height) + 0.5) / height) * tall
    grid = np.meshgrid(x, y)
    return np.stack([*grid, np.full_like(grid[0], -1.0)], axis=-1).reshape(-1, 3)


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= 1 << 16:
            raise arrays.ArrayError(f"{name} is a whole number from 1 to {1 << 16}; it is {count!r}")
