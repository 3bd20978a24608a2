"""Collisions over pictures that are drawn or exported: asked for by the settings, between all objects or the selected
one and others, and told with the frame."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.frames.headless import render_frames
from raygrove.app.frames.overlays import Overlays
from raygrove.app.frames.views import view_settings
from raygrove.app.settings.settings import OptionError, Settings, set_option
from raygrove.gpu.camera import fit
from raygrove.gpu.engine import Engine, View
from raygrove.gpu.glyph_shapes import Glyphs
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Mesh, Moment, Node, Object, Scene
from raygrove.gpu.target.base import Target

SIZE = (96, 72)


def crossing() -> Scene:
    """Three squares of two triangles: the first two cross, the third crosses the second alone."""
    square = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
    turned = square[:, [2, 1, 0]] + np.array([0.5, 0, 0], np.float32)
    low = square[:, [0, 2, 1]] * 0.2 + np.array([0.5, -0.9, 0.7], np.float32)
    faces = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    meshes = tuple(Mesh("square", rows, faces, np.zeros(2, np.int32)) for rows in (square, turned, low))
    return Scene("crossing", (Node("one"),), meshes, tuple(Object(0, mesh) for mesh in range(3)))


def state_of(scene: Scene, **chosen: object) -> State:
    settings = set_option(set_option(Settings(), "render.width", SIZE[0]), "render.height", SIZE[1])
    for name, value in chosen.items():
        settings = set_option(settings, f"collisions.{name}", value)
    return replaced(State(settings=settings), "cameras", (fit(scene.lower, scene.upper),))


def test_pictures_without_a_window_have_them(host_target: Target) -> None:
    scene = crossing()
    plain, marked = (
        next(iter(render_frames(host_target, scene, state, [(0, 0.0)]))).pixels
        for state in (state_of(scene), state_of(scene, show=True))
    )
    assert 300 < (plain != marked).any(axis=-1).sum() < 0.9 * SIZE[0] * SIZE[1]


def test_they_are_those_of_the_objects_that_are_chosen(host_target: Target) -> None:
    """All; the selected one with others; all where none is selected; none where they are off."""
    scene, overlays = crossing(), Overlays()
    with contextlib.closing(Engine(host_target, scene)) as engine:

        def found(selected: int, **chosen: object) -> int | None:
            state = replaced(state_of(scene, **chosen), "selection.object", selected)
            view = View(view_settings(state), state.camera_of(0), ArrayPixels(host_target, *SIZE))
            engine.render_frame(Moment(), [view])
            overlays.paint(engine, [view], scene, state, Moment(), is_moving=False, with_selection=True)
            return overlays.collisions.pairs if overlays.collisions is not None else None

        everything = found(-1, show=True)
        parts = [found(index, show=True, between="selected") for index in range(3)]
        assert everything is not None and parts[0] and parts[2] and parts[0] + parts[2] == everything == parts[1]
        assert found(0, show=True) == found(-1, show=True, between="selected") == everything
        assert found(-1) is None
        overlays.forget()
        assert overlays.collisions is None


def test_a_scene_of_glyphs_is_drawn_without_them(host_target: Target) -> None:
    """And the picture says why."""
    ends = np.array([[0, 0, 0.3]], np.float32)
    sticks = Glyphs("sticks", "capsule", ends, ends + np.float32([0.5, 0.5, 0]))
    scene = dataclasses.replace(crossing(), glyphs=(sticks,))
    scene = dataclasses.replace(scene, objects=(*scene.objects, Object(0, glyphs=0)))
    plain, asked = (
        next(iter(render_frames(host_target, scene, state, [(0, 0.0)])))
        for state in (state_of(scene), state_of(scene, show=True))
    )
    np.testing.assert_array_equal(plain.pixels, asked.pixels)
    assert plain.collisions is None and asked.collisions is not None
    assert "this scene has glyphs" in asked.collisions.why_not and asked.collisions.pairs == 0


def test_options_are_checked() -> None:
    for key, value in (("collisions.between", "some"), ("collisions.opacity", 2.0)):
        with pytest.raises(OptionError, match=key):
            set_option(Settings(), key, value)
