"""Pictures that were drawn smaller than their place are enlarged on the target, with their edges kept, once the kernels
for that are compiled, beside everything else; until then whoever shows them enlarges them."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence

from raygrove.app.frames.compile_job import CompileJob
from raygrove.app.frames.outcome import Outcome
from raygrove.app.frames.pixel_slots import PixelSlot
from raygrove.gpu.enlarge.enlarging import UNIT, Enlarger
from raygrove.gpu.target.base import Target, TargetError
from raygrove.gpu.target.planning import AheadCompiler
from raygrove.gpu.target.remarks import remark


class Enlarged:
    """See the module."""

    def __init__(self) -> None:
        self._enlarger: Enlarger | None = None
        self._job: CompileJob | None = None
        self._failure: TargetError | None = None
        self.spent_ms = 0.0
        """What the processor spent on the pictures of the last frame, 0 where nothing was enlarged. On a GPU it only
        launches that."""

    def filled(self, outcome: Outcome, target: Target, slots: Sequence[PixelSlot]) -> Outcome:
        """The outcome of a frame, with the size at which it was drawn; where its pictures are whole, they fill their
        slots."""
        outcome, self.spent_ms = dataclasses.replace(outcome, drawn=slots[0].drawn), 0.0
        if outcome.is_whole and outcome.spheres is None:
            self.fill(target, slots)
        return outcome

    def fill(self, target: Target, slots: Sequence[PixelSlot]) -> None:
        """Let the pictures in the slots fill them."""
        before = [slot.drawn for slot in slots]
        was_ready, began = self._enlarger is not None, time.perf_counter()
        for slot in slots if self._failure is None else ():
            if slot.drawn != (slot.width, slot.height):
                try:
                    self._fill(target, slot)
                except TargetError as error:  # the small picture is there
                    self._failure = error
                    _tell(error)
        if was_ready and [slot.drawn for slot in slots] != before:  # the first time code was loaded
            self.spent_ms = (time.perf_counter() - began) * 1000.0

    def _fill(self, target: Target, slot: PixelSlot) -> None:
        enlarger = self._made_ready(target)
        if enlarger is not None:
            small = slot.drawn
            with slot.image(target, *small) as picture:
                kept = enlarger.keep(picture)
            try:
                with slot.image(target, slot.width, slot.height) as enlarged:
                    enlarger.enlarge(kept, enlarged)
            except TargetError:
                slot.drawn = small
                raise

    def forget(self) -> None:
        """The target goes; nothing is compiled for it any more."""
        if self._job is not None:
            self._job.cancel()
        self._enlarger = self._job = self._failure = None

    def _made_ready(self, target: Target) -> Enlarger | None:
        """None as long as its kernels are being compiled, and where they cannot be."""
        job = self._job
        if job is not None and job.failure is not None:
            _tell(job.failure)
        if self._enlarger is None and (job is None or (job.is_done and job.failure is None)):
            ahead = AheadCompiler(target)
            if ahead.is_ready(UNIT):
                self._enlarger = Enlarger(target)
            elif job is None:
                self._job = CompileJob(ahead, lambda: (UNIT,), lambda done, of: None, lambda: None)
                self._job.start()
        return self._enlarger


def _tell(failure: Exception) -> None:
    """Say why small pictures stay blurred: nobody else meets that error."""
    reason = str(failure).partition("\n")[0].rstrip(".")
    remark(f"Pictures drawn smaller than the window are blurred: what enlarges them does not work here. {reason}.")
