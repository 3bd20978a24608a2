"""Ambient occlusion against what is known: a sphere over a plane, a plane alone, the inside of a closed box; at any
size, in every strategy."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Mesh, Moment, Scene
from raygrove.gpu.shade import gather, srgb
from raygrove.gpu.shade.ao import AoOptions
from raygrove.gpu.target.base import Target, UnitSource
from raygrove.gpu.update.options import UpdateOptions

from .pictures import mesh_of, picture, scene_of

SIZE = (48, 32)
THIRDS = (1 / 6, 1 / 2, 5 / 6)
CAMERA = Camera(eye=(0.0, 3.0, 7.0), look_at=(0.0, 0.4, 0.0))
GATHER_OPTIONS = 10
UNLIMITED = {"radius": 1e6, "radius_unit": "diagonal", "falloff": "none", "albedo": 1.0}


def plane(half: float, height: float = 0.0) -> Mesh:
    """A square that lies flat."""
    return mesh_of(
        [[-half, height, -half], [half, height, -half], [half, height, half], [-half, height, half]],
        [[0, 2, 1], [0, 3, 2]],
    )


def ball(radius: float, centre: tuple[float, float, float], rings: int = 48) -> Mesh:
    """A sphere of triangles as large as the true one: its corners lie a little outside."""
    polar, around = np.meshgrid(
        np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, 2 * rings, endpoint=False), indexing="ij"
    )
    radius *= 1.0 + 0.5 * (np.pi / rings) ** 2 / 3.0
    points = radius * np.stack(
        [np.sin(polar) * np.cos(around), np.cos(polar), np.sin(polar) * np.sin(around)], axis=-1
    ) + np.array(centre)
    row, column = np.meshgrid(np.arange(rings), np.arange(2 * rings), indexing="ij")
    a, b = row * 2 * rings + column, row * 2 * rings + (column + 1) % (2 * rings)
    faces = np.stack(
        [np.stack([a, b, b + 2 * rings], axis=-1), np.stack([a, b + 2 * rings, a + 2 * rings], axis=-1)], axis=2
    )
    return mesh_of(points.reshape(-1, 3), faces.reshape(-1, 3))


def box(half: float, middle: float = 0.0) -> Mesh:
    """A closed cube, off the origin by `middle` along every axis."""
    corners = np.array([[x, y, z] for x in (-half, half) for y in (-half, half) for z in (-half, half)]) + middle
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return mesh_of(corners, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def bounded(scene: Scene) -> Scene:
    """With the box of its meshes."""
    points = np.concatenate([mesh.positions for mesh in scene.meshes])
    lower, upper = (tuple(float(x) for x in end) for end in (points.min(axis=0), points.max(axis=0)))
    return dataclasses.replace(scene, lower=lower, upper=upper)


@pytest.mark.parametrize("directions", ["cosine", "uniform"])
def test_a_sphere_over_a_plane_hides_what_geometry_says(target: Target, directions: str) -> None:
    scene = bounded(scene_of(plane(40.0), ball(1.0, (0.0, 1.5, 0.0))))
    pixels, options = ArrayPixels(target, *SIZE), AoOptions(rays=32, directions=directions, **UNLIMITED)
    view = View(ViewSettings(ray_type="ao", samples=16, ray_type_options=options), CAMERA, pixels)
    with contextlib.closing(Engine(target, scene)) as engine:
        for _ in range(16):
            engine.render_frame(Moment(), [view])
        shown = srgb.decode(pixels.download()[..., 0] / 255.0)
        checked = 0
        for x, y in np.random.default_rng(1).integers(0, SIZE, (40, 2)):
            # A pixel is the mean over its area: only those of the plane alone, and near enough to change little from
            # end to end.
            hits = [engine.pick(view, x + across, y + down) for across in THIRDS for down in THIRDS]
            places = [np.array(hit.position) for hit in hits if hit is not None and hit.object_id == 0]
            if len(places) < 9 or max(np.linalg.norm(place) for place in places) > 8.0:
                continue
            distances = np.array([np.linalg.norm(place - (0.0, 1.5, 0.0)) for place in places])
            by_cosine, uniform = np.mean(1.0 - 1.5 / distances**3), np.mean(np.sqrt(1.0 - 1.0 / distances**2))
            expected, other = (by_cosine, uniform) if directions == "cosine" else (uniform, by_cosine)
            assert abs(shown[y, x] - expected) < 0.012, (x, y, shown[y, x], expected)
            checked += int(abs(expected - other) > 0.03)
        assert checked > 3, "the two kinds of directions can be told apart"


@pytest.mark.parametrize("test", ["moeller_trumbore", "unit_triangle"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_rays_neither_meet_their_own_triangle_nor_leave_a_closed_box(target: Target, scale: float, test: str) -> None:
    def drawn(mesh: Mesh, eye: tuple[float, ...], look_at: tuple[float, ...]) -> np.ndarray:
        camera = Camera(eye=tuple(scale * x for x in eye), look_at=tuple(scale * x for x in look_at), near=1e-3 * scale)
        options = AoOptions(rays=16, background_below=(1.0, 1.0, 1.0), background_above=(1.0, 1.0, 1.0), **UNLIMITED)
        scaled = dataclasses.replace(mesh, positions=(mesh.positions.astype(np.float64) * scale).astype(np.float32))
        return picture(target, bounded(scene_of(scaled)), camera, SIZE, "ao", options, triangle_test=test)[..., 0]

    # Flat on a plane, and grazing; a slope that no axis has; far from the origin.
    assert np.all(drawn(plane(10.0), (0.0, 0.5, 9.0), (0.0, 0.0, 0.0)) == 255)
    slope = mesh_of([[-9, -4, -9.3], [9, -3, -9], [9.1, 4, 9], [-9, 3, 9]], [[0, 2, 1], [0, 3, 2]])
    assert np.all(drawn(slope, (0.0, 6.0, 5.0), (0.0, 0.0, 0.0)) == 255)
    for middle in (0.0, 40.0):
        inside = drawn(box(1.0, middle), (middle + 0.3, middle, middle + 0.9), (middle, middle - 0.2, middle - 1.0))
        assert np.all(inside == 0), f"{np.count_nonzero(inside)} pixels see out of a closed box at {middle}"


def free_lengths(place: np.ndarray, directions: np.ndarray, half: float) -> np.ndarray:
    """How far it is from a place in a cube around the origin to its wall, along each direction (N, 3)."""
    with np.errstate(divide="ignore"):
        return np.min((half - np.sign(directions) * place) / np.abs(directions), axis=1)


@pytest.mark.parametrize(("falloff", "power"), [("none", 0), ("linear", 1), ("square", 2)])
@pytest.mark.parametrize("strategy", ["megakernel", "wavefront"])
def test_a_far_wall_hides_less_as_its_distance_says(target: Target, falloff: str, power: int, strategy: str) -> None:
    """In a closed room, against the mean over directions of what a hit at t counts."""
    half, reach = 1.0, 1.7
    camera = Camera(eye=(0.2, 0.3, 0.9), look_at=(0.0, -0.8, -0.7), near=1e-3)
    size = (SIZE[0] // 2, SIZE[1] // 2)
    pixels = ArrayPixels(target, *size)
    options = AoOptions(rays=256, radius=reach, radius_unit="scene", falloff=falloff, albedo=1.0, strategy=strategy)
    view = View(ViewSettings(ray_type="ao", samples=16, ray_type_options=options), camera, pixels)
    across, around = np.meshgrid((np.arange(200) + 0.5) / 200, 2 * np.pi * (np.arange(200) + 0.5) / 200)
    disc = np.sqrt(across)
    local = np.stack([disc * np.cos(around), disc * np.sin(around), np.sqrt(1 - across)], axis=-1).reshape(-1, 3)
    errors = []
    with contextlib.closing(Engine(target, bounded(scene_of(box(half))))) as engine:
        for _ in range(16):
            engine.render_frame(Moment(), [view])
        shown = srgb.decode(pixels.download()[..., 0] / 255.0)
        for x, y in np.random.default_rng(5).integers(0, size, (24, 2)):
            hit = engine.pick(view, x + 0.5, y + 0.5)
            assert hit is not None
            place = np.array(hit.position)
            axis = int(np.argmax(np.abs(place)))
            if np.sort(np.abs(place))[1] > 0.85:  # near an edge a pixel's mean is another than its middle
                continue
            world = np.roll(local, axis - 2, axis=1)
            world[:, axis] *= -np.sign(place[axis])
            counts = np.clip(1.0 - free_lengths(place, world, half) / reach, 0.0, 1.0) ** power
            hidden = np.where(free_lengths(place, world, half) < reach, counts, 0.0).mean()
            errors.append(shown[y, x] - (1.0 - hidden))
    # 4,096 rays of a mean: 0.5 / 64 is their deviation where half of them go free.
    assert len(errors) > 8 and np.abs(errors).max() < 0.025 and abs(np.mean(errors)) < 0.006, errors


def room(seed: int = 2) -> Scene:
    """Small triangles in a box: every pixel is partly hidden."""
    random = np.random.default_rng(seed)
    corners = (random.uniform(-0.9, 0.9, (300, 1, 3)) + random.normal(scale=0.12, size=(300, 3, 3))).reshape(-1, 3)
    return bounded(scene_of(box(1.0), mesh_of(corners, np.arange(900).reshape(-1, 3))))


def drawn_room(target: Target, **options: Any) -> np.ndarray:
    settings = {name: options.pop(name) for name in ("hierarchy", "layout", "seed", "samples") if name in options}
    camera = Camera(eye=(0.0, 0.0, 0.95), look_at=(0.2, 0.1, 0.0))
    return picture(target, room(), camera, SIZE, "ao", AoOptions(radius=0.2, **options), **settings)


@pytest.mark.parametrize("queue", ["by_octant", "unsorted"])
def test_waves_and_one_kernel_draw_the_same_bytes(exact_target: Target, queue: str) -> None:
    at_once = drawn_room(exact_target, strategy="megakernel", samples=2, rays=3)
    wavefront = drawn_room(exact_target, strategy="wavefront", queue=queue, samples=2, rays=3)
    assert np.array_equal(at_once, wavefront) and 20 < at_once[..., 0].mean() < 235


@pytest.mark.parametrize("at_once", [1, 3, 6, 7])
def test_more_rays_than_one_launch_takes_are_the_same_bytes_in_several(
    exact_target: Target, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """A launch has fewer than 2^31 items; here only room for `at_once` of each hit's rays, in frames that are launched,
    captured and replayed."""
    launched: list[tuple[int, int, int]] = []
    launch = exact_target.launch

    def counting(unit: Any, kernel: str, n: Any, /, **arguments: Any) -> None:
        if kernel == "trace_ao":
            launched.append((arguments["item_count"], arguments["first_ray"], arguments["ray_count"]))
        launch(unit, kernel, n, **arguments)

    monkeypatch.setattr(exact_target, "launch", counting)
    whole, rays = drawn_in_launches(exact_target)
    ((items, first, count),) = set(launched)
    assert (first, count) == (0, 7), "as many rays as usual are one launch"
    packs = items // 7
    launched.clear()
    monkeypatch.setattr(gather, "MOST_ITEMS", packs * at_once + packs // 2)
    sliced, again = drawn_in_launches(exact_target)
    assert set(launched) == {
        (packs * min(at_once, 7 - first), first, min(at_once, 7 - first)) for first in range(0, 7, at_once)
    }
    assert np.array_equal(whole, sliced) and rays == again and rays["ao"] == 7 * SIZE[0] * SIZE[1]


def drawn_in_launches(target: Target) -> tuple[np.ndarray, dict[str, int]]:
    """The picture and the rays of a sample of a room whose structure is made anew for each of six samples."""
    pixels, options = ArrayPixels(target, *SIZE), AoOptions(radius=0.2, rays=7, strategy="megakernel")
    settings = ViewSettings(ray_type="ao", samples=6, ray_type_options=options, update=UpdateOptions(always=True))
    view = View(settings, Camera(eye=(0.0, 0.0, 0.95), look_at=(0.2, 0.1, 0.0)), pixels)
    with contextlib.closing(Engine(target, room())) as engine:
        for _ in range(6):
            engine.render_frame(Moment(), [view])
        return pixels.download(), engine.flush().views[0].rays_by_kind


@pytest.mark.cuda
def test_a_large_picture_with_the_most_rays_is_drawn(cuda_target: Target) -> None:
    """3.8 billion rays of one sample: nearly twice as many as one launch takes, and as an int counts."""
    size, camera = (2560, 1440), Camera(eye=(0.0, 0.0, 0.95), look_at=(0.2, 0.1, 0.0))
    pictures = {}
    for rays in (64, 1024):
        pixels, options = ArrayPixels(cuda_target, *size), AoOptions(radius=0.2, rays=rays, strategy="megakernel")
        with contextlib.closing(Engine(cuda_target, room())) as engine:
            engine.render_frame(Moment(), [View(ViewSettings(ray_type="ao", ray_type_options=options), camera, pixels)])
            pictures[rays] = pixels.download()[..., 0].astype(float)
            assert engine.flush().views[0].rays_by_kind["ao"] == rays * size[0] * size[1]
    difference = (
        pictures[64] - pictures[1024]
    )  # a launch that was left out, or made twice, would change the brightness by far more
    assert abs(difference.mean()) < 2.0 and np.abs(difference).mean() < 10.0


def test_rays_of_a_block_are_counted_beyond_what_an_int_holds(target: Target) -> None:
    """All pixels of the largest picture, with the most rays of each, in one block."""
    block = 256
    hits = (1 << 28) // (1 if target.kind == "host" else block)
    options, counted = np.zeros(GATHER_OPTIONS, np.float32), target.upload(np.array([3], np.uint64), "test")
    options[6] = 1024.0
    unit = target.unit(
        UnitSource("tests/gpu/shade/ray_statistics.cu", constants=(("SURFACE_KIND", 0),), rays_per_thread=0)
    )
    target.launch(
        unit,
        "count_hits",
        1,
        options=target.upload(options, "test"),
        hits_a_thread=hits,
        ray_counts=counted,
        block=block,
        blocks=1,
    )
    assert target.download(counted).tolist() == [3 + (1 << 38)]


def test_a_seed_is_a_picture(target: Target) -> None:
    first, again, other = (drawn_room(target, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first, again) and np.mean(first != other) > 0.2


def test_samples_add_up_to_more_rays(target: Target) -> None:
    truth = drawn_room(target, rays=256, samples=4).astype(float)
    errors = [np.abs(drawn_room(target, rays=4, samples=samples) - truth)[..., 0].mean() for samples in (1, 4, 16)]
    # The error of a good sequence falls faster than the root: more than to a half with four times the rays.
    assert errors[1] < 0.55 * errors[0] and errors[2] < 0.55 * errors[1], errors


@pytest.mark.parametrize(("hierarchy", "layout"), [("lbvh", "cwbvh"), ("median_sah", "auto")])
def test_every_structure_draws_the_same_picture(target: Target, hierarchy: str, layout: str) -> None:
    plain = drawn_room(target)
    other = drawn_room(target, hierarchy=hierarchy, layout=layout)
    assert np.mean(np.any(plain != other, axis=-1)) < 1e-3


def test_both_targets_draw_alike(host_target: Target, target: Target) -> None:
    differing = np.abs(drawn_room(host_target, rays=16).astype(int) - drawn_room(target, rays=16))
    assert np.mean(differing > 2) < 0.002


@pytest.mark.each_value
def test_an_open_surface_is_grey_and_the_distance_grows_with_the_scene(target: Target) -> None:
    """What nothing hides shows the albedo; a fold is as dark whatever the model's unit."""
    camera = Camera(eye=(0.0, 3.0, 0.1), look_at=(0.0, 0.0, 0.0))
    drawn = picture(target, bounded(scene_of(plane(10.0))), camera, SIZE, "ao", AoOptions(), samples=1)
    assert np.allclose(srgb.decode(drawn[..., 0] / 255.0), 0.6, atol=0.005)
    means = []
    for scale in (1e-3, 1.0, 1e5):
        scene = bounded(scene_of(plane(3.0 * scale), ball(scale, (0.0, 1.2 * scale, 0.0))))
        above = Camera(eye=(0.0, scale, 4.0 * scale), look_at=(0.0, 0.2 * scale, 0.0), near=1e-3 * scale)
        means.append(picture(target, scene, above, SIZE, "ao", AoOptions(rays=64), samples=4)[20:, 16:32, 0].mean())
    assert max(means) - min(means) < 1.0 and means[1] < 199.0, means  # 203 where nothing is hidden
