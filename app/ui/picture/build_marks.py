"""A step of how a tree came to be, drawn over the picture: the boxes that are made in it, those around them, and the
curve or the pairs."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
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

    def has_content(self) -> bool:
        """A step."""
        return self.step is not None

    def show_step(self, step: BuildStep | None) -> None:
        """Draw it; None: nothing."""
        self.step = step
        self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """What is around first, what is made on top."""
        if self.step is None:
            return
        painter = QPainter(self)
        around, made = (self.edges(boxes[:, :3], boxes[:, 3:]) for boxes in (self.step.around, self.step.made))
        curve = self.lines(self.step.lines)
        for lines, color in ((around, SELECTED), (made, CURRENT), (curve, SELECTED)):
            is_few = len(lines) <= MANY
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_few)
            self.draw(painter, lines, color, width=2.0 if is_few else FINE)
