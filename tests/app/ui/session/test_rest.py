"""A window that rests has what may be chosen next compiled, and stops with the next change."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from raygrove.app.ui.session.rest import Rest
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.engine import ViewSettings


class Job:
    """A stand-in for what compiles: it writes down what it is asked for."""

    made: list[Job] = []

    def __init__(self, scene: object, choices: list[ViewSettings], others: list[ViewSettings]) -> None:
        self.others = others
        self.choices, self.done, self.is_cancelled, self.is_started = choices, list[ViewSettings](), False, False
        Job.made.append(self)

    def start(self) -> None:
        self.is_started = True

    def cancel(self) -> None:
        self.is_cancelled = True

    def wait(self, seconds: float) -> bool:
        return True


@pytest.fixture
def rest(scene_window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> Rest:
    """Of a window whose picture is complete, drawn on the CPU device."""
    monkeypatch.setattr(Job, "made", [])
    loop = scene_window.loop
    monkeypatch.setattr(loop, "ask", lambda key, question, take: take(Job))
    assert loop.last_frame is not None
    loop.last_frame = dataclasses.replace(loop.last_frame, target_name="host", samples=loop.last_frame.samples_wanted)
    return Rest(scene_window.session, scene_window)


def begin(rest: Rest) -> list[Any]:
    rest.begin()
    return Job.made


def test_it_begins_at_rest_and_stops_with_a_choice(scene_window: MainWindow, rest: Rest) -> None:
    (job,) = begin(rest)
    assert job.is_started and not job.is_cancelled and len(job.choices) > 5
    scene_window.document.change("settings.render.hierarchy", "hploc")
    assert job.is_cancelled


def test_what_is_done_is_not_prepared_again(rest: Rest) -> None:
    (job,) = begin(rest)
    job.done = job.choices[:3]
    first, second = begin(rest)
    assert first.is_cancelled and second.choices == first.choices[3:]
    second.done = second.choices
    third = begin(rest)[-1]
    assert third.choices == [] and third.others == first.others, "which are to be loaded"
    third.done = third.others
    assert len(begin(rest)) == 3, "nothing is left to prepare"


@pytest.mark.parametrize("why", ["setting", "playing", "samples", "gpu"])
def test_it_does_not_begin(scene_window: MainWindow, rest: Rest, why: str) -> None:
    loop, document = scene_window.loop, scene_window.document
    frame = loop.last_frame
    assert frame is not None
    if why == "setting":
        document.begin_with("settings.window.compile_ahead", False)
        frame = dataclasses.replace(frame, request=dataclasses.replace(frame.request, state=document.state))
    changes: dict[str, Any] = {
        "setting": {},
        "playing": {"request": dataclasses.replace(frame.request, is_moving=True)},
        "samples": {"samples": 1, "samples_wanted": 16},
        "gpu": {"target_name": "cuda:0"},
    }
    loop.last_frame = dataclasses.replace(frame, **changes[why])
    assert begin(rest) == []
