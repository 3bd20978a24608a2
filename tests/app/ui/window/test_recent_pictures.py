"""Recent files have a picture each on the first page, which goes with the list; the page says what machine it is."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLabel, QListWidget, QMenu, QPushButton

from raygrove.app.document.state import SceneReference
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.system import machine
from raygrove.app.ui.window import machine_line, recent_pictures
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.ui.window.recent_pictures import RATIO, SIZE, RecentPictures, small


@pytest.fixture
def kept(scene_window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RecentPictures:
    """Pictures of a window, kept at once and in a folder of their own, all of them red."""
    monkeypatch.setattr(recent_pictures, "DELAY_MS", 0)
    image = QImage(320, 240, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    made = RecentPictures(scene_window.session, lambda: image, scene_window)
    made._folder = tmp_path / "recent"
    return made


def shown(window: MainWindow, path: Path) -> FinishedFrame:
    """The scene as that of a file, and a frame of it."""
    path.write_text("v 0 0 0\n")
    document, last = window.document, window.loop.last_frame
    assert last is not None and document.scene is not None
    document.set_scene(SceneReference("files", (str(path),)), document.scene)
    return dataclasses.replace(last, request=dataclasses.replace(last.request, scene=document.scene))


def test_a_file_has_the_picture_that_was_seen_of_it(
    kept: RecentPictures, scene_window: MainWindow, tmp_path: Path, qtbot: Any
) -> None:
    path = tmp_path / "a.obj"
    assert kept.of(str(path)).isNull()
    kept._hear(shown(scene_window, path))
    qtbot.waitUntil(lambda: kept.path_of(str(path)).is_file())
    found = kept.of(str(path))
    assert found.size() == SIZE * RATIO and found.toImage().pixelColor(5, 5) == Qt.GlobalColor.red
    assert (kept.folder.stat().st_mode & 0o077) == 0 and len(list(kept.folder.iterdir())) == 1
    gone = kept.path_of("/nobody/has/it.obj")
    gone.write_bytes(kept.path_of(str(path)).read_bytes())
    kept._hear(shown(scene_window, tmp_path / "b.obj"))
    qtbot.waitUntil(lambda: not gone.exists())
    assert kept.path_of(str(path)).is_file(), "still in the list"
    kept.forget()
    assert not list(kept.folder.iterdir())


def test_built_in_scenes_have_none(kept: RecentPictures, scene_window: MainWindow, qtbot: Any) -> None:
    assert scene_window.loop.last_frame is not None
    kept._hear(scene_window.loop.last_frame)
    assert not kept._timer.isActive()


@pytest.mark.parametrize("size", [(1920, 1080), (300, 900), (64, 64)])
def test_the_middle_of_a_picture_is_kept(size: tuple[int, int]) -> None:
    image = QImage(*size, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.blue)
    image.setPixelColor(size[0] // 2, size[1] // 2, Qt.GlobalColor.white)
    assert small(image).size() == QSize(128, 72)


def test_the_list_shows_them_and_clearing_it_forgets_them(window: MainWindow, tmp_path: Path) -> None:
    pictures, entry = window.recent_pictures, str(tmp_path / "mine.obj")
    pictures._folder = tmp_path / "recent"
    pictures.folder.mkdir()
    image = QImage(128, 72, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.green)
    assert image.save(str(pictures.path_of(entry)))
    window.welcome.show_recent([entry, "/models/other.obj"])
    rows = window.welcome.findChild(QListWidget, "recent")
    assert rows is not None
    seen = [rows.item(row).icon().pixmap(SIZE).toImage().pixelColor(30, 18).getRgb()[:3] for row in range(2)]
    assert seen[0] == (0, 255, 0) and seen[1] != seen[0], "an empty plate where there is none"
    menu = QMenu(window)
    window.fill_recent_menu(menu)
    menu.actions()[-1].trigger()
    assert not list(pictures.folder.iterdir()) and rows.count() == 0


def test_the_page_names_the_machine(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "nvidia_gpus", lambda: [{"name": "NVIDIA H200"}, {"name": "NVIDIA H200"}])
    assert machine_line.machine_sentence() == "2 x NVIDIA H200"
    monkeypatch.setattr(machine, "nvidia_gpus", list)
    assert machine_line.machine_sentence().endswith(f", {machine.cores()} cores")
    owner = QObject()
    line = machine_line.MachineLine(owner)
    with qtbot.waitSignal(line.found) as caught:
        line.look()
    assert caught.args == [machine_line.machine_sentence()]


def test_the_page_offers_lessons(window: MainWindow, qtbot: Any) -> None:
    button = window.welcome.findChild(QPushButton, "lessons")
    assert button is not None and button.isVisible() and button.menu().isEmpty()
    button.menu().aboutToShow.emit()
    titles = [action.text() for action in button.menu().actions()]
    assert len(titles) > 2 and titles[-1] == "Of a file…"
    label = window.welcome.findChild(QLabel, "machine")
    qtbot.waitUntil(lambda: label is not None and label.text() == machine_line.machine_sentence())
