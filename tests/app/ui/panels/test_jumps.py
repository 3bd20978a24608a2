"""The one selection over tabs, used as a person does, over a real picture: a panel that comes to the front shows what
was selected meanwhile, and each leads on to the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from raygrove.app.frames.hot_questions import HotQuestions
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.divergence import HEIGHT, WIDTH
from raygrove.gpu.analysis.hot_spots import BY, HotSpots
from raygrove.gpu.engine import Engine
from raygrove.gpu.inspector import Inspector
from raygrove.gpu.scene import Moment
from raygrove.testing import make_target
from tests.app.stand_ins import PaintedMaker
from tests.app.ui.panels.test_hot_tools import show
from tests.app.ui.panels.test_pick_panel import click
from tests.gpu.moving_scene import moving_scene, view_of

SIZE = (40, 24)
Asked = tuple[HotQuestions, Inspector]


@pytest.fixture(scope="session")
def asked() -> Iterator[Asked]:
    """Those who know of a picture."""
    with make_target("host") as target:
        engine = Engine(target, moving_scene())
        view = view_of(target, size=SIZE, hierarchy="lbvh", layout="bvh4")
        engine.render_frame(Moment(0.7), [view])
        engine.flush()
        questions = HotQuestions()
        questions._engine, questions._views = engine, [view]
        yield questions, engine.inspector(view)
        engine.close()


@pytest.fixture
def window(scene_window: MainWindow, asked: Asked, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """One that asks them, its hot spots counted and in front."""
    questions, inspector = asked
    for name in ("hot_spots", "divergence", "paid", "nodes_of_pixel", "longest_ray"):
        monkeypatch.setattr(
            PaintedMaker, name, lambda maker, *given, of=name: getattr(questions, of)(*given), raising=False
        )
    follow = lambda maker, across, down: inspector.follow(SIZE[0] * across, SIZE[1] * down)  # noqa: E731
    monkeypatch.setattr(PaintedMaker, "follow_ray", follow, raising=False)
    monkeypatch.setattr(PaintedMaker, "ask_of_tree", lambda maker, ask: ask(inspector), raising=False)
    return scene_window


def counted(window: MainWindow, qtbot: Any) -> HotSpots:
    """Hot spots of the picture, listed by node, in front."""
    show(window, "hot_spots")
    hot = window.hot_tools.hot
    hot.count.click()
    qtbot.waitUntil(lambda: hot.found is not None and hot.isVisible())
    assert hot.found is not None
    return hot.found


def node_of(window: MainWindow) -> int | None:
    return window.session.inspection.now.node


def test_a_panel_that_comes_to_the_front_shows_what_was_selected(window: MainWindow, qtbot: Any) -> None:
    found, hot, tree = counted(window, qtbot), window.hot_tools.hot, window.ray_tools.tree
    ids = np.asarray(found.table.event_ids)
    hot.lines.selectRow(2)
    node = int(ids[hot.spots[2].number])
    assert node_of(window) == node and not tree.isVisible()
    show(window, "tree")
    qtbot.waitUntil(lambda: tree.chosen == node)
    assert not hot.isVisible(), "one tab is in front"
    tree.view.setCurrentIndex(tree.view.currentIndex().parent())
    above = tree.chosen
    assert above is not None and above != node
    show(window, "hot_spots")
    qtbot.waitUntil(lambda: int(ids[hot.spots[hot.lines.currentIndex().row()].number]) == above)
    show(window, "build")
    panel = window.ray_tools.build.panel
    qtbot.waitUntil(lambda: panel.replay is not None)
    assert panel.replay is not None
    assert (
        panel.at
        == panel.replay.step_of(int(np.flatnonzero(ids == above)[0]))
        != panel.replay.step_of(int(np.flatnonzero(ids == node)[0]))
    )
    panel.go(0)
    show(window, "tree")
    show(window, "build")
    qtbot.waitUntil(panel.isVisible)
    assert panel.at == 0, "nothing else was selected: it stays where it was"


def test_the_ray_of_a_pixel_that_was_picked_meanwhile_is_followed(window: MainWindow, qtbot: Any) -> None:
    ray, inspection = window.ray_tools.ray, window.session.inspection
    show(window, "ray")
    window.ray_tools.follow((0.5, 0.5))
    qtbot.waitUntil(lambda: ray.ray is not None)
    first = ray.ray
    show(window, "hot_spots")
    qtbot.waitUntil(lambda: not ray.isVisible())
    inspection.select(pixel=(0.25, 0.5))
    assert ray.ray is first, "nobody looks"
    show(window, "ray")
    assert first is not None
    qtbot.waitUntil(lambda: ray.ray is not None and ray.ray.log.direction != first.log.direction)


def test_each_panel_leads_to_the_next(window: MainWindow, asked: Asked, qtbot: Any) -> None:
    found, hot, tools = counted(window, qtbot), window.hot_tools.hot, window.ray_tools
    tree, build = tools.tree, tools.build.panel
    assert not hot.in_tree.isEnabled(), "no line is selected"
    hot.lines.selectRow(3)
    hot.in_tree.click()
    node = int(np.asarray(found.table.event_ids)[hot.spots[3].number])
    qtbot.waitUntil(lambda: tree.isVisible() and tree.chosen == node)
    tree.how_made.click()
    qtbot.waitUntil(lambda: build.isVisible() and build.replay is not None)
    assert build.replay is not None and build.replay.table.event_ids is not None
    assert node in build.replay.table.event_ids[build.replay.nodes_of(build.at)]
    build.in_tree.click()
    qtbot.waitUntil(lambda: tree.isVisible() and tree.chosen == node)
    tree.how_made.click()
    with_nodes = next(n for n in range(build.at + 1, len(build.replay)) if len(build.replay.nodes_of(n)))
    build.go(with_nodes)
    assert build.in_tree.isEnabled()
    build.in_tree.click()
    largest = build.replay.largest_of(with_nodes)
    qtbot.waitUntil(lambda: tree.isVisible() and tree.chosen == largest)
    assert build.at == with_nodes, "the step stays the one that was looked at"


def test_a_triangle_leads_to_its_leaf(window: MainWindow, asked: Asked, qtbot: Any) -> None:
    found = counted(window, qtbot)
    hot, tree = window.hot_tools.hot, window.ray_tools.tree
    window.session.inspection.select(object=1)  # of a pixel before
    hot.by.setCurrentIndex(BY.index("depth"))
    hot.lines.selectRow(0)
    assert not hot.in_tree.isEnabled(), "a level is no place of the tree"
    hot.by.setCurrentIndex(BY.index("triangle"))
    hot.lines.selectRow(0)
    hot.in_tree.click()
    qtbot.waitUntil(lambda: tree.isVisible() and tree.chosen is not None)
    row = tree.model.row_of(tree.view.currentIndex())
    assert row is not None and hot.spots[0].number in asked[1].nodes.references(row.node)
    owners, now = found.owners, window.session.inspection.now
    assert owners is not None and now.object == owners.objects[hot.spots[0].number], "the triangle's, no other one's"


def test_a_count_marks_the_node_that_is_selected(window: MainWindow, qtbot: Any) -> None:
    found, hot = counted(window, qtbot), window.hot_tools.hot
    node = int(np.asarray(found.table.event_ids)[hot.spots[2].number])
    hot.clear()
    window.session.inspection.select(node=node)
    counted(window, qtbot)
    assert hot.lines.currentIndex().row() == 2 and node_of(window) == node


def test_another_pixel_is_of_another_warp(window: MainWindow, qtbot: Any) -> None:
    counted(window, qtbot)
    inspection, frame = window.session.inspection, window.loop.last_frame
    assert frame is not None
    inspection.select(pixel=(0.1, 0.1), warp=(0, 0))
    assert inspection.now.warp == (0, 0)
    inspection.select(pixel=(0.99, 0.99))  # nobody looks at the warps
    assert inspection.now.warp == (int(0.99 * frame.drawn[0]) // WIDTH, int(0.99 * frame.drawn[1]) // HEIGHT) != (0, 0)


def test_a_warp_leads_to_its_longest_ray(
    window: MainWindow, asked: Asked, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(window, "divergence")
    panel, ray = window.hot_tools.divergence, window.ray_tools.ray
    panel.count.click()
    qtbot.waitUntil(lambda: panel.found is not None)
    assert panel.found is not None and not panel.follow.isEnabled()
    panel.lines.selectRow(0)
    tile = panel.found.place(int(panel.found.order(1)[0]))
    assert tile is not None and panel.follow.isEnabled()
    window.session.inspection.select(primitive=7)  # of a pixel before
    panel.follow.click()
    qtbot.waitUntil(lambda: ray.isVisible() and ray.ray is not None)
    place = window.session.inspection.now.pixel
    assert place is not None
    hit = (1, 0) if place[0] <= 0.5 else (None, -1)
    now = lambda: window.session.inspection.now  # noqa: E731
    qtbot.waitUntil(lambda: (now().primitive, now().object) == hit)
    column, row = int(place[0] * SIZE[0]), int(place[1] * SIZE[1])
    assert (column // WIDTH, row // HEIGHT) == tile
    questions, _ = asked
    steps = questions._engine.buffers(questions._views[0], shaded=False)
    taken = steps["steps"].astype(int) + steps["tests"]
    inside = taken[tile[1] * HEIGHT : (tile[1] + 1) * HEIGHT, tile[0] * WIDTH : (tile[0] + 1) * WIDTH]
    assert taken[row, column] == inside.max() > 0
    assert questions.longest_ray(99, 99) is None, "there is no such tile"
    show(window, "divergence")
    qtbot.waitUntil(panel.isVisible)
    monkeypatch.setattr(panel, "_order", panel._order[:0])  # as where the tile is none of the longest
    window.session.inspection.select(pixel=(0.99, 0.99))
    frame = window.loop.last_frame
    assert frame is not None
    last = (int(0.99 * frame.drawn[0]) // WIDTH, int(0.99 * frame.drawn[1]) // HEIGHT)
    assert window.session.inspection.now.warp == last == panel._tile


def test_picking_beside_hot_spots_keeps_the_node_and_the_panel(window: MainWindow, qtbot: Any) -> None:
    found, hot, ray = counted(window, qtbot), window.hot_tools.hot, window.ray_tools.ray
    hot.lines.selectRow(1)
    node = int(np.asarray(found.table.event_ids)[hot.spots[1].number])
    click(window, 0.45, 0.5)
    qtbot.waitUntil(lambda: bool(window.inspectors.pick.rows))
    assert hot.isVisible() and not window.inspectors.pick.isVisible() and node_of(window) == node
    show(window, "ray")
    qtbot.waitUntil(lambda: ray.ray is not None)
    assert ray.ray is not None
    entered = ray.ray.log.entered(node)
    assert ray.at == (entered if entered is not None else 0)


def test_a_number_of_another_tree_is_forgotten(window: MainWindow, qtbot: Any) -> None:
    window.session.inspection.select(node=3, pixel=(0.5, 0.5))
    window.document.change("settings.render.hierarchy", "hploc")
    assert node_of(window) is None and window.session.inspection.now.pixel == (0.5, 0.5)
