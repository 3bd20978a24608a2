"""A row of segments: a few values side by side of which one counts, as buttons that arrow keys go through."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QWidget

from raygrove.app.ui.colors import scheme
from raygrove.app.ui.pipeline.chip import RADIUS, SMALL, font_of
from raygrove.app.ui.pipeline.offers import Offer, Row
from raygrove.app.ui.plain_text import tip

HEIGHT = 28
MARGIN = 8
LEAST = 56


class Segment(QAbstractButton):
    """One value."""

    def __init__(self, offer: Offer, parent: SegmentRow) -> None:
        super().__init__(parent)
        self.offer, self._row = offer, parent
        self.setObjectName(f"{parent.row.name}.{offer.value}")
        self.setText(offer.title)
        self.setCheckable(True)
        self.setAutoExclusive(False)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setEnabled(not offer.refusal)
        self.setToolTip(tip(offer.refusal or offer.sentence or offer.title))
        self.setAccessibleName(f"{parent.row.title}: {offer.title}")
        self.setAccessibleDescription(offer.refusal or offer.sentence)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Room for its text."""
        return QSize(QFontMetrics(font_of(SMALL)).horizontalAdvance(self.text()) + 2 * MARGIN, self._row.height_of_all)

    def minimumSizeHint(self) -> QSize:
        """A few letters: where there is too little room for all of a row, texts end in dots."""
        return QSize(min(self.sizeHint().width(), LEAST), self._row.height_of_all)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right choose the value beside."""
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._row.step(self, -1 if event.key() == Qt.Key.Key_Left else 1)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Filled where it counts, a ring where it has the keyboard."""
        painter, colors = QPainter(self), scheme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        is_on = self.isChecked()
        fill = colors.selected if is_on else colors.field if self.underMouse() and self.isEnabled() else colors.panel
        ring = colors.text if self.hasFocus() else colors.border if is_on else fill
        painter.setPen(QPen(QColor(ring), 2.0 if self.hasFocus() else 1.0))
        painter.setBrush(QColor(fill))
        painter.drawRoundedRect(area, RADIUS, RADIUS)
        painter.setFont(font_of(SMALL))
        painter.setPen(QColor(colors.text if self.isEnabled() else colors.disabled))
        room = self.width() - MARGIN
        words = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, words)


class SegmentRow(QWidget):
    """See the module."""

    def __init__(self, row: Row, parent: QWidget | None = None, height: int = HEIGHT) -> None:
        super().__init__(parent)
        self.row, self.height_of_all = row, height
        self.setObjectName(row.name)
        self.setAccessibleName(row.title)
        self._offers: Sequence[Offer] = ()
        self.segments: list[Segment] = []
        self._line = QHBoxLayout(self)
        self._line.setContentsMargins(0, 0, 0, 0)
        self._line.setSpacing(2)
        self._line.addStretch(1)
        self.refresh()

    def refresh(self) -> None:
        """Show what can be chosen now, and what counts."""
        offers = list(self.row.offers())
        if offers != self._offers:
            self._make(offers)
        current = self.row.current()
        for segment in self.segments:
            segment.setChecked(segment.offer.value == current)
            stops = Qt.FocusPolicy.StrongFocus if segment.isChecked() else Qt.FocusPolicy.ClickFocus
            segment.setFocusPolicy(stops)  # Tab goes from row to row

    def step(self, segment: Segment, by: int) -> None:
        """Choose the next value that can be chosen."""
        place = self.segments.index(segment) + by
        while 0 <= place < len(self.segments) and not self.segments[place].isEnabled():
            place += by
        if 0 <= place < len(self.segments):
            self._focus(self.segments[place].offer.value)
            self._choose(self.segments[place].offer.value)

    def _make(self, offers: Sequence[Offer]) -> None:
        focused = next((segment.offer.value for segment in self.segments if segment.hasFocus()), None)
        for segment in self.segments:
            segment.setParent(None)
            segment.deleteLater()
        self._offers = offers
        self.segments = [Segment(offer, self) for offer in offers]
        for place, segment in enumerate(self.segments):
            self._line.insertWidget(place, segment)
            segment.clicked.connect(lambda checked=False, value=segment.offer.value: self._choose(value))
        if focused is not None:
            self._focus(focused)

    def _focus(self, value: str) -> None:
        for segment in self.segments:
            if segment.offer.value == value:
                segment.setFocus(Qt.FocusReason.TabFocusReason)

    def _choose(self, value: str) -> None:
        self.row.choose(value)
        self.refresh()
