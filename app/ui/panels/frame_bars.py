"""The last frames as bars, the phases stacked in their order; a click pins a frame, and every panel shows it until Esc.

The bars are a picture of one column a frame, made by numpy: a tenth of what drawing them costs, several times a second.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from raygrove.app.frames.frame_history import MOST, OTHER, PARTS, Sample
from raygrove.app.ui.colors import phase_color
from raygrove.app.ui.panels.stats_row import milliseconds
from raygrove.app.ui.panels.stats_rows import TITLES, translate
from raygrove.app.ui.session.figures import Figures
from raygrove.gpu.brief import filled

HEIGHT, CAPTION = 76, 16
RANGES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0)
"""Ends of the range, in milliseconds: a round one that changes seldom."""

SHARE_SEEN = 0.98
"""Of the frames that the range fits; the tallest few may leave it, else one would flatten all others."""

STEPS = {
    Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10,
    Qt.Key.Key_Home: -MOST, Qt.Key.Key_End: MOST,
}  # fmt: skip
HATCH = 3


class FrameBars(QWidget):
    """See the module. Pins frames of `figures`."""

    def __init__(self, figures: Figures, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("frame_bars")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Last frames"))
        self.setToolTip(
            self.tr("The last 240 frames. Click one, or use the arrow keys, to see its figures; Esc lets go.")
        )
        self._figures = figures
        self._samples: Sequence[Sample] = ()
        self._limit = RANGES[0]
        self._image = QImage()
        figures.pin_changed.connect(self._show_pin)

    @property
    def limit(self) -> float:
        """The upper end of the range, in milliseconds."""
        return self._limit

    def milliseconds(self) -> np.ndarray:
        """(parts, frames) that are drawn, oldest first."""
        return np.array([sample.row for sample in self._samples], np.float64).reshape(-1, len(PARTS)).T

    def show_frames(self) -> None:
        """Draw the frames that can be pinned now."""
        self._samples = self._figures.samples
        edges = np.cumsum(self.milliseconds(), axis=0)
        whole = edges[-1]
        tallest = float(np.sort(whole)[math.ceil(SHARE_SEEN * (len(whole) - 1))]) if len(whole) else 0.0
        self._limit = next((value for value in RANGES if value >= tallest), RANGES[-1])
        colors = [phase_color(name).name() for name in PARTS]
        self._image = band_image(edges, self._limit, HEIGHT - CAPTION, colors, hatched=PARTS.index(OTHER))
        self.update()

    def caption(self) -> str:
        """What stands above the bars: the pinned frame, or the range."""
        pinned = self._figures.pinned
        if pinned is None:
            return filled(self.tr("Last {count} frames"), count=len(self._samples))
        return self.tr("Frame {number} at {seconds:.3f}\u202fs, {whole}").format(
            number=f"{pinned.frame.frame_id:,}",
            seconds=pinned.frame.request.moment.time,
            whole=milliseconds(pinned.whole),
        )

    def sample_at(self, x: float) -> Sample | None:
        """The frame whose bar is nearest to a column of the widget; None without frames."""
        if not self._samples:
            return None
        place = int((x - self._left()) / self._step())
        return self._samples[min(max(place, 0), len(self._samples) - 1)]

    # -- pointer and keys -----------------------------------------------------------------------------------------
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pin the frame that is clicked."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._figures.pin(self.sample_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """A drag pins one frame after another."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._figures.pin(self.sample_at(event.position().x()))

    def event(self, event: QEvent) -> bool:
        """Keys that step through the frames are not the timeline's while these bars have the focus."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            is_own = event.key() in STEPS or (event.key() == Qt.Key.Key_Escape and self._figures.pinned is not None)
            if is_own and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from frame to frame, Page Up and Page Down by ten, Home and End to the ends; Esc lets go."""
        if event.key() == Qt.Key.Key_Escape and self._figures.pinned is not None:
            self._figures.pin(None)
        elif event.key() in STEPS:
            self._figures.step(STEPS[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def _show_pin(self, pinned: Sample | None) -> None:
        """Say which frame is pinned, to a screen reader too."""
        self.setAccessibleDescription("" if pinned is None else f"{self.caption()}: {_in_words(pinned)}")
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        self.show_frames()

    # -- painting -------------------------------------------------------------------------------------------------
    def sizeHint(self) -> QSize:
        """A bar a pixel."""
        return QSize(MOST, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Half of them can be told apart."""
        return QSize(MOST // 2, HEIGHT)

    def changeEvent(self, event: QEvent) -> None:
        """Another theme has other colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.show_frames()

    def _step(self) -> float:
        """Pixels from one bar to the next: a whole number of them where there is room."""
        step = self.width() / MOST
        return float(int(step)) if step >= 1.0 else step

    def _left(self) -> float:
        """Where the first bar begins; the newest one is at the right."""
        return self.width() - self._step() * len(self._samples)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The caption, the bars, a line at half of the range, and a frame about the pinned one."""
        painter, palette = QPainter(self), self.palette()
        area = QRect(0, CAPTION, self.width(), HEIGHT - CAPTION)
        painter.fillRect(area, palette.color(QPalette.ColorRole.Base))
        left, step = round(self._left()), self._step()
        painter.drawImage(QRect(left, CAPTION, self.width() - left, area.height()), self._image)
        line = QColor(palette.color(QPalette.ColorRole.Mid))
        line.setAlpha(110)
        for y in (area.top(), area.center().y()):
            painter.fillRect(0, y, self.width(), 1, line)
        font = painter.font()
        font.setPixelSize(11)
        painter.setFont(font)
        painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
        baseline, top = painter.fontMetrics().ascent(), f"{self._limit:,g}\u202fms"
        painter.drawText(QPointF(0, baseline), self.caption())
        painter.drawText(QPointF(self.width() - painter.fontMetrics().horizontalAdvance(top), baseline), top)
        place = self._place_of_pin()
        if place is not None:
            x = round(self._left() + place * step)
            painter.setPen(QPen(palette.color(QPalette.ColorRole.Text), 1.0))
            painter.drawRect(x - 1, CAPTION, max(round(step), 1) + 1, area.height() - 1)
        if self.hasFocus():
            painter.setPen(QPen(palette.color(QPalette.ColorRole.Text), 2.0))
            painter.drawRect(area.adjusted(1, 1, -1, -1))

    def _place_of_pin(self) -> int | None:
        pinned = self._figures.pinned
        return next((place for place, sample in enumerate(self._samples) if sample is pinned), None)


def band_image(edges: np.ndarray, top: float, rows: int, colors: Sequence[str], hatched: int = -1) -> QImage:
    """Bands below `edges` (bands, columns), the lowest first, from 0 at the bottom to `top`: one pixel a column, `rows`
    high, clear above. The band number `hatched` has oblique lines of its colour."""
    if not edges.shape[1]:
        return QImage()  # made of a buffer without pixels, it would never let go of that
    table = np.array([*(QColor(color).rgba() for color in colors), 0], np.uint32)
    below = np.ceil(edges * (rows / top) - 0.5).clip(0, rows).astype(np.uint8)  # rows whose middle is under an edge
    height = np.arange(rows - 1, -1, -1, dtype=np.uint8)[:, None]
    band = np.zeros((rows, edges.shape[1]), np.uint8)
    for count in below:
        band += height >= count
    if hatched >= 0:
        band[(band == hatched) & _oblique(*band.shape)] = len(colors)
    pixels = table[band]
    return QImage(
        pixels.data, edges.shape[1], rows, 4 * edges.shape[1], QImage.Format.Format_ARGB32_Premultiplied
    ).copy()


@functools.lru_cache(maxsize=2)
def _oblique(rows: int, columns: int) -> np.ndarray:
    """Where there is nothing between oblique lines."""
    return (np.arange(rows)[:, None] + np.arange(columns)) % HATCH > 0


def _in_words(sample: Sample) -> str:
    """The parts of a frame that take any time."""
    return ", ".join(
        f"{translate(TITLES[name])} {milliseconds(spent)}" for name, spent in sample.parts.items() if spent
    )
