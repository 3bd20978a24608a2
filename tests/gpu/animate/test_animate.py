"""The surface of an instant against the float64 reference; what moves, what stays, what is counted."""

from __future__ import annotations

import dataclasses
import gc

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from raygrove.gpu.animate import tables
from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.scene import Channel, Clip, Light, Mesh, Moment, Node, Object, Scene, Spheres, Track
from raygrove.gpu.target.base import Target

from . import reference
from .scenes import random_mesh, random_scene


def assert_shows(target: Target, animator: Animator, scene: Scene, moment: Moment) -> None:
    shown = animator.at(moment)
    positions, normals = reference.surface(scene, float(np.float32(moment.time)), moment.clip)
    size = max(1.0, np.max(np.abs(positions)))  # parents' large terms may cancel: their rounding stays
    assert np.max(np.abs(target.download(shown.positions) - positions)) / size < 3e-6
    assert np.max(np.abs(target.download(shown.normals) - normals)) < 1e-4


@hypothesis.given(
    seed=strategies.integers(0, 10_000),
    times=strategies.lists(strategies.floats(-1.0, 6.0, width=32), min_size=1, max_size=4),
)
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_every_track_and_key_frame_as_in_float64(target: Target, seed: int, times: list[float]) -> None:
    scene = random_scene(seed)
    animator = Animator(target, scene)
    for time in times:
        assert_shows(target, animator, scene, Moment(time))


@pytest.mark.parametrize("seed", range(4))
def test_keys_themselves_are_hit_exactly(target: Target, seed: int) -> None:
    scene = random_scene(seed)
    animator = Animator(target, scene)
    for time in scene.key_times(0):
        assert_shows(target, animator, scene, Moment(float(time)))


@pytest.mark.parametrize("interpolation", ["step", "linear", "cubic"])
def test_each_key_has_its_own_value_at_its_time(target: Target, interpolation: str) -> None:
    """At a key's time, and where a track holds its value until the next one, before and after it."""
    times, values = np.array([0.5, 1.0, 1.5, 2.25], np.float32), np.arange(12, dtype=np.float32).reshape(4, 3) ** 2
    keys = (
        np.stack([np.ones_like(values), values, -np.ones_like(values)], axis=1) if interpolation == "cubic" else values
    )
    mesh = Mesh("", np.zeros((3, 3), np.float32), np.array([[0, 1, 2]], np.int32), np.zeros(1, np.int32))
    clip = Clip("", 3.0, (Channel(0, "translation", Track(times, keys, interpolation)),))
    animator = Animator(target, Scene("", (Node(),), (mesh,), (Object(0, 0),), clips=(clip,)))
    for index, time in enumerate(times.tolist()):
        assert np.array_equal(target.download(animator.at(Moment(time)).positions)[0], values[index]), time
        if interpolation == "step":
            before, after = (np.nextafter(np.float32(time), np.float32(limit)) for limit in (0.0, 9.0))
            assert np.array_equal(
                target.download(animator.at(Moment(float(before))).positions)[0], values[max(index - 1, 0)]
            ), time
            assert np.array_equal(target.download(animator.at(Moment(float(after))).positions)[0], values[index]), time


def test_another_clip_shows_rest_and_back(target: Target) -> None:
    scene = random_scene(5)
    animator = Animator(target, scene)
    for moment in (Moment(1.0, 0), Moment(1.0, 1), Moment(2.0, 1), Moment(2.0, 0)):
        assert_shows(target, animator, scene, moment)


def test_launches_repeat_within_a_clip_and_differ_between_clips(target: Target) -> None:
    scene = random_scene(5)
    turned = tuple(channel for channel in scene.clips[0].channels if channel.path == "rotation")
    animator = Animator(target, dataclasses.replace(scene, clips=(scene.clips[0], Clip("turns", 5.0, turned))))
    animator.at(Moment(0.1, 0))
    gc.collect()  # what tests before have left on the target may go at any moment
    memory = target.memory()
    first, again = animator.prepare(Moment(0.2, 0)), animator.prepare(Moment(0.3, 0))
    animator.at(Moment(0.4, 1))
    assert target.memory() == memory
    other = animator.prepare(Moment(0.5, 1))
    assert hash(first) == hash(again) and first == again and other != first, (
        "a captured frame of one clip must not stand for another's"
    )
    animator.at(Moment(0.6, 0))
    assert animator.prepare(Moment(0.7, 0)) == first


def test_previous_holds_the_instant_before_and_then_settles(target: Target) -> None:
    animator = Animator(target, random_scene(7))
    first = target.download(animator.at(Moment(0.5)).positions)
    assert np.array_equal(target.download(animator.surface.previous), first)
    second = target.download(animator.at(Moment(1.0)).positions)
    assert not np.array_equal(first, second)
    assert np.array_equal(target.download(animator.surface.previous), first)
    assert len(animator.prepare(Moment(1.0))) == 1
    animator = Animator(target, random_scene(7))
    for time in (0.5, 1.0, 1.0):
        animator.at(Moment(time))
    assert np.array_equal(target.download(animator.surface.previous), second)
    assert animator.prepare(Moment(1.0)) == ()


