"""The grid of tiles and the pixel boxes of spheres over the picture: exactly the pixels they stand for, of the spheres
that are asked for, whatever finds the hits, and of none that a plane cuts away wholly."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.app.document.state import Selection, State
from raygrove.app.frames.headless import render_frames
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu import tile_marks
from raygrove.gpu.animate.spheres import SphereSurface
from raygrove.gpu.glyphs.options import GlyphOptions
from raygrove.gpu.glyphs.tile_lists import Tiling
from raygrove.gpu.scene import Node, Object, Scene, Spheres
from raygrove.gpu.target.base import Target
from raygrove.gpu.tile_marks import BOXES, GRID, box_lines, grid_lines

SIZE = (100, 70)
PLACES = np.array([[-1.2, 0.5, 0.0], [0.3, -0.4, 0.0], [1.1, 0.6, 0.0]], np.float32)


def scene_of(places: np.ndarray = PLACES) -> Scene:
    """A sphere an object, the first the farthest from the eye."""
    groups = tuple(Spheres(f"s{i}", place[None], np.full(1, 0.2, np.float32)) for i, place in enumerate(places))
    return Scene("apart", (Node(),), objects=tuple(Object(0, spheres=i) for i in range(len(groups))), spheres=groups)


def picture(target: Target, scene: Scene, options: dict[str, Any], **state: Any) -> np.ndarray:
    settings = Settings()
    chosen = {"render.width": SIZE[0], "render.height": SIZE[1], "render.samples": 1, "tile_marks.opacity": 1.0}
    for key, value in (chosen | {"render.ray_type": "flat", "render.hierarchy": "brute_force"} | options).items():
        settings = set_option(settings, key, value)
    shown = dataclasses.replace(State(), settings=settings, **state)
    camera = dataclasses.replace(shown.cameras[0], eye=(0.0, 0.0, 4.0), look_at=(0.0, 0.0, 0.0), fov=40.0)
    shown = dataclasses.replace(shown, cameras=(camera,))
    return next(iter(render_frames(target, scene, shown, [(0, 0.0)]))).pixels[..., :3]


def marked(target: Target, scene: Scene, color: tuple[int, ...], options: dict[str, Any], **state: Any) -> np.ndarray:
    """Where the marks are; nothing beside them is changed."""
    others = {key: value for key, value in options.items() if not key.startswith("tile_marks.")}
    plain, found = picture(target, scene, others, **state), picture(target, scene, options, **state)
    is_marked = np.all(found == color, axis=-1)
    assert np.array_equal(np.any(found != plain, axis=-1), is_marked)
    return is_marked


def outline(first_x: int, end_x: int, first_y: int, end_y: int) -> np.ndarray:
    expected = np.zeros(SIZE[::-1], bool)
    expected[first_y:end_y, first_x:end_x] = True
    expected[first_y + 1 : end_y - 1, first_x + 1 : end_x - 1] = False
    return expected


def seen_box(target: Target, index: int) -> tuple[int, int, int, int]:
    """Where a sphere is in the picture without the others."""
    hidden = tuple(other for other in range(len(PLACES)) if other != index)
    shown = picture(target, scene_of(), {}, hidden=hidden)
    nothing = picture(target, scene_of(), {}, hidden=(0, 1, 2))
    rows, columns = np.nonzero(np.any(shown != nothing, axis=-1))
    return int(columns.min()), int(columns.max()) + 1, int(rows.min()), int(rows.max()) + 1


@pytest.mark.parametrize("primary", ["structure", "tiles"])
def test_the_grid_is_the_first_pixels_of_tiles_and_no_plane_cuts_it(host_target: Target, primary: str) -> None:
    expected = np.zeros(SIZE[::-1], bool)
    expected[:, 15::15] = expected[10::10, :] = True  # 7 of 15 and 10 pixels
    options = {"render.primary": primary, "tiles.tiles": 7, "tile_marks.grid": True, "clip.on": True}
    options["tiles.arrangement"] = "pixels_by_pixels"
    assert np.array_equal(marked(host_target, scene_of(), GRID, options), expected)


def test_tiles_as_printed_end_before_the_picture(host_target: Target) -> None:
    options = {"tiles.tiles": 8, "tiles.tile_rounding": "printed", "tile_marks.grid": True}
    expected = np.zeros(SIZE[::-1], bool)
    expected[:64, 12:97:12] = expected[8:65:8, :96] = True  # 8 of 12 and 8 pixels: 4 columns and 6 rows stay empty
    assert np.array_equal(marked(host_target, scene_of(), GRID, options), expected)
    assert len(grid_lines(Tiling.of(GlyphOptions(tiles=1), *SIZE), *SIZE)) == 0


def test_boxes_hold_what_is_seen_of_spheres_and_a_pixel_more_at_most(host_target: Target) -> None:
    found = marked(host_target, scene_of(), BOXES, {"tile_marks.boxes": True})
    expected = np.zeros_like(found)
    for index in range(len(PLACES)):
        seen = seen_box(host_target, index)
        columns = np.flatnonzero(found[seen[2] : seen[3], :].any(axis=0))
        near = columns[(columns >= seen[0] - 2) & (columns < seen[1] + 2)]
        rows = np.flatnonzero(found[:, seen[0] : seen[1]].any(axis=1))
        near_rows = rows[(rows >= seen[2] - 2) & (rows < seen[3] + 2)]
        box = (int(near.min()), int(near.max()) + 1, int(near_rows.min()), int(near_rows.max()) + 1)
        grown = np.subtract(box, seen) * (-1, 1, -1, 1)
        assert np.all(grown >= 0) and np.all(grown <= 1), (box, seen)
        expected |= outline(*box)
    assert np.array_equal(found, expected)


def test_the_lines_of_a_box_go_through_its_outermost_pixels() -> None:
    lines = box_lines(np.array([[3, 7, 2, 5], [9, 10, 4, 5]]))
    assert lines.shape == (8, 2, 3) and not lines[..., 2].any()
    first, second = lines[0::2], lines[1::2]
    of_first, of_second = ({tuple(end) for end in part.reshape(-1, 3)[:, :2].tolist()} for part in (first, second))
    assert of_first == {(3.5, 2.5), (6.5, 2.5), (6.5, 4.5), (3.5, 4.5)} and of_second == {(9.5, 4.5)}
    assert all((begin == end).sum() == 2 for begin, end in first), "along the sides, not across"


def test_boxes_as_printed_are_others(host_target: Target) -> None:
    options = {"tile_marks.boxes": True}
    exact = marked(host_target, scene_of(), BOXES, options)
    assert not np.array_equal(exact, marked(host_target, scene_of(), BOXES, options | {"tiles.boxes": "printed"}))


def test_boxes_are_of_the_selected_object_of_none_hidden_and_of_the_nearest(host_target: Target) -> None:
    options = {"tile_marks.boxes": True}
    every = marked(host_target, scene_of(), BOXES, options)
    apart = [marked(host_target, scene_of(), BOXES, options, selection=Selection(object=i)) for i in range(3)]
    assert all(one.any() for one in apart) and np.array_equal(every, np.logical_or.reduce(apart))
    assert np.array_equal(marked(host_target, scene_of(), BOXES, options, hidden=(1,)), apart[0] | apart[2])
    deep = PLACES + np.array([[0, 0, -1], [0, 0, 0], [0, 0, -2]], np.float32)
    nearest = marked(host_target, scene_of(deep), BOXES, options | {"tile_marks.limit": 1})
    assert np.array_equal(nearest, apart[1])


@pytest.mark.parametrize("is_flipped", [False, True])
def test_what_a_plane_cuts_away_wholly_has_no_box_and_what_it_cuts_has_all(
    host_target: Target, is_flipped: bool
) -> None:
    boxed = dataclasses.replace(scene_of(), lower=(-2.0, -1.0, -1.0), upper=(2.0, 1.0, 1.0))
    options: dict[str, Any] = {"tile_marks.boxes": True}
    whole = [marked(host_target, boxed, BOXES, options, selection=Selection(object=i)) for i in range(3)]
    options |= {"clip.on": True, "clip.flip": is_flipped}
    for x, left in ((0.49, (0, 1)), (0.15, (0, 1)), (0.09, (0,)), (0.7, (0, 1))):
        right = tuple(i for i in range(3) if i not in left or x - 0.2 < PLACES[i, 0] < x + 0.2)
        expected = np.logical_or.reduce([whole[i] for i in (right if is_flipped else left)])
        found = marked(host_target, boxed, BOXES, options | {"clip.position": (x + 2.0) / 4.0})
        assert np.array_equal(found, expected), x


def test_of_many_spheres_pieces_are_taken_evenly(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tile_marks, "PIECES", 3)
    monkeypatch.setattr(tile_marks, "PIECE", 2)
    group = Spheres("row", np.tile(PLACES[1], (11, 1)), np.full(11, 0.06, np.float32))
    places = group.centres + np.linspace(-1.0, 1.0, 11, dtype=np.float32)[:, None] * np.array([1, 0, 0], np.float32)
    scene = Scene(
        "row", (Node(),), objects=(Object(0, spheres=0),), spheres=(dataclasses.replace(group, centres=places),)
    )
    columns = np.flatnonzero(marked(host_target, scene, BOXES, {"tile_marks.boxes": True}).any(axis=0))
    pixels_each = SIZE[1] / (2 * 4.0 * np.tan(np.radians(20.0)))
    middles = 0.5 * SIZE[0] + pixels_each * places[:, 0]  # five pixels apart
    assert {int(np.abs(middles - x).argmin()) for x in columns + 0.5} == {0, 1, 4, 5, 9, 10}


def test_a_scene_without_spheres_has_the_grid_alone(host_target: Target) -> None:
    scene = Scene("nothing", (Node(),))
    options = {"tile_marks.boxes": True, "tile_marks.grid": True, "tiles.tiles": 7}
    assert marked(host_target, scene, GRID, options).sum() > 0


def test_boxes_are_read_back_once_as_long_as_nothing_changes(
    host_target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    read = tile_marks.TileMarks._read

    def counted(self: Any, spheres: SphereSurface, *given: Any) -> np.ndarray:
        reads.append(spheres.count)
        return read(self, spheres, *given)

    monkeypatch.setattr(tile_marks.TileMarks, "_read", counted)
    settings = set_option(set_option(Settings(), "tile_marks.boxes", True), "render.hierarchy", "brute_force")
    for key, value in (("render.width", 40), ("render.height", 30), ("render.ray_type", "flat")):
        settings = set_option(settings, key, value)
    state = dataclasses.replace(State(), settings=settings)
    assert len(list(render_frames(host_target, scene_of(), state, [(0, 0.0), (1, 0.0), (2, 0.0)]))) == 3
    assert reads == [3]
