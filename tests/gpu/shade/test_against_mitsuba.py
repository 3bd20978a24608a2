"""Paths of light against Mitsuba 3, which shares nothing with this program: each kind of light, each kind of
surface."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.shade.path import PathOptions
from raygrove.gpu.target.base import Target
from tests.oracle.cornell import EYE, FOV, LOOK_AT
from tests.oracle.mitsuba_rooms import ROOMS, SIDE, blocks_of, draw, kept_blocks

from .linear import DARK, draw_linear

LIKE_OTHERS = (
    "a matte room, lamp of one side",
    "metal of roughness 0.0",
    "gloss of roughness 0.3",
    "glass of roughness 0.0",
    "a room of rough gloss, 5 bounces",
)
"""Each light and each surface has another room, and lamps of one side have the Cornell box's oracle (test_path.py):
under -m full."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.full) if name in LIKE_OTHERS else name for name in ROOMS]
)
def test_a_room_is_as_mitsuba_draws_it(target: Target, name: str) -> None:
    """1 % on the mean, 3 % on blocks of 8 x 8 pixels, of the block's brightest colour (and at least of a fifth of the
    mean)."""
    room, wanted = ROOMS[name], kept_blocks(name)
    options = PathOptions(bounces=room.bounces, roulette_from=room.bounces, **DARK)
    camera = Camera(eye=EYE, look_at=LOOK_AT, fov=FOV)
    found = blocks_of(draw_linear(target, room.scene, camera, (SIDE, SIDE), options, room.samples)[0])
    off = np.abs(found - wanted).max(axis=-1) / np.maximum(wanted.max(axis=-1), 0.2 * wanted.mean())
    assert found.mean() == pytest.approx(wanted.mean(), rel=0.01)
    assert off.max() < 0.03


@pytest.mark.full
@pytest.mark.skipif(importlib.util.find_spec("mitsuba") is None, reason="the package mitsuba is not installed")
@pytest.mark.parametrize("name", ROOMS)
def test_what_is_kept_is_what_mitsuba_draws(name: str) -> None:
    np.testing.assert_allclose(kept_blocks(name), draw(name), rtol=1e-3, atol=1e-5)
