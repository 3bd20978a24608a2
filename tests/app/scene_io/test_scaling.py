"""`import.scale`: everything grows, nothing changes its shape, at every instant."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, load
from raygrove.app.scene_io.bounds import scene_box
from raygrove.app.scene_io.scaling import scaled
from raygrove.gpu.scene import Light, Node, Object, Scene, Spheres
from tests.app.scene_io import writers

SCALE = 0.25
FILES: dict[str, Callable[[Path], list[Path]]] = {
    "animated": lambda folder: [writers.write_animated_glb(folder / "a.glb")],
    "skinned": lambda folder: [writers.write_skinned_glb(folder / "s.glb")],
    "sequence": lambda folder: writers.write_sequence(folder),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_scaled_at_every_instant(tmp_path: Path, kind: str) -> None:
    files = FILES[kind](tmp_path)
    plain, small = load(files), load(files, ImportLimits(scale=SCALE))
    assert np.allclose(np.stack(scene_box(small)), SCALE * np.stack(scene_box(plain)), atol=1e-5)
    assert np.allclose([small.lower, small.upper], SCALE * np.array([plain.lower, plain.upper]), atol=1e-5)
    assert np.ptp([plain.lower, plain.upper]) > 0.5, "there is something to scale"
    assert [len(clip.channels) for clip in small.clips] == [len(clip.channels) for clip in plain.clips]
    assert small.triangle_count == plain.triangle_count and small.duration() == plain.duration()


def test_lights_spheres_and_the_origin_follow() -> None:
    spheres = Spheres("two", np.ones((2, 3), np.float32), np.full(2, 0.5, np.float32))
    lights = (
        Light("point", (4.0, 4.0, 4.0), (2.0, 0.0, 0.0)),
        Light("directional", (1.0, 1.0, 1.0)),
        Light("point", node=0),
    )
    scene = Scene(
        "all",
        (Node(),),
        objects=(Object(0, spheres=0),),
        spheres=(spheres,),
        lights=lights,
        origin=(1e6, 0.0, 0.0),
        eye=(0.0, 0.0, 8.0),
    )
    half = scaled(scene, 0.5)
    assert half.spheres[0] is spheres and half.objects == (Object(1, spheres=0),), "their node scales them"
    assert np.array_equal(np.stack(scene_box(half)), [[0.25] * 3, [0.75] * 3])
    assert half.lights[0].position == (1.0, 0.0, 0.0) and half.lights[0].color == (1.0, 1.0, 1.0), (
        "as bright at half the distance"
    )
    assert half.lights[1].color == (1.0, 1.0, 1.0) and half.lights[2].node == 1
    assert half.origin == (5e5, 0.0, 0.0) and half.eye == (0.0, 0.0, 4.0) and half.look_at is None
    assert scaled(scene, 1.0) is scene
    assert dataclasses.asdict(half.nodes[1]) == {**dataclasses.asdict(scene.nodes[0]), "parent": 0}
