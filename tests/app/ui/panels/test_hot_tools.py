"""Hot spots and divergence, used as a person does, over a real picture: count, select, see who paid, try a remedy."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import SceneReference
from raygrove.app.frames.hot_clips import CountedClip
from raygrove.app.frames.hot_questions import HotQuestions
from raygrove.app.frames.measured_rays import MeasuredRays
from raygrove.app.settings.ray_options import RayOptions
from raygrove.app.ui.panels.hot_tools import HotTools
from raygrove.app.ui.session import ray_choice
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.analysis.hot_clip import OF_CLIPS, ClipSpots
from raygrove.gpu.analysis.hot_findings import HotFinding
from raygrove.gpu.analysis.hot_spots import HotSpots
from raygrove.gpu.analysis.hot_words import BY
from raygrove.gpu.engine import Engine
from raygrove.gpu.scene import Moment
from raygrove.testing import make_target
from tests.app.stand_ins import PaintedMaker
from tests.app.ui.panels.test_pick_panel import click
from tests.gpu.moving_scene import moving_scene, view_of


@pytest.fixture(scope="session")
def questions() -> Iterator[HotQuestions]:
    """Asked of an engine with a picture of 40 x 24 pixels."""
    with make_target("host") as target:
        engine = Engine(target, moving_scene())
        view = view_of(target, size=(40, 24), hierarchy="lbvh", layout="bvh4")
        engine.render_frame(Moment(0.7), [view])
        engine.flush()
        asked = HotQuestions()
        asked._engine, asked._views = engine, [view]
        yield asked
        engine.close()


@pytest.fixture(scope="session")
def found(questions: HotQuestions) -> HotSpots:
    answer = questions.hot_spots("all", "both")
    assert isinstance(answer, HotSpots)
    return answer


FINDING = HotFinding("long_triangles", "warning", "Two long triangles cause it.", {}, "cut them",
                     configuration="sbvh/bvh4", primitives=(0, 1))  # fmt: skip


@pytest.fixture
def tools(scene_window: MainWindow, questions: HotQuestions, monkeypatch: pytest.MonkeyPatch) -> HotTools:
    """The window's, over the pictures of an engine."""
    for name in ("hot_spots", "divergence", "paid", "nodes_of_pixel", "gain_of"):
        monkeypatch.setattr(
            PaintedMaker, name, lambda maker, *asked, of=name: getattr(questions, of)(*asked), raising=False
        )
    return scene_window.hot_tools


def show(window: MainWindow, name: str) -> None:
    dock = next(dock for dock in window.docks if dock.objectName() == f"dock.{name}")
    dock.show()
    dock.raise_()


def test_questions_answer_in_sentences_where_there_is_nothing(questions: HotQuestions) -> None:
    assert questions.hot_spots("all", "both", view=3) is None and questions.divergence(3) is None
    answer = questions.hot_spots("bounce 4", "both")
    assert isinstance(answer, str) and "this picture casts primary, shadow" in answer


def test_a_remedy_is_built_beside_the_picture(questions: HotQuestions, found: HotSpots) -> None:
    better = questions.gain_of(found, FINDING)
    assert isinstance(better, HotFinding) and better.gain is not None and 0.5 < better.gain < 3.0
    same = questions.gain_of(found, dataclasses.replace(FINDING, configuration=found.configuration))
    assert isinstance(same, HotFinding) and same.gain == pytest.approx(1.0)
    assert questions.gain_of(found, dataclasses.replace(FINDING, configuration="")).gain is None  # type: ignore[union-attr]


