"""Spheres are shaded as what they are: points and normals against float64, every ray type, the same picture through
every structure, hidden and shown, clipped, around the camera."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.clip import ClipOptions
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.octahedral import octahedral_direction
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import (
    ABSENT,
    Light,
    Material,
    Moment,
    Node,
    Object,
    Scene,
    SphereKeys,
    Spheres,
    Texture,
)
from raygrove.gpu.shade.registry import ray_type, ray_types
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions
from raygrove.testing.closest_hits import mixed_hits

from .linear import draw_linear
from .pictures import picture, square

SIZE = (48, 40)
CAMERA = Camera(eye=(0.0, 0.3, 4.0), look_at=(0.0, 0.0, 0.0))
LAMP = Light("point", (20.0, 20.0, 20.0), (2.0, 3.0, 3.0))


def balls(count: int = 60, seed: int = 2015) -> Spheres:
    """Spheres in two key frames, half of them with a colour of their own in a third; one absent, one only later."""
    random = np.random.default_rng(seed)
    centres = random.uniform(-1, 1, (2, count, 3)).astype(np.float32)
    radii = random.uniform(0.05, 0.3, (2, count)).astype(np.float32)
    radii[:, 3], radii[0, 4] = ABSENT, ABSENT
    colours = random.random((count, 3)).astype(np.float32)
    keys = SphereKeys(np.array([0.0, 1.0], np.float32), centres, radii)
    return Spheres("balls", centres[0], radii[0], colours, 1, np.arange(count) + 1000, key_frames=keys)


def both(**fields: Any) -> Scene:
    """A wall, and spheres before it."""
    scene = Scene(
        "both",
        (Node(), Node(translation=(0.2, 0.0, 0.0), scale=(1.1,) * 3)),
        (square(2.0, -1.0),),
        (Object(0, 0), Object(1, spheres=0)),
        (balls(),),
        materials=(Material(), Material(base_color=(0.2, 0.5, 0.9, 1.0), metallic=0.3, roughness=0.4)),
        lights=(LAMP,),
        lower=(-2.0, -2.0, -1.0),
        upper=(2.0, 2.0, 1.5),
    )
    return dataclasses.replace(scene, **fields)


def alone(**fields: Any) -> Scene:
    """The spheres without a wall."""
    return both(meshes=(), objects=(Object(1, spheres=0),), **fields)


def buffers_of(target: Target, scene: Scene, camera: Camera = CAMERA, time: float = 0.25, **settings: Any) -> Any:
    view = View(ViewSettings(**settings), camera, ArrayPixels(target, *SIZE))
    with contextlib.closing(Engine(target, scene)) as engine:
        engine.render_frame(Moment(time), [view])
        return engine.buffers(view)


def world(scene: Scene, time: float) -> tuple[np.ndarray, np.ndarray]:
    """Centres and radii in the scene, float64."""
    keys = scene.spheres[0].key_frames
    assert keys is not None and keys.radii is not None
    centres, radii = keys.centres.astype(np.float64), keys.radii.astype(np.float64)
    lasting = (radii > 0).all(axis=0)
    first = 0 if time < 0.5 else 1
    centre = np.where(lasting[:, None], centres[0] + (centres[1] - centres[0]) * time, centres[first])
    radius = np.where(lasting, radii[0] + (radii[1] - radii[0]) * time, radii[first])
    return 1.1 * centre + [0.2, 0.0, 0.0], np.where(radius > 0, 1.1 * radius, -1.0)


@pytest.mark.parametrize("make", [both, alone])
@pytest.mark.parametrize("time", [0.25, 0.75])
def test_buffers_are_those_of_float64(target: Target, make: Any, time: float) -> None:
    scene = make()
    found = buffers_of(target, scene, time=time, hierarchy="lbvh")
    centres, radii = world(scene, time)
    corners = np.concatenate([mesh.positions[mesh.triangles] for mesh in scene.meshes] or [np.zeros((0, 3, 3))])
    rows = CAMERA.frame(*SIZE).astype(np.float64).reshape(4, 4)
    s, t = (np.arange(SIZE[0]) + 0.5) / SIZE[0] - 0.5, (np.arange(SIZE[1]) + 0.5) / SIZE[1] - 0.5
    directions = rows[1, :3] + rows[2, :3] * s[None, :, None] + rows[3, :3] * t[:, None, None]
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    flat, eye = directions.reshape(-1, 3), np.broadcast_to(rows[0, :3], (SIZE[0] * SIZE[1], 3))
    hits = mixed_hits(corners, centres, radii, eye, flat)
    sure = hits.is_certain.reshape(SIZE[1], SIZE[0])
    expected = hits.prim_id.reshape(sure.shape)
    np.testing.assert_array_equal(found["prim_id"][sure], expected[sure])
    on_sphere = sure & (expected >= len(corners))
    assert on_sphere.sum() > 300
    which = expected[on_sphere] - len(corners)
    points = (
        eye.reshape(*sure.shape, 3)[on_sphere] + hits.t.reshape(sure.shape)[on_sphere, None] * directions[on_sphere]
    )
    normals = (points - centres[which]) / radii[which, None]
    facing = -np.einsum("ij,ij->i", normals, directions[on_sphere])
    assert np.abs(found["normal"][on_sphere] - normals)[facing > 0.1].max() < 2e-4
    assert (found["object_id"][on_sphere] == len(scene.objects) - 1).all()


@pytest.mark.parametrize("name", list(ray_types()))
def test_every_ray_type_draws_both(target: Target, name: str) -> None:
    """Other spheres, another picture: by one set of kernels."""
    shown = picture(target, both(), CAMERA, SIZE, name, hierarchy="lbvh", samples=2)
    others = picture(target, both(spheres=(balls(seed=1),)), CAMERA, SIZE, name, hierarchy="lbvh", samples=2)
    assert (shown[..., 3] == 255).all() and (shown != others).any(axis=-1).mean() > 0.05


@pytest.mark.parametrize("name", ["whitted", "path", "ao", "diffuse"])
def test_both_strategies_draw_the_same(target: Target, name: str) -> None:
    drawn = [
        picture(target, both(), CAMERA, SIZE, name, ray_type(name).Options(strategy=strategy), hierarchy="lbvh")
        for strategy in ("megakernel", "wavefront")
    ]
    difference = np.abs(drawn[0].astype(int) - drawn[1].astype(int)).max(axis=-1)
    assert (difference > 2).mean() < 0.01


def colour_of(target: Target, scene: Scene, camera: Camera, x: int, y: int) -> np.ndarray:
    """Linear colour of a pixel by smooth shading."""
    options = ray_type("smooth").Options(ambient=(0.0,) * 3, headlight=0.0)
    return draw_linear(target, scene, camera, SIZE, options, 1, "smooth", hierarchy="lbvh")[0][y, x]


def test_a_sphere_casts_a_shadow_and_has_none_of_its_own_on_its_light_side(target: Target) -> None:
    ball = Spheres("ball", np.zeros((1, 3), np.float32), np.full(1, 0.5, np.float32))
    scene = both(
        spheres=(ball,),
        nodes=(Node(),),
        objects=(Object(0, 0), Object(0, spheres=0)),
        lights=(Light("point", (9.0,) * 3, (0.0, 0.0, 3.0)),),
        materials=(Material(),),
    )
    aside = Camera(eye=(3.0, 0.0, 1.0), look_at=(0.0, 0.0, -1.0))
    lit = colour_of(target, dataclasses.replace(scene, objects=(Object(0, 0),)), aside, 24, 20)
    assert (lit > 0.05).all() and (colour_of(target, scene, aside, 24, 20) == 0.0).all()
    front = Camera(eye=(0.0, 0.0, 3.0), look_at=(0.0, 0.0, 0.0))
    assert (colour_of(target, scene, front, 24, 20) > 0.1).all()


def test_its_own_colour_or_its_materials(target: Target) -> None:
    one = Spheres("one", np.zeros((1, 3), np.float32), np.ones(1, np.float32), np.array([[0.0, 1.0, 0.0]], np.float32))
    for colours, channel in ((one.colours, 1), (None, 0)):
        group = dataclasses.replace(one, colours=colours)
        scene = both(
            spheres=(group,),
            materials=(Material(base_color=(1.0, 0.0, 0.0, 1.0)),) * 2,
            meshes=(),
            objects=(Object(0, spheres=0),),
        )
        middle = colour_of(target, scene, CAMERA, 24, 20)
        assert np.argmax(middle) == channel and middle[channel] > 5 * np.delete(middle, channel).max()


def test_texture_coordinates_go_round(target: Target) -> None:
    """A texture that is white on its left half alone: one side of the sphere is lit, the other is not."""
    texels = np.zeros((2, 64, 4), np.uint8)
    texels[..., 3], texels[:, :32] = 255, 255
    group = Spheres("globe", np.zeros((1, 3), np.float32), np.ones(1, np.float32))
    scene = both(
        spheres=(group,),
        nodes=(Node(),),
        objects=(Object(0, 0), Object(0, spheres=0)),
        materials=(Material(base_color_texture=0),),
        textures=(Texture("halves", texels),),
        lights=(Light("directional", (3.0,) * 3, direction=(0.0, 0.0, -1.0)),),
    )
    sides = [
        colour_of(target, scene, Camera(eye=eye, look_at=(0.0, 0.0, 0.0)), 24, 20)
        for eye in ((0.0, 0.0, 3.0), (3.0, 0.0, 0.3), (-3.0, 0.0, 0.3))
    ]
    assert (sides[1].sum() > 0.05) != (sides[2].sum() > 0.05)


@pytest.mark.parametrize(
    "name", ["median_sah", *(pytest.param(name, marks=pytest.mark.full) for name in ("lbvh", "hploc", "two_level"))]
)
def test_structures_draw_the_same_picture(exact_hits_target: Target, name: str) -> None:
    """Pixel for pixel brute force's; the contract suite compares the rays of all structures."""

    def drawn(name: str) -> np.ndarray:
        found = buffers_of(exact_hits_target, both(), hierarchy=name)
        return np.concatenate([found[key].astype(np.float64).ravel() for key in ("depth", "normal", "prim_id")])

    np.testing.assert_array_equal(drawn(name), drawn("brute_force"))


