"""Keys that move in a slider, a tree, a table or a list do so, and leave the playing head where it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QComboBox,
    QListWidget,
    QSlider,
    QTableWidget,
    QTabWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from raygrove.app.ui.window.main_window import MainWindow
from tests.app.stand_ins import take_places

Key = Qt.Key


def slider(parent: QWidget) -> tuple[QWidget, Callable[[], object]]:
    made = QSlider(Qt.Orientation.Horizontal, parent)
    return made, made.value


def tree(parent: QWidget) -> tuple[QWidget, Callable[[], object]]:
    made = QTreeWidget(parent)
    root = QTreeWidgetItem(made, ["root"])
    QTreeWidgetItem(root, ["leaf"])
    made.setCurrentItem(root)
    return made, lambda: (root.isExpanded(), made.currentItem().text(0))


def table(parent: QWidget) -> tuple[QWidget, Callable[[], object]]:
    made = QTableWidget(2, 2, parent)
    made.setCurrentCell(0, 0)
    return made, made.currentColumn


def rows(parent: QWidget) -> tuple[QWidget, Callable[[], object]]:
    made = QListWidget(parent)
    made.addItems(["one", "two"])
    made.setCurrentRow(0)
    return made, made.currentRow


def box(parent: QWidget) -> tuple[QWidget, Callable[[], object]]:
    made = QComboBox(parent)
    made.addItems(["one", "two"])
    return made, made.currentIndex


def tabs(parent: QWidget) -> tuple[QWidget, Callable[[], object]]:
    made = QTabWidget(parent)
    for title in ("one", "two"):
        made.addTab(QWidget(), title)
    return made.tabBar(), made.currentIndex


@pytest.mark.parametrize(
    ("make", "there", "back"),
    [
        (slider, Key.Key_Right, Key.Key_Left), (slider, Key.Key_End, Key.Key_Home), (tree, Key.Key_Right, Key.Key_Left),
        (table, Key.Key_Right, Key.Key_Left), (rows, Key.Key_End, Key.Key_Home), (box, Key.Key_End, Key.Key_Home),
        (tabs, Key.Key_Right, Key.Key_Left),
    ],
)  # fmt: skip
def test_what_has_the_focus_moves(
    scene_window: MainWindow,
    make: Callable[[QWidget], tuple[QWidget, Callable[[], object]]],
    there: Key,
    back: Key,
) -> None:
    widget, look = make(scene_window.centralWidget())
    (widget.parentWidget() if isinstance(widget.parentWidget(), QTabWidget) else widget).show()
    scene_window.activateWindow()
    widget.setFocus()
    take_places()
    first, head = look(), scene_window.document.state.timeline
    QTest.keyClick(widget, there)
    assert look() != first and scene_window.document.state.timeline == head
    QTest.keyClick(widget, back)
    assert look() == first and scene_window.document.state.timeline == head
    QTest.keyClick(widget, Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert scene_window.document.state.timeline != head, "with Shift they are the timeline's"


def test_the_picture_leaves_them_to_the_timeline(scene_window: MainWindow) -> None:
    scene_window.view.setFocus()
    head = scene_window.document.state.timeline
    QTest.keyClick(scene_window.view, Key.Key_Right)
    assert scene_window.document.state.timeline != head
