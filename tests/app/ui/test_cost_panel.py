"""Cost over the key frames, as a person sees it: lines that grow, a click that jumps, figures that freeze."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from PySide6.QtCore import QPointF

from app.render_thread import FinishedFrame, FrameRequest
from app.state import State
from app.timeline import Span
from app.ui.cost_panel import CostPanel
from app.ui.main_window import MainWindow
from gpu.scene import Moment, Scene
from tests.app.stand_ins import made_statistics

SPAN = Span(4.0, 30.0, tuple(index * 0.1 for index in range(41)))


def frame(time: float, sah: float) -> FinishedFrame:
    made = made_statistics(time=time)
    view = dataclasses.replace(made.views[0], structure=dataclasses.replace(made.views[0].structure, sah_cost=sah))
    request = FrameRequest(Scene("a scene"), State(), Moment(time), ())
    return FinishedFrame(request, 1, (64, 48), 1, 1, dataclasses.replace(made, views=(view,)), 5.0, "host", "a processor")


@pytest.fixture
def panel(qtbot: Any) -> CostPanel:
    made = CostPanel()
    qtbot.addWidget(made)
    made.resize(700, 260)
    made.show()
    made.begin(SPAN)
    for index in range(41):
        made.take(frame(index * 0.1, 50.0 + index))
    qtbot.waitUntil(lambda: bool(made.lines()), timeout=20000)
    return made


def mode() -> str:
    return State().settings.update.mode


def test_lines_show_every_key(panel: CostPanel) -> None:
    lines = panel.lines()
    name = f"lbvh, bvh4, {mode()}"
    assert lines[name, "sah_cost"][1] == [50.0 + index for index in range(41)]
    assert lines[name, "trace_ms"][1] == [12.0] * 41 and lines[name, "build_ms"][0][-1] == pytest.approx(4.0)
    assert name in panel.legend.text() and panel.grab().toImage().width() == 700
    assert len(panel.table()[1]) == 41 and panel.text().splitlines()[1].startswith(f"{name}\t1\t0.0\t50.0\t2.0")


def test_a_click_jumps_to_the_nearest_key(panel: CostPanel) -> None:
    heard: list[float] = []
    panel.jumped.connect(heard.append)
    plot = panel._plots[0]
    panel.jump(plot.getViewBox().mapViewToScene(QPointF(1.52, 60.0)))
    panel.jump(QPointF(-100.0, -100.0))
    assert heard == pytest.approx([1.5])


def test_frozen_lines_stay(panel: CostPanel, qtbot: Any) -> None:
    panel.bar.pause.click()
    panel.take(frame(0.0, 999.0))
    qtbot.wait(600)
    assert panel.log.rows()[0]["sah_cost"] == 50.0


def test_another_scene_begins_anew(panel: CostPanel) -> None:
    panel.begin(Span())
    assert panel.lines() == {} and "does not move" in panel.legend.text()


def test_drawing_comes_at_most_twice_a_second(panel: CostPanel, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[int] = []
    monkeypatch.setattr(panel, "_draw", lambda *_: shown.append(1))
    for index in range(60):
        panel.take(frame(index * 0.05, 50.0))
        qtbot.wait(10)
    assert 4 <= len(shown) <= 8, "four lines each time"


def test_in_the_window_a_jump_moves_the_head_and_pauses(scene_window: MainWindow, qtbot: Any) -> None:
    document, cost = scene_window.document, scene_window.inspectors.cost
    assert cost.log.times[-1] == 2.0
    scene_window.commands.actions["animation.play"].trigger()
    cost.jumped.emit(0.5)
    assert document.state.timeline.time == 0.5 and not document.state.timeline.is_playing
