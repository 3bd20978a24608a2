"""A remedy that is built for nobody who waits ends where a picture is wanted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from raygrove.app.frames.hot_questions import HotQuestions
from raygrove.gpu.analysis.hot_findings import HotFinding
from raygrove.gpu.engine import Engine
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.stopping import Abandoned
from raygrove.testing import make_target
from tests.gpu.moving_scene import moving_scene, view_of
from tests.waiting import EVENT_S

from .fake_maker import Bench, request

FINDING = HotFinding("long_triangles", "warning", "Two cause it.", {}, "cut them", configuration="sbvh/bvh4")


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.maker.gate.set()
    assert made.thread.stop(EVENT_S)


@pytest.mark.parametrize(("key", "ends"), [("remedy", True), ("hot_spots", False)])
def test_the_next_request_ends_it(key: str, ends: bool, bench: Bench) -> None:
    """Also its compiler; a question that somebody has asked is answered first."""
    begun, goes_on = threading.Event(), threading.Event()
    heard: list[tuple[bool, bool]] = []

    def question(maker: Any) -> tuple[bool, bool]:
        begun.set()
        assert goes_on.wait(EVENT_S)
        try:
            bench.thread._check()
        except Abandoned:
            return bench.thread._switch.is_turned, True
        return bench.thread._switch.is_turned, False

    bench.thread.submit(request(0.0))
    bench.wait(lambda: bool(bench.frames))
    bench.thread.ask(key, question, heard.append)
    assert begun.wait(EVENT_S)
    bench.thread.submit(request(0.5))
    goes_on.set()
    bench.wait(lambda: bool(heard) and len(bench.frames) >= 2)
    assert heard == [(ends, ends)] and not bench.problems


def test_the_next_question_ends_it(bench: Bench) -> None:
    """What somebody asks meanwhile is answered at once, and before it where both wait."""
    begun, goes_on = threading.Event(), threading.Event()
    heard: list[Any] = []

    def question(maker: Any) -> bool:
        begun.set()
        assert goes_on.wait(EVENT_S)
        return bench.thread._switch.is_turned

    bench.thread.submit(request(0.0))
    bench.wait(lambda: bool(bench.frames))
    bench.thread.ask("remedy", question, heard.append)
    assert begun.wait(EVENT_S)
    bench.thread.ask("remedy", lambda maker: "last", heard.append)
    bench.thread.ask("paid", lambda maker: "paid", heard.append)
    goes_on.set()
    bench.wait(lambda: len(heard) == 3)
    assert heard == [True, "paid", "last"] and not bench.problems


def test_a_build_that_is_ended_gives_the_finding_back() -> None:
    with make_target("host") as target:
        engine = Engine(target, moving_scene())
        view = view_of(target, size=(40, 24), hierarchy="lbvh", layout="bvh4")
        engine.render_frame(Moment(0.7), [view])
        engine.flush()
        asked = HotQuestions()
        asked._engine, asked._views = engine, [view]
        found: Any = asked.hot_spots("all", "both")
        asked.switch.stop(builds=True)
        assert asked.gain_of(found, FINDING) is FINDING
        asked.switch.go_on()
        after = asked.gain_of(found, FINDING)
        assert isinstance(after, HotFinding) and after.gain is not None
        engine.close()
