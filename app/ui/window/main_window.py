"""The window: the picture in the middle, the figures and the timeline beside it, and the wiring of all of them to the
document."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QDockWidget, QMenu, QStackedWidget, QVBoxLayout, QWidget

from raygrove.app.document.state import State
from raygrove.app.frames.frame_history import sample_of
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.scene_io import natural_order
from raygrove.app.scene_io.demos import ALL_DEMOS
from raygrove.app.ui.commands.menu import MenuWindow
from raygrove.app.ui.session import recent_files
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.widgets.first_paint import FirstPaint
from raygrove.app.ui.window import moving_keys, on_screen, theme
from raygrove.gpu.scene import Scene

if TYPE_CHECKING:
    from raygrove.app.ui.commands.camera_commands import CameraCommands
    from raygrove.app.ui.commands.commands import Commands
    from raygrove.app.ui.dialogs.opened_dialogs import OpenedDialogs
    from raygrove.app.ui.menus.scene_menu import SceneTools
    from raygrove.app.ui.messages.busy_label import BusyLabel
    from raygrove.app.ui.messages.device_field import DeviceField
    from raygrove.app.ui.messages.log_pane import Records
    from raygrove.app.ui.messages.messages import Messages
    from raygrove.app.ui.messages.running import Running
    from raygrove.app.ui.messages.toasts import Toasts
    from raygrove.app.ui.panels.camera_panel import CameraPanel
    from raygrove.app.ui.panels.comparison import Comparer
    from raygrove.app.ui.panels.hot_tools import HotTools
    from raygrove.app.ui.panels.inspectors import Inspectors
    from raygrove.app.ui.panels.ray_tools import RayTools
    from raygrove.app.ui.panels.stats_panel import StatsPanel
    from raygrove.app.ui.pipeline.pipeline import Pipeline
    from raygrove.app.ui.session.scene_files import SceneFiles
    from raygrove.app.ui.session.set_aside import SetAside
    from raygrove.app.ui.timeline.timeline_bar import TimelineBar
    from raygrove.app.ui.window.docks import PageAlone, PictureAlone
    from raygrove.app.ui.window.first_picture import FirstPicture
    from raygrove.app.ui.window.picture_place import PicturePlace
    from raygrove.app.ui.window.previews import Previews
    from raygrove.app.ui.window.rail import Rail
    from raygrove.app.ui.window.recent_pictures import RecentPictures
    from raygrove.app.ui.window.tour import Tour
    from raygrove.app.ui.window.welcome import WelcomePage
    from raygrove.app.ui.window.workspaces import Workspaces

PAINT_MS = 500
"""How long the first page may be waited for before the rest of the window is made."""

LINES = (20, 28)
"""Pixels of the menu bar's and the status bar's height, where nobody knows them from the last time."""


class MainWindow(MenuWindow):
    """See the module. The session was made before; the window takes it over. `make_view` makes the widget that shows
    pictures: the GL viewport or the painter view, as the settings say. With `page_first` the first page is shown and
    painted before the rest is made, with `picture_first` the first picture, of `size` where that is given."""

    asks_before_quitting = True

    previews: Previews
    recent_pictures: RecentPictures
    welcome: WelcomePage

    place: PicturePlace
    camera_commands: CameraCommands
    toasts: Toasts
    running: Running
    records: Records
    stats_panel: StatsPanel
    timeline_bar: TimelineBar
    comparer: Comparer
    camera_panel: CameraPanel
    inspectors: Inspectors
    ray_tools: RayTools
    hot_tools: HotTools
    device_field: DeviceField
    busy_label: BusyLabel
    pipeline: Pipeline
    docks: list[QDockWidget]
    rail: Rail
    workspaces: Workspaces
    opened_dialogs: OpenedDialogs
    messages: Messages
    scene_files: SceneFiles
    scene_tools: SceneTools
    commands: Commands
    named: Mapping[str, QAction]
    set_aside: SetAside
    tour: Tour
    page_alone: PageAlone
    picture_alone: PictureAlone

    def __init__(
        self,
        session: Session,
        make_view: Callable[[str], Any],
        parent: QWidget | None = None,
        *,
        page_first: bool = False,
        picture_first: bool = False,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(parent)
        self.session = session
        self.document, self.memory, self.loop = session.document, session.memory, session.loop
        session.belong_to(self)
        theme.Follower(session, self)  # before there are widgets, each of which would take its colours anew
        self.demos = ALL_DEMOS
        self.setObjectName("window")
        self.setWindowTitle("Raygrove")
        self.setAcceptDrops(True)
        self.resize(1280, 860)
        self.first_paint = FirstPaint(self)
        self._is_whole = self._is_closed = self._closes = False
        self.first_picture: FirstPicture | None = None
        self.stack = QStackedWidget()
        column = self._column()
        if picture_first:
            self._paint_picture(make_view, column, size)
        self._make_page()
        if page_first:
            self._paint_page()
        from raygrove.app.ui.window import window_parts  # panels, menus, dialogs: most of a start

        window_parts.make(self, make_view)
        column.setContentsMargins(0, 0, 0, 0)
        self._is_whole = True
        self.show_state()
        if self._closes:
            QTimer.singleShot(0, self, self.close)

    def _column(self) -> QVBoxLayout:
        """The middle of the window, with its stack of pages."""
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.stack, 1)
        self.setCentralWidget(page)
        return column

    def _make_page(self) -> None:
        """The first page."""
        from raygrove.app.ui.window.previews import Previews
        from raygrove.app.ui.window.recent_pictures import RecentPictures
        from raygrove.app.ui.window.welcome import WelcomePage  # not before the picture of a window that begins with it

        self.previews = Previews(parent=self)
        self.recent_pictures = RecentPictures(self.session, lambda: self.view.picture(), self)
        self.welcome = WelcomePage(self.demos, self.previews, self.recent_pictures)
        self.stack.addWidget(self.welcome)

    def _paint_page(self) -> None:
        """Show the first page before the rest is imported and made, which nobody sees beside it. Mouse and keyboard
        wait until all is there."""
        on_screen.restore(self, self.memory)
        with self._lines():
            self.show_welcome()
            self.show()
            self.first_paint.wait(PAINT_MS)

    def _paint_picture(
        self, make_view: Callable[[str], Any], column: QVBoxLayout, size: tuple[int, int] | None
    ) -> None:
        """Show the first picture, where it will be, before the rest is imported and made."""
        from raygrove.app.ui.window.first_picture import FirstPicture, first_place

        self.first_picture = first = FirstPicture(self.session, make_view, self.stack, self)
        on_screen.restore(self, self.memory)
        least, most = self.stack.minimumSize(), self.stack.maximumSize()
        with self._lines():
            if size is None:
                column.setContentsMargins(self.memory.around_picture(self.size()) or first_place(self.width()))
            else:
                ratio = self.devicePixelRatioF()
                self.stack.setFixedSize(round(size[0] / ratio), round(size[1] / ratio))
                self.adjustSize()
            self.show()
            first.wait()
        self.stack.setMinimumSize(least)
        self.stack.setMaximumSize(most)

    @contextlib.contextmanager
    def _lines(self) -> Iterator[None]:
        """The room of the menus' titles, and that of the status below, before there are any."""
        bars = self.menuBar(), self.statusBar()
        line = bars[0].addAction(" ")
        for bar, height in zip(bars, self.memory.lines() or LINES, strict=True):
            bar.setMinimumHeight(height)
        yield
        for bar in bars:
            bar.setMinimumHeight(0)
        bars[0].removeAction(line)

    @property
    def view(self) -> Any:
        """The widget that shows the pictures."""
        return self.place.view

    # -- scenes ---------------------------------------------------------------------------------------------------
    def open_files(self, paths: list[str]) -> None:
        """Open files as one scene, in the background; a file of settings changes those, a tree is the structure."""
        self.session.notices.clear("problem")
        paths = [path for entry in paths for path in recent_files.files_of(entry)]
        from raygrove.app.ui.dialogs.opened_files import open_other

        if open_other(self.session, paths, self.open_files):
            return
        self.memory.set_folder(paths[0])
        self.document.open_files(paths)

    def open_demo(self, name: str) -> None:
        """Open a built-in scene, in the background."""
        self.session.notices.clear("problem")
        self.document.open_demo(name)

    def ask_for_files(self, title: str = "") -> None:
        """File > Open, or another question of that `title`."""
        from raygrove.app.ui.dialogs import questions

        paths = questions.ask_for_files(self, self.memory.folder(), title)
        if paths:
            self.open_files(natural_order(paths))

    def fill_recent_menu(self, menu: QMenu) -> None:
        """The files opened last, and a way to forget them."""
        from raygrove.app.ui.menus import recent_menu

        recent_menu.fill(menu, self.memory, self.open_files, self.welcome.forget_recent)

    def show_welcome(self) -> None:
        """The first page; the open scene stays open, and stops playing."""
        if self.document.state.timeline.is_playing:
            self.document.toggle_play()
        self.welcome.show_recent(self.memory.recent())
        self.welcome.show_ways(has_scene=self.document.scene is not None, took_tour=self.memory.took_tour())
        self.stack.setCurrentWidget(self.welcome)

    def show_picture(self) -> None:
        self.stack.setCurrentWidget(self.place.page)
        self.place.page.setFocus()

    def cancel_jobs(self) -> None:
        """Cancel whatever runs in the background."""
        self.running.cancel()

    # -- commands -------------------------------------------------------------------------------------------------
    def reset_layout(self) -> None:
        """Put the docks back, and tell again what someone did not want to read again."""
        self.memory.hear_all()
        self.workspaces.reset()

    def toggle_full_screen(self) -> None:
        """The picture alone on the whole screen, and back."""
        self.named["view.full_screen"].setChecked(self.picture_alone.toggle())

    def bring_back(self) -> None:
        """Show the panels that are put away for the first page or full screen."""
        self.page_alone.bring_back()
        if self.isFullScreen():
            self.toggle_full_screen()

    # -- what happens ---------------------------------------------------------------------------------------------
    def scene_changed(self, scene: Scene | None) -> None:
        self.stats_panel.clear()
        self.setWindowTitle(f"{self.document.state.scene.title} - Raygrove" if scene is not None else "Raygrove")
        self.messages.show_remarks(scene)
        self.place.show_legend()
        if scene is None:
            self.show_welcome()
            self.place.put_away()
            return
        self.show_picture()
        self.place.make_room()
        if self.document.state.scene.kind == "files":
            self.memory.add_recent(self.document.state.scene.names)
            self.messages.offer_neighbours(self.document.state.scene.names, self.open_files)

    def show_frame(self, frame: FinishedFrame) -> None:
        self.messages.take(frame)
        self._show_figures(frame)

    def show_drawn(self) -> None:
        """OpenGL has drawn spheres itself: what that took is known now."""
        if self.loop.last_frame is not None and self.loop.last_frame.spheres is not None:
            self._show_figures(self.loop.last_frame)

    def _show_figures(self, frame: FinishedFrame) -> None:
        view, is_race = self.view, len(frame.request.exchanges) > 1 or self.place.race.is_on
        if not is_race:  # that has figures of its own
            self.session.figures.take(sample_of(frame, view.paint_ms, self.loop.fps(), view.device_size(), view.way))
        self.device_field.show_frame(frame, view.way)

    def show_something(self) -> None:
        if self.document.scene is None and not self._is_closed:
            self.show_welcome()

    def state_changed(self, before: State, after: State) -> None:
        if before.settings != after.settings or before.cameras != after.cameras or before.views != after.views:
            self.show_state()
        if before.settings.display.view != after.settings.display.view:
            QTimer.singleShot(0, self.place.change_view)
        if before.settings.display.swap_interval != after.settings.display.swap_interval:
            self.session.notices.show(
                "information", self.tr("The new swap interval takes effect at the next start."), topic="swap"
            )
        if before.timeline.direction != after.timeline.direction:
            self.named["animation.reverse"].setChecked(after.timeline.direction < 0)

    def show_state(self) -> None:
        state, actions = self.document.state, self.named
        actions["edit.undo"].setEnabled(self.document.can_undo)
        actions["edit.redo"].setEnabled(self.document.can_redo)
        actions["view.heads_up"].setChecked(state.settings.display.heads_up)
        actions["view.presenter"].setChecked(state.settings.window.presenter)
        actions["structure.quality"].setChecked(state.settings.statistics.quality)
        actions["camera.orthographic"].setChecked(state.camera_of(0).orthographic)
        self.stats_panel.minimum_fps = state.settings.display.minimum_fps
        self.place.show_legend()

    # -- Qt -------------------------------------------------------------------------------------------------------
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files are welcome."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open what was dropped."""
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.open_files(natural_order(paths))

    def event(self, event: QEvent) -> bool:
        """Esc is no command while it leads out of the tour or the first page, nor are keys of what has the focus."""
        is_esc = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        leads_out = event.type() == QEvent.Type.ShortcutOverride and is_esc and self._way_out() is not None
        if leads_out or moving_keys.is_of(self.focusWidget(), event):
            event.accept()
            return True
        return super().event(event)

    def _way_out(self) -> Callable[[], None] | None:
        """What Esc ends."""
        is_first_page = self.stack.currentWidget() is self.welcome and self.document.scene is not None
        return self.tour.end if self.tour.is_under_way else self.show_picture if is_first_page else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc that nobody else wants ends the tour, or leaves the first page for the scene that is open."""
        leave = self._way_out()
        if event.key() == Qt.Key.Key_Escape and leave is not None:
            leave()
        else:
            super().keyPressEvent(event)

    def _keep_place(self) -> None:
        """Remember how high the bars are, and where the picture is in a window that shows one."""
        if self.isVisible() and self.menuBar().isVisible():
            self.memory.keep_lines(self.menuBar().height(), self.statusBar().height())
        if self.stack.currentWidget() is self.view and self.isVisible() and not self.isFullScreen():
            from raygrove.app.ui.window.first_picture import place_of

            self.memory.keep_around_picture(*place_of(self, self.view))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember the window, cancel jobs, end the render thread; where work would be lost only once that was said."""
        if not self._is_whole:
            self._closes = True
            event.ignore()
            return
        from raygrove.app.ui.dialogs import questions

        if self.asks_before_quitting and not self._is_closed and not questions.may_quit(self, self.document.jobs):
            event.ignore()
            return
        if not self._is_closed:
            self._is_closed = True
            self._keep_place()
            self.bring_back()
            self.workspaces.save()
            self.set_aside.end()
            self.memory.flush()
            self.hide()
            self.previews.stop()
            self.running.stop()
            self.document.mailroom.wake = lambda: None
            self.loop.stop()
        super().closeEvent(event)
