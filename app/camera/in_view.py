"""Whether a camera sees any of a box."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from raygrove.gpu.camera import Camera


def sees_box(camera: Camera, lower: Sequence[float], upper: Sequence[float], aspect: float) -> bool:
    """Whether something in the box may be in the picture, which is `aspect` times as wide as high: False is certain, as
    the whole box lies outside of one side of what is seen, before `near` or behind `far`."""
    corners = np.array(list(itertools.product(*zip(lower, upper, strict=True))), np.float64)
    right, up, forward = camera.basis()
    seen = (corners - np.asarray(camera.eye, np.float64)) @ np.stack([right, up, forward], axis=1)
    across, over, ahead = seen.T
    if camera.orthographic:
        half = np.full(len(ahead), camera.height / 2.0)
    else:
        half = ahead * math.tan(math.radians(camera.fov) / 2.0)
    wide = half * aspect
    outside = [across > wide, across < -wide, over > half, over < -half, ahead <= camera.near]
    if camera.far > 0.0:
        outside.append(ahead >= camera.far)
    return not any(bool(side.all()) for side in outside)
