"""Golden pictures of the built-in scenes: how they are drawn, kept and compared.

The references are made by the host target without multiply-add contraction:

    python -m tests.images.pictures

writes them anew. Do that only when a change is meant to alter pictures, and look at what it alters: differences are
written beside them.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator

import numpy as np

from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target, TargetOptions

FOLDER = pathlib.Path(__file__).with_name("references")
SCENES = ("orbit", "explode", "walker", "cloth", "blob", "room")
RAY_TYPES = ("flat", "smooth", "steps")
SIZE = (160, 120)
TRIANGLES, SEED, TIME = 8000, 1, 0.9

LEVELS = 2
"""Of 255: how far a channel may be off without contraction."""
SHARE = 1e-4
"""Of the pixels: how many may be further off with contraction."""


def draw(target: Target, scene_name: str) -> dict[str, np.ndarray]:
    """(height, width, 3) uint8 per ray type."""
    scene = make_demo(scene_name, TRIANGLES, SEED)
    camera = Camera(eye=scene.eye or (0.0, 0.0, 5.0), look_at=scene.look_at or (0.0, 0.0, 0.0))
    views = [
        View(ViewSettings(layout="bvh2", ray_type=name), camera, ArrayPixels(target, *SIZE), name) for name in RAY_TYPES
    ]
    with contextlib.closing(Engine(target, scene)) as engine:
        engine.render_frame(Moment(TIME), views)
        engine.flush()
    return {view.name: target_pixels(view) for view in views}


def target_pixels(view: View) -> np.ndarray:
    """A view's picture without alpha."""
    assert isinstance(view.pixels, ArrayPixels)
    return view.pixels.download()[..., :3].copy()


def reference(scene_name: str) -> dict[str, np.ndarray]:
    """The kept pictures of a scene."""
    with np.load(FOLDER / f"{scene_name}.npz") as kept:
        return {name: kept[name] for name in RAY_TYPES}


def all_references() -> Iterator[tuple[str, np.ndarray]]:
    """Every kept picture with its name."""
    for scene_name in SCENES:
        for name, image in reference(scene_name).items():
            yield f"{scene_name} {name}", image


def pixels_beyond(image: np.ndarray, wanted: np.ndarray, levels: int = LEVELS) -> int:
    """Pixels with a channel further off than `levels`."""
    return int(np.sum(np.max(np.abs(image.astype(np.int16) - wanted), axis=-1) > levels))


def main() -> None:
    """Write all references; say which changed."""
    from raygrove.gpu.target.host import HostTarget

    FOLDER.mkdir(exist_ok=True)
    with contextlib.closing(HostTarget(TargetOptions(contraction=False))) as target:
        for scene_name in SCENES:
            path, images = FOLDER / f"{scene_name}.npz", draw(target, scene_name)
            before = reference(scene_name) if path.exists() else {}
            np.savez_compressed(path, **images)  # type: ignore[arg-type]
            changes = {name: pixels_beyond(image, before[name], 0) for name, image in images.items() if name in before}
            print(scene_name, "pixels changed:", changes or "new")


if __name__ == "__main__":
    main()
