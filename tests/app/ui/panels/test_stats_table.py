"""The table of the statistics paints what has changed."""

from __future__ import annotations

import dataclasses
from typing import Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPaintEvent

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


def test_names_are_painted_again_only_where_a_value_reaches_into_them(qtbot: Any) -> None:
    table, ear = StatsTable(), Ear()
    qtbot.addWidget(table)
    first = [Row("frame", "Frame", "4.120 ms"), Row("nodes", "Nodes", "12", "frame"), Row("sah", "SAH", "3", "frame")]
    table.resize(320, 300)
    table.show_rows(first)
    with qtbot.waitExposed(table):
        table.show()
    table.viewport().installEventFilter(ear)
    ear.lefts.append(0)

    def painted(**values: str) -> int:
        while ear.lefts:  # of what came before
            ear.lefts.clear()
            qtbot.wait(50)
        table.show_rows([dataclasses.replace(row, value=values.get(row.key, row.value)) for row in first])
        qtbot.waitUntil(lambda: bool(ear.lefts))
        return min(ear.lefts)

    assert painted(frame="77.77 ms") == table.columnViewportPosition(VALUE)
    assert painted(frame="77.77 ms", nodes="2,147,483,647 of 4,294,967,296") == 0
    assert painted(frame="77.77 ms", nodes="12") == 0, "what reached there before goes"


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
    table.show_rows([dataclasses.replace(row, value="5") if row.key in ("row 1", "row 6") else row for row in rows])
    qtbot.waitUntil(lambda: bool(places))
    seen = {row.key for row in rows if any(region.intersects(table.place_of(row.key)) for region in places)}
    assert seen == {"row 1", "row 6"}
