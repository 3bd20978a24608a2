"""The first page: cards, ways in, recent files."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QListWidget, QPushButton, QSpacerItem, QWidgetItem
from shiboken6 import getAllValidWrappers

from raygrove.app.scene_io.demos import ALL_DEMOS
from raygrove.app.settings.race_options import contestants_of
from raygrove.app.ui.dialogs import questions as questions_asked
from raygrove.app.ui.window import first_steps
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.app.ui.window.previews import Previews
from raygrove.app.ui.window.welcome import WelcomePage, questions
from tests.app.stand_ins import take_places


@pytest.fixture
def page(qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WelcomePage:
    monkeypatch.setattr(Previews, "_next", lambda self: None)
    made = WelcomePage(ALL_DEMOS, Previews(tmp_path))
    qtbot.addWidget(made)
    return made


def test_a_click_on_a_card_chooses_its_scene(page: WelcomePage, qtbot: Any) -> None:
    page.show()
    with qtbot.waitSignal(page.demo_chosen) as caught:
        qtbot.mouseClick(page.cards["walker"], Qt.MouseButton.LeftButton)
    assert caught.args == ["walker"] and set(page.cards) == {info.name for info in ALL_DEMOS if not info.variant}


def test_cards_stand_in_as_many_columns_as_fit(page: WelcomePage, qtbot: Any) -> None:
    page.show()
    tops = {}
    for width in (1280, 900, 500):
        page.resize(width, 700)
        take_places()
        tops[width] = len({card.x() for card in page.cards.values()})
        assert page.horizontalScrollBar().maximum() == 0
    assert tops == {1280: 4, 900: 4, 500: 1}


def test_a_narrow_page_has_two_columns_and_no_way_aside(page: WelcomePage, qtbot: Any) -> None:
    """600 points are a screen of 900 pixels in presenter size; the processor has a long name."""
    page.show()
    page.resize(600, 340)
    page._machine.found.emit("AMD Ryzen Threadripper PRO 7995WX 96-Cores with a name that is longer still, 192 cores")
    take_places()
    assert page.horizontalScrollBar().maximum() == 0
    assert len({card.x() for card in page.cards.values()}) == 2
    for card in page.cards.values():
        assert card.width() <= card.iconSize().width() + 16 and "moves" not in card.text(), card.name
        widest = max(card.fontMetrics().horizontalAdvance(line) for line in card.text().splitlines())
        assert widest <= card.width(), card.text()


@pytest.mark.parametrize("recent", [0, 2, 20])
@pytest.mark.parametrize("size", [(600, 340), (900, 555), (1280, 672), (1920, 1020)])
def test_the_last_line_is_seen_at_once(page: WelcomePage, qtbot: Any, size: tuple[int, int], recent: int) -> None:
    """However much is above it; at 900 by 600 (less the menus and the status bar) nothing scrolls."""
    page.show_ways(has_scene=False, took_tour=False)
    page.show_recent([f"/models/{number}.obj" for number in range(recent)])
    page.show()
    page.resize(*size)
    take_places()
    for name in ("guide", "news"):
        link = page.findChild(QPushButton, name)
        assert link is not None and link.visibleRegion().boundingRect() == link.rect(), name
        assert link.mapTo(page, link.rect().bottomRight()).y() < page.height()
    assert (page.verticalScrollBar().maximum() == 0) == (size[0] >= 900)


def test_python_knows_no_item_of_a_layout(page: WelcomePage) -> None:
    """Items end where cards are placed anew, which nothing tells Python: a scroll bar at the address of one was taken
    for it."""

    def items() -> int:
        return sum(type(one) in (QWidgetItem, QSpacerItem) for one in getAllValidWrappers())

    gc.collect()
    before = items()
    made = WelcomePage(ALL_DEMOS, page._previews)
    made.show_ways(has_scene=False, took_tour=False)
    made.show()
    for size in ((600, 340), (1280, 672), (500, 700)):
        made.resize(*size)
        take_places()
    assert items() == before
    made.close()
    made.deleteLater()


def test_a_wide_page_is_filled(page: WelcomePage, qtbot: Any) -> None:
    """On 1920 by 1080 pixels the plates are larger, in the middle, and nothing scrolls."""
    page.show()
    page.resize(1920, 1020)
    take_places()
    assert page.verticalScrollBar().maximum() == page.horizontalScrollBar().maximum() == 0
    cards = page.cards.values()
    left, right = page.findChild(QPushButton, "open"), max(cards, key=lambda card: card.geometry().right())
    assert left is not None
    begin, end = left.mapTo(page, left.rect().topLeft()).x(), right.geometry().right()
    assert abs(begin - (page.width() - end)) < 40, (begin, end)
    assert {card.iconSize().width() for card in cards} == {330} and "moves" in page.cards["cloth"].text()
    assert max(card.geometry().bottom() for card in cards) > 0.75 * page.height()
    page.resize(1280, 672)
    take_places()
    assert {card.iconSize().width() for card in cards} == {165}


def test_every_built_in_scene_is_seen_at_once_under_its_question(page: WelcomePage, qtbot: Any) -> None:
    page.show()
    page.resize(1280, 672)  # 720 less the menus and the status bar
    take_places()
    assert page.verticalScrollBar().maximum() == page.horizontalScrollBar().maximum() == 0
    headings = {label.text(): label for label in page.findChildren(QLabel)}
    for question, names in questions().items():
        heading, first = headings[question], page.cards[names[0]]
        assert heading.x() == first.x() and 0 < first.y() - heading.y() < 40, question
    assert {name for names in questions().values() for name in names} == set(page.cards)


def test_nothing_stands_beside_the_first_page(window: MainWindow, qtbot: Any) -> None:
    """And what was there comes back with the picture, the tab in front that was."""

    def seen() -> set[str]:
        take_places()
        return {dock.objectName() for dock in window.docks if not dock.visibleRegion().isEmpty()}

    assert window.stack.currentWidget() is window.welcome and seen() == set() and not window.pipeline.isVisible()
    window.resize(1280, 720)
    window.stack.setCurrentWidget(window.view)
    window.commands.actions["view.dock.heat"].trigger()
    before = seen()
    assert before == {"dock.heat", "dock.timeline"} and window.pipeline.isVisible()
    window.show_welcome()
    assert seen() == set()
    window.reset_layout()
    assert seen() == set()
    before = {"dock.stats", "dock.timeline"}
    window.stack.setCurrentWidget(window.view)
    assert seen() == before


def test_esc_leads_from_the_first_page_back_to_the_scene(scene_window: MainWindow, qtbot: Any) -> None:
    back = scene_window.welcome.findChild(QPushButton, "back")
    assert back is not None
    scene_window.show_welcome()
    assert not back.isHidden()
    back.click()
    assert scene_window.stack.currentWidget() is scene_window.view
    scene_window.show_welcome()
    QTest.keyClick(scene_window, Qt.Key.Key_Escape)
    assert scene_window.stack.currentWidget() is scene_window.view
    scene_window.document.close_scene()
    assert back.isHidden()


def test_plates_have_the_colour_of_the_theme(page: WelcomePage) -> None:
    card = page.cards["walker"]
    for colour in (Qt.GlobalColor.red, Qt.GlobalColor.blue):
        palette = card.palette()
        palette.setColor(QPalette.ColorRole.Midlight, colour)
        card.setPalette(palette)
        assert card.icon().pixmap(card.iconSize()).toImage().pixelColor(80, 40) == colour


def test_recent_files_can_be_chosen(page: WelcomePage, qtbot: Any) -> None:
    page.show_recent(["/models/ein Würfel.obj"])
    recent = page.findChild(QListWidget, "recent")
    assert recent is not None and recent.item(0).text() == "ein Würfel.obj"
    with qtbot.waitSignal(page.file_chosen) as caught:
        recent.itemClicked.emit(recent.item(0))
    assert caught.args == ["/models/ein Würfel.obj"]


def test_without_a_scene_the_window_shows_the_first_page(window: MainWindow, qtbot: Any) -> None:
    assert window.stack.currentWidget() is window.welcome
    window.open_files(["/nowhere/absent.obj"])
    qtbot.waitUntil(lambda: bool(window.toasts.messages()))
    assert window.stack.currentWidget() is window.welcome and "absent.obj" in window.toasts.messages()[0].sentence


def test_a_race_begins_on_the_first_page(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(window.document, "open_demo", opened.append)
    button = window.welcome.findChild(QPushButton, "race")
    assert isinstance(button, QPushButton)
    button.click()
    settings = window.document.state.settings
    assert opened == ["explode"] and settings.window.workspace == "race"
    assert len(contestants_of(settings.race)) == 2, "as the button says"


def test_a_tree_is_asked_for_once_its_scene_is_there(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    asked, titles = list[str](), list[str]()
    monkeypatch.setattr(first_steps, "ask_for_tree", lambda session, parent: asked.append("tree"))
    model = tmp_path / "one.obj"
    model.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    chosen: list[str] = []

    def ask(parent: object, folder: str, title: str = "") -> list[str]:
        asked.append("scene")
        titles.append(title)
        return list(chosen)

    monkeypatch.setattr(questions_asked, "ask_for_files", ask)
    button = window.welcome.findChild(QPushButton, "open_tree")
    assert isinstance(button, QPushButton)
    button.click()
    assert asked == ["scene"], "nothing was chosen: nothing more is asked"
    assert titles == ["Open the scene that the tree is over"]
    chosen.append(str(model))
    button.click()
    qtbot.waitUntil(lambda: asked == ["scene", "scene", "tree"])
    button.click()
    assert asked[3:] == ["tree"], "over the scene that is open"


@pytest.mark.parametrize("size", [(1280, 672), (900, 552)])
def test_ways_in_are_seen_at_once(page: WelcomePage, size: tuple[int, int]) -> None:
    page.show()
    page.resize(*size)
    take_places()
    for name in ("open", "open_tree", "race", "tour", "lessons"):
        button = page.findChild(QPushButton, name)
        assert isinstance(button, QPushButton) and button.visibleRegion().boundingRect() == button.rect(), name
