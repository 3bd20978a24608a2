"""The window: the picture in the middle, the figures and the timeline beside it, and the wiring of all of them to the
document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QMainWindow, QMenu, QVBoxLayout, QWidget

from raygrove.app.document.state import State
from raygrove.app.frames.frame_history import sample_of
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.scene_io import natural_order
from raygrove.app.scene_io.demos import ALL_DEMOS
from raygrove.app.ui.commands.command import Standing, Submenu
from raygrove.app.ui.commands.commands import Commands
from raygrove.app.ui.dialogs import questions
from raygrove.app.ui.dialogs.opened_dialogs import OpenedDialogs
from raygrove.app.ui.dialogs.opened_files import open_other
from raygrove.app.ui.menus import camera_menu, recent_menu, render_menus, window_menus
from raygrove.app.ui.menus.animation_menu import animation_menu
from raygrove.app.ui.menus.scene_menu import SceneTools, scene_menu
from raygrove.app.ui.messages.device_field import DeviceField
from raygrove.app.ui.messages.log_pane import Records
from raygrove.app.ui.messages.messages import Messages
from raygrove.app.ui.messages.running import Running
from raygrove.app.ui.messages.toasts import NoticeCount, Toasts
from raygrove.app.ui.panels.camera_panel import CameraPanel
from raygrove.app.ui.panels.comparison import Comparer
from raygrove.app.ui.panels.hot_tools import HotTools
from raygrove.app.ui.panels.inspectors import Inspectors
from raygrove.app.ui.panels.ray_tools import RayTools
from raygrove.app.ui.panels.stats_panel import StatsPanel
from raygrove.app.ui.pipeline.pipeline import Pipeline
from raygrove.app.ui.plain_text import Label
from raygrove.app.ui.session import recent_files
from raygrove.app.ui.session.bell import MailBell
from raygrove.app.ui.session.scene_files import SceneFiles
from raygrove.app.ui.session.session import Session
from raygrove.app.ui.session.set_aside import SetAside
from raygrove.app.ui.session.settings_files import Remaker
from raygrove.app.ui.timeline.timeline_bar import TimelineBar
from raygrove.app.ui.window import theme
from raygrove.app.ui.window.docks import FirstRoom, PageAlone, PictureAlone, TabBars, make_docks
from raygrove.app.ui.window.first_steps import FirstSteps
from raygrove.app.ui.window.picture_place import PicturePlace
from raygrove.app.ui.window.previews import Previews
from raygrove.app.ui.window.rail import Rail
from raygrove.app.ui.window.recent_pictures import RecentPictures
from raygrove.app.ui.window.tour import Tour
from raygrove.app.ui.window.tour_steps import steps
from raygrove.app.ui.window.welcome import WelcomePage
from raygrove.app.ui.window.workspaces import Workspaces
from raygrove.gpu.scene import Scene


class MainWindow(QMainWindow):
    """See the module. The session was made before; the window takes it over. `make_view` makes the widget that shows
    pictures: the GL viewport or the painter view, as the settings say."""

    asks_before_quitting = True

    def __init__(self, session: Session, make_view: Callable[[str], Any], parent: QWidget | None = None) -> None:
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
        self._is_closed = False
        self.place = PicturePlace(session, make_view, self)
        self.camera_commands = self.place.camera_commands
        self._make_parts()
        self._make_docks()
        self._make_page()
        self.opened_dialogs = OpenedDialogs(session, self)
        self.welcome.fill_lessons = self.opened_dialogs.fill_lessons
        self.messages = Messages(session, self.docks, self.opened_dialogs.show_structure_options, self)
        self.scene_files = SceneFiles(session, self.cancel_jobs, self)
        self.scene_tools = SceneTools(
            session, self.inspectors.pointer, lambda: self.place.navigator.pointer(), self.camera_commands, self
        )
        self.commands = Commands(self, session.notices, self._menus())
        self._named = self.commands.commands
        self.commands.is_opening = lambda: bool(self.document.jobs) or self.loop.waits_for_scene
        self._follow_actions(self._named)
        self.commands.completed.connect(lambda: self.opened_dialogs.follow(self.commands.actions))
        self.opened_dialogs.complete = self.commands.complete
        self.pipeline.connect_to(self, self.opened_dialogs)
        self.place.join(self.inspectors, self.messages)
        self._connect()
        self._show_state()
        self.workspaces.begin()
        self.workspaces.changed.connect(self.place.follow)
        self.place.follow(self.workspaces.current)
        FirstRoom(self, self.docks)
        self.set_aside = SetAside(session, self)
        TabBars(self, self.docks)
        bars = self.pipeline, self.rail
        self.page_alone = PageAlone(self.stack, self.welcome, lambda: (*bars, *self.workspaces.in_order()))
        self.picture_alone = PictureAlone(self, lambda: (self.menuBar(), self.statusBar(), *bars, *self.docks))
        self.workspaces.before, self.workspaces.after = self._bring_back, self.page_alone.follow

    @property
    def view(self) -> Any:
        """The widget that shows the pictures."""
        return self.place.view

    # -- parts ----------------------------------------------------------------------------------------------------
    def _make_parts(self) -> None:
        self.toasts, self.running = Toasts(), Running(self.session, self)
        notices = self.session.notices
        notices.shown.connect(self.toasts.show_notice)
        notices.cleared.connect(self.toasts.clear)
        notices.told.connect(self.statusBar().showMessage)
        self.records = Records(self.session, self)
        self.stats_panel, self.timeline_bar = StatsPanel(self.session.figures), TimelineBar(self.document)
        self.comparer = Comparer(self.session, self.stats_panel, self)
        self.camera_panel = CameraPanel(self.document, self.camera_commands)
        self.previews = Previews(parent=self)
        self.recent_pictures = RecentPictures(self.session, lambda: self.view.picture(), self)
        self.welcome = WelcomePage(self.demos, self.previews, self.recent_pictures)
        self.inspectors = Inspectors(self.document, self, self.session.gestures, self.session.inspection)
        self.ray_tools = RayTools(self.session, self.inspectors, self)
        self.hot_tools = HotTools(self.session, self.inspectors, self)
        self._device_field, self._busy_label = DeviceField(self.session), Label()
        self.statusBar().addWidget(self._busy_label, 1)
        for field in (self._device_field, NoticeCount(self.toasts), self.records.mark):
            self.statusBar().addPermanentWidget(field)

    def _make_docks(self) -> None:
        self.pipeline = Pipeline(self.session, self)
        places = (
            ("stats", self.tr("Statistics"), self.stats_panel, Qt.DockWidgetArea.RightDockWidgetArea),
            ("camera", self.tr("Camera"), self.camera_panel, Qt.DockWidgetArea.LeftDockWidgetArea),
            ("timeline", self.tr("Timeline"), self.timeline_bar, Qt.DockWidgetArea.BottomDockWidgetArea),
            *self.inspectors.places(),
            *(*self.ray_tools.places(), *self.hot_tools.places()),
            ("ranking", self.tr("Ranking"), self.place.race.panel, Qt.DockWidgetArea.RightDockWidgetArea),
            ("log", self.tr("Log"), self.records.pane, Qt.DockWidgetArea.BottomDockWidgetArea),
        )
        self.docks = make_docks(self, places)
        for tools in (self.inspectors, self.ray_tools, self.hot_tools):
            tools.take_docks(self, self.docks)
        named = {dock.objectName(): dock for dock in self.docks}
        self.records.follow(self, named["dock.log"], named["dock.timeline"])
        self.timeline_bar.unfold(named["dock.cost"])
        self.place.lead = self.timeline_bar.axis.lead
        self.rail = Rail(self.document, self, self.docks)
        self.workspaces = Workspaces(self.session, self, self.docks, self.rail)

    def _menus(self) -> list[Submenu]:
        session, opened = self.session, self.opened_dialogs
        files = window_menus.file_menu(
            session,
            self,
            self.scene_files,
            opened,
            self.demos,
            ask=self.ask_for_files,
            fill_recent=self.fill_recent_menu,
            open_demo=self.open_demo,
            show_welcome=self.show_welcome,
            save_picture=lambda: questions.save_picture(session, self, self.place.page.picture()),
        )
        return [
            files,
            window_menus.edit_menu(session, opened, lambda: self.view.device_size()),
            window_menus.view_menu(
                session,
                self.docks,
                self.workspaces.menu(),
                [self.pipeline.entries(), Standing("view.rail", self.rail.toggleViewAction())],
                reset_layout=self.reset_layout,
                toggle_full_screen=self.toggle_full_screen,
            ),
            camera_menu.camera_menu(session, self.camera_commands, self.camera_panel.path.player.toggle),
            scene_menu(session, self.scene_tools),
            animation_menu(session, self.timeline_bar),
            render_menus.structure_menu(
                session,
                compare=self.comparer.compare,
                toggle_boxes=self.inspectors.boxes.toggle,
                show_options=opened.show_structure_options,
                show_tile_options=opened.show_tile_options,
            ),
            render_menus.render_menu(session, opened.show_ray_type_options),
            window_menus.tools_menu(opened),
            window_menus.help_menu(session, self, opened, self.tour.begin),
        ]

    def _follow_actions(self, actions: Mapping[str, QAction]) -> None:
        camera_menu.follow_bookmarks(self.session, actions)
        self.scene_tools.follow(actions)
        self.timeline_bar.show_keys(actions)
        self.scene_files.follow(actions)

    def _make_page(self) -> None:
        self.stack = self.place.stack
        self.stack.addWidget(self.welcome)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.stack, 1)
        self.place.make_room_for(self.running.strip)
        self.toasts.lie_on(self.stack)
        self.setCentralWidget(page)
        self.tour = Tour(self, self.stack, lambda: steps(self))
        self.tour.ended.connect(lambda is_done: self.memory.keep_tour() if is_done else None)

    def _connect(self) -> None:
        document = self.document
        MailBell(document.mailroom, self)
        document.on_scene.append(self._scene_changed)
        document.on_problem.append(self.messages.show_problem)
        document.observe(self._state_changed)
        self._remaker = Remaker(document, self)
        self.running.has_ended.connect(self._show_something)
        self.welcome.tour_wanted.connect(self.tour.begin)
        self.welcome.left.connect(self._show_picture)
        FirstSteps(self.session, self, self.welcome, self.open_files, self.open_demo, self.ask_for_files)
        self.loop.frame_arrived.connect(self._show_frame)
        self.inspectors.attach(self.loop, self.session.figures)
        self.loop.problem.connect(self.messages.show_picture_problem)
        self.loop.busy.connect(self._busy_label.setText)
        self.loop.drawing.connect(self._busy_label.setText)
        self.place.painted.connect(self._show_drawn)

    # -- scenes ---------------------------------------------------------------------------------------------------
    def open_files(self, paths: list[str]) -> None:
        """Open files as one scene, in the background; a file of settings changes those, a tree is the structure."""
        self.session.notices.clear("problem")
        paths = [path for entry in paths for path in recent_files.files_of(entry)]
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
        paths = questions.ask_for_files(self, self.memory.folder(), title)
        if paths:
            self.open_files(natural_order(paths))

    def fill_recent_menu(self, menu: QMenu) -> None:
        """The files opened last, and a way to forget them."""
        recent_menu.fill(menu, self.memory, self.open_files, self.welcome.forget_recent)

    def show_welcome(self) -> None:
        """The first page; the open scene stays open, and stops playing."""
        if self.document.state.timeline.is_playing:
            self.document.toggle_play()
        self.welcome.show_recent(self.memory.recent())
        self.welcome.show_ways(has_scene=self.document.scene is not None, took_tour=self.memory.took_tour())
        self.stack.setCurrentWidget(self.welcome)

    def _show_picture(self) -> None:
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
        self._named["view.full_screen"].setChecked(self.picture_alone.toggle())

    def _bring_back(self) -> None:
        """Show the panels that are put away for the first page or full screen."""
        self.page_alone.bring_back()
        if self.isFullScreen():
            self.toggle_full_screen()

    # -- what happens ---------------------------------------------------------------------------------------------
    def _scene_changed(self, scene: Scene | None) -> None:
        self.stats_panel.clear()
        self.setWindowTitle(f"{self.document.state.scene.title} - Raygrove" if scene is not None else "Raygrove")
        self.messages.show_remarks(scene)
        self.place.show_legend()
        if scene is None:
            self.show_welcome()
            return
        self._show_picture()
        if self.document.state.scene.kind == "files":
            self.memory.add_recent(self.document.state.scene.names)
            self.messages.offer_neighbours(self.document.state.scene.names, self.open_files)

    def _show_frame(self, frame: FinishedFrame) -> None:
        self.messages.take(frame)
        self._show_figures(frame)

    def _show_drawn(self) -> None:
        """OpenGL has drawn spheres itself: what that took is known now."""
        if self.loop.last_frame is not None and self.loop.last_frame.spheres is not None:
            self._show_figures(self.loop.last_frame)

    def _show_figures(self, frame: FinishedFrame) -> None:
        view, is_race = self.view, len(frame.request.exchanges) > 1 or self.place.race.is_on
        if not is_race:  # that has figures of its own
            sample = sample_of(frame, view.paint_ms, self.loop.fps(), view.device_size(), view.way)
            self.session.figures.take(sample)
        self._device_field.show_frame(frame, view.way)

    def _show_something(self) -> None:
        if self.document.scene is None and not self._is_closed:
            self.show_welcome()

    def _state_changed(self, before: State, after: State) -> None:
        if before.settings != after.settings or before.cameras != after.cameras or before.views != after.views:
            self._show_state()
        if before.settings.display.view != after.settings.display.view:
            QTimer.singleShot(0, self.place.change_view)
        if before.settings.display.swap_interval != after.settings.display.swap_interval:
            self.session.notices.show(
                "information", self.tr("The new swap interval takes effect at the next start."), topic="swap"
            )
        if before.timeline.direction != after.timeline.direction:
            self._named["animation.reverse"].setChecked(after.timeline.direction < 0)

    def _show_state(self) -> None:
        state, actions = self.document.state, self._named
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
        """Esc is no command while it leads out of the tour or the first page."""
        is_esc = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if event.type() == QEvent.Type.ShortcutOverride and is_esc and self._way_out() is not None:
            event.accept()
            return True
        return super().event(event)

    def _way_out(self) -> Callable[[], None] | None:
        """What Esc ends."""
        is_first_page = self.stack.currentWidget() is self.welcome and self.document.scene is not None
        return self.tour.end if self.tour.is_under_way else self._show_picture if is_first_page else None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc that nobody else wants ends the tour, or leaves the first page for the scene that is open."""
        leave = self._way_out()
        if event.key() == Qt.Key.Key_Escape and leave is not None:
            leave()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember the window, cancel jobs, end the render thread; where work would be lost only once that was said."""
        if self.asks_before_quitting and not self._is_closed and not questions.may_quit(self, self.document.jobs):
            event.ignore()
            return
        if not self._is_closed:
            self._is_closed = True
            self._bring_back()
            self.workspaces.save()
            self.set_aside.end()
            self.memory.flush()
            self.hide()
            self.previews.stop()
            self.running.stop()
            self.document.mailroom.wake = lambda: None
            self.loop.stop()
        super().closeEvent(event)
