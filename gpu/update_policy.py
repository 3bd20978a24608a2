"""Build, refit or nothing: one decision a frame and structure, with the reason in words."""

from __future__ import annotations

import dataclasses

from .settings import option


@dataclasses.dataclass(frozen=True)
class UpdateOptions:
    """How a structure follows a moving scene."""

    mode: str = option("rebuild", "Rebuild every frame, refit every frame, or let the measured cost decide.", choices=("rebuild", "refit", "auto"))
    always: bool = option(False, "Update even when nothing moved; benchmarks do, to measure the same work every frame.")
    cost_ratio: float = option(1.5, "In auto, rebuild when the SAH cost is this many times that of the last build.", minimum=1.0, maximum=100.0)
