"""The table of the statistics paints what has changed."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QImage, QPaintEvent, QRegion
from PySide6.QtTest import QTest

from raygrove.app.frames.frame_history import PARTS
from raygrove.app.ui.panels.figure_cells import FigureCells
from raygrove.app.ui.panels.stats_row import Row
from raygrove.app.ui.panels.stats_table import VALUE, StatsTable


class Ear(QObject):
    """Hears what is painted."""

    def __init__(self) -> None:
        super().__init__()
        self.lefts: list[int] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.lefts.append(event.region().boundingRect().left())
        return False


def test_names_are_not_painted_again(qtbot: Any) -> None:
    table, ear = StatsTable(), Ear()
    qtbot.addWidget(table)
    first = [Row("frame", "Frame", "4.120 ms"), Row("nodes", "Nodes", "12", "frame"), Row("sah", "SAH", "3", "frame")]
    table.resize(320, 300)
    table.show_rows(first)
    with qtbot.waitExposed(table):
        table.show()
    table.viewport().installEventFilter(ear)
    ear.lefts.append(0)
    end_of_name = table.place_of("nodes").left() + table.fontMetrics().horizontalAdvance("Nodes")

    def painted(**values: str) -> int:
        while ear.lefts:  # of what came before
            ear.lefts.clear()
            qtbot.wait(50)
        table.show_rows([row._replace(value=values.get(row.key, row.value)) for row in first])
        qtbot.waitUntil(lambda: bool(ear.lefts))
        return min(ear.lefts)

    values = table.columnViewportPosition(VALUE)
    assert painted(frame="77.77 ms") == values
    assert end_of_name < painted(frame="77.77 ms", nodes="2,147,483,647 of 4,294,967,296") < values
    assert end_of_name < painted(frame="77.77 ms", nodes="12") < values, "what reached there before goes"


def figures(number: int) -> list[Row]:
    """Rows of all kinds, each with other figures for each number."""
    found = [Row("frame", "Frame", f"{4 + number}.120 ms", "", "", f"{number}.0 to 64.4")]
    for place, part in enumerate(PARTS):
        share = ((7 * number + 3 * place) % 11) / 10 if place != 2 else None
        spread = f"0.{number}{place} to 12.{place}" if place % 2 else ""
        found.append(Row(part, part, f"{number}{place}.77 ms", "frame", "", spread, share, part))
    return [
        *found,
        Row("rate", "Trace", f"{number}.271 M rays/s", "", "", f"{number}.52 to 3.93"),
        Row("drawn", "Drawn size", "320 x 240 (25 %)" if number % 2 else "1024 x 768", "rate"),
        Row("each", "Each rebuild", f"{number}.120 ms", "rate", "", f"{50 + number} of 60 frames"),
        Row("long", "Nodes", f"2,147,483,647 of 4,294,967,29{number}" if number % 3 else "12", "rate", "",
            "1 to 2" if number % 2 else ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "state", ["resting", 11, 13, 14, 15, 16, "focused", "selected", "hovered", "scrolled", "disabled"]
)
def test_figures_that_changed_look_as_the_whole_table_does(
    qtbot: Any, monkeypatch: pytest.MonkeyPatch, state: str | int
) -> None:
    table, own = StatsTable(), list[bool]()
    qtbot.addWidget(table)
    table.resize(330, 200 if state == "scrolled" else 420)
    if isinstance(state, int):  # texts of other heights, as the font Inter's, stand in the middle of their rows, too
        font = table.font()
        font.setPixelSize(state)
        table.setFont(font)
    table.show_rows(figures(0))
    with qtbot.waitExposed(table):
        table.show()
    if state == "selected":
        table.setCurrentItem(table.itemAt(table.place_of("trace").center()))
    if state == "hovered":
        QTest.mouseMove(table.viewport(), table.place_of("trace").center())
    if state != "focused":
        table.clearFocus()
    table.setEnabled(state != "disabled")
    paint = FigureCells.paint

    def painted(self: FigureCells, event: QPaintEvent) -> bool:
        own.append(paint(self, event))
        return own[-1]

    monkeypatch.setattr(FigureCells, "paint", painted)

    def seen() -> QImage:
        """What stands on the screen, after what waits has been painted."""
        own.clear()
        qtbot.waitUntil(lambda: bool(own))
        return table.screen().grabWindow(table.winId()).toImage()

    qtbot.wait(50)
    for number in range(1, 7):
        table.show_rows(figures(number))
        if state == "scrolled":
            table.verticalScrollBar().setValue(7 * number % 3)
        found, is_own = seen(), all(own)
        table.viewport().update()
        assert found == seen(), number
        assert is_own == (state in ("resting", "hovered", "disabled") or isinstance(state, int)) and not any(own), (
            number
        )


def test_rows_that_go_before_they_are_painted_are_not(qtbot: Any) -> None:
    """A scene that is closed in the turn in which a figure has changed."""
    table = StatsTable()
    qtbot.addWidget(table)
    table.show_rows(figures(1))
    table.show()
    qtbot.waitExposed(table)
    table.grab()
    table.show_rows(figures(2))
    area = QRegion(table._figures._area)
    assert not area.isEmpty()
    table.clear_rows()
    assert not table._figures.paint(QPaintEvent(area)), "the tree paints what is left"


def test_rows_that_stay_are_not_painted_again(qtbot: Any) -> None:
    table, places = StatsTable(), []
    qtbot.addWidget(table)
    rows = [Row("frame", "Frame", "4.120 ms"), *(Row(f"row {n}", f"Row {n}", str(n), "frame") for n in range(8))]
    table.resize(320, 300)
    table.show_rows(rows)
    with qtbot.waitExposed(table):
        table.show()
    qtbot.wait(50)

    class Regions(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if isinstance(event, QPaintEvent):
                places.append(event.region())
            return False

    regions = Regions()
    table.viewport().installEventFilter(regions)
    table.show_rows([row._replace(value="5") if row.key in ("row 1", "row 6") else row for row in rows])
    qtbot.waitUntil(lambda: bool(places))
    seen = {row.key for row in rows if any(region.intersects(table.place_of(row.key)) for region in places)}
    assert seen == {"row 1", "row 6"}
