"""The ray debugger and the tree browser, used as a person does, over a real picture: follow, step, search, jump."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest

from raygrove.app.document.state import Selection
from raygrove.app.ui.panels.ray_panel import RayPanel
from raygrove.app.ui.panels.ray_tools import RayTools
from raygrove.app.ui.panels.tree_model import VISITS, TreeModel
from raygrove.app.ui.picture.ray_marks import CURRENT, MISSED, SELECTED
from raygrove.app.ui.session.inspection import Inspected
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.followed_ray import FollowedRay
from raygrove.gpu.analysis.hot_spots import HotSpots
from raygrove.gpu.analysis.node_counts import FIELDS, Counts
from raygrove.gpu.analysis.ray_log import Event
from raygrove.gpu.analysis.tree_rows import PAGE, NodeVisits, TreeNode, TreeRow, TreeRows, TreeWay
from raygrove.gpu.engine import Engine
from raygrove.gpu.hierarchy.base import NOT_TOLD
from raygrove.gpu.inspector import Inspector
from raygrove.gpu.scene import Moment
from raygrove.testing import make_target
from tests.app.stand_ins import PaintedMaker
from tests.app.ui.panels.test_pick_panel import click
from tests.gpu.moving_scene import moving_scene, view_of


@pytest.fixture(scope="session")
def inspector() -> Iterator[Inspector]:
    with make_target("host") as target:
        engine, view = Engine(target, moving_scene()), None
        view = view_of(target, size=(24, 16), hierarchy="lbvh", layout="bvh4")
        engine.render_frame(Moment(0.7), [view])
        engine.flush()
        yield engine.inspector(view)
        engine.close()


@pytest.fixture(scope="session")
def followed(inspector: Inspector) -> FollowedRay:
    found = inspector.follow(12.5, 8.5)
    assert len(found.log) > 20 and found.log.primitive >= 0
    return found


@pytest.fixture
def panel(qtbot: Any) -> RayPanel:
    made = RayPanel()
    qtbot.addWidget(made)
    made.show()
    return made


def test_an_empty_panel_says_how_a_pixel_is_chosen(panel: RayPanel) -> None:
    assert "Shift+Left click picks a pixel" in panel.hint.text()
    panel._gestures.set("mouse.pick", ("Ctrl+Right click",))
    assert "Ctrl+Right click picks a pixel" in panel.hint.text()
    panel._gestures.set("mouse.pick", ())
    assert "Type the column and row" in panel.hint.text()


def test_a_ray_is_stepped_through_forwards_and_backwards(panel: RayPanel, followed: FollowedRay) -> None:
    panel.show_pixel((0.55, 0.5), (24, 16))
    panel.wait()
    assert panel.hint.text() == "Following the ray of column 13, row 8 …"
    panel.show_ray(followed)
    assert "Following" not in panel.hint.text()
    assert panel.state_lines()[2] == "Children: none decided about yet", "the root was only entered"
    log, last = followed.log, len(followed.log) - 1
    assert (panel.at, panel.rows.rowCount(), panel.slider.maximum()) == (0, len(log), last)
    assert panel.sentence.text() == f"1 of {len(log)}: node 0 entered at 0"
    seen = [panel.state_lines()]
    for _ in range(last):
        panel.buttons["step"].click()
        seen.append(panel.state_lines())
    assert panel.at == last and f"Nearest hit: primitive {log.primitive}" in seen[-1][1]
    for n in reversed(range(last)):
        panel.buttons["step_back"].click()
        assert panel.state_lines() == seen[n]
    panel.slider.setFocus()
    QTest.keyClick(panel.slider, Qt.Key.Key_End)
    assert panel.at == last
    QTest.keyClick(panel.slider, Qt.Key.Key_Left)
    assert panel.at == last - 1 == panel.events.currentIndex().row()
    panel.buttons["last"].click()
    panel.buttons["first"].click()
    assert panel.at == 0
    panel.events.setCurrentIndex(panel.rows.index(7))
    assert panel.at == 7 and panel.slider.value() == 7 and panel.node == log.state(7).node


def test_the_current_line_is_marked_and_the_stack_is_told(panel: RayPanel, followed: FollowedRay) -> None:
    panel.show_ray(followed)
    assert followed.pseudocode is not None
    for n in range(len(followed.log)):
        panel.go(n)
        lines = panel.code.toPlainText().splitlines()
        (marked,) = [number for number, line in enumerate(lines) if line.startswith("> ")]
        assert marked == followed.line(n) and lines[marked][2:] == followed.pseudocode.lines[marked]
        stack = followed.log.state(n).stack
        assert panel.state_lines()[-1 - len(stack)] == (
            f"Stack of {len(stack)}, the top first:" if stack else "Stack: empty"
        )
    assert [row["event"] for row in panel.table()[1]] == list(range(1, len(followed.log) + 1))
    assert panel.text().splitlines()[0] == "1  node 0 entered at 0"


def test_event_and_line_stay_in_sight_of_a_lower_panel(panel: RayPanel, followed: FollowedRay, qtbot: Any) -> None:
    panel.resize(460, 900)
    panel.show_ray(followed)
    n = max(range(20), key=lambda one: followed.line(one) or 0)
    panel.go(n)
    for height in (440, 900, 440):
        panel.resize(460, height)
        qtbot.wait(20)
        shown = panel.events.visualRect(panel.rows.index(n))
        assert panel.events.viewport().rect().contains(shown)
        assert panel.code.viewport().rect().intersects(panel.code.cursorRect())


def test_it_plays_to_the_end_and_begins_at_a_chosen_node(panel: RayPanel, followed: FollowedRay, qtbot: Any) -> None:
    leaf = int(followed.log.ids[followed.log.kinds == Event.LEAF_ENTERED][0])
    panel.show_ray(followed, leaf)
    assert panel.node == leaf and panel.at == followed.log.entered(leaf)
    panel.go(len(followed.log) - 3)
    panel._timer.setInterval(1)
    panel.buttons["play"].click()
    qtbot.waitUntil(lambda: panel.at == len(followed.log) - 1 and not panel._timer.isActive())
    panel.mark_old()
    assert "changed since" in panel.hint.text()
    panel.show_ray(None)
    assert not panel.slider.isEnabled() and panel.code.toPlainText() == "" and "no picture" in panel.hint.text()


@pytest.fixture
def tools(scene_window: MainWindow, inspector: Inspector, monkeypatch: pytest.MonkeyPatch) -> RayTools:
    """The window's, over the pictures of an engine."""

    def follow(maker: Any, across: float, down: float) -> FollowedRay:
        return inspector.follow(24 * across, 16 * down)

    monkeypatch.setattr(PaintedMaker, "follow_ray", follow, raising=False)
    monkeypatch.setattr(PaintedMaker, "ask_of_tree", lambda maker, ask: ask(inspector), raising=False)
    return scene_window.ray_tools


