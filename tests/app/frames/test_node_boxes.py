"""Which boxes are drawn, and how often the tree is read back for them."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np
import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.frames.headless import render_frames
from raygrove.app.frames.node_boxes import NodeBoxes, heights, select_boxes
from raygrove.app.frames.views import view_settings
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.box_options import BoxOptions
from raygrove.app.settings.settings import Settings, set_option, set_text
from raygrove.gpu.camera import Camera, fit
from raygrove.gpu.engine import Boxes, Engine, View
from raygrove.gpu.face import named_trees
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.bvh.own.tree import Tree
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target

SCENE = Scene("nothing")


def table(levels: int = 5) -> NodeTable:
    """A full binary tree that halves [0, 1] along x."""
    parents, depths, lows, sizes = [-1], [0], [0.0], [1.0]
    for row in range(2**levels - 1):
        for side in (0, 1):
            parents.append(row)
            depths.append(depths[row] + 1)
            lows.append(lows[row] + side * sizes[row] / 2)
            sizes.append(sizes[row] / 2)
    lower = np.array([[low, 0, 0] for low in lows], np.float32)
    upper = lower + np.array([[size, 1, 1] for size in sizes], np.float32)
    depth = np.array(depths, np.int32)
    leaf = depth == levels
    none = np.zeros(len(depth), np.int32)
    return NodeTable(
        np.array(parents, np.int32), depth, lower, upper, leaf, none, leaf.astype(np.int32), np.zeros(1, np.int32)
    )


def test_levels_are_counted_and_chosen() -> None:
    boxes, report = select_boxes(table(), BoxOptions(first_depth=1, last_depth=3), Camera())
    assert report.level_counts == (1, 2, 4, 8, 16, 32) and report.leaf_counts == (0, 0, 0, 0, 0, 32)
    assert (
        (report.shown, report.wanted, len(boxes.depth)) == (14, 14, 14)
        and set(boxes.depth) == {1, 2, 3}
        and boxes.depth_count == 6
    )
    assert report.sentence == "14 boxes of 63 are drawn." and report.colors.shape == (6, 3)
    leaves, _ = select_boxes(table(), BoxOptions(leaves_only=True), Camera())
    assert set(leaves.depth) == {5} and len(leaves.depth) == 32


def test_levels_are_counted_from_the_leaves_too() -> None:
    """A lopsided tree: a node's height is that of the deepest leaf below it."""
    parents = np.array([-1, 0, 0, 2, 2, 4, 4], np.int32)
    depth = np.array([0, 1, 1, 2, 2, 3, 3], np.int32)
    leaf = np.array([False, True, False, True, False, True, True])
    zeros, box = np.zeros(7, np.int32), np.zeros((7, 3), np.float32)
    lopsided = NodeTable(parents, depth, box, box + 1, leaf, zeros, leaf.astype(np.int32), zeros[:1])
    assert heights(lopsided).tolist() == [3, 0, 2, 0, 1, 0, 0]
    assert heights(table()).tolist() == (5 - table().depth).tolist()
    boxes, report = select_boxes(lopsided, BoxOptions(last_depth=1), Camera(), level_of=heights(lopsided))
    assert report.level_counts == (4, 1, 1, 1) and report.leaf_counts == (4, 0, 0, 0)
    assert sorted(boxes.depth.tolist()) == [0, 0, 0, 0, 1]


def test_of_too_many_the_nearest_are_drawn_and_that_is_said() -> None:
    boxes, report = select_boxes(table(), BoxOptions(first_depth=5, limit=4), Camera(eye=(-3.0, 0.5, 0.5)))
    assert np.allclose(np.sort(boxes.lower[:, 0]), [0, 1 / 32, 2 / 32, 3 / 32])
    assert report.sentence == "4 of 32 boxes are drawn: those nearest to the eye."


def test_a_tree_of_nothing_has_no_boxes() -> None:
    none = dataclasses.replace(
        table(), **{field.name: getattr(table(), field.name)[:0] for field in dataclasses.fields(NodeTable)[:-1]}
    )
    boxes, report = select_boxes(none, BoxOptions(), Camera())
    assert len(boxes.depth) == 0 and report.level_counts == () and report.sentence == "0 boxes of 0 are drawn."


