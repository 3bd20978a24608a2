"""Boxes drawn over a finished picture, coloured by their depth in a tree: on request, after the frame, on both targets."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..target.base import Array, Target, UnitSource
from .color_maps import color_map
from .film import Film

EDGES = 12
GREATEST_KEY = 255


@dataclasses.dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes by their corners (N, 3) float32 and their depths (N,). Colours run over depths 0 to `depth_count` - 1; of two lines in one pixel the
    shallower box is seen. `opacity` is 0 to 1."""

    lower: np.ndarray
    upper: np.ndarray
    depth: np.ndarray
    depth_count: int
    opacity: float = 0.8

    def keys(self) -> np.ndarray:
        """(N,) int32: 255 for depth 0, 254 for depth 1 and so on, 1 for all from 254 on."""
        return np.maximum(GREATEST_KEY - self.depth.astype(np.int64), 1).astype(np.int32)


def depth_colors(depth_count: int) -> np.ndarray:
    """(depth_count, 3) uint8 sRGB: red for the root, dark blue for the deepest."""
    places = np.linspace(255.0, 0.0, depth_count) if depth_count > 1 else np.full(depth_count, 255.0)
    return color_map("spectrum")[np.round(places).astype(int)]


class BoxPainter:
    """Keeps the boxes on the target while they stay the same."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._boxes: Boxes | None = None
        self._arrays: tuple[Array, ...] = ()

    def paint(self, image: Array, film: Film, boxes: Boxes) -> None:
        """Draw over `image`, which shows what the film shows. Launches only, but for boxes that are new."""
        if len(boxes.depth) == 0:
            return
        if boxes is not self._boxes:
            self._boxes, self._arrays = boxes, self._upload(boxes)
        corners, box_keys, colors = self._arrays
        target, edge_count, pixel_count = self._target, EDGES * len(boxes.depth), film.width * film.height
        unit = target.unit(UnitSource("gpu/shade/boxes.cu"))
        keys = target.scratch("boxes.keys", pixel_count, np.uint32)
        target.fill(keys, 0)
        target.launch(unit, "draw_boxes", edge_count, film.frame, corners, box_keys, edge_count, keys)
        target.launch(unit, "blend_boxes", pixel_count, pixel_count, keys, colors, image)

    def _upload(self, boxes: Boxes) -> tuple[Array, ...]:
        corners = np.concatenate([boxes.lower, boxes.upper], axis=1).astype(np.float32)
        colors = np.zeros((GREATEST_KEY + 1, 4), np.uint8)
        used = min(boxes.depth_count, GREATEST_KEY)
        colors[GREATEST_KEY - np.arange(used), :3] = depth_colors(boxes.depth_count)[:used]
        colors[:, 3] = round(255.0 * boxes.opacity)
        return tuple(self._target.upload(values, "boxes") for values in (corners, boxes.keys(), colors))
