"""Glyphs in a scene: key frames and links against float64, shaded as what they are, hidden, picked; buffers are those
of float64 points; every ray type draws them."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.buffers import pixel_directions
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.glyph_shapes import GLYPH_SHAPES, GlyphKeys, GlyphLinks, Glyphs
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Light, Material, Moment, Node, Object, Scene, SphereKeys, Spheres
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.target.base import Target
from tests.oracle.glyphs import outside, rotation

from .pictures import picture, square

SIZE = (48, 40)
CAMERA = Camera(eye=(0.3, 0.5, 4.0), look_at=(0.0, 0.0, 0.0))
RANDOM = np.random.default_rng(15)


def group_of(shape: str, count: int = 12, seed: int = 1) -> Glyphs:
    """Glyphs in two key frames that move, turn and grow; one is not there in the first, one in neither."""
    random = np.random.default_rng(seed)
    centres = random.uniform(-1, 1, (2, count, 3)).astype(np.float32)
    turns = random.normal(size=(2, count, 4))
    turns = (turns / np.linalg.norm(turns, axis=2, keepdims=True)).astype(np.float32)
    sizes = random.uniform(0.1, 0.35, (2, count, 3)).astype(np.float32)
    sizes[0, 3], sizes[:, 4] = 0.0, -1.0
    keys = GlyphKeys(np.array([0.0, 1.0], np.float32), centres, turns, sizes)
    colours = random.random((count, 3)).astype(np.float32)
    return Glyphs(shape, shape, centres[0], sizes[0], turns[0], colours, 0, np.arange(count) + 70, key_frames=keys)


def both(shapes: tuple[str, ...] = GLYPH_SHAPES, **fields: Any) -> Scene:
    """A wall, two spheres that move, a bond between them, and glyphs of each shape at a node that is scaled."""
    balls = np.array([[[-0.9, 0.9, 0.0], [0.9, 0.9, 0.0]], [[-0.9, -0.9, 0.0], [0.9, 0.9, 0.0]]], np.float32)
    spheres = Spheres(
        "balls",
        balls[0],
        np.full(2, 0.15, np.float32),
        np.array([[1, 0, 0], [0, 1, 0]], np.float32),
        key_frames=SphereKeys(np.array([0.0, 1.0], np.float32), balls),
    )
    links = GlyphLinks(0, np.array([[0, 1], [1, 0]], np.int32))
    bond = Glyphs("bond", "cylinder", np.zeros((2, 3), np.float32), np.full((2, 3), 0.05, np.float32), links=links)
    scene = Scene(
        "glyphs",
        (Node(), Node(translation=(0.1, 0.0, 0.0), rotation=(0.0, 0.6, 0.0, 0.8), scale=(1.1,) * 3)),
        (square(2.0, -1.0),),
        (
            Object(0, 0),
            Object(0, spheres=0),
            *(Object(1, glyphs=i) for i in range(len(shapes))),
            Object(0, glyphs=len(shapes)),
        ),
        (spheres,),
        (Material(), Material(base_color=(0.2, 0.5, 0.9, 1.0))),
        glyphs=(*(group_of(shape, seed=i) for i, shape in enumerate(shapes)), bond),
        lights=(Light("point", (20.0, 20.0, 20.0), (2.0, 3.0, 3.0)),),
        lower=(-2.0, -2.0, -1.0),
        upper=(2.0, 2.0, 1.5),
    )
    return dataclasses.replace(scene, **fields)


def rows_at(target: Target, scene: Scene, time: float) -> np.ndarray:
    surface = Animator(target, scene).at(Moment(time))
    assert surface.glyphs is not None
    return np.array(target.download(surface.glyphs.rows)).astype(np.float64)


@pytest.mark.parametrize("time", [0.0, 0.25, 0.75])
def test_keys_and_nodes_place_glyphs(target: Target, time: float) -> None:
    scene = both()
    rows = rows_at(target, scene, time)
    node = rotation(np.array([[0.0, 0.6, 0.0, 0.8]]))[0]
    for index, group in enumerate(scene.glyphs[:-1]):
        keys = group.key_frames
        assert keys is not None and keys.sizes is not None and keys.turns is not None
        found = rows[12 * index : 12 * index + 12]
        there = (keys.sizes > 0).all(axis=(0, 2))
        expected = 1.1 * ((1 - time) * keys.centres[0] + time * keys.centres[1]) @ node.T + [0.1, 0, 0]
        np.testing.assert_allclose(found[there, :3], expected[there], atol=3e-6)
        sizes = 1.1 * ((1 - time) * keys.sizes[0] + time * keys.sizes[1])
        np.testing.assert_allclose(found[there, 8:11], sizes[there], rtol=2e-6)
        turned = node @ rotation(keys.turns[0])
        if time == 0.0:
            np.testing.assert_allclose(rotation(found[there, 4:8]), turned[there], atol=2e-6)
        assert (found[:, 11] < 0).tolist() == [i != 4 and (i != 3 or time >= 0.5) for i in range(12)]
        assert not np.isfinite(found[4, :3]).any()


def test_links_follow_spheres(target: Target) -> None:
    """Half of the way each, in the sphere's colour; too long ones are not there."""
    scene = both(shapes=())
    for time in (0.0, 0.5, 1.0):
        animator = Animator(target, scene)
        surface = animator.at(Moment(time))
        assert surface.glyphs is not None and surface.spheres is not None and surface.glyphs.colours is not None
        rows, centres = target.download(surface.glyphs.rows), target.download(surface.spheres.centres)
        middle = centres.mean(axis=0)
        for row, end in zip(rows, centres, strict=True):
            np.testing.assert_allclose(row[:3], 0.5 * (end + middle), atol=1e-6)
            np.testing.assert_allclose(row[10], 0.5 * np.linalg.norm(middle - end), rtol=1e-6)
            way = (middle - end) / np.linalg.norm(middle - end)
            np.testing.assert_allclose(rotation(row[None, 4:8])[0][:, 2], way, atol=1e-6)
        np.testing.assert_array_equal(target.download(surface.glyphs.colours), [[1, 0, 0], [0, 1, 0]])
        animator.hide_others({1})
        assert (target.download(surface.glyphs.rows)[:, 11] == 0).all(), "bonds of hidden atoms are hidden"
    links = dataclasses.replace(scene.glyphs[0].links, longest=2.0)  # type: ignore[type-var]
    scene = dataclasses.replace(scene, glyphs=(dataclasses.replace(scene.glyphs[0], links=links),))
    assert (rows_at(target, scene, 0.0)[:, 11] < 0).all() and (rows_at(target, scene, 1.0)[:, 11] == 0).all()