def test_lines_and_the_pixels_that_paid(scene_window: MainWindow, tools: HotTools, found: HotSpots, qtbot: Any) -> None:
    show(scene_window, "hot_spots")
    hot, marks = tools.hot, tools.marks
    assert hot.found is None and not marks.isVisible(), "nobody asked"
    QTest.mouseClick(hot.count, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: hot.found is not None)
    assert [spot.number for spot in hot.spots][:3] == [spot.number for spot in found.top(3)]
    assert f"{found.counts.rays:,} rays" in hot.hint.text()
    hot.lines.selectRow(1)
    qtbot.waitUntil(lambda: marks.paid is not None)
    spot = hot.spots[1]
    assert marks.isVisible() and marks.paid is not None
    assert marks.paid.sum() == found.visits[spot.number] + found.tests[spot.number]
    ids = np.asarray(found.table.event_ids)
    assert scene_window.session.inspection.now.node == ids[spot.number]
    for by in BY[1:]:
        hot.by.setCurrentIndex(BY.index(by))
        assert marks.paid is None and hot.spots[0].share > 0.0
        hot.lines.selectRow(0)
        qtbot.waitUntil(lambda: marks.paid is not None and bool(marks.paid.any()))
    scene_window.document.change("settings.render.hierarchy", "hploc")
    assert not marks.isVisible() and "earlier picture" in hot.hint.text()


