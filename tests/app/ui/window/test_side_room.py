"""A narrow window: the picture has all its width, until someone asks for a panel or the window is wider."""

from __future__ import annotations

from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.ui.window.rail import WIDTH
from raygrove.app.ui.window.side_room import DRAWER, LEAST, NARROW, SIDE, SideRoom
from tests.app.stand_ins import take_places


def seen(window: MainWindow) -> set[str]:
    take_places()
    return {dock.objectName().removeprefix("dock.") for dock in window.docks if not dock.visibleRegion().isEmpty()}


def begin(window: MainWindow, width: int, height: int = 600) -> None:
    SideRoom(window, window.docks, window.workspaces, window.page_alone, window.memory)
    window.resize(width, height)


def test_a_narrow_window_is_the_pictures(scene_window: MainWindow) -> None:
    begin(scene_window, 900)
    assert seen(scene_window) == {"timeline"} and scene_window.view.width() == 900 - WIDTH
    scene_window.resize(NARROW, 600)
    assert seen(scene_window) == {"timeline", "stats"}
    scene_window.resize(900, 600)
    scene_window.show_welcome()
    assert seen(scene_window) == set()
    scene_window.stack.setCurrentWidget(scene_window.view)
    assert seen(scene_window) == {"timeline"}, "behind the first page, too"


def test_a_window_that_is_narrow_from_the_first_is_the_pictures(scene_window: MainWindow) -> None:
    """It may be seen before there is anybody who follows its size, and have its last one by then."""
    scene_window.resize(900, 600)
    assert seen(scene_window) == {"timeline", "stats"}
    SideRoom(*(scene_window, scene_window.docks, scene_window.workspaces, scene_window.page_alone, scene_window.memory))
    assert seen(scene_window) == {"timeline"} and scene_window.view.width() == 900 - WIDTH


def test_a_panel_that_is_asked_for_stays(scene_window: MainWindow) -> None:
    begin(scene_window, 900)
    seen(scene_window)
    scene_window.commands.actions["view.dock.stats"].trigger()
    assert seen(scene_window) == {"timeline", "stats"}
    scene_window.resize(880, 600)
    scene_window.show_welcome()
    scene_window.stack.setCurrentWidget(scene_window.view)
    assert seen(scene_window) == {"timeline", "stats"}
    scene_window.commands.actions["view.dock.stats"].trigger()
    scene_window.resize(1280, 600)
    assert seen(scene_window) == {"timeline"}, "who has closed it does not get it back"


def test_other_workspaces_have_their_panels_and_it_is_remembered_as_shown(scene_window: MainWindow) -> None:
    begin(scene_window, 900)
    assert seen(scene_window) == {"timeline"}
    scene_window.workspaces.choose("race")
    assert seen(scene_window) == {"timeline", "ranking"}
    scene_window.workspaces.choose("explore")
    assert seen(scene_window) == {"timeline"}
    scene_window.workspaces.choose("race")
    scene_window.resize(1280, 600)
    scene_window.workspaces.choose("explore")
    assert seen(scene_window) == {"timeline", "stats"}


def test_a_drawer_and_panels_at_the_right_leave_no_strip(scene_window: MainWindow) -> None:
    begin(scene_window, 900)
    scene_window.workspaces.choose("inspect")
    assert seen(scene_window) == {"timeline", "ray"}
    objects, hot = (scene_window.commands.actions[f"view.dock.{name}"].trigger for name in ("objects", "hot_spots"))
    objects()
    assert seen(scene_window) == {"timeline", "objects"}, "what was asked for is there, and the picture"
    assert scene_window.view.width() > LEAST
    objects()
    assert seen(scene_window) == {"timeline", "ray"}, "and all is as before"
    objects()
    scene_window.inspectors._show_dock("pick")  # as a click in the picture does
    assert seen(scene_window) == {"timeline", "pick"}
    scene_window.resize(1280, 600)
    assert seen(scene_window) == {"timeline", "pick", "objects"} and scene_window.view.width() > LEAST
    scene_window.resize(900, 600)
    assert seen(scene_window) == {"timeline", "pick"}
    scene_window.workspaces.choose("race")
    assert seen(scene_window) == {"timeline", "ranking"}
    scene_window.workspaces.choose("inspect")
    assert seen(scene_window) == {"timeline", "pick"}
    hot()
    scene_window.resize(1280, 600)
    assert seen(scene_window) >= {"timeline", "objects"}


