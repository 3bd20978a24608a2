"""The rail at the left of the picture: a button for each drawer, which opens beside it; one is open at a time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QDockWidget, QMainWindow, QToolBar, QWidget

from raygrove.app.document.document import Document
from raygrove.app.ui.colors import scheme
from raygrove.app.ui.widgets.svg_icons import SIDE, drawn
from raygrove.gpu.scene import Scene

WIDTH, BAR = 40, 3
RADIUS = 4.0
LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
PRESSING = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
"""Keys that have another meaning in the window: here they go to the next button, or press this one."""


def tr(text: str) -> str:
    """`text` in the user's language."""
    return QCoreApplication.translate("Rail", text)


def drawers() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Title and panels of each drawer, by its icon."""
    return {
        "objects": (tr("Scene objects"), ("objects",)),
        "camera": (tr("Cameras"), ("camera",)),
        "lights": (tr("Lights and materials"), ("lights", "materials")),
        "clip": (tr("Clipping plane"), ("clip",)),
        "spheres": (tr("Spheres"), ("spheres",)),
    }


class Rail(QToolBar):
    """See the module. The button of spheres is there where the scene has some."""

    def __init__(self, document: Document, window: QMainWindow, docks: Sequence[QDockWidget]) -> None:
        super().__init__(tr("Rail at the left"), window)
        self.setObjectName("bar.rail")
        self.setMovable(False)
        self.setFloatable(False)
        self.setFixedWidth(WIDTH)
        self._window = window
        self._docks = {dock.objectName().removeprefix("dock."): dock for dock in docks}
        self._in_front: set[QDockWidget] = set()
        self.buttons: dict[str, RailButton] = {}
        for name, (title, panels) in drawers().items():
            button = RailButton(name, title, self)
            button.clicked.connect(functools.partial(self.toggle, name))
            button.step_wanted.connect(functools.partial(self._step, name))
            self.buttons[name] = button
            action = self.addWidget(button)
            if name == "spheres":
                document.on_scene.append(self._shows_spheres(action.setVisible))
                action.setVisible(False)
            for panel in panels:
                dock = self._docks[panel]
                dock.visibilityChanged.connect(functools.partial(self._follow, dock))
        window.addToolBar(Qt.ToolBarArea.LeftToolBarArea, self)

    @staticmethod
    def _shows_spheres(show: Callable[[bool], None]) -> Callable[[Scene | None], None]:
        return lambda scene: show(scene is not None and bool(scene.spheres))

    def toggle(self, name: str) -> None:
        """Open a drawer in place of the one that is open, or close it."""
        wanted = [self._docks[panel] for panel in drawers()[name][1]]
        is_open = any(dock in self._in_front for dock in wanted)
        for dock in self._docks.values():
            is_other = dock not in wanted and self._window.dockWidgetArea(dock) == LEFT and not dock.isFloating()
            if not dock.isHidden() and (dock in wanted if is_open else is_other):
                dock.toggleViewAction().trigger()
        if is_open:
            return
        for dock in reversed(wanted):  # whichever is shown last is in front
            if dock.isHidden():
                dock.toggleViewAction().trigger()
            else:
                dock.raise_()

    def _follow(self, dock: QDockWidget, is_in_front: bool) -> None:
        (self._in_front.add if is_in_front else self._in_front.discard)(dock)
        for name, (_, panels) in drawers().items():
            self.buttons[name].setChecked(any(self._docks[panel] in self._in_front for panel in panels))

    def _step(self, name: str, places: int) -> None:
        there = [one for one, button in self.buttons.items() if button.isVisible()]
        other = there[(there.index(name) + places) % len(there)]
        self.buttons[other].setFocus(Qt.FocusReason.TabFocusReason)


class RailButton(QAbstractButton):
    """An icon. `step_wanted`: an arrow key goes on by so many."""

    step_wanted = Signal(int)

    def __init__(self, icon: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon_name = icon
        self.setObjectName(f"rail.{icon}")
        self.setCheckable(True)
        self.setToolTip(title)
        self.setAccessibleName(title)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFixedSize(self.sizeHint())

    def sizeHint(self) -> QSize:
        """A square as wide as the rail."""
        return QSize(WIDTH, WIDTH)

    def event(self, event: QEvent) -> bool:
        """Keys that press it, or go on, are not the timeline's while it has the focus."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if event.key() in (*STEPS, *PRESSING) and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down go to the button beside; Return presses, as Space does."""
        key = Qt.Key(event.key())
        if key in STEPS:
            self.step_wanted.emit(STEPS[key])
        elif key in PRESSING:
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The icon, with a bar beside it while its drawer is open."""
        painter, colors = QPainter(self), scheme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        fill = colors.selected if self.isChecked() else colors.field if self.underMouse() or self.isDown() else ""
        painter.setPen(QPen(QColor(colors.text), 2.0) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(fill) if fill else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(area, RADIUS, RADIUS)
        if self.isChecked():
            painter.fillRect(QRectF(0, 4, BAR, self.height() - 8), QColor(colors.text))
        place = (WIDTH - SIDE) // 2
        painter.drawPixmap(place, place, drawn(self._icon_name, colors.text, SIDE, self.devicePixelRatioF()))
