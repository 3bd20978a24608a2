"""One selection for all panels: set by any of them, told to each, and forgotten with the scene."""

from __future__ import annotations

from typing import Any

import pytest

from raygrove.app.document.document import Document
from raygrove.app.document.state import Selection
from raygrove.app.ui.session.inspection import Inspected, Inspection
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.ui.panels.test_pick_panel import click


def test_a_part_is_selected_and_the_others_stay(qtbot: Any) -> None:
    document = Document()
    inspection, told = Inspection(document), []
    inspection.changed.connect(lambda before, after: told.append((before, after)))
    inspection.select(pixel=(0.25, 0.5), node=7)
    inspection.select(node=~3, warp=(1, 2))
    inspection.select(node=~3)
    assert inspection.now == Inspected((0.25, 0.5), node=~3, warp=(1, 2))
    assert [after.node for _, after in told] == [7, ~3], "what changes nothing is not told"
    assert told[1][0].node == 7
    inspection.clear()
    assert inspection.now == Inspected()
    with pytest.raises(TypeError):
        inspection.select(leaf=1)


def test_the_object_is_that_of_the_document(qtbot: Any) -> None:
    document = Document()
    inspection = Inspection(document)
    inspection.select(object=2, primitive=5)
    assert document.state.selection.object == 2 and inspection.now == Inspected(primitive=5, object=2)
    document.change("selection.object", 1)
    assert inspection.now.object == 1


def test_the_pixel_is_kept_in_the_document(qtbot: Any) -> None:
    document = Document()
    inspection = Inspection(document)
    inspection.select(pixel=(0.25, 0.5), node=3)
    assert document.state.selection.pixel == (0.25, 0.5) and not document.can_undo, "as the selected object"
    document.change("selection", Selection(pixel=(0.75, 0.5)))
    assert inspection.now == Inspected((0.75, 0.5), node=3)
    assert Inspection(document).now == Inspected((0.75, 0.5)), "a saved picture's is selected from the start"
    inspection.clear()
    assert document.state.selection == Selection()


def test_what_is_picked_is_selected_and_what_is_selected_is_picked(scene_window: MainWindow, qtbot: Any) -> None:
    inspection, pick = scene_window.session.inspection, scene_window.inspectors.pick
    click(scene_window, 0.25, 0.5)
    qtbot.waitUntil(lambda: inspection.now.primitive == 1)
    assert inspection.now.pixel == pytest.approx((0.25, 0.5), abs=0.01)
    inspection.select(pixel=(0.75, 0.5))  # as another panel does
    qtbot.waitUntil(lambda: not pick.rows)
    assert inspection.now.primitive is None, "there is nothing"
    document = scene_window.document
    document.change("selection", Selection())  # as another scene begins
    for tell in document.on_scene:
        tell(document.scene)
    assert inspection.now == Inspected()
