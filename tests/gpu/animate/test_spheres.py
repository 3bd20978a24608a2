"""Spheres of an instant are those of two key frames, moved by their node: checked against float64; what is not there
has a radius below 0 and keeps its place."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.animate.animate import Animator, Surface
from raygrove.gpu.animate.hiding import HiddenObjects
from raygrove.gpu.scene import (
    ABSENT,
    Channel,
    Clip,
    Material,
    Moment,
    Node,
    Object,
    PeriodicBox,
    Scene,
    SphereKeys,
    Spheres,
    Track,
)
from raygrove.gpu.target.base import Target

from .scenes import random_mesh

RANDOM = np.random.default_rng(2015)
MESH = random_mesh(np.random.default_rng(0), 12)
TRIANGLES = len(MESH.triangles)


def moving(count: int = 1500, keys: int = 4) -> Spheres:
    """Spheres with radii and colours over time, at times that are not even."""
    centres = RANDOM.uniform(-1, 1, (keys, count, 3)).astype(np.float32)
    radii, colours = RANDOM.uniform(0.1, 0.2, (keys, count)), RANDOM.random((keys, count, 3))
    keyed = SphereKeys(np.cumsum(np.arange(keys, dtype=np.float32)), centres, radii, colours)
    return Spheres("moving", centres[0], radii[0], colours[0], key_frames=keyed)


def still(count: int = 40) -> Spheres:
    """Spheres without key frames or colours."""
    return Spheres("still", RANDOM.random((count, 3)).astype(np.float32), np.full(count, 0.5, np.float32), None, 1)


def scene_of(*groups: Spheres, **fields: object) -> Scene:
    """An object of a mesh and one of each group, each at a node of its own."""
    nodes = tuple(Node(translation=(float(i), 0.0, 0.0), scale=(2.0,) * 3) for i in range(len(groups) + 1))
    objects = (Object(0, 0), *(Object(1 + i, spheres=i) for i in range(len(groups))))
    mesh = dataclasses.replace(MESH, material_ids=np.zeros(TRIANGLES, np.int32))
    given = {"nodes": nodes, "meshes": (mesh,), "objects": objects, "spheres": groups, "materials": (Material(),) * 2}
    return Scene("both", **{**given, **fields})  # type: ignore[arg-type]


def of(target: Target, surface: Surface) -> tuple[np.ndarray, np.ndarray]:
    """Centres and radii now."""
    assert surface.spheres is not None
    return target.download(surface.spheres.centres).copy(), target.download(surface.spheres.radii).copy()


def test_keys_are_interpolated_and_nodes_move_and_scale(target: Target) -> None:
    groups = moving(), still()
    animator = Animator(target, scene_of(*groups))
    keys = groups[0].key_frames
    assert keys is not None
    for time in (-1.0, 0.0, 0.25, 1.0, 2.0, 99.0):
        centres, radii = of(target, animator.at(Moment(time)))
        after = int(np.clip(np.searchsorted(keys.times, time, side="right"), 1, 3))
        alpha = np.clip((time - keys.times[after - 1]) / (keys.times[after] - keys.times[after - 1]), 0.0, 1.0)
        expected = (1 - alpha) * keys.centres[after - 1].astype(np.float64) + alpha * keys.centres[after]
        np.testing.assert_allclose(centres[:1500], 2.0 * expected + [1, 0, 0], atol=2e-6)
        np.testing.assert_allclose(centres[1500:], 2.0 * groups[1].centres + [2, 0, 0], atol=1e-6)
        np.testing.assert_allclose(
            radii[:1500], 2.0 * ((1 - alpha) * keys.radii[after - 1] + alpha * keys.radii[after]), atol=1e-6
        )
        np.testing.assert_allclose(radii[1500:], 1.0, atol=1e-6)
        spheres = animator.surface.spheres
        assert spheres is not None and spheres.colours is not None and keys.colours is not None
        found = target.download(spheres.colours)
        mixed = (1 - alpha) * keys.colours[after - 1] + alpha * keys.colours[after]
        np.testing.assert_allclose(found[:1500], mixed, atol=1e-6)
        assert (found[1500:] == -1.0).all(), "the material's"
    materials = target.download(animator.surface.material_ids)
    assert materials[: TRIANGLES + 1500].max() == 0 and materials[TRIANGLES + 1500 :].min() == 1
    assert len(materials) == TRIANGLES + 1540


def test_previous_places_and_versions(target: Target) -> None:
    animator = Animator(target, scene_of(moving(), still()))
    before, _ = of(target, animator.at(Moment(0.25)))
    version, objects = animator.surface.version, animator.surface.objects
    surface = animator.at(Moment(0.5))
    assert surface.spheres is not None
    assert np.array_equal(target.download(surface.spheres.previous)[:1500], before[:1500])
    grown = [new.version - old.version for new, old in zip(surface.objects, objects, strict=True)]
    assert grown == [0, 1, 0] and surface.version > version
    assert [thing[:2] for thing in surface.objects] == [(0, TRIANGLES), (TRIANGLES, 1500), (TRIANGLES + 1500, 40)]
    alone = Animator(target, scene_of(still()))
    alone.at(Moment(0.0))
    assert alone.prepare(Moment(1.0)) == (), "what does not move costs nothing"


def test_a_clip_moves_a_node_of_spheres(target: Target) -> None:
    track = Track(np.array([0.0, 1.0], np.float32), np.array([[1, 0, 0], [1, 6, 0]], np.float32))
    scene = scene_of(still(), clips=(Clip("up", 1.0, (Channel(1, "translation", track),)),))
    animator = Animator(target, scene)
    first, _ = of(target, animator.at(Moment(0.0)))
    second, _ = of(target, animator.at(Moment(0.5)))
    np.testing.assert_allclose(second - first, np.tile([0.0, 3.0, 0.0], (40, 1)), atol=1e-5)


def test_the_nearest_image_is_gone_to(target: Target) -> None:
    """Over one face, over a corner of a skewed cell, and not along the edge that is not periodic."""
    vectors = np.array([[10, 0, 0], [3, 10, 0], [0, 0, 10]], np.float32)
    shares = np.array(
        [[[0.9, 0.5, 0.5], [0.9, 0.9, 0.5], [0.5, 0.5, 0.9]], [[0.1, 0.5, 0.5], [0.1, 0.1, 0.5], [0.5, 0.5, 0.1]]]
    )
    keys = SphereKeys(np.array([0.0, 1.0], np.float32), (shares @ vectors).astype(np.float32))
    box = PeriodicBox(np.zeros(3), vectors, (True, True, False))
    spheres = Spheres("cell", keys.centres[0], np.ones(3, np.float32), key_frames=keys, box=box)
    animator = Animator(target, Scene("", objects=(Object(0, spheres=0),), spheres=(spheres,)))
    centres, _ = of(target, animator.at(Moment(0.5)))
    np.testing.assert_allclose(centres, [[1.0, 0.5, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 0.5]] @ vectors, atol=1e-5)
    two = dataclasses.replace(box, origin=np.zeros((2, 3)), vectors=np.stack([vectors, vectors * 9]))
    scene = Scene("", objects=(Object(0, spheres=0),), spheres=(dataclasses.replace(spheres, box=two),))
    np.testing.assert_array_equal(of(target, Animator(target, scene).at(Moment(0.5)))[0], centres)


def test_what_is_not_there_keeps_its_place(target: Target) -> None:
    """Absent in one key: there up to the middle. In both, or not finite: not there."""
    radii = np.array([[1, ABSENT, 1, ABSENT, 1], [1, 1, ABSENT, ABSENT, 1]], np.float32)
    centres = np.arange(30, dtype=np.float32).reshape(2, 5, 3)
    centres[1, 4] = np.nan
    keys = SphereKeys(np.array([0.0, 1.0], np.float32), centres, radii)
    spheres = Spheres("some", centres[0], radii[0], key_frames=keys)
    animator = Animator(target, Scene("", objects=(Object(0, spheres=0),), spheres=(spheres,)))
    for time, there in ((0.25, [1, 0, 1, 0, 0]), (0.75, [1, 1, 0, 0, 0])):
        found, now = of(target, animator.at(Moment(time)))
        assert (now > 0).tolist() == [bool(one) for one in there] and (now[now <= 0] == ABSENT).all()
        assert (np.isfinite(found).all(axis=1) == (now > 0)).all()
        assert animator.not_finite_count() == 1
    assert np.array_equal(found[1], centres[1, 1]), "where the key has it"


def test_hidden_objects_of_spheres_are_absent_and_come_back(target: Target) -> None:
    animator = Animator(target, scene_of(moving(), still()))
    hidden = HiddenObjects(target, animator.at(Moment(0.5)))
    centres, radii = of(target, animator.surface)
    for choice, count, left in (
        (frozenset({1}), 1500, TRIANGLES + 1540),
        (frozenset({0, 2}), TRIANGLES + 40, 1540),
        (frozenset(), 0, TRIANGLES + 1540),
    ):
        assert hidden.hide(choice) and hidden.primitive_count == count
        animator.hide_others(hidden.objects)
        now, sizes = of(target, animator.surface)
        for index, part in ((1, slice(0, 1500)), (2, slice(1500, 1540))):
            is_hidden = index in choice
            assert (sizes[part] < 0).all() if is_hidden else np.array_equal(sizes[part], radii[part])
            assert is_hidden or np.array_equal(now[part], centres[part])
        primitives = animator.surface.primitives
        assert primitives.kind == "mixed" and primitives.count == left
        assert int(primitives.view["first_sphere_id"]) == TRIANGLES
        animator.at(Moment(0.6))
        assert (of(target, animator.surface)[1][:1500] < 0).all() == (1 in choice), "and stay so"
        animator.at(Moment(0.5))


def test_parts_that_do_not_fit_are_named(target: Target) -> None:
    with pytest.raises(ValueError, match="those of spheres come last"):
        Animator(target, dataclasses.replace(scene_of(still()), objects=(Object(0, spheres=0), Object(0, 0))))
    with pytest.raises(ValueError, match="'still' have radii of shape"):
        Animator(target, scene_of(dataclasses.replace(still(), radii=np.ones(3, np.float32))))
