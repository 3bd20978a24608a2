"""Hot spots that follow the pictures: counted while the panel is seen, in a share of the time, and not otherwise."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from PySide6.QtTest import QTest

from raygrove.app.frames.live_hot_spots import LiveList
from raygrove.app.ui.panels.hot_panel import HotPanel
from raygrove.app.ui.panels.hot_tools import HotTools
from raygrove.app.ui.panels.live_counting import pause_s
from raygrove.app.ui.widgets.steady import INTERVAL_S
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.hot_lists import HotList
from raygrove.gpu.analysis.hot_spots import Spot
from tests.app.stand_ins import PaintedMaker
from tests.app.ui.panels.test_hot_tools import show

MS = 40.0


def listed(by: str, visits: int) -> HotList:
    """Three lines whose dearest is another one from picture to picture."""
    made = [Spot(n, f"{by} {n}", 0.5 - 0.1 * n, visits + n, 7, 3, 5, 2, 0.25, n, 2) for n in range(3)]
    return HotList(
        by, tuple(made if visits % 2 else made[::-1]), "all", "both", 960, visits, 11, 99.0, "lbvh/bvh4@rebuild"
    )


class Counting:
    """Stands in for what counts: who asked for what, and what was given back."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.ended = 0
        self.answer: str | None = None

    def count(self, maker: PaintedMaker, *asked: str) -> LiveList | str:
        self.asked.append(asked)
        return self.answer or LiveList(listed(asked[2], 1000 + len(self.asked)), MS)

    def end(self, maker: PaintedMaker) -> None:
        self.ended += 1


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    made = Counting()
    monkeypatch.setattr(PaintedMaker, "live_hot_spots", lambda maker, *asked: made.count(maker, *asked), raising=False)
    monkeypatch.setattr(PaintedMaker, "end_live", lambda maker: made.end(maker), raising=False)
    return made


@pytest.fixture
def tools(scene_window: MainWindow, counting: Counting) -> HotTools:
    return scene_window.hot_tools


def test_counting_takes_its_share_of_the_time_and_lists_can_be_read() -> None:
    for ms, share in ((50.0, 0.2), (1000.0, 0.01), (400.0, 0.9)):
        assert (ms / 1000.0) / (ms / 1000.0 + pause_s(ms, share)) <= share + 1e-9
    assert pause_s(1.0, 0.9) + 0.001 == pytest.approx(INTERVAL_S) and pause_s(900.0, 0.9) == pytest.approx(0.1)


def test_pictures_that_arrive_are_counted_while_it_is_on(
    scene_window: MainWindow, tools: HotTools, counting: Counting, qtbot: Any
) -> None:
    document, panel = scene_window.document, tools.hot
    show(scene_window, "hot_spots")
    QTest.qWait(60)
    assert not counting.asked, "nobody asked"
    panel.live.click()
    assert panel.hint.text() == "Counting …"
    qtbot.waitUntil(lambda: panel.live_list is not None)
    assert panel.hint.text().endswith(
        "Each rebuild numbers the nodes anew: list by object, material or triangle to follow one."
    )
    panel.mark_old()
    assert "the next one is counted soon" in panel.hint.text()
    panel.take_live(panel.live_list, "Live: 40 ms per picture, at most 20 % of the time.")
    panel.mark_old(is_playing=True)  # as each frame of the clip says
    assert document.state.settings.hot_spots.live and counting.asked == [("all", "both", "node")]
    assert not panel.count.isEnabled() and not panel.frames.isEnabled()
    assert "960 rays, 1,001 visits, 11 primitives tested" in panel.hint.text()
    assert panel.hint.text().endswith("Live: 40 ms per picture, at most 20 % of the time.")
    QTest.qWait(round(1000 * pause_s(MS, 0.2)) + 120)
    assert len(counting.asked) == 1, "a picture that stays is counted once"
    for place in (0.2, 0.4, 0.6):
        before = len(counting.asked)
        document.change("timeline", dataclasses.replace(document.state.timeline, time=place))
        qtbot.waitUntil(lambda before=before: len(counting.asked) > before)
        qtbot.waitUntil(lambda before=before: f"{1001 + before:,} visits" in panel.hint.text())
    assert "pictures per second, 40 ms each: " in panel.hint.text() and "at most 20 %" in panel.hint.text()
    panel.live.click()
    qtbot.waitUntil(lambda: counting.ended == 1)
    count = len(counting.asked)
    document.change("timeline", dataclasses.replace(document.state.timeline, time=0.1))
    QTest.qWait(round(1000 * pause_s(MS, 0.2)) + 120)
    assert len(counting.asked) == count and not tools.live.is_counting and panel.count.isEnabled() and panel.spots
    assert panel.hint.text() == "Of the last picture that was counted."
    document.undo()
    assert document.state.settings.hot_spots.live and panel.live.isChecked(), "it is a step of undo"


