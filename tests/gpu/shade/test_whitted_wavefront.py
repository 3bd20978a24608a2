"""Recursive ray tracing as a wavefront: the kernel's picture and rays, in a round of launches per depth and memory that
does not depend on it."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.animate.animate import Surface
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Light, Material, Moment, Scene
from raygrove.gpu.shade import whitted, whitted_wavefront
from raygrove.gpu.shade.whitted import MOST_DEPTH, WhittedOptions
from raygrove.gpu.target.base import Target, Unit, UnitSource
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.view_slot import ViewSlot
from raygrove.testing import make_target
from tests.gpu.test_repeated_launches import CountingTarget, replaying

from .linear import draw_linear
from .pictures import mesh_of, scene_of, square
from .test_whitted import DOWN, MATT, ball, slab

__all__ = ["replaying"]

SIZE = (45, 30)
PLACES = 48 * 32
"""Rays of such a picture, those of its tiles' overhang included."""


def glass_room() -> tuple[Scene, Camera]:
    """A ball of glass and a shiny one between a floor and a mirror, under a lamp that has a size and a spot; and where
    to look at it from."""
    glass = Material(
        "",
        (1.0, 0.9, 0.8, 1.0),
        roughness=0.0,
        transmission=1.0,
        attenuation_color=(0.4, 0.8, 0.9),
        attenuation_distance=1.0,
    )
    materials = (
        MATT,
        glass,
        Material("", (0.9, 0.2, 0.1, 1.0), roughness=0.1),
        Material("", (0.8, 0.8, 0.9, 1.0), metallic=1.0, roughness=0.0),
    )
    wall = mesh_of(
        [[-3, 2, 0], [3, 2, 0], [3, 2, 3], [-3, 2, 3]], [[0, 1, 2], [0, 2, 3]], normals=[[0, -1, 0]] * 4, material=3
    )
    lights = (
        Light("sphere", (9.0, 8.0, 7.0), (1.5, -1.0, 3.0), radius=0.4),
        Light("spot", (9.0, 9.0, 9.0), (-2.0, 0.0, 3.0), (0.6, 0.1, -0.8)),
    )
    meshes = (square(3.0), ball(0.6, (-0.5, 0.0, 0.8), 1), ball(0.5, (0.8, 0.6, 0.6), 2), wall)
    return scene_of(*meshes, materials=materials, lights=lights), Camera(
        eye=(0.0, -3.5, 2.0), look_at=(0.0, 0.5, 0.7), up=(0.0, 0.0, 1.0)
    )


def full_of_glass() -> tuple[Scene, Camera]:
    """A slab that fills the picture, with a ball of less dense glass in it, over a floor: two rays go on from the first
    hit of every pixel, and rays that meet the ball at a flat angle are all reflected."""
    dense, water = (Material("", (1.0, 0.9, 0.8, 1.0), roughness=0.0, transmission=1.0, ior=ior) for ior in (1.7, 1.33))
    floor = dataclasses.replace(square(9.0, -2.0), material_ids=np.full(2, 2, np.int32))
    lights = (Light("sphere", (9.0, 8.0, 7.0), (1.5, -1.0, 3.0), radius=0.4),)
    scene = scene_of(*slab(0.9, -0.9, 0), ball(0.8, (0, 0, 0), 1), floor, materials=(dense, water, MATT), lights=lights)
    return scene, DOWN


Drawn = tuple[np.ndarray, dict[str, int]]
SCENES = {"room": glass_room, "full": full_of_glass}


def drawn(target: Target, scene: str, strategy: str, samples: int = 2, **options: Any) -> Drawn:
    """Linear colours, and rays by kind."""
    chosen = WhittedOptions(strategy=strategy, light_samples=2, **options)
    image, statistics = draw_linear(target, *SCENES[scene](), SIZE, chosen, samples, "whitted")
    return image, statistics.rays_by_kind


def assert_same(found: Drawn, wanted: Drawn) -> None:
    """The same rays, and colours that differ by the order of their sums at most."""
    assert found[1] == wanted[1]
    assert np.all(np.abs(found[0] - wanted[0]) <= 2e-6 * wanted[0]) and wanted[0].max() > 0.1


