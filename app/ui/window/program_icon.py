"""The icon of the program's windows: three nested boxes and a ray through them, on a plate of their own, so that they
are seen on dark task bars and on light ones."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap

from raygrove.app.ui.colors import DARK
from raygrove.app.ui.widgets.svg_icons import drawn

SIDES = (16, 24, 32, 48, 64, 128, 256)
"""Pixels that desktops ask for."""
EDGE, ROUND = 1 / 16, 3 / 16
"""Of a side: the margin within the plate, and the radius of its corners."""
DELAY_MS = 300
"""A window is painted before its icon is drawn."""


def program_icon() -> QIcon:
    """See the module."""
    icon = QIcon()
    for side in SIDES:
        icon.addPixmap(_plate(side))
    return icon


def _plate(side: int) -> QPixmap:
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(DARK.panel))
    painter.drawRoundedRect(QRectF(0, 0, side, side), ROUND * side, ROUND * side)
    edge = max(round(EDGE * side), 1)
    painter.drawPixmap(edge, edge, drawn("raygrove", DARK.text, side - 2 * edge))
    painter.end()
    return pixmap
