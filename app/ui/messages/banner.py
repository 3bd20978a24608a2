"""What lies over the picture: a message (an icon, a sentence, details to copy, a button that closes it), and the strip
of what runs."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from raygrove.app.ui.messages.signs import sign
from raygrove.app.ui.plain_text import Label

DETAILS_HEIGHT = 180
LEAST_TEXT_WIDTH = 300
"""Pixels that a sentence keeps beside its buttons; where it has fewer they stand below it."""


class Banner(QFrame):
    """One message. `closed` tells that it was put away."""

    closed = Signal()

    def __init__(self, kind: str, sentence: str, details: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kind, self.sentence, self.details = kind, sentence, details
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setObjectName(f"banner.{kind}")
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 4, 4)
        row = QHBoxLayout()
        column.addLayout(row)
        icon = self._sign = Label(self)
        icon.setPixmap(sign(kind, self.devicePixelRatioF()))
        text = Label(sentence, self)
        text.setWordWrap(True)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row.addWidget(icon)
        row.addWidget(text, 1)
        self._buttons = QWidget(self)
        self._buttons.setObjectName("buttons")
        self._button_row = QHBoxLayout(self._buttons)
        self._button_row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._buttons)
        self._row, self._column = row, column
        self.full = QPlainTextEdit(details, self)
        self.full.setObjectName("full")
        self.full.setReadOnly(True)
        self.full.setMaximumHeight(DETAILS_HEIGHT)
        self.full.hide()
        column.addWidget(self.full)
        if details:
            show = QPushButton(self.tr("Details"), self)
            show.setObjectName("details")
            show.setCheckable(True)
            show.toggled.connect(self.full.setVisible)
            self._button_row.addWidget(show)
        copy = QPushButton(self.tr("Copy details") if details else self.tr("Copy"), self)
        copy.setObjectName("copy")
        copy.clicked.connect(self.copy)
        self._button_row.addWidget(copy)
        close = QToolButton(self)
        close.setObjectName("close")
        close.setAutoRaise(True)
        close.setText("✕")  # a text follows the palette; the style's picture cannot be seen on dark
        close.setToolTip(self.tr("Close this message"))
        close.clicked.connect(self.closed)
        row.addWidget(close)

    def copy(self) -> None:
        """Put the sentence and its details on the clipboard."""
        QGuiApplication.clipboard().setText("\n\n".join(part for part in (self.sentence, self.details) if part))

    def add_button(self, name: str, title: str, run: Callable[[], object]) -> QPushButton:
        """One more thing that can be done about it."""
        button = QPushButton(title, self)
        button.setObjectName(name)
        button.clicked.connect(lambda checked=False: run())
        self._button_row.addWidget(button)
        self._place_buttons()
        return button

    def changeEvent(self, event: QEvent) -> None:
        """Another theme has other colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_sign"):
            self._sign.setPixmap(sign(self.kind, self.devicePixelRatioF()))

    def minimumSizeHint(self) -> QSize:
        """As narrow as its buttons: a message must not keep the window from being small."""
        margins = self._column.contentsMargins()
        return QSize(
            self._buttons.sizeHint().width() + margins.left() + margins.right(), super().minimumSizeHint().height()
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Beside the sentence there is room for the buttons, or below it."""
        super().resizeEvent(event)
        self._place_buttons()

    def _place_buttons(self) -> None:
        is_narrow = self.width() - self._buttons.sizeHint().width() < LEAST_TEXT_WIDTH
        if is_narrow == (self._column.indexOf(self._buttons) >= 0):
            return
        if is_narrow:
            self._row.removeWidget(self._buttons)
            self._column.insertWidget(1, self._buttons, 0, Qt.AlignmentFlag.AlignLeft)
        else:
            self._column.removeWidget(self._buttons)
            self._row.insertWidget(self._row.count() - 1, self._buttons)


class ProgressStrip(QFrame):
    """A running job: what it does, how far it is, and Cancel. It lies on the upper edge of what is below it, which
    keeps its size: a picture that changed its size each time a structure is prepared would be drawn anew each time.
    `covered` says how many pixels of that edge it takes now."""

    cancelled = Signal()
    covered = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("progress")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 4, 4)
        self._text = Label(self)
        self._bar = QProgressBar(self)
        self._bar.setMaximumWidth(260)
        cancel = QPushButton(self.tr("Cancel"), self)
        cancel.setObjectName("cancel")
        cancel.clicked.connect(self.cancelled)
        row.addWidget(self._text, 1)
        row.addWidget(self._bar)
        row.addWidget(cancel)
        self.setAutoFillBackground(True)
        self._below: QWidget | None = None
        self._top: Callable[[], int] = lambda: 0
        self.hide()

    def lie_on(self, below: QWidget, top: Callable[[], int] = lambda: 0) -> None:
        """Lie on another widget of the same page from now on, so many pixels below its edge as `top` says."""
        self.setParent(below.parentWidget())
        self._below, self._top = below, top
        below.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow what is below."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        if self._below is not None:
            edge = self._below.geometry()
            self.setGeometry(edge.x(), edge.y() + self._top(), edge.width(), self.sizeHint().height())

    def show_progress(self, text: str, fraction: float | None) -> None:
        """Show what runs; `fraction` from 0 to 1, None where it is not known."""
        self._text.setText(text)
        self._bar.setRange(0, 0 if fraction is None else 1000)
        if fraction is not None:
            self._bar.setValue(round(fraction * 1000))
        self._place()
        self.show()
        self.raise_()

    def showEvent(self, event: QShowEvent) -> None:
        """Something runs."""
        super().showEvent(event)
        self.covered.emit(self.height())

    def hideEvent(self, event: QHideEvent) -> None:
        """Nothing does any more."""
        super().hideEvent(event)
        self.covered.emit(0)
