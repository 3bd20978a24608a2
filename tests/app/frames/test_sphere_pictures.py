"""What OpenGL is given of a scene of spheres, and what it refuses."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.app.document.state import State
from raygrove.app.frames.headless import render_frames
from raygrove.app.frames.sphere_pictures import look_of, sphere_picture
from raygrove.app.problems.problems import EXIT_USAGE, problem_of
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.scene_io.demos.particles import make_spheres
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.attributes import SphereOptions
from raygrove.gpu.display.sphere_look import MOST_FULL_SCREEN, SphereDrawingError
from raygrove.gpu.engine import Engine
from raygrove.gpu.scene import Attribute, Moment, Object, Scene, SphereKeys, Spheres
from raygrove.gpu.target.base import Target


def state_of(way: str, **more: Any) -> State:
    settings = set_option(Settings(), "display.spheres", way)
    for key, value in more.items():
        settings = set_option(settings, key.replace("__", "."), value)
    return State(settings=settings)


def test_spheres_of_the_instant_come_with_the_hidden_ones_marked(target: Target) -> None:
    times = np.array([0.0, 1.0], np.float32)
    keys = SphereKeys(times, np.array([[[0, 0, 0], [1, 1, 1]], [[2, 0, 0], [1, 3, 1]]], np.float32))
    moving = Spheres("moving", keys.centres[0], np.array([0.5, 0.25], np.float32), key_frames=keys)
    still = Spheres("still", np.ones((1, 3), np.float32), np.ones(1, np.float32))
    scene = Scene("two", spheres=(moving, still), objects=(Object(0, spheres=0), Object(0, spheres=1)))
    with Engine(target, scene) as engine:
        engine.hide([1])
        given = sphere_picture(engine, scene, state_of("impostors"), Moment(0.5, 0, 1), 40, 30)
        np.testing.assert_allclose(given.spheres[:2], [[1, 0, 0, 0.5], [1, 2, 1, 0.25]])
        assert given.way == "impostors" and given.spheres[2, 3] < 0.0


def test_colours_by_an_attribute_come_with_the_spheres(target: Target) -> None:
    charge = Attribute("charge", np.array([0.0, 1.0, np.nan], np.float32))
    group = Spheres("three", np.eye(3, dtype=np.float32), np.ones(3, np.float32), attributes=(charge,))
    scene = Scene("three", spheres=(group,), objects=(Object(0, spheres=0),))
    state = state_of("impostors")
    with Engine(target, scene) as engine:
        assert sphere_picture(engine, scene, state, Moment(0.0, 0, 1), 40, 30).colours is None
        engine.take_sphere_options(SphereOptions(color_by="charge"))
        colours = sphere_picture(engine, scene, state, Moment(0.0, 0, 2), 40, 30).colours
    assert colours is not None and colours.shape == (3, 3) and colours[2].tolist() == [1.0, 0.0, 1.0]
    assert (colours[0] != colours[1]).any() and (colours >= 0.0).all()


def test_the_look_is_that_of_flat_shading() -> None:
    scene = make_spheres(10, 1)
    chosen = {"ray_type__flat__color": (0.1, 0.2, 0.3), "ray_type__flat__exposure": 1.0, "clip__on": True}
    state = state_of("full_screen", **chosen)
    look = look_of(scene, state, 40, 30)
    assert look.color == (0.1, 0.2, 0.3) and look.exposure == 2.0 and look.clip is not None
    np.testing.assert_array_equal(look.camera, state.camera_of(0).frame(40, 30))


def test_what_opengl_does_not_draw_is_said_with_the_figure() -> None:
    triangles = make_demo("walker", 500)
    with pytest.raises(SphereDrawingError, match=r"spheres alone, and this one has \d+ triangles\. Choose Structure"):
        sphere_picture(None, triangles, state_of("impostors"), Moment(0.0, 0, 1), 4, 4)
    with pytest.raises(SphereDrawingError, match=r"this one has \d+ glyphs\. Choose Structure"):
        sphere_picture(None, make_demo("ball_and_stick", 200), state_of("impostors"), Moment(0.0, 0, 1), 4, 4)
    many = make_spheres(MOST_FULL_SCREEN + 1, 1)
    with pytest.raises(SphereDrawingError, match="takes 100,000 at most; the scene has 100,001"):
        sphere_picture(None, many, state_of("full_screen"), Moment(0.0, 0, 1), 4, 4)


def test_pictures_in_files_are_made_by_rays(target: Target) -> None:
    scene = dataclasses.replace(make_spheres(10, 1))
    with pytest.raises(SphereDrawingError, match="OpenGL draws spheres in the window alone") as caught:
        next(render_frames(target, scene, state_of("impostors"), [(0, 0.0)]))
    problem = problem_of(caught.value)
    assert problem.exit_code == EXIT_USAGE and problem.title == "OpenGL cannot draw this"


def test_light_that_opengl_cannot_show_is_refused_and_rays_are_offered(target: Target) -> None:
    scene = make_spheres(10, 1)
    with Engine(target, scene) as engine:
        state = state_of("impostors", render__ray_type="radiosity")
        with pytest.raises(
            SphereDrawingError, match="OpenGL draws spheres in flat shading, and radiosity is"
        ) as caught:
            sphere_picture(engine, scene, state, Moment(0.0), 40, 30)
        assert problem_of(caught.value).instead == ("display.spheres", "rays")
        views = (dataclasses.replace(state.views[0], ray_type="flat"),)
        assert len(sphere_picture(engine, scene, dataclasses.replace(state, views=views), Moment(0.0), 40, 30).spheres)
