"""Spheres that shine, as paths sample them: against the irradiance of a sphere in float64, in a closed sphere whose
radiance is known, and against meeting them by chance."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Light, Material, Mesh, Node, Object, Scene, Spheres
from raygrove.gpu.shade import emitters, materials
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.target.base import Target

from .linear import DARK, draw_linear
from .pictures import mesh_of, square

MATTE = Material("matte", (0.5, 0.5, 0.5, 1.0), roughness=1.0, ior=1.0)
LAMP = Material("lamp", (0.0, 0.0, 0.0, 1.0), roughness=1.0, ior=1.0, emission=(4.0, 2.0, 1.0), is_double_sided=False)
SIDE, HEIGHT = 24, 4.0
ABOVE = Camera(eye=(0.0, 0.0, 9.0), orthographic=True, height=HEIGHT)


def scene_of(
    centres: list[tuple[float, float, float]], radii: list[float], *given: Material, mesh: Mesh | None = None
) -> Scene:
    """Spheres of the second material over a floor of the first, or beside nothing."""
    spheres = Spheres("lamps", np.array(centres, np.float32), np.array(radii, np.float32), material_id=len(given) - 1)
    meshes = () if mesh is None else (mesh,)
    objects = (*(Object(0, index) for index in range(len(meshes))), Object(0, spheres=0))
    lower, upper = (-3.0, -3.0, -1.0), (3.0, 3.0, 3.0)
    return Scene("lamps", (Node(),), meshes, objects, (spheres,), materials=given, lower=lower, upper=upper)


def places() -> tuple[np.ndarray, np.ndarray]:
    """Where on the floor each pixel of ABOVE looks."""
    along = ((np.arange(SIDE) + 0.5) / SIDE - 0.5) * HEIGHT
    x, y = np.meshgrid(along, -along)
    return x, y


def irradiance(centre: tuple[float, float, float], radius: float) -> np.ndarray:
    """At the places of the floor z = 0, of a sphere of radiance 1 that is above it as a whole: pi r^2 / d^2 cos."""
    x, y = places()
    squared = (x - centre[0]) ** 2 + (y - centre[1]) ** 2 + centre[2] ** 2
    return np.pi * radius**2 / squared * centre[2] / np.sqrt(squared)


@pytest.mark.parametrize("strategy", ["megakernel", "wavefront"])
@pytest.mark.parametrize(("centre", "radius"), [((0.3, -0.2, 1.0), 0.4), ((9.0, 2.0, 30.0), 0.02)], ids=["near", "far"])
def test_a_floor_has_the_irradiance_of_the_sphere(
    target: Target, strategy: str, centre: tuple[float, float, float], radius: float
) -> None:
    """Every pixel, of 64 samples: meeting so small a lamp by chance would leave nearly all of them black."""
    lamp = dataclasses.replace(LAMP, emission=tuple(value / radius**2 for value in LAMP.emission))
    scene = scene_of([centre], [radius], MATTE, lamp, mesh=square(9.0))
    options = PathOptions(bounces=1, strategy=strategy, **DARK)
    found, _ = draw_linear(target, scene, ABOVE, (SIDE, SIDE), options, 64)
    x, y = places()
    floor = np.hypot(x - centre[0], y - centre[1]) > radius + 2.0 * HEIGHT / SIDE
    wanted = 0.5 / np.pi * irradiance(centre, radius)[..., None] * np.array(lamp.emission)
    assert found[floor] == pytest.approx(wanted[floor], rel=0.12 if radius > 0.1 else 0.02)
    assert found[floor].mean(axis=0) == pytest.approx(wanted[floor].mean(axis=0), rel=0.005)


@pytest.mark.parametrize("albedo", [0.5, 0.8])
def test_a_closed_sphere_has_its_analytic_radiance(target: Target, albedo: float) -> None:
    """From within: the walls light one another, and each is sampled as a lamp and met by chance."""
    wall = Material("wall", (albedo, albedo, albedo, 1.0), roughness=1.0, ior=1.0, emission=(1.0, 1.0, 1.0))
    camera = Camera(eye=(0.1, 0.2, 0.3), fov=90.0)
    options = PathOptions(bounces=32, roulette_from=4, **DARK)
    found, _ = draw_linear(target, scene_of([(0.0, 0.0, 0.0)], [1.0], wall), camera, (16, 16), options, 96)
    assert found.mean() == pytest.approx(1.0 / (1.0 - albedo), rel=0.01)
    assert np.abs(found.reshape(2, 8, 2, 8, 3).mean(axis=(1, 3)) * (1.0 - albedo) - 1.0).max() < 0.03


def test_sampling_spheres_changes_noise_alone(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many lamps of many sizes, one absent and one that is a triangle, over a floor that shines back by its gloss."""
    glossy = Material("glossy", (0.6, 0.6, 0.6, 1.0), metallic=0.5, roughness=0.4)
    floor = mesh_of([[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0], [-1, -1, 2], [-1, 1, 2], [1, 1, 2.2]],
                    [[0, 1, 2], [0, 2, 3], [4, 5, 6]])  # fmt: skip
    floor = dataclasses.replace(floor, material_ids=np.array([0, 0, 1], np.int32))
    centres = [(-1.0, -0.8, 0.5), (0.9, 0.4, 0.8), (0.2, -1.0, 0.3), (0.0, 0.0, 0.4)]
    scene = scene_of(centres, [0.45, 0.3, 0.25, -1.0], glossy, LAMP, mesh=floor)
    options, means = PathOptions(bounces=2, **DARK), []
    for table in (emitters.emitter_table, lambda *_: (np.zeros(0, np.int32), np.zeros(0, np.float32))):
        monkeypatch.setattr(materials, "emitter_table", table)
        dark = dataclasses.replace(scene, lights=(Light("point", (0.0, 0.0, 0.0)),))  # so that there is no headlight
        found, _ = draw_linear(target, dark, ABOVE, (SIDE, SIDE), options, 512)
        means.append(found.reshape(3, 8, 3, 8, 3).mean(axis=(1, 3)))
    assert means[0] == pytest.approx(means[1], rel=0.05)
    assert means[0].mean() == pytest.approx(means[1].mean(), rel=0.01)


def test_the_table_of_spheres_and_triangles() -> None:
    floor = dataclasses.replace(square(1.0), material_ids=np.array([1, 0], np.int32))
    scene = scene_of([(0.0, 0.0, 2.0)] * 3, [0.5, -1.0, 1.0], MATTE, LAMP, mesh=floor)
    ids, cdf = emitters.emitter_table(scene, scene.materials)
    assert ids.tolist() == [0, 2, 3, 4] and cdf[-1] == 1.0
    areas = np.array([2.0, np.pi, 0.0, 4.0 * np.pi])
    np.testing.assert_allclose(np.diff(cdf, prepend=0.0), areas / areas.sum(), atol=1e-6)
    assert emitters.emitter_table(scene, scene.materials, {1})[0].tolist() == [0]
    assert emitters.emitter_table(scene, scene.materials, {0})[0].tolist() == [2, 3, 4]
