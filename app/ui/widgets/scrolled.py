"""A panel in a dock that may be lower than the panel: it scrolls, so that a small window stays as small as it is."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractSlider, QAbstractSpinBox, QComboBox, QDockWidget, QFrame, QScrollArea, QWidget

LEAST_WIDTH, LEAST_HEIGHT = 200, 44
"""Pixels that a panel keeps, unless it needs fewer."""

TURNED_BY_WHEEL = (QAbstractSpinBox, QComboBox, QAbstractSlider)


class _Held(QWidget):
    """A panel that is made lower down to what it needs. Given to a scroll area by itself, a panel with lines that wrap
    would scroll as soon as it has less than it would like."""

    has_changed = Signal()

    def __init__(self, panel: QWidget) -> None:
        super().__init__()
        self._panel = panel
        panel.setParent(self)

    def minimumSizeHint(self) -> QSize:
        """What the panel needs."""
        return needed_by(self._panel, self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """All of it is the panel's."""
        self._panel.setGeometry(self.rect())

    def event(self, event: QEvent) -> bool:
        """The panel needs more or less than before: the scroll area has to know."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self.has_changed.emit()
        return super().event(event)


class Scrolled(QScrollArea):
    """Scrolls over a panel; it would like the panel's size, and is content with a few rows of it."""

    def __init__(self, panel: QWidget) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.panel = panel
        held = _Held(panel)
        held.has_changed.connect(self.watch_boxes)
        self.setWidget(held)

    def showEvent(self, event: QShowEvent) -> None:
        """Whatever stands in the panel now."""
        super().showEvent(event)
        self.watch_boxes()

    def watch_boxes(self) -> None:
        """See to it that the wheel, which scrolls past boxes and sliders, changes none that is not being edited."""
        for kind in TURNED_BY_WHEEL:
            for box in self.panel.findChildren(kind):
                box.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave the wheel to the scroll area where that has something to scroll."""
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            if self.verticalScrollBar().maximum() > 0:
                event.ignore()
                return True
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        """The panel's."""
        return self.panel.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """A few rows, or the panel's where that is less."""
        return needed_by(self.panel, 0).boundedTo(QSize(LEAST_WIDTH, LEAST_HEIGHT))


def needed_by(panel: QWidget, width: int) -> QSize:
    """The least size at which a panel of so many pixels across need not scroll."""
    least = panel.minimumSizeHint().expandedTo(panel.minimumSize())
    layout = panel.layout()
    across = max(width, least.width())
    lines = layout.minimumHeightForWidth(across) if layout is not None and layout.hasHeightForWidth() else 0
    return least.expandedTo(QSize(0, lines))


def panel_of(dock: QDockWidget) -> QWidget:
    """What a dock shows, whether it scrolls or not."""
    shown = dock.widget()
    return shown.panel if isinstance(shown, Scrolled) else shown
