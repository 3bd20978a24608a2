"""Shading against formulas in float64: Lambert, Blinn-Phong, Phong, shadows of a sphere on a plane, textures,
backgrounds, the heat map."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import pytest

from raygrove.gpu.attributes import MAPS
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Light, Material, Moment, Scene, Texture
from raygrove.gpu.shade import srgb
from raygrove.gpu.shade.color_maps import NAMES, color_map
from raygrove.gpu.shade.flat import FlatOptions
from raygrove.gpu.shade.smooth import SmoothOptions
from raygrove.gpu.shade.steps import LABELS, Steps, StepsOptions, StepsPresentation
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import pixel_order

from .pictures import mesh_of, picture, scene_of, square

BLACK = {"background_below": (0.0, 0.0, 0.0), "background_above": (0.0, 0.0, 0.0)}
BARE = SmoothOptions(ambient=(0.0, 0.0, 0.0), **BLACK)
MATT = Material(base_color=(0.6, 0.5, 0.4, 1.0), metallic=0.0, roughness=1.0)
DOWN = Camera(eye=(0, 0, 4), orthographic=True, height=4.0)


def pixel_places(size: int, extent: float) -> tuple[np.ndarray, np.ndarray]:
    """World x and y of the pixel centres of a square orthographic picture from above, (size, size)."""
    steps = (np.arange(size) + 0.5) / size - 0.5
    return np.meshgrid(steps * extent, -steps * extent)


def reflected(
    material: Material, normal: np.ndarray, to_eye: np.ndarray, to_light: np.ndarray, irradiance: np.ndarray
) -> np.ndarray:
    """Lambert and normalised Blinn-Phong as smooth.cuh's heading defines them, (..., 3)."""
    base = np.array(material.base_color[:3])
    specular = 0.04 + (base - 0.04) * material.metallic
    exponent = max(2.0 / material.roughness**4 - 2.0, 1.0)
    half = to_eye + to_light
    half /= np.linalg.norm(half, axis=-1, keepdims=True)
    peak = np.clip(np.sum(normal * half, -1, keepdims=True), 0, 1) ** exponent * (exponent + 8.0) / (8.0 * np.pi)
    cosine = np.maximum(np.sum(normal * to_light, -1, keepdims=True), 0.0)
    return (base * (1.0 - material.metallic) / np.pi + specular * peak) * irradiance * cosine


def reflected_by_phong(
    material: Material, normal: np.ndarray, to_eye: np.ndarray, to_light: np.ndarray, irradiance: np.ndarray
) -> np.ndarray:
    """Lambert and Phong's lobe about the mirrored light as smooth.cuh's heading defines them, (..., 3)."""
    base = np.array(material.base_color[:3])
    specular = 0.04 + (base - 0.04) * material.metallic
    exponent = max(2.0 / material.roughness**4 - 2.0, 1.0) / 4.0
    cosine = np.sum(normal * to_light, -1, keepdims=True)
    mirrored = 2.0 * cosine * normal - to_light
    peak = np.clip(np.sum(mirrored * to_eye, -1, keepdims=True), 0, 1) ** exponent * (exponent + 2.0) / (2.0 * np.pi)
    diffuse = base * (1.0 - material.metallic) / np.pi * cosine
    return np.where(cosine > 0.0, (diffuse + specular * peak) * irradiance, 0.0)


def assert_close(image: np.ndarray, linear: np.ndarray, levels: int = 1) -> None:
    assert np.max(np.abs(image[..., :3].astype(int) - np.round(srgb.encode(linear) * 255).astype(int))) <= levels


