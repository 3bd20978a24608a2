"""A message, and the strip of what runs."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QToolButton, QVBoxLayout, QWidget

from raygrove.app.ui.messages.banner import Banner, ProgressStrip
from tests.app.stand_ins import take_places


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


def test_a_narrow_message_has_its_buttons_below_its_sentence(qtbot: Any) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    sentence = (
        "The structure sah_events would need more than 8 references per primitive for this scene, and is not "
        "built. Raise max_leaf_size."
    )
    banner = Banner("error", sentence, "line 7")
    column.addWidget(banner)
    column.addStretch(1)
    page.show()
    for name in ("options", "play_on"):
        banner.add_button(name, name, lambda: None)
    copy, close = banner.findChild(QPushButton, "copy"), banner.findChild(QToolButton, "close")
    (text,) = [label for label in banner.findChildren(QLabel) if label.text() == sentence]
    for width, is_below in ((1200, False), (460, True), (1200, False), (460, True)):
        page.resize(width, 400)
        qtbot.waitUntil(lambda width=width: page.width() == width)
        take_places()
        assert (copy.mapTo(banner, copy.rect().topLeft()).y() >= text.geometry().bottom()) == is_below
        assert text.width() >= 250 and text.heightForWidth(text.width()) <= text.height() + 1, "it can be read"
        assert close.geometry().top() < text.geometry().bottom(), "it closes at the corner"
