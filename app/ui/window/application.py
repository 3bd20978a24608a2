"""Starts Qt, chooses how pictures come into the window, and runs it."""

from __future__ import annotations

import os
import sys
from typing import Any

from PySide6.QtCore import QCoreApplication, QEventLoop, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QOffscreenSurface, QOpenGLContext, QSurfaceFormat
from PySide6.QtWidgets import QApplication

import raygrove.app.ui.import_hook  # noqa: F401 - before the window's modules are imported
from raygrove.app.document.document import Document
from raygrove.app.system import interrupts
from raygrove.app.ui.session.collector import Collector
from raygrove.app.ui.session.later import call_once
from raygrove.app.ui.session.memory import Memory
from raygrove.app.ui.session.rest import Rest
from raygrove.app.ui.session.session import make_session
from raygrove.app.ui.session.unexpected import unexpected_told
from raygrove.app.ui.window import program_icon
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.ui.window.presenter_size import (
    PRESENTER_KEY,
    VARIABLE,
    Place,
    PresenterSize,
    end_qt,
    presenter_size,
    visiting,
)
from raygrove.gpu.display.renderers import GL_RENDERER, is_hardware
from raygrove.gpu.linux import has_graphics_card, use_one_heap

UNSEEN = ("offscreen", "minimal")
"""Qt's platforms where nobody sees the window: one that could not open its scene closes there."""

SWITCH_INTERVAL_S = 0.0005
"""Seconds that a thread keeps Python while another wants it. Qt's calls let go of Python and take it back: while a job
or the render thread computes in Python, each of the hundreds of calls that make a dialog may wait so long. At Python's
own 5 ms that is a pause that is seen."""


STARTED_MS = 3000
"""When a start is over: the first picture of a scene is there by then, mostly."""

POLL_LIVE_MS = 30
"""How often a window looks what the program that it follows has to show."""


def run(document: Document, arguments: Any = None, live: Any = None) -> int:
    """Open the window and stay until it is closed, by the user or by Ctrl+C in the terminal, which the caller notes
    (app/system/interrupts.py); returns the exit code. `arguments` are the command line's: files, demo, size. `live` is
    what it follows, `poll()` and `has_ended()`: then it closes, too."""
    first, given = document.state.settings.window.presenter, os.environ.get(VARIABLE)
    document.begin_with(PRESENTER_KEY, Memory().is_presenter(first))
    began: dict[str, str] = {}
    place = None
    while True:
        presenter_size(document.state.settings.window.presenter, given)
        with visiting(document):
            code, place = _run_window(document, began, first, arguments, live, place)
        if place is None:
            return code


def _run_window(
    document: Document, began: dict[str, str], first: bool, arguments: Any, live: Any, place: Place | None
) -> tuple[int, Place | None]:
    """One window, until it is closed; the exit code, and where another one is to follow, if one is. With `place` it
    follows another, on a document that may have a scene."""
    application = make_application(document.state.settings.display.swap_interval)
    listening = len(document.on_scene)
    size = getattr(arguments, "size", None) if place is None else None
    size = (size[0], size[1]) if size else None
    is_page = place is None and size is None and _opens_nothing(document, arguments)
    is_picture = place is None and bool(document.jobs)
    window = make_window(document, began, page_first=is_page, picture_first=is_picture, size=size)
    from raygrove.app.ui.session.settings_files import show_remarks  # with the window's parts, behind its first page
    from raygrove.app.ui.window.on_screen import fit_to_screen
    from raygrove.app.ui.window.side_room import SideRoom

    presenter = PresenterSize(window.session, first, window)
    if size is None:
        SideRoom(window, window.docks, window.workspaces, window.page_alone, window.memory)
    open_window(window, size)
    if place is not None:
        place.give(window)
    fit_to_screen(window)
    if place is None:
        show_remarks(window.session.notices, getattr(arguments, "remarks", ()))
        open_scene(window, arguments)
    elif document.scene is not None:
        for hear in document.on_scene[listening:]:
            hear(document.scene)
    if QGuiApplication.platformName() in UNSEEN:
        document.on_problem.append(lambda problem: _end(window))
    ticker = QTimer()
    # In Qt's loop: a window closed before does not end it.
    ticker.timeout.connect(lambda: _close_at_once(window) if interrupts.are_noted() else None)
    ticker.start(200)
    follower = QTimer()
    if live is not None:
        follower.timeout.connect(lambda: window.close() if live.has_ended() else live.poll())
        follower.start(POLL_LIVE_MS)
    with unexpected_told(window.session.notices):
        code = application.exec()
    if presenter.next_place is not None:
        ticker.stop()
        follower.stop()
        end_qt(window, application)
    return code, presenter.next_place