@pytest.mark.parametrize("model", ["blinn_phong", "phong"])
@pytest.mark.parametrize(
    "material", [MATT, Material(metallic=1.0, roughness=0.5, base_color=(0.9, 0.6, 0.3, 1.0)), Material(roughness=0.25)]
)
@pytest.mark.parametrize("kind", ["point", "directional"])
def test_a_lit_plane_obeys_the_formula(target: Target, material: Material, kind: str, model: str) -> None:
    light = Light(kind, (6.0, 5.0, 4.0), position=(0.5, -0.3, 1.5), direction=(0.2, 0.3, -1.0))
    scene = scene_of(square(3.0), materials=(material,), lights=(light,))
    image = picture(target, scene, DOWN, (96, 96), options=dataclasses.replace(BARE, model=model))
    x, y = pixel_places(96, 4.0)
    places = np.stack([x, y, np.zeros_like(x)], -1)
    to_light, irradiance = np.broadcast_to(-np.array(light.direction), places.shape), np.array(light.color)
    if kind == "point":
        to_light = np.array(light.position) - places
        irradiance = irradiance / np.sum(to_light**2, -1, keepdims=True)
    to_light = to_light / np.linalg.norm(to_light, axis=-1, keepdims=True)
    up = np.broadcast_to([0.0, 0.0, 1.0], places.shape)
    formula = {"blinn_phong": reflected, "phong": reflected_by_phong}[model]
    assert_close(image, formula(material, up, up, to_light, irradiance))


def test_phongs_highlight_on_a_sphere_is_about_the_mirrored_light(target: Target) -> None:
    """From the side, where the two models differ, and where the light is behind the surface nothing shines."""
    light = Light("directional", (2.0, 2.0, 2.0), direction=(1.0, 0.0, 0.15))
    options = dataclasses.replace(BARE, model="phong", shadows=False)
    shiny = Material(roughness=0.6, base_color=(0.2, 0.3, 0.4, 1.0), metallic=0.3)
    scene = dataclasses.replace(sphere_scene(light), materials=(shiny,))
    image = picture(target, scene, DOWN, (256, 256), options=options)
    x, y = pixel_places(256, 4.0)
    height = np.sqrt(np.maximum(0.0, 1.0 - (np.hypot(x, y) / 0.4) ** 2))
    ball = height > 0.25
    normal = np.stack([x / 0.4, y / 0.4, height], -1)
    up = np.broadcast_to([0.0, 0.0, 1.0], normal.shape)
    to_light = -np.array(light.direction) / np.linalg.norm(light.direction)
    to_light = np.broadcast_to(to_light, normal.shape)
    expected = reflected_by_phong(shiny, normal, up, to_light, np.full(3, 2.0))
    other = reflected(shiny, normal, up, to_light, np.full(3, 2.0))
    assert np.max(np.abs(srgb.encode(expected) - srgb.encode(other))[ball]) > 0.1, "the models differ here"
    assert np.any(expected[ball] == 0.0) and np.any(expected[ball] > 0.2)
    terminator = np.abs(np.sum(normal * to_light, -1)) < 0.02
    assert_close(image[ball & ~terminator], expected[ball & ~terminator], 2)


def sphere_scene(light: Light) -> Scene:
    """A sphere of radius .4 at height .8 above a plane."""
    steps = 96
    theta, phi = np.meshgrid(np.linspace(0, np.pi, steps + 1), np.linspace(0, 2 * np.pi, 2 * steps + 1), indexing="ij")
    normals = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], -1).reshape(-1, 3)
    corner = np.arange(steps)[:, None] * (2 * steps + 1) + np.arange(2 * steps)
    right, below = corner + 1, corner + 2 * steps + 1
    triangles = np.concatenate([np.stack([corner, below, right], -1), np.stack([right, below, below + 1], -1)]).reshape(
        -1, 3
    )
    sphere = mesh_of(normals * 0.4 + [0, 0, 0.8], triangles, normals=normals)
    return scene_of(square(3.0), sphere, materials=(MATT,), lights=(light,))


