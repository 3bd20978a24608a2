"""Objects that are left out, and the object that is marked: structures, pictures and counts."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.clip import ClipOptions
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.scene import Channel, Clip, Material, Mesh, Moment, Node, Object, Scene, Track
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.target.base import Array, Target
from raygrove.gpu.trace.trace import Tracer
from raygrove.gpu.update.options import UpdateOptions

pytestmark = pytest.mark.usefixtures("capture_turn")

FRONT = Camera(eye=(0.0, 0.0, 5.0), orthographic=True, height=2.5)


class Pixels:
    """A picture in the target's memory."""

    def __init__(self, target: Target) -> None:
        self.width, self.height = 40, 32
        self.array = target.empty((self.height, self.width, 4), np.uint8, "test")

    def map(self) -> contextlib.AbstractContextManager[Array]:
        return contextlib.nullcontext(self.array)


def walls(moves: bool = False) -> Scene:
    """Three squares of 2 x 2 across the view, one behind the other; where they move, along Z."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
    mesh = Mesh("wall", corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32), np.zeros(2, np.int32))
    nodes = tuple(Node(f"wall {k}", translation=(0.0, 0.0, -float(k))) for k in range(3))
    times = np.array([0.0, 1.0], np.float32)
    tracks = [Track(times, np.array([[0, 0, -k], [0, 0, 0.5 - k]], np.float32)) for k in range(3)]
    clips = (
        (Clip("slide", 1.0, tuple(Channel(k, "translation", track) for k, track in enumerate(tracks))),)
        if moves
        else ()
    )
    objects = tuple(Object(k, 0) for k in range(3))
    return Scene(
        "walls",
        nodes,
        (mesh,),
        objects,
        materials=(Material(),),
        clips=clips,
        lower=(-1.0, -1.0, -2.0),
        upper=(1.0, 1.0, 0.5),
    )


def seen(engine: Engine, view: View) -> set[int]:
    """The objects in the picture."""
    return {int(one) for one in np.unique(engine.buffers(view)["object_id"])} - {-1}


@pytest.mark.parametrize("hierarchy", ["lbvh", "brute_force"])
def test_what_is_hidden_is_neither_seen_nor_broken(target: Target, hierarchy: str) -> None:
    engine, view = (
        Engine(target, walls()),
        View(ViewSettings(hierarchy=hierarchy, ray_type="flat"), FRONT, Pixels(target)),
    )
    for hidden, expected in (((), {0}), ((0,), {1}), ((0, 1), {2}), ((0, 1, 2), set()), ((1,), {0}), ((), {0})):
        engine.hide(hidden)
        engine.render_frame(Moment(), [view])
        assert seen(engine, view) == expected
        statistics = engine.flush()
        structure = statistics.views[0].structure
        assert statistics.hidden == 2 * len(hidden) and structure.inactive_count == 0
        assert structure.primitive_count == structure.reference_count == 6 - statistics.hidden
        assert engine.not_finite_count() == 0
    engine.close()


def test_what_a_structure_was_built_over_stays_as_it_was(host_target: Target) -> None:
    """So that a refit sees that objects were hidden since: no primitives are changed in place."""
    with contextlib.closing(Engine(host_target, walls())) as engine:
        view = View(ViewSettings(hierarchy="lbvh"), FRONT, Pixels(host_target))
        engine.render_frame(Moment(0.0), [view])
        built = engine._slots["main"].hierarchy.last_built()
        topology, count = built.topology, built.count
        engine.hide((0,))
        assert (built.topology, built.count) == (topology, count) == (built.topology, 6)
        assert engine._animator.surface.primitives.topology != topology
        with pytest.raises(dataclasses.FrozenInstanceError):
            built.count = 2  # type: ignore[misc]


def test_the_picture_without_an_object_is_that_of_a_scene_without_it(target: Target) -> None:
    whole, alone = walls(), dataclasses.replace(walls(), objects=walls().objects[2:])
    pictures = []
    for scene, hidden in ((whole, (0, 1)), (alone, ())):
        engine, view = Engine(target, scene), View(ViewSettings(), FRONT, Pixels(target))
        engine.hide(hidden)
        engine.render_frame(Moment(), [view])
        pictures.append(target.download(view.pixels.array))  # type: ignore[attr-defined]
        engine.close()
    assert np.array_equal(*pictures)


@pytest.mark.parametrize("mode", ["rebuild", "refit", "auto"])
def test_hiding_while_it_plays_rebuilds_once_and_repeats_frames(target: Target, mode: str) -> None:
    engine = Engine(target, walls(moves=True))
    view = View(ViewSettings(ray_type="flat", update=UpdateOptions(mode)), FRONT, Pixels(target))
    updates = []
    for number in range(12):
        engine.hide((0,) if 4 <= number < 8 else ())
        engine.render_frame(Moment(number / 12.0, 0, number), [view])
        updates.append(engine.flush().views[0].update)
        assert seen(engine, view) == ({1} if 4 <= number < 8 else {0})
        hit = engine.pick(view, 20.0, 16.0)
        expected = number / 24.0 - (1.0 if 4 <= number < 8 else 0.0)
        assert hit is not None and hit.position[2] == pytest.approx(expected, abs=1e-5)
    assert updates[4] == updates[8] == "rebuild" and (mode != "refit" or updates[5] == updates[9] == "refit")
    engine.close()


def test_indices_that_are_not_there_count_for_nothing(target: Target) -> None:
    engine, view = Engine(target, walls()), View(ViewSettings(ray_type="flat"), FRONT, Pixels(target))
    engine.hide((-1, 3, 99))
    engine.render_frame(Moment(), [view])
    assert seen(engine, view) == {0} and engine.flush().hidden == 0
    engine.close()


def test_structures_are_given_what_is_visible_and_nothing_else(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 300 objects every third goes, and so on; the host writes two numbers per object, never the triangles."""
    whole = walls()
    nodes = tuple(Node(f"wall {k}", translation=(0.0, 0.0, -float(k))) for k in range(300))
    scene = dataclasses.replace(
        whole, nodes=nodes, objects=tuple(Object(k, 0) for k in range(300)), lower=(-1.0, -1.0, -300.0)
    )
    engine = Engine(target, scene)
    surface, written = engine._animator.surface, list[int]()
    own, write = target.download(surface.triangles)[:600].copy(), target.write

    def counted(array: Array, values: np.ndarray) -> None:
        written.append(values.nbytes)
        write(array, values)

    monkeypatch.setattr(target, "write", counted)
    for number, hidden in enumerate((tuple(range(0, 300, 3)), (), (17, 18), [18], range(300), range(1, 300))):
        before = surface.primitives
        engine.hide(hidden)
        engine.hide(hidden)
        seen = np.flatnonzero(~np.isin(np.arange(600) // 2, list(hidden)))
        now = surface.primitives
        assert (now.count, now.topology_version) == (
            len(seen),
            before.topology_version + 1,
        ) and before.topology_version == number + 1
        assert [thing.count for thing in now.objects] == [0 if index in hidden else 2 for index in range(300)]
        assert [thing.first for thing in now.objects] == np.cumsum([0, *(thing.count for thing in now.objects)])[
            :-1
        ].tolist()
        if now.scene_ids is None:
            assert hidden == ()
        else:
            assert np.array_equal(target.download(now.scene_ids), seen), hidden
            assert np.array_equal(target.download(now.keep_alive[1]), own[seen]), hidden
        assert engine._hidden.primitive_count == 600 - len(seen)
    assert max(written) <= 4 * 300 and len(written) <= 2 * 6
    engine.close()


STRUCTURES = [name for name, found in structures().items() if "triangle" in found.capabilities.primitive_kinds]


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_structure_without_an_object_is_that_of_a_scene_without_it(target: Target, name: str) -> None:
    """Nodes, references and statistics too: what is hidden is in no node and in no figure."""
    whole, tables, figures = walls(), [], []
    for scene, hidden in ((whole, (0,)), (dataclasses.replace(whole, objects=whole.objects[1:]), ())):
        engine, view = Engine(target, scene), View(ViewSettings(hierarchy=name, ray_type="ids"), FRONT, Pixels(target))
        engine.render_frame(Moment(), [view])
        engine.hide(hidden)
        for number in range(5):
            engine.render_frame(Moment(0.0, 0, number), [view])
        shift = 2 * len(hidden)
        tables.append(
            [column - shift if title == "references" else column for title, column in vars(engine.nodes(view)).items()]
        )
        structure = engine.flush().views[0].structure
        figures.append(dataclasses.replace(structure, bytes=0, scratch_bytes=0))
        hit = engine.pick(view, 20.0, 16.0)
        assert hit is not None and hit.prim_id - shift in (0, 1)
        engine.close()
    assert all(np.array_equal(a, b) for a, b in zip(*tables, strict=True)) and figures[0] == figures[1]
    assert figures[0].primitive_count == 4 and figures[0].inactive_count == 0


def test_an_object_that_is_hidden_shines_no_more(target: Target) -> None:
    """The floor under a lamp that is hidden, in the picture of a scene without the lamp; and lit by it again."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    meshes = tuple(
        Mesh(name, corners, triangles, np.full(2, material, np.int32))
        for material, name in enumerate(("floor", "lamp"))
    )
    nodes = (Node("floor"), Node("lamp", translation=(0.0, 0.0, 9.0)))
    materials = (Material(), Material(emission=(5.0, 5.0, 5.0)))
    scene = Scene(
        "lamp", nodes, meshes, (Object(0, 0), Object(1, 1)), materials=materials, lower=(-1, -1, 0), upper=(1, 1, 9)
    )
    options = PathOptions(background_below=(0, 0, 0), background_above=(0, 0, 0))
    pictures = []
    for shown, choices in ((scene, ((), (1,), ())), (dataclasses.replace(scene, objects=scene.objects[:1]), ((),))):
        engine, view = (
            Engine(target, shown),
            View(ViewSettings(ray_type="path", ray_type_options=options, samples=4), FRONT, Pixels(target)),
        )
        for hidden in choices:
            engine.hide(hidden)
            for number in range(4):
                engine.render_frame(Moment(0.0, 0, number), [view])
            pictures.append(engine.linear(view))
        engine.close()
    lit, hidden_lamp, lit_again, no_lamp = pictures
    assert np.array_equal(lit, lit_again) and np.array_equal(hidden_lamp, no_lamp) and not np.allclose(lit, no_lamp)


def test_the_outline_is_traced_only_where_something_else_is_seen(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, pixels, traced, pictures = (
        Engine(target, walls(moves=True)),
        Pixels(target),
        list[object](),
        list[np.ndarray](),
    )
    view, trace = View(ViewSettings(ray_type="flat"), FRONT, pixels), Tracer.trace

    def counted(tracer: Tracer, rays: Any, *more: Any) -> Any:
        traced.append(rays)
        return trace(tracer, rays, *more)

    monkeypatch.setattr(Tracer, "trace", counted)

    def traces(object_id: int = 0, time: float = 0.0) -> int:
        engine.render_frame(Moment(time), [view])
        before = len(traced)
        engine.paint_outline(view, object_id)
        pictures.append(target.download(pixels.array).copy())
        return len(traced) - before

    assert [traces(), traces(), traces()] == [1, 0, 0]
    assert np.array_equal(pictures[0], pictures[2])
    assert [traces(1), traces(0)] == [1, 1] and np.array_equal(pictures[0], pictures[-1])
    view.camera = dataclasses.replace(FRONT, height=5.0)
    assert [traces(), traces()] == [1, 0] and not np.array_equal(pictures[0], pictures[-1])
    assert [traces(time=0.5), traces(time=0.5)] == [1, 0]
    engine.hide((2,))
    assert [traces(time=0.5), traces(time=0.5)] == [1, 0]
    view.settings = dataclasses.replace(view.settings, clip=ClipOptions(on=True, axis="z", position=0.5))
    assert [traces(time=0.5), traces(time=0.5)] == [1, 0]
    engine.close()


def test_the_outline_lies_round_what_is_seen_of_the_object(target: Target) -> None:
    """A square of 25.6 pixels: tinted inside, a line of two pixels outside, the rest as it was; nothing for what is
    hidden, covered or cut away."""
    engine, pixels = Engine(target, walls()), Pixels(target)
    view = View(ViewSettings(ray_type="flat"), FRONT, pixels)
    engine.render_frame(Moment(), [view])
    plain = target.download(pixels.array).copy()
    inside = engine.buffers(view)["object_id"] == 0
    engine.paint_outline(view, 0)
    marked = target.download(pixels.array).copy()
    changed = (marked != plain).any(axis=-1)
    rows, columns = (np.flatnonzero(inside.any(axis=axis)) for axis in (1, 0))
    around = np.zeros_like(inside)
    around[rows[0] - 2 : rows[-1] + 3, columns[0] - 2 : columns[-1] + 3] = True
    assert np.array_equal(changed, around)
    assert (marked[around & ~inside] == [255, 158, 30, 255]).all() and not (marked[inside] == [255, 158, 30, 255]).all(
        axis=-1
    ).any()
    for object_id in (1, 7, -1):
        engine.render_frame(Moment(), [view])
        engine.paint_outline(view, object_id)
        assert np.array_equal(target.download(pixels.array), plain)
    view.settings = dataclasses.replace(view.settings, clip=ClipOptions(on=True, axis="z", position=0.5))
    engine.render_frame(Moment(), [view])
    cut = target.download(pixels.array).copy()
    engine.paint_outline(view, 0)
    assert np.array_equal(target.download(pixels.array), cut)
    engine.close()
