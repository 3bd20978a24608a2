"""Skins and morph targets against the float64 reference; what a clip moves of them; trees of any depth; parts that do
not fit."""

from __future__ import annotations

import dataclasses

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from raygrove.gpu.animate import deform_tables, pose, tables
from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.scene import Channel, Clip, Mesh, Moment, MorphTargets, Node, Object, Scene, Skin, Track
from raygrove.gpu.target.base import Target

from . import reference
from .scenes import deformed_scene, random_mesh, random_morph, random_skin
from .test_animate import assert_shows

TIMES = np.array([0.0, 1.0], np.float32)


def rows(*values: object) -> np.ndarray:
    return np.array(values, np.float32)


def one_object(
    mesh: Mesh, nodes: tuple[Node, ...] = (Node(),), channels: tuple[Channel, ...] = (), node: int = 0
) -> Scene:
    """A scene of one object, and a clip where there are channels."""
    return Scene("one", nodes, (mesh,), (Object(node, 0),), clips=(Clip("clip", 1.0, channels),) if channels else ())


@hypothesis.given(
    seed=strategies.integers(0, 10_000),
    times=strategies.lists(strategies.floats(-1.0, 6.0, width=32), min_size=1, max_size=3),
)
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture], max_examples=15)
@pytest.mark.each_value
def test_every_skin_and_target_as_in_float64(target: Target, seed: int, times: list[float]) -> None:
    scene = deformed_scene(seed)
    animator = Animator(target, scene)
    for time in times:
        assert_shows(target, animator, scene, Moment(time))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_pose_in_one_block_and_launch_after_launch_are_the_same(
    target: Target, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene, found = deformed_scene(seed), []
    for limit in (pose.AT_ONCE, 0):
        monkeypatch.setattr(pose, "AT_ONCE", limit)
        animator = Animator(target, scene)
        shown = [animator.at(Moment(time)) for time in (0.1, 0.9, 2.3)][-1]
        found.append(
            [target.download(array) for array in (shown.positions, shown.previous, shown.normals, shown.lights)]
        )
        assert_shows(target, animator, scene, Moment(1.3))
    assert all(np.allclose(a, b, rtol=0.0, atol=1e-5) for a, b in zip(*found, strict=True))


def test_clips_that_drive_everything_nothing_and_weights_alone(target: Target) -> None:
    scene = deformed_scene(3)
    weights = tuple(channel for channel in scene.clips[0].channels if channel.path == "weights")
    assert weights
    scene = dataclasses.replace(scene, clips=(*scene.clips, Clip("weights alone", 2.0, weights)))
    animator = Animator(target, scene)
    for moment in (Moment(0.3, 0), Moment(1.7, 0), Moment(0.3, 1), Moment(1.9, 2), Moment(0.1, 2), Moment(0.1, 0)):
        assert_shows(target, animator, scene, moment)


def test_a_skin_at_its_bind_pose_leaves_the_mesh_where_it_is(target: Target) -> None:
    rng = np.random.default_rng(4)
    mesh, nodes = (
        random_mesh(rng, 300),
        (Node("a", -1, (1.0, 2.0, 3.0)), Node("b", 0, (0.0, -5.0, 0.0), (0.6, 0.0, 0.0, 0.8))),
    )
    skin = random_skin(rng, 300, 2, 2)
    world = reference.world_matrices(Scene("", nodes), 0.0, 0)
    skin = dataclasses.replace(skin, inverse_bind=np.array([np.linalg.inv(world[j]) for j in skin.joints], np.float32))
    scene = one_object(dataclasses.replace(mesh, skin=skin), nodes, node=1)
    surface = Animator(target, scene).at(Moment())
    assert np.allclose(target.download(surface.positions), mesh.positions, atol=1e-5)
    assert np.allclose(target.download(surface.normals), mesh.normals, atol=1e-5)


def test_the_node_of_a_skinned_object_does_not_count_and_its_joints_do(target: Target) -> None:
    rng = np.random.default_rng(5)
    skin = dataclasses.replace(random_skin(rng, 20, 1, 1), joints=np.array([2], np.int32))
    mesh, nodes = dataclasses.replace(random_mesh(rng, 20), skin=skin), (Node("own"), Node("parent"), Node("joint", 1))
    move = Track(TIMES, rows([0, 0, 0], [1, 0, 0]))
    own = Animator(target, one_object(mesh, nodes, (Channel(0, "translation", move),)))
    before = target.download(own.at(Moment(0.0)).positions)
    assert own.prepare(Moment(0.5)) == () and np.array_equal(target.download(own.surface.positions), before)
    joint = Animator(target, one_object(mesh, nodes, (Channel(1, "translation", move),)))
    joint.at(Moment(0.0))
    moved = target.download(joint.at(Moment(0.5)).positions)
    assert np.allclose(moved - before, [0.5, 0, 0], atol=1e-5)
    assert joint.surface.primitives.objects[0].version == 1


def test_targets_move_the_objects_at_their_node_alone(target: Target) -> None:
    morph = MorphTargets(np.ones((1, 30, 3), np.float32), None, rows(0.25))
    mesh = dataclasses.replace(random_mesh(np.random.default_rng(6), 30), morph_targets=morph)
    clip = Clip("", 1.0, (Channel(1, "weights", Track(TIMES, rows([0], [1]))),))
    scene = Scene("", (Node(), Node()), (mesh,), (Object(0, 0), Object(1, 0)), clips=(clip,))
    animator = Animator(target, scene)
    animator.at(Moment(0.0))
    surface = animator.at(Moment(0.5))
    positions = target.download(surface.positions)
    assert np.allclose(positions[:30] - mesh.positions, 0.25, atol=1e-6) and np.allclose(
        positions[30:] - mesh.positions, 0.5, atol=1e-6
    )
    assert [thing.version for thing in surface.primitives.objects] == [0, 1]


def test_previous_holds_the_deformed_instant_before(target: Target) -> None:
    animator = Animator(target, deformed_scene(2))
    first = target.download(animator.at(Moment(0.4)).positions)
    second = target.download(animator.at(Moment(0.9)).positions)
    assert not np.allclose(first, second) and np.array_equal(target.download(animator.surface.previous), first)


def test_deformed_vertices_that_are_not_finite_are_counted(target: Target) -> None:
    mesh = random_mesh(np.random.default_rng(7), 40)
    morph = random_morph(np.random.default_rng(7), 40, 2)
    morph.positions[1, 3], morph.positions[1, 39, 2] = np.nan, np.inf
    for skin in (None, random_skin(np.random.default_rng(7), 40, 1, 2)):
        animator = Animator(target, one_object(dataclasses.replace(mesh, skin=skin, morph_targets=morph)))
        surface = animator.at(Moment())
        assert animator.not_finite_count() == 2
        assert int(np.sum(~np.isfinite(target.download(surface.positions)).all(axis=1))) == 2


@pytest.mark.parametrize("scale", [(0.0, 0.0, 0.0), (0.0, 1.0, 1.0), (1.0, 1.0, 0.0)])
def test_a_scale_of_zero_flattens_and_stays_finite(target: Target, scale: tuple[float, float, float]) -> None:
    mesh = random_mesh(np.random.default_rng(8), 50)
    skinned = dataclasses.replace(mesh, skin=random_skin(np.random.default_rng(8), 50, 2, 3))
    scene = Scene(
        "", (Node("", -1, scale=scale), Node("", 0, (0.0, 3.0, 0.0))), (mesh, skinned), (Object(1, 0), Object(0, 1))
    )
    surface = Animator(target, scene).at(Moment())
    positions, normals = target.download(surface.positions), target.download(surface.normals)
    flat = [axis for axis in range(3) if scale[axis] == 0.0]
    assert np.isfinite(positions).all() and np.isfinite(normals).all()
    assert np.abs(positions[:, flat]).max() == 0.0 and np.abs(np.delete(positions, flat, axis=1)).max(initial=1.0) > 0.5


@pytest.mark.each_value
@pytest.mark.parametrize("depth", [1, 2, 15, 16, 17, 257, 20_000])
def test_chains_of_any_depth_are_composed(target: Target, depth: int) -> None:
    turn = (0.0, 0.0, float(np.sin(0.01)), float(np.cos(0.01)))
    nodes = tuple(Node("", index - 1, (0.5, 0.0, 0.0), turn) for index in range(depth))
    mesh = random_mesh(np.random.default_rng(9), 12)
    clip = Clip("", 1.0, (Channel(0, "translation", Track(TIMES, rows([0, 0, 0], [2, 0, 0]))),))
    scene = Scene("", nodes, (mesh,), (Object(depth - 1, 0), Object(depth // 2, 0)), clips=(clip,))
    animator = Animator(target, scene)
    expected, _ = reference.surface(scene, 1.0)
    animator.at(Moment(0.0))
    assert np.max(np.abs(target.download(animator.at(Moment(1.0)).positions) - expected)) < 2e-6 * max(10, depth)


def test_ancestors_are_led_to_in_strides() -> None:
    parents = np.arange(-1, 599, dtype=np.int32)
    found = tables.ancestor_tables(parents)
    assert [table[599] for table in found] == [598, 583, 343] and [table[15] for table in found] == [14, -1, -1]
    assert len(tables.ancestor_tables(np.full(50, -1, np.int32))) == 1


def test_tracks_of_weights_are_made_to_fit() -> None:
    morph = MorphTargets(np.zeros((3, 4, 3), np.float32), None, rows(0.1, 0.2, 0.3))
    mesh = dataclasses.replace(random_mesh(np.random.default_rng(0), 4), morph_targets=morph)
    narrow, wide = Track(TIMES, rows([1], [2])), Track(TIMES, np.ones((2, 3, 5), np.float32), "cubic")
    for track, expected in ((narrow, [[1, 0.2, 0.3], [2, 0.2, 0.3]]), (wide, np.ones((2, 3, 3)))):
        scene = one_object(mesh, channels=(Channel(0, "weights", track),))
        fitted = deform_tables.weight_tracks(scene, 0, np.array([0]))[0]
        assert np.array_equal(fitted.values, np.float32(expected))


def test_deformers_that_do_not_fit_are_named(target: Target) -> None:
    mesh = random_mesh(np.random.default_rng(0), 4)
    skin = Skin(np.zeros(1, np.int32), np.eye(4)[None], np.ones((4, 4), np.int32), np.ones((4, 4), np.float32))
    with pytest.raises(ValueError, match="joints that its skin does not have: it has 1 joints"):
        Animator(target, one_object(dataclasses.replace(mesh, skin=skin)))
    strange = dataclasses.replace(skin, joints=np.array([7], np.int32), joint_ids=np.zeros((4, 4), np.int32))
    with pytest.raises(ValueError, match="joints at nodes that the scene does not have"):
        Animator(target, one_object(dataclasses.replace(mesh, skin=strange)))
    morph = MorphTargets(np.zeros((2, 3, 3), np.float32), None, np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="2 weights and 4 vertices"):
        Animator(target, one_object(dataclasses.replace(mesh, morph_targets=morph)))
