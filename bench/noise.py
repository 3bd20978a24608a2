"""The noise of paths, and what the filter takes away: `python -m bench.noise [FILE ...] [--target NAME] [--size WxH] [--samples N] [--out NAME]`.

Two scenes: files (or the built-in room) that rest, under a sun where they have no light, and `orbit`, moving. Mean squared errors of one sample a
pixel, plain and filtered, against a picture of many samples: in linear light, and as shown, clipped to white. And what a frame takes, by either
organisation and by the filter.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from app.scene_io import load
from app.scene_io.demos import make_demo
from gpu.camera import Camera, fit
from gpu.engine import Engine, View, ViewSettings
from gpu.pixels import ArrayPixels
from gpu.scene import Light, Moment, Scene
from gpu.shade.path import PathOptions
from gpu.target import choose
from gpu.target.base import Target

from .context import context
from .measure import median
from .table import aligned

SUN = Light("directional", (6.0, 5.5, 5.0), direction=(0.25, -1.0, 0.15))
STILL_FRAMES, MOVING_FRAMES, TIMED_FRAMES = 8, 12, 12
STEP = 1.0 / 60.0
PLAIN, SMOOTH = PathOptions(), PathOptions(filtered=True)


@dataclasses.dataclass(frozen=True)
class Played:
    """Pictures (height, width, 3) in linear light, one a frame, and the medians of the frames' phases in milliseconds."""

    pictures: list[np.ndarray]
    phases_ms: dict[str, float]
    frame_ms: float


def play(
    target: Target, scene: Scene, settings: ViewSettings, camera: Camera, size: tuple[int, int], times: Sequence[float], keep: set[int]
) -> Played:
    """Frames one after the other; the pictures of those in `keep`. The first three, which fill caches, are not timed."""
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
    return Played(pictures, {name: median([one.get(name, 0.0) for one in phases]) for name in sorted(names)}, median(spans) if spans else 0.0)


def errors(target: Target, scene: Scene, camera: Camera, size: tuple[int, int], samples: int, moves: bool, hierarchy: str) -> list[dict[str, Any]]:
    """A row for linear light and one for what is shown."""
    count = MOVING_FRAMES if moves else STILL_FRAMES
    times = [0.5 + index * STEP if moves else 0.0 for index in range(count)]
    ends = {0, count - 1}

    def settings(options: PathOptions, wanted: int, seed: int = 0) -> ViewSettings:
        return ViewSettings(hierarchy, ray_type="path", ray_type_options=options, samples=wanted, seed=seed)

    plain = play(target, scene, settings(PLAIN, 1), camera, size, times, ends).pictures
    smooth = play(target, scene, settings(SMOOTH, 1 if moves else count), camera, size, times, ends).pictures
    wanted = play(target, scene, settings(PLAIN, samples, 7), camera, size, [times[-1]] * samples, {samples - 1}).pictures[0]
    rows = []
    for light in ("linear", "shown"):
        off = [float(((seen(image, light) - seen(wanted, light)) ** 2).mean()) for image in (plain[-1], smooth[0], smooth[-1])]
        row = {"scene": scene.name, "moves": moves, "light": light, "plain": off[0], "first_frame": None if moves else off[1], "filtered": off[2]}
        rows.append({**row, "less_at_once": None if moves else off[0] / off[1], "less": off[0] / off[2]})
    return rows


def seen(image: np.ndarray, light: str) -> np.ndarray:
    """The picture in linear light, or clipped to what can be shown."""
    return image if light == "linear" else np.clip(image, 0.0, 1.0)


def times_of(target: Target, scene: Scene, camera: Camera, size: tuple[int, int], hierarchy: str) -> list[dict[str, Any]]:
    """What a frame of one sample takes, a row an organisation, filtered."""
    rows = []
    for organisation in ("megakernel", "wavefront"):
        options = dataclasses.replace(SMOOTH, organisation=organisation)
        settings = ViewSettings(hierarchy, ray_type="path", ray_type_options=options, samples=1 << 20)
        played = play(target, scene, settings, camera, size, [0.0] * TIMED_FRAMES, set())
        smoothing = played.phases_ms.get("shade.filter", 0.0)
        rows.append({"scene": scene.name, "organisation": organisation, "frame_ms": played.frame_ms - smoothing, "filter_ms": smoothing})
    return rows


def table(found: dict[str, Any]) -> str:
    """For people."""
    heads = ("scene", "light", "one sample", "filtered at once", "filtered", "less at once", "less")
    names = ("scene", "light", "plain", "first_frame", "filtered", "less_at_once", "less")
    cells = [
        tuple("" if row[name] is None else f"{row[name]:.5g}" if isinstance(row[name], float) else row[name] for name in names)
        for row in found["errors"]
    ]
    speed = [(row["scene"], row["organisation"], row["frame_ms"], row["filter_ms"]) for row in found["times"]]
    return aligned(heads, cells) + "\n\n" + aligned(("scene", "organisation", "frame ms", "filter ms"), speed)


def main(arguments: list[str] | None = None) -> int:
    """The script."""
    parser = argparse.ArgumentParser(prog="python -m bench.noise", description="Measure the noise of paths and their filter.")
    parser.add_argument("files", nargs="*", help="a scene that rests; none: the built-in room")
    parser.add_argument("--target", default="auto", help="auto, host, cuda or cuda:N")
    parser.add_argument("--hierarchy", default="lbvh")
    parser.add_argument("--size", default="640x360", help="of the pictures whose error is measured")
    parser.add_argument("--timed-size", default="1920x1080", help="of those whose time is")
    parser.add_argument("--samples", type=int, default=4096, help="of the picture that others are compared with")
    parser.add_argument("--triangles", type=int, default=0, help="of the built-in scenes; 0: their own number")
    parser.add_argument("--eye", default="", help="X,Y,Z for the files")
    parser.add_argument("--look-at", default="")
    parser.add_argument("--out", help="writes NAME.json and NAME.txt")
    asked = parser.parse_args(arguments)
    size, timed = (tuple(int(part) for part in text.split("x")) for text in (asked.size, asked.timed_size))
    still = load([pathlib.Path(file) for file in asked.files]) if asked.files else make_demo("room", asked.triangles)
    if not still.lights:
        still = dataclasses.replace(still, lights=(SUN,))
    camera = Camera(eye=still.eye, look_at=still.look_at) if still.eye and still.look_at else fit(still.lower, still.upper)
    if asked.eye and asked.look_at:
        eye, look_at = (tuple(float(part) for part in text.split(",")) for text in (asked.eye, asked.look_at))
        camera = Camera(eye=eye, look_at=look_at, fov=60.0)  # type: ignore[arg-type]
    orbit = make_demo("orbit", asked.triangles)
    around = Camera(eye=orbit.eye or (0.0, 0.0, 5.0), look_at=orbit.look_at or (0.0, 0.0, 0.0))
    with contextlib.closing(choose(asked.target)) as target:
        found = {"context": context(target), "errors": [], "times": []}
        for scene, view, moves in ((still, camera, False), (orbit, around, True)):
            found["errors"] += errors(target, scene, view, size, asked.samples, moves, asked.hierarchy)  # type: ignore[arg-type, operator]
        found["times"] += times_of(target, still, camera, timed, asked.hierarchy)  # type: ignore[arg-type, operator]
    print(table(found))
    if asked.out:
        pathlib.Path(asked.out + ".json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        pathlib.Path(asked.out + ".txt").write_text(table(found) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
