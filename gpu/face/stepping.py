"""One ray of a caller's, followed through the tree that it is traced by."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.ray_log import RayLog, record_ray
from ..brief import filled
from ..errors import Error
from ..hierarchy.base import Hierarchy
from ..target.base import Target
from ..target.foreign import on_host
from ..trace.trace import Tracer, upload_rays
from .rays import RaySet
from .world import World


def step_through(target: Target, hierarchy: Hierarchy, world: World | None, ray: Any, kind: str) -> RayLog:
    """See Structure.step."""
    if not isinstance(ray, RaySet) or len(ray) != 1:
        what = filled("{count} rays", count=len(ray)) if isinstance(ray, RaySet) else type(ray).__name__
        raise Error(f"one ray is stepped through, not {what}", remedy="give one of a RaySet, as rays[7]")
    if kind not in ("closest", "any"):
        raise Error(f"a ray finds the closest hit or any, not {kind!r}", remedy='give kind="closest" or kind="any"')
    if world is not None and (world.has_groups or world.has_masks):
        raise Error(
            "rays that meet some objects alone, by groups or masks, are not stepped through yet",
            remedy="build a scene without groups and masks",
        )
    columns = {name: np.asarray(on_host(getattr(ray, name), name)) for name in ("origins", "directions")}
    ends = (float(np.ravel(on_host(getattr(ray, name), name))[0]) for name in ("t_min", "t_max"))
    rays = upload_rays(target, *(rows.reshape(1, 3) for rows in columns.values()), *ends)
    return record_ray(Tracer(target, hierarchy.traversal()), rays, kind)
