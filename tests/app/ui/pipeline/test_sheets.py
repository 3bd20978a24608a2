"""The sheets by mouse and keyboard: what is tried acts at once, Return keeps, Esc takes back, one step of undo in all;
what cannot be chosen says why."""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from raygrove.app.document.state import SceneReference
from raygrove.app.settings import option_tables
from raygrove.app.ui.pipeline.faces import NAMES, memory
from raygrove.app.ui.pipeline.offers import Offer
from raygrove.app.ui.pipeline.sheet import Sheet
from raygrove.app.ui.pipeline.structure_sheet import counts_of, refusal
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.hierarchy import predicted
from raygrove.gpu.scene import Scene

Key = Qt.Key


@pytest.fixture
def room(scene_window: MainWindow) -> Iterator[MainWindow]:
    """A window; whatever sheet it has open at the end is closed."""
    yield scene_window
    if scene_window.pipeline.sheet is not None:
        scene_window.pipeline.sheet.close()


def opened(window: MainWindow, name: str) -> Sheet:
    QTest.mouseClick(window.pipeline.bar.chips[name], Qt.MouseButton.LeftButton)
    sheet = window.pipeline.sheet
    assert sheet is not None and sheet.isVisible() and sheet.content.name == name
    return sheet


def press(sheet: Sheet, *keys: Qt.Key) -> None:
    """Keys as a popup gets them: the widget in it that has the focus."""
    for key in keys:
        QTest.keyClick(sheet.focusWidget() or sheet, key)
        QApplication.processEvents()


def hierarchy(window: MainWindow) -> str:
    return window.document.state.settings.render.hierarchy


def test_every_chip_opens_a_sheet_on_the_screen_that_esc_closes(room: MainWindow) -> None:
    before = room.document.state.settings
    for name in NAMES:
        sheet = opened(room, name)
        assert room.pipeline.bar.chips[name].is_open and sheet.accessibleName()
        place, room_for_it = sheet.frameGeometry(), sheet.screen().availableGeometry()
        assert room_for_it.contains(place), (name, place, room_for_it)
        press(sheet, Key.Key_Escape)
        assert room.pipeline.sheet is None and not room.pipeline.bar.chips[name].is_open
        assert room.document.state.settings == before
        room.commands.actions[f"pipeline.{name}"].trigger()
        assert room.pipeline.sheet is not None, f"and the command of {name} does, too"
        press(room.pipeline.sheet, Key.Key_Escape)


def test_a_sheet_stands_within_a_window_that_is_wide_enough(room: MainWindow) -> None:
    room.resize(900, 600)
    QApplication.processEvents()
    for name in NAMES:
        sheet = opened(room, name)
        assert room.geometry().left() <= sheet.x() and sheet.geometry().right() <= room.geometry().right(), name
        press(sheet, Key.Key_Escape)


def test_arrow_keys_try_and_escape_takes_all_of_it_back(room: MainWindow) -> None:
    document = room.document
    document.change("settings.render.samples", 4)
    before = document.state.settings
    sheet = opened(room, "structure")
    seen = []
    for _ in range(3):
        press(sheet, Key.Key_Down)
        seen.append(hierarchy(room))
    assert len({before.render.hierarchy, *seen}) == 4
    press(sheet, Key.Key_Right)
    assert option_tables.builders()[hierarchy(room)].construction == "bottom_up"
    press(sheet, Key.Key_Escape)
    assert document.state.settings == before
    document.undo()
    assert document.state.settings.render.samples == 1, "the step before is the next that is undone"


def test_return_keeps_all_of_it_as_one_step(room: MainWindow) -> None:
    document, before = room.document, room.document.state.settings
    sheet = opened(room, "structure")
    press(sheet, Key.Key_Down, Key.Key_Down)
    row = next(row for row in sheet.rows if row.row.name == "layout")
    QTest.mouseClick(next(s for s in row.segments if s.offer.value == "bvh8"), Qt.MouseButton.LeftButton)
    optimiser = next(row for row in sheet.rows if row.row.name == "optimiser")
    QTest.mouseClick(optimiser.segments[1], Qt.MouseButton.LeftButton)
    kept = document.state.settings
    assert kept.render.layout == "bvh8" and kept.render.optimiser != "none" and kept.render.hierarchy != "lbvh"
    press(sheet, Key.Key_Return)
    assert room.pipeline.sheet is None and document.state.settings == kept
    document.undo()
    assert document.state.settings == before
    document.redo()
    assert document.state.settings == kept