def _close_at_once(window: MainWindow) -> None:
    """Whoever interrupts the program is not asked."""
    window.asks_before_quitting = False
    window.close()


def _end(window: MainWindow) -> None:
    if window.document.scene is None and not window.document.jobs:
        window.close()


def make_application(swap_interval: int = 1) -> QApplication:
    """The QApplication, set up for a GL view that may be undocked. The process's threads take turns with Python ten
    times as often as they would, and share one heap."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    use_one_heap()
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    QCoreApplication.setAttribute(Qt.ApplicationAttribute.AA_ShareOpenGLContexts)
    surface = QSurfaceFormat()
    surface.setVersion(3, 3)
    surface.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    surface.setSwapInterval(swap_interval)
    QSurfaceFormat.setDefaultFormat(surface)
    QGuiApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    application = QApplication(sys.argv[:1])
    application.setApplicationName("Raygrove")
    application.setDesktopFileName("raygrove")
    return application


def make_view(choice: str) -> Any:
    """The widget for `display.view`: gl or painter; auto takes GL where it is in hardware. Without any GL: the painter
    view, and a banner."""
    if choice == "painter" or (choice == "auto" and not has_hardware_gl()) or not gl_renderer():
        from raygrove.app.ui.picture.painter_view import PainterView

        return PainterView()
    from raygrove.app.ui.picture.viewport import Viewport

    return Viewport()


def gl_renderer() -> str:
    """Who would draw with OpenGL here; an empty text where there is none."""
    context = QOpenGLContext()
    if QGuiApplication.platformName() in ("offscreen", "minimal") or not context.create():
        return ""
    surface = QOffscreenSurface()
    surface.setFormat(context.format())
    surface.create()
    if not context.makeCurrent(surface):
        return ""
    name = context.functions().glGetString(GL_RENDERER)
    context.doneCurrent()
    return name or ""


def has_hardware_gl() -> bool:
    """Whether OpenGL is drawn by a graphics card. Where there is none nobody asks, which would load a program that
    imitates one."""
    return has_graphics_card() and is_hardware(gl_renderer())


def make_window(
    document: Document,
    began: dict[str, str] | None = None,
    *,
    page_first: bool = False,
    picture_first: bool = False,
    size: tuple[int, int] | None = None,
) -> MainWindow:
    """The window on a document, not shown yet unless its first page or its first picture is to be (MainWindow)."""
    session = make_session(document, began)
    window = MainWindow(session, make_view, page_first=page_first, picture_first=picture_first, size=size)
    Rest(window.session, window)
    if window.first_picture is not None:
        window.first_picture.tell()
    return window


def open_window(window: MainWindow, size: tuple[int, int] | None) -> None:
    """Show the window; with `size` the picture has that many pixels."""
    if size is None and window.document.scene is None and not window.document.jobs and not window.isVisible():
        window.show_welcome()  # before what it hides is laid out and painted
    window.show()
    if size is not None:
        ratio = window.devicePixelRatioF()
        for _ in range(3):  # in a narrow window the row of the pipeline is lower, which its layout learns by and by
            extra = window.size() - window.stack.size()
            window.resize(extra.width() + round(size[0] / ratio), extra.height() + round(size[1] / ratio))
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
    window.loop.start()
    window.document.mailroom.poll()
    window.running.show()
    call_once(window, STARTED_MS, Collector(window).begin)
    call_once(window, program_icon.DELAY_MS, lambda: window.setWindowIcon(program_icon.program_icon()))


def _opens_nothing(document: Document, arguments: Any) -> bool:
    """Whether the window begins with its first page."""
    named = (getattr(arguments, name, None) for name in ("files", "demo", "live"))
    return document.scene is None and not document.jobs and not any(named)


def open_scene(window: MainWindow, arguments: Any) -> None:
    """Open what the command line names, or what a crash has left, unless the document has a scene or opens one."""
    if window.document.scene is not None or window.document.jobs:
        return
    files, demo = getattr(arguments, "files", None), getattr(arguments, "demo", None)
    if files:
        window.open_files(list(files))
    elif demo:
        window.open_demo(demo)
    elif not getattr(arguments, "live", None):
        window.set_aside.open_left()
