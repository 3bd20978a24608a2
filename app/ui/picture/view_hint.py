"""A line over the upper edge of the picture: that nothing is in view, and how fast a flight is."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from raygrove.app.camera.in_view import sees_box
from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.ui.picture.overlay import Overlay
from raygrove.gpu.brief import brief

TOP = 12
HEIGHT = 26
PAD = 10
SPEED_MS = 1500


class ViewHint(Overlay):
    """See the module. It follows the document's camera; `fit_key` is the key that shows all of the scene."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("view_hint", parent)
        self._document, self.fit_key = document, "Shift+F"
        self._speed = self._empty = ""
        self._width = 0
        self._over = QTimer(self, singleShot=True, interval=SPEED_MS)
        self._over.timeout.connect(self._forget_speed)
        self._forget = document.observe(self._changed)
        document.on_scene.append(lambda scene: self._look())

    @property
    def text(self) -> str:
        """What it says; nothing where there is nothing to say."""
        return self._speed or self._empty

    def show_speed(self, speed: float) -> None:
        """A flight goes on, or its speed was changed: say it for a while."""
        self._speed = self.tr("Flying speed {speed} (wheel)").format(speed=brief(speed))
        self._over.start()
        self.refresh()

    def place(self, size: QSize) -> None:
        """In the middle of the upper edge."""
        self._width = size.width()
        wide = min(self._width, round(QFontMetricsF(self.font()).horizontalAdvance(self.text)) + 2 * PAD)
        self.setGeometry((self._width - wide) // 2, TOP, wide, HEIGHT)

    def has_content(self) -> bool:
        """Whether there is anything to say."""
        return bool(self.text)

    def refresh(self) -> None:
        """Show what there is now, as wide as it is."""
        if self.text:
            self.place(QSize(self._width, 0))
            self.raise_()
        super().refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A dark plate with the text."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(20, 20, 24, 215))
        painter.drawRoundedRect(self.rect(), 4, 4)
        painter.setPen(QColor(235, 235, 235))
        metrics = QFontMetricsF(painter.font())
        painter.drawText(QPointF(PAD, (HEIGHT + metrics.ascent() - metrics.descent()) / 2.0), self.text)

    def _changed(self, before: State, after: State) -> None:
        if (before.cameras, before.views) != (after.cameras, after.views):
            self._look()

    def _look(self) -> None:
        scene, parent = self._document.scene, self.parentWidget()
        empty = ""
        if scene is not None and scene.primitive_count and parent is not None:
            aspect = parent.width() / max(parent.height(), 1)
            if not sees_box(self._document.state.camera_of(0), scene.lower, scene.upper, aspect):
                empty = self.tr("Nothing in view: {key}").format(key=self.fit_key)
        if empty != self._empty:
            self._empty = empty
            self.refresh()

    def _forget_speed(self) -> None:
        self._speed = ""
        self.refresh()
