"""Workspaces: each shows its panels, remembers how it was arranged, and is a choice like any other."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTabBar

from raygrove.app.settings.workspaces import FIRST, WORKSPACES
from raygrove.app.ui.session.memory import Memory
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.stand_ins import take_places

OTHERS = [name for name in WORKSPACES if name != FIRST]


def shown(window: MainWindow) -> set[str]:
    """The panels that are there, also as a tab behind another."""
    take_places()
    return {dock.objectName().removeprefix("dock.") for dock in window.docks if not dock.isHidden()}


def in_front(window: MainWindow) -> set[str]:
    """The panels that are seen."""
    take_places()
    return {dock.objectName().removeprefix("dock.") for dock in window.docks if not dock.visibleRegion().isEmpty()}


def test_every_panel_that_a_workspace_names_is_a_dock(window: MainWindow) -> None:
    docks = {dock.objectName().removeprefix("dock.") for dock in window.docks}
    for name, workspace in WORKSPACES.items():
        assert set(workspace.panels) <= docks, name


@pytest.mark.parametrize("size", [(640, 480), (900, 600), (1280, 860)])
def test_a_workspace_shows_its_panels_and_the_window_stays(scene_window: MainWindow, size: tuple[int, int]) -> None:
    scene_window.resize(*size)
    right = Qt.DockWidgetArea.RightDockWidgetArea
    for name in OTHERS:
        assert shown(scene_window) == set(WORKSPACES[FIRST].panels)
        scene_window.commands.actions[f"view.workspace.{name}"].trigger()
        assert shown(scene_window) == set(WORKSPACES[name].panels), name
        side = {dock for dock in scene_window.docks if scene_window.dockWidgetArea(dock) == right}
        seen = [dock.objectName() for dock in side if not dock.visibleRegion().isEmpty()]
        assert seen == [f"dock.{WORKSPACES[name].panels[0]}"], "one panel at the side is seen, the others are tabs"
        assert (scene_window.width(), scene_window.height()) == size, name
        scene_window.commands.actions["edit.undo"].trigger()
        assert shown(scene_window) == set(WORKSPACES[FIRST].panels)
        assert scene_window.workspaces.current == FIRST


def test_menu_key_and_switch_lead_there(scene_window: MainWindow) -> None:
    switch = scene_window.workspaces.switch
    assert scene_window.menuBar().cornerWidget() is switch
    for name in OTHERS:
        action = scene_window.commands.actions[f"view.workspace.{name}"]
        assert action.shortcut().toString() == WORKSPACES[name].key
        key = getattr(Qt.Key, "Key_" + WORKSPACES[name].key.removeprefix("Ctrl+"))
        QTest.keyClick(scene_window, key, Qt.KeyboardModifier.ControlModifier)
        assert scene_window.workspaces.current == name
        assert {segment.offer.value for segment in switch.segments if segment.isChecked()} == {name}
        first = next(one for one in switch.segments if one.offer.value == FIRST)
        first.click()
        assert scene_window.workspaces.current == FIRST and first.isChecked()
    assert {segment.offer.title for segment in switch.segments} == {
        workspace.title for workspace in WORKSPACES.values()
    }


def test_each_remembers_how_it_was_arranged_and_which_was_shown(scene_window: MainWindow) -> None:
    window, docks = scene_window, {dock.objectName().removeprefix("dock."): dock for dock in scene_window.docks}
    docks["stats"].hide()
    window.workspaces.choose(OTHERS[0])
    docks["objects"].show()
    there = shown(window)
    window.workspaces.choose(FIRST)
    assert shown(window) == {"timeline"}
    window.workspaces.choose(OTHERS[0])
    assert shown(window) == there == {*WORKSPACES[OTHERS[0]].panels, "objects"}
    assert Memory().chosen("workspace", FIRST) == OTHERS[0]
    assert Memory().chosen("workspace", "settings that say something else") == ""
    window.reset_layout()
    assert shown(window) == set(WORKSPACES[OTHERS[0]].panels)
    window.workspaces.choose(FIRST)
    assert shown(window) == set(WORKSPACES[FIRST].panels), "the layout of each was reset"


def test_the_tab_in_front_is_so_again(scene_window: MainWindow) -> None:
    window, docks = scene_window, {dock.objectName().removeprefix("dock."): dock for dock in scene_window.docks}
    window.resize(1280, 720)
    window.workspaces.choose("inspect")
    for name in ("pick", "heat"):
        take_places()
        docks[name].raise_()
        assert in_front(window) == {name, "timeline"}
        window.workspaces.choose("race")
        assert in_front(window) == {"ranking", "timeline"}
        window.workspaces.choose("inspect")
        assert in_front(window) == {name, "timeline"}


def test_beside_the_first_page_there_is_no_panel_of_any_workspace(scene_window: MainWindow) -> None:
    scene_window.show_welcome()
    scene_window.workspaces.choose(OTHERS[0])
    assert shown(scene_window) == set()
    scene_window.stack.setCurrentWidget(scene_window.view)
    assert in_front(scene_window) <= set(WORKSPACES[OTHERS[0]].panels) == shown(scene_window)


def test_a_key_in_full_screen_ends_it(scene_window: MainWindow) -> None:
    scene_window.toggle_full_screen()
    assert shown(scene_window) == set()
    scene_window.workspaces.choose(OTHERS[0])
    assert not scene_window.isFullScreen() and not scene_window.menuBar().isHidden()
    assert shown(scene_window) == set(WORKSPACES[OTHERS[0]].panels)
    assert not scene_window.commands.actions["view.full_screen"].isChecked()


def test_full_screen_leaves_the_tab_in_front_that_was(scene_window: MainWindow) -> None:
    scene_window.resize(1280, 860)
    scene_window.workspaces.choose("inspect")
    for name in WORKSPACES["inspect"].panels[:4]:
        take_places()
        dock = next(dock for dock in scene_window.docks if dock.objectName() == f"dock.{name}")
        dock.raise_()
        seen = in_front(scene_window)
        assert name in seen
        for left in ({"nothing"}, seen):
            scene_window.toggle_full_screen()
            assert (in_front(scene_window) or {"nothing"}) == left, name


def test_coming_back_from_full_screen_shows_no_panel_behind_another(scene_window: MainWindow) -> None:
    scene_window.resize(1280, 860)
    scene_window.workspaces.choose("inspect")
    take_places()
    front, came = in_front(scene_window), list[str]()

    class Ear(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Show:
                came.append(watched.parent().objectName().removeprefix("dock."))
            return False

    scene_window.toggle_full_screen()
    ear = Ear()
    for dock in scene_window.docks:
        dock.widget().installEventFilter(ear)
    scene_window.toggle_full_screen()
    take_places()
    assert set(came) == front == in_front(scene_window), "each would be made and laid out for it"


def test_the_first_panel_is_in_front_behind_the_first_page_of_a_start(window: MainWindow) -> None:
    window.workspaces.choose("inspect")
    window.stack.setCurrentWidget(window.view)
    assert f"dock.{WORKSPACES['inspect'].panels[0]}" in {f"dock.{name}" for name in in_front(window)}


def test_tabs_of_inspect_have_all_their_letters_side_by_side(scene_window: MainWindow) -> None:
    scene_window.resize(1280, 600)
    scene_window.commands.actions["view.workspace.inspect"].trigger()
    check_tabs_of_inspect(scene_window)
    scene_window.resize(900, 600)
    check_tabs_of_inspect(scene_window)


def check_tabs_of_inspect(scene_window: MainWindow) -> None:
    """Each tab is whole, and all are in sight."""
    take_places()
    titles = {dock.windowTitle() for dock in scene_window.docks if dock.objectName() in ("dock.ray", "dock.boxes")}
    bars = scene_window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    (bar,) = (one for one in bars if one.x() >= 0 and titles <= {one.tabText(tab) for tab in range(one.count())})
    assert bar.count() == 8 and bar.elideMode() == Qt.TextElideMode.ElideNone
    assert bar.tabRect(0).left() >= 0 and bar.tabRect(7).right() <= bar.width()


def test_a_narrow_window_keeps_room_for_the_picture(scene_window: MainWindow) -> None:
    scene_window.resize(600, 400)
    scene_window.reset_layout()
    scene_window.document.change("settings.window.workspace", "inspect")
    QApplication.processEvents()
    side = next(dock for dock in scene_window.docks if dock.objectName() == "dock.ray")
    assert side.width() <= 0.57 * scene_window.width(), (side.width(), scene_window.width())
