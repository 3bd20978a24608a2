"""Paths of light against what must come out: an independent path tracer, rooms whose light is known, and surfaces that
may not add any."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Environment, Light, Material, Mesh, Moment, Scene
from raygrove.gpu.shade.distributed import DistributedOptions
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.shade.smooth import SmoothOptions
from raygrove.gpu.shade.whitted import WhittedOptions
from raygrove.gpu.target.base import Target
from tests.oracle.cornell import EYE, FOV, LOOK_AT, cornell
from tests.oracle.cornell import scene_of as cornell_scene
from tests.oracle.path_tracer import BOUNCES, ROOMS, SIDE, kept

from .linear import DARK, draw_linear
from .pictures import mesh_of, scene_of, square
from .test_whitted import slab

CORNELL_CAMERA = Camera(eye=EYE, look_at=LOOK_AT, fov=FOV)
MATTE = Material("matte", (0.5, 0.5, 0.5, 1.0), roughness=1.0, ior=1.0)


def cube(half: float, material: int = 0, inwards: bool = False) -> Mesh:
    """A closed box, its corners going round counterclockwise as seen from outside, or from inside."""
    positions = [[x * half, y * half, z * half] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    corners = [
        positions[corner] for t in triangles for corner in (t[::-1] if inwards else t)
    ]  # a normal a corner: flat sides
    return mesh_of(corners, np.arange(len(corners)).reshape(-1, 3), material=material)


def ball(radius: float, material: int, rings: int = 24) -> Mesh:
    """A sphere of triangles with smooth normals."""
    v, u = np.mgrid[0 : rings + 1, 0 : 2 * rings + 1]
    theta, phi = np.pi * v / rings, np.pi * u / rings
    points = np.stack([np.sin(theta) * np.cos(phi), np.cos(theta), np.sin(theta) * np.sin(phi)], axis=-1).reshape(-1, 3)
    a = (v[:-1, :-1] * (2 * rings + 1) + u[:-1, :-1]).reshape(-1)
    below = a + 2 * rings + 1
    triangles = np.concatenate([np.stack([a, a + 1, below + 1], 1), np.stack([a, below + 1, below], 1)])
    return mesh_of(points * radius, triangles, normals=points, material=material)


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("strategy", ["megakernel", "wavefront"])
def test_the_cornell_box_is_as_the_oracle_sees_it(target: Target, room: str, strategy: str) -> None:
    options = PathOptions(bounces=BOUNCES, roulette_from=2, strategy=strategy, **DARK)
    found, _ = draw_linear(target, cornell_scene(ROOMS[room]), CORNELL_CAMERA, (SIDE, SIDE), options, 1024)
    wanted = kept()[room].astype(np.float64)
    blocks = [image.reshape(4, 6, 4, 6, 3).mean(axis=(1, 3)) for image in (found, wanted)]
    # Below a lamp that shines down alone, all light on the ceiling is scattered twice: the oracle's blocks are 2 to 3 %
    # off there.
    assert blocks[0] == pytest.approx(blocks[1], rel=0.08 if room == "one-sided" else 0.04, abs=0.004)
    assert found.mean() == pytest.approx(wanted.mean(), rel=0.01)


@pytest.mark.parametrize("albedo", [0.5, 0.8])
def test_a_closed_white_room_has_its_analytic_radiance(target: Target, albedo: float) -> None:
    wall = Material("wall", (albedo, albedo, albedo, 1.0), roughness=1.0, ior=1.0, emission=(1.0, 1.0, 1.0))
    options = PathOptions(bounces=32, roulette_from=4, **DARK)
    found, _ = draw_linear(
        target,
        scene_of(cube(1.0, inwards=True), materials=(wall,)),
        Camera(eye=(0.1, 0.2, 0.3), fov=90.0),
        (16, 16),
        options,
        96,
    )
    assert found.mean() == pytest.approx(1.0 / (1.0 - albedo), rel=0.01)
    assert np.abs(found.reshape(2, 8, 2, 8, 3).mean(axis=(1, 3)) * (1.0 - albedo) - 1.0).max() < 0.03


GLASSES = {
    "clear": Material("clear", (1.0, 1.0, 1.0, 1.0), roughness=0.0, transmission=1.0, ior=1.5),
    "frosted": Material("frosted", (1.0, 1.0, 1.0, 1.0), roughness=0.3, transmission=1.0, ior=1.3),
    "thin": Material("thin", (1.0, 1.0, 1.0, 1.0), roughness=0.0, transmission=1.0, ior=1.5, is_thin=True),
    "mirror": Material("mirror", (1.0, 1.0, 1.0, 1.0), metallic=1.0, roughness=0.0),
}


@pytest.mark.parametrize("name", GLASSES)
def test_what_takes_no_light_is_not_seen_in_even_light(target: Target, name: str) -> None:
    options = PathOptions(
        bounces=32, roulette_from=32, background_below=(0.7, 0.7, 0.7), background_above=(0.7, 0.7, 0.7)
    )
    found, _ = draw_linear(
        target, scene_of(ball(1.0, 0), materials=(GLASSES[name],)), Camera(eye=(0.0, 0.3, 4.0)), (24, 24), options, 64
    )
    centre = found[8:16, 8:16].mean()
    lost = 0.06 if name == "frosted" else 0.01  # microfacets that hide each other: light that is lost, never gained
    assert 0.7 * (1.0 - lost) <= centre <= 0.7 * 1.005
    assert found[0, 0] == pytest.approx([0.7] * 3, rel=1e-5)


@pytest.mark.parametrize("strategy", ["megakernel", "wavefront"])
@pytest.mark.each_value
def test_a_slab_takes_light_away_by_beers_law(target: Target, strategy: str) -> None:
    """A lamp under tinted glass, seen straight through it: what comes, the series of reflections within included, is
    known."""
    tint, ior = np.array([0.3, 0.6, 0.9]), 1.6
    glass = Material(
        "",
        (1.0, 1.0, 1.0, 1.0),
        roughness=0.0,
        transmission=1.0,
        ior=ior,
        attenuation_color=tuple(tint),
        attenuation_distance=0.7,
    )
    lamp = Material("", (0.0, 0.0, 0.0, 1.0), emission=(2.0, 2.0, 2.0), ior=1.0, roughness=1.0)
    fresnel, left = ((ior - 1.0) / (ior + 1.0)) ** 2, tint ** (1.4 / 0.7)
    wall = dataclasses.replace(square(9.0, -2.0), material_ids=np.ones(2, np.int32))
    scene = scene_of(*slab(0.7, -0.7, 0), wall, materials=(glass, lamp), lights=(Light("point", (0.0, 0.0, 0.0)),))
    options = PathOptions(bounces=16, roulette_from=16, strategy=strategy, **DARK)
    found, _ = draw_linear(
        target, scene, Camera(eye=(0.0, 0.0, 4.0), orthographic=True, height=4.0), (16, 16), options, 64
    )
    assert found.mean(axis=(0, 1)) == pytest.approx(
        2.0 * (1.0 - fresnel) ** 2 * left / (1.0 - (fresnel * left) ** 2), rel=0.02
    )


LAMP = Material("lamp", (0.0, 0.0, 0.0, 1.0), roughness=1.0, ior=1.0, emission=(4.0, 2.0, 1.0), is_double_sided=False)
SEEN_FROM = {"front": 3.0, "back": -3.0}


@pytest.mark.parametrize("side", SEEN_FROM)
@pytest.mark.parametrize("ray_type", ["path", "whitted", "distributed", "smooth"])
def test_a_lamp_of_one_side_is_dark_from_behind(target: Target, ray_type: str, side: str) -> None:
    eye = Camera(eye=(0.0, 0.0, SEEN_FROM[side]), fov=20.0)
    kinds = {
        "path": PathOptions(bounces=1, **DARK),
        "whitted": WhittedOptions(**DARK),
        "distributed": DistributedOptions(**DARK),
        "smooth": SmoothOptions(**DARK),
    }
    dark = (Light("point", (0.0, 0.0, 0.0)),)  # so that there is no headlight
    for lamp in (LAMP, dataclasses.replace(LAMP, is_double_sided=True)):
        found, _ = draw_linear(
            target,
            scene_of(square(1.0), materials=(lamp,), lights=dark),
            eye,
            (8, 8),
            kinds[ray_type],
            1,
            ray_type=ray_type,
        )
        shines = side == "front" or lamp.is_double_sided
        assert found[4, 4] == pytest.approx(
            lamp.emission if shines else (0.0, 0.0, 0.0), abs=0.06 if ray_type == "smooth" else 1e-6
        )


@pytest.mark.parametrize("strategy", ["megakernel", "wavefront"])
def test_a_lamp_of_one_side_lights_what_is_before_it(target: Target, strategy: str) -> None:
    floor, ceiling = square(3.0), dataclasses.replace(square(3.0, 2.0), material_ids=np.full(2, 2, np.int32))
    lamp = dataclasses.replace(square(0.5, 1.0), material_ids=np.ones(2, np.int32))  # it looks up
    turned = dataclasses.replace(lamp, triangles=np.ascontiguousarray(lamp.triangles[:, ::-1]))
    options = PathOptions(bounces=1, strategy=strategy, **DARK)
    below = Camera(eye=(0.0, 0.0, 0.6), look_at=(0.0, 0.0, 0.0), fov=40.0)

    def light_on_the_floor(thing: Mesh, material: Material) -> float:
        scene = scene_of(floor, thing, ceiling, materials=(MATTE, material, MATTE))
        return float(draw_linear(target, scene, below, (12, 12), options, 256)[0].mean())

    both = light_on_the_floor(lamp, dataclasses.replace(LAMP, is_double_sided=True))
    assert light_on_the_floor(lamp, LAMP) == 0.0
    assert both > 0.1 and light_on_the_floor(turned, LAMP) == pytest.approx(both, rel=0.02)


def test_direct_light_of_a_point_is_lamberts(target: Target) -> None:
    scene = scene_of(square(5.0), materials=(MATTE,), lights=(Light("point", (8.0, 4.0, 2.0), (0.0, 0.0, 2.0)),))
    found, statistics = draw_linear(
        target,
        scene,
        Camera(eye=(0.02, 0.01, 1.0), look_at=(0.02, 0.01, 0.0), fov=20.0),
        (9, 9),
        PathOptions(bounces=1, **DARK),
        1,
    )
    assert found[4, 4] == pytest.approx(np.array([8.0, 4.0, 2.0]) / 4.0 * 0.5 / np.pi, rel=1e-3)
    assert statistics.rays_by_kind == {"primary": 81, "path 1": 81, "shadow 1": 81}


def test_the_strategies_and_structures_make_one_picture(exact_target: Target) -> None:
    scene = dataclasses.replace(
        cornell_scene(cornell(True)), lights=(Light("point", (0.5, 0.5, 0.5), (0.5, 0.0, 0.5)),)
    )
    choices = [
        ("megakernel", "unsorted", "lbvh"),
        ("wavefront", "unsorted", "lbvh"),
        ("wavefront", "by_octant", "brute_force"),
    ]
    images = []
    for strategy, queue, hierarchy in choices:
        options = PathOptions(strategy=strategy, queue=queue)
        images.append(draw_linear(exact_target, scene, CORNELL_CAMERA, (37, 21), options, 3, hierarchy=hierarchy)[0])
    for other in images[1:]:
        assert np.mean(np.abs(other - images[0]).max(axis=-1) > 1e-4) <= 0.003


def test_a_seed_is_a_picture(target: Target) -> None:
    scene = cornell_scene(cornell())
    first, again, other = (
        draw_linear(target, scene, CORNELL_CAMERA, (16, 16), PathOptions(), 2, seed=seed)[0] for seed in (3, 3, 4)
    )
    assert np.array_equal(first, again) and np.mean(np.abs(other - first) > 1e-3) > 0.5


def test_a_small_sun_in_the_environment_is_sampled(target: Target) -> None:
    pixels = np.full((32, 64, 3), 0.05, np.float32)
    pixels[6, 8] = (4000.0, 3000.0, 2000.0)  # towards +z, -x and up
    floor = dataclasses.replace(scene_of(square(5.0), materials=(MATTE,)), environment=Environment("sun", pixels))
    camera = Camera(eye=(0.0, 0.0, 3.0), fov=30.0)
    found, _ = draw_linear(target, floor, camera, (12, 12), PathOptions(bounces=1, **DARK), 64)
    row, column = np.mgrid[0:32, 0:64] + 0.5
    theta, phi = np.pi * row / 32, 2 * np.pi * column / 64
    towards_z = np.sin(theta) * np.cos(phi)
    weights = np.sin(theta) * 2 * np.pi**2 / (32 * 64) * np.maximum(towards_z, 0.0)
    wanted = (pixels * weights[..., None]).sum(axis=(0, 1)) * 0.5 / np.pi
    assert found.mean(axis=(0, 1)) == pytest.approx(wanted, rel=0.03)
    assert found.std() < 0.3 * found.mean(), "rays find the sun by luck"
    turned, _ = draw_linear(target, floor, camera, (12, 12), PathOptions(bounces=1, environment_turn=180.0, **DARK), 16)
    assert turned.mean() < 0.5 * found.mean(), "the sun is behind the floor"


def test_an_even_environment_is_an_even_background(target: Target) -> None:
    scene = scene_of(cube(0.8), materials=(Material("grey", (0.6, 0.6, 0.6, 1.0), roughness=0.4),))
    even = dataclasses.replace(scene, environment=Environment("even", np.full((8, 16, 3), 0.5, np.float32)))
    camera = Camera(eye=(1.5, 1.0, 3.0))
    lit, _ = draw_linear(target, even, camera, (16, 16), PathOptions(**DARK), 256)
    # A light of no strength, so that there is no headlight.
    dark = dataclasses.replace(scene, lights=(Light("point", (0.0, 0.0, 0.0)),))
    plain, _ = draw_linear(
        target,
        dark,
        camera,
        (16, 16),
        PathOptions(background_below=(0.5, 0.5, 0.5), background_above=(0.5, 0.5, 0.5)),
        256,
    )
    assert lit.mean() == pytest.approx(plain.mean(), rel=0.01) and np.abs(lit - plain).max() < 0.1


def test_the_clamp_takes_sparks_and_is_off_by_default(target: Target) -> None:
    scene = cornell_scene(cornell(True))
    sparks = [
        draw_linear(target, scene, CORNELL_CAMERA, (24, 24), PathOptions(clamp=clamp, **DARK), 8)[0]
        for clamp in (0.0, 0.2, 1e6)
    ]
    assert PathOptions().clamp == 0.0 and np.array_equal(sparks[0], sparks[2])
    unlit = np.s_[12:, :]
    assert sparks[1][unlit].max() < sparks[0][unlit].max() and sparks[1].mean() < sparks[0].mean()


BAD: dict[str, Any] = {
    "nothing at all": Scene("empty", materials=()),
    "no lights": scene_of(cube(1.0)),
    "a light of nothing": scene_of(cube(1.0), lights=(Light("point", (0.0, 0.0, 0.0)),)),
    "glass in glass": scene_of(
        ball(1.0, 0),
        ball(0.7, 1),
        ball(0.4, 0),
        materials=(GLASSES["clear"], Material("dense", roughness=0.0, transmission=1.0, ior=2.4)),
    ),
    "an index of one": scene_of(ball(1.0, 0), materials=(dataclasses.replace(GLASSES["frosted"], ior=1.0),)),
    "triangles without area": scene_of(mesh_of([[0, 0, 0], [1, 1, 0], [2, 2, 0]], [[0, 1, 2]]), cube(0.5)),
    "shining without area": scene_of(
        mesh_of([[0, 0, 0], [1, 1, 0], [2, 2, 0]], [[0, 1, 2]], material=1),
        cube(0.5),
        materials=(MATTE, Material("lamp", emission=(5.0, 5.0, 5.0))),
    ),
    "mirrors face to face": scene_of(square(2.0, -1.0), square(2.0, 4.0), materials=(GLASSES["mirror"],)),
    "a black sky": dataclasses.replace(
        scene_of(cube(1.0)), environment=Environment("black", np.zeros((2, 4, 3), np.float32))
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_scenes_give_numbers(target: Target, name: str) -> None:
    found, _ = draw_linear(target, BAD[name], Camera(eye=(0.3, 0.4, 3.0)), (13, 9), PathOptions(bounces=8), 4)
    assert np.all(np.isfinite(found)) and found.min() >= 0.0
    assert found.max() > 0.0 or name == "a black sky"


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_a_room_looks_alike_at_any_scale(target: Target, scale: float) -> None:
    def drawn(size: float) -> np.ndarray:
        # The lamp alone lights the room, and its radiance does not change with size.
        room = cornell()
        scene = cornell_scene(dataclasses.replace(room, triangles=room.triangles * size))
        camera = Camera(eye=(0.0, 0.0, 3.9 * size), fov=FOV)
        return draw_linear(target, scene, camera, (16, 16), PathOptions(**DARK), 64)[0]

    one, other = drawn(1.0), drawn(scale)
    assert other.mean() == pytest.approx(one.mean(), rel=0.02)


def test_a_moved_scene_begins_anew(target: Target) -> None:
    scene = cornell_scene(cornell())
    view = View(ViewSettings(ray_type="path", samples=8), CORNELL_CAMERA, ArrayPixels(target, 8, 8))
    with contextlib.closing(Engine(target, scene)) as engine:
        counts = []
        for eye in (EYE, EYE, EYE, (0.1, 0.0, 3.9)):
            view.camera = dataclasses.replace(CORNELL_CAMERA, eye=eye)
            engine.render_frame(Moment(), [view])
            counts.append(engine.flush().views[0].samples)
        assert counts == [1, 2, 3, 1]


def test_one_kernel_needs_no_room_for_waves(host_target: Target) -> None:
    size, scratch = (256, 192), []
    view = View(ViewSettings(), CORNELL_CAMERA, ArrayPixels(host_target, *size))
    with contextlib.closing(Engine(host_target, cornell_scene(cornell()))) as engine:
        for ray_type in ("smooth", "path"):
            view.settings = ViewSettings(
                ray_type=ray_type,
                ray_type_options=PathOptions(strategy="megakernel") if ray_type == "path" else None,
            )
            for _ in range(2):
                engine.render_frame(Moment(), [view])
            scratch.append(engine.flush().bytes["scratch"])
    assert scratch[1] - scratch[0] < 4 * size[0] * size[1], "a queue has ten words per pixel and more"