@pytest.mark.parametrize("mode", ["refit", "rebuild"])
def test_moving_hiding_and_picking_with_replayed_frames(target: Target, mode: str) -> None:
    """Frames of one shape are captured and replayed; each is the picture of an engine that never does."""
    pixels, plain = ArrayPixels(target, *SIZE), ArrayPixels(target, *SIZE)
    settings = ViewSettings("lbvh", ray_type="smooth", update=UpdateOptions(mode))
    view, other = View(settings, CAMERA, pixels), View(settings, CAMERA, plain)
    with (
        contextlib.closing(Engine(target, both())) as engine,
        contextlib.closing(Engine(target, both(), repeats=False)) as reference,
    ):
        frame = 0
        for hidden in ((), (1,), (0,), (0, 1), ()):
            for time in (0.1, 0.3, 0.45, 0.6, 0.8):
                frame += 1
                for one, shown in ((engine, view), (reference, other)):
                    one.hide(hidden)
                    one.render_frame(Moment(time, 0, frame), [shown])
                np.testing.assert_array_equal(pixels.download(), plain.download(), err_msg=f"{hidden} {time}")
            found = engine.buffers(view)["object_id"]
            assert not np.isin(found, list(hidden)).any() and (found >= 0).any() == (len(hidden) < 2)
        hit = next(h for x in range(8, 40) if (h := engine.pick(view, x + 0.5, 20.5)) is not None and h.spheres == 0)
        centres, radii = world(both(), 0.8)
        assert hit.object_id == 1 and hit.node == 1 and hit.mesh == -1 and hit.material == 1
        assert hit.prim_id == 2 + hit.sphere and hit.file_id == 1000 + hit.sphere
        assert np.isclose(np.linalg.norm(np.array(hit.position) - centres[hit.sphere]), radii[hit.sphere], atol=1e-5)
        engine.paint_outline(view, 1)
        assert (pixels.download() != plain.download()).any()
        statistics = engine.flush()
        assert statistics.triangles == 62