@pytest.mark.parametrize("kind", ["point", "directional"])
def test_a_spheres_shadow_is_its_projection(target: Target, kind: str) -> None:
    light = Light(kind, (9.0, 9.0, 9.0), position=(0.9, 0.4, 3.0), direction=(-0.4, -0.2, -1.0))
    image = picture(target, sphere_scene(light), DOWN, (160, 160), options=BARE)
    x, y = pixel_places(160, 4.0)
    places = np.stack([x, y, np.zeros_like(x)], -1)
    to_light = (
        np.array(light.position) - places
        if kind == "point"
        else np.broadcast_to(-np.array(light.direction), places.shape)
    )
    unit = to_light / np.linalg.norm(to_light, axis=-1, keepdims=True)
    from_centre = np.array([0.0, 0.0, 0.8]) - places
    along = np.sum(from_centre * unit, -1)
    miss = np.sqrt(np.sum(from_centre**2, -1) - along**2)
    on_plane = np.hypot(x, y) > 0.42
    sure_dark, sure_lit = on_plane & (miss < 0.395), on_plane & (miss > 0.402)
    assert sure_dark.sum() > 100
    assert np.all(image[sure_dark][:, :3] == 0)
    assert np.all(image[sure_lit][:, :3] > 0)
    unshadowed = picture(
        target, sphere_scene(light), DOWN, (160, 160), options=dataclasses.replace(BARE, shadows=False)
    )
    assert np.all(unshadowed[on_plane][:, :3] > 0)
    assert np.array_equal(unshadowed[sure_lit], image[sure_lit])


def test_a_lit_surface_does_not_shadow_itself(target: Target) -> None:
    # The upper half of a sphere under a light above its pole: no speck may be dark.
    light = Light("directional", (3.0, 3.0, 3.0), direction=(0.0, 0.0, -1.0))
    image = picture(target, sphere_scene(light), DOWN, (256, 256), options=BARE)
    x, y = pixel_places(256, 4.0)
    height = np.sqrt(np.maximum(0.0, 1.0 - (np.hypot(x, y) / 0.4) ** 2))
    top = height > 0.15
    to_eye = np.broadcast_to([0.0, 0.0, 1.0], (*x.shape, 3))
    expected = reflected(MATT, np.stack([x / 0.4, y / 0.4, height], -1), to_eye, to_eye, np.full(3, 3.0))
    assert top.sum() > 1500
    assert_close(image[top], expected[top], 2)


def test_light_from_behind_leaves_ambient_and_emission(target: Target) -> None:
    light = Light("point", (50.0, 50.0, 50.0), position=(0.0, 0.0, -1.0))
    glowing = dataclasses.replace(MATT, emission=(0.1, 0.2, 0.3))
    options = dataclasses.replace(BARE, ambient=(0.5, 0.25, 0.1))
    image = picture(
        target, scene_of(square(3.0), materials=(glowing,), lights=(light,)), DOWN, (16, 16), options=options
    )
    expected = np.array([0.1, 0.2, 0.3]) + (np.array([0.6, 0.5, 0.4]) + 0.04) * np.array([0.5, 0.25, 0.1])
    assert_close(image, np.broadcast_to(expected, (16, 16, 3)))


def test_both_sides_of_a_triangle_are_lit_alike(target: Target) -> None:
    light = Light("directional", (2.0, 2.0, 2.0), direction=(0.3, 0.1, -1.0))
    front = square(3.0)
    back = dataclasses.replace(front, triangles=np.ascontiguousarray(front.triangles[:, ::-1]))
    turned = dataclasses.replace(front, normals=-np.asarray(front.normals))
    images = [
        picture(target, scene_of(mesh, lights=(light,)), DOWN, (24, 24), options=BARE) for mesh in (front, back, turned)
    ]
    assert images[0][12, 12, 0] > 50
    assert np.array_equal(images[0], images[1]) and np.array_equal(images[0], images[2])


def test_a_scene_without_lights_is_lit_from_the_eye(target: Target) -> None:
    scene = scene_of(square(3.0), materials=(MATT,))
    image = picture(target, scene, DOWN, (16, 16), options=BARE)
    to_eye = np.broadcast_to([0.0, 0.0, 1.0], (16, 16, 3))
    assert_close(image, reflected(MATT, to_eye, to_eye, to_eye, np.full(3, np.pi)))


