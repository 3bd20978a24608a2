"""Pictures drawn smaller than their place fill it, once the kernels for that are there."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import numpy as np
import pytest

from raygrove.app.document.state import State, replaced
from raygrove.app.frames import enlarged
from raygrove.app.frames.enlarged import Enlarged
from raygrove.app.frames.maker import FrameMaker
from raygrove.app.frames.outcome import Outcome
from raygrove.app.frames.pixel_slots import HostSlot
from raygrove.gpu.enlarge.enlarging import UNIT, Enlarger
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target, TargetError
from raygrove.gpu.target.planning import AheadCompiler
from tests.waiting import EVENT_S


def picture_of(width: int, height: int) -> np.ndarray:
    """A slanted edge."""
    y, x = np.mgrid[:height, :width]
    picture = np.full((height, width, 4), 255, np.uint8)
    picture[..., :3] = np.where((x / width > y / height)[..., None], (200, 90, 40), (20, 60, 110))
    return picture


def small(slot: HostSlot, target: Target) -> np.ndarray:
    """A picture of half of each side in a slot."""
    picture = picture_of(slot.width // 2, slot.height // 2)
    with slot.image(target, slot.width // 2, slot.height // 2) as image:
        image[:] = picture
    return picture


def test_a_small_picture_fills_its_slot(host_target: Target) -> None:
    slots, made = [HostSlot(40, 24), HostSlot(40, 24)], Enlarged()
    before = small(slots[0], host_target)
    whole = picture_of(40, 24)
    with slots[1].image(host_target, 40, 24) as image:
        image[:] = whole
    end = time.monotonic() + EVENT_S
    while slots[0].drawn != (40, 24) and time.monotonic() < end:
        made.fill(host_target, slots)
        time.sleep(0.01)
    assert slots[0].drawn == (40, 24)
    near = slots[0].pixels[::2, ::2, :3].astype(float) - before[..., :3]
    assert np.abs(near).mean() < 12.0, "it shows the same"
    np.testing.assert_array_equal(slots[1].pixels, whole)


def test_what_enlarging_takes_is_told_once_its_code_is_loaded(host_target: Target) -> None:
    host_target.unit(UNIT)
    slot, made, outcome = HostSlot(400, 240), Enlarged(), Outcome(1, 1, 1, None, "host", "a processor")
    spent = []
    for size in ((200, 120), (200, 120), (400, 240), (200, 120)):
        with slot.image(host_target, *size) as image:
            image[:] = picture_of(*size)
        assert made.filled(outcome, host_target, [slot]).drawn == size and slot.drawn == (400, 240)
        spent.append(made.spent_ms)
    assert spent[0] == spent[2] == 0.0 and spent[1] > 0.0 and spent[3] > 0.0


def test_as_long_as_its_kernels_are_compiled_it_stays_small(
    host_target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []

    class Job:
        is_done, failure = False, None

        def __init__(self, *given: Any) -> None:
            begun.append(self)

        def start(self) -> None:
            pass

        def cancel(self) -> None:
            begun.append("cancelled")

    slot, made, said = HostSlot(40, 24), Enlarged(), list[str]()
    monkeypatch.setattr(enlarged, "CompileJob", Job)
    monkeypatch.setattr(enlarged, "remark", said.append)
    monkeypatch.setattr(AheadCompiler, "is_ready", lambda ahead, source: False)
    picture = small(slot, host_target)
    for _ in range(3):
        made.fill(host_target, [slot])
    assert len(begun) == 1 and slot.drawn == (20, 12) and not said
    begun[0].is_done, begun[0].failure = True, OSError("no compiler")
    made.fill(host_target, [slot])
    assert len(begun) == 1, "what cannot be compiled is tried once"
    assert [sentence.endswith(" does not work here. no compiler.") for sentence in said] == [True]
    np.testing.assert_array_equal(slot.pixels, picture)
    made.forget()
    assert begun[1:] == ["cancelled"]


def test_where_enlarging_fails_the_small_picture_is_shown(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    said = list[str]()
    monkeypatch.setattr(enlarged, "remark", said.append)
    monkeypatch.setattr(AheadCompiler, "is_ready", lambda ahead, source: True)

    def fail(*given: Any) -> None:
        raise TargetError("There is no room for a larger picture.")

    monkeypatch.setattr(Enlarger, "enlarge", fail)
    slot, made = HostSlot(40, 24), Enlarged()
    for _ in range(2):
        picture = small(slot, host_target)
        made.fill(host_target, [slot])
        assert slot.drawn == (20, 12)
        np.testing.assert_array_equal(slot.pixels, picture)
    assert len(said) == 1 and said[0].endswith("There is no room for a larger picture.")


def test_the_window_is_told_how_large_a_picture_was_drawn(moving_scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    slot, state = HostSlot(320, 240), replaced(State(), "settings.render.device", "cpu")
    monkeypatch.setattr("raygrove.app.frames.pacing.next_scale", lambda *given: 0.5)
    with contextlib.closing(FrameMaker()) as maker:
        end = time.monotonic() + EVENT_S
        while slot.drawn != (320, 240) and time.monotonic() < end:
            outcome = maker.draw(moving_scene, state, Moment(0.3), [slot], is_moving=True)
    assert slot.drawn == (320, 240) and outcome.drawn == (160, 120)
