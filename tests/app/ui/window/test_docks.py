"""The docks: a small window stays small whichever panel opens, and a large one gives a panel its room."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QSpinBox, QStackedWidget, QTabBar, QWidget

from raygrove.app.ui.widgets.scrolled import Scrolled, needed_by, panel_of
from raygrove.app.ui.window.docks import PageAlone, behind
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.ui.window.on_screen import fit_to_screen
from tests.app.stand_ins import take_places


@pytest.fixture
def window(window: MainWindow) -> MainWindow:
    """The window with its picture: beside the first page there are no panels."""
    window.stack.setCurrentWidget(window.view)
    take_places()
    return window


NAMES = ("camera", "heat", "pick", "boxes", "objects", "clip", "materials", "lights", "cost", "log", "spheres")


def test_a_window_of_640_by_480_keeps_its_size_when_a_panel_opens(window: MainWindow, qtbot: Any) -> None:
    window.resize(640, 480)
    for name in NAMES:
        dock = next(dock for dock in window.docks if dock.objectName() == f"dock.{name}")
        dock.show()
        dock.raise_()
        qtbot.waitUntil(lambda dock=dock: not dock.visibleRegion().isEmpty())
        take_places()  # what the window arranges afterwards
        assert (window.width(), window.height()) == (640, 480), name
        assert dock.widget().height() >= 40, name
        dock.hide()
        take_places()


def test_a_small_window_keeps_its_size_with_every_panel_open(window: MainWindow, qtbot: Any) -> None:
    """What would make it grow becomes a tab, and is the one that is seen."""
    window.resize(640, 480)
    take_places()
    docks = {dock.objectName().removeprefix("dock."): dock for dock in window.docks}
    for name in NAMES:
        docks[name].show()
        take_places()
        assert (window.width(), window.height()) == (640, 480), name
        assert name in ("pick", "boxes") or not docks[name].visibleRegion().isEmpty(), name
        seen = [one for one in ("camera", "objects", "clip", "materials", "lights", "spheres") if is_seen(docks[one])]
        assert len(seen) <= 1, "those at the left share one place"
    assert not docks["timeline"].visibleRegion().isEmpty()


def is_seen(dock: QDockWidget) -> bool:
    return not dock.visibleRegion().isEmpty()


def test_no_bar_of_tabs_is_left_of_panels_that_are_hidden(scene_window: MainWindow) -> None:
    docks = {dock.objectName().removeprefix("dock."): dock for dock in scene_window.docks}
    direct = Qt.FindChildOption.FindDirectChildrenOnly

    def bars() -> list[set[str]]:
        take_places()
        found = [bar for bar in scene_window.findChildren(QTabBar, options=direct) if not bar.visibleRegion().isEmpty()]
        return [{bar.tabText(tab) for tab in range(bar.count())} for bar in found if bar.count()]

    for name in ("heat", "pick"):
        docks[name].show()
    assert any("Picked" in bar for bar in bars()), "one is there where it is needed"
    for name in ("heat", "pick"):
        docks[name].hide()
    take_places()
    for bar in scene_window.findChildren(QTabBar, options=direct):
        if bar.count():
            bar.move(40, 60)  # where Qt leaves it in a window that begins small
    assert bars(), "it can be seen"
    QApplication.postEvent(scene_window, QEvent(QEvent.Type.LayoutRequest))
    assert bars() == []


def test_a_panel_that_the_program_shows_shares_the_place_too(window: MainWindow) -> None:
    window.resize(1280, 720)
    window.session.document.change("settings.window.workspace", "explore")
    docks = {dock.objectName(): dock for dock in window.docks}
    docks["dock.stats"].show()
    docks["dock.heat"].show()
    take_places()
    assert docks["dock.stats"] in window.tabifiedDockWidgets(docks["dock.heat"])
    window.session.document.change("settings.window.workspace", "race")
    docks["dock.boxes"].show()
    take_places()
    assert docks["dock.ranking"] in window.tabifiedDockWidgets(docks["dock.boxes"]), "or that of the ranking"


def test_a_panel_that_comes_back_shares_the_place_with_one_that_came_meanwhile(window: MainWindow, qtbot: Any) -> None:
    """As after a killed session: the heat map's panel is shown while the first page has that of the figures away."""
    window.resize(1280, 720)
    docks = {dock.objectName(): dock for dock in window.docks}
    docks["dock.stats"].hide()
    docks["dock.heat"].show()
    take_places()
    docks["dock.stats"].show()
    qtbot.waitUntil(lambda: docks["dock.stats"] in window.tabifiedDockWidgets(docks["dock.heat"]))
    window.tabifyDockWidget(docks["dock.camera"], docks["dock.stats"])  # whoever parts them later is left alone
    for name in ("dock.heat", "dock.stats"):
        docks[name].hide()
        docks[name].show()
    take_places()
    assert docks["dock.stats"] not in window.tabifiedDockWidgets(docks["dock.heat"])


