"""What the campaign of GPUs that fail finds, on a small scale; that it does find what is planted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raygrove.app.frames.render_thread import RenderThread
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.target import cuda_driver
from tests.campaign import devices
from tests.campaign.devices import ABSENT, FULL, Drawer, Fault, driver, fail_at, no_libraries, without_device
from tests.campaign.failures import Tally

ILLEGAL_ACCESS, UNKNOWN = 700, 999
SCENE = make_demo("walker", 60)


@pytest.mark.parametrize("name", ABSENT)
def test_a_gpu_that_is_not_there_is_a_sentence_and_auto_takes_the_cpu(name: str) -> None:
    answers, words = ABSENT[name]
    tally = Tally()
    with driver(answers):
        without_device(words, SCENE, tally)
    assert tally.sentences == tally.tried == 1 and not tally.findings


def test_libraries_that_are_not_there_are_a_sentence() -> None:
    tally = Tally()
    with no_libraries():
        without_device("cuda-bindings cannot be imported", SCENE, tally)
    assert tally.sentences == 1 and not tally.findings


@pytest.mark.parametrize("status", [FULL, ILLEGAL_ACCESS, UNKNOWN])
@pytest.mark.parametrize("method", ["launch", "empty"])
def test_a_gpu_that_fails_amid_a_picture_is_a_sentence_and_the_cpu_draws(method: str, status: int) -> None:
    """Early and late: the first call, and one of the second half."""
    counted, tally = Fault(method, 0, FULL), Tally()
    drawer = Drawer(SCENE, counted)
    expected = drawer.asked("cuda")
    assert drawer.thread.stop() and expected is not None and drawer.calls > 4
    for number in (1, drawer.calls * 3 // 4):
        fail_at(method, number, status, SCENE, expected, tally)
    assert tally.sentences == tally.tried == 2 and not tally.findings


def test_a_device_that_is_lost_stays_lost() -> None:
    """What the campaign takes for a broken device refuses everything, and a new target, too."""
    fault = Fault("launch", 2, ILLEGAL_ACCESS)
    fault.look("launch")
    fault.look("upload")
    for method in ("launch", "upload", "make", "close"):
        with pytest.raises(cuda_driver.DeviceLostError, match="Start the program anew"):
            fault.look(method)


def test_silence_and_a_thread_that_goes_on_by_itself_are_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "PROCESS_S", 0.5)
    monkeypatch.setattr(RenderThread, "_fail", lambda self, request, error: setattr(self, "_is_complete", True))
    counted, tally = Fault("launch", 0, FULL), Tally()
    drawer = Drawer(SCENE, counted)
    expected = drawer.asked("cuda")
    drawer.thread.stop()
    assert expected is not None
    fail_at("launch", 1, ILLEGAL_ACCESS, SCENE, expected, tally)
    assert not tally.sentences and "neither a picture nor a sentence" in tally.findings[0]


def test_a_wrong_picture_after_a_fault_is_a_finding() -> None:
    tally = Tally()
    wrong: Any = 7
    fail_at("launch", 1, UNKNOWN, SCENE, wrong, tally)
    assert len(tally.findings) == 2 and "another one" in tally.findings[1]


def test_a_fault_that_no_picture_meets_counts_for_nothing() -> None:
    tally, nothing = Tally(), None
    fail_at("launch", 10_000, UNKNOWN, SCENE, np.asarray(nothing), tally)
    assert tally.tried == 0 and not tally.findings


def test_a_device_that_is_lost_unseen_does_not_keep_the_next_from_drawing() -> None:
    """That it is broken shows when it is given back: the CPU draws all the same, and nobody is told of the other."""
    drawer = Drawer(SCENE, Fault("close", 1, ILLEGAL_ACCESS))
    expected, found = drawer.asked("cuda"), drawer.asked("cpu")
    assert drawer.thread.stop() and expected is not None and found is not None
    assert (expected == found).all() and not drawer.problems
