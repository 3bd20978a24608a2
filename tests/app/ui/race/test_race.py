"""The workspace Race: its pictures, who takes part, its ranking, and that nothing of it runs elsewhere."""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton

from raygrove.app.document.jobs import Job
from raygrove.app.frames.contestants import as_drawn
from raygrove.app.frames.race_hits import ComparedHits, StepDifference
from raygrove.app.playback import timeline as timelines
from raygrove.app.settings.race_options import contestants_of
from raygrove.app.ui.race.race import SECONDS_BETWEEN
from raygrove.app.ui.race.race_lines import MOST_MARKS
from raygrove.app.ui.widgets.line_chart import Line, mark
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.hit_proof import HitProof
from tests.app.ready_window import draw_with
from tests.app.stand_ins import PaintedMaker, take_places
from tests.gpu.analysis.race_views import frame, view

ONE_TIE, NO_HIT = HitProof(12, 6, 1, 0), HitProof(12, 6, 0, 3)


class RacingMaker(PaintedMaker):
    """Contestants cost 3, 4, 5 ... ms; B's hits differ in three rays where `differs`."""

    differs = False
    proofs = 0

    def draw(self, scene: Any, state: Any, moment: Any, slots: Any, is_moving: bool) -> Any:
        """As PaintedMaker, with figures."""
        drawn = super().draw(scene, state, moment, slots, is_moving)
        if len(slots) == 1:
            return drawn
        views = [view(2.0, 1.0 + place, size=(slots[0].width, slots[0].height)) for place in range(len(slots))]
        found = dataclasses.replace(frame(drawn.frame_id, *views), time=moment.time)
        return dataclasses.replace(drawn, statistics=found, samples_wanted=2)

    def hits_compared(self) -> ComparedHits:
        """One tie, or three mismatches."""
        RacingMaker.proofs += 1
        mask = np.zeros((4, 8), bool)
        return ComparedHits((HitProof(12, 6), NO_HIT if self.differs else ONE_TIE), (mask, mask), 0)

    def step_difference(self, first: int, second: int) -> StepDifference:
        """The second takes a step more in each ray."""
        return StepDifference(np.full((4, 8), first - second), np.zeros((4, 8), bool))


pytestmark = pytest.mark.forked


@pytest.fixture
def painted(painted: Any, monkeypatch: pytest.MonkeyPatch) -> type[PaintedMaker]:
    RacingMaker.differs, RacingMaker.proofs = False, 0
    draw_with(RacingMaker, monkeypatch)
    return painted


@pytest.fixture
def raced(scene_window: MainWindow, qtbot: Any) -> MainWindow:
    """A race of two, with some frames."""
    scene_window.resize(900, 600)
    scene_window.document.change("settings.race.contestants", "lbvh@refit, hploc")
    scene_window.workspaces.choose("race")
    qtbot.waitUntil(lambda: scene_window.place.race.live.count >= 6)
    return scene_window


def test_nothing_of_a_race_is_there_in_other_workspaces(scene_window: MainWindow, qtbot: Any) -> None:
    for name in ("inspect", "explore"):
        scene_window.workspaces.choose(name)
        take_places()
        state = PaintedMaker.drawn[-1][0]
        assert as_drawn(state) is state and scene_window.place.race.view is None
    assert RacingMaker.proofs == 0 and scene_window.place.page is scene_window.view


