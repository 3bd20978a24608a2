"""Exports from the window as a person makes them: chosen, written, cancelled, closed on; and pictures that are saved
and opened again."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton

from raygrove.app.document.state import Bookmark, SceneReference
from raygrove.app.playback import timeline
from raygrove.app.scene_io import load_picture
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.ui.dialogs import questions
from raygrove.app.ui.dialogs.export_dialog import FORMATS, ExportDialog
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.quantise.palette import quantise
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.stopping import Abandoned
from tests.app.stand_ins import PaintedMaker, settle, wait_for_exports

PNG, VIDEO, EXR, CSV, JSON = range(len(FORMATS))
INSTANT, WHOLE, SOME = range(3)


@pytest.fixture
def dialog(scene_window: MainWindow, qtbot: Any, tmp_path: Path) -> ExportDialog:
    """File > Export on the moving scene, small pictures, into a folder of its own."""
    scene_window.memory.set_folder(str(tmp_path / "x"))
    scene_window.commands.actions["file.export"].trigger()
    made = scene_window.findChild(ExportDialog, "export")
    assert made is not None
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    made.width_box.setValue(48)
    made.height_box.setValue(32)
    qtbot.waitUntil(made.isVisible)
    return made


def wait_for_jobs(window: MainWindow, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: not window.document.jobs)


def said(window: MainWindow) -> str:
    return " ".join(banner.sentence for banner in window.toasts.messages())


def test_it_says_what_it_will_take_as_size_samples_and_frames_are_chosen(dialog: ExportDialog) -> None:
    """By 15 ms of rays for each picture of the view's last second."""
    (seen,) = {one.view.width * one.view.height for one in dialog._session.figures.history if one.view is not None}
    for frames, samples in ((61, 16), (61, 32), (31, 32)):
        dialog.frames.setCurrentIndex(SOME)
        for box, value in zip((dialog.last, dialog.samples, dialog.width_box, dialog.height_box),
                              (frames - 1, samples, 6400, 4800), strict=True):  # fmt: skip
            box.setValue(value)
        minutes = re.search(r" About (\d+) min at what frames take now\.", dialog.note.text())
        whole = frames * samples * 0.015 * 6400 * 4800 / seen / 60.0
        assert minutes is not None and whole > 4.0 and int(minutes[1]) == pytest.approx(whole, abs=0.6)
    dialog._session.figures.clear()
    assert "About" not in dialog.note.text(), "nothing was measured"


def test_it_says_what_will_be_written(dialog: ExportDialog, tmp_path: Path) -> None:
    text = "61 frames, 2.03 s at 30 frames per second. About 1 s at what frames take now."
    assert dialog.note.text() == text and dialog.button.isEnabled()
    names = []
    for kind in range(len(FORMATS)):
        dialog.format.setCurrentIndex(kind)
        names.append(Path(dialog.out.text()).name)
        assert Path(dialog.out.text()).parent == tmp_path and dialog.button.isEnabled(), dialog.note.text()
    assert names == ["frame_%04d.png", "raygrove.mp4", "buffers_%04d.exr", "statistics.csv", "statistics.json"]
    dialog.format.setCurrentIndex(PNG)
    dialog.frames.setCurrentIndex(INSTANT)
    assert Path(dialog.out.text()).name == "raygrove.png" and dialog.note.text().startswith("One frame. About 1 s ")
    dialog.turns.setChecked(True)
    assert dialog.note.text().startswith("180 frames, 6.00 s") and dialog.turn_seconds.isEnabled()
    Path(tmp_path / "here.mp4").touch()
    dialog.out.setText(str(tmp_path / "here.mp4"))
    assert "here.mp4 is there already and will be replaced" in dialog.note.text()


def test_a_video_of_what_stands_still_turns(dialog: ExportDialog, tmp_path: Path) -> None:
    """One picture is no video; who wants another kind of file, or has said that the camera turns, is left alone."""
    dialog.close()
    document = dialog._document
    document.set_scene(SceneReference("demo", ("blob",)), make_demo("blob", 500))
    made = ExportDialog(dialog._session)
    assert made.note.text() == "One frame."
    made.format.setCurrentIndex(VIDEO)
    assert made.turns.isChecked() and made.note.text().startswith("180 frames") and made.out.text().endswith(".mp4")
    made.format.setCurrentIndex(PNG)
    assert not made.turns.isChecked() and made.note.text() == "One frame."
    made.turns.setChecked(True)
    for kind in (VIDEO, PNG):
        made.format.setCurrentIndex(kind)
        assert made.turns.isChecked()
    made.close()


