"""What is near the picked primitive of a real picture, against numpy in float64."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator

import numpy as np
import pytest

from raygrove.app.camera.in_view import sees_box
from raygrove.app.document.state import State, replaced
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.app.frames.questions import without_compiling
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.camera import fit
from raygrove.gpu.engine import Hit
from raygrove.gpu.scene import Moment
from raygrove.gpu.stats import Surroundings
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import TargetOptions, UnitSource
from raygrove.gpu.target.stopping import NotCompiled
from tests.app.frames.whole_pictures import whole_picture
from tests.oracle.regions import triangle_distances


@contextlib.contextmanager
def drawn(demo: str, hierarchy: str) -> Iterator[tuple[FrameMaker, Hit]]:
    """A picture of a built-in scene, and something that was hit in it."""
    scene = make_demo(demo, 600)
    state = State(settings=set_option(set_option(Settings(), "render.device", "cpu"), "render.hierarchy", hierarchy))
    state = replaced(state, "cameras", (fit(scene.lower, scene.upper),))
    with contextlib.closing(FrameMaker()) as maker:
        whole_picture(maker, scene, state, Moment(0.4), [HostSlot(64, 48)])
        picks = (maker.pick(x / 32, y / 24) for y in range(8, 16) for x in range(10, 22))
        yield maker, next(picked.hit for picked in picks if picked is not None and picked.hit is not None)


def check(found: Surroundings | str | None, distances: np.ndarray, own: int, count: int) -> None:
    """The nearest others, in their order."""
    assert isinstance(found, Surroundings) and len(found.nearest) == count
    others = np.delete(distances, own)
    np.testing.assert_allclose([one.distance for one in found.nearest], np.sort(others)[:count], rtol=1e-4, atol=1e-5)
    for one in found.nearest:
        assert one.prim_id != own and distances[one.prim_id] == pytest.approx(one.distance, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("hierarchy", ["lbvh", "median_sah"])
def test_what_is_near_a_triangle(hierarchy: str) -> None:
    """By surfaces, from the point that was hit; neighbours are marked at their centroids."""
    with drawn("walker", hierarchy) as (maker, hit):
        found = maker.near(hit, 8)
        surface = maker._engine._animator.surface
        corners = surface.positions[surface.triangles]
    check(found, triangle_distances(corners, np.array([hit.position]))[0], hit.prim_id, 8)
    assert isinstance(found, Surroundings) and found.of == "surfaces" and found.centre == hit.position
    for one in found.nearest:
        np.testing.assert_allclose(one.position, corners[one.prim_id].mean(axis=0), rtol=1e-5, atol=1e-6)


def test_what_is_near_a_sphere() -> None:
    """From centre to centre; and a primitive of a scene that is gone is a sentence."""
    with drawn("spheres", "lbvh") as (maker, hit):
        centres = maker._engine.spheres(Moment(0.4))[:, :3].astype(float)
        found, none = maker.near(hit, 12), maker.near(hit, 0)
        gone = maker.near(Hit(10**6, *(0.0,) * 3, (0.0, 0.0, 0.0), 0, 0, 0, 0), 3)
        assert maker.near(hit, 3, view=1) is None
    check(found, np.linalg.norm(centres - centres[hit.prim_id], axis=1), hit.prim_id, 12)
    assert isinstance(found, Surroundings) and found.of == "centres"
    np.testing.assert_allclose(found.centre, centres[hit.prim_id])
    assert isinstance(none, Surroundings) and none.nearest == ()
    assert isinstance(gone, str) and "not in the scene any more" in gone


def test_what_is_near_a_bond_or_an_atom() -> None:
    """Of spheres and glyphs, all of them by their surfaces; atoms and bonds are marked at their centres."""
    with drawn("ball_and_stick", "lbvh") as (maker, hit):
        surface = maker._engine._animator.surface
        spheres, glyphs = surface.spheres, surface.glyphs
        assert spheres is not None and glyphs is not None
        found = maker.near(hit, 8)
        gone = maker.near(dataclasses.replace(hit, prim_id=glyphs.first_id + glyphs.count), 3)
        places = np.concatenate([spheres.centres, glyphs.rows[:, :3]])
        atoms = np.linalg.norm(spheres.centres - np.array(hit.position), axis=1) - spheres.radii
    assert isinstance(found, Surroundings) and found.of == "surfaces" and found.centre == hit.position
    kinds = {one.prim_id >= glyphs.first_id for one in found.nearest}
    assert kinds == {False, True}, "a bond has its atoms beside it, and they further bonds"
    for one in found.nearest:
        np.testing.assert_allclose(one.position, places[one.prim_id - spheres.first_id], rtol=1e-5, atol=1e-6)
        if one.prim_id < glyphs.first_id:
            assert one.distance == pytest.approx(max(0.0, atoms[one.prim_id - spheres.first_id]), abs=1e-4)
    assert isinstance(gone, Surroundings), "it is a place that is asked about, whatever lay there"


@pytest.mark.parametrize("ray_type", ["smooth", "steps"])
def test_a_picture_that_shows_nothing_is_known_by_its_rays(ray_type: str) -> None:
    scene = make_demo("explode", 600)
    settings = set_option(set_option(Settings(), "render.device", "cpu"), "render.ray_type", ray_type)
    cut = set_option(set_option(set_option(settings, "clip.on", True), "clip.axis", "y"), "clip.position", 0.0)
    assert scene.eye is not None
    towards = dataclasses.replace(fit(scene.lower, scene.upper), eye=scene.eye, look_at=(0.0, 0.0, 0.0))
    away = dataclasses.replace(towards, look_at=tuple(2.0 * value for value in scene.eye))
    found = []
    with contextlib.closing(FrameMaker()) as maker:
        assert maker.in_sight() is None, "before the first picture"
        for camera, chosen in ((towards, settings), (away, settings), (towards, cut)):
            state = replaced(State(settings=chosen), "cameras", (camera,))
            whole_picture(maker, scene, state, Moment(0.0), [HostSlot(96, 64)])
            maker.pick(0.5, 0.5)  # by the same unit, which is compiled by now
            found.append(maker.in_sight())
    assert found == ["seen", "nothing", "clipped"]
    assert sees_box(away, scene.lower, scene.upper, 1.5), "where the box of the whole clip cannot tell"


def test_nothing_is_compiled_to_know_whether_anything_is_in_sight() -> None:
    missing = UnitSource("gpu/trace/totals.cu", constants=(("AS_NOBODY_HAS", time.time_ns() % 1_000_000_007),))
    with contextlib.closing(choose("cpu", TargetOptions())) as target:
        check = target.check
        with pytest.raises(NotCompiled), without_compiling(target):
            target.unit(missing)
        assert target.check == check and target.unit(missing)
