"""A line of figures over the picture's upper left corner: frames per second, the time of a frame, the structure. The
window draws it; pictures that are saved or exported have none."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from raygrove.app.document.document import Document
from raygrove.app.document.state import State
from raygrove.app.frames.frame_history import FrameFigures
from raygrove.app.ui.panels.stats_row import milliseconds
from raygrove.app.ui.panels.stats_table import table_font
from raygrove.app.ui.panels.structure_rows import structure_title
from raygrove.app.ui.picture.overlay import Overlay
from raygrove.app.ui.session.figures import Figures

MARGIN, PADDING = 10, 8
SIZES = (22, 16, 13, 11)
"""Pixels of the text: the largest that leaves the line in the picture."""

GAP = "   "
GROUND, INK = QColor(20, 20, 24, 190), QColor(235, 238, 241)
"""As the legend has them: they lie on pictures of any colour, in either theme."""


class HeadsUp(Overlay):
    """See the module. Hears of frames from `figures`; shown while `display.heads_up` is on."""

    def __init__(self, document: Document, figures: Figures, parent: QWidget | None = None) -> None:
        super().__init__("heads_up", parent)
        self.text = ""
        self._figures, self._drawn = figures, QPixmap()
        self._room = self._covered = 0
        self._font = self.font()
        self._is_on = document.state.settings.display.heads_up
        document.observe(self._changed)
        figures.told.connect(self._hear)

    def place(self, size: QSize) -> None:
        """The upper left corner."""
        self._room = size.width() - 2 * MARGIN
        self.move(MARGIN, MARGIN + self._covered)
        self._fit()

    def keep_below(self, pixels: int) -> None:
        """So many pixels of the picture's upper edge are covered."""
        self._covered = pixels
        self.move(MARGIN, MARGIN + pixels)

    def has_content(self) -> bool:
        """Whether it is wanted, and there are figures."""
        return self._is_on and bool(self.text)

    def show_latest(self) -> None:
        """Say what the figures are now."""
        figures = self._figures.latest()
        text = line_of(figures, is_pinned=self._figures.pinned is not None) if figures is not None else ""
        if text != self.text:
            self.text = text
            self.setAccessibleName(text)
            self._fit()
            self.refresh()
            self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Copy the line: it is painted over with each picture below it, and drawn only where it says something else."""
        ratio = self.devicePixelRatioF()
        if self._drawn.isNull() or self._drawn.devicePixelRatio() != ratio:
            self._drawn = QPixmap(self.size() * ratio)
            self._drawn.setDevicePixelRatio(ratio)
            self._drawn.fill(Qt.GlobalColor.transparent)
            self._draw(self._drawn)
        QPainter(self).drawPixmap(0, 0, self._drawn)

    def changeEvent(self, event: QEvent) -> None:
        """Another font: draw anew."""
        super().changeEvent(event)
        self._drawn = QPixmap()

    # -- what happens ---------------------------------------------------------------------------------------------
    def _hear(self) -> None:
        if self._is_on:
            self.show_latest()

    def _changed(self, before: State, after: State) -> None:
        if before.settings.display.heads_up == after.settings.display.heads_up:
            return
        self._is_on = after.settings.display.heads_up
        self.show_latest()
        self.refresh()

    def _fit(self) -> None:
        """Take the largest text that has room, and the size that it needs."""
        for pixels in SIZES:
            self._font = table_font(self.font(), pixels, QFont.Weight.DemiBold)
            metrics = QFontMetricsF(self._font)
            width = round(metrics.horizontalAdvance(self.text)) + 2 * PADDING + 1
            if width <= self._room:
                break
        self._drawn = QPixmap()
        self.resize(width, round(metrics.height()) + PADDING)

    def _draw(self, plate: QPixmap) -> None:
        painter = QPainter(plate)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(GROUND)
        painter.drawRoundedRect(self.rect(), 4, 4)
        painter.setFont(self._font)
        painter.setPen(INK)
        painter.drawText(QPointF(PADDING, PADDING / 2 + QFontMetricsF(self._font).ascent()), self.text)


def line_of(figures: FrameFigures, *, is_pinned: bool) -> str:
    """What the line says of some frames: "61.0 frames/s   16.40 ms   H-PLOC / BVH4"."""
    newest, tr = figures.sample, QCoreApplication.translate
    view, rate = newest.view, f"{figures.fps:.{1 if figures.fps < 99.95 else 0}f}"
    if is_pinned:
        first = tr("HeadsUp", "Frame {number}").format(number=f"{newest.frame.frame_id:,}")
    elif newest.frame.request.is_moving:
        first = tr("HeadsUp", "{rate} frames/s").format(rate=rate)
    else:
        first = tr("HeadsUp", "still")
    parts = [first, milliseconds(figures.ms("frame"))]
    return GAP.join([*parts, structure_title(view.hierarchy, view.layout)] if view is not None else parts)
