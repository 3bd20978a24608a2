"""Diffuse rays against what is known: a plane under the sky, a wall that tints it, a hit that gives its diffuse term;
in every strategy."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.buffers import pixel_directions
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Light, Material, Moment, Scene
from raygrove.gpu.shade import srgb
from raygrove.gpu.shade.diffuse import DiffuseOptions
from raygrove.gpu.target.base import Target

from .pictures import mesh_of, picture, scene_of, square
from .test_ao import bounded, box, plane, room

SIZE = (48, 32)
COLOR = (0.5, 0.25, 0.1, 1.0)
EYE, LOOK_AT = (0.013, 0.007, 0.5), (0.013, 0.007, 0.0)  # no ray goes between the two triangles of a square


def drawn(
    target: Target, scene: Scene, eye: tuple[float, ...], look_at: tuple[float, ...], samples: int = 1, **options: Any
) -> np.ndarray:
    """Linear colours."""
    camera = Camera(eye=eye, look_at=look_at)
    return srgb.decode(
        picture(target, bounded(scene), camera, SIZE, "diffuse", DiffuseOptions(**options), samples=samples)[..., :3]
        / 255.0
    )


def test_an_open_plane_has_its_own_colour_under_a_white_sky(target: Target) -> None:
    shown = drawn(
        target, scene_of(plane(50.0), materials=(Material(base_color=COLOR),)), (0.0, 2.0, 6.0), (0.0, 0.0, 0.0)
    )
    # The camera looks down: all of the lower half is plane.
    assert np.abs(shown[20:] - np.array(COLOR[:3])).max() < 0.004


def test_a_hit_gives_its_diffuse_term_once_more(target: Target) -> None:
    lit = Light("directional", (np.pi, np.pi, np.pi), direction=(0.0, 0.0, -1.0))
    # From a square that faces +z nothing is seen but an endless wall before it, which faces away from the light; and
    # the other way round.
    wall = square(4000.0, 1.0)
    scene = scene_of(square(0.3), wall, materials=(Material(base_color=COLOR),), lights=(lit,))
    towards = drawn(target, scene, EYE, LOOK_AT, rays=8)
    assert np.abs(towards[12:20, 20:28]).max() < 0.004, "the wall's back is dark, and so is what only it lights"
    turned = Light("directional", (np.pi, np.pi, np.pi), direction=(0.0, 0.0, 1.0))
    scene = scene_of(square(0.3), wall, materials=(Material(base_color=COLOR),), lights=(turned,))
    lighted = drawn(target, scene, EYE, LOOK_AT, rays=8)
    assert np.abs(lighted[12:20, 20:28] - np.square(COLOR[:3])).max() < 0.006


@pytest.mark.parametrize("queue", ["by_octant", "unsorted"])
def test_waves_and_one_kernel_draw_the_same_bytes_and_count_the_same_rays(exact_target: Target, queue: str) -> None:
    found = {}
    for strategy in ("megakernel", "wavefront"):
        pixels = ArrayPixels(exact_target, *SIZE)
        options = DiffuseOptions(rays=3, strategy=strategy, queue=queue)
        camera = Camera(eye=(0.0, 0.0, 0.95), look_at=(0.2, 0.1, 0.0))
        view = View(ViewSettings(ray_type="diffuse", ray_type_options=options, samples=2, seed=5), camera, pixels)
        with contextlib.closing(Engine(exact_target, room())) as engine:
            engine.render_frame(Moment(), [view])
            engine.render_frame(Moment(), [view])
            found[strategy] = (pixels.download(), engine.flush().views[0].rays_by_kind)
    (at_once, counted), (wavefront, counted_too) = found.values()
    assert np.array_equal(at_once, wavefront) and at_once[..., 0].std() > 5
    assert counted == counted_too == {"primary": SIZE[0] * SIZE[1], "diffuse": 3 * SIZE[0] * SIZE[1]}, (
        "from inside a box every ray hits"
    )


def test_the_inside_of_a_box_sees_no_sky(target: Target) -> None:
    walls = box(1.0)
    flat = mesh_of(
        walls.positions[walls.triangles].reshape(-1, 3), np.arange(36).reshape(12, 3)
    )  # corners that are shared have blended normals
    white = scene_of(flat, materials=(Material(base_color=(1.0, 1.0, 1.0, 1.0)),))
    eye, look_at = (0.3, 0.0, 0.9), (0.0, -0.2, -1.0)
    shown = drawn(target, white, eye, look_at, samples=8, rays=16)
    # Without lights a hit shines by the cosine of the ray that found it: the mean over the hemisphere, by its cosine,
    # is what a pixel shows.
    wanted = cosines_in_a_box(eye, look_at)
    blocks = [image.reshape(4, 8, 6, 8).mean(axis=(1, 3)) for image in (shown.mean(axis=2), wanted)]
    assert blocks[0] == pytest.approx(blocks[1], rel=0.015) and shown.mean() == pytest.approx(wanted.mean(), rel=0.004)


def cosines_in_a_box(eye: tuple[float, ...], look_at: tuple[float, ...], count: int = 1024) -> np.ndarray:
    """(height, width) float64: seen from within the box of half side 1, the mean of |cos| at what a point's rays hit,
    for rays by their cosine."""
    directions = pixel_directions(Camera(eye=eye, look_at=look_at), *SIZE).reshape(-1, 3)
    points, walls = to_wall(np.array(eye), directions)
    normals = -np.eye(3)[walls] * np.sign(directions[np.arange(len(walls)), walls])[:, None]
    across, along = np.roll(normals, 1, axis=1), np.roll(normals, 2, axis=1)
    v = (np.arange(count) + 0.5) / count  # a lattice of Fibonacci's kind
    radius, angle = np.sqrt(v), 2.0 * np.pi * ((np.arange(count) * 0.6180339887498949) % 1.0)
    found = np.zeros(len(points))
    for x, y, z in np.stack([radius * np.cos(angle), radius * np.sin(angle), np.sqrt(1.0 - v)], axis=-1):
        rays = across * x + along * y + normals * z
        found += np.abs(rays[np.arange(len(rays)), to_wall(points, rays)[1]])
    return found.reshape(SIZE[1], SIZE[0]) / count


def to_wall(origins: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where rays from within that box leave it, and the axis of the wall."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(directions != 0.0, (np.sign(directions) - origins) / directions, np.inf)
    walls = reach.argmin(axis=1)
    return origins + directions * reach.min(axis=1)[:, None], walls
