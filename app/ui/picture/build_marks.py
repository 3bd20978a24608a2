"""A step of how a tree came to be, drawn over the picture: the boxes that are made in it, those around them, and the
curve or the pairs."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from raygrove.app.document.document import Document
from raygrove.app.ui.picture.line_marks import CURRENT, SELECTED, LineMarks
from raygrove.gpu.analysis.build_steps import BuildStep

FINE, MANY = 1.0, 3000
"""The width of lines that are many, which are drawn without smoothing."""


class BuildMarks(LineMarks):
    """See the module."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__("build_marks", document, parent)
        self.step: BuildStep | None = None
        self._drawn: QPixmap | None = None
        self._of: object = None  # what was drawn

    def has_content(self) -> bool:
        """A step."""
        return self.step is not None

    def show_step(self, step: BuildStep | None) -> None:
        """Draw it; None: nothing."""
        self.step, self._drawn = step, None
        self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The step, drawn once for a camera and a size: what moves below has this painted again and again."""
        if self.step is None:
            return
        wanted = (self.camera(), self.size(), self.devicePixelRatioF())
        if self._drawn is None or self._of != wanted:
            self._drawn, self._of = self._draw_step(self.step), wanted
        QPainter(self).drawPixmap(0, 0, self._drawn)

    def _draw_step(self, step: BuildStep) -> QPixmap:
        """What is around first, what is made on top."""
        ratio = self.devicePixelRatioF()
        drawn = QPixmap(self.size() * ratio)
        drawn.setDevicePixelRatio(ratio)
        drawn.fill(Qt.GlobalColor.transparent)
        painter = QPainter(drawn)
        around, made = (self.edges(boxes[:, :3], boxes[:, 3:]) for boxes in (step.around, step.made))
        curve = self.lines(step.lines)
        for lines, color in ((around, SELECTED), (made, CURRENT), (curve, SELECTED)):
            is_few = len(lines) <= MANY
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_few)
            self.draw(painter, lines, color, width=2.0 if is_few else FINE)
        painter.end()
        return drawn
