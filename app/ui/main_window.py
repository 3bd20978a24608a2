"""The window: the picture in the middle, the figures and the timeline beside it, and the wiring of all of them to the document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QDockWidget, QLabel, QMainWindow, QMenu, QStackedWidget, QVBoxLayout, QWidget

from app.document import Document
from app.gestures import Gestures
from app.presets import is_settings_file
from app.problem import Problem
from app.render_thread import FinishedFrame
from app.scene_io import natural_order
from app.scene_io.demos import DEMOS
from app.state import State
from app.ui import dialogs
from app.ui.banner import Banners, ProgressStrip
from app.ui.camera_commands import CameraCommands
from app.ui.camera_panel import CameraPanel
from app.ui.choices import Choices
from app.ui.commands import Commands
from app.ui.export_dialog import ExportDialog
from app.ui.frame_loop import FrameLoop
from app.ui.inspectors import Inspectors
from app.ui.legend import LegendPlate
from app.ui.log_pane import Records
from app.ui.memory import Memory
from app.ui.messages import Messages
from app.ui.navigation import Navigator
from app.ui.previews import Previews
from app.ui.settings_dialog import SettingsDialog
from app.ui.settings_files import Remaker, open_settings
from app.ui.stats_panel import StatsPanel
from app.ui.timeline_bar import TimelineBar
from app.ui.waiting import Waiting
from app.ui.welcome import WelcomePage
from gpu.camera import Vector
from gpu.scene import Scene

PROGRESS_INTERVAL_MS = 100
FIRST_HIDDEN = ("camera", "log", "heat", "pick", "boxes", "cost", "objects", "clip", "materials", "lights")
"""Docks that are not shown until someone asks for them."""


class MainWindow(QMainWindow):
    """See the module. `make_view` makes the widget that shows pictures: the GL viewport or the painter view, as the settings say."""

    _mail_arrived = Signal()

    def __init__(self, document: Document, make_view: Callable[[str], Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.document, self._make_view = document, make_view
        self.demos = DEMOS
        self.memory, self.choices, self.gestures = Memory(), Choices(document), Gestures()
        self.setObjectName("window")
        self.setWindowTitle("Raygrove")
        self.setAcceptDrops(True)
        self.resize(1280, 860)
        self._is_closed = False
        self._settings_dialog: SettingsDialog | None = None
        self.camera_commands = CameraCommands(document, self._aspect, lambda: self.navigator.pointer(), self._pick)
        self._make_parts()
        self._make_docks()
        self._make_page()
        self.messages = Messages(self)
        self.commands = Commands(self)
        self.loop, self.waiting = FrameLoop(document, self.view, self), Waiting(self)
        self._connect()
        self._show_state()
        self.messages.say_view(document.state.settings.display.view, self.view.kind)
        self.memory.restore_window(self)

    # -- parts ----------------------------------------------------------------------------------------------------
    def _make_parts(self) -> None:
        self.banners, self.progress = Banners(), ProgressStrip()
        self.records = Records(self.document, self.banners, self)
        self.stats_panel, self.timeline_bar = StatsPanel(), TimelineBar(self.document)
        self.camera_panel = CameraPanel(self.document, self.camera_commands)
        self.previews = Previews(parent=self)
        self.welcome = WelcomePage(self.demos, self.previews)
        self.view = self._make_view(self.document.state.settings.display.view)
        self.legend = LegendPlate()
        self.legend.lie_on(self.view)
        self.inspectors = Inspectors(self.document, self, self.gestures)
        self.navigator = Navigator(self.view, self.document, self._pick, self.gestures)
        self.inspectors.lie_on(self.view)  # after the navigator: who comes last is asked first
        self._device_label, self._busy_label = QLabel(), QLabel()
        self.statusBar().addWidget(self._busy_label, 1)
        self.statusBar().addPermanentWidget(self._device_label)
        self.statusBar().addPermanentWidget(self.records.mark)

    def _make_docks(self) -> None:
        places = (
            ("stats", self.tr("Statistics"), self.stats_panel, Qt.DockWidgetArea.RightDockWidgetArea),
            ("camera", self.tr("Camera"), self.camera_panel, Qt.DockWidgetArea.LeftDockWidgetArea),
            ("timeline", self.tr("Timeline"), self.timeline_bar, Qt.DockWidgetArea.BottomDockWidgetArea),
            *self.inspectors.places(),
            ("log", self.tr("Log"), self.records.pane, Qt.DockWidgetArea.BottomDockWidgetArea),
        )
        self.docks = []
        for name, title, widget, area in places:
            dock = QDockWidget(title, self)
            dock.setObjectName(f"dock.{name}")
            widget.setAutoFillBackground(True)  # else the dock below is painted with each change of a figure
            dock.setWidget(widget)
            self.addDockWidget(area, dock)
            self.docks.append(dock)
        self.inspectors.take_docks(self, self.docks)
        named = {dock.objectName(): dock for dock in self.docks}
        self.records.follow(self, named["dock.log"], named["dock.timeline"])
        for dock in self.docks:  # after they have been arranged, which shows them
            dock.setVisible(dock.objectName().removeprefix("dock.") not in FIRST_HIDDEN)
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        self.resizeDocks(self.docks[:2], [330, 290], Qt.Orientation.Horizontal)
        self._first_layout = self.saveState()

    def _make_page(self) -> None:
        self.stack = QStackedWidget()
        self.stack.addWidget(self.view)
        self.stack.addWidget(self.welcome)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.banners)
        column.addWidget(self.stack, 1)
        self.progress.lie_on(self.stack)
        self.setCentralWidget(page)

    def _connect(self) -> None:
        document = self.document
        self._mail_arrived.connect(document.mailroom.poll, Qt.ConnectionType.QueuedConnection)
        document.mailroom.wake = self._mail_arrived.emit
        document.on_scene.append(self._scene_changed)
        document.on_problem.append(self.show_problem)
        document.on_jobs.append(self.show_jobs)
        document.observe(self._state_changed)
        self._remaker = Remaker(document, self)
        self._job_timer = QTimer(self, interval=PROGRESS_INTERVAL_MS)
        self._job_timer.timeout.connect(self.show_jobs)
        self.progress.cancelled.connect(self.cancel_jobs)
        self.welcome.demo_chosen.connect(self.open_demo)
        self.welcome.file_chosen.connect(lambda path: self.open_files([path]))
        self.welcome.open_wanted.connect(self.ask_for_files)
        self.loop.frame_arrived.connect(self._show_frame)
        self.inspectors.attach(self.loop)
        self.inspectors.legend_changed.connect(self.legend.show_scale)
        self.loop.problem.connect(self.messages.show_picture_problem)
        self.loop.busy.connect(self._busy_label.setText)
        self.loop.busy.connect(self.waiting.hear)
        self._connect_view()

    def _connect_view(self) -> None:
        self.navigator.moved.connect(self._camera_moved)
        self.navigator.rested.connect(self._camera_rested)
        self.navigator.focus_wanted.connect(self.camera_commands.focus)
        self.view.interop_failed.connect(lambda sentence: self.messages.stand_in("interop", sentence))

    # -- scenes ---------------------------------------------------------------------------------------------------
    def open_files(self, paths: list[str]) -> None:
        """Open files as one scene, in the background; a file of settings changes those, and opens the scene that it names."""
        self.banners.clear("problem")
        if len(paths) == 1 and is_settings_file(paths[0]):
            open_settings(self, paths[0])
            return
        self.memory.set_folder(paths[0])
        self.document.open_files(paths)

    def open_demo(self, name: str) -> None:
        """Open a built-in scene, in the background."""
        self.banners.clear("problem")
        self.document.open_demo(name)

    def ask_for_files(self) -> None:
        """File > Open."""
        paths = dialogs.ask_for_files(self, self.memory.folder())
        if paths:
            self.open_files(natural_order(paths))

    def fill_recent_menu(self, menu: QMenu) -> None:
        """The files opened last, and a way to forget them."""
        menu.clear()
        for path in self.memory.recent():
            menu.addAction(path).triggered.connect(lambda checked=False, path=path: self.open_files([path]))
        menu.addSeparator()
        menu.addAction(self.tr("Clear the list")).triggered.connect(self._clear_recent)

    def show_welcome(self) -> None:
        """The first page; the open scene stays open, and stops playing."""
        if self.document.state.timeline.is_playing:
            self.timeline_bar.toggle_play()
        self.welcome.show_recent(self.memory.recent())
        self.stack.setCurrentWidget(self.welcome)

    def cancel_jobs(self) -> None:
        """Cancel whatever runs in the background."""
        if not self.document.jobs:
            self.waiting.go_back()
        for job in list(self.document.jobs):
            self.document.cancel(job)
        self.progress.hide()

    # -- commands -------------------------------------------------------------------------------------------------
    def show_settings(self, table: str = "") -> None:
        """Edit > Settings, at a page."""
        dialog = self._settings_dialog
        if dialog is None:
            dialog = self._settings_dialog = SettingsDialog(self.document, self)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.destroyed.connect(self._forget_settings)
        dialog.show_page(table or "render")
        dialog.show()
        dialog.raise_()

    def show_structure_options(self) -> None:
        """Structure > Options."""
        self.show_settings(f"hierarchy.{self.document.state.settings.render.hierarchy}")

    def show_ray_type_options(self) -> None:
        """Render > Options."""
        self.show_settings(f"ray_type.{self.document.state.settings.render.ray_type}")

    def save_picture(self) -> None:
        """File > Save picture."""
        dialogs.save_picture(self, self.view.picture(), self.memory.folder())

    def show_export(self) -> None:
        """File > Export."""
        ExportDialog(self).show()

    def show_cheat_sheet(self) -> None:
        """Help > Cheat sheet."""
        dialogs.show_cheat_sheet(self)

    def show_about(self) -> None:
        """Help > About."""
        dialogs.show_about(self)

    def copy_report(self) -> None:
        """Help > Copy a report."""
        dialogs.copy_report(self)

    def reset_layout(self) -> None:
        """Put the docks back, and tell again what someone did not want to read again."""
        self.memory.forget_window()
        self.memory.hear_all()
        self.restoreState(self._first_layout)

    def toggle_full_screen(self) -> None:
        """Full screen, and back."""
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)
        self.commands.actions["view.full_screen"].setChecked(self.isFullScreen())

    # -- what happens ---------------------------------------------------------------------------------------------
    def show_problem(self, problem: Problem) -> None:
        """Say what went wrong, in a line."""
        self.messages.show_problem(problem)

    def _scene_changed(self, scene: Scene | None) -> None:
        self.stats_panel.clear()
        self.setWindowTitle(f"{self.document.state.scene.title} - Raygrove" if scene is not None else "Raygrove")
        self.messages.show_remarks(scene)
        if scene is None:
            self.show_welcome()
            return
        self.stack.setCurrentWidget(self.view)
        self.view.setFocus()
        if self.document.state.scene.kind == "files":
            self.memory.add_recent(self.document.state.scene.names)

    def _show_frame(self, frame: FinishedFrame) -> None:
        self.messages.take(frame)
        self.stats_panel.take(frame, self.loop.fps(), self.view.paint_ms, self.view.device_size(), self.view.way)
        text = f"{frame.device_name} ({frame.target_name}), {self.view.way}"
        if self._device_label.text() != text:
            self._device_label.setText(text)

    def show_jobs(self) -> None:
        """Show what runs in the background, or the first page where nothing is open."""
        jobs = self.document.jobs
        if not jobs:
            self._job_timer.stop()
            if self.waiting.is_long:
                self.progress.show_progress(self.waiting.sentence, None)
            else:
                self.progress.hide()
            if self.document.scene is None and not self._is_closed:
                self.show_welcome()
            return
        job = jobs[-1]
        self.progress.show_progress(f"{job.title} {job.message}".strip(), job.progress)
        if not self._job_timer.isActive():
            self._job_timer.start()

    def _pick(self, across: float, down: float, take: Callable[[Vector | None], None]) -> None:
        """What the picture shows at a place; `take` is called with the point when the render thread has found it."""
        self.loop.ask("navigate", lambda maker: maker.pick(across, down), lambda found: take(found.hit.position if found and found.hit else None))

    def _camera_moved(self) -> None:
        self.loop.is_dragging = self.navigator.is_active
        self.loop.camera_moved()

    def _camera_rested(self) -> None:
        self.loop.is_dragging = self.navigator.is_active
        self.document.end_merge()
        self.loop.camera_moved()

    def _state_changed(self, before: State, after: State) -> None:
        if before.settings != after.settings or before.cameras != after.cameras or before.views != after.views:
            self._show_state()
        if before.settings.display.view != after.settings.display.view:
            QTimer.singleShot(0, self.change_view)
        if before.settings.display.swap_interval != after.settings.display.swap_interval:
            self.banners.show_message("information", self.tr("The new swap interval counts from the next start."), topic="swap")
        if before.timeline.direction != after.timeline.direction:
            self.commands.actions["animation.reverse"].setChecked(after.timeline.direction < 0)

    def _show_state(self) -> None:
        state, actions = self.document.state, self.commands.actions
        actions["edit.undo"].setEnabled(self.document.can_undo)
        actions["edit.redo"].setEnabled(self.document.can_redo)
        actions["structure.quality"].setChecked(state.settings.statistics.quality)
        actions["camera.orthographic"].setChecked(state.camera_of(0).orthographic)
        self.stats_panel.minimum_fps = state.settings.display.minimum_fps
        scale = self.inspectors.legend()
        if scale is not self.legend.scale:
            self.legend.show_scale(scale)

    def change_view(self) -> None:
        """Show pictures the other way: display.view was changed."""
        wanted = self._make_view(self.document.state.settings.display.view)
        self.messages.say_view(self.document.state.settings.display.view, wanted.kind)
        if wanted.kind == self.view.kind:
            wanted.deleteLater()
            return
        old, self.view = self.view, wanted
        self.legend.lie_on(wanted)
        self.navigator = Navigator(wanted, self.document, self._pick, self.gestures)
        self.inspectors.lie_on(wanted)
        self._connect_view()
        is_shown = self.stack.currentWidget() is old
        self.stack.addWidget(wanted)
        if is_shown:
            self.stack.setCurrentWidget(wanted)
        self.loop.set_view(wanted)
        self.stack.removeWidget(old)
        old.close_slots()
        old.deleteLater()
        self._show_state()

    def _clear_recent(self) -> None:
        self.memory.clear_recent()
        self.welcome.show_recent([])

    def _forget_settings(self) -> None:
        self._settings_dialog = None

    def _aspect(self) -> float:
        return self.view.width() / max(self.view.height(), 1)

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

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember the window, cancel jobs, end the render thread."""
        if not self._is_closed:
            self._is_closed = True
            self.memory.save_window(self)
            self.hide()
            self.previews.stop()
            self._job_timer.stop()
            self.cancel_jobs()
            self.document.mailroom.wake = lambda: None
            self.loop.stop()
        super().closeEvent(event)