@pytest.mark.parametrize(
    ("scene", "depth", "threshold"),
    [
        ("room", 0, 0.02),
        ("room", 1, 0.02),
        ("room", 5, 0.02),
        ("full", 5, 0.0),
        ("full", MOST_DEPTH, 1e-3),
    ],
)
def test_wavefront_and_megakernel_show_the_same_by_the_same_rays(
    exact_target: Target, scene: str, depth: int, threshold: float
) -> None:
    found, wanted = (
        drawn(exact_target, scene, strategy, depth=depth, threshold=threshold)
        for strategy in ("wavefront", "megakernel")
    )
    assert_same(found, wanted)
    if depth < 5:
        return
    assert found[1]["refraction 3"] > 100 and found[1]["reflection 3"] > 100, "a tree of rays"
    if scene == "room":
        assert found[1].get("refraction 5", 0) < found[1]["refraction 2"] / 4, "most rays are too weak by then"


@pytest.mark.parametrize("is_opaque", [True, False])
def test_pixels_with_one_ray_a_depth_are_the_same_to_the_last_bit(exact_target: Target, is_opaque: bool) -> None:
    """Mirrors alone, or in a scene that has glass behind the camera: the kernel's order of sums."""
    scene, camera = glass_room()
    away = dataclasses.replace(scene.meshes[1], positions=scene.meshes[1].positions - np.float32([0.0, 60.0, 0.0]))
    mirrors = dataclasses.replace(scene, meshes=(scene.meshes[0], away, *scene.meshes[2:]))
    if is_opaque:
        matt = tuple(dataclasses.replace(material, transmission=0.0) for material in scene.materials)
        mirrors = dataclasses.replace(scene, materials=matt)
    found, wanted = (
        draw_linear(exact_target, mirrors, camera, SIZE, WhittedOptions(depth=4, strategy=strategy), 2, "whitted")
        for strategy in ("wavefront", "megakernel")
    )
    assert np.array_equal(found[0], wanted[0]) and found[1].rays_by_kind == wanted[1].rays_by_kind
    assert found[1].rays_by_kind["reflection 2"] > 10 and "refraction 1" not in found[1].rays_by_kind


