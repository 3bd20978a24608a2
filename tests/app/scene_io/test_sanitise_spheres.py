"""Spheres as files bring them: what is not usable is absent, keeps its place and is counted."""

from __future__ import annotations

import dataclasses
import tempfile

import numpy as np
import pytest

from raygrove.app.scene_io import SceneError, exchange
from raygrove.app.scene_io.bounds import scene_box
from raygrove.app.scene_io.sanitise import sanitise
from raygrove.gpu.scene import ABSENT, Attribute, Mesh, Node, Object, PeriodicBox, Scene, SphereKeys, Spheres

RADII = np.array([0.0, -2.0, np.nan, np.inf, 1e-8, 1e3])


def of(spheres: Spheres, **fields: object) -> Scene:
    """A scene of one group of spheres."""
    return Scene("balls", spheres=(spheres,), objects=(Object(0, spheres=0),), **fields)  # type: ignore[arg-type]


def remarks_of(scene: Scene) -> list[tuple[int, str]]:
    """How often, and the first word."""
    return [(remark.count, remark.sentence.split()[0]) for remark in scene.remarks]


def test_bad_radii_are_absent_and_keep_their_places() -> None:
    spheres = Spheres(
        "", np.zeros((6, 3)), RADII, ids=np.arange(6), attributes=(Attribute("mass", np.full(6, np.nan)),)
    )
    (made,) = sanitise(of(spheres)).spheres
    assert made.radii.tolist() == [ABSENT] * 4 + [np.float32(1e-8), 1000.0] and made.radii.dtype == np.float32
    assert made.ids is not None and made.ids.tolist() == list(range(6)), "ids keep their places"
    assert np.isnan(made.attributes[0].values).all(), "no value is a value"
    assert remarks_of(sanitise(of(spheres))) == [(4, "Spheres")]


def test_nothing_usable_is_no_scene() -> None:
    with pytest.raises(SceneError):
        sanitise(of(Spheres("", np.zeros((4, 3)), RADII[:4])))
    with pytest.raises(SceneError):
        sanitise(of(Spheres("", np.zeros((4, 2)), np.ones(4))))


def test_what_a_key_lacks_on_purpose_is_not_counted() -> None:
    centres, radii = np.zeros((2, 3, 3)), np.array([[1.0, 2.0, ABSENT], [1.0, 2.0, 3.0]])
    centres[1, 0, 2], radii[1, 1] = np.nan, np.nan
    keys = SphereKeys(np.array([0.0, 1.0]), centres, radii)
    scene = sanitise(of(Spheres("", centres[0], radii[0], key_frames=keys)))
    made = scene.spheres[0].key_frames
    assert made is not None and made.radii is not None and remarks_of(scene) == [(2, "Spheres")]
    assert made.radii.tolist() == [[1.0, 2.0, ABSENT], [ABSENT, ABSENT, 3.0]] and np.isfinite(made.centres).all()
    assert scene.lower == (-3.0, -3.0, -3.0) and scene.duration() == 1.0 and scene.key_times().tolist() == [0.0, 1.0]


def test_radii_at_rest_serve_keys_without_their_own() -> None:
    keys = SphereKeys(np.array([0.0, 1.0]), np.zeros((2, 2, 3)))
    plain = sanitise(of(Spheres("", np.zeros((2, 3)), np.ones(2), key_frames=keys))).spheres[0].key_frames
    torn = sanitise(of(Spheres("", np.zeros((2, 3)), np.array([1.0, 0.0]), key_frames=keys))).spheres[0].key_frames
    assert plain is not None and plain.radii is None
    assert torn is not None and torn.radii is not None and torn.radii.tolist() == [[1.0, ABSENT]] * 2