def test_normals_that_look_away_at_a_silhouette_are_mirrored_to_the_eye(target: Target) -> None:
    # A strip turned 80 degrees from the eye, whose vertices' normals run from 70 to 110 degrees: no light would reach
    # beyond 90.
    across = np.array([np.cos(np.radians(80.0)), 0.0, -np.sin(np.radians(80.0))])
    corners = np.array([-across + [0, 1, 0], across + [0, 1, 0], across - [0, 1, 0], -across - [0, 1, 0]])
    angles = np.radians([70.0, 110.0, 110.0, 70.0])
    normals = np.stack([np.sin(angles), np.zeros(4), np.cos(angles)], -1)
    scene = scene_of(mesh_of(corners, [[0, 2, 1], [0, 3, 2]], normals=normals), materials=(MATT,))
    camera = Camera(eye=(0, 0, 4), orthographic=True, height=float(2.0 * across[0]))
    image = picture(target, scene, camera, (128, 128), options=BARE)
    x = (np.arange(128) + 0.5) / 64.0 - 1.0
    blended = np.outer(1.0 - x, normals[0]) + np.outer(1.0 + x, normals[1])
    blended /= np.linalg.norm(blended, axis=-1, keepdims=True)
    blended[:, 2] = np.abs(blended[:, 2])
    to_eye = np.broadcast_to([0.0, 0.0, 1.0], blended.shape)
    assert_close(image[64], reflected(MATT, blended, to_eye, to_eye, np.full(3, np.pi)), 2)
    assert np.all(image[64, 80:, :3] > 20)


