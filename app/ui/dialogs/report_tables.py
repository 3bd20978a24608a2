"""The tables of a suite's report, one at a time, while they fill, too."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from raygrove.app.document.suite_runs import ReportTable, tables_of
from raygrove.app.ui.widgets.text_table import TextTable


class ReportTables(QWidget):
    """See the module: the choice of one, and it below. While tables fill, the one that got rows is shown, until
    somebody chooses."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tables: tuple[ReportTable, ...] = ()
        self.which = QComboBox(self)
        self.which.setObjectName("which")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self.which)
        self.shown: TextTable | None = None
        self._titled: tuple[str, tuple[str, ...]] | None = None
        self.which.currentIndexChanged.connect(self._show)
        self.which.activated.connect(self._choose)
        self._is_chosen = False

    def take(self, report: Path) -> str:
        """Show the tables of PREFIX.json; why that cannot be, a sentence, else an empty text."""
        try:
            tables = tables_of(report)
        except (OSError, ValueError, KeyError) as error:
            words = QCoreApplication.translate("suite", "{name} is no report of a suite: {why}.")
            return words.format(name=report.name, why=error)
        self._list(tables, self._place_in(tables))
        return ""

    def fill(self, tables: tuple[ReportTable, ...]) -> None:
        """Show these, which are those of a moment ago with more in them."""
        before = {table.title: table.rows for table in self.tables}
        grown = [index for index, table in enumerate(tables) if before.get(table.title) != table.rows]
        at = self._place_in(tables)
        if grown or len(tables) != len(self.tables):
            self._list(tables, at if self._is_chosen or at in grown or not grown else grown[0])

    def clear(self) -> None:
        """Nothing, before a run."""
        self._is_chosen = False
        self._list((), -1)

    def _choose(self) -> None:
        self._is_chosen = True

    def _place_in(self, tables: tuple[ReportTable, ...]) -> int:
        """Where the table that is shown stands in others; the first where it does not."""
        titles = [table.title for table in tables]
        return titles.index(self.which.currentText()) if self.which.currentText() in titles else 0

    def _list(self, tables: tuple[ReportTable, ...], at: int) -> None:
        titles = [table.title for table in tables]
        self.which.blockSignals(True)
        if titles != [table.title for table in self.tables]:  # an open list would close
            self.which.clear()
            self.which.addItems(titles)
        self.which.setCurrentIndex(at)
        self.which.blockSignals(False)
        self.tables = tables
        self._show()

    def _show(self) -> None:
        index = self.which.currentIndex()
        if not 0 <= index < len(self.tables):
            return
        table = self.tables[index]
        if self.shown is not None and self._titled == (table.title, table.columns):
            self.shown.show_newer(table.rows, None)
            return
        self._titled = (table.title, table.columns)
        shown = TextTable(table.title, [(column, "") for column in table.columns], self)
        shown.show_rows(table.rows)
        if self.shown is not None:
            self._column.removeWidget(self.shown)
            self.shown.deleteLater()
        self.shown = shown
        self._column.addWidget(shown, 1)
