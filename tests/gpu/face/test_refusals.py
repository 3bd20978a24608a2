"""What a caller gets wrong is said in a sentence of the library: what, where, and what to do; nothing is taken for
something else."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.target.base import Target
from tests.waiting import PROCESS_S

V, T = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2]]
POSES = np.eye(3, 4, dtype=np.float32)[None]
MOST = (1 << 22) - 1
ORIGIN, DOWN = [0.2, 0.2, 1.0], [0.0, 0.0, -1.0]


def mesh(**named: Any) -> Any:
    return rg.Scene(device="cpu").add_mesh(**{"vertices": V, "triangles": T, **named})


LIDAR = rg.sensors.lidar(2, 2)
CLIP = rg.Clip([V, V], T)
SIZED: dict[str, Callable[..., Any]] = {
    "a race": functools.partial(rg.race, CLIP, ["lbvh"]),
    "advice": functools.partial(rg.advise, CLIP, "lbvh", device="cpu"),
    "hot spots": functools.partial(rg.hot_spots, CLIP, "lbvh"),
    "recorded rays": functools.partial(rg.RaySet.record, CLIP, bounce=1),
}

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "colour by name": (lambda: mesh(color="red"), "color is three linear numbers.*'red'"),
    "one number as colour": (lambda: mesh(color=1.0), "color is three linear numbers"),
    "colour with alpha": (lambda: mesh(color=(1, 0, 0, 1)), "color is three"),
    "colour that is none": (lambda: mesh(color=(np.nan, 0, 0)), "color is three"),
    "ragged vertices": (lambda: mesh(vertices=[[0, 0, 0], [1, 0]]), "vertices are no array: row 0 has 3 and row 1"),
    "ragged triangles": (lambda: mesh(triangles=[[0, 1, 2], [0]]), "triangles are no array: row 0 has 3 and row 1"),
    "ragged transforms": (lambda: mesh(transforms=[POSES[0].tolist(), [1.0]]), "transforms are no array: row 0"),
    "ragged rays": (lambda: rg.RaySet([[0, 0, 0], [1]], DOWN), "origins are no array: row 0 has 3 and row 1 has 1"),
    "ragged clip": (lambda: rg.Clip([[[0, 0, 0]], [[0, 0, 0], [1, 1, 1]]], T), "vertices are no array"),
    "one elevation": (lambda: rg.sensors.lidar(4, 8, fov=20), "fov is the lowest and the highest elevation.*20"),
    "three elevations": (lambda: rg.sensors.lidar(4, 8, fov=(1, 2, 3)), "fov is the lowest and the highest"),
    "one azimuth": (lambda: rg.sensors.lidar(4, 8, turn=20), "turn is the first and the last azimuth"),
    "a pair of angles": (lambda: rg.sensors.pinhole(4, 8, fov=(1, 2)), "fov is one angle"),
    "a range as text": (lambda: rg.sensors.lidar(4, 8, t_max="far"), "t_max is one number.*'far'"),
    "a range for each": (lambda: rg.sensors.lidar(4, 8, t_max=[1, 2]), "t_max is one number"),
    **{f"no size of {name}": (functools.partial(call, size=(0, 9)), r"size is \(width, height\).*\(0, 9\)")
       for name, call in SIZED.items()},
    "frames as one number": (lambda: rg.race(CLIP, ["lbvh"], frames=24), r"frames are numbers.*as range\(24\)"),
    "a frame before the first": (lambda: rg.hot_spots(CLIP, "lbvh", frame=-1), "frames are numbers of the clip's"),
    "contestants as one text": (lambda: rg.race(CLIP, "lbvh"), "contestants are a list of texts"),
    "a race over arrays": (lambda: rg.race(V, ["lbvh"]), "a race is over a rg.Clip.*this is list"),
    "a device by number": (lambda: rg.build(V, T, device=0), "device: a device is a text, and this is 0: give auto"),
    "a scene's device by number": (lambda: rg.Scene(device=1), "a device is a text, and this is 1"),
    "other triangles": (lambda: setattr(mesh(), "triangles", T), "triangles of a mesh stay as they are: add a mesh"),
    "a background of two bytes": (lambda: rg.render(rg.Scene(device="cpu"), [], background=(1, 2)), "three bytes"),
    "a background in shares": (lambda: rg.render(rg.Scene(device="cpu"), [], background=(0.5, 0, 0)), "three bytes"),
    "a rate as text": (lambda: rg.Clip([V], T, fps="fast"), "fps is a number above 0; it is 'fast'"),
    "an instant as text": (lambda: CLIP.at("now"), "a time is a number of seconds; it is 'now'"),
    "a clip of one instant": (lambda: rg.Clip(V, T), r"vertices have the shape \(N, M, 3\); these are \(3, 3\)"),
    "a file by number": (lambda: rg.open(3), "rg.open: a file or a scene is named by a text or a path, not by 3"),
    "a text diagnosed": (lambda: rg.diagnose("tree"), "geometry is vertices and triangles.*not str"),
    "one side of a picture": (lambda: rg.render(rg.Scene(device="cpu"), [], size=3), r"size is \(width, height\)"),
}  # fmt: skip


def ray(**named: Any) -> Any:
    return rg.RaySet([[0, 0, 0]], DOWN, **named)


LABELS: tuple[tuple[str, Any, str], ...] = (
    *(("groups", group, "groups are from -1 to") for group in (-5, -2, MOST + 1, 2**40, [-5], [2**40])),
    ("groups", np.array([-2], np.int32), "groups are from -1 to"),
    *(("groups", group, "groups are one whole number") for group in (1.5, [2.5], "x")),
    *(("masks", mask, "masks are from") for mask in (2**32, -(2**31) - 1)),
)
for label, value, words in LABELS:
    for who, make in (("sensors", functools.partial(LIDAR.rays, POSES)), ("rays", ray)):
        REFUSED[f"{label} of {who}: {value}"] = (functools.partial(make, **{label: value}), words)


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_said_and_not_taken(name: str) -> None:
    call, said = REFUSED[name]
    with pytest.raises(rg.Error, match=said):
        call()


QUESTIONS: dict[str, tuple[Callable[[rg.Structure], Any], str]] = {
    "points of two numbers": (lambda tree: tree.nearest([1, 2]), "Structure.nearest: points are rows of three numbers"),
    "two radii": (lambda tree: tree.in_ball(ORIGIN, [1, 2]), "Structure.in_ball: radius is one number.*the 1 points"),
    "a part of a neighbour": (lambda tree: tree.k_nearest(ORIGIN, 2.5), "k is a whole number of neighbours; it is 2.5"),
    "half a box": (lambda tree: tree.in_box([ORIGIN, ORIGIN], ORIGIN), "2 lower and 1 upper corners"),
    "rows that exclude": (lambda tree: tree.k_nearest(ORIGIN, exclude=[0.5]), "exclude is a row for each of the 1"),
    "hits of a library that is not there": (
        lambda tree: tree.empty_hits(2, library="foo"), "Structure.empty_hits: there are no arrays of 'foo' here"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_tree_says_what_it_cannot_be_asked(name: str, host_target: Target) -> None:
    ask, said = QUESTIONS[name]
    with rg.build(V, T, target=host_target) as tree, pytest.raises(rg.Error, match=said) as error:
        ask(tree)
    assert isinstance(error.value, ValueError) and error.value.where.startswith("Structure.")


ASKED: dict[str, Callable[[rg.Structure], Any]] = {
    "nearest": lambda tree: tree.nearest(ORIGIN),
    "k_nearest": lambda tree: tree.k_nearest(ORIGIN, 1),
    "in_box": lambda tree: tree.in_box(ORIGIN, ORIGIN),
    "in_ball": lambda tree: tree.in_ball(ORIGIN, 1.0),
    "containing": lambda tree: tree.containing(ORIGIN),
    "leaf": lambda tree: tree.leaf(ORIGIN),
    "pairs": lambda tree: tree.pairs(1.0),
    "touching": lambda tree: tree.touching(),
    "on_target": lambda tree: tree.on_target(),
}


@pytest.mark.parametrize("name", ASKED)
def test_questions_of_two_threads_are_said_and_not_mixed(name: str, host_target: Target) -> None:
    """They shared the target's scratch memory: programs crashed."""
    with rg.build(V, T, target=host_target) as tree:
        said: list[str] = []

        def ask() -> None:
            try:
                ASKED[name](tree)
            except rg.Error as error:
                said.append(str(error))

        other = threading.Thread(target=ask)
        with tree._used("a call of this thread"):
            other.start()
            other.join(PROCESS_S)
    assert len(said) == 1 and said[0].startswith(f"Structure.{name}: another thread is using the device"), said