def test_strange_spheres(target: Target) -> None:
    """Around the camera, behind it, across the near plane, 1e-8 beside 1e3, and cut by a plane: the inside is seen."""
    centres = np.array([[0, 0, 4], [0, 0, 30], [0, 0, -1002], [0.3, 0, 0], [0, 0, 0]], np.float32)
    radii = np.array([2.0, 1.0, 1e3, 1e-8, 0.5], np.float32)
    group = Spheres("strange", centres, radii)

    def seen(which: list[int], **settings: Any) -> Any:
        chosen = dataclasses.replace(group, centres=centres[which], radii=radii[which])
        scene = both(spheres=(chosen,), nodes=(Node(),), meshes=(), objects=(Object(0, spheres=0),))
        camera = dataclasses.replace(CAMERA, eye=(0.0, 0.0, 4.0))
        return buffers_of(target, scene, camera, **settings)

    around = seen([0])
    assert (around["prim_id"] == 0).all() and np.allclose(around["depth"][20, 24], 2.0, atol=0.01)
    assert (seen([1])["prim_id"] == -1).all(), "behind the eye"
    behind = seen([2, 3, 4])
    assert set(np.unique(behind["prim_id"])) == {0, 2} and np.isclose(behind["depth"][20, 24], 3.5, atol=0.01)
    cut = seen([4], clip=ClipOptions(on=True, axis="z", position=0.5))
    assert np.isfinite(behind["normal"]).all() and (cut["normal"][cut["prim_id"] >= 0][:, 2] > -1.01).all()


def test_places_on_a_sphere_come_back() -> None:
    random = np.random.default_rng(1)
    directions = random.standard_normal((1000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    scaled = directions / np.abs(directions).sum(axis=1)[:, None]
    x, y, z = scaled.T
    u = np.where(z < 0, (1 - np.abs(y)) * np.where(x < 0, -1, 1), x) * 0.5 + 0.5
    v = np.where(z < 0, (1 - np.abs(x)) * np.where(y < 0, -1, 1), y) * 0.5 + 0.5
    np.testing.assert_allclose(octahedral_direction(u, v), directions, atol=1e-12)
