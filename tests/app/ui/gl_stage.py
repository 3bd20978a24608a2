"""Scenes of the GL tests, each run in a process of its own under a virtual X server: `python -m tests.app.ui.gl_stage NAME OUT.npz`.

The process draws with OpenGL 3.3 through QOpenGLWidget, as the program does, and writes what its framebuffer held.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

os.environ["QT_QPA_PLATFORM"] = "xcb"
os.environ["RAYGROVE_CHECK_GL"] = "1"

import numpy as np
from PySide6.QtCore import QDeadlineTimer, QEventLoop
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QMainWindow

from app.document import Document
from app.ui.application import gl_renderer, has_hardware_gl, make_application, make_view
from app.ui.viewport import Viewport
from tests.app.stand_ins import PaintedMaker, gradient


def wait_until(is_done: Callable[[], bool], seconds: float = 10.0) -> None:
    """Let Qt run until it is done; TimeoutError when it never is."""
    deadline = QDeadlineTimer(round(seconds * 1000))
    while not is_done():
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        if deadline.hasExpired():
            raise TimeoutError("Nothing came within the time there was.")


def array_of(image: QImage) -> np.ndarray:
    """(height, width, 3) uint8."""
    copy = image.convertToFormat(QImage.Format.Format_RGBX8888)
    return np.frombuffer(copy.constBits(), np.uint8).reshape(copy.height(), copy.width(), 4)[..., :3].copy()


def draw_into(view: Viewport, picture: np.ndarray) -> None:
    """Give the view one picture, as the render thread does, and wait until it is painted."""
    painted: list[bool] = []
    view.painted.connect(lambda: painted.append(True))
    exchange = view.exchange
    assert exchange is not None
    slot = exchange.take_free()
    assert slot is not None
    with slot.image(PaintedMaker(), picture.shape[1], picture.shape[0]) as image:  # type: ignore[arg-type]
        image[:] = picture
    exchange.finish(slot)
    view.refresh()
    wait_until(lambda: bool(painted))


def shown_view(width: int = 320, height: int = 240) -> tuple[QMainWindow, Viewport]:
    """A GL view of that size in a window."""
    window = QMainWindow()
    view = Viewport()
    view.setFixedSize(width, height)
    window.setCentralWidget(view)
    window.show()
    wait_until(lambda: view.isValid() and view.exchange is not None)
    return window, view


def picture() -> dict[str, Any]:
    """A picture of the view's size, and one of half its size."""
    window, view = shown_view()
    draw_into(view, gradient(320, 240))
    full = array_of(view.grabFramebuffer())
    draw_into(view, gradient(160, 120))
    half = array_of(view.grabFramebuffer())
    draw_into(view, gradient(100, 240))
    narrow = array_of(view.grabFramebuffer())
    window.close()
    return {"full": full, "half": half, "narrow": narrow}


def context() -> dict[str, Any]:
    """What the context is, and which view the settings' words choose."""
    window, view = shown_view()
    surface = view.context().format()
    answers = {"version": (surface.majorVersion(), surface.minorVersion()), "renderer": gl_renderer(), "is_hardware": has_hardware_gl()}
    answers |= {f"view_{choice}": make_view(choice).kind for choice in ("auto", "gl", "painter")}
    window.close()
    return answers


def undock() -> dict[str, Any]:
    """The picture after the view has moved to another window and back, and after a resize."""
    window, view = shown_view()
    draw_into(view, gradient(320, 240))
    other = QMainWindow()
    other.setCentralWidget(window.takeCentralWidget())
    other.show()
    wait_until(lambda: other.isVisible() and view.isValid())
    draw_into(view, gradient(320, 240))
    moved = array_of(view.grabFramebuffer())
    view.setFixedSize(200, 100)
    wait_until(lambda: view.exchange is not None and view.exchange.width == 200)
    draw_into(view, gradient(200, 100))
    resized = array_of(view.grabFramebuffer())
    other.close()
    window.close()
    return {"moved": moved, "resized": resized}


def interop() -> dict[str, Any]:
    """What is said where the GL context is not CUDA's, and the picture that comes all the same."""
    window, view = shown_view()
    sentences: list[str] = []
    view.interop_failed.connect(sentences.append)
    view.use_target("cuda")
    view.use_target("cuda")
    draw_into(view, gradient(320, 240))
    answers = {"sentences": sentences, "has_interop": view.has_interop, "shown": array_of(view.grabFramebuffer())}
    window.close()
    return answers