class CountingEngine:
    """Gives a tree in `cost` seconds of its own clock, and remembers what it paints."""

    def __init__(self) -> None:
        self.now, self.cost, self.readings = 100.0, 0.001, 0
        self.painted: list[Boxes] = []
        self.asked: list[tuple[object, int]] = []

    def nodes(self, view: View) -> NodeTable:
        self.readings += 1
        self.now += self.cost
        return table()

    def visible_nodes(self, view: View, table: NodeTable, eye: object, cell: int = -1) -> np.ndarray:
        """Those of the half of the scene that the eye, or the cell, stands in."""
        self.asked.append((eye, cell))
        is_left = view.camera.eye[0] < 0.5 if cell < 0 else table.upper[cell, 0] < 0.6
        return table.lower[:, 0] < 0.5 if is_left else table.upper[:, 0] > 0.5

    def paint_boxes(self, view: View, boxes: Boxes) -> None:
        self.painted.append(boxes)


def shown(state: State) -> State:
    return replaced(state, "settings", set_option(state.settings, "boxes.show", True))


@pytest.mark.parametrize(("cost", "most"), [(0.001, 5), (0.05, 1)])
def test_a_playing_tree_is_read_at_most_five_times_a_second_and_a_twentieth_of_the_time(cost: float, most: int) -> None:
    engine, state = CountingEngine(), shown(State())
    engine.cost = cost
    boxes = NodeBoxes(lambda: engine.now)
    view = View(view_settings(state), Camera(), None)  # type: ignore[arg-type]
    for frame in range(61):
        boxes.paint(engine, view, SCENE, state, Moment(frame / 60), is_moving=True)  # type: ignore[arg-type]
        engine.now += 1 / 60
    assert 1 <= engine.readings <= most + 1 and len(engine.painted) == 61
    before = engine.readings
    boxes.paint(engine, view, SCENE, state, Moment(1.5), is_moving=False)  # type: ignore[arg-type]
    assert engine.readings == before + 1, "at rest they are those of the picture"
    for _ in range(5):
        boxes.paint(engine, view, SCENE, state, Moment(1.5), is_moving=False)  # type: ignore[arg-type]
    assert engine.readings == before + 1 and engine.painted[-1] is engine.painted[-2]
    other = dataclasses.replace(view, settings=dataclasses.replace(view.settings, hierarchy="brute_force"))
    boxes.paint(engine, other, SCENE, state, Moment(1.51), is_moving=True)  # type: ignore[arg-type]
    assert engine.readings == before + 2, "another structure is read at once"
    boxes.paint(engine, view, SCENE, State(), Moment(1.5), is_moving=False)  # type: ignore[arg-type]
    assert boxes.report is None


def test_boxes_of_slow_pictures_are_of_one_of_the_last() -> None:
    engine, state = CountingEngine(), shown(State())
    engine.cost = 0.06
    boxes = NodeBoxes(lambda: engine.now)
    view = View(view_settings(state), Camera(), None)  # type: ignore[arg-type]
    for frame in range(20):
        boxes.paint(engine, view, SCENE, state, Moment(frame / 4), is_moving=True)  # type: ignore[arg-type]
        engine.now += 0.25
    assert engine.readings >= 10, "0.24 s between two of 0.06 s each, and 0.25 s for each picture"


@pytest.mark.parametrize("hierarchy", ["lbvh", "brute_force"])
def test_pictures_without_a_window_have_the_boxes(host_target: Target, hierarchy: str) -> None:
    scene = make_demo("walker", 600)
    settings = set_option(set_option(Settings(), "render.hierarchy", hierarchy), "render.width", 96)
    settings = set_text(set_option(settings, "render.height", 72), "boxes.last_depth", "3")
    state = replaced(State(settings=settings), "cameras", (fit(scene.lower, scene.upper),))
    (plain,), (boxed,) = (list(render_frames(host_target, scene, one, [(0, 0.4)])) for one in (state, shown(state)))
    changed = np.any(plain.pixels != boxed.pixels, axis=-1)
    pixels = ArrayPixels(host_target, 96, 72)
    view = View(view_settings(state), state.camera_of(0), pixels)
    with contextlib.closing(Engine(host_target, scene)) as engine:
        engine.render_frame(Moment(0.4), [view])
        chosen, _ = select_boxes(engine.nodes(view), shown(state).settings.boxes, view.camera)
        engine.paint_boxes(view, chosen)
        assert np.array_equal(pixels.download(), boxed.pixels)
    assert 100 < changed.sum() < 0.5 * changed.size and (
        len(chosen.depth) == 1 if hierarchy == "brute_force" else 8 < len(chosen.depth) < 16
    )


