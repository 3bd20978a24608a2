"""Where the panels stand around the picture: a dock for each, and the arrangement that Reset layout puts back."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence

from PySide6.QtCore import QChildEvent, QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QDockWidget, QMainWindow, QStackedWidget, QStyle, QTabBar, QWidget
from shiboken6 import isValid

from raygrove.app.ui.panels.inspectors import Place
from raygrove.app.ui.widgets.scrolled import Scrolled, needed_by, panel_of

NEVER_SCROLLED = ("timeline",)
"""Panels of one row."""
UNTITLED = ("timeline", "cost")
"""The strip of the time below the picture: one panel that unfolds, and stays where it is."""

LOW = 860
"""Pixels of a window in which there is room for one panel at the right."""

TAB_STYLE = """
QTabBar::tab { padding: 3px 6px; font-size: 12px; border: none; border-top: 3px solid transparent; }
QTabBar::tab:hover { background: palette(midlight); }
QTabBar::tab:selected { background: palette(highlight); border-top: 3px solid palette(text); }
"""
"""Narrow tabs: the seven of the workspace Inspect stand beside each other in its 440 pixels, each with all its letters.
"""

SIDES = (Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea)


class _Line(QWidget):
    """In the place of a title. A dock that its panel fills would count as hidden behind it (`visibleRegion`)."""

    def sizeHint(self) -> QSize:
        """One pixel of height."""
        return QSize(0, 1)


def make_docks(window: QMainWindow, places: Sequence[Place]) -> list[QDockWidget]:
    """A dock of the window for each panel, in their order."""
    docks = []
    for name, title, panel, area in places:
        dock = QDockWidget(title, window)
        dock.setObjectName(f"dock.{name}")
        panel.setAutoFillBackground(True)  # else the dock below is painted with each change of a figure
        dock.setWidget(panel if name in NEVER_SCROLLED else Scrolled(panel))
        if name in UNTITLED:
            dock.setTitleBarWidget(_Line(dock))
            dock.setFeatures(QDockWidget.DockWidgetFeature.DockWidgetClosable)
        policy = dock.widget().sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # else a tab that comes to the front would lay the window out anew
        dock.widget().setSizePolicy(policy)
        dock.visibilityChanged.connect(functools.partial(_follow_tab, dock))
        window.addDockWidget(area, dock)
        docks.append(dock)
    first, *others = (dock for dock in docks if window.dockWidgetArea(dock) == Qt.DockWidgetArea.LeftDockWidgetArea)
    for dock in others:
        window.tabifyDockWidget(first, dock)  # a drawer with tabs: one panel at the left of the picture is seen
    return docks


def _follow_tab(dock: QDockWidget, is_in_front: bool) -> None:
    """Hide a panel while its tab is behind another, so that it works nothing out which nobody sees: Qt only moves it
    off the window, where it would still be visible."""
    dock.widget().setVisible(is_in_front or dock.isHidden())


def front_last(around: Sequence[QWidget], is_in_front: Callable[[QWidget], bool]) -> list[QWidget]:
    """Those that are shown, in the order in which they come back: of tabs the one that is shown last is in front."""
    return sorted((widget for widget in reversed(around) if not widget.isHidden()), key=is_in_front)


@contextlib.contextmanager
def behind(docks: Sequence[QDockWidget]) -> Iterator[None]:
    """While these are shown and put behind another as its tabs: none of their panels is seen in between, each of which
    would be made and laid out for it."""
    for dock in docks:
        dock.blockSignals(True)
        dock.widget().hide()
    try:
        yield
    finally:
        for dock in docks:
            dock.blockSignals(False)


class PictureAlone(QObject):
    """Full screen: the picture and what lies in it, without menus, bars and panels; and back to what was there."""

    def __init__(self, window: QMainWindow, around: Callable[[], Sequence[QWidget]]) -> None:
        super().__init__(window)
        self._window, self._around = window, around
        self._hidden: list[QWidget] = []
        self._behind: list[QDockWidget] = []

    def toggle(self) -> bool:
        """Whether the picture is alone now."""
        window, is_alone = self._window, not self._window.isFullScreen()
        if is_alone:
            self._hidden = front_last(self._around(), _is_seen)
            self._behind = [dock for dock in self._hidden if isinstance(dock, QDockWidget) and self._is_behind(dock)]
        with behind(() if is_alone else self._behind):
            for widget in self._hidden:
                widget.setHidden(is_alone)
        window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen)
        return is_alone

    def _is_behind(self, dock: QDockWidget) -> bool:
        """Whether another tab is in front of a panel."""
        return not _is_seen(dock) and any(map(_is_seen, self._window.tabifiedDockWidgets(dock)))


def _is_seen(widget: QWidget) -> bool:
    return not widget.visibleRegion().isEmpty()


class PageAlone(QObject):
    """A page of a stack stands alone in the window: what is around it is away as long as the page is shown. `around`
    gives it, and of tabs that have not been seen yet the one first that comes to the front. What `has_room` refuses
    stays away beside other pages, too. `followed`: all stands as it should, with the page alone or not."""

    followed = Signal(bool)

    def __init__(self, stack: QStackedWidget, page: QWidget, around: Callable[[], Sequence[QWidget]]) -> None:
        super().__init__(stack)
        self._stack, self._page, self._around = stack, page, around
        self._away: list[QWidget] = []
        self.has_room: Callable[[QWidget], bool] = lambda widget: True
        stack.currentChanged.connect(self.follow)
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.follow)
        for widget in around():
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A panel that comes while the page is alone waits for the picture, in front of the others."""
        if event.type() == QEvent.Type.Show and self._stack.currentWidget() is self._page:
            self._later.start()
        return super().eventFilter(watched, event)

    def follow(self) -> None:
        """Put away what is around the page, or has no room, and show again what may be shown."""
        is_alone = self._stack.currentWidget() is self._page
        back = [widget for widget in self._away if not is_alone and self.has_room(widget)]
        leaving = [widget for widget in self._around() if is_alone or not self.has_room(widget)]
        shown = front_last(leaving, self._is_in_front)
        self._away = [widget for widget in self._away if widget not in back and widget not in shown] + shown
        for widget in shown:
            widget.hide()
        came = [widget for widget in back if not widget.isHidden()]  # somebody has shown them meanwhile
        for widget in back:
            widget.show()
        for widget in came:
            QTimer.singleShot(0, widget, widget.raise_)  # behind those that bring the others to the front
        self.followed.emit(is_alone)

    @property
    def has_put_away(self) -> bool:
        """Whether anything is away now."""
        return bool(self._away)

    def let_go(self, widget: QWidget) -> None:
        """Somebody else has shown or hidden it: leave it so."""
        self._away = [one for one in self._away if one is not widget]

    def _is_in_front(self, widget: QWidget) -> bool:
        """Whether a widget is seen, or will be once it is shown: of tabs that were remembered their bar knows it."""
        window = self._stack.window()
        if widget.isVisible() or not (isinstance(widget, QDockWidget) and isinstance(window, QMainWindow)):
            return not widget.visibleRegion().isEmpty()
        title = widget.windowTitle()
        others = [dock.windowTitle() for dock in window.tabifiedDockWidgets(widget) if not dock.isHidden()]
        for bar in window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            titles = [bar.tabText(tab) for tab in range(bar.count())]
            if title in titles and [one for one in titles if one != title] == others:  # else a bar of before
                return bar.tabText(bar.currentIndex()) == title
        return False

    def bring_back(self) -> None:
        """Show what was there, each tab in front that was."""
        away, self._away = self._away, []
        for widget in away:
            widget.show()