def test_who_comes_back_to_the_first_choice_leaves_no_step(room: MainWindow) -> None:
    could = room.document.can_undo
    sheet = opened(room, "rays")
    press(sheet, Key.Key_Down, Key.Key_Up, Key.Key_Return)
    assert room.document.can_undo == could


def test_a_slash_filters_over_all_families(room: MainWindow) -> None:
    sheet = opened(room, "structure")
    QTest.keyClicks(sheet.focusWidget(), "/")
    assert sheet.focusWidget() is sheet.filter
    QTest.keyClicks(sheet.filter, "octree")
    listed = sheet.members.values()
    assert listed and all("octree" in name for name in listed)
    press(sheet, Key.Key_Return)
    assert hierarchy(room) == listed[0] and sheet.isVisible() and sheet.focusWidget() is sheet.members
    QTest.keyClicks(sheet.focusWidget(), "/")
    press(sheet, Key.Key_Escape)
    assert sheet.isVisible() and len(sheet.members.values()) == len(option_tables.builders())
    press(sheet, Key.Key_Escape)
    assert hierarchy(room) == "lbvh"


def test_who_looks_for_the_heat_map_finds_traversal_steps(room: MainWindow) -> None:
    sheet = opened(room, "rays")
    QTest.keyClicks(sheet.focusWidget(), "/")
    QTest.keyClicks(sheet.filter, "heat map")
    assert "steps" in sheet.members.values()


def test_down_from_the_filter_tries_what_is_marked_so_that_return_keeps_it(room: MainWindow) -> None:
    sheet = opened(room, "structure")
    QTest.keyClicks(sheet.focusWidget(), "/")
    QTest.keyClicks(sheet.filter, "task queues")
    assert len(sheet.members.values()) == 1, "no arrow key can come to it"
    press(sheet, Key.Key_Down)
    assert hierarchy(room) == sheet.members.values()[0] and sheet.focusWidget() is sheet.members
    press(sheet, Key.Key_Return)
    assert hierarchy(room) == "sah_lauterbach"


def test_what_is_called_exactly_so_is_marked(room: MainWindow) -> None:
    sheet = opened(room, "update")
    for words, value in (("Rebuild every frame", "rebuild"), ("every_n", "every_n")):
        sheet.filter.setText(words)
        marked = sheet.members.marked()
        assert marked is not None and marked.value == value
    sheet.filter.setText("rebuild every frame")
    assert len(sheet.members.values()) > 1, "others fit the words, too"


def test_the_families_are_those_of_the_field_and_every_structure_is_in_one(room: MainWindow) -> None:
    sheet = opened(room, "structure")
    titles = [sheet.families.item(row).text() for row in range(sheet.families.count())]
    assert titles == [
        *("Linear", "Top-down", "Bottom-up", "Insertion", "Two-level", "Kd-tree", "Grid", "Octree", "None"),
    ]
    assert sorted(sheet.members.values()) == sorted(option_tables.builders())
    sheet.families.itemClicked.emit(sheet.families.item(5))
    assert option_tables.builders()[hierarchy(room)].family == "kdtree", "a click on a family goes to its first"


def test_no_member_is_named_by_an_identifier_and_each_has_a_sentence(room: MainWindow) -> None:
    for name in NAMES:
        content = opened(room, name).content
        for group in content.groups():
            for offer in group.offers:
                is_own = not offer.value.startswith("clip:")  # clips are called what the file says
                assert not is_own or ("_" not in offer.title and offer.title[:1].isupper()), (name, offer)
                assert (offer.sentence or offer.refusal).endswith((".", "file")), (name, offer)
                assert name == "scene" or not re.search(r"\b[a-z]+[._][a-z]", offer.sentence), (name, offer)
        for row in content.rows:
            assert all("_" not in offer.title for offer in row.offers()), row.name
        assert room.pipeline.sheet is not None
        room.pipeline.sheet.close()


def test_what_cannot_be_chosen_is_grey_and_says_why(room: MainWindow) -> None:
    room.document.change("settings.update.mode", "refit")
    sheet = opened(room, "structure")
    offers = {offer.value: offer for group in sheet.content.groups() for offer in group.offers}
    grey = {name for name, offer in offers.items() if offer.refusal}
    assert grey == {name for name, kind in option_tables.builders().items() if not kind.capabilities.refit}
    assert "refitted" in offers["median_sah"].refusal
    items = [sheet.members.item(row) for row in range(sheet.members.count())]
    for item in items:
        offer = item.data(Qt.ItemDataRole.UserRole)
        if isinstance(offer, Offer):
            assert bool(item.flags() & Qt.ItemFlag.ItemIsEnabled) == (not offer.refusal)
    press(sheet, *[Key.Key_Down] * 30)
    assert hierarchy(room) not in grey, "arrow keys pass over them"
    row = next(row for row in sheet.rows if row.row.name == "optimiser")
    assert hierarchy(room) == "brute_force" and [s.isEnabled() for s in row.segments] == [True, False, False, False]
    assert "cannot be improved" in row.segments[1].toolTip()


