"""The rays that measurements trace in each frame: of a set, of a file, or of a sensor, which may hang on a node."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from ..analysis.workload import HungRays, Rays, Workload
from ..errors import Error
from ..ray_sources import FILE, CamerasOptions, DomeOptions, LidarOptions, RaySource, SensorOptions, parse_source
from ..scene import Scene
from .clips import node_of
from .ray_files import rig_rays
from .rays import RaySet
from .sensors import HungSensor, SensorRays, lidar, pinhole

OF_A_SENSOR = "rays of a sensor"

Y_UP = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
"""From ahead, left and up to the axes of what looks along -z and has y up."""


def workload_of(
    rays: RaySet | SensorRays | HungSensor | RaySource | str, scene: Scene, where: str = "rays"
) -> Workload:
    """What is traced in every frame of a scene; a text is spelt as `raygrove race --rays` has it. Raises Error for
    rays that cannot be read, or hang on a node that is not there, and OptionError for a text that says none."""
    source = parse_source(rays) if isinstance(rays, str) else rays
    if isinstance(source, HungSensor):
        local = rig_rays(source.sensor.rays(source.pose[None]))
        return HungRays(scene, node_of(scene, source.node, where), dataclasses.replace(local, said=OF_A_SENSOR))
    if isinstance(source, SensorRays):
        return dataclasses.replace(rig_rays(source), said=OF_A_SENSOR)
    if isinstance(source, RaySet):
        return rig_rays(source)
    if not isinstance(source, RaySource):
        what = f"rays are a rg.RaySet or those of sensors, and these are {type(rays).__name__}"
        raise Error(what, where, "give rg.RaySet(origins, directions), or a text like 'lidar:rows=32:node=head'")
    if source.kind == FILE:
        return dataclasses.replace(rig_rays(RaySet.load(source.path)), said=f"rays of {Path(source.path).name}")
    if source.sensor is None:
        raise Error(f"{source} stands for the rays of a picture, which has none here", where,
                    "name a file FILE.npz, or a sensor like lidar:rows=32")  # fmt: skip
    return _of_sensor(source.sensor, scene, f"rays of {source}")


def _of_sensor(sensor: SensorOptions, scene: Scene, said: str) -> Workload:
    beams = _beams(sensor)
    node = -1
    if sensor.node:
        named = any(one.name == sensor.node for one in scene.nodes)
        is_number = sensor.node.isdecimal() and not named
        node = node_of(scene, int(sensor.node) if is_number else sensor.node, f"node={sensor.node}")
        at = np.array(sensor.at or (0.0, 0.0, 0.0))
    elif sensor.at is not None:
        at = np.array(sensor.at) - np.array(scene.origin)
    else:
        at = (np.array(scene.lower, np.float64) + np.array(scene.upper, np.float64)) / 2.0
    origins: np.ndarray = np.tile(at.astype(np.float32), (len(beams), 1))
    rays = Rays(origins, np.ascontiguousarray(beams, np.float32), sensor.t_min, sensor.t_max, said)
    return rays if node < 0 else HungRays(scene, node, rays)


def _beams(sensor: SensorOptions) -> np.ndarray:
    """(N, 3) float64 unit directions in the sensor's axes."""
    if isinstance(sensor, LidarOptions):
        found = lidar(sensor.rows, sensor.columns, sensor.fov).beams.astype(np.float64)
    elif isinstance(sensor, DomeOptions):
        found = lidar(sensor.rows, sensor.columns, (0.0, 90.0)).beams.astype(np.float64)
    else:
        assert isinstance(sensor, CamerasOptions), "there are three kinds"
        one = pinhole(sensor.width, sensor.height, sensor.fov).beams.astype(np.float64)
        found = np.concatenate([one @ Y_UP @ _turned(360.0 * k / sensor.cameras).T for k in range(sensor.cameras)])
    turned: np.ndarray = found @ _turned(sensor.turn).T
    return turned @ Y_UP.T if sensor.up == "y" else turned


def _turned(degrees: float) -> np.ndarray:
    """The turn to the left by an angle, around z."""
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
