"""The boxes of primitives, on the host."""

from __future__ import annotations

import numpy as np

from ....target.base import Target
from ...base import Primitives
from ...primitives import unit_source


def read_boxes(target: Target, primitives: Primitives) -> np.ndarray:
    """Of all primitives, (N, 6) float32: lower and upper corner. Waits for the target."""
    if primitives.count == 0:
        return np.zeros((0, 6), np.float32)
    unit = target.unit(unit_source("gpu/hierarchy/bvh/own/bounds.cu", primitives))
    bounds = target.scratch("own.bounds", (primitives.count, 6), np.float32)
    target.launch(unit, "write_bounds", primitives.count, primitives=primitives.view, bounds=bounds)
    return target.download(bounds)


def read_numbered_boxes(target: Target, primitives: Primitives) -> np.ndarray:
    """The same in the order of the numbers that hits and references have: those of the scene, where triangles lie in
    another order. Of all triangles of a scene, none left out."""
    boxes = read_boxes(target, primitives)
    if primitives.scene_ids is None:
        return boxes
    numbered = np.empty_like(boxes)
    numbered[target.download(primitives.scene_ids)] = boxes
    return numbered
