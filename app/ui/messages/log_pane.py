"""The log pane, and the mark in the status bar that says whether something in it wants to be read."""

from __future__ import annotations

import logging
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import (
    QComboBox,
    QDockWidget,
    QHBoxLayout,
    QMainWindow,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.document.log import KINDS, Chronicle, Entry, Log
from raygrove.app.ui.messages.log_view import LogView
from raygrove.app.ui.messages.signs import sign
from raygrove.app.ui.plain_text import Label, tip
from raygrove.app.ui.session.bell import Letters
from raygrove.app.ui.session.session import Session


class LogPane(QWidget):
    """The entries as lines; warnings and errors named by a word, errors in colour, too."""

    def __init__(self, log: Log, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("log")
        self._log = log
        self.view = LogView(self)
        self.view.setAccessibleName(self.tr("Log"))
        self.least = QComboBox(self)
        self.least.setObjectName("least")
        titles = (self.tr("Everything"), self.tr("What happened"), self.tr("Warnings and errors"), self.tr("Errors"))
        for kind, title in zip(KINDS, titles, strict=True):
            self.least.addItem(title, kind)
        self.least.setCurrentIndex(1)
        self.least.currentIndexChanged.connect(self.show_all)
        copy, clear = QPushButton(self.tr("Copy"), self), QPushButton(self.tr("Clear"), self)
        copy.setObjectName("copy")
        clear.setObjectName("clear")
        copy.setToolTip(self.tr("Copy what is shown, with the details of each entry"))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(log.text(self.least.currentData())))
        clear.clicked.connect(self._clear)
        row = QHBoxLayout()
        row.addWidget(Label(self.tr("Show"), self))
        row.addWidget(self.least)
        row.addStretch(1)
        row.addWidget(copy)
        row.addWidget(clear)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 4, 4)
        column.addLayout(row)
        column.addWidget(self.view, 1)
        log.on_change.append(self._heard)
        self.show_all()

    def show_all(self) -> None:
        """Show what is wanted anew."""
        wanted = self._wanted()
        self.view.take([entry for entry in self._log.entries if entry.kind in wanted])

    def _heard(self, entry: Entry, is_again: bool) -> None:
        if entry.kind in self._wanted():
            self.view.add(entry, is_again)

    def _wanted(self) -> tuple[str, ...]:
        return KINDS[KINDS.index(self.least.currentData()) :]

    def _clear(self) -> None:
        self._log.clear()
        self.view.take(())


class StatusMark(QToolButton):
    """Says with an icon, a number and a tooltip what was not read yet: nothing, warnings or errors. A click opens the
    log."""

    def __init__(self, log: Log, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("status_mark")
        self.setAutoRaise(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.unread: list[Entry] = []
        log.on_change.append(self._heard)
        self.read_all()

    def read_all(self) -> None:
        """Someone has looked."""
        self.unread = []
        self._show()

    def _heard(self, entry: Entry, is_again: bool) -> None:
        if entry.kind in ("warning", "error") and entry.sentence not in [
            one.sentence for one in self.unread
        ]:  # what is said twice is one thing
            self.unread.append(entry)
            self._show()

    def changeEvent(self, event: QEvent) -> None:
        """Another theme has other colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "unread"):
            self._show()

    def _show(self) -> None:
        kinds = [entry.kind for entry in self.unread]
        worst = "error" if "error" in kinds else "warning" if kinds else "none"
        self.setIcon(QIcon(sign(worst, self.devicePixelRatioF())))
        self.setText(str(len(kinds)) if kinds else "")
        newest = self.unread[-1].sentence if self.unread else ""
        self.setToolTip(tip(newest) or self.tr("No warning and no error. A click opens the log."))
        self.setAccessibleName(newest or self.tr("No warning and no error"))


class LoggingBridge(QObject):
    """Brings warnings and errors of Python's logging into the log, from whichever thread they come."""

    def __init__(self, log: Log, parent: QObject) -> None:
        super().__init__(parent)
        letters = Letters(self)
        handler = _Handler(lambda kind, sentence: letters.post(log.add, kind, sentence))
        logging.getLogger().addHandler(handler)
        parent.destroyed.connect(lambda: logging.getLogger().removeHandler(handler))


class _Handler(logging.Handler):
    def __init__(self, tell: Callable[[str, str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell("error" if record.levelno >= logging.ERROR else "warning", f"{record.name}: {record.getMessage()}")


class Records(QObject):
    """What writes into a session's log beside its notices (jobs, scenes, settings, Python's logging), the log's pane
    and its mark."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        log = session.notices.log
        self.pane, self.mark = LogPane(log), StatusMark(log)
        Chronicle(session.document, log)
        LoggingBridge(log, self)

    def follow(self, window: QMainWindow, dock: QDockWidget, above: QDockWidget) -> None:
        """The dock that holds the pane lies below another; the mark opens it, and then all is read."""
        window.splitDockWidget(above, dock, Qt.Orientation.Vertical)
        self.mark.clicked.connect(dock.show)
        self.mark.clicked.connect(dock.raise_)
        self.mark.clicked.connect(self.mark.read_all)