def test_rays_without_room_are_followed_nevertheless(exact_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for a ray per pixel, where two go on from each: the picture has them all, and is repeatable."""
    wanted = drawn(exact_target, "full", "wavefront", depth=4, threshold=0.0)
    monkeypatch.setattr(whitted_wavefront, "RAYS_A_PIXEL", 1)
    found = drawn(exact_target, "full", "wavefront", depth=4, threshold=0.0)
    assert_same(found, wanted)
    assert found[1]["reflection 1"] + found[1]["refraction 1"] > 1.5 * PLACES
    assert np.array_equal(drawn(exact_target, "full", "wavefront", depth=4, threshold=0.0)[0], found[0])


def test_every_depth_is_one_round_of_launches(exact_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the scene shows: another depth is another round, not twice as many."""
    launched: collections.Counter[str] = collections.Counter()
    launch = exact_target.launch

    def counted(unit: Any, kernel: str, *rest: Any, **given: Any) -> None:
        launched[kernel] += 1
        launch(unit, kernel, *rest, **given)

    monkeypatch.setattr(exact_target, "launch", counted)
    lights, samples = 1, 2
    for depth in (0, 1, MOST_DEPTH):
        launched.clear()
        drawn(exact_target, "full", "wavefront", samples=1, depth=depth, threshold=0.0)
        rounds = depth + 1
        assert launched["find_surfaces"] == launched["collect_colors"] == rounds
        assert launched["shade_wavefront"] == launched["find_light"] == rounds * lights * samples
        assert launched["count_pairs"] == launched["merge_rays"] == depth
        assert launched["follow_overflow"] == max(depth - 1, 0), "none of the first bounce lacks room"
        assert launched["begin_wavefront"] == launched["finish_wavefront"] == 1


@pytest.mark.parametrize("depths", [(0, 4), (4, 0)])
def test_what_is_launched_is_compiled_before_the_frame(
    exact_target: Target, depths: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing else: not the kernel, for which nobody asked; also where options change while a view is drawn."""
    asked: dict[bool, set[str]] = {}
    is_in_frame = False
    unit, draw = exact_target.unit, ViewSlot.draw

    def noted(source: UnitSource) -> Unit:
        if source.path.startswith(("gpu/shade", "gpu/trace")):
            asked.setdefault(is_in_frame, set()).add(source.path)
        return unit(source)

    def drawing(slot: ViewSlot, surface: Surface) -> None:
        nonlocal is_in_frame
        is_in_frame = True
        draw(slot, surface)
        is_in_frame = False

    monkeypatch.setattr(exact_target, "unit", noted)
    monkeypatch.setattr(ViewSlot, "draw", drawing)
    scene, camera = full_of_glass()
    with contextlib.closing(Engine(exact_target, scene)) as engine:
        for depth in depths:
            asked.clear()
            options = WhittedOptions(depth=depth, strategy="wavefront")
            settings = ViewSettings(ray_type="whitted", ray_type_options=options)
            engine.render_frame(Moment(), [View(settings, camera, ArrayPixels(exact_target, *SIZE))])
            assert "gpu/shade/whitted.cu" not in asked[False]
            assert "gpu/shade/whitted_shade.cu" in asked[True] <= asked[False]


def working_bytes(scene: str, **options: Any) -> int:
    """What a wavefront works in: scratch memory of its own, and where queues count."""
    with make_target("host", contraction=False) as target:
        assert isinstance(target, HostTarget)
        drawn(target, scene, "wavefront", samples=1, **options)
        names = [name for name in target._scratch if name.startswith(("whitted.", "trace."))]
        return sum(target._scratch[name].nbytes for name in names)


def test_memory_is_as_said_and_does_not_grow_with_depth() -> None:
    shallow, deep = (working_bytes("full", depth=depth, threshold=0.0) for depth in (1, MOST_DEPTH))
    said = whitted_wavefront.bytes_a_pixel(is_opaque=False) * PLACES
    assert said <= shallow == deep <= said + 1024, "but for counters"
    assert f"{whitted_wavefront.bytes_a_pixel(is_opaque=False)} in others" in (whitted.__doc__ or "")


def test_replayed_frames_show_what_launched_ones_show(replaying: CountingTarget) -> None:
    """How many rays there are changes from frame to frame, as the camera moves; launches do not."""
    scene, camera = glass_room()
    options = WhittedOptions(depth=3, strategy="wavefront")
    pictures = []
    for repeats in (True, False):
        with contextlib.closing(Engine(replaying, scene, repeats=repeats)) as engine:
            settings = ViewSettings(ray_type="whitted", ray_type_options=options)
            view = View(settings, camera, ArrayPixels(replaying, *SIZE))
            for frame in range(6):
                view.camera = dataclasses.replace(camera, eye=(0.2 * frame, -3.5 + 0.4 * frame, 2.0))
                engine.render_frame(Moment(), [view])
                pictures.append(engine.linear(view))
    assert replaying.captured == 1 and replaying.replayed >= 3
    assert all(np.array_equal(one, other) for one, other in zip(pictures[:6], pictures[6:], strict=True))
    assert np.abs(pictures[5] - pictures[2]).max() > 0.1


@pytest.mark.parametrize("other", ["sah_events", pytest.param("brute_force", marks=pytest.mark.full)])
def test_every_family_of_structures_shows_the_same(target: Target, other: str) -> None:
    scene, camera = glass_room()
    options = WhittedOptions(depth=3, strategy="wavefront")
    images = [
        draw_linear(target, scene, camera, (60, 45), options, 1, "whitted", hierarchy=name)[0]
        for name in ("lbvh", other)
    ]
    assert np.mean(np.abs(images[1] - images[0]).max(axis=-1) > 1e-3) <= 1e-4 + 1.0 / (60 * 45)
