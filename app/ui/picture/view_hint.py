"""A line over the upper part of the picture, below the figures there: that nothing is in view, and how fast a flight
is."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QColor, QFontMetricsF, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from raygrove.app.document.document import Document
from raygrove.app.ui.commands.shortcuts import title_of
from raygrove.app.ui.picture.overlay import Overlay
from raygrove.app.ui.picture.sight import CLIPPED, HIDDEN, NOTHING, Sight
from raygrove.gpu.brief import brief

TOP, SHARE = 54, 8
"""The line's upper edge: that part of the picture's height, and no less than the figures over the picture take."""
HEIGHT = 26
PAD = 10
SPEED_MS = 1500


REMEDIES = {NOTHING: "camera.fit", HIDDEN: "scene.show_all", CLIPPED: "scene.clip"}
"""The command that brings something back into view."""


class ViewHint(Overlay):
    """See the module. It follows the document's camera and the pictures that come; it names the keys that commands have
    in `commands`."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("view_hint", parent)
        self.commands: Mapping[str, QAction] = {}
        self.sight = Sight(document, self)
        self.sight.changed.connect(self.refresh)
        self._speed = ""
        self._size = QSize()
        self._over = QTimer(self, singleShot=True, interval=SPEED_MS)
        self._over.timeout.connect(self._forget_speed)

    @property
    def text(self) -> str:
        """What it says; nothing where there is nothing to say."""
        return self._speed or self._of_sight()

    def _of_sight(self) -> str:
        texts = {
            NOTHING: self.tr("Nothing in view: {key}"),
            HIDDEN: self.tr("All objects are hidden: {key}"),
            CLIPPED: self.tr("The clipping plane takes all that is in view: {key}"),
        }
        found = self.sight.found
        return texts[found].format(key=self._way(REMEDIES[found])) if found in texts else ""

    def _way(self, name: str) -> str:
        """The key of a command; what it is called where it has none."""
        action = self.commands.get(name)
        if action is None:
            return ""
        key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        return key or title_of(action)

    def show_speed(self, speed: float) -> None:
        """A flight goes on, or its speed was changed: say it for a while."""
        self._speed = self.tr("Flying speed {speed} (wheel)").format(speed=brief(speed))
        self._over.start()
        self.refresh()

    def place(self, size: QSize) -> None:
        """In the middle, near the upper edge."""
        self._size = size
        wide = min(size.width(), round(QFontMetricsF(self.font()).horizontalAdvance(self.text)) + 2 * PAD)
        self.setGeometry((size.width() - wide) // 2, max(TOP, size.height() // SHARE), wide, HEIGHT)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay above the pictures of a race that come later."""
        if event.type() == QEvent.Type.ChildAdded and not self.isHidden():
            self.raise_()
        return super().eventFilter(watched, event)

    def has_content(self) -> bool:
        """Whether there is anything to say."""
        return bool(self.text)

    def refresh(self) -> None:
        """Show what there is now, as wide as it is."""
        if self.text:
            self.place(self._size)
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

    def _forget_speed(self) -> None:
        self._speed = ""
        self.refresh()