def test_a_turn_that_was_chosen_or_refused_by_hand_stays_so(dialog: ExportDialog) -> None:
    dialog.close()
    document = dialog._document
    document.set_scene(SceneReference("demo", ("blob",)), make_demo("blob", 500))
    camera = document.state.camera_of(0)
    document.change("bookmarks", (Bookmark("near", camera), Bookmark("far", camera)))
    made = ExportDialog(dialog._session)
    made.format.setCurrentIndex(VIDEO)
    for is_on in (False, True):
        made.turns.click()
        for kind in (PNG, VIDEO, CSV):
            made.format.setCurrentIndex(kind)
            assert made.turns.isChecked() == is_on
    made.close()
    made = ExportDialog(dialog._session)
    made.format.setCurrentIndex(VIDEO)
    made.path.click()
    assert made.path.isChecked() and not made.turns.isChecked()
    made.path.click()
    assert made.turns.isChecked() and made.note.text().startswith("180 frames"), "not a video of one frame"
    made.format.setCurrentIndex(PNG)
    assert not made.turns.isChecked()
    made.close()


def test_pictures_are_as_smooth_as_the_still_window(dialog: ExportDialog) -> None:
    assert dialog.samples.value() == dialog.state().settings.render.samples == 16
    dialog.samples.setValue(2)
    settings = dialog.state().settings
    assert (settings.render.samples, settings.display.still_samples) == (2, 2)
    dialog.format.setCurrentIndex(CSV)
    assert not dialog.samples.isEnabled() and dialog.state().settings.render.samples == 1


@pytest.mark.parametrize(
    ("out", "expected"),
    [("", "Name a file"), ("one.png", "do not go into one picture"), ("one.jpg", "pictures are written as .png")],
)
def test_what_cannot_be_is_said_before_anything_is_drawn(dialog: ExportDialog, out: str, expected: str) -> None:
    dialog.out.setText(out)
    assert expected in dialog.note.text() and not dialog.button.isEnabled()


@pytest.mark.parametrize(("module", "out", "titles"), [("av", "film.mp4", 4), ("OpenEXR", "z_%04d.exr", 4)])
def test_what_this_machine_cannot_write_is_not_offered(
    scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch, module: str, out: str, titles: int
) -> None:
    """Whoever names such a file all the same, or looks for the format, reads what is missing and where help is."""
    there = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == module else there(name))
    dialog = ExportDialog(scene_window.session, scene_window)
    offered = [dialog.format.itemText(index) for index in range(dialog.format.count())]
    gone = {"av": "Video (H.264)", "OpenEXR": "Depth, normals, ids and steps (EXR)"}[module]
    assert offered == [one.title for one in FORMATS if one.title != gone] and len(offered) == titles
    assert "not installed" in dialog.format.toolTip() and "Copy a report" in dialog.format.toolTip()
    for index in range(dialog.format.count()):
        dialog.format.setCurrentIndex(index)
        assert dialog.button.isEnabled() and dialog.chosen.title == offered[index], dialog.note.text()
        assert Path(dialog.out.text()).suffix in dialog.chosen.filter
    dialog.out.setText(f"/tmp/{out}")
    assert dialog.note.text().startswith(f"{out}: ") and "is not installed. Choose another Format" in dialog.note.text()
    assert not dialog.button.isEnabled()
    dialog.close()


def test_where_everything_is_installed_nothing_is_missing(dialog: ExportDialog) -> None:
    pytest.importorskip("av", reason="PyAV is not installed (the extra `video`)")
    pytest.importorskip("OpenEXR", reason="OpenEXR is not installed (the extra `exr`)")
    assert dialog.format.count() == len(FORMATS) and dialog.format.toolTip() == ""


