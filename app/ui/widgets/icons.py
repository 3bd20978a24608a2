"""Icons drawn in the colour of the theme's text, so that they read on light and dark alike."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPalette, QPixmap, QPolygonF

_SIDE = 48


_PIECES: dict[str, tuple[tuple[str, float, float], ...]] = {
    "play": (("triangle", 13, 39),),
    "reverse": (("triangle", 35, 9),),
    "pause": (("bar", 12, 8), ("bar", 28, 8)),
    "first": (("bar", 10, 5), ("triangle", 38, 17)),
    "last": (("bar", 33, 5), ("triangle", 10, 31)),
    "step_back": (("bar", 34, 4), ("triangle", 30, 12)),
    "step": (("bar", 10, 4), ("triangle", 18, 36)),
    "previous_key": (("triangle", 22, 6), ("diamond", 26, 16)),
    "next_key": (("diamond", 6, 16), ("triangle", 26, 42)),
}
"""Each icon's pieces in a square of 48: a triangle from x to x, a bar or a diamond at x with its width."""


def _draw(painter: QPainter, piece: str, x: float, extent: float) -> None:
    if piece == "bar":
        painter.drawRect(QRectF(x, 10, extent, 28))
    elif piece == "triangle":
        painter.drawPolygon(QPolygonF([QPointF(x, 10), QPointF(extent, 24), QPointF(x, 38)]))
    else:
        half = extent / 2.0
        painter.drawPolygon(
            QPolygonF([QPointF(x, 24), QPointF(x + half, 15), QPointF(x + extent, 24), QPointF(x + half, 33)])
        )


def icon(name: str) -> QIcon:
    """The icon of that name in the palette's text colour; its disabled form is dimmed."""
    result = QIcon()
    for mode, group in (
        (QIcon.Mode.Normal, QPalette.ColorGroup.Active),
        (QIcon.Mode.Disabled, QPalette.ColorGroup.Disabled),
    ):
        pixmap = QPixmap(_SIDE, _SIDE)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QGuiApplication.palette().color(group, QPalette.ColorRole.WindowText))
        for piece in _PIECES[name]:
            _draw(painter, *piece)
        painter.end()
        result.addPixmap(pixmap, mode)
    return result
