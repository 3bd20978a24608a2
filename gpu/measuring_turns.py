"""Which trees of a frame are measured for their quality: by turns one at most, or a race would halt ten times a second,
and beside it those that their policy cannot refit before."""

from __future__ import annotations

from collections.abc import Iterable

from .view_slot import ViewSlot


def in_turn(slots: tuple[ViewSlot, ...], number: int) -> tuple[ViewSlot, ...]:
    """The slots of a frame of this number, another one first in each."""
    first = number % max(1, len(slots))
    return slots[first:] + slots[:first]


def measure_by_turns(slots: Iterable[ViewSlot]) -> None:
    """Measure the first one for which that is due, and all that wait for it."""
    is_done = False
    for slot in slots:
        if not is_done or _waits(slot):
            is_done |= slot.measure_now_and_then()


def _waits(slot: ViewSlot) -> bool:
    """Whether the policy cannot refit a tree that was just built before it is measured."""
    mode, history = slot.view.settings.update.mode, slot.history
    is_new = history.is_as_built and not history.has_base
    return is_new and (mode == "cost_ratio" or (mode == "auto" and not history.costs.is_known))
