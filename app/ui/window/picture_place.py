"""The picture in the window: the view that shows it, what lies over it, and mouse and keys in it; another view takes
its place where `display.view` is changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QStackedWidget

from raygrove.app.frames.contestants import RACE
from raygrove.app.ui.commands.camera_commands import CameraCommands
from raygrove.app.ui.messages.banner import ProgressStrip
from raygrove.app.ui.messages.messages import Messages
from raygrove.app.ui.panels.heads_up import HeadsUp
from raygrove.app.ui.panels.inspectors import Inspectors
from raygrove.app.ui.picture.legend import LegendPlate
from raygrove.app.ui.picture.navigation import Navigator
from raygrove.app.ui.race import header
from raygrove.app.ui.race.pictures import RacePicture
from raygrove.app.ui.race.race import Race
from raygrove.app.ui.session.session import Session
from raygrove.gpu.camera import Vector


class PicturePlace(QObject):
    """See the module. `make_view` makes the widget for a value of `display.view`, `stack` holds it; `painted`: it has
    drawn. `lead` lets a chart lie along the line of the playing head. `view`: what shows pictures there already."""

    painted = Signal()

    def __init__(
        self,
        session: Session,
        make_view: Callable[[str], Any],
        stack: QStackedWidget,
        parent: QObject,
        view: Any = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._make_view = session, make_view
        self.race = Race(session, self)
        self._is_away = False
        self.lead: Callable[[Any], object] = lambda chart: None
        self.stack = stack
        self.legend, self.heads_up = LegendPlate(), HeadsUp(session.document, session.figures)
        self.camera_commands = CameraCommands(
            session.document, self.aspect, lambda: self.navigator.pointer(), self._pick
        )
        self.view = view or make_view(self._wanted)
        self.navigator = self._laid_out()
        if view is None:
            self.stack.insertWidget(0, self.view)
        if not stack.isVisible():  # else the page stays that is shown there
            self.stack.setCurrentIndex(0)

    @property
    def page(self) -> Any:
        """What shows pictures in the present workspace: the view, or the pictures of a race."""
        return self.race.view if self.race.is_on else self.view

    def follow(self, workspace: str) -> None:
        """Show pictures as a workspace has them."""
        if (workspace == RACE) == self.race.is_on:
            return
        is_shown = self.stack.currentWidget() is self.page
        of_race = self.tr("A race has figures of its own: in Ranking, and in the lines below its pictures.")
        self._session.figures.stop(of_race if workspace == RACE else "")
        if workspace == RACE:
            page: Any = self.race.begin(self._navigate_race)
            if self.stack.indexOf(page) < 0:
                self.stack.addWidget(page)
                self.lead(page.lines)
        else:
            self.race.end()
        self._session.loop.set_view(self.page)
        self._inspectors.hint.lie_on(self.page)
        if is_shown:
            self.stack.setCurrentWidget(self.page)
        if self._session.document.scene is not None:
            self.page.open_slots()

    def make_room(self) -> None:
        """A scene has come: lend what its pictures are drawn into, if that was put away. A view that was never shown
        lends it once it knows its size."""
        if self._is_away:
            self._is_away = False
            self.page.open_slots()

    def put_away(self) -> None:
        """There is no scene: its pictures go, and what they were drawn into."""
        self._is_away = True
        self.race.put_away()
        self.view.clear()
        self.view.close_slots()

    def _navigate_race(self, picture: RacePicture, place: int) -> None:
        """Let mouse and keys in a contestant's picture move the camera of all."""

        def pick(across: float, down: float, take: Callable[[Vector | None], None]) -> None:
            self._pick(across, down, take, place)

        navigator = Navigator(picture, self._session.document, pick, self._session.gestures)
        navigator.moved.connect(lambda: self._move(navigator))
        navigator.rested.connect(lambda: self._rest(navigator))
        navigator.flew.connect(self._inspectors.hint.show_speed)

    @property
    def _wanted(self) -> str:
        return self._session.document.state.settings.display.view

    def join(self, inspectors: Inspectors, messages: Messages) -> None:
        """Work with those who look into the picture, and those who say what is amiss with it."""
        self._inspectors, self._messages = inspectors, messages
        inspectors.lie_on(self.view)  # after the navigator: who comes last is asked first
        inspectors.legend_changed.connect(self.legend.show_scale)
        self._session.loop.set_view(self.view)
        messages.say_view(self._wanted, self.view.kind)
        self._connect()

    def _laid_out(self) -> Navigator:
        """Lay what belongs there over the view, and listen to mouse and keys in it."""
        self.legend.lie_on(self.view)
        self.heads_up.lie_on(self.view)
        return Navigator(self.view, self._session.document, self._pick, self._session.gestures)

    def _connect(self) -> None:
        navigator = self.navigator
        navigator.moved.connect(lambda: self._move(navigator))
        navigator.rested.connect(lambda: self._rest(navigator))
        self.navigator.focus_wanted.connect(self.camera_commands.focus)
        self.navigator.region_dragged.connect(self._inspectors.drag_region)
        self.navigator.flew.connect(self._inspectors.hint.show_speed)
        self.view.interop_failed.connect(lambda sentence: self._messages.stand_in("interop", sentence))
        self.view.painted.connect(self.painted)

    def make_room_for(self, strip: ProgressStrip) -> None:
        """Let the strip of what runs lie over pictures, and cut no figures there."""
        strip.lie_on(self.stack, lambda: header.HEIGHT if self.stack.currentWidget() is self.race.view else 0)
        strip.covered.connect(self.heads_up.keep_below)

    def show_legend(self) -> None:
        """Show the scale of what the picture's colours mean now."""
        scale = self._inspectors.legend()
        if scale is not self.legend.scale:
            self.legend.show_scale(scale)

    def change_view(self) -> None:
        """Show pictures the other way: display.view was changed."""
        wanted = self._make_view(self._wanted)
        self._messages.say_view(self._wanted, wanted.kind)
        if wanted.kind == self.view.kind:
            wanted.deleteLater()
            return
        old, self.view = self.view, wanted
        self.navigator = self._laid_out()
        self._inspectors.lie_on(wanted)
        self._inspectors.hint.lie_on(self.page)
        self._connect()
        is_shown = self.stack.currentWidget() is old
        self.stack.addWidget(wanted)
        if is_shown:
            self.stack.setCurrentWidget(wanted)
        if not self.race.is_on:
            self._session.loop.set_view(wanted)
        self.stack.removeWidget(old)
        old.close_slots()
        old.deleteLater()
        self.show_legend()

    def aspect(self) -> float:
        """Width of the picture by its height."""
        return float(self.view.width() / max(self.view.height(), 1))

    def _pick(self, across: float, down: float, take: Callable[[Vector | None], None], view: int = 0) -> None:
        """What the picture shows at a place; `take` is called with the point when the render thread has found it."""
        self._session.loop.ask(
            "navigate",
            lambda maker: maker.pick(across, down, view),
            lambda found: take(found.hit.position if found and found.hit else None),
        )

    def _move(self, navigator: Navigator) -> None:
        self._session.loop.is_dragging = navigator.is_active
        self._session.loop.camera_moved()

    def _rest(self, navigator: Navigator) -> None:
        self._session.document.end_merge()
        self._move(navigator)
