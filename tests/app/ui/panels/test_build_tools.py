"""The panel Build, used as a person does, over a real picture: through its steps, from a node to the step that made
it, and into the picture."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.app.ui.panels.build_panel import BuildPanel
from raygrove.app.ui.panels.build_tools import BuildTools
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.build_steps import BuildReplay, CurveReplay, PairReplay, SplitReplay
from raygrove.gpu.engine import Engine
from raygrove.gpu.scene import Moment
from raygrove.testing import make_target
from tests.app.stand_ins import PaintedMaker
from tests.app.ui.panels.test_ray_tools import show
from tests.gpu.moving_scene import moving_scene, view_of


class Replayed:
    """An inspector that knows one thing."""

    def __init__(self, replay: BuildReplay) -> None:
        self.replay = replay

    def build_replay(self) -> BuildReplay:
        return self.replay


@pytest.fixture(scope="session")
def replays() -> dict[str, BuildReplay]:
    found = {}
    with make_target("host") as target:
        engine = Engine(target, moving_scene())
        for name in ("lbvh", "hploc", "binned_sah"):
            view = view_of(target, size=(24, 16), hierarchy=name, layout="bvh2")
            engine.render_frame(Moment(0.7), [view])
            engine.flush()
            found[name] = engine.inspector(view).build_replay()
        engine.close()
    return found


@pytest.fixture
def tools(scene_window: MainWindow) -> BuildTools:
    return scene_window.ray_tools.build


def opened(window: MainWindow, replay: BuildReplay, monkeypatch: pytest.MonkeyPatch, qtbot: Any) -> BuildPanel:
    monkeypatch.setattr(PaintedMaker, "ask_of_tree", lambda maker, ask: ask(Replayed(replay)), raising=False)
    show(window, "build")
    panel = window.ray_tools.build.panel
    qtbot.waitUntil(lambda: panel.replay is not None)
    return panel


def test_the_curve_is_stepped_through_and_drawn(
    scene_window: MainWindow, tools: BuildTools, replays: dict[str, BuildReplay],
    monkeypatch: pytest.MonkeyPatch, qtbot: Any,
) -> None:  # fmt: skip
    assert not tools.marks.isVisible()
    panel = opened(scene_window, replays["lbvh"], monkeypatch, qtbot)
    replay = panel.replay
    assert isinstance(replay, CurveReplay) and panel.slider.maximum() == 30 and "Morton" in panel.heading.text()
    panel.on.click()
    panel.on.click()
    assert panel.at == 2 and panel.sentence.text() == replay[2].sentence and not panel.chart.isVisible()
    drawn = tools.marks.step
    assert drawn is not None and tools.marks.isVisible() and np.array_equal(drawn.made, replay[2].made)
    panel.back.click()
    assert panel.at == 1
    blank = tools.marks.grab().toImage()
    panel.go(12)
    assert tools.marks.grab().toImage() != blank
    panel._timer.setInterval(1)
    panel.play.click()
    qtbot.waitUntil(lambda: panel.at == 30 and not panel.play.isChecked())
    next(dock for dock in scene_window.docks if dock.objectName() == "dock.build").hide()
    assert tools.marks.step is None and not tools.marks.isVisible()


def test_a_step_is_drawn_once_for_a_camera(
    scene_window: MainWindow, tools: BuildTools, replays: dict[str, BuildReplay],
    monkeypatch: pytest.MonkeyPatch, qtbot: Any,
) -> None:  # fmt: skip
    panel = opened(scene_window, replays["lbvh"], monkeypatch, qtbot)
    drawn, draw = list[object](), tools.marks._strokes

    def drawing(on: Any, step: Any) -> Any:
        drawn.append(step)
        return draw(on, step)

    monkeypatch.setattr(tools.marks, "_strokes", drawing)
    panel.go(12)
    first = tools.marks.grab().toImage()
    assert tools.marks.grab().toImage() == first and len(drawn) == 1, "painted again, from what was drawn"
    camera = scene_window.document.state.camera_of(0)
    scene_window.document.change("cameras.0", dataclasses.replace(camera, fov=camera.fov / 2.0))
    assert tools.marks.grab().toImage() != first and len(drawn) == 2


def test_a_node_leads_to_the_split_that_made_it(
    scene_window: MainWindow, tools: BuildTools, replays: dict[str, BuildReplay],
    monkeypatch: pytest.MonkeyPatch, qtbot: Any,
) -> None:  # fmt: skip
    panel = opened(scene_window, replays["binned_sah"], monkeypatch, qtbot)
    replay = panel.replay
    assert isinstance(replay, SplitReplay) and replay.table.event_ids is not None
    row = int(replay.nodes[len(replay) // 2])
    scene_window.session.inspection.select(node=int(replay.table.event_ids[row]))
    assert panel.at == len(replay) // 2
    panel.go(0)
    assert panel.chart.isVisible() and panel.chart.costs is not None
    chart, costs = panel.chart, panel.chart.costs
    assert costs.chosen is not None
    ring = chart.ring()
    assert ring is not None and ring in chart.curves()[costs.chosen[0]]
    assert ring[1] == max(point[1] for curve in chart.curves() for point in curve), "the least cost stands lowest"
    leaf, least = chart.leaf_line(), float(costs.costs[costs.chosen]) / costs.leaf
    bottom = chart.height() - chart.fontMetrics().height() - 6
    assert leaf is not None and (bottom - ring[1]) / (bottom - leaf) == pytest.approx(least), "a leaf's cost is 1"
    assert chart.grab().toImage().width() > 100


def test_pairs_are_drawn_and_what_cannot_be_shown_is_said(
    scene_window: MainWindow, tools: BuildTools, replays: dict[str, BuildReplay],
    monkeypatch: pytest.MonkeyPatch, qtbot: Any,
) -> None:  # fmt: skip
    panel = opened(scene_window, replays["hploc"], monkeypatch, qtbot)
    assert isinstance(panel.replay, PairReplay)
    panel.go(3)
    step = panel.step
    assert step is not None and len(step.lines) == len(step.made) > 0 and "pairs joined" in panel.sentence.text()
    panel.is_old = False
    panel.mark_old()
    panel.take(replays["hploc"])
    assert panel.is_old, "an answer that was asked for before is of the tree before"
    panel.is_old = False
    panel.mark_old()
    assert "has changed" in panel.heading.text()
    panel.take("This structure does not tell.")
    assert panel.heading.text() == "This structure does not tell." and not panel.slider.isEnabled()
    panel.wait()
    assert panel.heading.text() == "Working out how the tree came to be …"
    assert tools.marks.step is None