def test_in_a_low_window_panels_at_the_right_share_one_place(window: MainWindow) -> None:
    docks = {dock.objectName().removeprefix("dock."): dock for dock in window.docks}
    window.resize(1280, 720)
    window.commands.actions["view.dock.heat"].trigger()
    take_places()
    assert not is_seen(docks["stats"]) and is_seen(docks["heat"])
    docks["stats"].raise_()
    take_places()
    assert is_seen(docks["stats"])


def test_panels_tell_of_themselves_again_where_putting_them_behind_breaks_off(window: MainWindow) -> None:
    with pytest.raises(KeyError), behind(window.docks):
        raise KeyError("dock")
    assert not [dock.objectName() for dock in window.docks if dock.signalsBlocked()]


def test_full_screen_is_the_picture_alone_and_comes_back(window: MainWindow, qtbot: Any) -> None:
    action = window.commands.actions["view.full_screen"]
    around = [window.menuBar(), window.statusBar(), window.pipeline, *window.docks]
    before = [widget.isHidden() for widget in around]
    action.trigger()
    qtbot.waitUntil(lambda: window.stack.height() == window.height())
    assert all(widget.isHidden() for widget in around) and action.isChecked()
    QTest.keyClick(window, Qt.Key.Key_F11)
    assert [widget.isHidden() for widget in around] == before and not action.isChecked()


@pytest.mark.parametrize(
    ("size", "place"), [((3000, 2000), (0, 0)), ((400, 300), (5000, 4000)), ((500, 400), (-900, -50))]
)
def test_a_window_lies_on_its_screen_as_a_whole(
    window: MainWindow, size: tuple[int, int], place: tuple[int, int]
) -> None:
    for dock in window.docks:
        dock.hide()
    window.resize(*size)
    window.move(*place)
    fit_to_screen(window)
    take_places()
    room = window.screen().availableGeometry()
    assert room.contains(window.frameGeometry().adjusted(2, 2, -2, -2)), (window.frameGeometry(), room)


def test_a_panel_in_a_low_column_leaves_the_others_theirs(window: MainWindow, qtlog: Any) -> None:
    """Half the window may be more than the column has: the others keep what they need at least."""
    window.resize(640, 480)
    take_places()
    docks = {dock.objectName().removeprefix("dock."): dock for dock in window.docks}
    for name in ("pick", "objects", "boxes", "spheres", "log"):
        docks[name].show()
        take_places()
    assert not [record.message for record in qtlog.records if "resizeDocks" in record.message]
    assert all(docks[name].widget().height() > 0 for name in ("stats", "pick", "objects", "spheres", "log"))


def test_a_panel_below_the_picture_takes_its_room_of_the_picture(window: MainWindow, qtlog: Any) -> None:
    window.resize(1280, 900)
    take_places()
    docks = {dock.objectName().removeprefix("dock."): dock for dock in window.docks}
    before = docks["timeline"].height()
    docks["log"].show()
    take_places()
    shown, panel = docks["log"].widget(), panel_of(docks["log"])
    assert shown.height() >= min(needed_by(panel, shown.width()).height(), 400) and docks["timeline"].height() == before
    assert not [record.message for record in qtlog.records if "resizeDocks" in record.message]


