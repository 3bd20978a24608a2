"""Scenes of the GL tests, run in a process of their own under a virtual X server: `python -m
tests.app.ui.picture.gl_stage NAME OUT.npz`.

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

from raygrove.app.document.document import Document
from raygrove.app.ui.picture.viewport import Viewport
from raygrove.app.ui.session.session import make_session
from raygrove.app.ui.window.application import gl_renderer, has_hardware_gl, make_application, make_view
from tests.app.stand_ins import PaintedMaker, gradient


def wait_until(is_done: Callable[[], bool], seconds: float = 120.0) -> None:
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


def draw_into(view: Viewport, picture: np.ndarray, target: Any = None) -> None:
    """Give the view one picture of a target, as the render thread does, and wait until it is painted."""
    painted: list[bool] = []
    view.painted.connect(lambda: painted.append(True))
    exchange = view.exchange
    assert exchange is not None
    slot = exchange.take_free()
    assert slot is not None
    with slot.image(target or PaintedMaker(), picture.shape[1], picture.shape[0]) as image:
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
    answers = {
        "version": (surface.majorVersion(), surface.minorVersion()),
        "renderer": gl_renderer(),
        "is_hardware": has_hardware_gl(),
    }
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


def refusals() -> dict[str, Any]:
    """What CUDA refuses while buffers are shared."""
    from tests.app.ui.picture.gl_refusals import refusals as found

    return found()


def spheres() -> dict[str, Any]:
    """Seeded and awkward spheres by both ways of OpenGL; with the driver's points as large as they are, and no larger
    than 24 pixels."""
    from raygrove.gpu.display.gl_spheres import GlSpheres
    from raygrove.gpu.display.sphere_look import WAYS
    from tests.app.ui.picture.sphere_scene import SIZE, looks, some_colours, some_spheres

    window, view = shown_view()
    view.makeCurrent()
    drawn = GlSpheres()
    answers: dict[str, Any] = {}
    drawn.take(some_spheres())
    for name, look in looks().items():
        for way in (*WAYS, "small_points"):
            drawn._largest_point = 24.0 if way == "small_points" else drawn._largest_point
            drawn.begin("impostors" if way == "small_points" else way, *SIZE, look)
            drawn._rows_a_strip, strips = min(drawn._rows_a_strip, 50), 0
            while not drawn.is_whole:
                drawn.go_on()
                strips += 1
            answers |= {f"{name}_{way}": drawn.read(), f"{name}_{way}_strips": strips}
            answers[f"{name}_{way}_ms"] = drawn.drawing_ms
    drawn.take(some_spheres(), some_colours())
    for way in WAYS:
        drawn.begin(way, *SIZE, looks()["perspective"])
        while not drawn.is_whole:
            drawn.go_on()
        answers[f"coloured_{way}"] = drawn.read()
    drawn.close()
    view.doneCurrent()
    window.close()
    return answers


def is_shown(window: Any, way: str) -> bool:
    """Whether the newest picture is that of the state, of the view's size, and nothing is on its way."""
    frame, view, loop = window.loop.last_frame, window.view, window.loop
    is_newest = loop._arrived_serial == loop._serial and not loop._rest.isActive() and not view._is_pending
    if frame is None or not is_newest or frame.request.size != view.device_size():
        return False
    return frame.request.state.settings.display.spheres == way and not frame.request.is_moving


def refused_by_the_driver(window: Any) -> tuple[str, int]:
    """What is said where the shaders do not compile, and how many frames count as pictures after it."""
    from raygrove.app.ui.picture import viewport
    from raygrove.gpu.display.programs import PresenterError

    class Refusing:
        def __init__(self) -> None:
            raise PresenterError("The shader spheres.glsl did not compile.")

    document, view = window.document, window.view
    document.change("settings.display.spheres", "rays")
    wait_until(lambda: is_shown(window, "rays"))  # or what is refused is a picture that came before
    kept, working, view._spheres = view._spheres, viewport.GlSpheres, None
    viewport.GlSpheres = Refusing  # type: ignore[assignment,misc]
    document.change("settings.display.spheres", "impostors")
    wait_until(lambda: bool(window.toasts.messages()))
    said, arrived, told = window.toasts.messages()[0].sentence, list[Any](), list[Any]()
    window.loop.frame_arrived.connect(arrived.append)
    window.loop.problem.connect(told.append)
    document.change("settings.ray_type.flat.ambient", 0.3)
    wait_until(lambda: bool(told))
    viewport.GlSpheres, view._spheres = working, kept  # type: ignore[misc]
    document.change("settings.display.spheres", "rays")
    wait_until(lambda: not window.toasts.messages())
    return said, sum(frame.spheres is not None for frame in arrived)


