"""A step of how a tree came to be, drawn over the picture: the boxes that are made in it, those around them, and the
curve or the pairs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from raygrove.app.document.document import Document
from raygrove.app.ui.picture.line_marks import CURRENT, SELECTED, LineMarks, pens

if TYPE_CHECKING:
    from raygrove.gpu.analysis.build_steps import BuildStep

FINE, MANY = 1.0, 3000
"""The width of lines that are many, which are drawn without smoothing."""
LINES_AT_ONCE, TURN_S = 1000, 0.01
"""A curve has 20,000 lines: they are drawn so many at once, for so many seconds, before the window does what waits."""


class BuildMarks(LineMarks):
    """See the module."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("build_marks", document, parent)
        self.step: BuildStep | None = None
        self._drawn: QPixmap | None = None
        self._of: object = None  # what was drawn
        self._left: Iterator[None] = iter(())
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._go_on)

    def has_content(self) -> bool:
        """A step."""
        return self.step is not None

    def show_step(self, step: BuildStep | None) -> None:
        """Draw it; None: nothing."""
        self.step, self._drawn, self._left = step, None, iter(())
        self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The step, drawn once for a camera and a size: what moves below has this painted again and again. Many lines
        are there by and by."""
        if self.step is None:
            return
        wanted = (self.camera(), self.size(), self.devicePixelRatioF())
        if self._drawn is None or self._of != wanted:
            ratio = self.devicePixelRatioF()
            self._drawn, self._of = QPixmap(self.size() * ratio), wanted
            self._drawn.setDevicePixelRatio(ratio)
            self._drawn.fill(Qt.GlobalColor.transparent)
            self._left = self._strokes(self._drawn, self.step)
            self._draw_some()
        QPainter(self).drawPixmap(0, 0, self._drawn)

    def _draw_some(self) -> None:
        end = time.perf_counter() + TURN_S
        for _ in self._left:
            if time.perf_counter() >= end:
                self._timer.start()
                break

    def _go_on(self) -> None:
        self._draw_some()
        self.update()

    def _strokes(self, drawn: QPixmap, step: BuildStep) -> Iterator[None]:
        """Draw what is around first, what is made on top; a few lines from one to the next."""
        around, made = (self.edges(boxes[:, :3], boxes[:, 3:]) for boxes in (step.around, step.made))
        curve = self.lines(step.lines)
        for lines, color in ((around, SELECTED), (made, CURRENT), (curve, SELECTED)):
            is_few = len(lines) <= MANY
            for pen in pens(color, width=2.0 if is_few else FINE):
                for first in range(0, len(lines), LINES_AT_ONCE):
                    painter = QPainter(drawn)
                    painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_few)
                    painter.setPen(pen)
                    painter.drawLines([QLineF(*ends) for ends in lines[first : first + LINES_AT_ONCE].tolist()])
                    painter.end()
                    yield