def test_parts_that_do_not_fit_are_left_out() -> None:
    keys = SphereKeys(np.array([1.0, 0.0]), np.zeros((2, 2, 3)))
    spheres = Spheres(
        "",
        np.zeros((2, 3)),
        np.ones(2),
        np.ones((3, 3)),
        7,
        np.arange(3),
        (Attribute("long", np.zeros(3)), Attribute("pair", np.zeros((2, 2)))),
        keys,
        PeriodicBox(np.zeros(3), np.zeros((3, 3))),
    )
    scene = sanitise(of(spheres))
    (made,) = scene.spheres
    assert (made.colours, made.material_id, made.ids, made.key_frames, made.box) == (None, 0, None, None, None)
    assert [one.name for one in made.attributes] == ["pair"] and not made.has_keys(made.attributes[0])
    assert [count for count, _ in remarks_of(scene)] == [2, 1, 1, 1]


def test_far_spheres_keep_their_places_among_each_other() -> None:
    far, near = np.array([1e7, 0.0, 0.0]), np.array([[0.0, 0.0, 0.0], [0.125, 0.0, 0.0]])
    box = PeriodicBox(far, np.eye(3))
    keys = SphereKeys(np.array([0.0, 1.0]), np.stack([far + near, far - near]))
    scene = sanitise(of(Spheres("", far + near, np.full(2, 0.1), key_frames=keys, box=box)))
    (made,) = scene.spheres
    assert scene.origin == (1e7, 0.0, 0.0) and made.key_frames is not None and made.box is not None
    assert np.array_equal(made.key_frames.centres, np.stack([near, -near])) and not made.box.origin.any()


def test_a_node_scales_and_turns_their_box() -> None:
    half_turned = (0.0, 0.0, float(np.sin(np.pi / 8)), float(np.cos(np.pi / 8)))
    spheres = Spheres("", np.array([[1.0, 0, 0], [0, 5.0, 0]], np.float32), np.array([0.5, ABSENT], np.float32))
    scene = of(spheres, nodes=(Node(rotation=half_turned, scale=(2.0, 2.0, 2.0)),))
    lower, upper = scene_box(scene)
    assert np.allclose((lower + upper) / 2.0, [2**0.5, 2**0.5, 0.0]) and np.allclose(upper - lower, 2.0)


def test_objects_of_spheres_come_last_and_pass_the_child() -> None:
    triangle = np.eye(3, dtype=np.float32)
    mesh = Mesh("m", triangle, np.array([[0, 1, 2]], np.int32), np.zeros(1, np.int32))
    keys = SphereKeys(np.array([0.0, 1.0]), np.zeros((2, 2, 3)), np.ones((2, 2)), np.ones((2, 2, 3)))
    attribute = Attribute("v", np.zeros((2, 2, 3)), "m/s")
    box = PeriodicBox(np.zeros((2, 3)), np.stack([np.eye(3)] * 2), (True, False, True))
    spheres = Spheres("s", np.zeros((2, 3)), np.ones(2), None, 0, np.arange(2), (attribute,), keys, box)
    given = Scene("both", meshes=(mesh,), spheres=(spheres,), objects=(Object(0, spheres=0), Object(0, 0)))
    scene = sanitise(given)
    assert scene.objects == (Object(0, 0), Object(0, spheres=0))
    assert (scene.triangle_count, scene.sphere_count, scene.primitive_count) == (1, 2, 3)
    assert [scene.name_of(i) for i in range(2)] == ["m", "s"] and [scene.count_of(i) for i in range(2)] == [1, 2]
    with tempfile.TemporaryFile() as file:
        exchange.write(scene, file)
        back = exchange.read(file).spheres[0]
    assert back.ids is not None and back.ids.tolist() == [0, 1] and back.box is not None
    assert back.box.periodic == (True, False, True) and back.attributes[0].unit == "m/s"
    assert back.has_keys(back.attributes[0]) and back.colours is not None
    with pytest.raises(exchange.ExchangeError, match="order"):
        exchange.check(dataclasses.replace(scene, objects=given.objects))