def show(window: MainWindow, name: str) -> None:
    dock = next(dock for dock in window.docks if dock.objectName() == f"dock.{name}")
    dock.show()
    dock.raise_()


def test_a_click_follows_the_ray_and_draws_it(scene_window: MainWindow, tools: RayTools, qtbot: Any) -> None:
    click(scene_window, 0.25, 0.5)
    qtbot.waitUntil(lambda: bool(scene_window.inspectors.pick.rows))
    assert tools.ray.ray is None, "nobody looks"
    show(scene_window, "ray")
    qtbot.waitUntil(lambda: tools.ray.ray is not None)
    click(scene_window, 12.5 / 24, 8.5 / 16)
    qtbot.waitUntil(lambda: tools.ray.ray is not None and np.isfinite(tools.ray.ray.log.t))  # the one before missed
    assert scene_window.session.inspection.now.pixel == pytest.approx((12.5 / 24, 8.5 / 16), abs=0.02)
    followed, marks = tools.ray.ray, tools.marks
    assert followed is not None and marks.isVisible() and tools.ray.isVisible()
    tools.ray.go(len(followed.log) - 1)
    boxes, ends = marks.boxes(), marks.ray_ends()
    assert [node.id for node in boxes["current"]] == [followed.log.state(tools.ray.at).node]
    assert boxes["missed"] and ends is not None
    t = followed.log.t
    np.testing.assert_allclose(ends[1], np.add(followed.log.origin, np.multiply(followed.log.direction, t)), rtol=1e-6)
    image = marks.grab().toImage()
    places = ((x, y) for x in range(0, image.width(), 2) for y in range(0, image.height(), 2))
    colors = {image.pixelColor(*place).name() for place in places}
    assert {color.name() for color in (CURRENT, MISSED, SELECTED)} & colors
    scene_window.document.change("settings.render.hierarchy", "hploc")
    assert not marks.isVisible() and "changed since" in tools.ray.hint.text()


