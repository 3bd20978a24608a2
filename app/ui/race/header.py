"""What stands over a contestant's picture: its letter and name, its rank, and what it costs as a bar of phases on the
scale of all. A click gives it to the pipeline; a double click lets its spelling be typed."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from raygrove.app.ui.colors import phase_color, scheme
from raygrove.app.ui.plain_text import tip

HEIGHT = 44
BAR = 10
MARGIN = 6
GAP = 1.0
INK = 3
"""Pixels of the bar at the left of the one that is edited."""
BETWEEN = 10
"""Pixels between name and policy."""
FIGURE = 64
"""Pixels for the milliseconds at the bar's right."""


class RaceHeader(QWidget):
    """See the module. `chosen`: the pipeline is to be this contestant's, or no longer; `spelt` carries what was typed
    for it, `removed` says that it is to leave."""

    chosen = Signal()
    spelt = Signal(str)
    removed = Signal()

    def __init__(self, letter: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"race.header.{letter}")
        self.letter = letter
        self.setFixedHeight(HEIGHT)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._title = self._policy = self._rank = self._figure = ""
        self._parts: dict[str, float] = {}
        self._end = 1.0
        self.is_edited = False
        self.leave = QToolButton(self)
        self.leave.setObjectName("leave")
        self.leave.setText("×")
        self.leave.setAutoRaise(True)
        self.leave.setToolTip(self.tr("Take {letter} out of the race").format(letter=letter))
        self.leave.clicked.connect(self.removed)
        self.line = _Line(self)
        self.line.setObjectName("spelling")
        self.line.setAccessibleName(self.tr("Configuration {letter}").format(letter=letter))
        self.line.hide()
        self.line.returnPressed.connect(lambda: self.spelt.emit(self.line.text().strip()))
        self.line.editingFinished.connect(self._finish)

    def name(self, title: str, policy: str, spelling: str, *, may_leave: bool) -> None:
        """Who this is."""
        self._title, self._policy = title, policy
        if self.line.isHidden():  # figures come while somebody types
            self.line.setText(spelling)
        self.leave.setVisible(may_leave)
        self.setToolTip(
            tip(
                self.tr("{spelling}. A click lets the row above change it, a double click type it.").format(
                    spelling=spelling
                )
            )
        )
        self.setAccessibleName(f"{self.letter} {title}, {policy}")
        self.update()

    def show_costs(self, parts: dict[str, float], end: float, figure: str, rank: str) -> None:
        """Milliseconds by phase on a bar that ends at `end`, and what stands beside it."""
        self._parts, self._end, self._figure, self._rank = parts, max(end, 1e-9), figure, rank
        self.setAccessibleDescription(f"{figure}, {rank}" if rank else figure)
        self.update()

    def set_edited(self, is_edited: bool) -> None:
        """Whether the pipeline is this contestant's."""
        self.is_edited = is_edited
        self.update()

    def edit(self) -> None:
        """Let the spelling be typed."""
        self.line.setGeometry(MARGIN + 20, 1, max(self.width() - 2 * MARGIN - 46, 60), HEIGHT - BAR - 8)
        self.line.show()
        self.line.setFocus()
        self.line.selectAll()

    def _finish(self) -> None:
        if not self.line.hasFocus():
            self.line.hide()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Give it to the pipeline, or take it back."""
        self.chosen.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Let it be typed, and be the pipeline's."""
        if not self.is_edited:  # the first click took it back
            self.chosen.emit()
        self.edit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return and Space choose, F2 lets it be typed, Esc leaves that."""
        if event.key() == Qt.Key.Key_Escape and self.line.isVisible():
            self.line.hide()
            self.setFocus()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and not self.line.isVisible():
            self.chosen.emit()
        elif event.key() == Qt.Key.Key_F2:
            self.edit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the button at the right."""
        self.leave.setGeometry(self.width() - 24, 4, 20, 20)

    def segments(self) -> list[tuple[str, QRectF]]:
        """Each phase that takes time, and where it is drawn."""
        whole = max(self.width() - 2 * MARGIN - FIGURE, 10)
        found, left, top = [], float(MARGIN), float(HEIGHT - BAR - 5)
        for name, ms in self._parts.items():
            width = min(ms / self._end * whole, MARGIN + whole - left)
            if width > 0.0:
                found.append((name, QRectF(left, top, max(width - GAP, 0.5), BAR)))
                left += width
        return found

    @property
    def leaves_scale(self) -> bool:
        """Whether the bar is longer than there is room."""
        return sum(self._parts.values()) > self._end

    def paintEvent(self, event: QPaintEvent) -> None:
        """Two lines: who, and the bar."""
        painter, colors = QPainter(self), scheme()
        painter.fillRect(self.rect(), QColor(colors.selected if self.is_edited else colors.panel))
        if self.is_edited:
            painter.fillRect(QRectF(0, 0, INK, self.height()), QColor(colors.text))
        line = QRectF(MARGIN, 2, self.width() - 2 * MARGIN, HEIGHT - BAR - 8)
        bold, (title, policy) = self._bold(), self.texts()
        left, middle = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignVCenter
        painter.setPen(QColor(colors.text))
        painter.setFont(bold)
        painter.drawText(line, left | middle, self.letter)
        painter.drawText(line.adjusted(0, 0, -24, 0), Qt.AlignmentFlag.AlignRight | middle, self._rank)
        painter.drawText(line.adjusted(20, 0, 0, 0), left | middle, title)
        behind = 20 + painter.fontMetrics().horizontalAdvance(title) + BETWEEN
        painter.setFont(self.font())
        painter.setPen(QColor(colors.secondary))
        painter.drawText(line.adjusted(behind, 0, 0, 0), left | middle, policy)
        self._paint_bar(painter)
        painter.end()

    def texts(self) -> tuple[str, str]:
        """What is seen of its name and its policy: the policy gives way last, as contestants may differ in it alone,
        and the name in its middle, as its end is the layout."""
        bold, plain = QFontMetrics(self._bold()), self.fontMetrics()
        room = self.width() - 2 * MARGIN - 44 - bold.horizontalAdvance(self._rank) - 8
        of_policy = min(plain.horizontalAdvance(self._policy) + 2, room // 2)  # 2: advances are rounded
        policy = plain.elidedText(self._policy, Qt.TextElideMode.ElideRight, of_policy)
        title = bold.elidedText(self._title, Qt.TextElideMode.ElideMiddle, room - of_policy - BETWEEN)
        return title, policy

    def _bold(self) -> QFont:
        bold = QFont(self.font())
        bold.setBold(True)
        return bold

    def _paint_bar(self, painter: QPainter) -> None:
        colors, top = scheme(), float(HEIGHT - BAR - 5)
        whole = max(self.width() - 2 * MARGIN - FIGURE, 10)
        painter.fillRect(QRectF(MARGIN, top, whole, BAR), QColor(colors.field))
        for name, place in self.segments():
            painter.fillRect(place, phase_color(name))
        if self.leaves_scale:
            right, middle = MARGIN + whole, top + BAR / 2
            painter.setBrush(QColor(colors.text))
            painter.setPen(Qt.PenStyle.NoPen)
            arrow = QRectF(right - BAR, top, BAR, BAR)
            painter.drawPolygon(QPolygonF([arrow.topLeft(), arrow.bottomLeft(), QRectF(right, middle, 0, 0).topLeft()]))
        painter.setPen(QColor(colors.text))
        place = QRectF(MARGIN + whole, top - 4, FIGURE, BAR + 8)
        painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._figure)


class _Line(QLineEdit):
    """A line whose Return is not its parent's, too."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return ends here."""
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
