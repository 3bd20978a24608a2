"""Answers of oracles are found once for what was asked, and cannot be changed by who gets them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.testing import kept as module
from raygrove.testing.kept import kept


@dataclasses.dataclass(frozen=True)
class Sums:
    """What the oracle here finds."""

    rows: np.ndarray
    factor: float


class Asked:
    """An oracle that counts how often it is asked."""

    def __init__(self) -> None:
        self.times = 0

        @kept
        def sums(values: np.ndarray, factor: float = 1.0) -> Sums:
            self.times += 1
            return Sums(values.sum(axis=1) * factor, factor)

        self.sums = sums


def test_the_same_question_is_answered_once() -> None:
    asked, values = Asked(), np.arange(6.0).reshape(2, 3)
    first = asked.sums(values)
    assert asked.sums(values.copy()) is first and asked.times == 1
    np.testing.assert_array_equal(first.rows, [3.0, 12.0])


@pytest.mark.parametrize("other", ["a value", "the shape", "the type", "a number", "a number by its place"])
def test_another_question_is_another_answer(other: str) -> None:
    asked, values = Asked(), np.arange(6.0).reshape(2, 3)
    first = asked.sums(values)
    changed = values.copy()
    changed[1, 2] = np.nextafter(changed[1, 2], 9.0)
    second = {
        "a value": lambda: asked.sums(changed),
        "the shape": lambda: asked.sums(values.reshape(3, 2)),
        "the type": lambda: asked.sums(values.astype(np.float32)),
        "a number": lambda: asked.sums(values, factor=1.0 + 2.0**-52),
        "a number by its place": lambda: asked.sums(values, 2.0),
    }[other]()
    assert second is not first and asked.times == 2


def test_an_answer_cannot_be_changed() -> None:
    found = Asked().sums(np.ones((2, 2)))
    with pytest.raises(ValueError, match="read-only"):
        found.rows[0] = 7.0


def test_what_has_no_bytes_of_its_own_is_refused() -> None:
    with pytest.raises(TypeError, match="sums is kept by arrays and numbers, not by object"):
        Asked().sums(object())


def test_the_oldest_answers_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 2)
    asked = Asked()
    for value in (1.0, 2.0, 1.0, 3.0, 1.0):  # 2 is what was not asked for longest
        asked.sums(np.full((1, 1), value))
    assert asked.times == 3
    asked.sums(np.full((1, 1), 2.0))
    assert asked.times == 4
