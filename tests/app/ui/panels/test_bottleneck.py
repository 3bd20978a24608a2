"""The line above the statistics names what really takes the time."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from PySide6.QtWidgets import QLabel

from raygrove.app.document.document import Document
from raygrove.app.document.state import State, replaced
from raygrove.app.frames.frame_history import Sample, figures_of
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.settings.settings import DisplayOptions
from raygrove.app.ui.dialogs.settings_page import SettingsPage, page_title
from raygrove.app.ui.panels.bottleneck import bottleneck
from raygrove.app.ui.panels.stats_panel import StatsPanel
from raygrove.app.ui.session.figures import Figures
from raygrove.gpu.scene import Moment, Scene
from tests.app.stand_ins import made_statistics

SIZE = (512, 384)


def frame(is_moving: bool = True, **changes: Any) -> FinishedFrame:
    """A frame that spends 17.75 ms in its phases: trace 12, shade 3, build 2, animate 0.75."""
    request = FrameRequest(Scene("a scene"), State(), Moment(), (), is_moving=is_moving)
    values = {
        "drawn": SIZE,
        "statistics": made_statistics(),
        "frame_ms": 18.0,
        "target_name": "host",
        "device_name": "a processor",
        **changes,
    }
    return FinishedFrame(**{"request": request, "frame_id": 7, "samples": 1, "samples_wanted": 4, **values})


def said(shown: FinishedFrame, fps: float = 12.0, paint_ms: float = 0.5, minimum_fps: float = 60.0) -> str:
    return bottleneck(figures_of([Sample(shown, 0.0, paint_ms, fps, SIZE)]), minimum_fps)


def test_quick_frames_need_no_sentence() -> None:
    assert said(frame(), fps=61.0) == ""
    assert said(frame(), minimum_fps=50.0) == "", "a quick frame after a pause is no reason to complain"
    assert said(frame(statistics=None)) == ""


def test_the_longest_phase_is_named() -> None:
    assert said(frame()) == "A frame takes 18.5 ms: trace takes the time (12.0 ms)."


def spent(trace_ms: float, **fixed: float) -> FinishedFrame:
    """A moving frame whose tracing took so long, and what does not grow with the pixels."""
    view = dataclasses.replace(
        made_statistics().views[0],
        trace_ms=trace_ms,
        build_ms=fixed.get("build", 0.0),
        refit_ms=fixed.get("refit", 0.0),
        phases_ms={"trace.primary": trace_ms},
    )
    statistics = made_statistics(views=(view,), animate_ms=fixed.get("animate", 0.0), frame_ms=0.0)
    return frame(statistics=statistics, frame_ms=trace_ms + 3.0 + sum(fixed.values()))


@pytest.mark.parametrize(
    ("fixed", "end"),
    [
        ({"build": 60.0, "animate": 12.1}, "build takes 60.0 ms, whatever the size."),
        ({"build": 31.6, "animate": 30.0}, "build and animate take 61.6 ms together, whatever the size."),
        ({"build": 31.6, "animate": 12.1}, "(494.0 ms)."),
    ],
)
def test_what_leaves_no_room_for_pixels_is_what_takes_more_than_a_frame_may(fixed: dict[str, float], end: str) -> None:
    sentence = said(spent(494.0, **fixed), fps=2.0, minimum_fps=20.0)
    assert sentence.endswith(end) and ("fewer pixels" in sentence) == ("whatever" in end)


def test_of_several_frames_the_diagnosis_names_what_the_figures_say_not_the_newest() -> None:
    """The newest was late in animating; most were so in building."""
    usual = [Sample(spent(100.0, build=55.0, animate=5.0), 0.2 * number, 0.5, 5.0, SIZE) for number in range(4)]
    late = Sample(spent(100.0, build=5.0, animate=90.0), 0.8, 0.5, 5.0, SIZE)
    assert "build takes 55.0 ms, whatever" in bottleneck(figures_of([*usual, late]), 20.0)
    fixed = replaced(State(), "settings.display.adapt_resolution", False)
    request = dataclasses.replace(usual[0].frame.request, state=fixed)
    as_large = [dataclasses.replace(one, frame=dataclasses.replace(one.frame, request=request)) for one in usual]
    assert "fewer pixels" not in bottleneck(figures_of(as_large), 20.0), "no smaller ones are drawn"


def test_a_setting_is_named_as_its_page_shows_it(qtbot: Any) -> None:
    page = SettingsPage(Document(), "display", DisplayOptions())
    qtbot.addWidget(page)
    labels = {label.text().rstrip(":") for label in page.findChildren(QLabel)}
    floor, coarse = said(frame(drawn=(256, 192))), said(frame(False, drawn=(256, 192), whole_ms=2100.0, samples=4))
    for sentence in (floor, coarse):
        place = re.search(r"Settings > (.+) > ([A-Za-z ]+?)( to draw|\))", sentence)
        assert place is not None and place[1] == page_title("display") and place[2] in labels, (sentence, labels)


def test_a_rest_that_is_longer_than_every_phase_is_called_a_rest() -> None:
    """Of 1,809.5 ms, 17.75 lie in the phases: no phase takes the time."""
    sentence = said(frame(frame_ms=1809.5))
    assert "takes the time" not in sentence and sentence.startswith(
        "A frame takes 1.81 s, of which 1.79 s belongs to no phase: waiting"
    )


def test_a_pause_to_compile_is_no_rate_of_frames() -> None:
    sentence = said(frame(frame_ms=5000.0, preparing_ms=4900.0), fps=0.2)
    assert (
        sentence.startswith("This picture took 5 s, of which 4.9 s to prepare it")
        and "a second" not in sentence
        and "0.2" not in sentence
    )
    assert "0.2" not in said(frame(), fps=0.2), "nor is the first second behind it"


def test_a_device_that_is_slower_than_the_thread_that_asks_it_is_what_takes_the_time() -> None:
    slow = made_statistics(frame_ms=120.0)
    busy = dataclasses.replace(slow, views=(dataclasses.replace(slow.views[0], trace_ms=110.0),))
    assert said(frame(statistics=busy, frame_ms=2.0)) == "A frame takes 120.5 ms: trace takes the time (110.0 ms)."


def test_a_picture_as_small_as_it_may_be_says_so() -> None:
    floor = frame(drawn=(256, 192))
    assert said(floor) == (
        "A frame takes 18.5 ms: trace takes the time (12.0 ms). Pictures are not drawn smaller than 50 % of each side "
        "(Settings > Display > Minimum scale)."
    )
    assert "drawn smaller" not in said(frame(drawn=(257, 193))), "the next one will be smaller"
    assert "drawn smaller" not in said(frame(drawn=(128, 96))), "it is: at half it would take too long"
    late = dataclasses.replace(spent(494.0, build=60.0), drawn=(256, 192))
    assert "drawn smaller" not in said(late), "no size of a picture helps"
    whole = replaced(floor.request.state, "settings.display.minimum_scale", 1.0)
    request = dataclasses.replace(floor.request, state=whole)
    told = said(dataclasses.replace(floor, request=request, drawn=SIZE))
    assert "not drawn smaller than 100 % of each side" in told, "which is why they are slow"
    fixed = replaced(whole, "settings.display.adapt_resolution", False)
    request = dataclasses.replace(floor.request, state=fixed)
    assert "drawn smaller" not in said(dataclasses.replace(floor, request=request, drawn=SIZE)), "no floor holds them"


def test_a_window_that_is_slower_than_its_pictures_says_so() -> None:
    assert said(frame(), paint_ms=40.0) == "Showing a picture takes 40.0 ms, longer than drawing it (18.0 ms)."


def test_a_picture_at_rest_that_is_smaller_says_what_the_whole_one_would_take() -> None:
    small = frame(False, drawn=(256, 192), whole_ms=2100.0)
    assert said(dataclasses.replace(small, samples=1, samples_wanted=1)) == (
        "The whole picture would take about 2.1 s, too long to wait for: this one has 25 % of its pixels. "
        "Turn off Settings > Display > Adapt resolution to draw all pixels."
    )
    assert said(dataclasses.replace(small, samples=0, samples_wanted=1)) == (
        "This picture has 25 % of its pixels. A finer one is being drawn; with all of them it takes about 2.1 s."
    )
    assert said(frame(False, drawn=SIZE, whole_ms=2100.0)) == "", "it is whole"
    assert said(frame(False, drawn=(256, 192), whole_ms=260.0)) == "", "a whole one comes"


@pytest.mark.parametrize("case", ["two phases", "floor", "coarse at rest", "too slow at rest", "no phase"])
def test_each_sentence_has_room_in_a_side_panel(qtbot: Any, case: str) -> None:
    sentence = {
        "two phases": lambda: said(spent(1494.0, build=731.6, animate=730.0), fps=0.3, minimum_fps=1.0),
        "floor": lambda: said(frame(drawn=(256, 192))),
        "coarse at rest": lambda: said(frame(False, drawn=(256, 192), whole_ms=2100.0)),
        "too slow at rest": lambda: said(frame(False, drawn=(256, 192), whole_ms=2100.0, samples=4)),
        "no phase": lambda: said(frame(frame_ms=1809.5)),
    }[case]()
    panel = StatsPanel(Figures())
    qtbot.addWidget(panel)
    panel.resize(320, 700)
    panel.show()
    hint = panel.findChild(QLabel, "bottleneck")
    assert hint is not None and len(sentence) > 100
    hint.setText(sentence)
    assert hint.heightForWidth(hint.width()) <= hint.height(), "its first and last lines would be cut"
