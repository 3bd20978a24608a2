"""A job from stdin, and a window to measure that leaves the user's own as it was."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QWidget

from raygrove.app.document.document import Document
from raygrove.app.system import starting
from raygrove.app.ui.session.frame_loop import FrameLoop
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.first_paint import FirstPaint
from raygrove.app.ui.window.application import make_application, open_window

if TYPE_CHECKING:
    from raygrove.app.ui.commands.commands import Commands
    from raygrove.app.ui.messages.toasts import Toasts
    from raygrove.app.ui.panels.stats_panel import StatsPanel
    from raygrove.app.ui.window.first_picture import FirstPicture

Job = TypeVar("Job")


class MeasuredWindow(Protocol):
    """What a measurement is handed: a window, as far as something in it is measured or done. The application's is
    one."""

    session: Session
    document: Document
    loop: FrameLoop
    docks: list[QDockWidget]
    toasts: Toasts
    stats_panel: StatsPanel
    commands: Commands
    first_picture: FirstPicture | None

    @property
    def view(self) -> Any:
        """The widget that shows the pictures."""

    def open_files(self, paths: list[str]) -> None:
        """Open files as one scene, in the background."""

    def open_demo(self, name: str) -> None:
        """Open a built-in scene, in the background."""

    def cancel_jobs(self) -> None:
        """Cancel whatever runs in the background."""

    def toggle_full_screen(self) -> None:
        """Full screen, and back."""

    def width(self) -> int:
        """In pixels."""

    def height(self) -> int:
        """In pixels."""

    def resize(self, width: int, height: int, /) -> None:
        """To so many pixels."""

    def addDockWidget(self, area: Qt.DockWidgetArea, dock: QDockWidget, /) -> None:
        """Put a dock at a side."""

    def dockWidgetArea(self, dock: QDockWidget, /) -> Qt.DockWidgetArea:
        """At which side a dock is."""

    def removeDockWidget(self, dock: QDockWidget, /) -> None:
        """Take a dock out of its place."""

    def window(self) -> QWidget:
        """The widget itself, to be photographed, and in which dialogs open."""

    def close(self) -> bool:
        """Close it; whether it closed."""


def read_job(kind: type[Job]) -> Job:
    """The job that whoever started this process wrote to its stdin: the fields of `kind` that it names."""
    return kind(**json.load(sys.stdin))


def begin(swap_interval: int = 0) -> QApplication:
    """The application, with a folder of its own for what a window keeps. It starts as the command does: garbage that
    nobody else's window looks for would be pauses of this one's."""
    starting.begin()
    application = make_application(swap_interval)
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, tempfile.mkdtemp())
    return application


def live(application: QApplication, window: MeasuredWindow) -> None:
    """Until the window is closed. It may be by now, where its first painting closes it: opening a window paints it, and
    an application that begins afterwards would never hear of the last window's end."""
    if window.window().isVisible():
        application.exec()


def open_measured(window: Any, size: Sequence[int] | None) -> FirstPaint:
    """Open the application's window, its picture of `size` pixels where one is asked for; what keeps when it was first
    painted: before, where it began with its first page."""
    open_window(window, (size[0], size[1]) if size is not None else None)
    first: FirstPaint = window.first_paint
    return first