class TabBars(QObject):
    """Looks after the bars of tabs that Qt makes: titles are whole, and arrows lead to those that have no room; bars
    that Qt leaves in a small window when of their panels none, or one, is shown are taken away."""

    def __init__(self, window: QMainWindow, docks: Sequence[QDockWidget]) -> None:
        super().__init__(window)
        self._window, self._docks = window, docks
        self._colors: QPalette | None = None
        # From here on they are told of: a window keeps each child that `findChildren` gave until it ends itself.
        self._bars = window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look after the window has been arranged, has another bar, or has other colours."""
        if isinstance(event, QChildEvent) and event.type() == QEvent.Type.ChildPolished:
            child = event.child()
            if isinstance(child, QTabBar) and child not in self._bars:
                self._bars.append(child)
                QTimer.singleShot(0, self, self._look)
        kinds = (QEvent.Type.LayoutRequest, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.PaletteChange)
        if event.type() in kinds:
            QTimer.singleShot(0, self, self._look)
        return super().eventFilter(watched, event)

    def _look(self) -> None:
        has_changed, self._colors = self._colors != self._window.palette(), self._window.palette()
        shown = {dock.windowTitle() for dock in self._docks if not dock.isHidden()}
        self._bars = [bar for bar in self._bars if isValid(bar)]  # Qt takes away those of before
        for bar in self._bars:
            if has_changed or bar.elideMode() != Qt.TextElideMode.ElideNone:
                bar.setElideMode(Qt.TextElideMode.ElideNone)
                bar.setStyleSheet(TAB_STYLE)  # with the colours of now
            if bar.x() >= 0 and len(shown & {bar.tabText(tab) for tab in range(bar.count())}) < 2:
                bar.move(-bar.width(), -bar.height())  # Qt puts it back where it needs it


class FirstRoom(QObject):
    """Gives a panel that is shown for the first time the room that it needs, as far as half the window is enough.
    Panels that stand there at the start, and whatever someone makes smaller, stay as they are: below the picture, where
    Qt gives a panel that comes back its least height, it is given the height that it had. A panel for which the window
    would have to grow becomes a tab of another at its side."""

    def __init__(self, window: QMainWindow, docks: Sequence[QDockWidget]) -> None:
        super().__init__(window)
        self._window, self._docks = window, docks
        self._waiting = {dock.objectName() for dock in docks if dock.isHidden()}
        self._unplaced = set(self._waiting)  # Qt may let them be seen before it says that they are shown
        self._alone: set[str] = set()  # found nobody at the right to share a place with, the first time
        self._before: QSize | None = None
        self._kept: dict[str, int] = {}
        window.installEventFilter(self)
        for dock in docks:
            dock.visibilityChanged.connect(functools.partial(self._seen, dock))
            dock.toggleViewAction().toggled.connect(functools.partial(self._shown, dock))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the size that the window had, while it becomes another one."""
        if isinstance(event, QResizeEvent) and watched is self._window and self._before is None:
            self._before = event.oldSize()
            QTimer.singleShot(0, self, self._forget)
        return super().eventFilter(watched, event)

    def _forget(self) -> None:
        self._before = None

    def _shown(self, dock: QDockWidget, is_shown: bool) -> None:
        """A panel that is asked for is the one that is seen of its tabs. In a low window those at the right share one
        place from the first time on: two would have a few rows each."""
        if not is_shown:
            self._kept[dock.objectName()] = dock.height()
            return
        is_first = dock.objectName() in self._unplaced
        self._unplaced.discard(dock.objectName())
        if is_first and (others := self._others_at_right(dock)):
            if dock not in self._window.tabifiedDockWidgets(others[0]):
                self._window.tabifyDockWidget(others[0], dock)
        elif is_first:
            self._alone.add(dock.objectName())
        elif self._alone:  # what was there may have been away for a page, and come back only now
            QTimer.singleShot(0, self, functools.partial(self._share_place, dock))  # Qt may be restoring a workspace
        if not dock.signalsBlocked():  # else it comes behind another
            QTimer.singleShot(0, dock, dock.raise_)

    def _others_at_right(self, dock: QDockWidget) -> list[QDockWidget]:
        """In a low window, the panels that share the place at the right with one of them."""
        if self._window.height() >= LOW or not self._is_at_right(dock):
            return []
        return [one for one in self._docks if one is not dock and not one.isHidden() and self._is_at_right(one)]

    def _share_place(self, dock: QDockWidget) -> None:
        """Join a panel and one that had found nobody."""
        for other in () if dock.isHidden() else self._others_at_right(dock):
            alone = self._alone & {dock.objectName(), other.objectName()}
            if alone and other not in self._window.tabifiedDockWidgets(dock):
                self._alone -= alone
                self._window.tabifyDockWidget(other, dock)
                dock.raise_()
                return

    def _is_at_right(self, dock: QDockWidget) -> bool:
        return self._window.dockWidgetArea(dock) == Qt.DockWidgetArea.RightDockWidgetArea and not dock.isFloating()

    def _seen(self, dock: QDockWidget, is_visible: bool) -> None:
        if not is_visible:
            return
        before, least = self._before, self._window.minimumSizeHint().height()
        if before is not None and before.height() < least == self._window.height():  # the window made room by growing
            QTimer.singleShot(0, self, functools.partial(self._share, dock, before))
        if dock.objectName() in self._waiting:
            self._waiting.remove(dock.objectName())
            QTimer.singleShot(0, self, functools.partial(self._give, dock))  # the window arranges it before
        elif dock.objectName() in self._kept and self._window.dockWidgetArea(dock) not in SIDES:
            QTimer.singleShot(0, self, functools.partial(self._give_back, dock))

    def _share(self, dock: QDockWidget, size: QSize) -> None:
        """Let docks be tabs of others until the window may be as large as it was: the new one first, then whichever
        stand in the fullest column."""
        window = self._window
        if window.height() > window.minimumSizeHint().height():  # someone has made it larger meanwhile
            return
        for _ in self._docks:
            if window.minimumSizeHint().height() <= size.height() or not self._join(dock):
                break
            layout = window.layout()
            assert layout is not None, "a main window has one"
            layout.activate()
        window.resize(size)
        dock.raise_()

    def _join(self, newest: QDockWidget) -> bool:
        """Make one dock a tab of another of its column, of one that has tabs already where there is such: that takes no
        more room. False where each column has one place left."""
        columns: dict[Qt.DockWidgetArea, list[QDockWidget]] = {}
        for dock in self._docks:
            is_seen = not (dock.isFloating() or dock.visibleRegion().isEmpty())
            if is_seen and dock.objectName().removeprefix("dock.") not in NEVER_SCROLLED:
                columns.setdefault(self._window.dockWidgetArea(dock), []).append(dock)
        full = [column for column in columns.values() if len(column) > 1]
        if not full:
            return False
        column = max(full, key=lambda column: (newest in column, len(column)))
        ranked = sorted(column, key=lambda one: (len(self._window.tabifiedDockWidgets(one)), one is not newest))
        self._window.tabifyDockWidget(
            ranked[-1], newest if newest in column and ranked[-1] is not newest else ranked[0]
        )
        return True

    def _give(self, dock: QDockWidget) -> None:
        if dock.isFloating() or not dock.isVisible():
            return
        window, frame = self._window, dock.size() - dock.widget().size()
        needed = needed_by(panel_of(dock), dock.widget().width()) + frame
        if needed.height() > dock.height():  # the bar that scrolls it takes nothing of its width
            needed += QSize(window.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent), 0)
        self._heighten(dock, needed.height())
        width = min(needed.width(), window.width() // 2)
        if dock.width() < width:
            window.resizeDocks([dock], [width], Qt.Orientation.Horizontal)

    def _give_back(self, dock: QDockWidget) -> None:
        height = self._kept.pop(dock.objectName(), 0)
        is_least = dock.height() <= dock.minimumSizeHint().height()  # else a workspace's arrangement has its own
        if is_least and not dock.isFloating() and dock.isVisible():
            self._heighten(dock, height)

    def _heighten(self, dock: QDockWidget, height: int) -> None:
        """Let a dock be so high, as far as half the window and those beside it allow."""
        window, height = self._window, min(height, self._window.height() // 2)
        others = [one for one in self._docks if one is not dock and self._is_beside(one, dock)]
        least = [max(one.minimumSizeHint().height(), 1) for one in others]  # Qt refuses a height of 0
        spare = [max(one.height() - low, 0) for one, low in zip(others, least, strict=True)]
        left = sum(least) + sum(spare)
        if window.dockWidgetArea(dock) in SIDES:  # a column, as high as it is
            height = min(height, dock.height() + sum(spare))
            left += dock.height() - height
        if dock.height() < height:
            share = (left - sum(least)) / max(sum(spare), 1)
            heights = [height, *(low + round(share * more) for low, more in zip(least, spare, strict=True))]
            window.resizeDocks([dock, *others], heights, Qt.Orientation.Vertical)

    def _is_beside(self, one: QDockWidget, other: QDockWidget) -> bool:
        """Whether two docks share a column, and the first is seen."""
        window = self._window
        is_seen = not (one.isFloating() or one.visibleRegion().isEmpty())
        return is_seen and window.dockWidgetArea(one) == window.dockWidgetArea(other)