def whole_window() -> dict[str, Any]:
    """The program's window with the GL view: the animation plays, the window is resized and closed."""
    import functools

    from app.render_thread import RenderThread
    from app.state import SceneReference
    from app.ui import frame_loop
    from app.ui.application import open_window
    from app.ui.main_window import MainWindow
    from app.ui.previews import Previews
    from gpu.scene import Clip, Scene

    setattr(frame_loop, "RenderThread", functools.partial(RenderThread, make_maker=PaintedMaker))  # noqa: B010
    setattr(Previews, "ask", lambda self, names: None)  # noqa: B010
    document = Document()
    window = MainWindow(document, lambda choice: make_view("gl"))
    open_window(window, (320, 240))
    document.set_scene(SceneReference("demo", ("empty",)), Scene("empty", clips=(Clip("all", 2.0),)))
    wait_until(lambda: len(PaintedMaker.drawn) > 20)
    size = window.view.device_size()
    window.resize(window.width() + 64, window.height() + 32)
    wait_until(lambda: window.view.device_size() != size and window.view.exchange.width == window.view.device_size()[0])
    count = len(PaintedMaker.drawn)
    wait_until(lambda: len(PaintedMaker.drawn) > count + 10)
    shown = array_of(window.view.grabFramebuffer())
    is_closed = window.close()
    return {"shown": shown, "is_closed": is_closed, "paint_ms": window.view.paint_ms}


def live_objects() -> int:
    """Textures, buffers, framebuffers, vertex arrays and programs of the current context."""
    from OpenGL import GL

    asks = (GL.glIsTexture, GL.glIsBuffer, GL.glIsFramebuffer, GL.glIsVertexArray, GL.glIsProgram)
    return sum(bool(ask(name)) for ask in asks for name in range(1, 400))


def soak() -> dict[str, Any]:
    """The program's window resized, its docks undocked and docked, full screen and back, at random, RAYGROVE_SOAK times; errors of GL, its objects
    and the process's memory after a quarter of the events and at the end, and the picture."""
    import functools
    import random
    from pathlib import Path

    from OpenGL import GL

    from app.render_thread import RenderThread
    from app.state import SceneReference
    from app.ui import frame_loop
    from app.ui.application import open_window
    from app.ui.main_window import MainWindow
    from app.ui.previews import Previews
    from gpu.scene import Clip, Scene

    setattr(frame_loop, "RenderThread", functools.partial(RenderThread, make_maker=PaintedMaker))  # noqa: B010
    setattr(Previews, "ask", lambda self, names: None)  # noqa: B010
    window = MainWindow(Document(), lambda choice: make_view("gl"))
    open_window(window, (320, 240))
    window.document.set_scene(SceneReference("demo", ("empty",)), Scene("empty", clips=(Clip("all", 2.0),)))
    wait_until(lambda: len(PaintedMaker.drawn) > 5)
    events, chance, counts, errors = int(os.environ["RAYGROVE_SOAK"]), random.Random(4), [0, 0, 0], 0
    measured = []
    for number in range(events):
        kind = chance.randrange(3)
        counts[kind] += 1
        if kind == 0:
            window.resize(chance.randrange(700, 1200), chance.randrange(500, 900))
        elif kind == 1:
            dock = chance.choice(window.docks)
            dock.show()
            dock.setFloating(not dock.isFloating())
        else:
            window.toggle_full_screen()
        for _ in range(3):
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 10)
        window.view.makeCurrent()
        errors += GL.glGetError() != GL.GL_NO_ERROR
        if number in (events // 4, events - 1):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            measured.append((live_objects(), pages * os.sysconf("SC_PAGE_SIZE") / 2**20))
        window.view.doneCurrent()
    if window.isFullScreen():
        window.toggle_full_screen()
    window.reset_layout()
    window.resize(900, 700)
    wait_until(lambda: window.view.exchange.width == window.view.device_size()[0] and window.view.exchange.height == window.view.device_size()[1])
    count = len(PaintedMaker.drawn)
    wait_until(lambda: len(PaintedMaker.drawn) > count + 10)
    shown = array_of(window.view.grabFramebuffer())
    window.close()
    return {"shown": shown, "errors": errors, "counts": counts, "measured": measured}


def main(name: str, path: str) -> None:
    """Run one scene and write its answers."""
    make_application(0)
    answers = {"picture": picture, "context": context, "undock": undock, "interop": interop, "whole_window": whole_window, "soak": soak}[name]()
    np.savez(path, **{key: np.asarray(value) for key, value in answers.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