def test_figures_wait_for_each_other_and_the_last_ones_come(
    raced: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pictures that come faster than figures are shown would leave the window no time for anything else."""
    race, shown = raced.place.race, list[int]()
    monkeypatch.setattr(race.panel, "take", lambda live, is_moving: shown.append(live.count))
    before, began = len(PaintedMaker.drawn), time.perf_counter()
    qtbot.waitUntil(lambda: len(PaintedMaker.drawn) > before + 40 and race.live.count > 2)
    turns = (time.perf_counter() - began) / SECONDS_BETWEEN
    assert sum(count > 2 for count in shown) <= turns + 1, "the first two frames of a race are shown at once"
    shown.clear()
    race._shown_at = math.inf  # just now, for ever: what is shown all the same is shown later
    qtbot.waitUntil(lambda: race._late.isActive())
    qtbot.waitUntil(lambda: bool(shown))


@pytest.mark.each_value
def test_all_are_drawn_in_one_go_and_the_figures_are_theirs(raced: MainWindow, qtbot: Any) -> None:
    race = raced.place.race
    assert race.view is not None and raced.stack.currentWidget() is race.view
    state, _, _ = PaintedMaker.drawn[-1]
    assert [one.name for one in as_drawn(state).views] == ["A", "B"]
    assert len({(slot.width, slot.height) for exchange in race.view.exchanges for slot in exchange.slots}) == 1
    pictures = [picture for picture in race.view.pictures if picture.isVisible()]
    assert len(pictures) == 2 and all(picture._left is not None for picture in pictures)
    qtbot.waitUntil(lambda: len(race.panel.standing) == 2)
    assert [one.rank for one in race.panel.standing] == [1, 2]
    assert race.panel.reasons.text() == "A traces 1 ms faster than B.", "said once, not of B again"
    texts = [label.text() for label in race.panel.rows[1]]
    assert texts[:2] == ["2nd", "B"] and texts[3:] == ["5.0 ± 0.0 ms", "1.25 x"]
    header = race.view.headers[1]
    assert header._rank == "2nd" and sum(header._parts.values()) == pytest.approx(5.0)
    qtbot.waitUntil(lambda: race.panel.hits.text() == "Hits: equal, 12 rays compared, 1 tie.")
    assert not race.panel.show_hits.isEnabled()


def test_going_back_draws_one_picture_again(raced: MainWindow, qtbot: Any) -> None:
    count = RacingMaker.proofs
    raced.workspaces.choose("explore")
    qtbot.waitUntil(lambda: raced.loop.last_frame is not None and len(raced.loop.last_frame.request.exchanges) == 1)
    assert raced.stack.currentWidget() is raced.view
    raced.document.change("settings.render.seed", 3)
    qtbot.waitUntil(lambda: PaintedMaker.drawn[-1][0].settings.render.seed == 3)
    assert RacingMaker.proofs == count and as_drawn(PaintedMaker.drawn[-1][0]).views == raced.document.state.views


def test_the_clock_waits_for_all(raced: MainWindow, qtbot: Any) -> None:
    """Every instant that is drawn is drawn by all, and shown before there is another."""
    shown: list[float] = []
    raced.loop.frame_arrived.connect(lambda found: shown.append(found.request.moment.time))
    raced.document.toggle_play()
    qtbot.waitUntil(lambda: len(set(shown)) > 8)
    raced.document.toggle_play()
    drawn = [moment.time for _, moment, is_moving in PaintedMaker.drawn if is_moving]
    assert [time for time in drawn if time in shown][:8] == drawn[-len(drawn) :][:8]


def test_contestants_come_go_and_change_in_steps_of_undo(raced: MainWindow, qtbot: Any) -> None:
    race, document = raced.place.race, raced.document
    view = race.view
    assert view is not None
    view.bar.add.click()
    assert contestants_of(document.state.settings.race)[2] == "lbvh@rebuild" and len(view.headers) == 3
    assert document.state.settings.race.edited == "C" and view.headers[2].is_edited, "and can be changed at once"
    QTest.mouseDClick(view.headers[2], Qt.MouseButton.LeftButton)
    assert view.headers[2].line.isVisible()
    view.headers[2].line.setText("ploc/bvh4@auto:nothing=1")
    QTest.keyClick(view.headers[2].line, Qt.Key.Key_Return)
    assert "nothing" in view.bar.wrong.text() and len(contestants_of(document.state.settings.race)) == 3
    assert view.bar.wrong.height() >= view.bar.wrong.heightForWidth(view.bar.wrong.width()), "all of it is seen"
    view.headers[2].line.setText("ploc/bvh4@auto")
    QTest.keyClick(view.headers[2].line, Qt.Key.Key_Return)
    assert contestants_of(document.state.settings.race)[2] == "ploc/bvh4@auto" and not view.bar.wrong.isVisible()
    assert document.state.settings.render.hierarchy == "ploc", "the pipeline shows what was typed"
    view.headers[0].leave.click()
    assert contestants_of(document.state.settings.race) == ("hploc", "ploc/bvh4@auto") and len(view.headers) == 2
    assert document.state.settings.race.edited == "B" and view.headers[1].is_edited
    for expected in (3, 3, 3, 2):
        document.undo()
        assert len(contestants_of(document.state.settings.race)) == expected
    qtbot.waitUntil(lambda: race.live.count >= 6 and race.live.configurations == ("lbvh@refit", "hploc"))


def test_a_click_on_a_header_lets_the_pipeline_change_that_contestant(raced: MainWindow, qtbot: Any) -> None:
    race, document, actions = raced.place.race, raced.document, raced.commands.actions
    view = race.view
    assert view is not None
    live = race.live
    QTest.mouseClick(view.headers[0], Qt.MouseButton.LeftButton)
    assert view.headers[0].is_edited and not view.headers[1].is_edited and race.live is live, "nothing begins anew"
    raced.pipeline.bar.show_latest()
    faces = {name: chip.face for name, chip in raced.pipeline.bar.chips.items()}
    assert faces["structure"].label == "Structure of A" and faces["update"].choice == "Refit"
    actions["structure.hierarchy.sbvh"].trigger()
    assert contestants_of(document.state.settings.race) == ("sbvh@refit", "hploc"), "one that cannot be refitted"
    document.undo()
    actions["structure.hierarchy.binned_sah"].trigger()
    document.change("settings.hierarchy.binned_sah.bins", 16)
    assert contestants_of(document.state.settings.race) == ("binned_sah:bins=16@refit", "hploc")
    assert race.live is not live and race.live.configurations[0] == "binned_sah:bins=16@refit"
    document.undo()
    assert contestants_of(document.state.settings.race)[0] == "binned_sah@refit"
    QTest.keyClick(view.headers[1], Qt.Key.Key_Return)
    render = document.state.settings.render
    assert (render.hierarchy, document.state.settings.update.mode) == ("hploc", "rebuild")
    QTest.mouseClick(view.headers[1], Qt.MouseButton.LeftButton)
    assert document.state.settings.race.edited == "" and not view.headers[1].is_edited
    actions["structure.hierarchy.lbvh"].trigger()
    assert contestants_of(document.state.settings.race) == ("binned_sah@refit", "hploc")
    raced.pipeline.bar.show_latest()
    assert raced.pipeline.bar.chips["structure"].face.label == "Structure"
    for _ in range(5):
        document.undo()
    assert contestants_of(document.state.settings.race) == ("lbvh@refit", "hploc")


def test_elsewhere_the_pipeline_is_no_contestants(raced: MainWindow) -> None:
    document = raced.document
    document.change("settings.race.edited", "b")
    assert document.state.settings.render.hierarchy == "hploc"
    raced.workspaces.choose("explore")
    assert document.state.settings.race.edited == "" and document.state.settings.render.hierarchy == "hploc"
    raced.commands.actions["structure.hierarchy.lbvh"].trigger()
    assert contestants_of(document.state.settings.race) == ("lbvh@refit", "hploc")


def test_lines_over_the_clip_are_told_apart_by_letter_and_dash(raced: MainWindow, qtbot: Any) -> None:
    race, document = raced.place.race, raced.document
    view = race.view
    assert view is not None and view.lines.isVisible()
    document.toggle_play()
    qtbot.waitUntil(lambda: sum(np.isfinite(view.lines.log.line(1, "total")[1])) > 4)
    document.toggle_play()
    view.lines.show_latest()
    lines = view.lines.chart.lines
    assert [line.letter for line in lines] == ["A", "B"] and lines[0].style != lines[1].style
    marked = [[*range(len(line.times))][line.first_mark(len(line.times)) :: line.mark_every] for line in lines]
    assert all(1 <= len(places) <= MOST_MARKS for places in marked)
    assert Line(lines[0].times, lines[0].values, "", letter="C", mark_every=4).first_mark(20) == 2
    shapes = [mark(letter, QPointF(0.0, 0.0)) for letter in "ABCD"]
    assert not any(one == other for one, other in itertools.combinations(shapes, 2))
    first, second = (line.values[np.isfinite(line.values)] for line in lines)
    np.testing.assert_allclose(second - first, 1.0, err_msg="as the stand-in has it: 4 ms and 5 ms")
    view.bar.lines.activated.emit(2)
    assert document.state.settings.race.lines == "trace"
    assert [set(line.values[np.isfinite(line.values)]) for line in view.lines.chart.lines] == [{1.0}, {2.0}]
    times = lines[0].times
    view.lines.chart.chosen.emit(float(times[3]))
    assert document.state.timeline.time == pytest.approx(times[3])
    bottom = max(picture.geometry().bottom() for picture in view.pictures)
    document.change("settings.race.lines", "off")
    assert not view.lines.isVisible() and max(picture.geometry().bottom() for picture in view.pictures) > bottom + 60


def test_figures_of_before_are_not_told_as_a_races(raced: MainWindow, qtbot: Any) -> None:
    figures, stats, cost = raced.session.figures, raced.stats_panel, raced.inspectors.cost
    assert figures.latest() is None and not figures.samples
    stats._show_figures()
    assert not stats.rows and "in Ranking" in stats._hint.text() and "in Ranking" in cost.legend.text()
    raced.workspaces.choose("explore")
    qtbot.waitUntil(lambda: bool(figures.samples))
    assert "in Ranking" not in cost.legend.text()


def test_the_line_of_a_split_is_dragged_as_one_step(raced: MainWindow, qtbot: Any) -> None:
    race, document = raced.place.race, raced.document
    view = race.view
    assert view is not None
    document.change("settings.race.mode", "split")
    wide = view.wide
    qtbot.waitUntil(lambda: wide.isVisible() and wide._right is not None)
    camera = document.state.cameras[0]
    middle, y = wide.width() // 2, wide.height() // 3
    QTest.mousePress(wide, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(middle, y))
    for x in (middle - 20, middle - 60, wide.width() // 4):
        QTest.mouseMove(wide, QPoint(x, y))
    QTest.mouseRelease(wide, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(wide.width() // 4, y))
    assert document.state.settings.race.split == pytest.approx(0.25, abs=0.01)
    assert document.state.cameras[0] == camera, "the line was dragged, not the camera"
    document.undo()
    assert document.state.settings.race.split == 0.5 and document.state.settings.race.mode == "split"
    QTest.mousePress(wide, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(30, y))
    QTest.mouseMove(wide, QPoint(60, y + 20))
    QTest.mouseRelease(wide, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(60, y + 20))
    assert document.state.cameras[0] != camera, "beside the line the camera is moved, for all"


def test_a_difference_says_what_its_colours_mean_also_where_the_race_rests(raced: MainWindow, qtbot: Any) -> None:
    """There no picture comes any more by which it would be asked for: the middle stayed black."""
    view, document = raced.place.race.view, raced.document
    assert view is not None
    document.change("timeline", timelines.pause(document.state.timeline))
    take_places()
    raced.session.loop.hold(True)
    qtbot.wait(100)  # a picture that was begun before may still come
    document.change("settings.race.mode", "difference")
    qtbot.waitUntil(lambda: view.bar.said.text().startswith("A takes 32 steps fewer"))
    document.change("settings.race.pair", "BA")
    qtbot.waitUntil(lambda: view.bar.said.text().startswith("B takes 32 steps more than A"))
    assert view.wide.isVisible() and view.wide._left is not None
    document.change("settings.race.mode", "grid")
    assert view.bar.said.text() == "" and not view.wide.isVisible()


def test_other_hits_are_said_and_shown(raced: MainWindow, qtbot: Any) -> None:
    race = raced.place.race
    assert race.view is not None
    RacingMaker.differs = True
    raced.document.toggle_play()
    race._proved_at = 0.0
    qtbot.waitUntil(lambda: race.panel.hits.text().startswith("HITS DIFFER: B 3 of"))
    assert race.panel.show_hits.isEnabled()
    race.panel.show_hits.click()
    assert not raced.document.state.timeline.is_playing
    qtbot.waitUntil(lambda: len(race.view._masks) == 2)
    race.panel.show_hits.click()
    assert race.view._masks == ()


def test_rays_of_a_sensor_are_raced_and_drawn(raced: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chosen below the pictures, a step of undo; the ranking says so, and rays lie over the first picture."""
    ends = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0]]])
    monkeypatch.setattr(RacingMaker, "measured_ends", lambda maker: ends, raising=False)
    race, document = raced.place.race, raced.document
    bar, low = race._bar, race._bar.sizeHint().height()
    assert not bar.rays.isVisible() and not any(marks.isVisible() for marks in race.ray_marks)
    place = bar.rays.kind.findData("dome")
    bar.rays.kind.activated.emit(place)
    assert document.state.settings.rays.measured == "dome" and bar.rays.line.text() == "dome"
    assert bar.rays.isVisible() and bar.sizeHint().height() > low
    assert race.live.count == 0, "another race begins"
    qtbot.waitUntil(lambda: len(race.panel.standing) == 2)
    assert "Build and trace" in race.panel.heading.text() and "32 rays of dome" in race.panel.heading.text()
    qtbot.waitUntil(lambda: race.ray_marks[1].isVisible())
    bar.rays.line.setText("dome:rows=none")
    bar.rays.line.returnPressed.emit()
    assert "a whole number from 1 to 4096" in bar.wrong.text() and document.state.settings.rays.measured == "dome"
    document.change("settings.rays.show", False)
    assert not race.ray_marks[1].isVisible()
    document.undo()
    document.undo()
    assert document.state.settings.rays.measured == "picture" and not bar.rays.isVisible()
    qtbot.waitUntil(lambda: len(race.panel.standing) == 2)
    assert "at " in race.panel.heading.text() and not race.ray_marks[1].isVisible()