def test_hidden_nodes_are_left_out_and_the_visible_cells_counted() -> None:
    """From the camera, again where it stands elsewhere and not where it only turns; from a cell; of one that is not
    there all are drawn, and that is said."""
    engine = CountingEngine()
    boxes = NodeBoxes(lambda: engine.now)

    def report(
        eye: tuple[float, float, float], look_at: tuple[float, float, float] = (0, 0, 0), **chosen: object
    ) -> str:
        state = shown(State())
        for name, value in chosen.items():
            state = replaced(state, "settings", set_option(state.settings, f"boxes.{name}", value))
        view = View(view_settings(state), Camera(eye=eye, look_at=look_at), None)  # type: ignore[arg-type]
        boxes.paint(engine, view, SCENE, state, Moment(), is_moving=False)  # type: ignore[arg-type]
        assert boxes.report is not None
        return boxes.report.sentence

    left, right = (-3.0, 0.5, 0.5), (3.0, 0.5, 0.5)
    assert report(left) == "63 boxes of 63 are drawn." and not engine.asked
    said = "32 boxes of 63 are drawn. 16 of 32 cells are visible from the camera."
    assert report(left, visible_from="camera") == said and engine.painted[-1].lower[:, 0].max() < 0.5
    assert report(left, (1, 0, 0), visible_from="camera") == said and len(engine.asked) == 1
    assert report(right, visible_from="camera") == said and len(engine.asked) == 2
    assert engine.painted[-1].upper[:, 0].min() > 0.5
    assert "16 of 32 cells are visible from the cell of node 1, sampled at 27 places." in report(
        right, visible_from="cell", cell=1
    )
    assert engine.painted[-1].lower[:, 0].max() < 0.5 and engine.asked[-1] == (right, 1)
    assert report(right, visible_from="cell", cell=63).startswith("63 boxes of 63 are drawn. There is no node 63")
    assert len(engine.asked) == 3


def test_boxes_behind_others_are_not_in_the_picture(host_target: Target) -> None:
    """From the camera, outside of the walls of a room, and from a cell of the tree: less is drawn."""
    scene = make_demo("orbit", 3000)
    settings = set_option(set_option(Settings(), "render.width", 96), "render.height", 72)
    settings = set_option(set_option(settings, "boxes.last_depth", 255), "boxes.leaves_only", True)
    state = shown(replaced(State(settings=settings), "cameras", (fit(scene.lower, scene.upper),)))

    def picture(place: str, cell: int = 0) -> tuple[int, str, np.ndarray, NodeTable]:
        one = replaced(state, "settings", set_option(state.settings, "boxes.visible_from", place))
        one, boxes = replaced(one, "settings", set_option(one.settings, "boxes.cell", cell)), NodeBoxes()
        pixels = ArrayPixels(host_target, 96, 72)
        view = View(view_settings(one), one.camera_of(0), pixels)
        with contextlib.closing(Engine(host_target, scene)) as engine:
            engine.render_frame(Moment(0.4), [view])
            boxes.paint(engine, view, scene, one, Moment(0.4), is_moving=False)
            assert boxes.report is not None
            return boxes.report.shown, boxes.report.visibility, pixels.download().copy(), engine.nodes(view)

    everything, none, plain, table = picture("anywhere")
    leaf = int(np.flatnonzero(table.is_leaf)[100])
    (seen, from_camera, one, _), (near, from_cell, other, _) = picture("camera"), picture("cell", leaf)
    assert none == "" and 0 < seen < everything and 0 < near < everything
    assert "visible from the camera" in from_camera and f"the cell of node {leaf}" in from_cell
    assert (plain != one).any() and (plain != other).any() and (one != other).any()