def test_the_dialog_speaks_of_its_fields(dialog: ExportDialog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is wrong: no flag, no key of the settings, no command."""
    labels = {label.text() for label in dialog.findChildren(QLabel)}
    dialog.palette_box.setValue(5)
    said = {}
    for cause, out in {"ending": "one.jpg", "frames": "one.png", "palette": "a.mp4"}.items():
        dialog.out.setText(f"/tmp/{out}")
        said[cause] = dialog.note.text()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    dialog.out.setText("/tmp/b.mp4")
    said["library"] = dialog.note.text()
    for cause, field in {"ending": "Format", "frames": "Output", "palette": "Colours", "library": "Format"}.items():
        assert field in said[cause] and field in labels, said[cause]
        assert not re.search(r"--|render\.|`|pip |/tmp", said[cause]), said[cause]


def test_frames_in_the_wrong_order(dialog: ExportDialog) -> None:
    dialog.frames.setCurrentIndex(SOME)
    dialog.first.setValue(5)
    dialog.last.setValue(4)
    assert "comes after the last" in dialog.note.text() and not dialog.button.isEnabled()


def test_some_frames_become_pictures_with_their_state(
    dialog: ExportDialog, scene_window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    dialog.frames.setCurrentIndex(SOME)
    dialog.first.setValue(15)
    dialog.last.setValue(17)
    before = scene_window.document.state
    qtbot.mouseClick(dialog.button, Qt.MouseButton.LeftButton)
    assert not dialog.isVisible() and scene_window.document.jobs
    wait_for_jobs(scene_window, qtbot)
    assert sorted(path.name for path in tmp_path.glob("*.png")) == [
        "frame_0015.png",
        "frame_0016.png",
        "frame_0017.png",
    ]
    texts, width, height = load_picture(str(tmp_path / "frame_0016.png"))
    assert (
        (width, height) == (48, 32)
        and '"time": 0.533' in texts["raygrove.timeline"]
        and "(host)" in texts["raygrove.device"]
    )
    assert "Wrote 3 files" in said(scene_window)
    assert scene_window.document.state == before, "an export changes nothing"


@pytest.mark.parametrize(
    ("kind", "name"),
    [(VIDEO, "raygrove.mp4"), (EXR, "raygrove.exr"), (CSV, "statistics.csv"), (JSON, "statistics.json")],
)
def test_every_other_kind_is_written(
    dialog: ExportDialog, scene_window: MainWindow, qtbot: Any, tmp_path: Path, kind: int, name: str
) -> None:
    pytest.importorskip("av", reason="PyAV is not installed (the extra `video`)")
    pytest.importorskip("OpenEXR", reason="OpenEXR is not installed (the extra `exr`)")
    dialog.format.setCurrentIndex(kind)
    dialog.frames.setCurrentIndex(INSTANT)
    dialog.start()
    wait_for_jobs(scene_window, qtbot)
    assert (tmp_path / name).stat().st_size > 100 and name in said(scene_window)


def start_a_long_one(dialog: ExportDialog) -> None:
    dialog.frames.setCurrentIndex(SOME)
    dialog.last.setValue(99_999)
    dialog.format.setCurrentIndex(JSON)
    dialog.width_box.setValue(320)
    dialog.start()


def test_cancel_acts_at_once_and_the_window_lives(
    dialog: ExportDialog, scene_window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    (tmp_path / "statistics.json").write_text("before")
    start_a_long_one(dialog)
    qtbot.waitUntil(
        lambda: scene_window.running.strip.isVisible() and "frame" in (scene_window.document.jobs[-1].message or ""),
    )
    scene_window.timeline_bar.go(timeline.last)
    qtbot.waitUntil(lambda: scene_window.loop.last_frame.request.moment.time == 2.0)
    qtbot.mouseClick(scene_window.running.strip.findChild(QPushButton, "cancel"), Qt.MouseButton.LeftButton)
    assert not scene_window.running.strip.isVisible()
    qtbot.waitUntil(lambda: not scene_window.document.jobs)
    assert "was cancelled" in said(scene_window)
    wait_for_exports()
    assert [path.name for path in tmp_path.iterdir()] == ["statistics.json"] and (
        tmp_path / "statistics.json"
    ).read_text() == "before"


def test_closing_the_window_ends_an_export(
    dialog: ExportDialog, scene_window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_a_long_one(dialog)
    qtbot.waitUntil(lambda: scene_window.running.strip.isVisible())
    monkeypatch.setattr(questions, "may_quit", lambda parent, jobs: bool(list(jobs)))  # its question is answered: quit
    assert scene_window.close()
    wait_for_exports()
    assert not list(tmp_path.iterdir())


def test_what_the_disk_refuses_is_a_banner(
    dialog: ExportDialog, scene_window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    dialog.frames.setCurrentIndex(INSTANT)
    dialog.out.setText(str(tmp_path / "file" / "inside.png"))
    dialog.start()
    wait_for_jobs(scene_window, qtbot)
    assert "inside.png" in said(scene_window)


@pytest.fixture
def saved(window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """File > Save picture of the walker at 1.5 s, seen by another camera."""
    document, path = window.document, tmp_path / "saved.png"
    document.change("settings.timeline.autoplay", False)
    document.change("settings.demo.triangles", 500)
    window.open_demo("walker")
    qtbot.waitUntil(lambda: document.scene is not None)
    document.change("cameras.0.fov", 33.0)
    document.change("timeline.time", 1.5)
    qtbot.waitUntil(
        lambda: window.loop.last_frame is not None and window.loop.last_frame.request.state == document.state
    )
    settle(window, qtbot)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path.with_suffix("")), ""))
    window.commands.actions["file.picture"].trigger()
    wait_for_jobs(window, qtbot)
    return path


def test_a_saved_picture_shows_what_the_window_showed(saved: Path, window: MainWindow) -> None:
    shown = window.view.picture()
    with Image.open(saved) as image:
        assert image.size == (shown.width(), shown.height())
        pixels = np.asarray(image)
    for x, y in ((0, 0), (shown.width() - 1, 0), (5, shown.height() - 1)):
        assert tuple(pixels[y, x]) == shown.pixelColor(x, y).getRgb()[:3]


def test_dropping_a_saved_picture_restores_its_state(saved: Path, window: MainWindow, qtbot: Any) -> None:
    document, before = window.document, window.document.state
    window.open_demo("cloth")
    qtbot.waitUntil(lambda: document.state.scene.names == ("cloth",))
    document.change("settings.render.ray_type", "flat")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(saved))])
    button, key = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, button, key))
    qtbot.waitUntil(lambda: document.state.scene.names == ("walker",))
    after = document.state
    assert (after.cameras, after.timeline, after.views, after.settings) == (
        before.cameras,
        before.timeline,
        before.views,
        before.settings,
    )
    assert window.stack.currentWidget() is window.view and "walker" in window.windowTitle()


def test_a_picture_without_a_state_is_a_banner(scene_window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "plain.png")
    scene_window.open_files([str(tmp_path / "plain.png")])
    qtbot.waitUntil(lambda: "no state was saved in it" in said(scene_window))
    assert scene_window.document.state.scene.names == ("two",)


def test_colours_are_asked_for_where_the_file_can_have_a_palette(
    dialog: ExportDialog, scene_window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    assert dialog.palette_box.text() == "all"
    dialog.palette_box.setValue(7)
    dialog.frames.setCurrentIndex(INSTANT)
    for kind, colours in ((PNG, 7), (VIDEO, 0), (EXR, 0), (CSV, 0), (PNG, 7)):
        dialog.format.setCurrentIndex(kind)
        assert (dialog.state().settings.render.palette, dialog.palette_box.isEnabled()) == (colours, colours > 0)
        assert dialog.button.isEnabled(), dialog.note.text()
    dialog.out.setText(str(tmp_path / "a.mp4"))
    assert "a video has no palette" in dialog.note.text() and not dialog.button.isEnabled()
    dialog.out.setText(str(tmp_path / "a.png"))
    dialog.start()
    wait_for_jobs(scene_window, qtbot)
    with Image.open(tmp_path / "a.png") as image:
        assert image.mode == "P" and len(np.unique(np.asarray(image))) <= 7


def test_a_saved_picture_has_the_colours_of_the_settings(
    scene_window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host_target: Target
) -> None:
    def in_few_colours(self: PaintedMaker, pixels: np.ndarray, colours: int) -> Any:
        found = quantise(host_target, pixels, colours)
        return found.palette, found.indices

    monkeypatch.setattr(PaintedMaker, "in_few_colours", in_few_colours, raising=False)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "a.png"), ""))
    scene_window.document.change("settings.render.palette", 5)
    settle(scene_window, qtbot)
    scene_window.commands.actions["file.picture"].trigger()
    qtbot.waitUntil(lambda: (tmp_path / "a.png").is_file() and not scene_window.document.jobs)
    with Image.open(tmp_path / "a.png") as image:
        assert image.mode == "P" and 1 < len(np.unique(np.asarray(image))) <= 5 and "raygrove" in str(image.info)


def test_a_picture_whose_colours_were_not_chosen_is_saved_whole_and_says_so(
    scene_window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_few_colours(self: PaintedMaker, pixels: np.ndarray, colours: int) -> Any:
        raise Abandoned

    monkeypatch.setattr(PaintedMaker, "in_few_colours", in_few_colours, raising=False)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "a.png"), ""))
    scene_window.document.change("settings.render.palette", 5)
    settle(scene_window, qtbot)
    scene_window.commands.actions["file.picture"].trigger()
    qtbot.waitUntil(lambda: any("all its colours" in one.sentence for one in scene_window.toasts.messages()))
    with Image.open(tmp_path / "a.png") as image:
        assert image.mode != "P"
