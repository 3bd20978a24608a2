"""What lies in a region of a picture's scene: counted and marked, against numpy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.region import COLOR, Region
from raygrove.gpu.region_marks import LOOK
from raygrove.gpu.scene import Moment, Scene, Spheres
from raygrove.gpu.target.base import Target
from tests.gpu.sanitizers.frames import make_scene, with_glyphs
from tests.gpu.test_hiding import Pixels
from tests.oracle.regions import triangle_distances, triangle_gaps

EYE = Camera(eye=(0.0, 0.5, 4.0))
BOX, BALL = Region("box", (0.1, 0.0, 0.2), 0.4), Region("ball", (0.1, 0.0, 0.2), 0.4)


def expected(engine: Engine, region: Region) -> np.ndarray:
    """How far each triangle of the picture is outside; below 0 inside."""
    surface = engine._animator.surface
    target = engine.target
    corners = target.download(surface.positions)[target.download(surface.triangles)]
    if region.shape == "ball":
        return np.array(triangle_distances(corners, np.array([region.centre]))[0] - region.size)
    lower, upper = (np.array([corner], np.float32) for corner in region.corners)
    return np.array(triangle_gaps(corners, lower, upper)[0])  # a copy: answers are kept, and so not writable


@pytest.mark.parametrize("hierarchy", ["lbvh", "octree_top_down", "grid"])
def test_triangles_are_counted_and_tinted_while_they_move(target: Target, hierarchy: str) -> None:
    """Twice as much tint as the nearest primitive is in the region; hidden ones do not count."""
    engine, pixels = Engine(target, make_scene()), Pixels(target)
    view = View(ViewSettings(hierarchy, ray_type="flat"), EYE, pixels)
    counts = []
    for time, hidden, region in ((0.0, (), BOX), (0.0, (), BALL), (0.7, (), BOX), (0.7, (1,), BOX)):
        engine.hide(hidden)
        engine.render_frame(Moment(time), [view])
        plain = target.download(pixels.array).astype(int)
        prim_id = engine.buffers(view)["prim_id"]
        contents = engine.paint_region(view, region)
        beyond = expected(engine, region)
        thing = engine._animator.surface.objects[1]
        if hidden:
            beyond[thing.first : thing.first + thing.count] = np.inf
        assert (contents.region, contents.of, contents.sentence) == (region, "surfaces", "")
        assert contents.count is not None
        assert abs(contents.count - (beyond < 0).sum()) <= (np.abs(beyond) < 1e-5).sum()
        counts.append(contents.count)
        painted = target.download(pixels.array).astype(int)
        seen = (prim_id >= 0) & (beyond[prim_id] < 0)
        tint = plain[seen][:, :3] * (1 - LOOK.tint) + np.array(COLOR) * LOOK.tint
        assert seen.sum() > 9 and np.abs(painted[seen][:, :3] - tint).max() <= 2
        is_other = ~seen & (painted != plain).any(axis=-1)
        assert (painted[is_other][:, :3] == COLOR).all()
    assert len(set(counts)) == 4, "another count in each case"
    engine.close()


def test_spheres_are_counted_by_their_centres(target: Target) -> None:
    centres = np.random.default_rng(6).uniform(-1, 1, (700, 3)).astype(np.float32)
    group = Spheres("some", centres, np.full(700, 0.05, np.float32))
    scene = dataclasses.replace(_only(group), lower=(-1.0,) * 3, upper=(1.0,) * 3)
    engine, pixels = Engine(target, scene), Pixels(target)
    view = View(ViewSettings("lbvh", ray_type="flat"), EYE, pixels)
    engine.render_frame(Moment(), [view])
    away = np.abs(centres - BOX.centre)
    for region, inside in ((BOX, away.max(axis=1) <= 0.4), (BALL, np.linalg.norm(away, axis=1) <= 0.4)):
        contents = engine.paint_region(view, region)
        assert (contents.of, contents.count) == ("centres", inside.sum()) and inside.sum() > 9
    engine.close()


def _only(group: Spheres) -> Scene:
    scene = make_scene()
    thing = dataclasses.replace(scene.objects[0], node=0, mesh=-1, spheres=0)
    return Scene("spheres", (scene.nodes[0],), objects=(thing,), materials=scene.materials[1:], spheres=(group,))


def test_glyphs_are_counted_and_marked(target: Target) -> None:
    scene = with_glyphs(_only(_one()))
    engine, pixels = Engine(target, scene), Pixels(target)
    view = View(ViewSettings("lbvh", ray_type="flat"), EYE, pixels)
    engine.render_frame(Moment(), [view])
    plain = target.download(pixels.array).copy()
    around = Region("box", (0.0, 0.0, 0.0), 50.0)
    contents = engine.paint_region(view, around)
    assert contents.sentence == "" and contents.count == scene.sphere_count + scene.glyph_count
    assert not np.array_equal(target.download(pixels.array), plain)
    engine.close()


def _one() -> Spheres:
    return Spheres("one", np.eye(3, dtype=np.float32), np.full(3, 0.1, np.float32))


def test_a_region_is_a_ball_or_a_box() -> None:
    with pytest.raises(ValueError, match=r"A region is a ball or a box, and 'cone' was asked for\."):
        Region("cone")
    assert not Region().is_there and BOX.corners == ((0.1 - 0.4, -0.4, 0.2 - 0.4), (0.5, 0.4, 0.2 + 0.4))