def test_a_plane_that_moves_is_asked_about_anew() -> None:
    """Only where it decides what is visible; the tree that is drawn whole is read once."""
    for place, asked in (("anywhere", 0), ("camera", 3)):
        engine, state = CountingEngine(), shown(State())
        state = replaced(state, "settings", set_option(state.settings, "boxes.visible_from", place))
        boxes = NodeBoxes(lambda engine=engine: engine.now)  # type: ignore[misc]
        for on, position in ((False, 0.5), (True, 0.5), (True, 0.5), (True, 0.6)):
            settings = set_option(set_option(state.settings, "clip.on", on), "clip.position", position)
            state = replaced(state, "settings", settings)
            view = View(view_settings(state), Camera(), None)  # type: ignore[arg-type]
            boxes.paint(engine, view, SCENE, state, Moment(), is_moving=False)  # type: ignore[arg-type]
        assert len(engine.asked) == asked and engine.readings == max(asked, 1)


def test_what_the_view_cuts_away_hides_no_node(host_target: Target) -> None:
    """With the near half cut away the far half is seen, and nothing of the near half."""
    scene, tables = make_demo("orbit", 3000), []
    camera = Camera(eye=(scene.upper[0] * 3.0, 0.1, 0.2), look_at=(0.0, 0.0, 0.0))
    for on in (False, True):
        state = State(settings=set_option(set_option(Settings(), "clip.on", on), "clip.axis", "x"))
        view = View(view_settings(state), camera, ArrayPixels(host_target, 32, 24))
        with contextlib.closing(Engine(host_target, scene)) as engine:
            engine.render_frame(Moment(0.4), [view])
            tables.append((table := engine.nodes(view), engine.visible_nodes(view, table, camera.eye)))
    (table, whole), (_, cut) = tables
    plane = (scene.lower[0] + scene.upper[0]) / 2.0
    assert not cut[table.lower[:, 0] > plane + 1e-3].any()
    newly = table.is_leaf & cut & ~whole
    assert newly.sum() > 20 and (table.lower[newly, 0] <= plane + 1e-3).all()


def test_options_are_checked() -> None:
    from raygrove.gpu.settings import OptionError

    for key, value in (("boxes.limit", 0), ("boxes.first_depth", -1), ("boxes.opacity", 2.0)):
        with pytest.raises(OptionError, match=key):
            set_option(Settings(), key, value)


def test_boxes_of_frames_that_a_file_has_are_drawn_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the nearest frame, without a reading of the structure; where the file has none, that is said."""
    bounds = np.array([[[0, 0, 0, 2, 1, 1], [0, 0, 0, 1, 1, 1], [1, 0, 0, 2, 1, 1]]] * 2, np.float32)
    bounds[1] += 5.0
    tree = Tree(children=[[1, 2], [0, 0], [0, 0]], first=[0, 0, 1], count=[0, 1, 1], primitives=[1, 0],
                frame_bounds=bounds, frame_times=np.array([0.0, 1.0]))  # fmt: skip
    monkeypatch.setitem(named_trees.frames, "lbvh", tree)
    engine = CountingEngine()
    boxes = NodeBoxes(lambda: engine.now)
    state = shown(State())
    state = replaced(state, "settings", set_option(state.settings, "boxes.source", "file"))
    view = View(view_settings(state), Camera(), None)  # type: ignore[arg-type]
    for time, frame in ((0.2, 0), (0.7, 1)):
        boxes.paint(engine, view, SCENE, state, Moment(time), is_moving=False)  # type: ignore[arg-type]
        assert engine.painted[-1].lower.tolist() == bounds[frame, :, :3].tolist() and engine.readings == 0
        assert boxes.report is not None and boxes.report.level_counts == (1, 2)
        assert boxes.report.sentence.endswith(f"They are the file's, of its frame at {frame} s.")
    monkeypatch.delitem(named_trees.frames, "lbvh")
    boxes.paint(engine, view, SCENE, state, Moment(0.8), is_moving=False)  # type: ignore[arg-type]
    assert engine.readings == 1 and boxes.report is not None and "no file of it has boxes" in boxes.report.sentence
