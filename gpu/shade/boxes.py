"""Boxes drawn over a finished picture, coloured by their depth in a tree, and lines of one colour: on request, after
the frame, on both targets."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..camera import CameraRow
from ..rows import Row, Vector
from ..target.base import Array, Target, UnitSource
from ..trace.trace import VIEW_FRAME
from .color_maps import color_map
from .film import Film

EDGES = 12
GREATEST_KEY = 255


@dataclasses.dataclass(frozen=True)
class BoxRow(Row):
    """The box of a node."""

    lower: Vector
    upper: Vector


@dataclasses.dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes by their corners (N, 3) float32 and their depths (N,). Colours run over depths 0 to `depth_count` - 1; of
    two lines in one pixel the shallower box is seen. `opacity` is 0 to 1."""

    lower: np.ndarray
    upper: np.ndarray
    depth: np.ndarray
    depth_count: int
    opacity: float = 0.8

    def keys(self) -> np.ndarray:
        """(N,) int32: 255 for depth 0, 254 for depth 1 and so on, 1 for all from 254 on."""
        return np.maximum(GREATEST_KEY - self.depth.astype(np.int64), 1).astype(np.int32)


@dataclasses.dataclass(frozen=True, eq=False)
class Lines:
    """Lines by their ends (L, 2, 3) float32, all of one sRGB `color` of bytes. `opacity` is 0 to 1. `in_pixels` ends
    are places of the picture, right and down of its corner, and 0."""

    ends: np.ndarray
    color: tuple[int, int, int] = (255, 255, 255)
    opacity: float = 0.8
    in_pixels: bool = False


def depth_colors(depth_count: int) -> np.ndarray:
    """(depth_count, 3) uint8 sRGB: red for the root, dark blue for the deepest."""
    places = np.linspace(255.0, 0.0, depth_count) if depth_count > 1 else np.full(depth_count, 255.0)
    return color_map("spectrum")[np.round(places).astype(int)]


class BoxPainter:
    """Keeps boxes or lines on the target while they stay the same."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._drawn: Boxes | Lines | None = None
        self._arrays: tuple[Array, ...] = ()
        self._flat: tuple[tuple[int, int], Array] | None = None

    def paint(self, image: Array, film: Film, drawn: Boxes | Lines) -> None:
        """Draw over `image`, which shows what the film shows. Launches only, but for what is new."""
        is_boxes = isinstance(drawn, Boxes)
        count = EDGES * len(drawn.depth) if isinstance(drawn, Boxes) else len(drawn.ends)
        if count == 0:
            return
        if drawn is not self._drawn:
            self._drawn = drawn
            self._arrays = self._upload(drawn) if isinstance(drawn, Boxes) else self._upload_lines(drawn)
        places, box_keys, colors = self._arrays
        target, pixel_count = self._target, film.width * film.height
        unit = target.unit(UnitSource("gpu/shade/boxes.cu"))
        keys = target.scratch("boxes.keys", pixel_count, np.uint32)
        target.fill(keys, 0)
        kernel = "draw_boxes" if is_boxes else "draw_lines"
        given = (
            {"boxes": places, "box_keys": box_keys, "edge_count": count}
            if is_boxes
            else {"ends": places, "line_count": count, "key": GREATEST_KEY}
        )
        in_pixels = isinstance(drawn, Lines) and drawn.in_pixels
        frame = self._flat_frame(film.width, film.height) if in_pixels else film.frame
        target.launch(unit, kernel, count, frame=frame, keys=keys, **given)
        target.launch(unit, "blend_boxes", pixel_count, pixel_count=pixel_count, keys=keys, colors=colors, image=image)

    def _flat_frame(self, width: int, height: int) -> Array:
        """A picture from straight ahead, a pixel of it a step of the world: what a clipping plane or a lens does to the
        scene's is nothing to lines of pixels."""
        if self._flat is None or self._flat[0] != (width, height):
            frame = np.zeros((), VIEW_FRAME)
            middle, ahead = (width / 2, height / 2, 0.0), (0.0, 0.0, 1.0)
            row = CameraRow(middle, True, ahead, 0.0, (float(width), 0.0, 0.0), 0.0, (0.0, float(height), 0.0))
            frame["camera"], frame["width"], frame["height"] = row.numbers(), width, height
            self._flat = (width, height), self._target.upload(frame.reshape(1).view(np.uint8), "boxes")
        return self._flat[1]

    def _upload(self, boxes: Boxes) -> tuple[Array, ...]:
        corners = np.concatenate([boxes.lower, boxes.upper], axis=1).astype(np.float32)
        colors = np.zeros((GREATEST_KEY + 1, 4), np.uint8)
        used = min(boxes.depth_count, GREATEST_KEY)
        colors[GREATEST_KEY - np.arange(used), :3] = depth_colors(boxes.depth_count)[:used]
        colors[:, 3] = round(255.0 * boxes.opacity)
        return tuple(self._target.upload(values, "boxes") for values in (corners, boxes.keys(), colors))

    def _upload_lines(self, lines: Lines) -> tuple[Array, ...]:
        colors = np.zeros((GREATEST_KEY + 1, 4), np.uint8)
        colors[GREATEST_KEY] = (*lines.color, round(255.0 * lines.opacity))
        ends = np.ascontiguousarray(lines.ends, np.float32).reshape(-1, 6)
        return self._target.upload(ends, "boxes"), None, self._target.upload(colors, "boxes")