def test_a_builder_that_takes_fewer_primitives_says_how_many(room: MainWindow, moving_scene: Scene) -> None:
    kind = option_tables.builders()["incremental"]
    most = kind.most_primitives["host"]
    large = dataclasses.replace(moving_scene)
    room.document.set_scene(SceneReference("demo", ("two",)), large)
    assert refusal(room.session, kind, "host") == ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(large), "primitive_count", property(lambda self: most + 1))
        assert f"{most:,}" in refusal(room.session, kind, "host")


def test_rays_are_light_and_debug_views(room: MainWindow) -> None:
    light, debug = opened(room, "rays").content.groups()
    assert (light.title, debug.title) == ("Light transport", "Debug views")
    assert {"path", "whitted", "smooth", "ao"} <= {offer.value for offer in light.offers}
    assert {offer.value for offer in debug.offers} == {
        *("steps", "depth", "normals", "ids", "barycentrics", "texture_coordinates"),
    }


def test_a_scene_opens_by_return_and_not_while_going_by(room: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(room.document, "open_demo", asked.append)
    sheet = opened(room, "scene")
    press(sheet, Key.Key_Down, Key.Key_Down)
    assert asked == []
    press(sheet, Key.Key_Return)
    assert len(asked) == 1 and room.pipeline.sheet is None
    sheet = opened(room, "scene")
    item = sheet.members.item(sheet.members._firsts[1])
    place = sheet.members.visualItemRect(item).center()
    QTest.mouseClick(sheet.members.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert len(asked) == 2 and room.pipeline.sheet is None


def test_a_click_on_a_member_chooses_and_stays_open(room: MainWindow) -> None:
    sheet = opened(room, "rays")
    row = sheet.members.values().index("flat")
    item = sheet.members.item(row + 1)  # below the heading
    QTest.mouseClick(
        sheet.members.viewport(), Qt.MouseButton.LeftButton, pos=sheet.members.visualItemRect(item).center()
    )
    assert room.document.state.settings.render.ray_type == "flat" and sheet.isVisible()


def test_rows_of_the_display_change_settings_by_click_and_arrow_key(room: MainWindow) -> None:
    from raygrove.app.ui.pipeline.sheets import _value

    rows: tuple[tuple[str, str, str, Any], ...] = (
        ("row.display.minimum_scale", "1.0", "display.minimum_scale", 1.0),
        ("row.display.adapt_resolution", "False", "display.adapt_resolution", False),
        ("row.render.samples", "16", "render.samples", 16),
        ("row.exposure", "1.0", "ray_type.smooth.exposure", 1.0),
        ("row.tone", "reinhard", "ray_type.smooth.tone", "reinhard"),
    )
    for row, value, key, expected in rows:
        sheet = opened(room, "display")
        found = next(one for one in sheet.rows if one.row.name == row)
        before = found.row.current()
        QTest.mouseClick(next(s for s in found.segments if s.offer.value == value), Qt.MouseButton.LeftButton)
        assert _value(room.session, key) == expected, row
        assert [s.offer.value for s in found.segments if s.isChecked()] == [value], row
        if [s.offer.value for s in found.segments].index(value) > 0:
            next(s for s in found.segments if s.isChecked()).setFocus()
            press(sheet, Key.Key_Left)
            assert _value(room.session, key) != expected, row
        press(sheet, Key.Key_Escape)
        assert found.row.current() == before, row


def test_a_heat_map_has_no_tone(room: MainWindow) -> None:
    room.document.change("settings.render.ray_type", "steps")
    sheet = opened(room, "display")
    assert not sheet.filter.isVisible() and not sheet.members.isVisible(), "there are rows alone"
    tone = next(row for row in sheet.rows if row.row.name == "row.tone")
    assert [segment.isEnabled() for segment in tone.segments] == [False] and tone.segments[0].toolTip()


def test_a_sequence_opened_last_is_listed_by_its_files_and_is_the_current_one(
    room: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [str(tmp_path / f"sheet_{number:03d}.obj") for number in range(4)]
    for path in files:
        Path(path).touch()
    room.memory.add_recent(files)
    room.memory.add_recent([files[2]])
    opened_files: list[list[str]] = []
    monkeypatch.setattr(room.document, "open_files", opened_files.append)
    sheet = opened(room, "scene")
    recent = sheet.content.groups()[0].offers
    assert [(offer.title, offer.sentence) for offer in recent] == [
        ("sheet_002.obj", str(tmp_path)),
        ("sheet_000.obj ... sheet_003.obj (4)", str(tmp_path)),
    ]
    sheet.content.choose(recent[1].value)
    assert opened_files == [files]
    assert room.document.scene is not None
    room.document.set_scene(SceneReference("files", tuple(files)), room.document.scene)
    assert sheet.content.current() == recent[1].value


def test_a_motion_is_tried_and_taken_back(room: MainWindow) -> None:
    sheet = opened(room, "motion")
    clip = next(group for group in sheet.content.groups() if group.title.startswith("Clips"))
    assert [offer.title for offer in clip.offers] == ["all"] or clip.offers
    row = next(row for row in sheet.rows if row.row.name == "row.timeline.repeat")
    QTest.mouseClick(row.segments[1], Qt.MouseButton.LeftButton)
    assert room.document.state.settings.timeline.repeat == "ping-pong"
    press(sheet, Key.Key_Escape)
    assert room.document.state.settings.timeline.repeat == "loop"


def test_a_sheet_leads_on_to_all_options(room: MainWindow) -> None:
    sheet = opened(room, "structure")
    button = sheet.findChild(QPushButton, "sheet.options")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    dialog = room.opened_dialogs.settings
    assert dialog is not None and dialog.isVisible() and room.pipeline.sheet is None
    dialog.close()


def test_keys_of_the_window_do_nothing_behind_a_sheet(room: MainWindow) -> None:
    before = (room.document.state.cameras, room.document.state.timeline)
    sheet = opened(room, "rays")
    press(sheet, Key.Key_Space, Key.Key_R, Key.Key_7, Key.Key_Home)
    assert (room.document.state.cameras, room.document.state.timeline) == before


def test_each_structure_says_what_memory_it_would_take(room: MainWindow) -> None:
    document = room.document
    offers = {offer.value: offer for group in opened(room, "structure").content.groups() for offer in group.offers}
    for name, offer in offers.items():
        found = option_tables.predicted_memory(name, "host", (2, 0, 0), document.state.settings)
        assert offer.notes[0] == f"{memory(found.peak)} {'or more' if found.is_least else 'peak'}", name
    before = offers["lbvh"].notes
    document.change("settings.render.optimiser", "reinsertion")
    assert room.pipeline.sheet is not None
    fresh = {offer.value: offer for group in room.pipeline.sheet.content.groups() for offer in group.offers}
    assert fresh["lbvh"].notes != before and fresh["median_sah"].notes == offers["median_sah"].notes
    document.change("hidden", (0,))
    assert counts_of(document) == (0, 0, 0)


def test_what_structures_would_take_is_known_before_their_sheet_is_opened(
    room: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    predict = predicted.predicted_memory

    def noted(*asked: Any) -> Any:
        threads.append(threading.current_thread().name)
        return predict(*asked)

    option_tables._predicted.cache_clear()
    monkeypatch.setattr(predicted, "predicted_memory", noted)
    room.pipeline._rest.start(0)
    qtbot.waitUntil(lambda: len(threads) >= len(option_tables.builders()))
    qtbot.waitUntil(lambda: "predicted memory" not in {thread.name for thread in threading.enumerate()})
    opened(room, "structure")
    assert set(threads) == {"predicted memory"}, "the window's thread finds out nothing"


def test_who_chooses_is_not_disturbed_by_what_is_found_out_beside(room: MainWindow, qtbot: Any) -> None:
    rest, document = room.pipeline._rest, room.document
    rest.setTimerType(Qt.TimerType.PreciseTimer)
    rest.start(60_000)
    for key, value, begins_anew in (("settings.render.hierarchy", "ploc", True), ("hidden", (0,), False)):
        qtbot.wait(30)
        waited = rest.remainingTime()
        document.change(key, value)
        assert (rest.remainingTime() > waited) == begins_anew, key
    rest.stop()
    document.change("settings.render.hierarchy", "lbvh")
    assert not rest.isActive(), "once is enough for a scene"