def test_a_window_that_is_made_larger_keeps_its_panels_apart(window: MainWindow) -> None:
    window.resize(1400, 900)
    take_places()
    for dock in window.docks:
        dock.show()
    window.resize(1400, 3200)
    take_places()
    assert (window.width(), window.height()) == (1400, 3200)
    assert not [
        dock
        for dock in window.docks
        if dock.objectName() in ("dock.stats", "dock.timeline") and window.tabifiedDockWidgets(dock)
    ]


def test_a_panel_behind_another_tab_is_not_visible_and_keeps_its_room(window: MainWindow, qtbot: Any) -> None:
    """What is not visible works no figures out."""
    window.resize(900, 600)
    docks = {dock.objectName().removeprefix("dock."): dock for dock in window.docks}
    for name in ("stats", "heat"):
        docks[name].show()
        docks[name].raise_()
    window.tabifyDockWidget(docks["stats"], docks["heat"])
    for front, back in (("heat", "stats"), ("stats", "heat")):
        docks[front].raise_()
        qtbot.waitUntil(lambda front=front: is_seen(docks[front]))
        take_places()
        assert panel_of(docks[front]).isVisible() and not panel_of(docks[back]).isVisible()
        assert docks[back].minimumSizeHint().height() >= 44, "else the window would be laid out anew with each tab"
    docks["stats"].hide()
    take_places()
    docks["stats"].show()
    docks["stats"].raise_()
    qtbot.waitUntil(lambda: panel_of(docks["stats"]).isVisible())


def test_a_panel_that_is_shown_first_gets_its_room_once(window: MainWindow, qtbot: Any) -> None:
    window.resize(1280, 900)
    stats, dock = (
        next(dock for dock in window.docks if dock.objectName() == f"dock.{name}") for name in ("stats", "heat")
    )
    dock.show()
    shown, panel = dock.widget(), panel_of(dock)
    assert isinstance(shown, Scrolled)
    qtbot.waitUntil(lambda: shown.height() >= needed_by(panel, shown.width()).height())
    assert stats.height() > 200
    window.resizeDocks([stats, dock], [600, 100], Qt.Orientation.Vertical)
    qtbot.waitUntil(lambda: dock.height() < 200)
    dock.hide()
    dock.show()
    take_places()
    assert dock.height() < 200, "it was made smaller by hand"


