"""Motions for still models: where vertices are at some instants, what stays, and that nothing else is touched."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.app.scene_io.demos import make_demo
from raygrove.app.scene_io.exchange import check
from raygrove.app.scene_io.motions import SENTENCES, MotionOptions, moves, standing, with_motion
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.app.scene_io.transforms import global_matrices
from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.scene import Light, Moment, Node, Object, Scene, SceneCamera
from raygrove.gpu.settings import fields_of
from raygrove.gpu.target.base import Target
from tests.gpu.animate import reference
from tests.gpu.animate.scenes import random_mesh, random_morph, random_skin

NAMES = ("turntable", "explode", "wobble")


def still_scene() -> Scene:
    """Three objects of two meshes under turned, stretched and mirrored nodes, one mesh skinned and morphed; a lamp and
    a camera at a node."""
    rng = np.random.default_rng(1)
    nodes = (
        Node("root", -1, (1.0, 2.0, 3.0), (0.0, 0.6, 0.0, 0.8)),
        Node("child", 0, (4.0, 0.0, 0.0), (0.1, 0.0, 0.0, 1.0), (1.0, 2.0, -0.5)),
    )
    bent = dataclasses.replace(
        random_mesh(rng, 40), skin=random_skin(rng, 40, 2, 3), morph_targets=random_morph(rng, 40, 2)
    )
    scene = Scene(
        "still", nodes, (random_mesh(rng, 60), bent), (Object(0, 0), Object(1, 0), Object(1, 1)),
        lights=(Light("point", node=1), Light("directional")), cameras=(SceneCamera("eye", 1),),
    )  # fmt: skip
    return sanitise(scene)


@pytest.mark.parametrize("name", NAMES)
def test_a_still_scene_moves_and_stays_within_its_bounds(host_target: Target, name: str) -> None:
    still = still_scene()
    scene = with_motion(still, MotionOptions(name, seconds=4.0))
    check(scene)
    assert (
        not moves(still) and moves(scene) and scene.duration() == 4.0 and scene.triangle_count == still.triangle_count
    )
    animator = Animator(host_target, scene)
    seen = []
    for time in (0.0, 0.7, 1.0, 2.9, 4.0):
        surface = animator.at(Moment(time))
        positions = host_target.download(surface.positions).astype(np.float64)
        expected, normals = reference.surface(scene, float(np.float32(time)))
        assert np.allclose(positions, expected, atol=2e-5) and np.allclose(
            host_target.download(surface.normals), normals, atol=2e-4
        )
        assert (positions >= np.array(scene.lower) - 1e-4).all() and (positions <= np.array(scene.upper) + 1e-4).all()
        seen.append(positions)
    assert np.allclose(seen[0], seen[-1], atol=1e-5) and np.abs(seen[1] - seen[0]).max() > 0.05 * np.ptp(seen[0])


def test_explosion_and_turntable_begin_with_the_model_as_it_is() -> None:
    still = still_scene()
    expected, normals = reference.surface(still, 0.0)
    turned = with_motion(still, MotionOptions("turntable"))
    at_rest, turned_normals = reference.surface(turned, 0.0)
    assert np.allclose(at_rest, expected, atol=1e-5) and np.allclose(turned_normals, normals, atol=1e-5)
    halfway, _ = reference.surface(turned, 3.0)
    middle = (np.array(still.lower) + still.upper) / 2.0
    assert np.allclose((expected + halfway)[:, [0, 2]] / 2.0, middle[[0, 2]], atol=1e-4)
    burst = with_motion(still, MotionOptions("explode"))
    corners, first = [], 0
    for thing in still.objects:
        mesh = still.meshes[thing.mesh]
        corners.append(mesh.triangles.reshape(-1) + first)
        first += len(mesh.positions)
    assert np.allclose(reference.surface(burst, 0.0)[0], expected[np.concatenate(corners)], atol=1e-5)


def test_triangles_stay_whole_while_they_fly() -> None:
    scene = with_motion(still_scene(), MotionOptions("explode", strength=3.0))
    edges = [np.diff(reference.surface(scene, time)[0].reshape(-1, 3, 3), axis=1) for time in (0.0, 3.0)]
    assert np.allclose(edges[0], edges[1], atol=2e-4)


def test_normals_of_a_swaying_model_are_those_of_its_surface() -> None:
    ball = with_motion(sanitise(make_demo("blob", 5_000)), MotionOptions("wobble", strength=2.0))
    positions, normals = reference.surface(ball, 1.3)
    corners = positions[ball.meshes[0].triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    faces /= np.linalg.norm(faces, axis=1, keepdims=True)
    mean = normals[ball.meshes[0].triangles].mean(axis=1)
    alike = np.sum(faces * mean, axis=1) / np.linalg.norm(mean, axis=1)
    assert np.median(alike) > 0.995 and np.mean(alike > 0.9) > 0.99


@pytest.mark.parametrize("name", NAMES)
def test_lights_and_cameras_stay(name: str) -> None:
    still = still_scene()
    scene = with_motion(still, MotionOptions(name))
    before, after = global_matrices(still.nodes), global_matrices(scene.nodes)
    assert (
        np.allclose(before[still.lights[0].node], after[scene.lights[0].node], atol=1e-6)
        and scene.lights[1] == still.lights[1]
    )
    assert np.allclose(before[still.cameras[0].node], after[scene.cameras[0].node], atol=1e-6)
    driven = {channel.node for channel in scene.clips[0].channels}
    placed = scene.lights[0].node
    while placed >= 0:
        assert placed not in driven
        placed = scene.nodes[placed].parent


def test_standing_meshes_are_as_the_reference_says() -> None:
    still = still_scene()
    matrices = global_matrices(still.nodes)
    made = [standing(still.meshes[thing.mesh], matrices, thing.node) for thing in still.objects]
    positions, normals = reference.surface(still, 0.0)
    assert np.allclose(np.concatenate([mesh.positions for mesh in made]), positions, atol=1e-5)
    assert np.allclose(np.concatenate([mesh.normals for mesh in made if mesh.normals is not None]), normals, atol=1e-5)


def test_what_moves_by_itself_keeps_its_own_motion() -> None:
    walker = make_demo("walker", 3_000)
    given = with_motion(walker, MotionOptions("wobble"))
    assert (
        given.clips is walker.clips
        and given.meshes is walker.meshes
        and "moves by itself" in given.remarks[-1].sentence
    )
    assert with_motion(walker, MotionOptions()) is walker


def test_every_motion_has_a_sentence() -> None:
    assert next(field for field in fields_of(MotionOptions) if field.name == "name").info.choices == tuple(SENTENCES)


@pytest.mark.parametrize("name", ["explode", "wobble"])
def test_spheres_stay_and_that_is_said(name: str) -> None:
    scene = make_demo("spheres", 20)
    moved = with_motion(scene, MotionOptions(name=name))
    assert moved.duration() == 0.0 and any(name in remark.sentence for remark in moved.remarks)
    assert with_motion(scene, MotionOptions(name="turntable")).duration() > 0.0
