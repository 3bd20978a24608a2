"""What stands beside the members of a sheet: what they have cost with what else is chosen now."""

from __future__ import annotations

import dataclasses

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from raygrove.app.document.state import replaced
from raygrove.app.ui.pipeline.chip import SMALL, font_of
from raygrove.app.ui.pipeline.member_list import notes_width
from raygrove.app.ui.pipeline.offers import Offer
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.stand_ins import made_statistics
from tests.app.ui.pipeline.test_pipeline_bar import frame_of, shown
from tests.app.ui.pipeline.test_sheets import Key, opened, press, room

__all__ = ["room"]


def test_what_was_drawn_has_its_milliseconds_here(room: MainWindow) -> None:
    shown(room, frame_of(room), frame_of(room))
    for name, value, said in (("structure", "lbvh", "2.0"), ("rays", "smooth", "19.1"), ("update", "rebuild", "2.0")):
        sheet = opened(room, name)
        offers = {offer.value: offer for group in sheet.content.groups() for offer in group.offers}
        assert any(note.startswith(said) and note.endswith("here") for note in offers[value].notes), name
        others = [offer for offer in offers.values() if offer.value != value]
        assert not any("here" in note for offer in others for note in offer.notes)
        press(sheet, Key.Key_Escape)


def noted(window: MainWindow, kind: str, value: str) -> str:
    """What stands beside a member of a sheet, as if it were opened now."""
    sheet = opened(window, kind)
    offers = {offer.value: offer for group in sheet.content.groups() for offer in group.offers}
    press(sheet, Key.Key_Escape)
    return next((note.replace("\u202f", " ") for note in offers[value].notes if "here" in note), "")


def test_rays_are_compared_by_the_pixel_whatever_the_pictures_size(room: MainWindow) -> None:
    """Trace and shade 15 ms of 1024 x 768 pixels, and a quarter of that of a picture of a quarter."""
    room.loop._thread.stop(60.0)
    made = made_statistics()
    view = dataclasses.replace(made.views[0], trace_ms=3.0, shade_ms=0.75, width=512, height=384)
    small = dataclasses.replace(made, views=(dataclasses.replace(view, ray_type="flat"),))
    first = frame_of(room)
    other = replaced(first.request.state, "settings.render.ray_type", "flat")
    request = dataclasses.replace(first.request, state=other)
    shown(room, first, dataclasses.replace(first, frame_id=8, request=request, statistics=small))
    assert noted(room, "rays", "smooth") == noted(room, "rays", "flat") == "19.1 ns per pixel here"
    room.document.change("settings.render.hierarchy", "hploc")
    assert noted(room, "rays", "smooth") == noted(room, "rays", "flat") == "", "that was through another structure"


def test_notes_are_read_whole(qapp: QApplication) -> None:
    """What a member costs is no text to be cut: its sentence gives way."""
    metrics, found = (
        QFontMetrics(font_of(SMALL)),
        Offer("path", "Path tracing", "A sentence", notes=("", "2.0 ms here")),
    )
    short, long = notes_width(found), notes_width(dataclasses.replace(found, notes=("", "1,250 ns per pixel here")))
    assert metrics.elidedText("1,250 ns per pixel here", Qt.TextElideMode.ElideRight, long) == "1,250 ns per pixel here"
    assert 0 < short < long and notes_width(dataclasses.replace(found, notes=())) == 0


def test_a_cost_with_another_choice_is_not_this_ones(room: MainWindow) -> None:
    room.loop._thread.stop(60.0)
    shown(room, frame_of(room))
    assert noted(room, "structure", "lbvh") == "2.0 ms here"
    room.document.change("settings.render.optimiser", "rotations")
    assert noted(room, "structure", "lbvh") == "", "it would be improved, too"
    room.document.change("settings.render.optimiser", "none")
    assert noted(room, "structure", "lbvh") == "2.0 ms here"
    room.document.change("settings.render.hierarchy", "hploc")
    assert noted(room, "structure", "lbvh") == "2.0 ms here" and noted(room, "structure", "hploc") == ""
