"""A chip of the row above the picture: a button that shows a part of the pipeline, its choice, and what that costs."""

from __future__ import annotations

import functools

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from raygrove.app.ui.colors import scheme
from raygrove.app.ui.pipeline.faces import Face
from raygrove.app.ui.plain_text import tip
from raygrove.app.ui.widgets.svg_icons import SIDE, drawn

TALL, LOW = 52, 32
RADIUS = 4.0
MARGIN = 8
LEFT = MARGIN + SIDE + 6
"""Where texts begin."""
RIGHT = 4
"""Pixels from where they end to the edge, which has the ring of the focus."""

COST_TOP, LINE = 34, 15
CAPTION, SMALL, TITLE = 11, 12, 13
"""Pixels of the fonts; the title is bold."""

OWN_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Space)
OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down)
"""Keys that have another meaning in the window: here they go to the next chip, or open this one."""


class Chip(QAbstractButton):
    """See the module. `hovered` carries its name when pointer or focus comes, "" when it goes; `step_wanted` by how
    many chips an arrow key goes on, from this one or (Home, End) from the ends."""

    hovered = Signal(str)
    step_wanted = Signal(str, int)

    def __init__(self, name: str, icon: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name, self._icon_name = name, icon
        self.face = Face(name, "", "")
        self._is_low = False
        self.is_open = False
        self.setObjectName(f"pipeline.{name}")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # else all that lies below is painted, too
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(TALL)

    def show_face(self, face: Face) -> None:
        """Say something else; painted only where it is something else."""
        if face == self.face:
            return
        before, self.face = self.face, face
        self.setAccessibleDescription(face.cost)
        if (before.label, before.choice) == (face.label, face.choice):
            self._update_cost()
            return
        self.setText(face.choice)
        self.setAccessibleName(f"{face.label}: {face.choice}")
        self.update()

    def _update_cost(self) -> None:
        """Paint the last line alone: it changes several times a second."""
        if not self._is_low:
            self.update(LEFT, COST_TOP, self.width() - LEFT - RIGHT, LINE)

    def set_low(self, is_low: bool) -> None:
        """Icon and name alone, or all of it."""
        self._is_low = is_low
        self.setFixedHeight(LOW if is_low else TALL)
        self.update()

    def set_open(self, is_open: bool) -> None:
        """Whether its sheet is open."""
        self.is_open = is_open
        self.update()

    def minimumSizeHint(self) -> QSize:
        """An icon has room."""
        return QSize(SIDE + 2 * MARGIN, LOW)

    def sizeHint(self) -> QSize:
        """As wide as the row makes it."""
        return QSize(160, LOW if self._is_low else TALL)

    # -- pointer and keys -----------------------------------------------------------------------------------------
    def event(self, event: QEvent) -> bool:
        """Keys that move among chips are not the timeline's while a chip has the focus."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if event.key() in (*OWN_KEYS, *OPENING) and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
                event.accept()
                return True
        elif event.type() == QEvent.Type.ToolTip:
            self.setToolTip(tip("\n".join(part for part in (self.accessibleName(), self.face.cost) if part)))
        elif event.type() in (QEvent.Type.HoverEnter, QEvent.Type.FocusIn):
            self.hovered.emit(self.name)
        elif event.type() in (QEvent.Type.HoverLeave, QEvent.Type.FocusOut):
            self.hovered.emit("")
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right go to the chip beside, Home and End to the ends; Down and Return open, as Space does."""
        key = event.key()
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.step_wanted.emit(self.name, -1 if key == Qt.Key.Key_Left else 1)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.step_wanted.emit("", 0 if key == Qt.Key.Key_Home else -1)
        elif key in OPENING:
            self.click()
        else:
            super().keyPressEvent(event)

    # -- painting -------------------------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        """Icon, label, choice and cost; of the cost alone, no more than that."""
        painter, colors = QPainter(self), scheme()
        is_marked = self.underMouse() or self.is_open or self.isDown()
        fill = QColor(colors.selected if self.is_open else colors.field if is_marked else colors.panel)
        if event.rect().top() >= COST_TOP and event.rect().left() >= LEFT:
            painter.fillRect(event.rect(), fill)
            self._write(painter, COST_TOP, LINE, self.face.cost, colors.secondary, SMALL)
            return
        painter.fillRect(self.rect(), QColor(colors.window))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.setPen(QPen(QColor(colors.text), 2.0) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawRoundedRect(area, RADIUS, RADIUS)
        icon = drawn(self._icon_name, colors.text, SIDE, self.devicePixelRatioF())
        painter.drawPixmap(MARGIN, (self.height() - SIDE) // 2, icon)
        if self._is_low:
            letter = f"{self.face.letter}:\u2002" if self.face.letter else ""  # of whom the label says it is
            self._write(painter, 0, self.height(), letter + self.face.choice, colors.text, SMALL)
            return
        self._write(painter, 3, LINE, self.face.label.upper(), colors.secondary, CAPTION)
        self._write(painter, 17, LINE + 3, self.face.choice, colors.text, TITLE)
        self._write(painter, COST_TOP, LINE, self.face.cost, colors.secondary, SMALL)

    def _write(self, painter: QPainter, top: int, height: int, text: str, color: str, pixels: int) -> None:
        room = self.width() - LEFT - RIGHT
        painter.setFont(font_of(pixels))
        painter.setPen(QColor(color))
        words = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room)
        painter.drawText(LEFT, top, room, height, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)


@functools.cache
def font_of(pixels: int) -> QFont:
    """The application's font at a size, its figures of one width."""
    font = QFont(QGuiApplication.font())
    font.setPixelSize(pixels)
    font.setWeight(QFont.Weight.DemiBold if pixels == TITLE else QFont.Weight.Normal)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font
