"""The picture drawn by OpenGL: from CUDA's pixel buffers inside the graphics card, or uploaded from main memory."""

from __future__ import annotations

import time

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QOpenGLContext, QResizeEvent
from PySide6.QtOpenGLWidgets import QOpenGLWidget
from PySide6.QtWidgets import QSizePolicy, QWidget

from raygrove.app.frames.pixel_slots import HostSlot, PixelSlot, SlotExchange
from raygrove.app.ui.picture.painter_view import BACKGROUND, RESIZE_PAUSE_MS
from raygrove.app.ui.picture.slots import Slots
from raygrove.gpu.display.cuda_gl import CudaGl, InteropUnavailable
from raygrove.gpu.display.gl_spheres import GlSpheres
from raygrove.gpu.display.pixel_buffer import PixelBuffer
from raygrove.gpu.display.presenter import Presenter
from raygrove.gpu.display.programs import PresenterError
from raygrove.gpu.display.sphere_look import SphereDrawingError, SpherePicture

WAY_WORDS = {"full_screen": "fragment shader", "impostors": "impostors"}


class Viewport(QOpenGLWidget):
    """Shows the newest finished picture of its exchange. `painted` follows each drawing of a new picture,
    `exchange_changed` each change of size or way; `interop_failed` says once in a sentence why pictures are copied.
    `drawing_failed` carries the error of spheres that OpenGL does not draw."""

    painted = Signal()
    exchange_changed = Signal()
    interop_failed = Signal(str)
    drawing_failed = Signal(object)
    kind = "gl"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("picture")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(64, 48)
        self.paint_ms = 0.0
        self._presenter: Presenter | None = None
        self._interop: CudaGl | None = None
        self._interop_target = ""
        self._is_pending = False
        self._to_draw: SpherePicture | None = None
        self._begun: SpherePicture | None = None
        self._refused: tuple[tuple[str, int], SphereDrawingError] | None = None
        self._spheres: GlSpheres | None = None
        self._slots = Slots(self._make, self._free, self)
        self._slots.changed.connect(self.exchange_changed)
        self._timer = QTimer(self, singleShot=True, interval=RESIZE_PAUSE_MS)
        self._timer.timeout.connect(self._fit_slots)

    @property
    def exchange(self) -> SlotExchange | None:
        """Where the render thread finds a slot of the present size."""
        return self._slots.exchange

    @property
    def way(self) -> str:
        """How pictures come here, in words."""
        if self._to_draw is not None:
            return f"OpenGL, {WAY_WORDS[self._to_draw.way]}"
        return "OpenGL, CUDA interop" if self._interop is not None else "OpenGL, copied"

    @property
    def spheres_ms(self) -> float:
        """What the graphics processor took for the last picture of spheres that OpenGL drew, 0 where it drew none."""
        return self._spheres.drawing_ms if self._spheres is not None else 0.0

    @property
    def has_interop(self) -> bool:
        """Whether pictures stay inside the graphics card."""
        return self._interop is not None

    @property
    def exchanges(self) -> tuple[SlotExchange, ...]:
        """The same for whoever asks for an exchange a picture."""
        return (self.exchange,) if self.exchange is not None else ()

    def device_size(self) -> tuple[int, int]:
        """The widget's size in the screen's own pixels."""
        ratio = self.devicePixelRatioF()
        return max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio))

    def sizeHint(self) -> QSize:
        """What the picture would like."""
        return QSize(1024, 768)

    def use_target(self, target_name: str) -> None:
        """Share buffers with CUDA where pictures come from there; once for a target, and back to copies with a sentence
        where CUDA refuses."""
        if target_name == self._interop_target or self._presenter is None:
            return
        self._interop_target, self._interop = target_name, None
        if target_name.startswith("cuda"):
            device = int(target_name.partition(":")[2] or 0)
            try:
                self._interop = CudaGl(device)
            except InteropUnavailable as problem:
                self._say_refused(problem)
        self._renew_slots()

    def refresh(self) -> None:
        """A picture was finished: show it."""
        self._is_pending, self._to_draw, self._begun = True, None, None
        self.update()

    def show_spheres(self, picture: SpherePicture) -> None:
        """Draw these spheres by OpenGL, in as many paintings as it takes; `painted` follows the last one. A picture
        that was begun is drawn to its end first, or one that takes long would never be seen while something moves.
        Raises SphereDrawingError for what OpenGL has refused before: who plays must not hear of a picture first."""
        if self._refused is not None and self._refused[0] == (picture.way, len(picture.spheres)):
            raise self._refused[1]
        self._is_pending, self._to_draw = True, picture
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self._to_draw = None
        if self._presenter is not None:
            self._presenter.forget()
        self.update()

    def open_slots(self) -> None:
        """Lend slots of the present size, where it does not yet."""
        self._fit_slots()

    def close_slots(self) -> bool:
        """Lend nothing any more; True once all slots are free."""
        return self._slots.close()

    def picture(self) -> QImage | None:
        """The widget's framebuffer."""
        return self.grabFramebuffer()

    def initializeGL(self) -> None:
        """The context is new: so are the texture and the shaders."""
        context = QOpenGLContext.currentContext()
        context.aboutToBeDestroyed.connect(self._lose_context, Qt.ConnectionType.DirectConnection)
        self._presenter = Presenter()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make slots of the new size, once it has settled."""
        super().resizeEvent(event)
        if self.exchange is None:
            self._fit_slots()
        else:
            self._timer.start()

    def paintGL(self) -> None:
        """Take the newest picture over and draw it; never waits for the render thread."""
        start = time.perf_counter()
        if self._presenter is None:
            return
        is_whole = True
        if self._is_pending and self._to_draw is not None:
            is_whole = self._draw_spheres(self._presenter, self._to_draw)
        elif self._is_pending:
            self._take_newest(self._presenter)
        self._presenter.draw(*self.device_size(), background=BACKGROUND)
        if not is_whole:
            self.update()
        elif (
            self._is_pending
        ):  # also where the picture was of a size that is gone: who waits for the painting must not wait for ever
            self._is_pending = self._begun is not self._to_draw
            self._begun = None
            self.paint_ms = (time.perf_counter() - start) * 1e3 if self._to_draw is None else self.spheres_ms
            # now, not after the swap: the next frame is drawn while this one is being copied to the screen
            self.painted.emit()
            if self._is_pending:  # newer spheres have come meanwhile
                self.update()

    def _draw_spheres(self, presenter: Presenter, newest: SpherePicture) -> bool:
        """Draw a strip of the picture that was begun, or of the newest; whether one is whole, or never will be."""
        try:
            self._spheres = self._spheres or GlSpheres()
            if self._begun is None:
                self._spheres.take(newest.spheres, newest.colours)
                self._spheres.begin(newest.way, *self.device_size(), newest.look)
                self._begun = newest
            self._spheres.go_on()
        except (SphereDrawingError, PresenterError) as error:
            self._begun, self._is_pending = None, False
            self._refused = (newest.way, len(newest.spheres)), SphereDrawingError(str(error))
            self.drawing_failed.emit(self._refused[1])
            return True
        presenter.borrow(self._spheres.texture, *self._spheres.size)
        return self._spheres.is_whole

    def _take_newest(self, presenter: Presenter) -> None:
        exchange = self.exchange
        slot = exchange.newest_finished() if exchange is not None else None
        if exchange is None or slot is None:
            return
        if isinstance(slot, HostSlot):
            presenter.upload(slot.pixels)
        elif isinstance(slot, PixelBuffer):
            try:
                slot.reclaim()
                presenter.upload(slot if slot.staged is None else slot.staged)
                slot.lend()
            except InteropUnavailable as problem:  # copies from here on; its slot goes with the others of its kind
                self._interop = None
                self._say_refused(problem)
                self._renew_slots()
                return
        exchange.give_back(slot)

    def _renew_slots(self) -> None:
        if self._slots.size != (0, 0):
            self._slots.renew(*self._slots.size)

    def _fit_slots(self) -> None:
        self._slots.resize(*self.device_size())

    def _make(self, width: int, height: int) -> tuple[PixelSlot, ...]:
        if self._interop is not None:
            made: list[PixelBuffer] = []
            self.makeCurrent()
            try:
                for _ in range(2):
                    made.append(PixelBuffer(self._interop, width, height))
                    made[-1].lend()
                return tuple(made)
            except InteropUnavailable as problem:
                for slot in made:
                    slot.close()
                self._interop = None
                self._say_refused(problem)
            finally:
                self.doneCurrent()
        return HostSlot(width, height), HostSlot(width, height)

    def _free(self, slot: PixelSlot) -> None:
        if isinstance(slot, PixelBuffer):
            self.makeCurrent()
            slot.close()
            self.doneCurrent()

    def _say_refused(self, problem: InteropUnavailable) -> None:
        """Say why pictures are copied, once the painting that may have found it out is over."""
        QTimer.singleShot(0, self, lambda: self.interop_failed.emit(str(problem)))

    def _lose_context(self) -> None:
        self.makeCurrent()
        if self._spheres is not None:
            self._spheres.close()
            self._spheres, self._begun, self._refused = None, None, None
        if self._presenter is not None:
            self._presenter.close()
            self._presenter = None
        self.doneCurrent()
