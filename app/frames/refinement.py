"""How many samples a picture at rest gets: as many as written pictures have, and then more, until its noise is small
enough.

The noise is measured (gpu/shade/noise.py), of the noisiest view; where it cannot be told, samples are added until
display.refine_samples are there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from raygrove.app.frames.pacing import Plan
from raygrove.app.frames.resolution import WHOLE_LIMIT_MS
from raygrove.app.settings.settings import DisplayOptions
from raygrove.gpu.engine import View
from raygrove.gpu.target.stopping import Stoppable

FAR_LONGER = 1.5
"""A busy machine takes that much longer now and then: no reason to begin anew."""


def noise_of(engine: Any, views: Sequence[View]) -> float | None:
    """The noise of the noisiest view's picture; None where one's is not known."""
    found = [engine.noise(view) for view in views]
    return None if None in found else max(found)


@dataclasses.dataclass
class Refinement:
    """Which picture has enough samples. Pictures are told apart by keys."""

    _finished: object = None
    _count: int = 0
    _looked_at: object = None
    _filter_samples: int = 0

    def filtered(self, key: object, expected_ms: float, display: DisplayOptions, target: Stoppable) -> int:
        """Until how many samples the picture `key` is filtered, 0 for not at all. The filter needs a whole picture:
        a target that can stop leaves one within a blink, however long it takes, so that nobody sees the noise of a few
        samples; for another's a drag would wait. Decided once for each, or its samples would begin anew; they do where
        the first ones took far longer than was expected."""
        if target.can_stop:
            return display.filter_samples
        if key != self._looked_at:
            self._looked_at = key
            self._filter_samples = display.filter_samples if expected_ms <= WHOLE_LIMIT_MS else 0
        elif expected_ms > FAR_LONGER * WHOLE_LIMIT_MS:
            self._filter_samples = 0
        return self._filter_samples

    def most(self, key: object, there: int, plan: Plan, display: DisplayOptions, is_moving: bool) -> int:
        """The samples that the next frame of the picture `key` may take it to, which has `there` of them."""
        if key == self._finished:
            return self._count
        if is_moving or there < plan.samples:
            return plan.samples
        return max(plan.samples, display.refine_samples)

    def after(self, key: object, there: int, noise: float | None, plan: Plan, display: DisplayOptions) -> Plan:
        """The plan of the picture `key` at rest by the noise of the samples that are `there`; None: not known."""
        if there < plan.samples:
            return plan
        is_enough = there >= display.refine_samples or (noise is not None and noise <= display.noise_limit)
        self._finished, self._count = (key, there) if is_enough else (None, 0)
        return dataclasses.replace(plan, samples=there if is_enough else display.refine_samples)