def bilinear(texels: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Repeating bilinear lookup of (H, W, C) float64 texels, v downwards."""
    height, width = texels.shape[:2]
    x, y = u * width - 0.5, v * height - 0.5
    x0, y0 = np.floor(x).astype(int), np.floor(y).astype(int)
    s, t = (x - x0)[..., None], (y - y0)[..., None]

    def texel(column: np.ndarray, row: np.ndarray) -> np.ndarray:
        return texels[row % height, column % width]

    return (1 - t) * ((1 - s) * texel(x0, y0) + s * texel(x0 + 1, y0)) + t * (
        (1 - s) * texel(x0, y0 + 1) + s * texel(x0 + 1, y0 + 1)
    )


@pytest.mark.parametrize("is_srgb", [True, False])
def test_textures_are_filtered_in_linear_light_and_repeat(target: Target, is_srgb: bool) -> None:
    rng = np.random.default_rng(4)
    first = Texture("unused", rng.integers(0, 256, (3, 2, 4), dtype=np.uint8))
    texture = Texture("used", rng.integers(0, 256, (5, 7, 4), dtype=np.uint8), is_srgb)
    material = dataclasses.replace(MATT, base_color=(1.0, 0.5, 0.25, 1.0), base_color_texture=1)
    options = dataclasses.replace(BARE, ambient=(1.0, 1.0, 1.0))
    light = Light("directional", (0.0, 0.0, 0.0))
    scene = scene_of(square(2.0, uv=2.5), materials=(material,), textures=(first, texture), lights=(light,))
    image = picture(target, scene, DOWN, (128, 128), options=options)
    u, v = np.meshgrid((np.arange(128) + 0.5) / 128 * 2.5, (np.arange(128) + 0.5) / 128 * 2.5)
    texels = srgb.decode(texture.pixels[..., :3] / 255.0) if is_srgb else texture.pixels[..., :3] / 255.0
    assert_close(image, bilinear(texels, u, v) * [1.0, 0.5, 0.25] + 0.04)


def test_coordinates_below_zero_and_not_finite(target: Target) -> None:
    texture = Texture("", np.random.default_rng(0).integers(0, 256, (4, 4, 4), dtype=np.uint8))
    material = dataclasses.replace(MATT, base_color_texture=0)
    mesh = square(2.0)
    shifted = dataclasses.replace(mesh, uvs=np.asarray(mesh.uvs) - np.float32(3.0))
    images = [
        picture(target, scene_of(m, materials=(material,), textures=(texture,)), DOWN, (64, 64), options=BARE)
        for m in (mesh, shifted)
    ]
    assert np.max(np.abs(images[0].astype(int) - images[1])) <= 1
    broken = dataclasses.replace(mesh, uvs=np.full((4, 2), np.nan, np.float32))
    image = picture(target, scene_of(broken, materials=(material,), textures=(texture,)), DOWN, (64, 64), options=BARE)
    assert image[..., :3].any()


def test_a_missing_texture_is_a_plain_colour(target: Target) -> None:
    material = dataclasses.replace(MATT, base_color_texture=5)
    plain = picture(target, scene_of(square(2.0), materials=(MATT,)), DOWN, (16, 16), options=BARE)
    assert np.array_equal(
        picture(target, scene_of(square(2.0), materials=(material,)), DOWN, (16, 16), options=BARE), plain
    )


@pytest.mark.parametrize("ray_type", ["flat", "smooth"])
def test_the_background_is_a_gradient_by_height(target: Target, ray_type: str) -> None:
    kind = {"flat": FlatOptions, "smooth": SmoothOptions}[ray_type]
    options = kind(background_below=(0.1, 0.0, 0.5), background_above=(0.3, 0.8, 0.5))
    camera = Camera(eye=(0, 0, 0), look_at=(0, 0, 1), fov=90.0)
    image = picture(target, Scene("empty"), camera, (32, 32), ray_type, options)
    x, y = np.meshgrid((np.arange(32) + 0.5) / 16 - 1, 1 - (np.arange(32) + 0.5) / 16)
    height = y / np.sqrt(1 + x**2 + y**2) * 0.5 + 0.5
    assert_close(image, np.array([0.1, 0.0, 0.5]) + height[..., None] * np.array([0.2, 0.8, 0.0]))


def test_flat_shades_each_triangle_by_its_own_normal(target: Target) -> None:
    slope = mesh_of([[-2, -2, -2], [2, -2, 2], [2, 2, 2], [-2, 2, -2]], [[0, 1, 2], [0, 2, 3]])
    options = FlatOptions(color=(0.5, 0.7, 0.9), ambient=0.2, **BLACK)  # type: ignore[arg-type]
    image = picture(target, scene_of(slope), DOWN, (32, 32), "flat", options)
    assert_close(image, np.broadcast_to(np.array([0.5, 0.7, 0.9]) * (0.2 + 0.8 * np.sqrt(0.5)), (32, 32, 3)))


def test_steps_take_the_color_map_and_its_ends(target: Target) -> None:
    # Without a tree every ray visits one node, is tested against no box, and against both triangles.
    scene = scene_of(square(3.0))
    for options, name, index in (
        (StepsOptions(maximum=1), "viridis", 255), (StepsOptions(maximum=2), "viridis", 128),
        (StepsOptions(maximum=100000), "viridis", 0),
        (StepsOptions("primitives", maximum=4, colors="magma"), "magma", 128), (StepsOptions("total", maximum=2,
        colors="plasma"), "plasma", 255),
        (StepsOptions("total", 1, 3, colors="spectrum"), "spectrum", 128), (StepsOptions("total", 5, 9), "viridis", 0),
        (StepsOptions("total", 7, 3), "viridis", 0), (StepsOptions("total", 1, 1), "viridis", 255),
        (StepsOptions("boxes", maximum=2), "viridis", 0),
    ):  # fmt: skip
        image = picture(target, scene, DOWN, (16, 16), "steps", options, hierarchy="brute_force")
        assert np.all(image[..., :3] == color_map(name)[index]), options
    legend = StepsPresentation.legend(Steps, StepsOptions("primitives", 8, 64, colors="magma"))
    assert (legend.label, legend.low, legend.high) == (LABELS["primitives"], 8.0, 64.0) and np.array_equal(
        legend.colors, color_map("magma")
    )


@pytest.mark.parametrize("name", NAMES)
def test_color_maps_tell_every_step_apart(name: str) -> None:
    colors = color_map(name)
    luminance = srgb.decode(colors / 255.0) @ [0.2126, 0.7152, 0.0722]
    assert colors.shape == (256, 3) and np.max(np.abs(np.diff(colors.astype(int), axis=0))) <= 12
    assert len(np.unique(colors, axis=0)) > 220
    if name == "blue_white_brown":
        light = np.sum(colors, axis=1, dtype=int)
        assert np.all(np.diff(light[:128]) > 0) and np.all(np.diff(light[128:]) < 0), "lightest in the middle"
        assert np.all(colors[[0, 255]] == [[0x21, 0x66, 0xAC], [0xB3, 0x58, 0x06]]) and np.all(colors[127:129] >= 244)
    elif name != "spectrum":
        assert np.all(luminance[8:] > luminance[:-8]) and luminance[0] < 0.025 and luminance[-1] > 0.7


@pytest.mark.parametrize("name", ["viridis", "cividis", "inferno", "magma", "plasma"])
def test_color_maps_are_those_of_their_names(name: str) -> None:
    known = pytest.importorskip("matplotlib").colormaps[name](np.linspace(0.0, 1.0, 256))[:, :3]
    assert np.abs(color_map(name) / 255.0 - known).max() < 0.065  # lines between ten points of it


def test_spheres_are_coloured_by_the_same_maps() -> None:
    assert MAPS == NAMES


def test_samples_smooth_an_edge(target: Target) -> None:
    half = mesh_of([[-9, -9, 0], [0.013, -9, 0], [0.013, 9, 0], [-9, 9, 0]], [[0, 1, 2], [0, 2, 3]])
    options = FlatOptions(color=(1.0, 1.0, 1.0), ambient=1.0, **BLACK)  # type: ignore[arg-type]
    once = picture(target, scene_of(half), DOWN, (40, 40), "flat", options)
    often = picture(target, scene_of(half), DOWN, (40, 40), "flat", options, samples=64)
    assert set(np.unique(once[..., 0])) == {0, 255}
    assert srgb.decode(often[:, 20, 0] / 255.0) == pytest.approx(0.13, abs=0.03)


def test_pixels_lie_where_rays_go(target: Target) -> None:
    # A small square in the upper left: row 0 is on top.
    corner = mesh_of([[-2, 1, 0], [-1, 1, 0], [-1, 2, 0], [-2, 2, 0]], [[0, 1, 2], [0, 2, 3]])
    image = picture(target, scene_of(corner), DOWN, (40, 40), "flat", FlatOptions(**BLACK))  # type: ignore[arg-type]
    lit = image[..., 0] > 0
    assert lit[:10, :10].all() and lit.sum() == 100
    assert pixel_order(40, 40)[0].max() == 39


@pytest.mark.parametrize("alpha_mode", ["opaque", "blend"])
def test_shadow_rays_are_those_of_hits_that_face_the_light(target: Target, alpha_mode: str) -> None:
    """A ridge seen from above, with nothing beside it: each slope is lit by the sun on its side alone, both by the one
    over it, none by that below. The ridge runs through the middle of packs of rays."""
    ridge, width = 0.0625 * 3, 0.0625 * 20  # in pixels of 1/16
    corners = [
        [ridge - width, -1, -1],
        [ridge, -1, 0],
        [ridge, 1, 0],
        [ridge - width, 1, -1],
        [ridge + width, -1, -1],
        [ridge + width, 1, -1],
    ]
    roof = mesh_of(corners, [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]])
    directions = [(-1.0, 0.0, -0.2), (1.0, 0.0, -0.2), (0.0, 0.0, -1.0), (0.0, 0.0, 1.0)]
    lights = tuple(Light("directional", (1.0, 1.0, 1.0), direction=direction) for direction in directions)
    for some, slopes in ((lights, 4), (lights[:1], 1), (lights[3:], 0)):
        scene = scene_of(roof, materials=(dataclasses.replace(MATT, alpha_mode=alpha_mode),), lights=some)
        view = ViewSettings(ray_type="smooth", ray_type_options=BARE)
        with contextlib.closing(Engine(target, scene)) as engine:
            engine.render_frame(Moment(), [View(view, DOWN, ArrayPixels(target, 64, 64))])
            found = engine.flush().views[0]
        assert found.rays_by_kind == {"primary": 64 * 64} | ({"shadow": slopes * 20 * 32} if slopes else {})
        assert found.rays == sum(found.rays_by_kind.values())
