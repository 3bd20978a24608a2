"""The pictures of a race in the middle of the window: side by side, two with a line between, or the difference of two.

All have one size, and each shows the newest picture that its contestant has drawn: of one instant, as a race draws all
before the next. They are painted by Qt from main memory, on every machine alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from PySide6.QtCore import QRect, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from raygrove.app.frames.pixel_slots import HostSlot, PixelSlot, SlotExchange
from raygrove.app.frames.race_hits import StepDifference, colored, outlined
from raygrove.app.settings.race_options import RaceOptions, contestants_of, edited_place, pair_of
from raygrove.app.ui.colors import scheme
from raygrove.app.ui.picture.painter_view import RESIZE_PAUSE_MS, image_of
from raygrove.app.ui.picture.slots import Slots
from raygrove.app.ui.race import header
from raygrove.app.ui.race.header import RaceHeader
from raygrove.app.ui.race.pictures import RacePicture
from raygrove.app.ui.race.race_bar import RaceBar
from raygrove.app.ui.race.race_lines import HEIGHT, LOW_BELOW, LOW_HEIGHT, RaceLines
from raygrove.gpu.analysis.race import LETTERS
from raygrove.gpu.display.sphere_look import SphereDrawingError, SpherePicture

GAP = 4


class RaceView(QWidget):
    """See the module; a View of the frame loop. `lines` and `bar` stand below the pictures. `made` is called with each
    new picture, to let mouse and keys in it move the camera. `chosen` carries the place of a contestant that is to be
    the pipeline's; `spelt` and `removed` that of one that is to be another, or none."""

    painted = Signal()
    exchange_changed = Signal()
    drawing_failed = Signal(object)
    chosen = Signal(int)
    spelt = Signal(int, str)
    removed = Signal(int)
    split_moved = Signal(float, bool)
    kind = "race"
    way = "painted by Qt"

    def __init__(
        self,
        bar: RaceBar,
        lines: RaceLines,
        made: Callable[[RacePicture, int], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("race")
        self.setMinimumSize(64, 48)
        self.paint_ms = 0.0
        self.bar, self.lines, self._made = bar, lines, made
        for below in (bar, lines):
            below.setParent(self)
        bar.height_changed.connect(lambda: self._arrange() if self._slots else None)
        self._options = RaceOptions()
        self.headers: list[RaceHeader] = []
        self.pictures: list[RacePicture] = []
        self.wide = self._picture("race.wide", 0)
        self.wide.split_moved.connect(self.split_moved)
        self.wide.watch_line()
        self._slots: list[Slots] = []
        self._images: list[QImage | None] = []
        self._pixels: list[np.ndarray | None] = []
        self._masks: Sequence[np.ndarray] = ()
        self._difference: StepDifference | None = None
        self._has_news, self._begun = False, 0.0
        self._timer = QTimer(self, singleShot=True, interval=RESIZE_PAUSE_MS)
        self._timer.timeout.connect(self._fit_slots)

    # -- what the frame loop uses ---------------------------------------------------------------------------------
    @property
    def exchanges(self) -> tuple[SlotExchange, ...]:
        """One a contestant."""
        found = tuple(slots.exchange for slots in self._slots if slots.exchange is not None)
        return found if len(found) == len(self._slots) else ()

    def device_size(self) -> tuple[int, int]:
        """The size of a picture in the screen's own pixels."""
        ratio, place = self.devicePixelRatioF(), self.places()[0][1]
        return max(1, round(place.width() * ratio)), max(1, round(place.height() * ratio))

    def use_target(self, target_name: str) -> None:
        """The target whose pictures come; painting takes them from main memory."""

    def show_spheres(self, picture: SpherePicture) -> None:
        """Raises SphereDrawingError: a race is one of rays."""
        raise SphereDrawingError("A race is one of rays. Choose Structure > Spheres drawn by > Rays.")

    def refresh(self) -> None:
        """All pictures of an instant were finished: show them."""
        self._begun = time.perf_counter()
        for place, slots in enumerate(self._slots):
            slot = slots.exchange.newest_finished() if slots.exchange is not None else None
            if slots.exchange is None or slot is None:
                continue
            assert isinstance(slot, HostSlot)
            self._pixels[place] = slot.pixels.copy()
            slots.exchange.give_back(slot)
        self._has_news = True
        self.show_pictures()

    def clear(self) -> None:
        """Show nothing."""
        self._pixels, self._difference, self._masks = [None] * len(self._slots), None, ()
        for picture in (*self.pictures, self.wide):
            picture.show_one(None)
        self.show_pictures()

    def open_slots(self) -> None:
        """Lend slots of the present size, where it does not yet."""
        self._fit_slots()

    def close_slots(self) -> bool:
        """Lend nothing any more; True once all slots are free."""
        closed = [slots.close() for slots in self._slots]  # each is told, also where one is not free yet
        return all(closed)

    def picture(self) -> QImage | None:
        """What is seen of the race, with its headers."""
        return self.grab(QRect(0, 0, self.width(), self.height() - self._below())).toImage()

    # -- who races ------------------------------------------------------------------------------------------------
    def take(self, options: RaceOptions) -> None:
        """Show these contestants in this way."""
        count, self._options = len(contestants_of(options)), options
        while len(self._slots) < count:
            self._add(len(self._slots))
        while len(self._slots) > count:
            self._drop()
        self._difference = None if options.mode != "difference" else self._difference
        self._arrange()

    def _add(self, place: int) -> None:
        title, picture = RaceHeader(LETTERS[place], self), self._picture(f"race.{LETTERS[place]}", place)
        title.chosen.connect(lambda: self.chosen.emit(place))
        title.spelt.connect(lambda text: self.spelt.emit(place, text))
        title.removed.connect(lambda: self.removed.emit(place))
        self.headers.append(title)
        self.pictures.append(picture)
        slots = Slots(_two, lambda slot: None, self)
        slots.changed.connect(self.exchange_changed)
        self._slots.append(slots)
        self._pixels.append(None)

    def _drop(self) -> None:
        slots = self._slots.pop()
        slots.close()  # its timer ends it once nobody draws into it
        self._pixels.pop()
        for widget in (self.headers.pop(), self.pictures.pop()):
            widget.hide()
            widget.deleteLater()
        self._masks = ()

    def _picture(self, name: str, place: int) -> RacePicture:
        made = RacePicture(name, self._was_painted, self)
        self._made(made, place)
        return made

    # -- how they stand -------------------------------------------------------------------------------------------
    @property
    def shown(self) -> tuple[int, ...]:
        """The places of those that are seen, in the order in which they stand."""
        grid = tuple(range(len(self._slots)))
        return grid if self._options.mode == "grid" or len(grid) < 2 else pair_of(self._options)

    def places(self) -> list[tuple[QRect, QRect]]:
        """Where header and picture of each of `shown` stand; side by side one picture is shared."""
        room = QRect(0, 0, self.width(), max(self.height() - self._below(), header.HEIGHT + 16))
        count, is_grid = len(self.shown), len(self.shown) == len(self._slots) and self._options.mode == "grid"
        columns = 1 if count < 2 else 2
        rows = -(-count // columns) if is_grid else 1
        width, height = (room.width() - (columns - 1) * GAP) // columns, (room.height() - (rows - 1) * GAP) // rows
        found = []
        for number in range(max(count, 1)):
            left, top = (number % columns) * (width + GAP), (number // columns) * (height + GAP)
            shared = QRect(0, header.HEIGHT, room.width(), height - header.HEIGHT)
            own = QRect(left, top + header.HEIGHT, width, height - header.HEIGHT)
            found.append((QRect(left, top, width, header.HEIGHT), own if is_grid or count < 2 else shared))
        return found

    def _below(self) -> int:
        """Pixels of what stands below the pictures."""
        lines = HEIGHT if self.height() >= LOW_BELOW else LOW_HEIGHT
        if self._options.lines == "off" or self.lines.is_of_a_still:
            lines = 0
        return self.bar.heightForWidth(self.width()) + lines

    def _arrange(self) -> None:
        is_wide, shown = self.shown != tuple(range(len(self._slots))) or self._options.mode != "grid", self.shown
        is_wide = is_wide and len(self._slots) > 1
        self.wide.setVisible(is_wide)
        places = dict(zip(shown, self.places(), strict=True))
        edited = edited_place(self._options)
        for place, (title, picture) in enumerate(zip(self.headers, self.pictures, strict=True)):
            title.set_edited(place == edited)
            title.setVisible(place in places)
            picture.setVisible(place in places and not is_wide)
            if place in places:
                title.setGeometry(places[place][0])
                picture.setGeometry(places[place][1])
        if is_wide:
            self.wide.setGeometry(self.places()[0][1])
        low, below = self.bar.heightForWidth(self.width()), self._below()
        self.bar.setGeometry(0, self.height() - low, self.width(), low)
        self.lines.setVisible(below > low)
        self.lines.setGeometry(0, self.height() - below, self.width(), below - low)
        if any(slots.exchange is None for slots in self._slots):
            self._fit_slots()
        else:
            self._timer.start()
        self.show_pictures()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange all anew."""
        if self._slots:
            self._arrange()

    def _fit_slots(self) -> None:
        for slots in self._slots:
            slots.resize(*self.device_size())

    # -- what they show -------------------------------------------------------------------------------------------
    def show_difference(self, found: StepDifference | None) -> None:
        """Show how many steps more one takes than the other."""
        self._difference = found
        self.show_pictures()

    def mark(self, masks: Sequence[np.ndarray]) -> None:
        """Outline the rays of each contestant that found something else; none: nothing."""
        self._masks = masks
        self.show_pictures()

    def show_pictures(self) -> None:
        """Give each widget its picture."""
        images = [self._image(place) for place in range(len(self._slots))]
        if not self.wide.isHidden():
            first, second = pair_of(self._options)
            if self._options.mode == "split":
                self.wide.show_two(images[first], images[second], self._options.split)
            else:
                self.wide.show_one(None if self._difference is None else image_of(colored(self._difference)))
            return
        for picture, image in zip(self.pictures, images, strict=True):
            picture.show_one(image)

    def _image(self, place: int) -> QImage | None:
        pixels = self._pixels[place]
        if pixels is None or (not self.wide.isHidden() and place not in self.shown):
            return None
        has_mask = place < len(self._masks) and self._masks[place].shape == pixels.shape[:2]
        return image_of(outlined(pixels, self._masks[place]) if has_mask else pixels)

    def paintEvent(self, event: QPaintEvent) -> None:
        """What is between the pictures."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(scheme().window))
        painter.end()

    def _was_painted(self) -> None:
        if self._has_news:
            self._has_news = False
            self.paint_ms = (time.perf_counter() - self._begun) * 1e3
            QTimer.singleShot(0, self, self.painted.emit)


def _two(width: int, height: int) -> tuple[PixelSlot, ...]:
    return HostSlot(width, height), HostSlot(width, height)
