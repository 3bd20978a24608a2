"""The frame as one bar: its phases in their order and colours, and a mark where the display wants the next frame."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from raygrove.app.frames.frame_history import OTHER, PARTS
from raygrove.app.ui.colors import phase_color, scheme
from raygrove.app.ui.pipeline.faces import milliseconds
from raygrove.gpu.brief import percent

HEIGHT = 8
GAP = 1.0
FADED = 0.3
"""How much is left of the colours of segments that nothing points at."""

ROOM = 1.25
"""The bar ends at the display's budget times this, or twice, four times, ... as much: so that its scale changes seldom.
"""

SHRINKS_BELOW = 0.8
"""Of half the scale: a scale is left for the finer one only where the frame fits that well."""


class FrameBar(QWidget):
    """See the module."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pipeline.frame")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(HEIGHT)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName(self.tr("Frame by phase"))
        self._parts: dict[str, float] = {}
        self._lit: frozenset[str] = frozenset()
        self._times = 1

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(400, HEIGHT)

    def show_parts(self, parts: dict[str, float]) -> None:
        """Show milliseconds of phases; none: an empty bar."""
        if parts == self._parts:
            return
        self._parts = parts
        self._choose_scale()
        self.setAccessibleDescription(self.text())
        self.update()

    def light(self, phases: Collection[str]) -> None:
        """Let these phases stand out; none: all alike."""
        lit = frozenset(phases)
        if lit != self._lit:
            self._lit = lit
            self.update()

    @property
    def lit(self) -> frozenset[str]:
        """The phases that stand out."""
        return self._lit

    def budget(self) -> float:
        """Milliseconds from one refresh of this screen to the next."""
        rate = self.screen().refreshRate()
        return 1000.0 / rate if rate > 0.0 else 1000.0 / 60.0

    def end(self) -> float:
        """Milliseconds at the right end."""
        return self.budget() * ROOM * self._times

    def text(self) -> str:
        """What is shown, in words."""
        shown = [f"{name} {milliseconds(self._parts[name])}" for name in PARTS if self._parts.get(name, 0.0) > 0.0]
        return ", ".join(shown)

    def segments(self) -> list[tuple[str, QRectF]]:
        """Each phase that takes time, and where it is drawn."""
        found, left, scale = [], 0.0, self.width() / self.end()
        for name in PARTS:
            width = self._parts.get(name, 0.0) * scale
            if width <= 0.0:
                continue
            seen = QRectF(left, 0.0, max(min(width, self.width() - left) - GAP, 0.5), self.height())
            found.append((name, seen))
            left += width
        return found

    def _choose_scale(self) -> None:
        whole = sum(self._parts.values())
        while whole > self.end():
            self._times *= 2
        while self._times > 1 and whole < SHRINKS_BELOW * self.end() / 2.0:
            self._times //= 2

    def event(self, event: QEvent) -> bool:
        """A tool tip names the phase under the pointer."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            for name, place in self.segments():
                if place.contains(event.pos().toPointF()):
                    share = self._parts[name] / max(sum(self._parts.values()), 1e-9)
                    QToolTip.showText(
                        event.globalPos(), f"{name}: {milliseconds(self._parts[name])}, {percent(share)}", self
                    )
                    return True
            QToolTip.showText(event.globalPos(), self._said_of_budget(), self)
            return True
        return super().event(event)

    def _said_of_budget(self) -> str:
        return self.tr("The display shows a new frame every {time}: the mark.").format(time=milliseconds(self.budget()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Segments, then the mark."""
        painter, colors = QPainter(self), scheme()
        painter.fillRect(self.rect(), QColor(colors.field))
        for name, place in self.segments():
            is_faded = bool(self._lit) and name not in self._lit
            painter.setOpacity(FADED if is_faded else 1.0)
            painter.fillRect(place, phase_color(name) if name != OTHER else QColor(colors.panel))
            if name == OTHER:
                painter.fillRect(place, QBrush(phase_color(OTHER), Qt.BrushStyle.BDiagPattern))
        painter.setOpacity(1.0)
        x = self.width() * self.budget() / self.end()
        painter.setPen(QPen(QColor(colors.panel), 4.0))
        painter.drawLine(round(x), 0, round(x), self.height())
        painter.setPen(QPen(QColor(colors.text), 2.0))
        painter.drawLine(round(x), 0, round(x), self.height())
