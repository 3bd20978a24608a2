"""Lights that are far too bright are dimmed alike, others stay as they are."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.app.scene_io.bright_lights import GOOD, MOST, irradiance, tamed
from raygrove.gpu.scene import Light, Mesh, Node, Object, Scene

BALL = np.random.default_rng(3).normal(size=(150, 3)).astype(np.float32)


def scene_of(*lights: Light, scale: float = 1.0) -> Scene:
    triangles = np.arange(150, dtype=np.int32).reshape(50, 3)
    mesh = Mesh("ball", BALL, triangles, np.zeros(50, np.int32))
    nodes = (Node(), Node(translation=(0.0, 10.0 * scale, 0.0)), Node(scale=(scale, scale, scale)))
    return Scene("ball", nodes=nodes, meshes=(mesh,), objects=(Object(2, 0),), lights=lights)


@given(st.floats(1e-3, 1e5), st.floats(2.0, 1e6))
def test_what_is_too_bright_at_any_scale_shows_white_as_white(scale: float, times: float) -> None:
    far = 100.0 * scale * scale
    lights = (Light("point", (far * MOST * times, 0.0, 0.0), node=1), Light("directional", (0.5, 1.0, 0.5)))
    found = tamed(scene_of(*lights, scale=scale))
    assert irradiance(found) == pytest.approx(GOOD, rel=1e-6)
    red = [light.color[0] for light in found.lights]
    assert red[0] / red[1] == pytest.approx(lights[0].color[0] / 0.5), "they stay as they are to one another"
    (remark,) = found.remarks
    assert "times too bright" in remark.sentence


def test_what_may_have_been_meant_stays() -> None:
    for lights in ((), (Light("directional", (20.0, 20.0, 20.0)),), (Light("point", (2000.0,) * 3, node=1),)):
        scene = scene_of(*lights)
        assert tamed(scene) is scene
    empty = dataclasses.replace(scene_of(Light("directional", (1e9,) * 3)), objects=())
    assert tamed(empty) is empty


def test_one_light_amid_the_model_does_not_dim_the_picture() -> None:
    """Near it everything is bright; what counts is what nine tenths of the vertices get."""
    scene = scene_of(Light("point", (10.0,) * 3))
    near = float(np.sum(np.square(BALL), axis=1).min())
    assert 10.0 / near > 2.0 * MOST and tamed(scene) is scene
