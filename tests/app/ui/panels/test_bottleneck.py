"""The line above the statistics names what really takes the time."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.frames.frame_history import Sample, figures_of
from raygrove.app.frames.frame_requests import FinishedFrame, FrameRequest
from raygrove.app.ui.panels.bottleneck import bottleneck
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
    return FinishedFrame(request=request, frame_id=7, samples=1, samples_wanted=4, **values)


def said(shown: FinishedFrame, fps: float = 12.0, paint_ms: float = 0.5, minimum_fps: float = 60.0) -> str:
    return bottleneck(figures_of([Sample(shown, 0.0, paint_ms, fps, SIZE)]), minimum_fps)


def test_quick_frames_need_no_sentence() -> None:
    assert said(frame(), fps=61.0) == ""
    assert said(frame(), minimum_fps=50.0) == "", "a quick frame after a pause is no reason to complain"
    assert said(frame(statistics=None)) == ""


def test_the_longest_phase_is_named() -> None:
    assert said(frame()) == "A frame takes 18.5 ms: trace takes the time (12.0 ms)."
    assert said(frame(limited_by="build")) == (
        "A frame takes 18.5 ms: trace takes the time (12.0 ms). Drawing fewer pixels would not make it fast enough: "
        "build takes 2.0 ms, whatever the size."
    )


@pytest.mark.parametrize("limited_by", ["", "build"])
def test_a_rest_that_is_longer_than_every_phase_is_called_a_rest(limited_by: str) -> None:
    """Of 1,809.5 ms, 17.75 lie in the phases: no phase takes the time."""
    sentence = said(frame(frame_ms=1809.5, limited_by=limited_by))
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
        "A frame takes 18.5 ms: trace takes the time (12.0 ms). Pictures are not drawn smaller than 50% of each side "
        "(Settings > display > minimum scale)."
    )
    assert "drawn smaller" not in said(frame(drawn=(257, 193))), "the next one will be smaller"
    assert "drawn smaller" not in said(frame(drawn=(128, 96))), "it is: at half it would take too long"
    assert "drawn smaller" not in said(frame(drawn=(256, 192), limited_by="build")), "no size of a picture helps"
    whole = replaced(floor.request.state, "settings.display.minimum_scale", 1.0)
    request = dataclasses.replace(floor.request, state=whole)
    assert "drawn smaller" not in said(dataclasses.replace(floor, request=request, drawn=SIZE)), "nobody misses pixels"


def test_a_window_that_is_slower_than_its_pictures_says_so() -> None:
    assert said(frame(), paint_ms=40.0) == "Showing a picture takes 40.0 ms, longer than drawing it (18.0 ms)."


def test_a_picture_at_rest_that_is_smaller_says_what_the_whole_one_would_take() -> None:
    small = frame(False, drawn=(256, 192), whole_ms=2100.0)
    assert said(dataclasses.replace(small, samples=1, samples_wanted=1)) == (
        "The whole picture would take about 2.1 s, too long to wait for: this one has 25% of its pixels. "
        "Turn off Settings > display > adapt resolution to draw all pixels."
    )
    assert said(dataclasses.replace(small, samples=0, samples_wanted=1)) == (
        "This picture has 25% of its pixels. A finer one is being drawn; with all of them it takes about 2.1 s."
    )
    assert said(frame(False, drawn=SIZE, whole_ms=2100.0)) == "", "it is whole"
    assert said(frame(False, drawn=(256, 192), whole_ms=260.0)) == "", "a whole one comes"