def test_what_can_be_is_taken() -> None:
    assert mesh(color=np.array([0.1, 0.2, 0.3])).color == pytest.approx((0.1, 0.2, 0.3))
    for group in (rg.ALL, 0, MOST, [MOST], np.array([rg.ALL])):
        assert len(LIDAR.rays(POSES, groups=group)) == 4 and len(ray(groups=group)) == 1
    for mask in (-1, 0, 2**32 - 1, np.array([2**32 - 1], np.uint32), np.array([-2], np.int32)):
        assert len(LIDAR.rays(POSES, masks=mask)) == 4 and len(ray(masks=mask)) == 1
    assert len(ray(groups=-5, check=False)) == 1, "whoever says so is not checked"


def test_what_is_written_into_is_an_array_that_can_be(host_target: Target) -> None:
    with rg.build(V, T, "lbvh", target=host_target) as tree:
        for out in (np.zeros(1), [0.0], "t"):
            with pytest.raises(rg.Error, match=r"out are rg.Hits.*empty_hits"):
                tree.trace(ORIGIN, DOWN, out=out)
        with pytest.raises(rg.Error, match="out.t is written in place and is no array but a list"):
            tree.trace(ORIGIN, DOWN, out=rg.Hits(t=[0.0], prim_id=np.zeros(1, np.int32)))
        with pytest.raises(rg.Error, match="out is written in place and is no array but a list"):
            tree.occluded(ORIGIN, DOWN, out=[True])
        with pytest.raises(rg.Error, match="outputs are several names"):
            tree.trace(ORIGIN, DOWN, outputs="normal")  # type: ignore[arg-type]
        for count in (-1, "x", 1.5):
            with pytest.raises(rg.Error, match="count is a whole number"):
                tree.empty_hits(count)  # type: ignore[arg-type]
        hits = rg.Hits(t=np.zeros(1, np.float32), prim_id=np.zeros(1, np.int32))
        assert tree.trace(ORIGIN, DOWN, out=hits).t.tolist() == [1.0], "arrays of a caller"