def test_what_comes_by_itself_in_a_narrow_window_takes_the_place_of_a_drawer(scene_window: MainWindow) -> None:
    begin(scene_window, 900)
    assert seen(scene_window) == {"timeline"}
    scene_window.commands.actions["scene.clip"].trigger()
    assert seen(scene_window) == {"timeline", "clip"}
    boxes = scene_window.commands.actions["structure.boxes"].trigger
    boxes()
    assert seen(scene_window) == {"timeline", "boxes"}
    boxes()
    assert seen(scene_window) == {"timeline", "clip"}, "and gives it back"


def test_full_screen_is_the_pictures_alone(scene_window: MainWindow) -> None:
    begin(scene_window, 900)
    before = seen(scene_window)
    scene_window.toggle_full_screen()
    scene_window.resize(1600, 900)
    assert seen(scene_window) == set()
    scene_window.toggle_full_screen()
    scene_window.resize(900, 600)
    assert seen(scene_window) == before


LARGER = {"timeline", "stats", "objects", "boxes", "cost"}


def test_a_large_window_has_drawer_two_panels_and_costs(scene_window: MainWindow) -> None:
    """As the design lays out 1920x1080; a smaller window puts away what nobody has asked for."""
    begin(scene_window, 1920, 1050)
    for _ in range(3):
        assert seen(scene_window) == LARGER
    docks = {dock.objectName().removeprefix("dock."): dock for dock in scene_window.docks}
    assert docks["objects"].width() == DRAWER and abs(docks["stats"].width() - SIDE) <= 2
    assert docks["stats"].x() == docks["boxes"].x() and docks["stats"].y() < docks["boxes"].y()
    assert scene_window.view.width() > 1200 and (scene_window.width(), scene_window.height()) == (1920, 1050)
    scene_window.resize(1280, 720)
    assert seen(scene_window) == {"timeline", "stats"}
    scene_window.resize(1920, 1050)
    assert seen(scene_window) == LARGER


def test_what_is_closed_in_a_large_window_stays_closed(scene_window: MainWindow) -> None:
    """Also at the next start, and until the layout is reset."""
    begin(scene_window, 1920, 1050)
    seen(scene_window)
    scene_window.rail.buttons["objects"].click()
    assert seen(scene_window) == LARGER - {"objects"}
    scene_window.resize(1280, 720)
    scene_window.timeline_bar.cost.click()
    assert seen(scene_window) == {"timeline", "stats", "cost"}
    scene_window.resize(1920, 1050)
    assert seen(scene_window) == LARGER - {"objects"}
    scene_window.resize(1280, 720)
    assert seen(scene_window) == {"timeline", "stats", "cost"}, "somebody asked for the costs"
    assert scene_window.memory.opened_in_large() == ["boxes"]
    scene_window.resize(1920, 1050)
    scene_window.reset_layout()
    assert seen(scene_window) == LARGER
    scene_window.workspaces.choose("inspect")
    assert "objects" not in seen(scene_window)
    scene_window.workspaces.choose("explore")
    assert seen(scene_window) == LARGER


def test_beside_the_first_page_a_large_window_opens_nothing(scene_window: MainWindow) -> None:
    scene_window.show_welcome()
    begin(scene_window, 1920, 1050)
    assert seen(scene_window) == set()
    scene_window.stack.setCurrentWidget(scene_window.view)
    assert seen(scene_window) == LARGER
