"""The tour: six steps in the window itself, on a card over the lower left of the picture, with a ring around what each
is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from raygrove.app.ui.colors import scheme
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.window.tour_steps import Step

WIDE, MARGIN = 380, 12
FOLLOW_MS = 200
"""How often the ring looks where its widget is: panels move and change their size."""


class Ring(QWidget):
    """A ring of ink over the window, through which mouse and keys go."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("tour.ring")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ink with a casing of the panel's colour, so that it reads on any picture."""
        painter, colors = QPainter(self), scheme()
        for color, width, inset in ((colors.panel, 4.0, 2), (colors.text, 2.0, 2)):
            painter.setPen(QPen(QColor(color), width))
            painter.drawRect(self.rect().adjusted(inset, inset, -inset - 1, -inset - 1))


class Tour(QFrame):
    """See the module. `make_steps` gives the steps when it begins; `look` gives the picture the focus, so that the keys
    which a step names are the picture's, and says whether there is one. `ended` carries whether the last step was
    seen."""

    ended = Signal(bool)

    def __init__(
        self,
        window: QWidget,
        picture: QWidget,
        make_steps: Callable[[], Sequence[Step]],
        look: Callable[[], bool],
    ) -> None:
        super().__init__(window)
        self.setObjectName("tour")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self._picture, self._make_steps, self._look, self._ring = picture, make_steps, look, Ring(window)
        self._steps: Sequence[Step] = ()
        self.step = -1
        self._count, self._title, self._text = Label(self), Label(self), Label(self)
        self._lay_out()
        self._timer = QTimer(self, interval=FOLLOW_MS)
        self._timer.timeout.connect(self._place)
        window.installEventFilter(self)
        self.hide()

    def _lay_out(self) -> None:
        font = self._title.font()
        font.setPixelSize(15)
        font.setBold(True)
        self._title.setFont(font)
        self._text.setWordWrap(True)
        end, self.back, self.on = QPushButton(self.tr("End")), QPushButton(self.tr("Back")), QPushButton()
        for button, name, run in (
            (end, "tour.end", self.end),
            (self.back, "tour.back", lambda: self.go_to(self.step - 1)),
            (self.on, "tour.next", lambda: self.go_to(self.step + 1)),
        ):
            button.setObjectName(name)
            button.setAutoDefault(True)
            button.clicked.connect(run)
        row = QHBoxLayout()
        row.addWidget(self._count)
        row.addStretch(1)
        for button in (end, self.back, self.on):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.addWidget(self._title)
        column.addWidget(self._text)
        column.addLayout(row)

    @property
    def is_under_way(self) -> bool:
        """Whether a step is shown."""
        return self.step >= 0

    def begin(self) -> None:
        """From the first step."""
        self._steps = self._make_steps()
        self.go_to(0)
        self._timer.start()

    def go_to(self, number: int) -> None:
        """Prepare and show a step; behind the last it is over."""
        if number >= len(self._steps):
            self._finish(True)
            return
        self.step = max(number, 0)
        step = self._steps[self.step]
        step.prepare()
        self._count.setText(self.tr("{number} of {count}").format(number=self.step + 1, count=len(self._steps)))
        self._title.setText(step.title)
        self._text.setText(step.text)
        self.setAccessibleName(step.title)
        self.setAccessibleDescription(step.text)
        self.back.setEnabled(self.step > 0)
        self.on.setText(self.tr("Done") if self.step == len(self._steps) - 1 else self.tr("Next"))
        self.show()
        self._place()
        if not self._look():
            self.on.setFocus(Qt.FocusReason.OtherFocusReason)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def end(self) -> None:
        """Before the last step; harmless where none is under way."""
        if self.is_under_way:
            self._finish(self.step == len(self._steps) - 1)

    def _finish(self, is_done: bool) -> None:
        self.step = -1
        self._timer.stop()
        self.hide()
        self._ring.hide()
        self._look()
        self.ended.emit(is_done)

    def _place(self) -> None:
        """The card over the lower left of the picture, the ring around its widget, both above all else."""
        window = self.parentWidget()
        if not self.is_under_way or window is None:
            return
        corner = self._picture.mapTo(window, QPoint(0, self._picture.height()))
        width = max(min(WIDE, self._picture.width() - 2 * MARGIN), 200)
        height = self.heightForWidth(width)
        self.setGeometry(corner.x() + MARGIN, corner.y() - MARGIN - height, width, height)
        target = self._steps[self.step].place()
        place = QRect(window.mapFromGlobal(target.mapToGlobal(QPoint(0, 0))), target.size())
        area = place.intersected(window.rect()) if target.isVisible() else QRect()
        self._ring.setGeometry(area)
        self._ring.setVisible(not area.isEmpty())
        self._ring.raise_()
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window; Return that nobody else wants goes on."""
        if event.type() == QEvent.Type.Resize:
            QTimer.singleShot(0, self, self._place)
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self.is_under_way:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.go_to(self.step + 1)
                return True
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Keys of the card are not the timeline's while it has the focus."""
        is_own = isinstance(event, QKeyEvent) and event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Space)
        if event.type() == QEvent.Type.ShortcutOverride and is_own:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc ends it; Tab goes among its buttons, and Return presses one."""
        if event.key() == Qt.Key.Key_Escape:
            self.end()
        else:
            super().keyPressEvent(event)
