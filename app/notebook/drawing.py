"""The engine behind a notebook's viewer: messages of the page in, pictures and statistics out. It knows no widget.

A message is a dictionary from a web page and trusted as little: numbers are brought into range, names are looked up,
and what is wrong becomes a sentence beside the picture.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from raygrove.app.camera import moves
from raygrove.app.export.images import encoded
from raygrove.app.live.viewer import parts_of, world
from raygrove.app.scene_io import SceneError, load
from raygrove.app.scene_io.demos import ALL_DEMOS, make_demo
from raygrove.gpu.camera import Camera, fit
from raygrove.gpu.engine import Engine
from raygrove.gpu.errors import Error
from raygrove.gpu.face.clips import Clip
from raygrove.gpu.face.devices import device_of
from raygrove.gpu.face.races import entry_of
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.shade.registry import UnknownRayTypeError, ray_type
from raygrove.gpu.stats import FrameStatistics
from raygrove.gpu.view import View, ViewSettings

MOST_TRIES = 8
"""How often a frame is drawn again that had too little room."""
MOST_SIDE = 4096


class Drawing:
    """A scene, a structure over it, a camera and a ray type; `answer` takes what a page asks for.

    Raises Error for a structure, ray type, size or device that there is not."""

    def __init__(
        self, scene: Any, tree: Any, size: tuple[int, int], ray_type_name: str, device: str, camera: Camera | None
    ) -> None:
        self.scene = plain_of(scene)
        self._check(size)
        self.width, self.height = int(size[0]), int(size[1])
        self.first = camera or fit(self.scene.lower, self.scene.upper, aspect=self.width / self.height)
        self.camera, self.time = self.first, 0.0
        self._device = device_of(device)
        self._engine: Engine | None = None
        self._pixels: dict[bool, ArrayPixels] = {}
        self.take(str(getattr(tree, "configuration", tree)), ray_type_name)

    def take(self, configuration: str, ray_type_name: str) -> None:
        """Draw by another structure and ray type from now on. Raises Error, and then nothing has changed."""
        try:
            ray_type(ray_type_name)
        except UnknownRayTypeError as error:
            raise Error(str(error).rstrip("."), "NotebookViewer") from error
        settings = entry_of(configuration, ViewSettings(ray_type=ray_type_name)).settings
        self.settings, self.configuration = settings, configuration

    @staticmethod
    def _check(size: tuple[int, int]) -> None:
        is_pair = isinstance(size, tuple | list) and len(size) == 2
        if not is_pair or not all(isinstance(side, int | np.integer) and 1 <= side <= MOST_SIDE for side in size):
            raise Error(f"a size is (width, height), each from 1 to {MOST_SIDE} pixels; it is {size}", "NotebookViewer")

    @property
    def device_name(self) -> str:
        """Where it is drawn."""
        return self._device.target.name

    def picture(self, is_moving: bool = False) -> tuple[np.ndarray, FrameStatistics]:
        """The picture (H, W, 3) uint8 as it is now, at half the size while it moves, and what it cost."""
        with self._device.used("NotebookViewer") as target:
            if self._engine is None:
                self._engine = Engine(target, self.scene)
            if is_moving not in self._pixels:
                part = 2 if is_moving else 1
                sides = (max(side // part, 1) for side in (self.width, self.height))
                self._pixels[is_moving] = ArrayPixels(target, *sides)
            pixels = self._pixels[is_moving]
            view = View(self.settings, self.camera, pixels)
            for _ in range(MOST_TRIES):
                self._engine.render_frame(Moment(self.time), [view])
                statistics = self._engine.flush()
                if not statistics.is_behind:
                    break
            return pixels.download()[..., :3], statistics

    def answer(self, message: Any) -> tuple[dict[str, Any], bytes]:
        """What a page's message leads to: a picture as JPEG and what is told beside it."""
        said = ""
        message = message if isinstance(message, Mapping) else {}
        try:
            self._obey(message)
        except Error as error:
            said = str(error)
        is_moving = message.get("moving") is True
        pixels, statistics = self.picture(is_moving)
        reply = {
            "kind": "picture",
            "statistics": [list(row) for row in self.rows(statistics)],
            "said": said or " ".join(statistics.views[0].notices),
            "structure": self.configuration,
            "ray_type": self.settings.ray_type,
            "moving": is_moving,
        }
        return reply, encoded(pixels, "JPEG")

    def _obey(self, message: Mapping[str, Any]) -> None:
        kind = message.get("kind")
        across, down, notches = (_number(message.get(key), 4.0) for key in ("across", "down", "notches"))
        if kind == "orbit":
            self.camera = moves.orbit(self.camera, across, down)
        elif kind == "pan":
            self.camera = moves.pan(self.camera, across, down)
        elif kind == "zoom":
            self.camera = moves.dolly(self.camera, notches)
        elif kind == "reset":
            self.camera = self.first
        elif kind == "time":
            self.time = min(max(_number(message.get("time"), math.inf), 0.0), self.scene.duration())
        elif kind == "choose":
            self.take(
                str(message.get("structure", self.configuration)),
                str(message.get("ray_type", self.settings.ray_type)),
            )

    def rows(self, statistics: FrameStatistics) -> list[tuple[str, str]]:
        """What a picture cost, in words: names and values."""
        view = statistics.views[0]
        update = view.build_ms + view.refit_ms
        found = [
            ("device", self._device.target.device_name),
            ("primitives", f"{self.scene.primitive_count:,}"),
            ("nodes", f"{view.structure.node_count:,}"),
            ("update", f"{view.update}, {update:.2f} ms"),
            ("trace", f"{view.trace_ms:.2f} ms, {view.mrays_per_s:.1f} Mrays/s"),
            ("shade", f"{view.shade_ms:.2f} ms"),
        ]
        cost = view.structure.sah_cost
        return found + ([("SAH cost", f"{cost:.2f}")] if cost is not None else [])

    def close(self) -> None:
        """Give back the device's memory; harmless the second time."""
        if self._engine is not None:
            with contextlib.suppress(Error):
                self._engine.close()
        self._engine, self._pixels = None, {}


def plain_of(scene: Any) -> Scene:
    """A scene as plain values: of a built-in scene's name, a file, a clip, meshes, or (vertices, triangles). Raises
    Error where it is none of these."""
    if isinstance(scene, Scene):
        return scene
    if isinstance(scene, Clip):
        return scene.to_plain()
    if isinstance(scene, str):
        try:
            return make_demo(scene) if scene in {info.name for info in ALL_DEMOS} else load(scene)
        except SceneError as error:
            raise Error(str(error).rstrip("."), "NotebookViewer", "give a file or a built-in scene's name") from error
    parts, frames = parts_of(scene)
    if len(frames):
        return Clip(frames, parts[0].triangles).to_plain()
    firsts = np.cumsum([0, *(len(part.vertices) for part in parts for _ in part.transforms)])
    corners = [part.triangles for part in parts for _ in part.transforms]
    triangles = np.concatenate([found + first for found, first in zip(corners, firsts, strict=False)])
    return Clip(world(parts)[None], triangles.astype(np.int32)).to_plain()


def turned(drawing: Drawing, count: int) -> list[np.ndarray]:
    """Pictures from all around, the camera where it is first."""
    kept, found = drawing.camera, []
    for number in range(count):
        drawing.camera = moves.orbit(kept, 2.0 * number / count, 0.0)
        found.append(drawing.picture()[0])
    drawing.camera = kept
    return found


def _number(value: Any, largest: float) -> float:
    """A number of a message within a range; 0 where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return min(max(float(value), -largest), largest)