def test_frames_of_the_clip_are_counted_beside_the_window(
    scene_window: MainWindow, tools: HotTools, found: HotSpots, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, hot = scene_window.document, tools.hot
    show(scene_window, "hot_spots")
    asked: list[Any] = []
    goes_on = threading.Event()

    def counted(job: Job, scene: Any, state: Any, frames: Any, rays: str, kind: str) -> CountedClip:
        asked.append((state.settings.render.width, frames, rays, kind))
        while not goes_on.wait(0.01):
            job.check()
        spots = {by: ClipSpots(by) for by in OF_CLIPS}
        for number, _ in frames:
            for one in spots.values():
                one.add(number, found)
        return CountedClip("lbvh/bvh4", tuple(time for _, time in frames), spots)

    monkeypatch.setattr("raygrove.app.frames.hot_clips.count_clip", counted)
    document.toggle_play()
    hot.frames.setCurrentIndex(1)
    hot.count.click()
    assert not document.state.timeline.is_playing and not hot.count.isEnabled()
    qtbot.waitUntil(lambda: bool(asked))
    document.cancel(document.jobs[0])
    qtbot.waitUntil(lambda: hot.count.isEnabled())
    assert hot.hint.text() == "The clip was not counted." and hot.clip is None
    goes_on.set()
    hot.count.click()
    qtbot.waitUntil(lambda: hot.clip is not None)
    width, frames, rays, kind = asked[-1]
    assert (len(frames), rays, kind) == (24, "all", "both") and width == scene_window.loop.last_frame.drawn[0]
    assert frames[0] == (0, 0.0) and frames[-1][0] == document.span.frame_count - 1
    assert document.state.settings.hot_spots.by == "node", "nobody chose another"
    assert hot.listed == "depth" and "24 frames" in hot.hint.text() and "Frame 0 costs most" in hot.hint.text()
    assert sum(spot.visits or 0 for spot in hot.spots) == 24 * found.visits.sum()
    hot.by.setCurrentIndex(BY.index("object"))
    assert hot.spots[0].share == pytest.approx(found.top(1, "object")[0].share)
    hot.by.setCurrentIndex(BY.index("node"))
    assert hot.spots == (), "nodes are others after each build"
    hot.dearest.click()
    assert document.state.timeline.time == 0.0 and hot.clip is not None
    hot.frames.setCurrentIndex(0)
    hot.count.click()
    qtbot.waitUntil(lambda: hot.found is not None)
    assert hot.clip is None and not hot.dearest.isVisible()


def test_the_nodes_of_a_pixel_are_bold(
    scene_window: MainWindow, tools: HotTools, questions: HotQuestions, qtbot: Any
) -> None:
    show(scene_window, "hot_spots")
    tools.hot.ask()
    qtbot.waitUntil(lambda: tools.hot.found is not None)
    click(scene_window, 0.5, 0.5)
    qtbot.waitUntil(lambda: bool(tools.hot.lines.rows.marked))
    place = scene_window.session.inspection.now.pixel
    assert place is not None
    entered = questions.nodes_of_pixel(*place)
    assert entered is not None
    bold = {tools.hot.spots[row].number for row in tools.hot.lines.rows.marked}
    assert bold == {spot.number for spot in tools.hot.spots} & set(entered.tolist()) and 0 in bold


def test_findings_are_shown_and_counted(scene_window: MainWindow, tools: HotTools, found: HotSpots, qtbot: Any) -> None:
    show(scene_window, "hot_spots")
    tools.hot.take(dataclasses.replace(found, findings=(FINDING,)))
    (card,) = tools.hot.cards
    assert card.sentence.text() == FINDING.sentence and "cut them" in card.help.text()
    card.show_it.click()
    qtbot.waitUntil(lambda: tools.marks.paid is not None)
    assert tools.marks.paid is not None and tools.marks.paid.sum() == found.counts.primitive_tests[:2].sum()
    qtbot.waitUntil(lambda: card.finding.gain is not None)  # which nobody has pressed anything for
    assert card.help.text().startswith("SAH with spatial splits / BVH4 saves") and not card.is_open
    assert "with spatial splits / BVH4" in tools.hot.text()
    assert tools.hot.table()[1][0]["name"] == tools.hot.spots[0].name


def test_what_helps_is_named_by_titles(tools: HotTools, found: HotSpots) -> None:
    own = dataclasses.replace(FINDING, remedy="give it a tree of its own: two_level, or the optimiser reinsertion")
    tools.hot.take(dataclasses.replace(found, findings=(own,)))
    said = tools.hot.cards[0].help.text()
    assert "Two-level BVH, or the optimiser Parallel reinsertion" in said and "_" not in said
    assert "Linear BVH / BVH4" in tools.hot.hint.text()


def test_try_adds_a_remedy_to_the_race(scene_window: MainWindow, tools: HotTools, found: HotSpots) -> None:
    document = scene_window.document
    document.change("settings.update.mode", "refit")
    tools.hot.take(dataclasses.replace(found, findings=(FINDING,)))
    tools.hot.cards[0].try_it.click()
    assert document.state.settings.race.contestants == "lbvh/bvh4@refit, sbvh/bvh4"
    document.undo()
    tools.hot.take(dataclasses.replace(found, findings=(dataclasses.replace(FINDING, configuration="hploc/bvh4"),)))
    tools.hot.cards[0].try_it.click()
    settings = document.state.settings
    assert settings.window.workspace == "race" and settings.race.contestants == "lbvh/bvh4@refit, hploc/bvh4@refit"
    document.undo()
    assert document.state.settings.race.contestants != settings.race.contestants
    assert document.state.settings.window.workspace != "race"
    document.redo()
    tools.hot.take(dataclasses.replace(found, findings=(FINDING,)))
    tools.hot.cards[0].try_it.click()
    three = "lbvh/bvh4@refit, hploc/bvh4@refit, sbvh/bvh4"
    assert document.state.settings.race.contestants == three
    tools.hot.cards[0].try_it.click()
    assert document.state.settings.race.contestants == three
    document.undo()
    document.undo()
    document.change("settings.render.triangle_test", "watertight")
    tools.hot.cards[0].try_it.click()
    assert document.state.settings.race.contestants.count("/bvh4/auto:triangle_test=watertight") == 2


def test_warps_are_listed_and_outlined(scene_window: MainWindow, tools: HotTools, qtbot: Any) -> None:
    show(scene_window, "divergence")
    panel = tools.divergence
    panel.count.click()
    qtbot.waitUntil(lambda: panel.found is not None)
    found = panel.found
    assert found is not None and f"the longest {found.longest:,}" in panel.figures.text()
    assert panel.table()[1][0]["steps"] == found.longest
    panel.lines.selectRow(0)
    tile = found.place(int(found.order(1)[0]))
    assert tile is not None and scene_window.session.inspection.now.warp == tile and tools.marks.tile is not None
    place = panel.map._place()
    at = QPointF(place.x() + place.width() * 1.5 / 5, place.y() + place.height() * 2.5 / 6).toPoint()
    QTest.mouseClick(panel.map, Qt.MouseButton.LeftButton, pos=at)
    assert scene_window.session.inspection.now.warp == (1, 2)
    scene_window.document.change("settings.render.hierarchy", "hploc")
    assert tools.marks.tile is None and "earlier picture" in panel.hint.text()
    panel.take(None)
    assert panel.found is None and panel.lines.rows.rowCount() == 0


def test_try_builds_once_what_stands_still(scene_window: MainWindow, tools: HotTools, found: HotSpots) -> None:
    document = scene_window.document
    document.set_scene(SceneReference("demo", ("still",)), dataclasses.replace(moving_scene(), clips=()))
    tools.hot.take(dataclasses.replace(found, findings=(FINDING,)))
    tools.hot.cards[0].try_it.click()
    assert document.state.settings.race.contestants == "lbvh/bvh4@auto, sbvh/bvh4@auto"


@pytest.fixture
def sensor(questions: HotQuestions, monkeypatch: pytest.MonkeyPatch) -> MeasuredRays:
    """The rays of a dome in the scene's middle are measured by `questions`."""
    measured = MeasuredRays()
    measured.choose(RayOptions("dome:rows=5:columns=13"), moving_scene(), Moment(0.7))
    monkeypatch.setattr(questions, "_measured", measured)
    return measured


def test_rays_of_a_sensor_are_counted_and_belong_to_no_pixel(
    scene_window: MainWindow, tools: HotTools, questions: HotQuestions, sensor: MeasuredRays, qtbot: Any
) -> None:
    show(scene_window, "hot_spots")
    hot, divergence = tools.hot, tools.divergence
    hot.measured.wanted.emit("dome:rows=5:columns=13")
    assert scene_window.document.state.settings.rays.measured == "dome:rows=5:columns=13"
    assert not hot.rays.isEnabled() and divergence.measured.line.text() == hot.measured.line.text()
    hot.count.click()
    qtbot.waitUntil(lambda: hot.found is not None)
    assert hot.found is not None and hot.found.rays == "given" and "65 rays" in hot.hint.text()
    assert questions.paid(hot.found, [0], ()) is None
    hot.take(dataclasses.replace(hot.found, findings=(FINDING,)))
    assert hot.cards[0].show_it.isHidden() and not hot.cards[0].try_it.isHidden()
    better = questions.gain_of(hot.found, FINDING)
    assert isinstance(better, HotFinding) and better.gain is not None and 0.2 < better.gain < 5.0
    show(scene_window, "divergence")
    divergence.count.click()
    qtbot.waitUntil(lambda: divergence.found is not None)
    assert divergence.found is not None and divergence.found.tiles is None and len(divergence.found.steps) == 4
    assert divergence.map.isHidden() and "32 in a warp" in divergence.hint.text()
    assert {row["tile"] for row in divergence.table()[1]} == {"0", "1", "2", "3"}
    divergence.lines.selectRow(0)
    assert tools.marks.isHidden()
    scene_window.document.undo()
    assert hot.rays.isEnabled() and "earlier picture" in hot.hint.text()


def test_rays_that_are_not_there_are_a_sentence(
    tools: HotTools, questions: HotQuestions, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = MeasuredRays()
    measured.choose(RayOptions("lidar:node=wheel"), moving_scene(), Moment(0.7))
    monkeypatch.setattr(questions, "_measured", measured)
    for answer in (questions.hot_spots("all", "both"), questions.divergence()):
        assert isinstance(answer, str) and "there is no node called 'wheel'" in answer
    assert questions.measured_ends() == answer
    tools.hot.measured.wanted.emit("radar")
    assert "lidar, dome, cameras" in tools.hot.hint.text()


def test_some_of_the_rays_are_drawn_over_the_picture_of_inspect(
    scene_window: MainWindow, tools: HotTools, questions: HotQuestions, sensor: MeasuredRays, qtbot: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Each from the sensor to what it hits, as a trace through the same tree finds it."""
    monkeypatch.setattr(PaintedMaker, "measured_ends", lambda maker: questions.measured_ends(), raising=False)
    marks = tools.measured.marks
    scene_window.document.change("settings.rays.measured", "dome:rows=5:columns=13")
    assert not marks.isVisible()
    scene_window.workspaces.choose("inspect")
    qtbot.waitUntil(lambda: marks.isVisible())
    assert marks.ends is not None and marks.ends.shape == (65, 2, 3)
    rays = sensor.now()
    assert rays is not None
    np.testing.assert_array_equal(marks.ends[:, 0], rays.origins)
    hit = np.isfinite(marks.ends[:, 1]).all(axis=1)
    assert 0 < hit.sum() < 65
    along = marks.ends[hit, 1] - marks.ends[hit, 0]
    np.testing.assert_allclose(along / np.linalg.norm(along, axis=1)[:, None], rays.directions[hit], atol=1e-5)
    image = marks.grab().toImage()
    assert len({image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}) > 2
    scene_window.document.change("settings.rays.show", False)
    assert not marks.isVisible()


def test_rays_are_recorded_and_measured_from_then_on(
    scene_window: MainWindow, tools: HotTools, qtbot: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked, document = list[Any](), scene_window.document

    def recorded(job: Job, scene: Any, state: Any, name: str, path: str) -> int:
        asked.append((state.settings.render.width, name, path))
        return 7

    monkeypatch.setattr("raygrove.app.frames.recording.record", recorded)
    begins = {"primary": "bounce 2"}  # with what every picture has
    monkeypatch.setattr(ray_choice.QInputDialog, "getItem", lambda *of: (begins[of[3][of[4]]], True))
    monkeypatch.setattr(ray_choice.QFileDialog, "getSaveFileName", lambda *words: (str(tmp_path / "mine"), ""))
    path = str(tmp_path / "mine.npz")
    qtbot.waitUntil(lambda: scene_window.loop.last_frame is not None)
    tools.divergence.measured.record_wanted.emit()
    qtbot.waitUntil(lambda: document.state.settings.rays.measured == path)
    assert (
        asked == [(scene_window.loop.last_frame.drawn[0], "bounce 2", path)] and tools.hot.measured.line.text() == path
    )
    document.undo()
    assert document.state.settings.rays.measured == "picture"


def test_a_file_that_cannot_be_read_is_said_once(
    scene_window: MainWindow, tools: HotTools, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    said = "rays.npz: it is damaged."

    def measured_ends(maker: PaintedMaker) -> str:
        asked.append(said)
        return said

    monkeypatch.setattr(PaintedMaker, "measured_ends", measured_ends, raising=False)
    document = scene_window.document
    scene_window.workspaces.choose("inspect")
    document.change("settings.rays.measured", "dome")
    qtbot.waitUntil(lambda: tools.hot.hint.text() == said)
    assert tools.divergence.hint.text() == said and not tools.measured.marks.isVisible()
    tools.hot.hint.setText("Something newer.")
    tools.measured._take(said)
    assert tools.hot.hint.text() == "Something newer."
    document.change("settings.rays.measured", "dome:rows=4")
    tools.measured._take(said)
    assert tools.hot.hint.text() == said


def test_a_file_of_rays_is_kept_as_it_is_called_from_anywhere(
    scene_window: MainWindow, tools: HotTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tools.hot.measured.wanted.emit("some/../rays.npz")
    assert scene_window.document.state.settings.rays.measured == str(tmp_path / "rays.npz")


def test_what_keeps_rays_from_being_chosen_or_recorded_is_said(
    scene_window: MainWindow, tools: HotTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = scene_window.session
    monkeypatch.setattr(session.loop, "last_frame", None)
    assert ray_choice.start_recording(session, "primary", str(tmp_path / "rays.npz")) is None
    assert "no picture yet" in session.notices.log.entries[-1].sentence
    monkeypatch.setattr(ray_choice.QFileDialog, "getOpenFileName", lambda *words: ("radar", ""))
    ray_choice.ask_for_file(session, tools.hot)
    assert "lidar, dome, cameras" in session.notices.log.entries[-1].sentence
