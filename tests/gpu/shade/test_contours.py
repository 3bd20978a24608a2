"""Silhouettes and halos against an oracle in float64 that reads the picture's depths; floors stay clean, and what rests
is not traced again."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.clip import ClipOptions
from raygrove.gpu.contours import ContourOptions
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Material, Moment, Object, Scene, Spheres
from raygrove.gpu.shade import contours, srgb
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import CameraRays, HitBuffer

from .pictures import mesh_of

WIDTH, HEIGHT = 61, 43
CAMERA = Camera((0.0, 0.4, 6.0), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), 40.0)


def scene() -> Scene:
    """Spheres before one another, over a floor that goes far back."""
    random = np.random.default_rng(3)
    centres = random.uniform(-1.2, 1.2, (40, 3)).astype(np.float32)
    spheres = Spheres("some", centres, random.uniform(0.1, 0.3, 40).astype(np.float32))
    floor = mesh_of([[-9, -1.5, 9], [9, -1.5, 9], [9, -1.5, -30], [-9, -1.5, -30]], [[0, 1, 2], [0, 2, 3]])
    return Scene("some", meshes=(floor,), objects=(Object(0, 0), Object(0, spheres=0)), spheres=(spheres,),
                 materials=(Material(),))  # fmt: skip


def less(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Of two differences the smaller one; of the picture's edge the other."""
    chosen = np.where(np.abs(before) < np.abs(after), before, after)
    return np.where(np.isnan(before), after, np.where(np.isnan(after), before, chosen))


def covered(depth: np.ndarray, reach: int, every: int, full: float, fades: bool) -> np.ndarray:
    """How much each pixel is covered, neighbour by neighbour in shifted pictures."""
    near, (height, width) = 1.0 / depth, depth.shape
    most, far = np.zeros_like(near), reach // every * every
    padded = np.pad(near, far + 1, constant_values=np.nan)

    def shifted(dx: int, dy: int) -> np.ndarray:
        return padded[far + 1 + dy :, far + 1 + dx :][:height, :width]

    across = less(near - shifted(-1, 0), shifted(1, 0) - near)
    down = less(near - shifted(0, -1), shifted(0, 1) - near)
    for dy in range(-far, far + 1, every):
        for dx in range(-far, far + 1, every):
            length = np.hypot(dx, dy)
            if length == 0.0 or length > reach:
                continue
            other, plane = shifted(dx, dy), np.maximum(near + across * dx + down * dy, near)
            is_there = other > 0.0
            step = np.where(
                near > 0.0, 1.0 / np.where(plane > 0, plane, 1.0) - 1.0 / np.where(is_there, other, 1), full
            )
            share = np.where(is_there, np.clip(step / full, 0.0, 1.0), 0.0)
            most = np.maximum(most, share * (1.0 - length / (reach + 1) if fades else 1.0))
    return most


@pytest.fixture(scope="module")
def made() -> Scene:
    return scene()


@pytest.mark.parametrize(
    "options",
    [
        ContourOptions(silhouettes=True, strength=1.0),
        ContourOptions(silhouettes=True, width=3, step=0.02, color=(1.0, 0.5, 0.0)),
        ContourOptions(halos=True, radius=3, depth=0.02),
        ContourOptions(silhouettes=True, halos=True, radius=14, strength=0.5),
    ],
)
def test_pictures_are_those_of_the_oracle(target: Target, made: Scene, options: ContourOptions) -> None:
    picture = ArrayPixels(target, WIDTH, HEIGHT)
    clip = ClipOptions(on=options.width == 3, axis="z", position=0.9)
    view = View(ViewSettings(ray_type="flat", samples=2, clip=clip), CAMERA, picture)
    diagonal = float(np.linalg.norm(np.subtract(made.upper, made.lower)))
    with Engine(target, made) as engine:
        for _ in range(2):
            engine.render_frame(Moment(), [view])
        plain = picture.download().astype(np.float64)
        engine.paint_contours(view, options)
        found = picture.download().astype(np.float64)
        seen = engine.buffers(view)["depth"].astype(np.float64)
    share = np.zeros_like(seen)
    if options.silhouettes:
        share = covered(seen, options.width, 1, options.step * diagonal, False)
    if options.halos:
        every = -(-options.radius // 6)
        share = np.maximum(share, covered(seen, options.radius, every, options.depth * diagonal, True))
    color = 255.0 * srgb.encode(np.array(options.color))
    wanted = plain[..., :3] + (color - plain[..., :3]) * (options.strength * share)[..., None]
    np.testing.assert_allclose(found[..., :3], wanted, atol=1.6)
    assert (found[..., 3] == 255).all() and 0.02 < (share > 0.5).mean() < 0.7


def test_a_floor_is_no_step(target: Target, made: Scene) -> None:
    """It goes to the back at all slopes: nothing of it is covered, but the sky behind its far edge is."""
    floor = dataclasses.replace(made, objects=made.objects[:1], spheres=())
    picture = ArrayPixels(target, WIDTH, HEIGHT)
    view = View(ViewSettings(ray_type="flat"), CAMERA, picture)
    with Engine(target, floor) as engine:
        engine.render_frame(Moment(), [view])
        plain = picture.download().astype(int)
        engine.paint_contours(view, ContourOptions(silhouettes=True, halos=True, radius=4))
        changed = (picture.download().astype(int) != plain).any(axis=2)
        is_floor = np.isfinite(engine.buffers(view)["depth"])
    assert is_floor.mean() > 0.2 and changed[~is_floor].any() and not changed[is_floor].any()


def test_what_rests_is_traced_once(target: Target, made: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    traced, trace = [], contours.Tracer.trace

    def counted(tracer: contours.Tracer, rays: CameraRays, *more: str) -> HitBuffer:
        traced.append(rays)
        return trace(tracer, rays, *more)

    picture = ArrayPixels(target, WIDTH, HEIGHT)
    view = View(ViewSettings(ray_type="flat", samples=4), CAMERA, picture)
    with Engine(target, made) as engine:
        engine.render_frame(Moment(), [view])
        monkeypatch.setattr(contours.Tracer, "trace", counted)
        for strength in (0.2, 0.6):
            engine.paint_contours(view, ContourOptions(halos=True, strength=strength))
        assert len(traced) == 1, "other options look at the same depths"
        moved = dataclasses.replace(view, camera=dataclasses.replace(CAMERA, eye=(0.3, 0.4, 6.0)))
        engine.render_frame(Moment(), [moved])
        before = len(traced)
        engine.paint_contours(moved, ContourOptions(halos=True))
        assert len(traced) == before + 1
