"""What stands around the picture and the first page of a window: panels, menus, bars, dialogs, and the wiring of all
of them to the document. Most of a start is spent on importing and making them: a window that begins with its first
page has painted that before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction

from raygrove.app.ui.commands.command import Standing, Submenu
from raygrove.app.ui.commands.commands import Commands
from raygrove.app.ui.dialogs import questions
from raygrove.app.ui.dialogs.opened_dialogs import OpenedDialogs
from raygrove.app.ui.menus import camera_menu, render_menus, window_menus
from raygrove.app.ui.menus.animation_menu import animation_menu
from raygrove.app.ui.menus.scene_menu import SceneTools, scene_menu
from raygrove.app.ui.messages.busy_label import BusyLabel
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
from raygrove.app.ui.session.bell import MailBell
from raygrove.app.ui.session.scene_files import SceneFiles
from raygrove.app.ui.session.set_aside import SetAside
from raygrove.app.ui.session.settings_files import Remaker
from raygrove.app.ui.timeline.timeline_bar import TimelineBar
from raygrove.app.ui.window.docks import FirstRoom, PageAlone, PictureAlone, TabBars, make_docks
from raygrove.app.ui.window.first_steps import FirstSteps
from raygrove.app.ui.window.picture_place import PicturePlace
from raygrove.app.ui.window.rail import Rail
from raygrove.app.ui.window.tour import Tour
from raygrove.app.ui.window.tour_steps import steps
from raygrove.app.ui.window.workspaces import Workspaces

if TYPE_CHECKING:
    from raygrove.app.ui.window.main_window import MainWindow


def make(window: MainWindow, make_view: Callable[[str], Any]) -> None:
    """Give a window that has its first page everything else. `make_view` makes the widget that shows pictures."""
    session = window.session
    first = window.first_picture
    window.place = PicturePlace(session, make_view, window.stack, window, first.view if first is not None else None)
    window.camera_commands = window.place.camera_commands
    _make_parts(window)
    _make_docks(window)
    window.place.make_room_for(window.running.strip)
    window.toasts.lie_on(window.stack)
    window.tour = Tour(window, window.stack, lambda: steps(window), lambda: _look(window))
    window.tour.ended.connect(lambda is_done: window.memory.keep_tour() if is_done else None)
    window.opened_dialogs = OpenedDialogs(session, window)
    window.welcome.fill_lessons = window.opened_dialogs.fill_lessons
    window.messages = Messages(session, window.docks, window.opened_dialogs.show_structure_options, window)
    window.scene_files = SceneFiles(session, window.cancel_jobs, window)
    window.scene_tools = SceneTools(
        session, window.inspectors.pointer, lambda: window.place.navigator.pointer(), window.camera_commands, window
    )
    window.commands = Commands(window, session.notices, _menus(window))
    window.commands.is_opening = lambda: bool(window.document.jobs) or window.loop.waits_for_scene
    window.named = window.commands.commands
    _follow_actions(window, window.named)
    window.commands.completed.connect(lambda: window.opened_dialogs.follow(window.commands.actions))
    window.opened_dialogs.complete = window.commands.complete
    window.pipeline.connect_to(window, window.opened_dialogs)
    window.place.join(window.inspectors, window.messages)
    _connect(window)
    _arrange(window)


def _arrange(window: MainWindow) -> None:
    """Where all of it stands."""
    window.show_state()
    window.workspaces.begin()
    window.workspaces.changed.connect(window.place.follow)
    window.place.follow(window.workspaces.current)
    FirstRoom(window, window.docks)
    window.set_aside = SetAside(window.session, window, lambda: _keep_layout(window))
    TabBars(window, window.docks)
    bars = window.pipeline, window.rail
    window.page_alone = PageAlone(window.stack, window.welcome, lambda: (*bars, *window.workspaces.in_order()))
    window.picture_alone = PictureAlone(window, lambda: (window.menuBar(), window.statusBar(), *bars, *window.docks))
    window.workspaces.before, window.workspaces.after = window.bring_back, window.page_alone.follow
    if window.isVisible():  # with its first page
        window.page_alone.follow()


def _keep_layout(window: MainWindow) -> None:
    """Where panels are now, unless some are away for a page, a full screen or want of room."""
    if window.isVisible() and not (window.isFullScreen() or window.page_alone.has_put_away):
        window.workspaces.keep()


def _make_parts(window: MainWindow) -> None:
    window.toasts, window.running = Toasts(), Running(window.session, window)
    notices = window.session.notices
    notices.shown.connect(window.toasts.show_notice)
    notices.cleared.connect(window.toasts.clear)
    notices.told.connect(window.statusBar().showMessage)
    window.records = Records(window.session, window)
    window.stats_panel, window.timeline_bar = StatsPanel(window.session.figures), TimelineBar(window.document)
    window.comparer = Comparer(window.session, window.stats_panel, window)
    window.camera_panel = CameraPanel(window.document, window.camera_commands)
    window.inspectors = Inspectors(window.document, window, window.session.gestures, window.session.inspection)
    window.ray_tools = RayTools(window.session, window.inspectors, window)
    window.hot_tools = HotTools(window.session, window.inspectors, window)
    window.device_field, window.busy_label = DeviceField(window.session), BusyLabel()
    window.statusBar().addWidget(window.busy_label, 1)
    for field in (window.device_field, NoticeCount(window.toasts), window.records.mark):
        window.statusBar().addPermanentWidget(field)


def _look(window: MainWindow) -> bool:
    """Show the picture and give it the focus; whether there is a scene."""
    has_scene = window.document.scene is not None
    if has_scene:
        window.show_picture()
    return has_scene


def _make_docks(window: MainWindow) -> None:
    window.pipeline = Pipeline(window.session, window)
    window.pipeline.show()  # else Qt shows a bar of a window that is seen in the next turn of its loop
    places = (
        ("stats", window.tr("Statistics"), window.stats_panel, Qt.DockWidgetArea.RightDockWidgetArea),
        ("camera", window.tr("Camera"), window.camera_panel, Qt.DockWidgetArea.LeftDockWidgetArea),
        ("timeline", window.tr("Timeline"), window.timeline_bar, Qt.DockWidgetArea.BottomDockWidgetArea),
        *window.inspectors.places(),
        *(*window.ray_tools.places(), *window.hot_tools.places()),
        ("ranking", window.tr("Ranking"), window.place.race.panel, Qt.DockWidgetArea.RightDockWidgetArea),
        ("log", window.tr("Log"), window.records.pane, Qt.DockWidgetArea.BottomDockWidgetArea),
    )
    window.docks = make_docks(window, places)
    for tools in (window.inspectors, window.ray_tools, window.hot_tools):
        tools.take_docks(window, window.docks)
    named = {dock.objectName(): dock for dock in window.docks}
    window.records.follow(window, named["dock.log"], named["dock.timeline"])
    window.timeline_bar.unfold(named["dock.cost"])
    window.place.lead = window.timeline_bar.axis.lead
    window.rail = Rail(window.document, window, window.docks)
    window.workspaces = Workspaces(window.session, window, window.docks, window.rail)


def _menus(window: MainWindow) -> list[Submenu]:
    session, opened = window.session, window.opened_dialogs
    files = window_menus.file_menu(
        session,
        window,
        window.scene_files,
        opened,
        window.demos,
        ask=window.ask_for_files,
        fill_recent=window.fill_recent_menu,
        open_demo=window.open_demo,
        show_welcome=window.show_welcome,
        save_picture=lambda: questions.save_picture(session, window, window.place.page.picture()),
    )
    return [
        files,
        window_menus.edit_menu(session, opened, lambda: window.view.device_size()),
        window_menus.view_menu(
            session,
            window.docks,
            window.workspaces.menu(),
            [window.pipeline.entries(), Standing("view.rail", window.rail.toggleViewAction())],
            reset_layout=window.reset_layout,
            toggle_full_screen=window.toggle_full_screen,
        ),
        camera_menu.camera_menu(session, window.camera_commands, window.camera_panel.path.player.toggle),
        scene_menu(session, window.scene_tools),
        animation_menu(session, window.timeline_bar),
        render_menus.structure_menu(
            session,
            compare=window.comparer.compare,
            toggle_boxes=window.inspectors.boxes.toggle,
            show_options=opened.show_structure_options,
            show_tile_options=opened.show_tile_options,
        ),
        render_menus.render_menu(session, opened.show_ray_type_options),
        window_menus.tools_menu(opened),
        window_menus.help_menu(session, window, opened, window.tour.begin),
    ]


def _follow_actions(window: MainWindow, actions: Mapping[str, QAction]) -> None:
    camera_menu.follow_bookmarks(window.session, actions)
    window.scene_tools.follow(actions)
    window.timeline_bar.show_keys(actions)
    window.inspectors.hint.commands = actions
    window.scene_files.follow(actions)


def _connect(window: MainWindow) -> None:
    document = window.document
    MailBell(document.mailroom, window)
    document.on_scene.append(window.scene_changed)
    document.on_problem.append(window.messages.show_problem)
    document.observe(window.state_changed)
    Remaker(document, window)
    window.running.has_ended.connect(window.show_something)
    window.welcome.tour_wanted.connect(window.tour.begin)
    window.welcome.left.connect(window.show_picture)
    FirstSteps(window.session, window, window.welcome, window.open_files, window.open_demo, window.ask_for_files)
    window.loop.frame_arrived.connect(window.show_frame)
    window.inspectors.attach(window.loop, window.session.figures)
    window.loop.problem.connect(window.messages.show_picture_problem)
    window.running.beside.connect(window.busy_label.say)
    window.loop.drawing.connect(window.busy_label.say)
    window.place.painted.connect(window.show_drawn)