def test_a_still_scene_costs_nothing(target: Target) -> None:
    animator = Animator(target, random_scene(11, still=True))
    surface = animator.at(Moment(0.0))
    versions = (surface.version, surface.primitives.shape_version)
    assert all(animator.prepare(Moment(time)) == () for time in (0.1, 0.2, 3.0))
    assert (surface.version, surface.primitives.shape_version) == versions


def test_versions_grow_for_what_moves_and_only_for_it(target: Target) -> None:
    rng = np.random.default_rng(1)
    meshes = (random_mesh(rng, 10), random_mesh(rng, 10))
    track = Track(np.array([0, 1], np.float32), np.array([[0, 0, 0], [1, 0, 0]], np.float32))
    nodes = (Node("still"), Node("moves"), Node("rides", parent=1))
    scene = Scene(
        "",
        nodes,
        meshes,
        (Object(0, 0), Object(1, 1), Object(2, 0)),
        clips=(Clip("", 1.0, (Channel(1, "translation", track),)),),
    )
    animator = Animator(target, scene)
    before = animator.at(Moment(0.0)).primitives.objects
    after = animator.at(Moment(0.5)).primitives.objects
    assert [b.version - a.version for a, b in zip(before, after, strict=True)] == [0, 1, 1]
    assert [(o.first, o.count, o.node) for o in after] == [(0, 5, 0), (5, 5, 1), (10, 5, 2)]
    assert [animator.object_of(prim_id) for prim_id in (0, 4, 5, 14)] == [0, 0, 1, 2]


def test_what_was_prepared_and_never_launched_is_made_up_for(target: Target) -> None:
    scene = random_scene(8)
    animator = Animator(target, scene)
    animator.at(Moment(0.2))
    animator.prepare(Moment(0.9))
    version = animator.surface.primitives.shape_version
    animator.forget()
    assert_shows(target, animator, scene, Moment(0.9))
    assert animator.surface.primitives.shape_version > version


def test_topology_joins_all_objects(target: Target) -> None:
    scene = random_scene(2)
    surface = Animator(target, scene).surface
    expected, first = [], 0
    for thing in scene.objects:
        expected.append(scene.meshes[thing.mesh].triangles + first)
        first += len(scene.meshes[thing.mesh].positions)
    assert np.array_equal(target.download(surface.triangles), np.concatenate(expected))
    assert surface.primitives.count == scene.triangle_count and surface.positions.shape == (scene.vertex_count, 3)


def test_lights_ride_on_their_nodes(target: Target) -> None:
    scene = random_scene(4)
    animator = Animator(target, scene)
    for time in (0.3, 1.7):
        lights = target.download(animator.at(Moment(time)).lights)
        world = reference.world_matrices(scene, float(np.float32(time)), 0)
        assert np.allclose(lights[0, :3], (world[-1] @ [0.5, -0.5, 1.0, 1.0])[:3], atol=1e-4)
        down = world[0][:3, :3] @ [0.0, -2.0, 0.0]
        assert np.allclose(lights[1, :3], down / np.linalg.norm(down), atol=1e-5)
        assert np.array_equal(lights[0, 3:8], [0, 1, 2, 3, 0]) and lights[1, 3] == 1.0


def test_lights_that_have_a_size_or_an_axis_ride_with_them(target: Target) -> None:
    """Two nodes deep, of which the inner one turns: a spot's axis, a rectangle's edges and a sphere's radius are those
    of the nodes."""
    half = np.sqrt(0.5)
    turn = Track(np.array([0, 1], np.float32), np.array([[0, 0, 0, 1], [0, 0, half, half]], np.float32))
    nodes = (
        Node("large", translation=(1.0, 2.0, 3.0), rotation=(half, 0.0, 0.0, half), scale=(2.0, 2.0, 2.0)),
        Node("lamp", 0, scale=(1.5, 1.5, 1.5)),
    )
    shared = {"position": (0.25, 0.5, 0.75), "direction": (0.6, 0.0, -0.8), "node": 1}
    lights = (
        Light("spot", inner_angle=10.0, outer_angle=40.0, **shared),
        Light("sphere", radius=0.4, **shared),
        Light("rectangle", size=(0.5, 3.0), up=(0.0, 1.0, 0.0), **shared),
    )
    clip = Clip("", 1.0, (Channel(1, "rotation", turn),))
    scene = Scene("", nodes, (random_mesh(np.random.default_rng(0), 6),), (Object(0, 0),), lights=lights, clips=(clip,))
    animator = Animator(target, scene)
    across, down = np.array([0.8, 0.0, 0.6]) * 0.25, np.array([0.0, -1.0, 0.0]) * 1.5  # half the edges at rest
    for time in (0.0, 0.4, 1.0):
        matrix = reference.world_matrices(scene, float(np.float32(time)), 0)[1]
        placed = target.download(animator.at(Moment(time)).lights)[:3]
        assert np.allclose(placed[:, :3], (matrix @ [0.25, 0.5, 0.75, 1.0])[:3], atol=1e-5)
        axis = matrix[:3, :3] @ [0.6, 0.0, -0.8] / 3.0
        assert np.allclose(placed[[0, 2], 8:11], axis, atol=1e-6)
        assert np.allclose(placed[0, [11, 15]], np.cos(np.radians([40.0, 10.0])), atol=1e-6), "its angles stay"
        assert placed[1, 7] == pytest.approx(0.4 * 3.0, rel=1e-6)
        assert np.allclose(placed[2, 12:15], matrix[:3, :3] @ across, atol=1e-5)
        assert np.allclose(placed[2, 16:19], matrix[:3, :3] @ down, atol=1e-5)
        assert np.allclose(np.cross(placed[2, 12:15], placed[2, 16:19]) @ axis, 0.25 * 1.5 * 9.0, atol=1e-4), (
            "it shines from the same side"
        )


