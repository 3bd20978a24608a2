"""The noise of paths, and what the filter takes away.

Two scenes: files (or the built-in room) that rest, under a sun where they have no light, and `orbit`, moving. Mean
squared errors of one sample per pixel, plain and filtered, against a picture of many samples: in linear light, and as
shown, clipped to white. And what a frame takes, by either strategy and by the filter.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from raygrove.app.scene_io import load
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.camera import Camera, fit
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Light, Moment, Scene
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.target.base import Target

from ..arguments import DEVICE, EYE, FILES, LOOK_AT, OUT, argument, check_view, chosen, size, size_of
from ..context import context
from ..measure import median
from ..saved import keep
from ..table import aligned

SUN = Light("directional", (6.0, 5.5, 5.0), direction=(0.25, -1.0, 0.15))
STILL_FRAMES, MOVING_FRAMES, TIMED_FRAMES = 8, 12, 12
STEP = 1.0 / 60.0
PLAIN, SMOOTH = PathOptions(), PathOptions(filtered=True)


@dataclasses.dataclass(frozen=True)
class Played:
    """Pictures (height, width, 3) in linear light, one per frame, and the medians of the frames' phases in
    milliseconds."""

    pictures: list[np.ndarray]
    phases_ms: dict[str, float]
    frame_ms: float


def play(
    target: Target,
    scene: Scene,
    settings: ViewSettings,
    camera: Camera,
    size: tuple[int, int],
    times: Sequence[float],
    keep: set[int],
) -> Played:
    """Frames one after the other; the pictures of those in `keep`. The first three, which fill caches, are not
    timed."""
    view = View(settings, camera, ArrayPixels(target, *size))
    pictures, phases, spans = [], [], []
    with contextlib.closing(Engine(target, scene)) as engine:
        for index, time in enumerate(times):
            engine.render_frame(Moment(time, 0, index), [view])
            if index in keep:
                engine.flush()
                pictures.append(engine.linear(view))
            elif index >= 3 and len(times) <= TIMED_FRAMES:
                done = engine.flush()
                phases.append(done.views[0].phases_ms)
                spans.append(done.frame_ms)
    names = {name for one in phases for name in one}
    return Played(
        pictures,
        {name: median([one.get(name, 0.0) for one in phases]) for name in sorted(names)},
        median(spans) if spans else 0.0,
    )


def errors(
    target: Target, scene: Scene, camera: Camera, size: tuple[int, int], samples: int, moves: bool, hierarchy: str
) -> list[dict[str, Any]]:
    """A row for linear light and one for what is shown."""
    count = MOVING_FRAMES if moves else STILL_FRAMES
    times = [0.5 + index * STEP if moves else 0.0 for index in range(count)]
    ends = {0, count - 1}

    def settings(options: PathOptions, wanted: int, seed: int = 0) -> ViewSettings:
        return ViewSettings(hierarchy, ray_type="path", ray_type_options=options, samples=wanted, seed=seed)

    plain = play(target, scene, settings(PLAIN, 1), camera, size, times, ends).pictures
    smooth = play(target, scene, settings(SMOOTH, 1 if moves else count), camera, size, times, ends).pictures
    wanted = play(
        target, scene, settings(PLAIN, samples, 7), camera, size, [times[-1]] * samples, {samples - 1}
    ).pictures[0]
    rows = []
    for light in ("linear", "shown"):
        off = [
            float(((seen(image, light) - seen(wanted, light)) ** 2).mean())
            for image in (plain[-1], smooth[0], smooth[-1])
        ]
        row = {
            "scene": scene.name,
            "moves": moves,
            "light": light,
            "plain": off[0],
            "first_frame": None if moves else off[1],
            "filtered": off[2],
        }
        rows.append({**row, "less_at_once": None if moves else off[0] / off[1], "less": off[0] / off[2]})
    return rows


def seen(image: np.ndarray, light: str) -> np.ndarray:
    """The picture in linear light, or clipped to what can be shown."""
    return image if light == "linear" else np.clip(image, 0.0, 1.0)


def times_of(
    target: Target, scene: Scene, camera: Camera, size: tuple[int, int], hierarchy: str
) -> list[dict[str, Any]]:
    """What a frame of one sample takes, a row a strategy, filtered."""
    rows = []
    for strategy in ("megakernel", "wavefront"):
        options = dataclasses.replace(SMOOTH, strategy=strategy)
        settings = ViewSettings(hierarchy, ray_type="path", ray_type_options=options, samples=1 << 20)
        played = play(target, scene, settings, camera, size, [0.0] * TIMED_FRAMES, set())
        smoothing = played.phases_ms.get("shade.filter", 0.0)
        rows.append(
            {
                "scene": scene.name,
                "strategy": strategy,
                "frame_ms": played.frame_ms - smoothing,
                "filter_ms": smoothing,
            }
        )
    return rows


def table(found: dict[str, Any]) -> str:
    """For people."""
    heads = ("scene", "light", "one sample", "filtered at once", "filtered", "less at once", "less")
    names = ("scene", "light", "plain", "first_frame", "filtered", "less_at_once", "less")
    cells = [
        tuple(
            "" if row[name] is None else f"{row[name]:.5g}" if isinstance(row[name], float) else row[name]
            for name in names
        )
        for row in found["errors"]
    ]
    speed = [(row["scene"], row["strategy"], row["frame_ms"], row["filter_ms"]) for row in found["times"]]
    return aligned(heads, cells) + "\n\n" + aligned(("scene", "strategy", "frame ms", "filter ms"), speed)


ARGUMENTS = (
    FILES,
    DEVICE,
    argument("--hierarchy", default="lbvh"),
    size("640x360", "the pictures whose error is measured"),
    argument("--timed-size", type=size_of, default="1920x1080", metavar="WxH", help="pixels of those whose time is"),
    argument("--samples", type=int, default=4096, help="of the picture that others are compared with"),
    argument("--triangles", type=int, default=0, help="of the built-in scenes; 0: their own number"),
    EYE,
    LOOK_AT,
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, and keep where asked for."""
    check_view(names)
    still = load([pathlib.Path(file) for file in names.files]) if names.files else make_demo("room", names.triangles)
    if not still.lights:
        still = dataclasses.replace(still, lights=(SUN,))
    camera = (
        Camera(eye=still.eye, look_at=still.look_at) if still.eye and still.look_at else fit(still.lower, still.upper)
    )
    if names.eye is not None:
        camera = Camera(eye=names.eye, look_at=names.look_at, fov=60.0)
    orbit = make_demo("orbit", names.triangles)
    around = Camera(eye=orbit.eye or (0.0, 0.0, 5.0), look_at=orbit.look_at or (0.0, 0.0, 0.0))
    with chosen(names.device) as target:
        found: dict[str, Any] = {"context": context(target, command=names.command), "errors": [], "times": []}
        for scene, view, moves in ((still, camera, False), (orbit, around, True)):
            found["errors"] += errors(target, scene, view, names.size, names.samples, moves, names.hierarchy)
        found["times"] += times_of(target, still, camera, names.timed_size, names.hierarchy)
    print(text := table(found))
    keep(names.out, found, text)
    return 0