def test_in_a_small_window_the_modes_are_whole(scene_window: MainWindow) -> None:
    scene_window.resize(900, 600)
    scene_window.document.change("settings.window.workspace", "race")
    for mode in ("grid", "split", "difference"):
        scene_window.document.change("settings.race.mode", mode)
        take_places()
        bar = scene_window.place.race._bar
        assert bar.width() < 640
        assert all(segment.width() >= segment.sizeHint().width() for segment in bar.modes.segments), mode
        right = [part.geometry().right() for part in (bar.modes, bar.lines, bar.rays.kind, bar.add, bar.report)]
        assert right == sorted(right) and right[-1] <= bar.width(), mode
        assert bar.lines.itemText(0) == "total"
    scene_window.resize(1280, 720)
    take_places()
    assert bar.lines.itemText(0) == "Lines: total"
    letters = bar.lines.fontMetrics().horizontalAdvance("Lines: update")
    assert bar.lines.width() > letters, "a list that was made narrow has its words again"


def test_in_a_narrow_window_nothing_of_the_row_lies_over_another(scene_window: MainWindow) -> None:
    """At 900 pixels in presenter size: two rows."""
    scene_window.resize(600, 400)
    scene_window.document.change("settings.window.workspace", "race")
    for mode in ("grid", "difference"):
        scene_window.document.change("settings.race.mode", mode)
        take_places()
        race = scene_window.place.race
        bar = race._bar
        parts = [part for part in (bar.modes, bar.pair, bar.lines, bar.rays.kind, bar.add, bar.report)
                 if part.isVisible()]  # fmt: skip
        assert len(parts) == (5 if mode == "grid" else 6) and bar.modes.y() < bar.lines.y()
        for number, part in enumerate(parts):
            assert bar.rect().contains(part.geometry()), (mode, part.objectName())
            others = parts[number + 1 :]
            assert not any(part.geometry().intersects(other.geometry()) for other in others), (mode, number)
        assert race.panel.width() < 0.47 * scene_window.width() and race.view is not None
        assert race.view.pictures[0].geometry().bottom() < bar.y()
    scene_window.resize(1280, 720)
    take_places()
    assert bar.modes.geometry().center().y() == bar.lines.geometry().center().y()


def test_the_report_shows_which_share_is_done(
    raced: MainWindow, qtbot: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from raygrove.app.frames import race_report

    def report(job: Job, *_: object) -> None:
        while True:  # until someone cancels
            job.report(0.4, "Pass 3 of 7.")
            time.sleep(0.005)

    monkeypatch.setattr(race_report, "report", report)
    job = raced.place.race.save_report(str(tmp_path / "race.html"))
    assert job is not None
    strip = raced.running.strip
    bar, cancel = strip.findChild(QProgressBar), strip.findChild(QPushButton, "cancel")
    qtbot.waitUntil(lambda: strip.isVisible() and bar.maximum() == 1000 and bar.value() == 400)
    assert any(label.text() == "Racing the whole clip: Pass 3 of 7." for label in strip.findChildren(QLabel))
    qtbot.mouseClick(cancel, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: job.is_done and not raced.document.jobs)
    assert job.is_cancelled and not strip.isVisible()
