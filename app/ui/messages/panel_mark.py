"""What is wrong with a panel, said on the panel: a line with an icon, the sentence, Copy details, and a button that
closes it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QBoxLayout, QDockWidget, QFrame, QHBoxLayout, QSizePolicy, QToolButton, QWidget

from raygrove.app.ui.messages.signs import sign
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.plain_text import tip as as_tip
from raygrove.app.ui.widgets.panel_bar import PanelBar
from raygrove.app.ui.widgets.scrolled import panel_of

SIGNS = {"error": "✕", "warning": "⚠", "information": "ℹ"}


class PanelMark(QFrame):
    """One panel's mark, hidden while all is well. `closed` tells that it was put away."""

    closed = Signal()

    def __init__(self, parent: QWidget, *, is_narrow: bool = False) -> None:
        super().__init__(parent)
        self.setObjectName("mark")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.kind = self.sentence = self.details = ""
        self._is_narrow = is_narrow
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 2, 2, 2)
        self._icon, self._text = Label(self), Label(self)
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setVisible(not is_narrow)
        self.setSizePolicy(
            QSizePolicy.Policy.Maximum if is_narrow else QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum
        )
        row.addWidget(self._icon)
        row.addWidget(self._text, 1)
        for name, text, tip, run in (
            ("copy", self.tr("Copy details"), self.tr("Copy the sentence and what a report needs"), self.copy),
            ("close", "✕", self.tr("Close this message"), self.clear),
        ):
            button = QToolButton(self)
            button.setObjectName(name)
            button.setAutoRaise(True)
            button.setText(text)
            button.setToolTip(tip)
            button.clicked.connect(run)
            row.addWidget(button)
        self.hide()

    def say(self, kind: str, sentence: str, details: str = "") -> None:
        """Show a message of `kind` error, warning or information."""
        self.kind, self.sentence, self.details = kind, sentence, details
        self._show_sign()
        self._text.setText(sentence)
        self.setToolTip(as_tip(sentence))
        self.setAccessibleName(sentence)
        self.show()

    def changeEvent(self, event: QEvent) -> None:
        """Another theme has other colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "kind") and self.kind:
            self._show_sign()

    def _show_sign(self) -> None:
        self._icon.setPixmap(sign(self.kind, self.devicePixelRatioF(), 16))

    def clear(self) -> None:
        """All is well again."""
        if self.kind:
            self.kind = self.sentence = self.details = ""
            self.hide()
            self.closed.emit()

    def copy(self) -> None:
        """Put the sentence and its details on the clipboard."""
        QGuiApplication.clipboard().setText("\n\n".join(part for part in (self.sentence, self.details) if part))


class PanelMarks(QObject):
    """The marks of a window's docks, by the docks' names without "dock."; a dock with a mark has a sign in its title,
    so that it is seen in its tab too. `said` carries kind, sentence and details of each message. Files that a panel's
    own buttons cannot write are said here by themselves."""

    said = Signal(str, str, str)

    def __init__(self, docks: Sequence[QDockWidget], parent: QObject) -> None:
        super().__init__(parent)
        self.marks: dict[str, PanelMark] = {}
        self._docks = {dock.objectName().removeprefix("dock."): dock for dock in docks}
        self._titles = {name: dock.windowTitle() for name, dock in self._docks.items()}
        for name, dock in self._docks.items():
            self._mark(name, panel_of(dock))

    def _mark(self, name: str, panel: QWidget) -> None:
        layout = panel.layout()
        if not isinstance(layout, QBoxLayout):
            return
        is_narrow = layout.direction() in (QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.RightToLeft)
        mark = self.marks[name] = PanelMark(panel, is_narrow=is_narrow)
        layout.insertWidget(0, mark)
        mark.closed.connect(lambda: self._docks[name].setWindowTitle(self._titles[name]))
        for bar in panel.findChildren(PanelBar):
            bar.failed.connect(lambda sentence: self.say(name, "error", sentence))
            bar.saved.connect(mark.clear)

    def say(self, name: str, kind: str, sentence: str, details: str = "") -> None:
        """Mark a panel."""
        self.marks[name].say(kind, sentence, details)
        self._docks[name].setWindowTitle(f"{self._titles[name]} {SIGNS[kind]}")
        self.said.emit(kind, sentence, details)

    def clear(self, name: str) -> None:
        """Take a panel's mark away."""
        self.marks[name].clear()

    def is_seen(self, name: str) -> bool:
        """Whether there is such a panel, and it is shown."""
        return name in self.marks and self._docks[name].isVisible()
