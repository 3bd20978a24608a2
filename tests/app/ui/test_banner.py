"""Messages that stand above the picture."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QProgressBar, QPushButton, QToolButton

from app.ui.banner import Banners, ProgressStrip


def test_a_message_can_be_copied_and_closed(qtbot: Any) -> None:
    banners = Banners()
    qtbot.addWidget(banners)
    banner = banners.show_message("error", "broken.obj: no triangles.", "line 7")
    copy, close = banner.findChild(QPushButton, "copy"), banner.findChild(QToolButton, "close")
    assert copy is not None and close is not None
    copy.click()
    assert QGuiApplication.clipboard().text() == "broken.obj: no triangles.\n\nline 7"
    close.click()
    assert banners.messages() == [] and not banners.isVisible()


def test_a_topic_has_one_message_and_few_stand_at_a_time(qtbot: Any) -> None:
    banners = Banners()
    qtbot.addWidget(banners)
    banners.show_message("warning", "first", topic="a")
    banners.show_message("warning", "second", topic="a")
    assert [banner.sentence for banner in banners.messages()] == ["second"]
    for number in range(10):
        banners.show_message("information", f"message {number}")
    assert [banner.sentence for banner in banners.messages()] == [f"message {number}" for number in range(6, 10)]


def test_progress_can_be_cancelled(qtbot: Any) -> None:
    strip = ProgressStrip()
    qtbot.addWidget(strip)
    strip.show_progress("Opening bunny.obj", 0.25)
    bar, cancel = strip.findChild(QProgressBar), strip.findChild(QPushButton, "cancel")
    assert bar is not None and cancel is not None and bar.value() == 250
    strip.show_progress("Opening bunny.obj", None)
    assert (bar.minimum(), bar.maximum()) == (0, 0)
    with qtbot.waitSignal(strip.cancelled):
        cancel.click()