def test_the_pixel_is_typed(scene_window: MainWindow, tools: RayTools, qtbot: Any) -> None:
    show(scene_window, "ray")
    qtbot.waitUntil(lambda: tools.ray.across.maximum() > 0)
    tools.ray.across.setValue(tools.ray.across.maximum() // 2)
    tools.ray.down.setValue(tools.ray.down.maximum() // 2)
    tools.ray.follow.click()
    qtbot.waitUntil(lambda: tools.ray.ray is not None)
    inspection = scene_window.session.inspection
    assert inspection.now.pixel == pytest.approx((0.5, 0.5), abs=0.02)
    tools.ray.across.setValue(tools.ray.across.maximum() // 4)
    tools.ray.follow.click()
    qtbot.waitUntil(lambda: (inspection.now.primitive, inspection.now.object) == (1, 0))  # what it hit
    for tell in scene_window.document.on_scene:
        tell(scene_window.document.scene)
    assert tools.ray.ray is None and inspection.now.pixel is not None
    qtbot.waitUntil(lambda: tools.ray.ray is not None)  # a pixel that was saved is followed in the first picture
    scene_window.document.change("selection", Selection(object=0))  # as another scene begins
    for tell in scene_window.document.on_scene:
        tell(scene_window.document.scene)
    assert tools.ray.ray is None and inspection.now == Inspected(object=0)


def test_from_the_ray_to_the_tree_and_back(scene_window: MainWindow, tools: RayTools, qtbot: Any) -> None:
    show(scene_window, "ray")
    tools.follow((0.5, 0.5))
    qtbot.waitUntil(lambda: tools.ray.ray is not None)
    followed = tools.ray.ray
    assert followed is not None
    leaf = int(followed.log.ids[followed.log.kinds == Event.LEAF_ENTERED][0])
    tools.ray.go_to_node(leaf)
    at = tools.ray.at
    tools.ray.show_node.click()
    qtbot.waitUntil(lambda: tools.tree.chosen == leaf)
    assert tools.tree.isVisible() and scene_window.session.inspection.now.node == leaf
    assert [node.id for node in tools.marks.boxes()["selected"]] == [leaf] and tools.ray.at == at
    above = tools.tree.view.currentIndex().parent()
    tools.tree.view.setCurrentIndex(above)
    row = tools.tree.model.row_of(above)
    assert row is not None and tools.ray.node == row.node.id, "the ray is shown where it entered that node"
    scene_window.session.inspection.select(node=leaf)
    qtbot.waitUntil(lambda: tools.tree.chosen == leaf)


def test_the_tree_is_searched(scene_window: MainWindow, tools: RayTools, inspector: Inspector, qtbot: Any) -> None:
    tree = tools.tree
    show(scene_window, "tree")
    qtbot.waitUntil(lambda: tree.model.rowCount() == 1)
    tree.way.setCurrentIndex(1)
    tree.number.setText("71")
    tree.find_it.click()
    qtbot.waitUntil(lambda: tree.chosen is not None)
    row = tree.model.row_of(tree.view.currentIndex())
    assert row is not None and 71 in inspector.nodes.references(row.node)
    tree.way.setCurrentIndex(0)
    tree.number.setText("3")
    QTest.keyClick(tree.number, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: tree.chosen == 3)
    tree.view.header().resizeSection(0, 30)
    tree.find_it.click()
    qtbot.waitUntil(lambda: tree.view.header().sectionSize(0) >= tree.view.sizeHintForColumn(0) > 60)
    tree.number.setText("123456789")
    tree.find_it.click()
    qtbot.waitUntil(lambda: "nothing of that number" in tree.hint.text())
    tree.number.setText("box")
    tree.find_it.click()
    assert "Type a number" in tree.hint.text() and tree.chosen == 3
    tree.way.setCurrentIndex(2)
    node = inspector.way_to(3).rows.rows[-1].node
    middle = [0.5 * (low + high) for low, high in zip(node.lower, node.upper, strict=True)]
    tree.number.setText(", ".join(f"{x:.9g}" for x in (*middle, *middle)))
    tree.find_it.click()
    smallest = inspector.nodes.path_holding(*(tuple(float(f"{x:.9g}") for x in middle),) * 2)[-1]  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: tree.chosen == smallest.id)
    for text, sentence in (("1 2", "six numbers"), ("1 1 1 0 0 0", "lies above"), ("9e9 0 0", "holds that box")):
        tree.number.setText(text)
        tree.find_it.click()
        qtbot.waitUntil(lambda sentence=sentence: sentence in tree.hint.text())


def test_what_hot_spots_counted_stands_beside_the_nodes(
    scene_window: MainWindow, tools: RayTools, inspector: Inspector, qtbot: Any
) -> None:
    show(scene_window, "tree")
    qtbot.waitUntil(lambda: tools.tree.model.rowCount() == 1)
    model = tools.tree.model
    cell = lambda: model.data(model.index(0, VISITS))  # noqa: E731
    assert model.titles[VISITS] == "Visits" and cell() == "–"
    table = inspector.nodes.hierarchy.nodes()
    visits = np.arange(len(table)) + 1234
    counts = Counts({**{name: np.zeros(len(table), np.int64) for name in FIELDS}, "visits": visits},
                    np.zeros(1, np.int64), np.zeros(1, np.int64), 9, 4)  # fmt: skip
    scene_window.session.inspection.counted.emit(HotSpots(table, counts, "all", "both", None))
    assert cell() == "1,234", "the root is row 0"
    assert table.event_ids is not None
    told = NodeVisits.counted(HotSpots(table, counts, "all", "both", None))
    for row in np.flatnonzero(table.event_ids != NOT_TOLD):
        assert told.of(int(table.event_ids[row])) == visits[row]
    assert told.of(1 << 30) is None
    drawn: list[object] = []
    model.dataChanged.connect(lambda *_: drawn.append(cell()))
    for _ in range(3):  # as every frame of a clip says that its picture is another
        scene_window.session.inspection.counted.emit(None)
    assert cell() == "–" and drawn == ["–"], "the table is drawn again once, not for each frame"


def test_two_trees_stand_level_by_level(
    scene_window: MainWindow, tools: RayTools, inspector: Inspector, qtbot: Any
) -> None:
    show(scene_window, "tree")
    levels = tools.tree.levels
    levels.other.setText("binned_sah/bvh4")
    levels.compare.click()
    qtbot.waitUntil(lambda: len(levels.model.trees) == 2)
    ours, theirs = inspector.levels("binned_sah/bvh4")
    assert "A lbvh/bvh4: SAH cost" in levels.sentence.text() and "B binned_sah/bvh4" in levels.sentence.text()
    rows = max(len(ours.levels), len(theirs.levels))
    assert (levels.model.rowCount(), levels.model.columnCount()) == (rows, 10) and levels.view.isVisible()
    shown = [[levels.model.data(levels.model.index(row, column)) for column in (0, 1)] for row in range(rows)]
    for row, pair in enumerate(shown):
        for tree, cell in zip((ours, theirs), pair, strict=True):
            assert cell == (f"{tree.levels[row].nodes:,}" if row < len(tree.levels) else "–")
    header = levels.model.headerData(1, Qt.Orientation.Horizontal)
    assert header == "Nodes B" and levels.model.headerData(2, Qt.Orientation.Vertical) == "2"
    levels.other.setText("lbhv")
    QTest.keyClick(levels.other, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "lbhv" in levels.sentence.text())
    assert levels.model.rowCount() == 0 and not levels.view.isVisible()


MANY = 1000


def node_of(number: int, parent: int | None, depth: int, *, is_leaf: bool) -> TreeRow:
    return TreeRow(TreeNode(number, parent, depth, (0, 0, 0), (1, 1, 1), is_leaf, 0, int(is_leaf)), 0.5, 0.5, None)


def page_of(first: int) -> TreeRows:
    numbers = range(1 + first, 1 + min(first + PAGE, MANY))
    return TreeRows(tuple(node_of(number, 0, 1, is_leaf=True) for number in numbers), "a tree")


@functools.cache
def root() -> TreeRows:
    return TreeRows((node_of(0, None, 0, is_leaf=False),), "a tree")


def test_children_come_a_page_at_a_time(qtbot: Any) -> None:
    model = TreeModel()
    asked: list[tuple[int, int]] = []
    model.wanted.connect(lambda node, first: asked.append((node.id, first)))
    model.begin(root())
    top = model.index(0, 0)
    assert model.hasChildren(top) and model.canFetchMore(top) and model.rowCount(top) == 0
    model.fetchMore(top)
    model.fetchMore(top)
    assert asked == [(0, 0)], "asked once"
    model.take_page(0, page_of(0))
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert model.rowCount(top) == PAGE and model.parent(model.index(5, 0, top)) == top
    way = TreeWay(TreeRows((root().rows[0], node_of(777, 0, 1, is_leaf=True)), "a tree"), (page_of(0),))
    far = model.take_way(way)
    row = model.row_of(far)
    assert row is not None and row.node.id == 777 and model.rowCount(top) == PAGE + 1, "the others are not read for it"
    for _ in range(MANY // PAGE):
        model.fetchMore(top)  # where Qt's tester has not
        model.take_page(0, page_of(asked[-1][1]))
    assert not model.canFetchMore(top)
    assert model.rowCount(top) == MANY and model.row_of(far) is row
    model.take_page(0, TreeRows(page_of(0).rows, "another tree"))
    assert model.rowCount(top) == MANY and model.take_way(TreeWay(TreeRows((), "a tree"))) == QModelIndex()
    del tester


def test_a_huge_tree_opens_and_scrolls(qtbot: Any) -> None:
    """Nothing depends on how many there are: opening reads a page, and rows are made as they are seen."""
    model = TreeModel()
    model.wanted.connect(lambda node, first: None)
    before = time.perf_counter()
    model.begin(root())
    model.take_page(0, page_of(0))
    cells = [model.data(model.index(place, 1, model.index(0, 0))) for place in range(50)]
    assert cells == ["50.0 %"] * 50
    assert time.perf_counter() - before < 0.3


def test_a_node_of_the_picked_path_is_that_of_the_ray_and_the_tree(
    scene_window: MainWindow, tools: RayTools, qtbot: Any
) -> None:
    show(scene_window, "ray")
    click(scene_window, 0.25, 0.5)
    pick = scene_window.inspectors.pick
    qtbot.waitUntil(lambda: bool(pick.path) and tools.ray.ray is not None)
    above = pick.tree.topLevelItem(8)
    assert above is not None
    pick.tree.setCurrentItem(above.child(0))
    assert scene_window.session.inspection.now.node == 0 == tools.ray.node