def test_a_light_that_moves_alone_changes_the_surface_not_the_shape(target: Target) -> None:
    track = Track(np.array([0, 1], np.float32), np.array([[0, 0, 0], [1, 0, 0]], np.float32))
    nodes, mesh = (Node(), Node("lamp")), random_mesh(np.random.default_rng(0), 6)
    clip = Clip("", 1.0, (Channel(1, "translation", track),))
    scene = Scene("", nodes, (mesh,), (Object(0, 0),), lights=(Light("point", node=1),), clips=(clip,))
    animator = Animator(target, scene)
    version = animator.at(Moment(0.0)).version
    surface = animator.at(Moment(0.5))
    assert surface.version == version + 1 and surface.primitives.shape_version == 1
    assert np.allclose(target.download(surface.lights)[0, :3], [0.5, 0, 0])


def test_vertices_that_are_not_finite_stay_and_are_counted(target: Target) -> None:
    scene = random_scene(6)
    keys = scene.meshes[2].key_frames
    assert keys is not None
    keys.positions[1, 3], keys.positions[1, 5, 0] = np.nan, np.inf
    broken = scene.meshes[0].positions.copy()
    broken[2, 1] = np.nan
    scene = dataclasses.replace(
        scene, meshes=(dataclasses.replace(scene.meshes[0], positions=broken), *scene.meshes[1:])
    )
    animator = Animator(target, scene)
    surface = animator.at(Moment(float(keys.times[1])))
    assert animator.not_finite_count() == 2 * 2 + 2
    assert int(np.sum(~np.isfinite(target.download(surface.positions)).all(axis=1))) == 6
    animator.at(Moment(float(keys.times[3])))
    assert animator.not_finite_count() == 2


def test_normals_are_made_where_a_mesh_has_none(target: Target) -> None:
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [9, 9, 9]], np.float32)
    mesh = Mesh("", positions, np.array([[0, 1, 2]], np.int32), np.zeros(1, np.int32))
    surface = Animator(target, Scene("", meshes=(mesh,), objects=(Object(0, 0),))).at(Moment())
    assert np.array_equal(target.download(surface.normals), [[0, 0, 1]] * 3 + [[0, 0, 0]])


def test_many_tiles_of_one_object_join_up() -> None:
    tiles = tables.tiles_of(np.array([0, 2500]), np.array([2500, 10]), np.array([0, 1]))
    assert tiles.tolist() == [[0, 1024, 0, 0], [1024, 1024, 0, 1024], [2048, 452, 0, 2048], [2500, 10, 1, 0]]


def test_remarks_name_what_is_not_drawn(target: Target) -> None:
    spheres = Spheres("seven", np.zeros((7, 3), np.float32), np.ones(7, np.float32))
    meshes = (random_mesh(np.random.default_rng(0), 4),)
    objects = (Object(0, 0), Object(0, spheres=0))
    scene = Scene("", meshes=meshes, objects=objects, spheres=(spheres,), lights=(Light("point"),) * 35)
    assert [remark.count for remark in Animator(target, scene).remarks] == [3]
    assert Animator(target, random_scene(0)).remarks == ()


def test_an_empty_scene_is_legal(target: Target) -> None:
    surface = Animator(target, Scene("empty")).at(Moment(1.0))
    assert surface.primitives.count == 0


def test_parts_that_do_not_fit_are_named(target: Target) -> None:
    with pytest.raises(ValueError, match="parents must come before"):
        Animator(target, Scene("", nodes=(Node("child", parent=1), Node("late"))))
    mesh = Mesh("torn", np.zeros((3, 3), np.float32), np.array([[0, 1, 3]], np.int32), np.zeros(1, np.int32))
    with pytest.raises(ValueError, match="'torn' has triangles whose vertices do not exist"):
        Animator(target, Scene("", meshes=(mesh,), objects=(Object(0, 0),)))
