"""The buttons under a panel's figures."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QApplication, QToolButton, QWidget

from raygrove.app.ui.widgets.panel_bar import PanelBar


def test_titles_are_whole_in_little_room(qtbot: Any) -> None:
    page = QWidget()  # a window would be no narrower than its contents
    qtbot.addWidget(page)
    bar = PanelBar("figures", lambda: ((), ()), str, page)
    page.show()
    whole = bar.sizeHint().width()
    texts = lambda: [button.text() for button in bar.findChildren(QToolButton)]  # noqa: E731
    for _ in range(2):
        for width, wanted in ((whole, ["CSV…", "JSON…"]), (whole - 8, ["CSV", "JSON"]), (whole - 1, ["CSV", "JSON"])):
            bar.resize(width, bar.sizeHint().height())
            QApplication.processEvents()
            assert texts() == ["Pause", "Copy", *wanted], width - whole
            assert all(button.width() >= button.sizeHint().width() for button in bar.findChildren(QToolButton))
