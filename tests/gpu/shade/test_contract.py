"""What every ray type keeps: the same picture for the same seed, no memory taken from frame to frame, scenes without
anything, a help page."""

from __future__ import annotations

import contextlib
import inspect

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Mesh, Moment, Scene
from raygrove.gpu.settings import fields_of
from raygrove.gpu.shade.registry import ray_type, ray_types
from raygrove.gpu.target.base import Target

from .pictures import mesh_of, scene_of
from .test_ao import SIZE, bounded, room

CAMERA = Camera(eye=(0.0, 0.0, 0.95), look_at=(0.2, 0.1, 0.0))


@pytest.mark.parametrize("name", list(ray_types()))
def test_frames_take_no_memory_and_the_same_frames_are_the_same_bytes(target: Target, name: str) -> None:
    def drawn() -> tuple[list[bytes], list[dict[str, int]]]:
        pixels, shown, held = ArrayPixels(target, *SIZE), [], []
        view = View(ViewSettings(ray_type=name, samples=4, seed=3), CAMERA, pixels)
        with contextlib.closing(Engine(target, room())) as engine:
            for number in range(4):
                engine.render_frame(Moment(0.0, 0, number), [view])
                shown.append(pixels.download().tobytes())
                held.append(target.memory())
            statistics = engine.flush().views[0]
        assert statistics.samples == 4 and statistics.rays_by_kind["primary"] == SIZE[0] * SIZE[1]
        assert sum(statistics.rays_by_kind.values()) == statistics.rays
        return shown, held

    first, held = drawn()
    assert held[1] == held[2] == held[3], "a frame takes no memory"
    assert drawn()[0] == first, "the same seed is the same picture"


@pytest.mark.parametrize("name", list(ray_types()))
def test_scenes_without_anything_are_drawn(host_target: Target, name: str) -> None:
    flat = mesh_of([[0, 0, 0], [0, 0, 0], [0, 0, 0]], [[0, 1, 2]])  # a triangle without area, and nothing else
    lone = mesh_of([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], [[0, 1, 2]])
    nothing = Mesh("nothing", np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32), np.zeros(0, np.int32))
    scenes: list[tuple[Mesh, ...]] = [(), (nothing,), (flat,), (lone,)]
    for meshes in scenes:
        scene = (
            bounded(scene_of(*meshes, materials=()))
            if len(meshes) and len(meshes[0].positions)
            else Scene("empty", meshes=meshes)
        )
        pixels = ArrayPixels(host_target, *SIZE)
        with contextlib.closing(Engine(host_target, scene)) as engine:
            engine.render_frame(Moment(), [View(ViewSettings(ray_type=name), Camera(eye=(0.0, 0.0, 3.0)), pixels)])
            engine.flush()
        assert np.all(pixels.download()[..., 3] == 255)


@pytest.mark.parametrize("name", list(ray_types()))
def test_every_ray_type_has_a_help_page_and_says_what_its_options_do(name: str) -> None:
    kind = ray_type(name)
    texts = (kind.__doc__ or "", __import__(kind.__module__, fromlist=["x"]).__doc__ or "")
    text = inspect.cleandoc(next((one for one in texts if "Idea:" in one), ""))
    for word in ("Idea:", "Paper:", "Cost:", "Limits:"):
        assert f"\n\n{word} " in text, f"{name}'s docstring has no paragraph {word}"
    fields = {field.name: field for field in fields_of(kind.Options)}
    if "strategy" in fields:
        assert fields["strategy"].info.choices == ("auto", "megakernel", "wavefront")
