"""Keys by which one moves in lists, sliders and tabs: while one of these has the focus, they are not the timeline's.
Nor is Space where Tab led to a button or a check box; after a click on one, which leaves the focus there, it plays."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QComboBox,
    QListView,
    QTabBar,
    QWidget,
)

ENDS = (Qt.Key.Key_Home, Qt.Key.Key_End)
SIDES = (Qt.Key.Key_Left, Qt.Key.Key_Right)
MOVING: tuple[tuple[type[QWidget], tuple[Qt.Key, ...]], ...] = (
    (QListView, ENDS),
    (QComboBox, ENDS),
    (QTabBar, SIDES),
    (QAbstractItemView, (*ENDS, *SIDES)),
    (QAbstractSlider, (*ENDS, *SIDES)),
)
"""The first kind that fits counts: in a list, Left and Right do nothing; in a tree they close and open branches."""


def is_of(widget: QWidget | None, event: QEvent) -> bool:
    """Whether a key asks for a command that would take it from the widget that has the focus."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
        return False
    if event.key() == Qt.Key.Key_Space:
        return _is_pressed_by_space(widget)
    for kind, keys in MOVING:
        if isinstance(widget, kind):
            return event.key() in keys
    return False


def _is_pressed_by_space(widget: QWidget | None) -> bool:
    """Whether the keyboard led to what Space presses, opens or marks."""
    if widget is None or not widget.window().testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange):
        return False
    if isinstance(widget, QAbstractItemView):
        return bool(widget.currentIndex().flags() & Qt.ItemFlag.ItemIsUserCheckable)
    return isinstance(widget, (QAbstractButton, QComboBox))