def sphere_window() -> dict[str, Any]:
    """Spheres in the program's window: by OpenGL both ways, by rays in flat shading, then in a view that Qt paints; the
    read-back of each, what the statistics call the way, and what is said of the last."""
    import dataclasses
    import functools

    from raygrove.app.document.state import SceneReference
    from raygrove.app.scene_io.demos.particles import make_spheres
    from raygrove.app.ui.window.application import open_window
    from raygrove.app.ui.window.main_window import MainWindow

    window = MainWindow(make_session(Document()), lambda choice: make_view("gl" if choice == "auto" else choice))
    open_window(window, (320, 240))
    document, pictures = window.document, dict[str, Any]()
    for key, value in {
        "display.spheres": "impostors",
        "display.adapt_resolution": False,
        "display.still_samples": 1,
        "display.refine_samples": 1,
        "render.device": "cpu",
        "render.ray_type": "flat",
    }.items():
        document.change(f"settings.{key}", value)
    document.set_scene(SceneReference("demo", ("spheres",)), make_spheres(400, 1, "pixels", 12.0))

    for way in ("impostors", "full_screen", "rays"):
        document.change("settings.display.spheres", way)
        wait_until(functools.partial(is_shown, window, way))
        pictures |= {way: array_of(window.view.grabFramebuffer()), f"{way}_way": window.view.way}
        window.stats_panel.show_latest()
        pictures |= {f"{way}_ms": window.view.spheres_ms, f"{way}_rows": window.stats_panel.text()}
    document.change("settings.display.spheres", "full_screen")
    wait_until(functools.partial(is_shown, window, "full_screen"), 60.0)
    picture, painted = window.view._to_draw, list[bool]()
    window.view.painted.connect(lambda: painted.append(True))
    for _ in range(40):
        window.view._spheres._rows_a_strip = 30  # as where a picture takes long
        window.view.show_spheres(dataclasses.replace(picture))
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
    pictures["drawn_while_more_came"] = len(painted)
    pictures["refused"], pictures["after_it"] = refused_by_the_driver(window)
    document.change("settings.display.view", "painter")
    document.change("settings.display.spheres", "impostors")
    wait_until(lambda: bool(window.toasts.messages()))
    pictures["said"] = [banner.sentence for banner in window.toasts.messages()]
    window.close()
    return pictures


def whole_window() -> dict[str, Any]:
    """The program's window with the GL view: the animation plays, the window is resized and closed."""
    import functools

    from raygrove.app.document.state import SceneReference
    from raygrove.app.frames.render_thread import RenderThread
    from raygrove.app.ui.session import frame_loop
    from raygrove.app.ui.window.application import open_window
    from raygrove.app.ui.window.main_window import MainWindow
    from raygrove.app.ui.window.previews import Previews
    from raygrove.gpu.scene import Clip, Scene

    setattr(frame_loop, "RenderThread", functools.partial(RenderThread, make_maker=PaintedMaker))  # noqa: B010
    setattr(Previews, "ask", lambda self, names: None)  # noqa: B010
    document = Document()
    window = MainWindow(make_session(document), lambda choice: make_view("gl"))
    open_window(window, (320, 240))
    document.set_scene(SceneReference("demo", ("empty",)), Scene("empty", clips=(Clip("all", 2.0),)))
    wait_until(lambda: len(PaintedMaker.drawn) > 20)
    size = window.view.device_size()
    window.resize(window.width() + 64, window.height() + 32)
    wait_until(lambda: window.view.device_size() != size and window.view.exchange.width == window.view.device_size()[0])
    count = len(PaintedMaker.drawn)
    wait_until(lambda: len(PaintedMaker.drawn) > count + 10 and shows_its_size(window))
    shown = array_of(window.view.grabFramebuffer())
    is_closed = window.close()
    return {"shown": shown, "is_closed": is_closed, "paint_ms": window.view.paint_ms}


def shows_its_size(window: Any) -> bool:
    """Whether the newest picture has the size of the view, which docks may still change."""
    return window.loop.last_frame is not None and window.loop.last_frame.request.size == window.view.device_size()


def live_objects() -> int:
    """Textures, buffers, framebuffers, vertex arrays and programs of the current context."""
    from OpenGL import GL

    asks = (GL.glIsTexture, GL.glIsBuffer, GL.glIsFramebuffer, GL.glIsVertexArray, GL.glIsProgram)
    return sum(bool(ask(name)) for ask in asks for name in range(1, 400))


def soak() -> dict[str, Any]:
    """The program's window resized, its docks undocked and docked, full screen and back, at random, RAYGROVE_SOAK
    times; errors of GL, its objects and the process's memory after a quarter of the events and at the end, and the
    picture."""
    import functools
    import random
    from pathlib import Path

    from OpenGL import GL

    from raygrove.app.document.state import SceneReference
    from raygrove.app.frames.render_thread import RenderThread
    from raygrove.app.ui.session import frame_loop
    from raygrove.app.ui.window.application import open_window
    from raygrove.app.ui.window.main_window import MainWindow
    from raygrove.app.ui.window.previews import Previews
    from raygrove.gpu.scene import Clip, Scene

    setattr(frame_loop, "RenderThread", functools.partial(RenderThread, make_maker=PaintedMaker))  # noqa: B010
    setattr(Previews, "ask", lambda self, names: None)  # noqa: B010
    window = MainWindow(make_session(Document()), lambda choice: make_view("gl"))
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
    wait_until(
        lambda: (
            window.view.exchange.width == window.view.device_size()[0]
            and window.view.exchange.height == window.view.device_size()[1]
        )
    )
    count = len(PaintedMaker.drawn)
    wait_until(lambda: len(PaintedMaker.drawn) > count + 10 and shows_its_size(window))
    shown = array_of(window.view.grabFramebuffer())
    window.close()
    return {"shown": shown, "errors": errors, "counts": counts, "measured": measured}


SCENES = (picture, context, undock, interop, refusals, spheres, sphere_window, whole_window, soak)


def main(names: str, path: str) -> None:
    """Run scenes, separated by commas, one after the other, and write the answers of each as SCENE.ANSWER."""
    make_application(0)
    scenes = {scene.__name__: scene for scene in SCENES}
    answers = {f"{name}.{key}": value for name in names.split(",") for key, value in scenes[name]().items()}
    np.savez(path, **{key: np.asarray(value) for key, value in answers.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
