"""What is made ready before a frame, where it may wait: room for structures, kernels, and what the start of the
animation decides."""

from __future__ import annotations

from collections.abc import Sequence

from .animate.animate import Animator
from .scene import Moment
from .view_slot import ViewSlot

START = Moment()


def make_ready(animator: Animator, slots: Sequence[ViewSlot], moment: Moment, tries_arrangements: bool) -> None:
    """Make a frame's views ready to be drawn without waiting. The surface is left at the moment, or as it was."""
    surface = animator.surface
    readers = [reader for slot in slots if (reader := slot.start_reader(surface)) is not None]
    if readers:
        animator.place(START)
        for read in readers:
            read()
    if readers or not animator.is_placed or any(slot.lacks_room(surface) for slot in slots):
        animator.place(moment)
    for slot in slots:
        slot.primary.may_try = tries_arrangements
        slot.warm(surface)
