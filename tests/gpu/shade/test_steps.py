"""The heat map's histogram and range, against numpy over the counts that a tracer gives."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.shade import heat
from raygrove.gpu.shade.color_maps import color_map
from raygrove.gpu.shade.heat import HeatRow
from raygrove.gpu.shade.steps import StepsOptions
from raygrove.gpu.stats import STEP_BUCKETS, StepCounts, bucket_edges
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import CameraRays, pixel_order

from .pictures import mesh_of, scene_of

SIZE = (50, 37)
CAMERA = Camera(eye=(0.3, 0.2, 4.0))


def crowd(count: int) -> Scene:
    """Small triangles at random places."""
    random = np.random.default_rng(11)
    corners = (random.uniform(-1, 1, (count, 1, 3)) + random.normal(scale=0.15, size=(count, 3, 3))).reshape(-1, 3)
    return scene_of(mesh_of(corners, np.arange(3 * count).reshape(count, 3)))


def counted(
    target: Target, scene: Scene, options: StepsOptions, **settings: Any
) -> tuple[np.ndarray, StepCounts, np.ndarray]:
    """The picture, its statistics, and (3, height, width) nodes, primitives and boxes traced once more."""
    pixels = ArrayPixels(target, *SIZE)
    view = View(ViewSettings(ray_type="steps", ray_type_options=options, **settings), CAMERA, pixels)
    with contextlib.closing(Engine(target, scene)) as engine:
        engine.render_frame(Moment(), [view])
        found = engine.flush().views[0].steps
        slot = engine._slots["main"]
        hits = slot.tracer().trace(CameraRays(slot.film.frame, *SIZE), "steps")
        rows = np.stack([target.download(hits.steps), target.download(hits.tests), target.download(hits.boxes)])
    x, y = pixel_order(*SIZE)
    inside = (x < SIZE[0]) & (y < SIZE[1])
    counts = np.zeros((3, SIZE[1], SIZE[0]), np.int64)
    counts[:, y[inside], x[inside]] = rows[:, inside]
    assert found is not None
    return pixels.download(), found, counts


def binned(counts: np.ndarray) -> np.ndarray:
    return np.bincount(np.searchsorted(bucket_edges(), counts.reshape(-1), side="right") - 1, minlength=STEP_BUCKETS)


@pytest.mark.parametrize(("count", "rows"), [("nodes", (0,)), ("primitives", (1,)), ("boxes", (2,)), ("total", (1, 2))])
@pytest.mark.parametrize("hierarchy", ["lbvh", "brute_force"])
def test_the_histogram_counts_every_pixel(target: Target, hierarchy: str, count: str, rows: tuple[int, ...]) -> None:
    _, found, counts = counted(target, crowd(700), StepsOptions(count, 3, 40), hierarchy=hierarchy)
    assert np.array_equal(found.histogram, binned(counts[list(rows)].sum(axis=0)))
    assert found.histogram.sum() == SIZE[0] * SIZE[1] and (found.low, found.high) == (3, 40)
    assert counts[1].max() == 700 if hierarchy == "brute_force" else 5 < counts[1].max() < 400


def test_an_automatic_range_fits_the_picture(target: Target) -> None:
    image, found, counts = counted(target, crowd(700), StepsOptions("total", 5, 6, automatic=True))
    total = counts[1:].sum(axis=0)
    assert found.low <= total.min() < found.low * 1.04 + 1
    assert 0 < np.sum(total > found.high) <= total.size // 200
    assert found.high <= np.quantile(total, 0.995) * 1.04 + 1 and found.high == found.quantile(0.995)
    place = np.clip((total - found.low) * np.float32(255.0 / (found.high - found.low)) + 0.5, 0, 255).astype(int)
    wanted = color_map("viridis")[place]
    assert np.mean(np.all(image[..., :3] == wanted, axis=-1)) > 0.99
    assert np.max(np.abs(image[..., :3].astype(int) - wanted)) <= 6, "a step of the colour map at most"


def test_one_count_everywhere_is_a_range_too(target: Target) -> None:
    image, found, _ = counted(target, crowd(9), StepsOptions("primitives", automatic=True), hierarchy="brute_force")
    assert (found.low, found.high) == (9, 10) and np.all(image[..., :3] == color_map("viridis")[0])


def test_the_steps_of_a_pixel_are_those_of_the_picture(target: Target) -> None:
    scene, pixels = crowd(700), ArrayPixels(target, *SIZE)
    view = View(ViewSettings(ray_type="steps"), CAMERA, pixels)
    _, _, counts = counted(target, scene, StepsOptions())
    with contextlib.closing(Engine(target, scene)) as engine:
        engine.render_frame(Moment(), [view])
        places = [(x, y) for x in range(1, SIZE[0], 7) for y in range(1, SIZE[1], 5)]
        found = np.array([engine.steps(view, x + 0.5, y + 0.5) for x, y in places])
    wanted = np.array([counts[:, y, x] for x, y in places])
    assert np.mean(np.all(found == wanted, axis=1)) > 0.97, "but for rays that graze a box"
    assert len(np.unique(found[:, 0])) > 5


def test_edges_hold_every_count() -> None:
    edges = bucket_edges()
    assert edges[:66].tolist() == [*range(65), 66] and edges[-1] == 2**31 and np.all(np.diff(edges) > 0)
    assert np.max(np.diff(edges)[64:] / edges[64:-1]) <= 1 / 32


def test_quantiles_without_rays_and_with_one() -> None:
    nothing, one = np.zeros(STEP_BUCKETS, np.int32), np.zeros(STEP_BUCKETS, np.int32)
    one[7] = 1
    assert StepCounts("", nothing, 0, 1).quantile(0.5) == 0
    assert StepCounts("", one, 0, 1).quantile(0.01) == StepCounts("", one, 0, 1).quantile(1.0) == 7


@pytest.mark.parametrize("size", [(160, 120), (161, 7)])
def test_every_bucket_counts_what_lies_in_it(target: Target, size: tuple[int, int]) -> None:
    """Values at both ends of every bucket, the last one with the largest there is; and their range, also where all lie
    in the last one."""
    edges = bucket_edges()
    values = np.resize(np.unique([*edges[:-1], *(edges[1:] - 1)]), 160 * 120).astype(np.int32)[: size[0] * size[1]]
    values[-1] = 2**31 - 1
    for shown in (values, np.full_like(values, 2**31 - 1)):
        measured = measure(target, shown, size)
        histogram = np.bincount(np.searchsorted(edges, shown, side="right") - 1, minlength=STEP_BUCKETS)
        np.testing.assert_array_equal(measured[:STEP_BUCKETS], histogram)
        counts = StepCounts("", histogram, 0, 1)
        assert measured[-2] == edges[np.flatnonzero(histogram)[0]] <= shown.min()
        assert measured[-1] == counts.quantile(0.995)


def measure(target: Target, values: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """What the heat map's kernels measure of a picture of these values, row by row."""
    view = View(ViewSettings(ray_type="steps"), CAMERA, ArrayPixels(target, *size))
    with contextlib.closing(Engine(target, crowd(9))) as engine:
        engine.render_frame(Moment(), [view])
        engine.flush()
        film, unit = engine._slots["main"].film, target.unit(heat._UNIT)
        x, y = pixel_order(*size)
        inside = (x < size[0]) & (y < size[1])
        ordered = np.zeros(len(x), np.int32)
        ordered[inside] = values.reshape(size[1], size[0])[y[inside], x[inside]]
        options = np.array(HeatRow(range_low=1, range_high=2, is_automatic=True, color_map=0).numbers(), np.float32)
        given, parameters = target.upload(ordered, "test"), target.upload(options, "test")
        measured, packs = target.zeros(STEP_BUCKETS + 2, np.int32, "test"), len(x) // target.lane_count
        target.launch(unit, "count_values", packs, frame=film.frame, pack_count=packs, values=given, measured=measured)
        target.launch(unit, "choose_range", 1, options=parameters, measured=measured)
        return target.download(measured)
