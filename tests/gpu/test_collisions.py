"""Primitives of different objects that touch, while one of them moves: against every pair in float64, and in the
picture."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.collisions import Between
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.glyph_shapes import Glyphs
from raygrove.gpu.hierarchy.base import HierarchyError, NoCollisionsError, ObjectRange
from raygrove.gpu.hierarchy.primitives import mixed_primitives
from raygrove.gpu.painters import COLLIDING
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.query import contacts
from raygrove.gpu.scene import Channel, Clip, Mesh, Moment, Node, Object, Scene, Spheres, Track
from raygrove.gpu.target.base import Target
from tests.oracle.touching import pair_gaps

EDGE = 1e-5
"""Gaps nearer to nothing may be told either way: positions are float32."""
WAY = np.array([1.6, 0.3, -0.2])
"""What the moving object goes in a second."""
SIZE = (80, 60)
CAMERA = Camera(eye=(0.2, 0.4, 4.0), look_at=(0.0, 0.0, 0.0))
OFTEN = pytest.mark.parametrize("structure", ["lbvh", "median_sah", "grid_two_level"])
"""A tree, and two that list a primitive several times."""


def scene(with_spheres: bool) -> Scene:
    """A soup through which another one flies, and a third object that stands still: spheres, or a few triangles."""
    random = np.random.default_rng(4)

    def soup(count: int, reach: float) -> Mesh:
        corners = random.uniform(-reach, reach, (count, 1, 3)) + random.uniform(-0.4, 0.4, (count, 3, 3))
        triangles, materials = np.arange(3 * count, dtype=np.int32).reshape(-1, 3), np.zeros(count, np.int32)
        return Mesh("soup", corners.reshape(-1, 3).astype(np.float32), triangles, materials)

    moves = Track(np.array([0, 1], np.float32), np.array([[0, 0, 0], WAY], np.float32))
    centres, radii = random.uniform(-0.8, 0.8, (30, 3)).astype(np.float32), np.full(30, 0.08, np.float32)
    radii[3] = -1.0
    third = {"spheres": 0} if with_spheres else {"mesh": 2}
    return Scene(
        "two that meet",
        (Node("still"), Node("flies")),
        (soup(120, 0.8), soup(90, 0.6), soup(20, 0.8)),
        (Object(0, 0), Object(1, 1), Object(node=0, **third)),
        clips=(Clip("fly", 1.0, (Channel(1, "translation", moves),)),),
        spheres=(Spheres("balls", centres, radii),) if with_spheres else (),
    )


def oracle(made: Scene, time: float) -> tuple[np.ndarray, np.ndarray]:
    """How far each two primitives of the scene are apart, below 0 where they reach into one another, and which object
    each belongs to."""
    corners, owners = [], []
    for index, thing in enumerate(made.objects):
        if thing.mesh >= 0:
            mesh = made.meshes[thing.mesh]
            corners.append(mesh.positions.astype(float)[mesh.triangles] + (time * WAY if thing.node == 1 else 0.0))
            owners += [index] * len(mesh.triangles)
    balls = made.spheres[0] if made.spheres else None
    centres = balls.centres.astype(float) if balls is not None else np.zeros((0, 3))
    radii = balls.radii.astype(float) if balls is not None else np.zeros(0)
    owners += [2] * len(radii)
    parts = np.concatenate(corners), centres, radii
    return pair_gaps(parts, parts), np.array(owners)


def check(pairs: np.ndarray, gaps: np.ndarray, owners: np.ndarray, between: Between = (-1, -1)) -> None:
    """Each pair of two objects is there, once, and no other."""
    found = np.zeros(gaps.shape, int)
    np.add.at(found, (pairs[:, 0], pairs[:, 1]), 1)
    first, second = owners[:, None], owners[None]
    if between == (-1, -1):
        wanted = first < second
    else:
        wanted = (first == between[0]) & (second == between[1] if between[1] >= 0 else second != between[0])
    sure = np.abs(gaps) > EDGE
    np.testing.assert_array_equal(found[sure], ((gaps < 0) & wanted)[sure])
    assert found.max() <= 1 and not found[~wanted].any()


def view_of(target: Target, structure: str) -> View:
    settings = ViewSettings(structure, ray_type="flat")
    return View(settings, CAMERA, ArrayPixels(target, *SIZE))


@OFTEN
@pytest.mark.parametrize("with_spheres", [False, True], ids=["triangles", "mixed"])
def test_pairs_are_those_of_every_two(target: Target, structure: str, with_spheres: bool) -> None:
    """While an object flies through another; of all objects, of one, and of two."""
    made, view, counts = scene(with_spheres), view_of(target, structure), []
    with Engine(target, made) as engine:
        for time in (0.0, 0.4, 0.7):
            engine.render_frame(Moment(time), [view])
            gaps, owners = oracle(made, time)
            for between in ((-1, -1), (1, -1), (0, 1), (2, 1)):
                pairs = engine.colliding_pairs(view, between)
                check(pairs, gaps, owners, between)
                told = engine.paint_collisions(view, between)
                assert (told.pairs, told.primitives) == (len(pairs), len(np.unique(pairs))) and told.find_ms > 0.0
            counts.append(len(engine.colliding_pairs(view)))
    assert min(counts) > 20 and len(set(counts)) == 3, "the scene is to have some, and others as it moves"


def test_what_is_hidden_collides_with_nothing(target: Target) -> None:
    """Numbers stay those of the scene, whatever is left out before them."""
    made, view = scene(True), view_of(target, "lbvh")
    with Engine(target, made) as engine:
        for hidden in ((0,), (2,), (1,)):
            engine.hide(hidden)
            engine.render_frame(Moment(0.4), [view])
            gaps, owners = oracle(made, 0.4)
            gaps[owners == hidden[0]] = gaps[:, owners == hidden[0]] = np.inf
            check(engine.colliding_pairs(view), gaps, owners)
        engine.hide((0, 2))
        engine.render_frame(Moment(0.4), [view])
        assert engine.paint_collisions(view).pairs == 0 and len(engine.colliding_pairs(view)) == 0


def test_they_are_marked_in_the_picture(target: Target) -> None:
    """Tinted where one of them is seen, a line of two pixels round that, and the rest as it was."""
    made, view = scene(True), view_of(target, "lbvh")
    assert isinstance(view.pixels, ArrayPixels)
    with Engine(target, made) as engine:
        for time in (0.4, 0.9):
            engine.render_frame(Moment(time), [view])
            plain, shown = view.pixels.download().copy(), engine.buffers(view)["prim_id"]
            touching = np.unique(engine.colliding_pairs(view))
            engine.paint_collisions(view, opacity=0.5)
            inside = np.isin(shown, touching)
            around = np.zeros_like(inside)
            for row, column in np.argwhere(inside):
                around[max(row - 2, 0) : row + 3, max(column - 2, 0) : column + 3] = True
            marked, color = view.pixels.download(), np.array([*COLLIDING, 255])
            assert 30 < inside.sum() < 0.5 * inside.size
            np.testing.assert_array_equal(marked[~around], plain[~around])
            assert (marked[around & ~inside] == color).all()
            tinted = 0.5 * (plain[inside].astype(float) + color)
            np.testing.assert_allclose(marked[inside].astype(float), tinted, atol=1.0)


def test_they_are_found_once_for_an_instant(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each sample, nor for another camera; but for another instant or other objects."""
    view, kernels, launch = view_of(target, "lbvh"), list[str](), target.launch
    with Engine(target, scene(False)) as engine:

        def counted(unit: object, kernel: str, *some: object, **arguments: object) -> None:
            kernels.append(kernel)
            launch(unit, kernel, *some, **arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(target, "launch", counted)

        def finds(time: float, camera: Camera = CAMERA, between: Between = (-1, -1)) -> int:
            view.camera = camera
            engine.render_frame(Moment(time), [view])
            kernels.clear()
            engine.paint_collisions(view, between)
            return kernels.count("mark_touching")

        other = dataclasses.replace(CAMERA, eye=(1.0, 0.4, 4.0))
        assert [finds(0.4), finds(0.4), finds(0.4, other), finds(0.5), finds(0.5, between=(0, 1))] == [1, 0, 0, 1, 1]


def test_many_objects_ask_for_those_whose_boxes_they_meet(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them than an object keeps apart, of other sizes, in a row and far away; narrowed by boxes, and not."""
    random = np.random.default_rng(6)
    counts, places = random.integers(1, 12, 14), np.concatenate([random.uniform(-0.5, 0.5, (12, 3)), [[5, 0, 0]] * 2])
    parts = [
        Spheres("balls", (random.uniform(-0.6, 0.6, (count, 3)) + place).astype(np.float32), np.full(count, 0.1, "f4"))
        for count, place in zip(counts, places, strict=True)
    ]
    things = tuple(Object(0, spheres=index) for index in range(len(parts)))
    made = Scene("many", (Node("one"),), (), things, spheres=tuple(parts))
    owners, centres = np.repeat(np.arange(len(parts)), counts), np.concatenate([part.centres for part in parts])
    gaps = pair_gaps(*[(np.zeros((0, 3, 3)), centres.astype(float), np.full(len(centres), 0.1))] * 2)
    for most in (contacts.MOST_COMPARED, 3):
        monkeypatch.setattr(contacts, "MOST_COMPARED", most)
        for structure in ("lbvh", "grid_two_level"):
            view = view_of(target, structure)
            with Engine(target, made) as engine:
                engine.render_frame(Moment(0.0), [view])
                pairs = engine.colliding_pairs(view)
                check(pairs, gaps, owners)
                told = engine.paint_collisions(view)
                assert (told.pairs, told.primitives) == (len(pairs), len(np.unique(pairs))) and len(pairs) > 10


def test_only_what_lies_where_boxes_meet_asks(target: Target) -> None:
    """Of the smaller object, by the boxes of objects: what of it reaches into the other's, and nothing of those that
    are apart, or that nothing of is active in."""
    corners = np.array([[[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[9, 0, 0], [9, 1, 0], [9, 0, 2]]], np.float32)
    balls = np.array([[1, 1, 0.5], [20, 0, 0], [3, 0, 0], [np.nan, 0, 0]], np.float32)
    arrays = (corners.reshape(-1, 3), np.arange(6, dtype=np.int32).reshape(-1, 3), balls, np.full(4, 0.5, np.float32))
    objects = tuple(ObjectRange(*rows, 0) for rows in ((0, 2), (2, 1), (3, 1), (4, 1), (5, 1)))
    primitives = mixed_primitives(*(target.upload(rows, "test") for rows in arrays), objects=objects)
    found = contacts.find_contacts(target, primitives, objects)
    rows = target.download(found.contacts)
    boxes, counts = rows[:, :6].copy().view(np.float32).reshape(-1, 2, 3), rows[:, 6]
    assert target.download(found.ends).tolist() == [2, 3, 4, 5, 6]
    assert target.download(found.ranks).tolist() == [4, 0, 1, 2, 3], "the smallest asks first"
    assert counts.tolist() == [0, 1, 0, 1, 0] and (boxes[[0, 2, 4], 0] > boxes[[0, 2, 4], 1]).all()
    np.testing.assert_array_equal(boxes[1], [[0.5, 0.5, 0], [1.5, 1.5, 1]])
    np.testing.assert_array_equal(boxes[3], [[2.5, 0, 0], [3.5, 0.5, 0.5]])
    of_one = target.download(contacts.find_contacts(target, primitives, objects, (0, -1)).ranks)
    of_two = target.download(contacts.find_contacts(target, primitives, objects, (3, 0)).ranks)
    assert of_one.tolist() == [0, 1, 1, 1, 1] and of_two.tolist() == [1, -1, -1, 0, -1]


def test_what_cannot_be_asked_is_said(target: Target) -> None:
    view = view_of(target, "lbvh")
    with Engine(target, scene(False)) as engine:
        engine.render_frame(Moment(0.4), [view])
        for between in ((1, 1), (0, 9)):
            with pytest.raises(HierarchyError, match="between two of 3 objects"):
                engine.paint_collisions(view, between)
    one = dataclasses.replace(scene(False), objects=(Object(0, 0),), clips=())
    with Engine(target, one) as engine:
        engine.render_frame(Moment(0.0), [view])
        assert engine.paint_collisions(view).pairs == 0, "an object's own neighbours are no collisions"
    balls = scene(True)
    shapes = Glyphs("sticks", "capsule", np.zeros((1, 3), np.float32), np.full((1, 3), 0.1, np.float32))
    with_glyphs = dataclasses.replace(balls, glyphs=(shapes,), objects=(*balls.objects, Object(0, glyphs=0)))
    with Engine(target, with_glyphs) as engine:
        engine.render_frame(Moment(0.0), [view])
        with pytest.raises(NoCollisionsError, match="this scene has glyphs"):
            engine.paint_collisions(view)