@pytest.mark.parametrize("size", [(900, 600), (1280, 720), (1920, 1050)])
@pytest.mark.parametrize("name", ["cost", "log"])
def test_a_panel_below_comes_back_as_high_as_it_was(window: MainWindow, name: str, size: tuple[int, int]) -> None:
    """However it went: folded, behind the first page, in full screen."""
    window.resize(*size)
    take_places()
    docks = {dock.objectName().removeprefix("dock."): dock for dock in window.docks}
    dock, timeline = docks[name], docks["timeline"].height()

    def after(act: Callable[[], object]) -> int:
        """The panel's height, 0 where it is away."""
        act()
        take_places()
        assert docks["timeline"].height() == timeline or not is_seen(docks["timeline"])
        return dock.widget().height() if is_seen(dock) else 0

    fold = window.timeline_bar.cost.click if name == "cost" else window.commands.actions["view.dock.log"].trigger
    first = after(fold)
    assert first >= min(needed_by(panel_of(dock), dock.width()).height(), size[1] // 3)
    assert [after(fold) for _ in range(4)] == [0, first, 0, first]
    smaller = after(lambda: window.resizeDocks([dock], [80], Qt.Orientation.Vertical))
    assert smaller < first
    picture = functools.partial(window.stack.setCurrentWidget, window.view)
    goes = (fold, fold, window.show_welcome, picture, window.toggle_full_screen, window.toggle_full_screen)
    assert [after(go) for go in goes] == 3 * [0, smaller], "made smaller by hand"
    assert (window.width(), window.height()) == size


def test_each_workspace_keeps_the_height_of_a_panel_below(window: MainWindow) -> None:
    window.resize(1280, 900)
    dock, heights = (
        next(dock for dock in window.docks if dock.objectName() == "dock.cost"),
        {"explore": 150, "race": 80},
    )
    for space, height in heights.items():
        window.workspaces.choose(space)
        dock.show()
        take_places()
        window.resizeDocks([dock], [height], Qt.Orientation.Vertical)
        take_places()
    for space, height in heights.items():
        window.workspaces.choose(space)
        take_places()
        assert is_seen(dock) and dock.height() == height


def test_the_wheel_scrolls_a_panel_and_changes_no_number_in_it(window: MainWindow, qtbot: Any) -> None:
    dock = next(dock for dock in window.docks if dock.objectName() == "dock.boxes")
    dock.show()
    dock.raise_()
    window.resize(640, 480)
    scrolled, boxes = dock.widget(), window.inspectors.boxes
    assert isinstance(scrolled, Scrolled)
    qtbot.waitUntil(lambda: scrolled.verticalScrollBar().maximum() > 0)
    box = boxes.findChildren(QSpinBox)[1]
    scrolled.ensureWidgetVisible(box)
    before = box.value()
    assert not turn(box) and box.value() == before, "nobody else may take it, so that it reaches the scroll area"
    window.resize(1280, 1400)
    window.resizeDocks([dock], [1000], Qt.Orientation.Vertical)
    qtbot.waitUntil(lambda: scrolled.verticalScrollBar().maximum() == 0)
    assert turn(box) and box.value() != before, "where nothing scrolls the wheel does what it did"


def turn(widget: QWidget) -> bool:
    """One click of the wheel, towards the user; whether somebody took it."""
    place = QPointF(widget.rect().center())
    none = Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False
    at = QPointF(widget.mapToGlobal(place.toPoint()))
    event = QWheelEvent(place, at, QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton, *none)
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def test_a_panel_that_scrolls_has_its_whole_width(scene_window: MainWindow) -> None:
    scene_window.resize(900, 600)
    take_places()
    dock = next(dock for dock in scene_window.docks if dock.objectName() == "dock.camera")
    dock.show()
    take_places()
    area = dock.widget()
    assert isinstance(area, Scrolled) and area.verticalScrollBar().maximum() > 0
    assert area.horizontalScrollBar().maximum() == 0


def test_what_comes_beside_a_page_that_is_alone_waits_for_the_picture(qtbot: Any) -> None:
    host, stack, page, picture = QMainWindow(), QStackedWidget(), QWidget(), QWidget()
    qtbot.addWidget(host)
    for one in (page, picture):
        stack.addWidget(one)
    host.setCentralWidget(stack)
    panels = [QDockWidget(name, host) for name in ("first", "second")]
    for panel in panels:
        host.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, panel)
        panel.hide()
    alone = PageAlone(stack, page, lambda: panels)
    host.show()
    panels[1].show()
    take_places()
    assert panels[1].isHidden() and alone.has_put_away
    stack.setCurrentWidget(picture)
    take_places()
    assert [panel.isVisible() for panel in panels] == [False, True] and not alone.has_put_away


@pytest.mark.parametrize("was_there", [False, True], ids=["new", "remembered"])
def test_a_panel_that_comes_beside_the_first_page_is_in_front_once_there_is_a_picture(
    scene_window: MainWindow, was_there: bool
) -> None:
    """As it is after a killed session, whose rays are counted before its scene is there."""
    docks = {dock.objectName().removeprefix("dock."): dock for dock in scene_window.docks}

    def seen() -> set[str]:
        take_places()
        return {name for name, dock in docks.items() if not dock.visibleRegion().isEmpty()}

    scene_window.resize(1280, 720)
    scene_window.commands.actions["view.dock.heat"].trigger()
    assert seen() == {"timeline", "heat"}
    docks["stats"].raise_()
    docks["heat"].setHidden(not was_there)
    assert seen() == {"timeline", "stats"}
    scene_window.show_welcome()
    scene_window.document.change("settings.render.ray_type", "steps")
    if not was_there:
        assert seen() == set(), "nothing stands beside the page"
    scene_window.show_picture()
    assert seen() == {"timeline", "heat"} and not docks["stats"].isHidden()
