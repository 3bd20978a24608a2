"""The choice of rays that are measured: what is chosen, where a sensor is put, and what is typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox

from raygrove.app.ui.widgets.rays_choice import RaysChoice, SensorPlaces
from raygrove.gpu.ray_sources import SENSORS, parse_source


@pytest.fixture
def choice(qtbot: Any) -> Iterator[RaysChoice]:
    """Shows what it wants, as a window would."""
    made = RaysChoice(lambda: SensorPlaces((1.23456, 0.0, -7.0), ("head", "left hand")))
    qtbot.addWidget(made)
    made.wanted.connect(made.show_text)
    made.show()
    yield made


def pick(combo: QComboBox, value: str) -> None:
    """As a person does."""
    place = combo.findData(value)
    assert place >= 0, value
    combo.setCurrentIndex(place)
    combo.activated.emit(place)


def test_each_sensor_can_be_chosen_and_keeps_its_place(choice: RaysChoice) -> None:
    assert choice.is_of_picture and not choice.line.isVisible() and not choice.place.isVisible()
    for name in SENSORS:
        pick(choice.kind, name)
        assert choice.kind.currentData() == name and parse_source(choice.line.text()).kind == name
        pick(choice.place, "node:left hand")
        assert choice.line.text() == f'{name}:node="left hand"' and choice.place.currentText() == "on left hand"
    pick(choice.place, "eye")
    assert choice.line.text() == "cameras:at=1.235,0,-7" and choice.place.currentText() == "at a place"
    pick(choice.kind, "dome")
    assert choice.line.text() == "dome:at=1.235,0,-7"
    pick(choice.place, "middle")
    assert choice.line.text() == "dome"
    pick(choice.kind, "picture")
    assert choice.is_of_picture and not choice.line.isVisible()


def test_what_is_typed_is_wanted_as_it_is(choice: RaysChoice) -> None:
    pick(choice.kind, "lidar")
    wanted: list[str] = []
    choice.wanted.disconnect()
    choice.wanted.connect(wanted.append)
    choice.line.setText("lidar:rows=8:node=tail")
    QTest.keyClick(choice.line, Qt.Key.Key_Return)
    assert wanted == ["lidar:rows=8:node=tail"]
    choice.show_text(wanted[0])
    assert choice.place.currentText() == "on tail", "also where the scene has no such node"


def test_a_file_is_asked_for_and_shown_by_its_name(choice: RaysChoice, qtbot: Any) -> None:
    with qtbot.waitSignal(choice.file_wanted):
        pick(choice.kind, "file")
    with qtbot.waitSignal(choice.record_wanted):
        pick(choice.kind, "record")
    assert choice.kind.currentData() == "picture", "until there is one"
    choice.show_text("/rays/mine.npz")
    assert choice.kind.currentData() == "file" and choice.line.text() == "/rays/mine.npz"
    assert not choice.place.isVisible()
