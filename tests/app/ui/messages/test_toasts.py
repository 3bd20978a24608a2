"""Notices lie over the lower right of the picture, go by and by, and can be read again; the picture stays as it is."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QToolButton, QVBoxLayout, QWidget

from raygrove.app.ui.messages import toasts as module
from raygrove.app.ui.messages.toasts import MARGIN, WIDE, NoticeCount, Toasts
from raygrove.app.ui.window.main_window import MainWindow


@pytest.fixture
def page(qtbot: Any) -> Iterator[tuple[QWidget, QWidget, Toasts]]:
    """A page, a picture that fills it, and the notices over it."""
    whole, picture, toasts = QWidget(), QWidget(), Toasts()
    qtbot.addWidget(whole)
    column = QVBoxLayout(whole)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(picture)
    toasts.lie_on(picture)
    whole.resize(900, 500)
    whole.show()
    qtbot.waitUntil(lambda: picture.width() == 900)
    QTest.mouseMove(picture, QPoint(1, 1))  # a test before may have left it where notices come, which then stay
    yield whole, picture, toasts


def test_a_message_can_be_copied_and_closed(qtbot: Any) -> None:
    toasts = Toasts()
    qtbot.addWidget(toasts)
    banner = toasts.show_message("error", "broken.obj: no triangles.", "line 7")
    copy, close = banner.findChild(QPushButton, "copy"), banner.findChild(QToolButton, "close")
    assert copy is not None and close is not None
    copy.click()
    assert QGuiApplication.clipboard().text() == "broken.obj: no triangles.\n\nline 7"
    close.click()
    assert toasts.messages() == [] and not toasts.isVisible()


def test_a_topic_has_one_message_and_few_stand_at_a_time(qtbot: Any) -> None:
    toasts = Toasts()
    qtbot.addWidget(toasts)
    toasts.show_message("warning", "first", topic="a")
    toasts.show_message("warning", "second", topic="a")
    assert [banner.sentence for banner in toasts.messages()] == ["second"]
    for number in range(10):
        toasts.show_message("information", f"message {number}")
    assert [banner.sentence for banner in toasts.messages()] == [f"message {number}" for number in range(6, 10)]


@pytest.mark.parametrize("size", [(900, 500), (320, 240)])
def test_it_lies_over_the_lower_right_and_moves_nothing(
    page: tuple[QWidget, QWidget, Toasts], size: tuple[int, int], qtbot: Any
) -> None:
    whole, picture, toasts = page
    whole.resize(*size)
    qtbot.waitUntil(lambda: picture.width() == size[0])
    before = picture.geometry()
    banner = toasts.show_message("warning", "A sentence that is long enough to need two lines or more. " * 2, "line 7")
    qtbot.waitUntil(banner.isVisible)
    qtbot.wait(20)
    assert picture.geometry() == before
    edge = toasts.geometry().bottomRight()
    assert before.bottomRight() - edge == QPoint(MARGIN, MARGIN)
    assert toasts.width() == min(WIDE, size[0] - 2 * MARGIN) and toasts.height() >= banner.sizeHint().height() // 2
    low = toasts.height()
    button = banner.findChild(QPushButton, "details")
    assert button is not None
    button.click()
    qtbot.waitUntil(lambda: toasts.height() > low and toasts.geometry().bottomRight() == edge)


def test_what_is_no_error_goes_and_is_counted(
    page: tuple[QWidget, QWidget, Toasts], monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    monkeypatch.setattr(module, "SHOWN_MS", 150)
    whole, _, toasts = page
    count = NoticeCount(toasts, whole)
    assert count.isHidden()
    toasts.show_message("information", "It goes.")
    toasts.show_message("error", "It stays.")
    assert count.text() == "2 notices" and not count.isHidden()
    qtbot.waitUntil(lambda: not toasts.messages()[0].isVisible())
    qtbot.wait(200)
    assert toasts.messages()[1].isVisible() and len(toasts.messages()) == 2
    count.click()
    assert all(banner.isVisible() for banner in toasts.messages())
    qtbot.wait(300)
    assert toasts.messages()[0].isVisible(), "the list stays until it is put away"
    QTest.keyClick(toasts, Qt.Key.Key_Escape)
    assert [banner.isVisible() for banner in toasts.messages()] == [False, True]
    toasts.clear("It stays.")
    assert count.text() == "1 notice" and not toasts.isVisible()
    toasts.clear("It goes.")
    assert count.isHidden()


def test_what_is_read_does_not_go(
    page: tuple[QWidget, QWidget, Toasts], monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    monkeypatch.setattr(module, "SHOWN_MS", 150)
    _, _, toasts = page
    banner = toasts.show_message("information", "Someone reads this.")
    toasts.enterEvent(None)  # type: ignore[arg-type]
    qtbot.wait(300)
    assert banner.isVisible()
    toasts.leaveEvent(None)  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: not banner.isVisible())


def test_a_notice_leaves_the_picture_of_the_window_as_large_as_it_was(scene_window: MainWindow, qtbot: Any) -> None:
    size = scene_window.view.size()
    scene_window.session.notices.show("warning", "Something to know.")
    qtbot.waitUntil(scene_window.toasts.isVisible)
    qtbot.wait(50)
    assert scene_window.view.size() == size
    area, picture = scene_window.toasts.geometry(), scene_window.stack.geometry()
    assert picture.contains(area) and area.center().y() > picture.center().y()


def test_esc_puts_the_list_away_and_is_no_command(scene_window: MainWindow, qtbot: Any) -> None:
    scene_window.document.change("selection", dataclasses.replace(scene_window.document.state.selection, object=0))
    scene_window.session.notices.show("information", "Something to know.")
    count = scene_window.statusBar().findChild(QToolButton, "notice_count")
    assert count is not None
    count.click()
    close = scene_window.toasts.messages()[0].findChild(QToolButton, "close")
    assert close is not None and close.hasFocus()
    QTest.keyClick(close, Qt.Key.Key_Escape)
    assert not scene_window.toasts.isVisible() and scene_window.document.state.selection.object == 0


def test_the_status_bar_says_what_draws(scene_window: MainWindow) -> None:
    field = scene_window.statusBar().findChild(QToolButton, "device")
    assert field is not None and field.text().startswith("Rendering on the CPU: ")
    assert not any("Rendering on" in banner.sentence for banner in scene_window.toasts.messages())
    QGuiApplication.clipboard().setText("before")
    assert "copies a report" in field.toolTip()