@contextlib.contextmanager
def drawn(target: Target, scene: Scene, **settings: Any) -> Any:
    view = View(ViewSettings(**settings), CAMERA, ArrayPixels(target, *SIZE))
    with contextlib.closing(Engine(target, scene)) as engine:
        engine.render_frame(Moment(0.25), [view])
        yield engine, view


def test_buffers_and_picks_lie_on_the_glyphs(target: Target) -> None:
    scene = both()
    rows = rows_at(target, scene, 0.25)
    with drawn(target, scene, hierarchy="lbvh") as (engine, view):
        found = engine.buffers(view)
        ids = found["prim_id"]
        first = scene.triangle_count + scene.sphere_count
        on_glyph = ids >= first
        assert on_glyph.sum() > 300 and len(np.unique(found["object_id"][on_glyph])) >= 5
        directions = pixel_directions(CAMERA, *SIZE)
        assert (np.einsum("hwi,hwi->hw", found["normal"], directions)[on_glyph] < 1e-4).all()
        checked = 0
        for y, x in np.argwhere(on_glyph)[::17]:
            hit = engine.pick(view, x + 0.5, y + 0.5)
            assert hit is not None
            place = int(ids[y, x]) - first
            shape = (*GLYPH_SHAPES, "cylinder")[min(place // 12, len(GLYPH_SHAPES))]
            row = rows[place]
            local = rotation(row[None, 4:8])[0].T @ (np.array(hit.position) - row[:3])
            assert abs(outside(shape, row[8:11], local)) < 1e-4
            eye = np.array(CAMERA.eye)
            reach = row[8] if shape == "splat" else 2e-5
            assert np.linalg.norm(eye + hit.t * directions[y, x] - hit.position) <= reach
            assert (
                hit.glyphs == min(place // 12, len(GLYPH_SHAPES))
                and hit.sphere == place - 12 * hit.glyphs
                and hit.mesh == -1
            )
            assert hit.file_id == (-1 if hit.glyphs == len(GLYPH_SHAPES) else 70 + hit.sphere)
            checked += 1
        assert checked > 15


LIKE_OTHERS = ("ao", "diffuse", "distributed", "layers", "radiosity")
"""Ray types whose kernels find surfaces as path's and whitted's do, and take long to compile: under -m full."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.full) if name in LIKE_OTHERS else name for name in ray_types()]
)
def test_every_ray_type_draws_them(target: Target, name: str) -> None:
    """Other glyphs, another picture: by one set of kernels."""
    shown = picture(target, both(), CAMERA, SIZE, name, hierarchy="lbvh", samples=2)
    other = dataclasses.replace(both(), glyphs=tuple(group_of(s, seed=9) for s in GLYPH_SHAPES) + both().glyphs[-1:])
    others = picture(target, other, CAMERA, SIZE, name, hierarchy="lbvh", samples=2)
    assert (shown[..., 3] == 255).all() and (shown != others).any(axis=-1).mean() > 0.05


def test_glyphs_alone_hidden_and_shown(target: Target) -> None:
    scene = both(
        meshes=(),
        spheres=(),
        glyphs=(group_of("box"), group_of("arrow", seed=2)),
        objects=(Object(0, glyphs=0), Object(0, glyphs=1)),
    )
    view = View(ViewSettings("lbvh", ray_type="flat"), CAMERA, ArrayPixels(target, *SIZE))
    with contextlib.closing(Engine(target, scene)) as engine:
        shown, ids = [], []
        for hidden in ((), (0,), ()):
            engine.hide(hidden)
            engine.render_frame(Moment(0.25), [view])
            shown.append(view.pixels.download().copy())  # type: ignore[attr-defined]
            ids.append(engine.buffers(view)["object_id"])
    assert (ids[0] == 0).any() and (ids[0] == 1).any() and set(np.unique(ids[1])) == {-1, 1}
    assert (shown[0] != shown[1]).any(axis=-1)[ids[0] == 0].mean() > 0.5
    assert np.array_equal(shown[0], shown[2]) and np.array_equal(shown[0][ids[0] == 1], shown[1][ids[0] == 1])


def test_glyphs_that_do_not_fit_are_named(target: Target) -> None:
    wrong = dataclasses.replace(group_of("box"), sizes=np.ones((3, 3), np.float32))
    with pytest.raises(ValueError, match="'box' have sizes of shape"):
        Animator(target, both(glyphs=(wrong,), objects=(Object(0, glyphs=0),)))
    with pytest.raises(ValueError, match="'bond' link spheres that the scene does not have: it has 0"):
        Animator(target, both(shapes=(), objects=(Object(0, 0), Object(0, glyphs=0))))
