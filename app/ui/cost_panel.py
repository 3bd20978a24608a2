"""Cost over the key frames: the tree's SAH cost and the milliseconds of build, refit and trace, drawn while the animation plays; a click jumps there.

Structures seen before stay as thin lines, so that a refit's decay is seen beside the rebuild.
"""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QPalette, QShowEvent
from PySide6.QtWidgets import QGraphicsItem, QLabel, QVBoxLayout, QWidget

from app.cost_log import COLUMNS, CostLog
from app.render_thread import FinishedFrame
from app.timeline import Span
from app.ui.panel_bar import PanelBar, Table
from app.ui.phase_chart import COLORS
from app.ui.plots import PLOTS

UPDATE_INTERVAL_S = 0.5
MARK_INTERVAL_MS = 250
TIMES = ("build", "refit", "trace")
STRUCTURE_COLORS = ("#3a86d4", "#e69f00", "#2fa77a", "#c45a8b", "#8e7cc3", "#7f8c8d", "#d2691e", "#17a2b8")


class CostPanel(QWidget):
    """See the module. `take` is called with every frame, drawing happens twice a second; `jumped` carries seconds."""

    jumped = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cost")
        self.setMinimumHeight(190)
        self.log = CostLog()
        self._shown_time = 0.0
        self._plots: list[Any] = []
        self._marks: list[Any] = []
        self._curves: dict[tuple[str, str], Any] = {}
        self._area: Any = None
        self.legend = QLabel(self.tr("Play the animation to see what each key costs."), self)
        self.legend.setObjectName("cost_legend")
        self.legend.setWordWrap(True)
        self.bar = PanelBar("cost_over_keys", self.table, self.text, self)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(6, 4, 6, 4)
        self._column.addWidget(self.legend)
        self._column.addWidget(self.bar)
        self._seconds = 0.0
        self._mark_timer = QTimer(self, singleShot=True, interval=MARK_INTERVAL_MS)
        self._mark_timer.timeout.connect(self._move_marks)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.show_latest)

    def begin(self, span: Span) -> None:
        """Another scene, or other keys."""
        self.log.begin(span)
        for curve in self._curves.values():
            curve.setData([], [])
        moves = span.duration > 0.0
        self.legend.setText(self.tr("Play the animation to see what each key costs.") if moves else self.tr("This scene does not move."))

    def take(self, frame: FinishedFrame) -> None:
        """Remember a frame, and draw when it is time."""
        if frame.statistics is None or self.bar.is_frozen:
            return
        self.log.add(frame.statistics, frame.request.state.settings.update.mode)
        if self.isVisible() and not self._timer.isActive():
            wait = self._shown_time + UPDATE_INTERVAL_S - time.monotonic()
            self._timer.start(max(0, round(wait * 1000)))

    def show_time(self, seconds: float) -> None:
        """Where the playing head stands. Each move paints the whole chart, so while frames come it goes with their lines, else at most a few times
        a second."""
        self._seconds = seconds
        if not self._mark_timer.isActive() and not self._timer.isActive():
            self._move_marks()
            self._mark_timer.start()

    def _move_marks(self) -> None:
        if self.isVisible() and not self.bar.is_frozen:
            for mark in self._marks:
                if mark.value() != self._seconds:
                    mark.setValue(self._seconds)

    def show_latest(self) -> None:
        """Draw what is known now."""
        self._shown_time = time.monotonic()
        self._move_marks()
        if not self._plots:
            self._make_plots_when_loaded()
        if not self._plots or not self.log.structures:
            return
        for number, structure in enumerate(self.log.structures):
            is_current = structure == self.log.current
            self._draw(0, structure, "sah_cost", _color(number), 2.0 if is_current else 1.0)
            for name in TIMES:
                self._draw(1, structure, f"{name}_ms", COLORS[name], 2.0 if is_current else 0.6)
        self.legend.setText(self._legend())

    def lines(self) -> dict[tuple[str, str], tuple[list[float], list[float]]]:
        """What is drawn: times and values by structure and figure."""
        data = {key: curve.getData() for key, curve in self._curves.items()}
        return {key: (list(x), list(y)) for key, (x, y) in data.items() if x is not None and len(x)}

    def table(self) -> Table:
        """Every place of every structure."""
        return COLUMNS, self.log.rows()

    def text(self) -> str:
        """What is known, as text."""
        rows = self.log.rows()
        return "\n".join(["\t".join(COLUMNS), *("\t".join("" if row[name] is None else str(row[name]) for name in COLUMNS) for row in rows)]) + "\n"

    def showEvent(self, event: QShowEvent) -> None:
        """Load the library, and catch up."""
        super().showEvent(event)
        PLOTS.start()
        self._timer.start(0)

    def changeEvent(self, event: QEvent) -> None:
        """Take the colours of light or dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._plots:
            self._paint_background()

    # -- parts ----------------------------------------------------------------------------------------------------
    def _make_plots_when_loaded(self) -> None:
        if self._area is not None:
            return
        if PLOTS.is_missing:
            self._area = QLabel(self.tr("The chart needs the package pyqtgraph."), self)
            self._column.insertWidget(0, self._area)
        elif PLOTS.library is not None:
            self._make_plots(PLOTS.library)
        else:
            self._timer.start(100)

    def _make_plots(self, pyqtgraph: Any) -> None:
        self._area = pyqtgraph.GraphicsLayoutWidget(self)
        for column, label in enumerate((self.tr("SAH cost"), self.tr("ms"))):
            plot = self._area.addPlot(0, column)
            plot.setMenuEnabled(False)
            plot.hideButtons()
            plot.setMouseEnabled(False, False)
            plot.getAxis("left").setLabel(label)
            plot.showGrid(y=True, alpha=0.2)
            mark = pyqtgraph.InfiniteLine(0.0, pen=pyqtgraph.mkPen("#888888", width=1))
            plot.addItem(mark, ignoreBounds=True)
            for side in ("left", "bottom"):  # axes are painted once, and then copied
                plot.getAxis(side).setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)
            self._plots.append(plot)
            self._marks.append(mark)
        self._plots[1].setXLink(self._plots[0])
        self._area.scene().sigMouseClicked.connect(lambda event: self.jump(event.scenePos()))
        self._area.setToolTip(self.tr("Seconds of the animation; click to go there. Thin lines are structures seen before."))
        self._column.insertWidget(0, self._area, 1)
        self._paint_background()

    def jump(self, place: Any) -> None:
        """Go to the place of the animation under a point of the chart."""
        for plot in self._plots:
            box = plot.getViewBox()
            if plot.sceneBoundingRect().contains(place) and self.log.times:
                seconds = float(box.mapSceneToView(place).x())
                self.jumped.emit(self.log.times[self.log.place_of(seconds)])
                return

    def _draw(self, plot: int, structure: str, name: str, color: str, width: float) -> None:
        key = (structure, name)
        if key not in self._curves:
            self._curves[key] = self._plots[plot].plot()
        pen = PLOTS.library.mkPen(color, width=width, style=Qt.PenStyle.SolidLine if width >= 1.0 else Qt.PenStyle.DotLine)
        self._curves[key].setData(*self.log.line(structure, name), pen=pen)

    def _paint_background(self) -> None:
        palette = self.palette()
        self._area.setBackground(palette.color(QPalette.ColorRole.Base))
        for plot in self._plots:
            for side in ("left", "bottom"):
                plot.getAxis(side).setTextPen(palette.color(QPalette.ColorRole.Text))

    def _legend(self) -> str:
        parts = [f'<span style="color:{_color(number)}">■</span>&nbsp;{name}' for number, name in enumerate(self.log.structures)]
        parts += [f'<span style="color:{COLORS[name]}">■</span>&nbsp;{name}' for name in TIMES]
        return " &nbsp;".join(parts)


def _color(number: int) -> str:
    return STRUCTURE_COLORS[number % len(STRUCTURE_COLORS)]
