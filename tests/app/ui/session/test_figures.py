"""What is told of the last frames: the same everywhere, four times a second at most, at once where one is pinned."""

from __future__ import annotations

import dataclasses
import itertools
import time
from typing import Any

import pytest

from raygrove.app.frames.frame_history import PARTS, Sample, figures_of, figures_of_one
from raygrove.app.frames.frame_requests import FinishedFrame
from raygrove.app.ui.pipeline.faces import milliseconds
from raygrove.app.ui.session.figures import Figures
from raygrove.app.ui.window.main_window import MainWindow
from tests.app.stand_ins import made_statistics

TURNS = ({"animate_ms": 20.0}, {"build_ms": 20.0}, {"trace_ms": 20.0})
"""Frames of which each is slow in another phase: medians of phases tell none of them."""


def frame(window: MainWindow, number: int, drawn: tuple[int, int] = (512, 384)) -> FinishedFrame:
    """A frame that spends 35 ms in its phases, and half a millisecond between them."""
    newest = window.loop.last_frame
    assert newest is not None
    slow = {"animate_ms": 5.0, "build_ms": 5.0, "trace_ms": 5.0, "shade_ms": 5.0, **TURNS[number % 3]}
    view = dataclasses.replace(
        made_statistics().views[0],
        phases_ms={"trace.primary": slow["trace_ms"]},
        build_ms=slow["build_ms"],
        trace_ms=slow["trace_ms"],
        shade_ms=slow["shade_ms"],
    )
    statistics = made_statistics(views=(view,), animate_ms=slow["animate_ms"], frame_ms=0.0)
    request = dataclasses.replace(newest.request, is_moving=True)
    return dataclasses.replace(
        newest, request=request, frame_id=1000 + number, statistics=statistics, frame_ms=35.5, preparing_ms=0.0,
        drawn=drawn,
    )  # fmt: skip


def told(window: MainWindow) -> dict[str, tuple[float, ...]]:
    """What each place says of the whole frame, and of the rest that belongs to no phase."""
    window.stats_panel._show_figures()
    rows = {row.key: row.value.partition("\u202f")[0] for row in window.stats_panel.rows}
    bar = window.pipeline.bar
    return {
        "statistics": (float(rows["frame"]), float(rows["other"])),
        "row": (float(bar.readout.lines[1].partition("\u202f")[0]),),
        "bar": (sum(bar.bar._parts.values()), bar.bar._parts["other"]),
        "line": (float(window.place.heads_up.text.split("   ")[1].partition("\u202f")[0]),),
    }


@pytest.fixture
def quiet(scene_window: MainWindow) -> MainWindow:
    """A window that draws no frames of its own."""
    scene_window.loop._thread.stop(60.0)
    scene_window.session.figures.clear()
    return scene_window


def test_a_rest_is_what_frames_have_left_over_not_what_medians_have(quiet: MainWindow) -> None:
    figures = quiet.session.figures
    for number in range(20):
        figures.take(Sample(frame(quiet, number), 0.03 * number, 0.0, 30.0, (512, 384)))
    figures.tell()
    assert told(quiet) == {"statistics": (35.5, 0.5), "row": (35.5,), "bar": (35.5, 0.5), "line": (35.5,)}
    assert "other" not in quiet.pipeline.bar.readout.lines[2]
    faces = {name: chip.face.cost for name, chip in quiet.pipeline.bar.chips.items()}
    rows = {row.key: row for row in quiet.stats_panel.rows}
    for chip, keys in (("motion", ("animate",)), ("rays", ("trace", "shade")), ("structure", ("each.rebuild",))):
        spent = sum(float(rows[key].value.partition("\u202f")[0]) for key in keys)
        assert faces[chip].startswith(milliseconds(spent)), chip
    assert rows["each.rebuild"].value == rows["build"].value, "a rebuild of every frame is a part of each"


def test_every_place_tells_the_same_frames_whatever_comes_meanwhile(quiet: MainWindow) -> None:
    figures = quiet.session.figures
    for number in range(6):
        figures.take(Sample(frame(quiet, number), 0.03 * number, 0.0, 30.0, (512, 384)))
    figures.tell()
    for number in range(6, 60):  # smaller, and each slower to show than the one before
        figures.take(Sample(frame(quiet, number, (256, 192)), 0.03 * number, number, 30.0, (512, 384)))
    quiet.pipeline.bar.show_latest()
    quiet.place.heads_up.show_latest()
    first = told(quiet)
    assert {places[0] for places in first.values()} == {35.5}
    figures.tell()
    wholes = [places[0] for places in told(quiet).values()]
    assert wholes == pytest.approx([35.5 + 42.5] * 4, abs=0.05), "of the last second: 26 to 59"


def test_of_a_pinned_frame_every_place_tells_at_once(quiet: MainWindow) -> None:
    figures = quiet.session.figures
    for number in range(6):
        figures.take(Sample(frame(quiet, number), 0.03 * number, float(number), 30.0, (512, 384)))
    figures.step(-2)
    assert figures.pinned is not None and {found[0] for found in told(quiet).values()} == {35.5 + 4.0}
    figures.pin(None)
    assert {found[0] for found in told(quiet).values()} == {35.5 + 2.5}
    figures.clear()
    assert figures.latest() is None and quiet.place.heads_up.text == ""
    assert quiet.pipeline.bar.readout.lines == ("", "", "")


def test_it_is_told_four_times_a_second_at_most(qtbot: Any, scene_window: MainWindow) -> None:
    figures, heard = Figures(), list[float]()
    figures.told.connect(lambda: heard.append(time.monotonic()))
    assert figures.latest() is None
    made = [Sample(frame(scene_window, number), 0.01 * number) for number in range(80)]
    for one in made:
        figures.take(one)
        qtbot.wait(10)
    assert len(heard) >= 2 and min(later - sooner for sooner, later in itertools.pairwise(heard)) > 0.2
    latest = figures.latest()
    assert latest is not None and latest is figures.latest(), "worked out once"
    figures.pin(made[3])
    pinned = figures.latest()
    assert pinned is not None and pinned.found == figures_of_one(made[3]).found
    figures.pin(None)
    latest = figures.latest()
    assert latest is not None and latest.found == figures_of(figures.history.last_second()).found
    assert set(PARTS) <= set(latest.found)
