"""The options of updates; which modes there are is what the registry finds."""

from __future__ import annotations

import dataclasses

from ..settings import option
from .registry import policies


@dataclasses.dataclass(frozen=True)
class UpdateOptions:
    """How a structure follows a moving scene."""

    mode: str = option(
        "rebuild",
        "What is done to a structure when things have moved: "
        + "; ".join(f"{name} {policy.sentence}" for name, policy in policies().items())
        + ".",
        choices=tuple(policies()),
    )
    always: bool = option(False, "Update even when nothing moved; benchmarks do, to measure the same work every frame.")
    n: int = option(8, "In every_n: every so many frames one rebuilds.", minimum=1, maximum=100_000)
    cost_ratio: float = option(
        1.5,
        "In cost_ratio, and in auto as long as no times are known: rebuild when the SAH cost is this many times that "
        "of the last build.",
        minimum=1.0,
        maximum=100.0,
    )
