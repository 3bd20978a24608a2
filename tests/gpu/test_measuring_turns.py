"""Trees of a race are measured by turns, but for those that their policy waits for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from raygrove.gpu.measuring_turns import in_turn, measure_by_turns


def slot(mode: str, is_new: bool, measured: list[str], name: str) -> Any:
    history = SimpleNamespace(is_as_built=True, has_base=not is_new, costs=SimpleNamespace(is_known=False))
    view = SimpleNamespace(settings=SimpleNamespace(update=SimpleNamespace(mode=mode)))

    def measure() -> bool:
        measured.append(name)
        return True

    return SimpleNamespace(view=view, history=history, measure_now_and_then=measure)


@pytest.mark.parametrize(
    ("mode", "is_new", "number", "expected"),
    [("rebuild", True, 0, ["0"]), ("rebuild", True, 5, ["2"]), ("cost_ratio", False, 1, ["1"])]
    + [("cost_ratio", True, 1, ["1", "2", "0"]), ("auto", True, 0, ["0", "1", "2"])],
)
def test_one_tree_a_frame_and_all_that_are_waited_for(
    mode: str, is_new: bool, number: int, expected: list[str]
) -> None:
    measured: list[str] = []
    slots = tuple(slot(mode, is_new, measured, str(i)) for i in range(3))
    measure_by_turns(in_turn(slots, number))
    assert measured == expected


def test_a_frame_without_views_measures_nothing() -> None:
    measure_by_turns(in_turn((), 3))
