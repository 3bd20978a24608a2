"""The row of buttons under a panel of figures: freeze them, copy them, write them to a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QIODevice, QSaveFile, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QToolButton, QToolTip, QWidget

from raygrove.app.export.tables import csv_table, json_text

DOTS = "…"
Table = tuple[Sequence[str], Sequence[dict[str, Any]]]
"""Names of the columns, and the rows."""


class PanelBar(QWidget):
    """Pause, Copy, CSV and JSON for a panel. `table` gives what it shows as columns and rows, `text` as lines for
    people; `frozen` follows Pause,
    `failed` carries a sentence where a file could not be written, `saved` tells that one was."""

    frozen = Signal(bool)
    failed, saved = Signal(str), Signal()

    def __init__(
        self, name: str, table: Callable[[], Table], text: Callable[[], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._name, self._table, self._text = name, table, text
        self._titles: dict[QToolButton, str] = {}
        self._whole, self._is_narrow = 0, False
        self.pause = self._button("pause", self.tr("Pause"), self.tr("Freeze the figures; the picture goes on"))
        self.pause.setCheckable(True)
        self.pause.toggled.connect(self.frozen)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(3)
        row.addWidget(self.pause)
        row.addStretch(1)
        for key, title, tip, run in (
            ("copy", self.tr("Copy"), self.tr("Copy the figures as text"), self.copy),
            (
                "csv",
                self.tr("CSV…"),
                self.tr("Write the figures to a file of comma-separated values"),
                lambda: self.ask_and_save("csv"),
            ),
            ("json", self.tr("JSON…"), self.tr("Write the figures to a JSON file"), lambda: self.ask_and_save("json")),
        ):
            button = self._button(key, title, tip)
            button.clicked.connect(run)
            row.addWidget(button)
            self._titles[button] = title

    @property
    def is_frozen(self) -> bool:
        """Whether the figures are to stay as they are."""
        return self.pause.isChecked()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room titles go without their dots: else they would be cut."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Another size of texts."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and getattr(self, "_titles", None):
            self._show_titles(is_narrow=False)
            self._fit()

    def _fit(self) -> None:
        if not self._is_narrow:
            self._whole = self.sizeHint().width()
        if (self.width() < self._whole) != self._is_narrow:
            self._show_titles(is_narrow=not self._is_narrow)

    def _show_titles(self, *, is_narrow: bool) -> None:
        self._is_narrow = is_narrow
        for button, title in self._titles.items():
            button.setText(title.rstrip(DOTS) if is_narrow else title)

    def copy(self) -> None:
        """The figures as text on the clipboard."""
        QGuiApplication.clipboard().setText(self._text())

    def ask_and_save(self, ending: str) -> None:
        """Ask for a name and write the figures."""
        kinds = {"csv": self.tr("Comma-separated values (*.csv)"), "json": "JSON (*.json)"}
        path, _ = QFileDialog.getSaveFileName(
            self, self.tr("Save the figures"), f"{self._name}.{ending}", kinds[ending]
        )
        if path:
            path = path if Path(path).suffix else f"{path}.{ending}"
            problem = self.save(path, ending)
            if problem:
                self.failed.emit(problem)
                return
            self.saved.emit()
            QToolTip.showText(self.mapToGlobal(self.rect().topLeft()), self.tr("Saved {path}").format(path=path), self)

    def save(self, path: str, ending: str) -> str:
        """Write the figures whole or not at all; a sentence where that failed, else an empty text."""
        columns, rows = self._table()
        text = csv_table(rows, columns) if ending == "csv" else json_text(rows) + "\n"
        file = QSaveFile(path)
        data = text.encode()
        if file.open(QIODevice.OpenModeFlag.WriteOnly) and file.write(data) == len(data) and file.commit():
            return ""
        return self.tr("{path} cannot be written: {reason}. Choose another place.").format(
            path=path, reason=file.errorString()
        )

    def _button(self, name: str, title: str, tip: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setText(title)
        button.setToolTip(tip)
        return button
