"""Recursive ray tracing against formulas in float64: shadows, mirrors, glass and what it takes away, alpha, every kind
of light."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Light, Material, Mesh, Scene, Texture
from raygrove.gpu.shade.whitted import WhittedOptions
from raygrove.gpu.target.base import Target

from .linear import DARK, draw_linear
from .pictures import mesh_of, scene_of, square

NONE = {"ambient": (0.0, 0.0, 0.0), **DARK}
WHITE = {"ambient": (1.0, 1.0, 1.0), "background_below": (1.0, 1.0, 1.0), "background_above": (1.0, 1.0, 1.0)}
BARE = WhittedOptions(threshold=0.0, depth=0, **NONE)
OUT = Light("point", (0.0, 0.0, 0.0))
"""A light that is out: without any there would be one at the eye."""
MATT = Material(base_color=(0.6, 0.5, 0.4, 1.0), roughness=1.0, ior=1.0)
DOWN = Camera(eye=(0, 0, 4), orthographic=True, height=4.0)


def draw(
    target: Target,
    scene: Scene,
    options: WhittedOptions,
    size: int = 24,
    camera: Camera = DOWN,
    samples: int = 1,
    **settings: Any,
) -> np.ndarray:
    """(size, size, 3) linear."""
    return draw_linear(target, scene, camera, (size, size), options, samples, "whitted", **settings)[0]


def ball(
    radius: float, centre: tuple[float, float, float] = (0.0, 0.0, 0.0), material: int = 0, steps: int = 24
) -> Mesh:
    """A closed sphere that faces outwards."""
    theta, phi = np.meshgrid(np.linspace(0, np.pi, steps + 1), np.linspace(0, 2 * np.pi, 2 * steps + 1), indexing="ij")
    normals = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], -1).reshape(-1, 3)
    corner = np.arange(steps)[:, None] * (2 * steps + 1) + np.arange(2 * steps)
    right, below = corner + 1, corner + 2 * steps + 1
    triangles = np.concatenate([np.stack([corner, below, right], -1), np.stack([right, below, below + 1], -1)]).reshape(
        -1, 3
    )
    return mesh_of(normals * radius + centre, triangles, normals=normals, material=material)


def turned(mesh: Mesh) -> Mesh:
    """The same triangles seen from behind."""
    return dataclasses.replace(
        mesh, triangles=mesh.triangles[:, ::-1].copy(), normals=None if mesh.normals is None else -mesh.normals
    )


def slab(upper: float, lower: float, material: int) -> tuple[Mesh, Mesh]:
    """Both faces of a wide body between two heights."""
    return dataclasses.replace(square(9.0, upper), material_ids=np.full(2, material, np.int32)), dataclasses.replace(
        turned(square(9.0, lower)), material_ids=np.full(2, material, np.int32)
    )


def places(size: int, extent: float = 4.0) -> np.ndarray:
    """(size, size, 3) points of the plane z = 0 under the pixels of DOWN."""
    steps = ((np.arange(size) + 0.5) / size - 0.5) * extent
    x, y = np.meshgrid(steps, -steps)
    return np.stack([x, y, np.zeros_like(x)], -1)


@pytest.mark.parametrize("kind", ["point", "directional"])
def test_a_shadow_is_the_projection_of_what_casts_it(target: Target, kind: str) -> None:
    light = Light(kind, (9.0, 9.0, 9.0), position=(0.9, 0.4, 3.0), direction=(-0.4, -0.2, -1.0))
    scene = scene_of(square(3.0), ball(0.4, (0.0, 0.0, 0.8), steps=96), materials=(MATT,), lights=(light,))
    image, at = draw(target, scene, BARE, 96), places(96)
    to_light = (
        np.array(light.position) - at if kind == "point" else np.broadcast_to(-np.array(light.direction), at.shape)
    )
    unit = to_light / np.linalg.norm(to_light, axis=-1, keepdims=True)
    from_centre = np.array([0.0, 0.0, 0.8]) - at
    miss = np.sqrt(np.sum(from_centre**2, -1) - np.sum(from_centre * unit, -1) ** 2)
    on_plane = np.hypot(at[..., 0], at[..., 1]) > 0.42
    dark, lit = on_plane & (miss < 0.395), on_plane & (miss > 0.402)
    assert dark.sum() > 100 and not image[dark].any() and (image[lit] > 0.0).all()


def test_every_kind_of_light_gives_its_irradiance(target: Target) -> None:
    at, up = places(24), np.array([0.0, 0.0, 1.0])
    position, aim = np.array([0.5, -0.3, 2.0]), np.array([0.1, 0.0, -1.0]) / np.sqrt(1.01)
    away = position - at
    squared = np.sum(away**2, -1)
    unit = away / np.sqrt(squared)[..., None]
    falling, turned_away = unit @ up, np.maximum(-unit @ aim, 0.0)
    cone = (
        np.clip((turned_away - np.cos(np.radians(40))) / (np.cos(np.radians(10)) - np.cos(np.radians(40))), 0.0, 1.0)
        ** 2
    )
    shared = {"color": (2.0, 2.0, 2.0), "position": tuple(position), "direction": tuple(aim)}
    expected = {
        "point": (Light("point", **shared), falling / squared * 2.0),
        "directional": (Light("directional", **shared), np.full(falling.shape, -aim @ up * 2.0)),
        "spot": (Light("spot", inner_angle=10.0, outer_angle=40.0, **shared), falling / squared * 2.0 * cone),
        "sphere": (Light("sphere", radius=0.5, **shared), falling / squared * 2.0),
        "rectangle": (Light("rectangle", size=(0.02, 0.02), **shared), falling / squared * 2.0 * turned_away),
    }
    for kind, (light, irradiance) in expected.items():
        options = dataclasses.replace(BARE, light_samples=64)
        image = draw(target, scene_of(square(3.0), materials=(MATT,), lights=(light,)), options)
        error = np.abs(image / (np.array(MATT.base_color[:3]) / np.pi) - irradiance[..., None]).max()
        assert error < (0.01 if kind == "sphere" else 2e-3) * irradiance.max(), kind


def test_an_area_light_is_hidden_by_as_much_as_stands_before_it(target: Target) -> None:
    """A rectangle half of which is hidden by an edge gives half of its light in the middle of the penumbra, and the
    whole of it beyond."""
    light = Light(
        "rectangle",
        (8.0, 8.0, 8.0),
        position=(0.0, 0.0, 4.0),
        direction=(0.0, 0.0, -1.0),
        size=(1.0, 1.0),
        up=(0.0, 1.0, 0.0),
    )
    shade = mesh_of([[-5, -5, 2], [0, -5, 2], [0, 5, 2], [-5, 5, 2]], [[0, 1, 2], [0, 2, 3]], normals=[[0, 0, 1]] * 4)
    view = Camera(eye=(0.0, 0.0, 1.9), orthographic=True, height=2.0)
    options = dataclasses.replace(BARE, light_samples=64)
    scene = scene_of(square(3.0), shade, materials=(MATT,), lights=(light,))
    image, free = (
        draw(target, one, options, 32, view)[..., 0]
        for one in (scene, scene_of(square(3.0), materials=(MATT,), lights=(light,)))
    )
    x = ((np.arange(32) + 0.5) / 32 - 0.5) * 2.0
    share = np.clip((x + 0.5) / 1.0, 0.0, 1.0)
    assert np.abs(image / free - share).max() < 0.05 and np.abs((image / free).mean(axis=0) - share).max() < 0.012
    assert not image[:, x < -0.55].any()


@pytest.mark.parametrize("depth", [0, 1, 5])
def test_mirrors_that_face_one_another_end_by_depth(target: Target, depth: int) -> None:
    mirror = Material("mirror", (0.5, 0.25, 1.0, 1.0), metallic=1.0, roughness=0.0)
    scene = scene_of(square(5.0), turned(square(5.0, 4.5)), materials=(mirror,), lights=(OUT,))
    options = WhittedOptions(depth=depth, threshold=0.0, **{**NONE, "ambient": (1.0, 1.0, 1.0)})
    image, statistics = draw_linear(target, scene, DOWN, (16, 16), options, 1, "whitted")
    assert np.allclose(image, np.array([0.5, 0.25, 1.0]) ** (depth + 1), rtol=1e-4)
    reflections = {kind: count for kind, count in statistics.rays_by_kind.items() if kind.startswith("reflection")}
    assert reflections == {f"reflection {number}": 256 for number in range(1, depth + 1)}


def test_glass_in_glass_neither_makes_nor_loses_light(target: Target) -> None:
    """Nested bodies of clear glass in a world of even light: refraction, total internal reflection, and every ray that
    ends too deep."""
    crown, water, air = (
        Material("", (1.0, 1.0, 1.0, 1.0), roughness=0.0, transmission=1.0, ior=ior) for ior in (1.8, 1.33, 1.0)
    )
    scene = scene_of(
        ball(1.5),
        ball(1.0, (0.2, 0.0, 0.0), 1),
        ball(0.5, (0.0, 0.2, 0.1), 2),
        materials=(crown, water, air),
        lights=(OUT,),
    )
    for depth in (1, 9):
        image, statistics = draw_linear(
            target, scene, DOWN, (32, 32), WhittedOptions(depth=depth, threshold=0.0, **WHITE), 1, "whitted"
        )
        assert np.abs(image - 1.0).max() < 1e-3
    assert statistics.rays_by_kind["refraction 6"] > 100
    bubble = scene_of(ball(1.5), ball(1.0, (0.0, 0.0, 0.0), 1), materials=(crown, air), lights=(OUT,))
    dark = WhittedOptions(depth=2, threshold=0.0, **{**NONE, "background_above": (1.0, 1.0, 1.0)})
    counts = draw_linear(target, bubble, DOWN, (32, 32), dark, 1, "whitted")[1].rays_by_kind
    entered, left = counts["refraction 1"], counts["refraction 2"]
    assert left < 0.9 * entered, (
        "rays that meet the bubble at more than the critical angle, 33.7 degrees, are all reflected"
    )


def test_a_slab_takes_light_away_by_beers_law_and_is_the_same_from_both_sides(target: Target) -> None:
    """Two layers on one another, one of them tinted: what goes through, the series of reflections within included, is
    what goes back."""
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
    expected = 2.0 * (1.0 - fresnel) ** 2 * left / (1.0 - (fresnel * left) ** 2)
    options = WhittedOptions(depth=8, threshold=0.0, **NONE)
    wall = dataclasses.replace(square(9.0, -2.0), material_ids=np.ones(2, np.int32))
    image = draw(target, scene_of(*slab(0.7, -0.7, 0), wall, materials=(glass, lamp), lights=(OUT,)), options, 8)
    assert np.allclose(image, expected, rtol=2e-3)

    clear = Material("", (1.0, 1.0, 1.0, 1.0), roughness=0.0, transmission=1.0, ior=1.2)
    slope = Camera(eye=(1.5, 0.4, 3.0), look_at=(0.0, 0.0, 0.0), orthographic=True, height=0.5)
    options = dataclasses.replace(options, depth=10)
    layers = [(*slab(0.7, 0.1, 0), *slab(0.0, -0.9, 1)), (*slab(0.9, 0.0, 1), *slab(-0.1, -0.7, 0))]
    lamp_wall = dataclasses.replace(wall, material_ids=np.full(2, 2, np.int32))
    scenes = (scene_of(*both, lamp_wall, materials=(glass, clear, lamp), lights=(OUT,)) for both in layers)
    there, back = (draw(target, scene, options, 8, slope) for scene in scenes)
    assert there.max() < 2.0 and there.min() > 0.1 and np.allclose(there, back, rtol=2e-3)


def test_a_thin_pane_does_not_bend_light(target: Target) -> None:
    pane = Material("", (1.0, 1.0, 1.0, 1.0), roughness=0.0, transmission=1.0, ior=1.5, is_thin=True)
    lamp = Material("", (0.0, 0.0, 0.0, 1.0), emission=(1.0, 1.0, 1.0), ior=1.0, roughness=1.0)
    lit = mesh_of(
        [[-1, -1, -3], [1, -1, -3], [1, 1, -3], [-1, 1, -3]],
        [[0, 1, 2], [0, 2, 3]],
        normals=[[0, 0, 1]] * 4,
        material=1,
    )
    slope = Camera(eye=(3.0, 0.0, 3.0), look_at=(0.0, 0.0, -3.0), orthographic=True, height=4.0)
    options = WhittedOptions(depth=2, threshold=0.0, **NONE)
    bare, behind = (
        draw(target, scene_of(*meshes, materials=(pane, lamp), lights=(OUT,)), options, 32, slope)
        for meshes in ((lit,), (square(9.0), lit))
    )
    assert np.array_equal(bare > 0.0, behind > 0.0) and 0.8 < behind.max() < 0.93


def test_alpha_cuts_holes_and_covers_in_part(target: Target) -> None:
    pixels = np.full((2, 2, 4), 255, np.uint8)
    pixels[0, 0, 3] = 0
    lamp = Material("", (0.0, 0.0, 0.0, 1.0), emission=(1.0, 0.5, 0.25), roughness=1.0, ior=1.0)
    wall = dataclasses.replace(square(9.0, -1.0), material_ids=np.ones(2, np.int32))
    glow = {"emission": (0.0, 0.0, 1.0), "roughness": 1.0, "ior": 1.0}
    cut = Material("", (0.0, 0.0, 0.0, 1.0), base_color_texture=0, alpha_mode="mask", **glow)
    options = WhittedOptions(depth=2, threshold=0.0, **NONE)
    holes = draw(
        target,
        scene_of(
            square(2.0), square(2.0, -0.5), wall, materials=(cut, lamp), textures=(Texture("", pixels),), lights=(OUT,)
        ),
        options,
        32,
    )
    assert np.allclose(holes[8, 8], (1.0, 0.5, 0.25)) and np.allclose(holes[24, 24], (0.0, 0.0, 1.0)), (
        "through two holes, and not through either"
    )
    veil = Material("", (0.0, 0.0, 0.0, 0.25), alpha_mode="blend", **glow)
    veiled = draw(target, scene_of(square(2.0), wall, materials=(veil, lamp), lights=(OUT,)), options, 8)
    assert np.allclose(veiled, 0.25 * np.array([0.0, 0.0, 1.0]) + 0.75 * np.array([1.0, 0.5, 0.25]), atol=1e-5)
    light = Light("directional", (np.pi, np.pi, np.pi), direction=(0.0, 0.0, -1.0))
    floor = Material("", (1.0, 1.0, 1.0, 1.0), roughness=1.0, ior=1.0)
    floored = scene_of(
        square(2.0, 1.0), wall, materials=(dataclasses.replace(veil, emission=(0.0, 0.0, 0.0)), floor), lights=(light,)
    )
    assert np.allclose(draw(target, floored, options, 8), 0.75**2, atol=1e-4), "seen through it, lit through it"


def test_a_normal_map_turns_the_surface(target: Target) -> None:
    """Red leans along growing u, green along falling v, which is up: lit from the right, and from above."""
    light = {"kind": "directional", "color": (1.0, 1.0, 1.0)}
    for channel, direction in ((0, (-1.0, 0.0, -0.2)), (1, (0.0, -1.0, -0.2))):
        pixels = np.full((1, 1, 4), 128, np.uint8)
        pixels[..., 2] = 218
        pixels[..., channel] = 218
        bumpy = dataclasses.replace(MATT, normal_texture=0)
        unit = np.array(direction) / np.linalg.norm(direction)
        for material, normal in (
            (bumpy, np.where(np.arange(3) == channel, 1.0, 0.0) + [0, 0, 1]),
            (MATT, np.array([0.0, 0.0, 1.0])),
        ):
            scene = scene_of(
                square(3.0),
                materials=(material,),
                textures=(Texture("", pixels, is_srgb=False),),
                lights=(Light(direction=tuple(unit), **light),),
            )
            wanted = np.array(MATT.base_color[:3]) / np.pi * (normal / np.linalg.norm(normal) @ -unit)
            assert np.allclose(draw(target, scene, BARE, 8), wanted, rtol=0.02)


def test_maps_multiply_emission_metalness_and_roughness(target: Target) -> None:
    """Left half and right half of two maps: one shines, the other mirrors a sky of one colour."""
    glow, rough = np.full((1, 2, 4), 255, np.uint8), np.full((1, 2, 4), 255, np.uint8)
    glow[0, 1, :3] = 0
    rough[0, :, 1], rough[0, 0, 2] = 0, 0
    both = Material(
        "",
        (0.5, 0.5, 0.5, 1.0),
        metallic=1.0,
        roughness=1.0,
        emission=(2.0, 1.0, 0.5),
        ior=1.0,
        emission_texture=0,
        metallic_roughness_texture=1,
    )
    textures = (Texture("glow", glow), Texture("rough", rough, is_srgb=False))
    sky = {"background_below": (0.8, 0.8, 0.8), "background_above": (0.8, 0.8, 0.8), "ambient": (0.0, 0.0, 0.0)}
    image = draw(
        target,
        scene_of(square(2.0), materials=(both,), textures=textures, lights=(OUT,)),
        WhittedOptions(threshold=0.0, **sky),
        6,
    )
    assert np.allclose(image[3, 1], (2.0, 1.0, 0.5), rtol=1e-3), "it shines, and paint of index 1 mirrors nothing"
    assert np.allclose(image[3, 4], 0.4, rtol=1e-3), "half of the sky"


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_scene_of_any_size_looks_the_same(target: Target, scale: float) -> None:
    def sized(mesh: Mesh) -> Mesh:
        return dataclasses.replace(mesh, positions=mesh.positions * np.float32(scale))

    light = Light("point", (9.0 * scale**2,) * 3, position=(0.9 * scale, 0.4 * scale, 3.0 * scale))
    scene = scene_of(
        sized(square(3.0)),
        sized(ball(0.6, (0.0, 0.0, 0.8))),
        materials=(dataclasses.replace(MATT, metallic=1.0, roughness=0.05),),
        lights=(light,),
    )
    image = draw(
        target, scene, WhittedOptions(depth=3), 24, Camera(eye=(0, -3.0 * scale, 3.0 * scale), look_at=(0.0, 0.0, 0.0))
    )
    reference = draw(
        target,
        scene_of(square(3.0), ball(0.6, (0.0, 0.0, 0.8)), materials=scene.materials, lights=(Light("point", (9.0,) * 3,
        position=(0.9, 0.4, 3.0)),)),
        WhittedOptions(depth=3), 24, Camera(eye=(0, -3.0, 3.0), look_at=(0.0, 0.0, 0.0)),
    )  # fmt: skip
    assert np.mean(np.abs(image - reference).max(axis=-1) > 0.01) < 0.01


def test_a_scene_without_lights_materials_or_normals_is_seen(target: Target) -> None:
    plain = dataclasses.replace(square(1.0), normals=None, uvs=None)
    image = draw(
        target,
        Scene("plain", meshes=(plain,), objects=scene_of(plain).objects, materials=()),
        WhittedOptions(**NONE),
        8,
    )
    assert image[4, 4].min() > 0.3 and not image[0, 0].any()


def test_glass_around_glass_takes_its_light_before_and_after(target: Target) -> None:
    """A clear layer within a tinted one of the same index: light is in the tinted one again once it has left the clear
    one, and loses there what Beer's law says."""
    tint, ior = np.array([0.3, 0.6, 0.9]), 1.6
    clear = Material("", (1.0, 1.0, 1.0, 1.0), roughness=0.0, transmission=1.0, ior=ior)
    tinted = dataclasses.replace(clear, attenuation_color=tuple(tint), attenuation_distance=0.7)
    lamp = Material("", (0.0, 0.0, 0.0, 1.0), emission=(2.0, 2.0, 2.0), ior=1.0, roughness=1.0)
    wall = dataclasses.replace(square(9.0, -2.0), material_ids=np.full(2, 2, np.int32))
    nested = scene_of(*slab(0.7, -0.7, 0), *slab(0.5, 0.1, 1), wall, materials=(tinted, clear, lamp), lights=(OUT,))
    fresnel, left = ((ior - 1.0) / (ior + 1.0)) ** 2, tint ** ((0.2 + 0.8) / 0.7)
    expected = 2.0 * (1.0 - fresnel) ** 2 * left / (1.0 - (fresnel * left) ** 2)
    image = draw(target, nested, WhittedOptions(depth=9, threshold=0.0, **NONE), 8)
    assert np.allclose(image, expected, rtol=4e-3)
