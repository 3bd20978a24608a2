"""What a tree is asked by: a RaySet, the rays of sensors, or origins and directions."""

from __future__ import annotations

from typing import Any

from ..errors import Error
from .rays import RaySet
from .sensors import Sensor, SensorRays

Rays = RaySet | SensorRays


def asked_rays(rays: Any, directions: Any, t_min: Any, t_max: Any) -> Rays:
    """The rays that a call was given. Error where they are none."""
    if isinstance(rays, Rays):
        if directions is not None:
            raise Error("a RaySet has its directions already", remedy="give the rays alone")
        return rays
    if isinstance(rays, Sensor):
        raise Error("a sensor has no place yet", remedy="trace sensor.rays(poses), with poses (P, 3, 4)")
    if directions is None:
        raise Error("origins need directions", remedy="give a rg.RaySet, or origins and directions")
    return RaySet(rays, directions, t_min, t_max)
