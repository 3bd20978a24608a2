"""The tables of a suite's report, one at a time."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from raygrove.app.document.suite_runs import ReportTable, tables_of
from raygrove.app.ui.widgets.text_table import TextTable


class ReportTables(QWidget):
    """See the module: the choice of one, and it below."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tables: tuple[ReportTable, ...] = ()
        self.which = QComboBox(self)
        self.which.setObjectName("which")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self.which)
        self.shown: TextTable | None = None
        self.which.currentIndexChanged.connect(self._show)

    def take(self, report: Path) -> str:
        """Show the tables of PREFIX.json; why that cannot be, a sentence, else an empty text."""
        try:
            self.tables = tables_of(report)
        except (OSError, ValueError, KeyError) as error:
            words = QCoreApplication.translate("suite", "{name} is no report of a suite: {why}.")
            return words.format(name=report.name, why=error)
        self.which.blockSignals(True)
        self.which.clear()
        self.which.addItems([table.title for table in self.tables])
        self.which.blockSignals(False)
        self._show()
        return ""

    def _show(self) -> None:
        index = self.which.currentIndex()
        if not 0 <= index < len(self.tables):
            return
        table = self.tables[index]
        shown = TextTable(table.title, [(column, "") for column in table.columns], self)
        shown.show_rows(table.rows)
        if self.shown is not None:
            self._column.removeWidget(self.shown)
            self.shown.deleteLater()
        self.shown = shown
        self._column.addWidget(shown, 1)
