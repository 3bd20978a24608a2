"""The figures of the last second, or of a frame that is pinned, and the last frames as bars above them; both are
written four times a second at most."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QTreeWidgetItem, QVBoxLayout, QWidget

from raygrove.app.frames.frame_history import Sample
from raygrove.app.settings.settings import Settings
from raygrove.app.ui.panels.bottleneck import bottleneck
from raygrove.app.ui.panels.frame_bars import FrameBars
from raygrove.app.ui.panels.stats_row import Row, plain
from raygrove.app.ui.panels.stats_rows import as_text, decision, rows_of
from raygrove.app.ui.panels.stats_table import StatsTable, key_of, table_font
from raygrove.app.ui.plain_text import Label, tip
from raygrove.app.ui.session.figures import Figures
from raygrove.app.ui.widgets.panel_bar import PanelBar, Table
from raygrove.app.ui.widgets.steady import INTERVAL_S, Steady

HINT_LINES, REASON_LINES = 4, 3
COLUMNS = ("key", "name", "value", "range")


class StatsPanel(QWidget):
    """See the module. Hears of frames from `figures`; drawing happens less often. `compare_wanted` tells that someone
    asks how the SAH cost stands to that of a reference."""

    compare_wanted = Signal()

    def __init__(self, figures: Figures, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("stats")
        self.setMinimumWidth(310)
        self.figures = figures
        self.minimum_fps = 20.0
        self.compared = ("", "")
        self._choice: Settings | None = None
        self.bars, self.table_view = FrameBars(figures, self), StatsTable(self)
        self._hint, self._reason = Label(self), Label(self)
        self._hint.setObjectName("bottleneck")
        self._reason.setObjectName("reason")
        for label in (self._hint, self._reason):
            label.setFont(table_font(label.font()))
        self.bar = PanelBar("statistics", self.table, self.text, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        column.setSpacing(4)
        column.addWidget(self.bars)
        column.addWidget(self.table_view, 1)
        column.addWidget(self.bar)  # above the sentences, whose lines are kept free for them
        column.addWidget(Steady(self._hint, HINT_LINES, self))
        self._reason_place = Steady(self._reason, REASON_LINES, self)
        self._reason_place.hide()
        column.addWidget(self._reason_place)
        self.table_view.itemActivated.connect(self._activate)
        self._bars_timer = QTimer(self, singleShot=True, interval=round(INTERVAL_S * 1000))
        self._bars_timer.timeout.connect(self._show_bars)
        figures.shown.connect(self._hear)
        figures.told.connect(self._hear_told)
        figures.pin_changed.connect(self._hear_pin)

    @property
    def rows(self) -> list[Row]:
        """What is shown."""
        return self.table_view.rows

    def compare(self, sentence: str, details: str = "") -> None:
        """Say how the SAH cost stands to that of the reference, and both of them; an empty text: nobody knows."""
        self.compared = (sentence, details)
        self.show_latest()

    def show_latest(self) -> None:
        """Show the newest figures and bars now, or those of the pinned frame."""
        self.figures.tell()
        if not self.isVisible():
            self._show_figures()
        self._show_bars()

    def _show_bars(self) -> None:
        if not self.bar.is_frozen:
            self.bars.show_frames()

    def _show_figures(self) -> None:
        found = self.figures.latest()
        if found is None and self.figures.why:
            self._show_none()
        if found is None or (self.bar.is_frozen and self.figures.pinned is None):
            return
        settings = found.sample.frame.request.state.settings
        if settings is not self._choice and settings != self._choice:
            self.table_view.rows = []  # rows of another choice keep no places
        self._choice = settings
        self.table_view.show_rows(rows_of(found, *self.compared))
        self._say(self._hint, bottleneck(found, self.minimum_fps))
        self._say(self._reason, decision(found.sample.frame))

    def _show_none(self) -> None:
        """No figures, and why."""
        self._choice = None
        self.table_view.clear_rows()
        self._say(self._hint, self.figures.why)
        self._say(self._reason, "")
        self.bars.show_frames()

    def text(self) -> str:
        """What is shown, as text."""
        return as_text(self.rows)

    def table(self) -> Table:
        """What is shown, as rows of a key that stays, a name, a value with its unit, and its range."""
        return COLUMNS, [
            {"key": row.key, "name": row.name, "value": plain(row.value), "range": plain(row.spread)}
            for row in self.rows
        ]

    def clear(self) -> None:
        """Forget everything: another scene begins."""
        self.figures.clear()
        self.compared, self._choice = ("", ""), None
        self.table_view.clear_rows()
        self._hint.clear()
        self._reason.clear()
        self._reason_place.hide()
        self.bars.show_frames()

    # -- what happens ---------------------------------------------------------------------------------------------
    def _hear(self, sample: Sample) -> None:
        if self.isVisible() and not self.bar.is_frozen and not self._bars_timer.isActive():
            self._bars_timer.start()

    def _hear_told(self) -> None:
        if self.isVisible():
            self._show_figures()

    def _hear_pin(self, pinned: Sample | None) -> None:
        self.table_view.name_columns("" if pinned is None else self.tr("this frame"))
        self._show_bars()

    def _activate(self, item: QTreeWidgetItem) -> None:
        """Return or a double click on a row of the SAH cost asks for a comparison."""
        if key_of(item) in ("sah", "compared"):
            self.compare_wanted.emit()

    def _say(self, label: QLabel, text: str) -> None:
        if label.text() == text:
            return
        label.setText(text)
        label.setToolTip(tip(text))
        if label is self._reason:
            self._reason_place.setVisible(bool(text))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc lets a pinned frame go, wherever in the panel."""
        if event.key() == Qt.Key.Key_Escape and self.figures.pinned is not None:
            self.figures.pin(None)
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came while it was hidden."""
        super().showEvent(event)
        self._show_figures()
        self._bars_timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nothing to update while nobody looks."""
        self._bars_timer.stop()
        super().hideEvent(event)