def test_numbers_of_nodes_that_stay_are_not_excused(
    scene_window: MainWindow, tools: HotTools, counting: Counting, qtbot: Any
) -> None:
    """A refit keeps them, and nothing else is listed by them."""
    scene_window.document.change("settings.update.mode", "refit")
    scene_window.document.change("settings.hot_spots.live", True)
    show(scene_window, "hot_spots")
    panel = tools.hot
    qtbot.waitUntil(lambda: panel.live_list is not None)
    assert "numbers the nodes" not in panel.hint.text() and "Live: " in panel.hint.text()
    scene_window.document.change("settings.update.mode", "rebuild")
    panel.by.setCurrentIndex(2)
    qtbot.waitUntil(lambda: panel.live_list is not None and panel.live_list.by == "object")
    assert "numbers the nodes" not in panel.hint.text() and "Live: " in panel.hint.text()


def test_a_hidden_panel_counts_nothing_and_keeps_nothing(
    scene_window: MainWindow, tools: HotTools, counting: Counting, qtbot: Any
) -> None:
    document, panel = scene_window.document, tools.hot
    document.change("settings.hot_spots.live", True)
    document.change("timeline", dataclasses.replace(document.state.timeline, time=0.3))
    QTest.qWait(120)
    assert not counting.asked and not counting.ended, "it was never seen"
    show(scene_window, "hot_spots")
    qtbot.waitUntil(lambda: len(counting.asked) == 1)
    show(scene_window, "divergence")
    qtbot.waitUntil(lambda: counting.ended == 1)
    document.change("timeline", dataclasses.replace(document.state.timeline, time=0.5))
    QTest.qWait(round(1000 * pause_s(MS, 0.2)) + 120)
    assert len(counting.asked) == 1 and not tools.live.is_counting
    show(scene_window, "hot_spots")
    qtbot.waitUntil(lambda: len(counting.asked) == 2 and panel.live_list is not None)


def test_other_rays_and_lines_are_asked_for_at_once_and_what_is_chosen_stays(
    scene_window: MainWindow, tools: HotTools, counting: Counting, qtbot: Any
) -> None:
    document, panel = scene_window.document, tools.hot
    document.change("settings.hot_spots.share", 0.9)
    show(scene_window, "hot_spots")
    panel.live.click()
    qtbot.waitUntil(lambda: panel.live_list is not None)
    panel.by.setCurrentIndex(panel.by.findData("triangle"))
    qtbot.waitUntil(lambda: panel.live_list is not None and panel.live_list.by == "triangle")
    panel.rays.setCurrentIndex(panel.rays.findData("primary"))
    qtbot.waitUntil(lambda: counting.asked[-1] == ("primary", "both", "triangle"))
    qtbot.waitUntil(lambda: f"{1000 + len(counting.asked):,} visits" in panel.hint.text())
    row = next(row for row, spot in enumerate(panel.spots) if spot.number == 2)
    panel.lines.selectRow(row)
    assert scene_window.session.inspection.now.primitive == 2
    told: list[int] = []
    panel.lines.row_chosen.connect(told.append)
    before, order = len(counting.asked), panel.spots[0].number
    document.change("timeline", dataclasses.replace(document.state.timeline, time=0.6))
    qtbot.waitUntil(lambda: len(counting.asked) > before and panel.spots[0].number != order)
    (chosen,) = panel.lines.selectionModel().selectedRows()
    assert panel.spots[chosen.row()].number == 2 and chosen.row() != row and not told
    panel.by.setCurrentIndex(panel.by.findData("node"))
    qtbot.waitUntil(lambda: panel.live_list is not None and panel.live_list.by == "node")
    assert not panel.lines.selectionModel().selectedRows(), "a triangle's number is no node's"
    scene_window.session.inspection.select(node=1)
    (chosen,) = panel.lines.selectionModel().selectedRows()
    assert panel.spots[chosen.row()].number == 1


def test_what_cannot_be_counted_is_said(
    scene_window: MainWindow, tools: HotTools, counting: Counting, qtbot: Any
) -> None:
    counting.answer = "no rays are called 'bounce 4'"
    show(scene_window, "hot_spots")
    tools.hot.live.click()
    qtbot.waitUntil(lambda: tools.hot.hint.text() == counting.answer)
    assert not tools.hot.spots and tools.hot.live_list is None


def test_columns_never_get_narrower_while_figures_change(qtbot: Any) -> None:
    panel = HotPanel()
    qtbot.addWidget(panel)
    panel.resize(600, 400)
    panel.show()
    told: list[object] = []
    panel.chosen.connect(told.append)
    panel.take_live(listed("node", 10_000_001), "")
    assert told == [None], "what an earlier count lit in the picture goes"
    wide = panel.lines.columnWidth(2)
    height = panel.hint.minimumHeight()
    panel.take_live(listed("node", 11), "said\nin\nmore\nlines")
    assert panel.lines.columnWidth(2) == wide and panel.hint.minimumHeight() > height
    panel.take_live(listed("node", 12), "")
    assert panel.hint.minimumHeight() > height
    panel.clear()
    assert panel.live_list is None and not panel.spots
