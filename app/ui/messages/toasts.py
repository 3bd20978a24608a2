"""The notices that stand: over the lower right of the picture for some seconds, then as a count in the status bar,
which shows them again. The picture keeps its size and place."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QEnterEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QToolButton, QVBoxLayout, QWidget

from raygrove.app.ui.messages.banner import Banner
from raygrove.app.ui.session.notices import Notice
from raygrove.gpu.brief import filled

SHOWN_MS = 6000
WIDE, MARGIN = 440, 12
"""Pixels of a notice's width, and to the edges of the picture."""


class Toasts(QWidget):
    """See the module. One with the `topic` of an older one takes its place. Errors stay in sight until they are closed
    or over; the others go after SHOWN_MS, unless the pointer is on them. `changed`: another number of them stands."""

    LIMIT = 4

    changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notices")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self._standing: dict[str, Banner] = {}
        self._fading: dict[str, QTimer] = {}
        self._below: QWidget | None = None
        self._focus_before: QWidget | None = None
        self.is_listed = False
        self.hide()

    def lie_on(self, below: QWidget) -> None:
        """Lie on another widget of the same page from now on."""
        self.setParent(below.parentWidget())
        self._below = below
        below.installEventFilter(self)
        self._place()

    # -- what stands ----------------------------------------------------------------------------------------------
    def show_message(self, kind: str, sentence: str, details: str = "", topic: str = "") -> Banner:
        """Show a message of `kind` error, warning or information; at most LIMIT stand at a time."""
        topic = topic or sentence
        self.clear(topic)
        while len(self._standing) >= self.LIMIT:
            self.clear(next(iter(self._standing)))
        banner = Banner(kind, sentence, details, self)
        banner.setAutoFillBackground(True)
        banner.setAccessibleName(sentence)
        banner.closed.connect(lambda: self.clear(topic))
        self._standing[topic] = banner
        self._column.addWidget(banner)
        if kind != "error":
            timer = QTimer(banner, singleShot=True, interval=SHOWN_MS)
            timer.timeout.connect(lambda: self._fade(topic))
            timer.start()
            self._fading[topic] = timer
        self._show()
        QAccessible.updateAccessibility(QAccessibleEvent(banner, QAccessible.Event.Alert))
        return banner

    def show_notice(self, notice: Notice) -> None:
        """Show a notice, with a button for each of its ways."""
        banner = self.show_message(notice.kind, notice.sentence, notice.details, notice.topic)
        for way in notice.ways:
            banner.add_button(way.name, way.title, way.run)
        self._place()

    def clear(self, topic: str) -> None:
        """Take a message away, if it stands."""
        banner = self._standing.pop(topic, None)
        if banner is None:
            return
        self._fading.pop(topic, None)
        self._column.removeWidget(banner)
        banner.hide()
        banner.deleteLater()
        self.is_listed = self.is_listed and bool(self._standing)
        self._show()

    def messages(self) -> list[Banner]:
        """What stands, oldest first, whether it is in sight or not."""
        return list(self._standing.values())

    # -- what is in sight -----------------------------------------------------------------------------------------
    def toggle_list(self) -> None:
        """Show all that stands until this is asked for again, or Esc is pressed."""
        if self.is_listed or not self._standing:
            self.close_list()
            return
        self.is_listed, self._focus_before = True, QApplication.focusWidget()
        for banner in self._standing.values():
            banner.show()
        self._show()
        newest = self.messages()[-1].findChild(QToolButton, "close")
        assert newest is not None, "each has one"
        newest.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def close_list(self) -> None:
        """Only errors stay in sight."""
        self.is_listed = False
        for topic in self._fading:
            self._standing[topic].hide()
        self._show()
        if self._focus_before is not None and self._focus_before.isVisible():
            self._focus_before.setFocus()
        self._focus_before = None

    def _fade(self, topic: str) -> None:
        if topic in self._standing and not self.is_listed:
            self._standing[topic].hide()
            self._show()

    def _show(self) -> None:
        self.setVisible(any(not banner.isHidden() for banner in self._standing.values()))
        self._place()
        self.changed.emit(len(self._standing))

    def _place(self) -> None:
        if self._below is None or self.isHidden():
            return
        edge = self._below.geometry()
        width = max(min(WIDE, edge.width() - 2 * MARGIN), 1)
        self._column.activate()
        height = min(self._column.totalHeightForWidth(width), max(edge.height() - 2 * MARGIN, 1))
        self.setGeometry(edge.right() + 1 - MARGIN - width, edge.bottom() + 1 - MARGIN - height, width, height)
        self.raise_()

    # -- Qt -------------------------------------------------------------------------------------------------------
    def event(self, event: QEvent) -> bool:
        """Details that are opened need more room; Esc is no command while it puts the list away."""
        is_esc = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if event.type() == QEvent.Type.ShortcutOverride and is_esc and self.is_listed:
            event.accept()
            return True
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return super().event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow what is below."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return super().eventFilter(watched, event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Someone reads: none of them goes."""
        for timer in self._fading.values():
            timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """They go by and by."""
        for topic, timer in self._fading.items():
            if not self._standing[topic].isHidden():
                timer.start()
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc puts the list away."""
        if event.key() == Qt.Key.Key_Escape and self.is_listed:
            self.close_list()
            return
        super().keyPressEvent(event)


class NoticeCount(QToolButton):
    """How many notices stand, in the status bar; a click shows them."""

    def __init__(self, toasts: Toasts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice_count")
        self.setAutoRaise(True)
        self.setToolTip(self.tr("Show the notices, or put them away"))
        self.clicked.connect(toasts.toggle_list)
        toasts.changed.connect(self._show)
        self._show(len(toasts.messages()))

    def _show(self, count: int) -> None:
        self.setText(filled(self.tr("{count} notices"), count=count))
        self.setVisible(count > 0)
