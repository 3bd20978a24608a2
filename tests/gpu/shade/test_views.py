"""The views of what is hit, against what a picked pixel is known to be; their ranges and histograms, and what the
pointer reads."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, Hit, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Material, Mesh, Moment, Scene
from raygrove.gpu.shade.color_maps import color_map
from raygrove.gpu.shade.registry import legend, ray_type
from raygrove.gpu.shade.views import SurfaceViewType
from raygrove.gpu.stats import Reading, StepCounts
from raygrove.gpu.target.base import Target

from .pictures import mesh_of, scene_of, square
from .test_ao import bounded

SIZE = (40, 30)
CAMERA = Camera(eye=(0.4, 0.7, 3.0), look_at=(0.02, 0.01, 0.0))
PLACES = [(x, y) for x in range(2, SIZE[0], 5) for y in range(1, SIZE[1], 4)]


def slope() -> Mesh:
    """A square behind the other, turned, of another material, with coordinates that repeat."""
    corners = [[-3, 3, -3], [3, 3, -1], [3, -3, -1], [-3, -3, -3]]
    return mesh_of(corners, [[0, 2, 1], [0, 3, 2]], [[-1, 0], [2, 0], [2, 3], [-1, 3]], material=1)


def scene() -> Scene:
    return bounded(scene_of(square(0.7), slope(), materials=(Material(), Material())))


def seen(
    target: Target, name: str, **options: Any
) -> tuple[np.ndarray, StepCounts | None, list[Hit | None], list[Reading]]:
    """The picture of a view, what was counted, and hits and readings at PLACES."""
    pixels = ArrayPixels(target, *SIZE)
    view = View(ViewSettings(ray_type=name, ray_type_options=ray_type(name).Options(**options)), CAMERA, pixels)
    with contextlib.closing(Engine(target, scene())) as engine:
        engine.render_frame(Moment(), [view])
        counts = engine.flush().views[0].steps
        hits = [engine.pick(view, x + 0.5, y + 0.5) for x, y in PLACES]
        readings = [engine.reading(view, x + 0.5, y + 0.5) for x, y in PLACES]
    assert all(reading is not None for reading in readings)
    return pixels.download(), counts, hits, [reading for reading in readings if reading is not None]


def numbers(text: str) -> list[float]:
    return [
        float(word.strip("(),"))
        for word in text.replace(",", " ").split()
        if word.strip("(),").lstrip("-").replace(".", "", 1)[:1].isdigit()
    ]


@pytest.mark.parametrize("show", ["distance", "depth"])
def test_depth_is_a_heat_map_of_distances(target: Target, show: str) -> None:
    image, counts, hits, readings = seen(target, "depth", show=show, automatic=False, minimum=2.0, maximum=6.0)
    assert (
        counts is not None
        and np.isclose(counts.number(counts.low), 2.0, rtol=1e-4)
        and np.isclose(counts.number(counts.high), 6.0, rtol=1e-4)
    )
    forward = np.subtract(CAMERA.look_at, CAMERA.eye) / np.linalg.norm(np.subtract(CAMERA.look_at, CAMERA.eye))
    checked = 0
    for (x, y), hit, reading in zip(PLACES, hits, readings, strict=True):
        if hit is None:
            assert reading == ("nothing is hit", None) and np.all(image[y, x, :3] == 0)
            continue
        away = np.array(hit.position) - CAMERA.eye
        expected = {"distance": np.linalg.norm(away), "depth": away @ forward}
        assert reading.number is not None and np.isclose(reading.number, expected[show], rtol=1e-4)
        assert np.allclose(numbers(reading.text), list(expected.values()), rtol=1e-4)
        place = int(np.clip((expected[show] - 2.0) / 4.0 * 255.0 + 0.5, 0, 255))
        assert np.abs(image[y, x, :3].astype(int) - color_map("viridis")[place]).max() <= 6
        checked += 1
    assert checked > 20 and counts.histogram.sum() == np.count_nonzero(image[..., :3].any(axis=-1))


def test_an_automatic_range_is_the_pictures(target: Target) -> None:
    _, counts, hits, readings = seen(target, "depth")
    found = [reading.number for reading in readings if reading.number is not None]
    assert counts is not None and len(found) > 20 and any(hit is None for hit in hits)
    assert counts.number(counts.low) <= min(found) * 1.001 and counts.number(counts.high) >= np.quantile(found, 0.9)
    assert counts.number(counts.high) < 1.1 * max(found) and counts.text(counts.low).replace(".", "").isdigit()


def test_normals_are_colours_and_cosines(target: Target) -> None:
    image, counts, hits, readings = seen(target, "normals", geometric=True)
    cosines = seen(target, "normals", geometric=True, show="cosine")[3]
    turned = np.cross([6, 0, 2], [0, -6, 0]) * -1.0
    wanted = {0: np.array([0.0, 0.0, 1.0]), 1: turned / np.linalg.norm(turned)}
    assert counts is None
    checked = set[int]()
    for (x, y), hit, reading, cosine in zip(PLACES, hits, readings, cosines, strict=True):
        if hit is None:
            continue
        checked.add(hit.object_id)
        normal = wanted[hit.object_id]
        normal = normal if normal @ (np.array(CAMERA.eye) - hit.position) > 0 else -normal
        towards = (np.array(CAMERA.eye) - hit.position) / np.linalg.norm(np.array(CAMERA.eye) - hit.position)
        assert np.allclose(numbers(reading.text)[:3], normal, atol=1e-3) and cosine.number == pytest.approx(
            normal @ towards, abs=1e-3
        )
        assert np.abs(image[y, x, :3] / 255.0 - (normal * 0.5 + 0.5)).max() < 0.04, "squares are about what sRGB undoes"
    assert sum(hit is not None for hit in hits) > 20 and checked == {0, 1}


@pytest.mark.parametrize(("show", "index"), [("primitive", 0), ("object", 1), ("material", 2)])
def test_ids_have_colours_of_their_own(target: Target, show: str, index: int) -> None:
    image, _, hits, readings = seen(target, "ids", show=show)
    colors: dict[int, set[tuple[int, ...]]] = {}
    for (x, y), hit, reading in zip(PLACES, hits, readings, strict=True):
        if hit is not None:
            found = numbers(reading.text)
            assert found == [hit.prim_id, hit.object_id, hit.material]
            colors.setdefault(int(found[index]), set()).add(tuple(image[y, x, :3].tolist()))
    assert len(colors) >= 2 and all(len(found) == 1 for found in colors.values())
    assert len(set.union(*colors.values())) == len(colors)


def test_barycentrics_are_the_weights_of_the_hit(target: Target) -> None:
    image, _, hits, readings = seen(target, "barycentrics")
    edges = seen(target, "barycentrics", show="edge")[3]
    for (x, y), hit, reading, edge in zip(PLACES, hits, readings, edges, strict=True):
        if hit is not None:
            weights = [1.0 - hit.u - hit.v, hit.u, hit.v]
            assert np.allclose(numbers(reading.text), weights, atol=1e-3) and edge.number == pytest.approx(
                min(weights), abs=1e-4
            )
            assert np.abs(image[y, x, :3] / 255.0 - weights).max() < 0.06
    assert sum(hit is not None for hit in hits) > 20


def test_texture_coordinates_repeat_in_colours_and_not_under_the_pointer(target: Target) -> None:
    image, _, hits, readings = seen(target, "texture_coordinates")
    beyond = 0
    for (x, y), hit, reading in zip(PLACES, hits, readings, strict=True):
        if hit is None:
            continue
        px, py = hit.position[:2]
        uv = ((px + 0.7) / 1.4, (0.7 - py) / 1.4) if hit.object_id == 0 else ((px + 3.0) / 2.0 - 1.0, (3.0 - py) / 2.0)
        assert np.allclose(numbers(reading.text), uv, atol=1e-3)
        fractions = np.array(uv) % 1.0
        if np.all(np.abs(fractions - 0.5) < 0.45):
            assert np.abs(image[y, x, :2] / 255.0 - fractions).max() < 0.06 and image[y, x, 2] == 0
        beyond += max(uv) > 1.0
    assert beyond > 3


def test_a_scene_without_coordinates_is_black(host_target: Target) -> None:
    pixels = ArrayPixels(host_target, *SIZE)
    bare = scene_of(mesh_of([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], [[0, 1, 2]]))
    with contextlib.closing(Engine(host_target, bare)) as engine:
        engine.render_frame(Moment(), [View(ViewSettings(ray_type="texture_coordinates"), CAMERA, pixels)])
        assert not pixels.download()[..., :3].any()


def test_every_view_says_how_it_is_read() -> None:
    views = [ray_type(name) for name in ("depth", "normals", "ids", "barycentrics", "texture_coordinates")]
    for view in views:
        assert issubclass(view, SurfaceViewType)
        for show, shown in view.SHOWN.items():
            scale = legend(view.name, view.Options(show=show))
            assert (scale is None) == (shown.low is None) and (scale is None or scale.label == shown.label)