def test_a_tree_over_a_closed_scene_is_traced_and_not_updated(host_target: Target) -> None:
    scene = rg.Scene(target=host_target)
    scene.add_mesh(V, T)
    with rg.build(scene, "lbvh") as tree:
        scene.close()
        for update in (tree.update, tree.refit, tree.rebuild, tree.validate):
            with pytest.raises(rg.Error, match="the scene is closed"):
                update()
        assert tree.trace(ORIGIN, DOWN).t.tolist() == [1.0] and tree.statistics.leaf_count == 1, "it stays as it was"


@pytest.mark.parametrize("corner", [-1, len(V)])
def test_a_triangle_of_a_vertex_that_there_is_not_is_named(corner: int) -> None:
    """The first number behind the last one, too."""
    corners = np.array(T).copy()
    corners[-1, 1] = corner
    for take in (
        lambda: rg.build(V, corners, "lbvh", device="cpu"),
        lambda: rg.Clip(np.array([V], np.float32), corners),
    ):
        with pytest.raises(rg.Error, match=rf"Triangle {len(corners) - 1} is .*{corner}.*there are {len(V)} vertices"):
            take()


@pytest.mark.parametrize("named", [{"groups": [0, 1]}, {"masks": [1, 2]}])
def test_rays_that_pass_objects_by_are_not_stepped_through(named: dict[str, Any], host_target: Target) -> None:
    scene = rg.Scene(target=host_target)
    scene.add_mesh(V, T, transforms=np.stack([np.eye(4)[:3]] * 2).astype(np.float32), **named)
    with rg.build(scene, "lbvh") as tree, pytest.raises(rg.Error, match="by groups or masks, are not stepped through"):
        tree.step(rg.RaySet(np.array([ORIGIN], np.float32).reshape(1, 3), np.array([DOWN], np.float32).reshape(1, 3)))
