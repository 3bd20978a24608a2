"""Bars of update policies, read from the newest file of `bench policy --optimum`: the worst of all its clips, at
whatever multiple of the measured costs of updates it played them."""

from __future__ import annotations

from collections.abc import Callable

from .saved import Content, OfOthers

COMMAND = "python -m raygrove.bench policy --optimum"


def _worst(of_clip: Callable[[dict[str, float]], float]) -> Callable[[Content], float | None]:
    def read(content: Content) -> float | None:
        return max((of_clip(row["regret"]) for row in content["results"]), default=None)

    return read


POLICIES = tuple(
    OfOthers(device, what, bar, "times", "regret", COMMAND, read)
    for device in ("cuda", "host")
    for what, bar, read in (
        ("auto over the best schedule, the worst clip", 1.05, _worst(lambda regret: regret["auto"])),
        (
            "the best online policy over the best schedule, the worst clip",
            1.05,
            _worst(lambda regret: min(regret["auto"], regret["ratio_optimiser"])),
        ),
        (
            "auto over ratio_optimiser, the worst clip",
            1.02,
            _worst(lambda regret: regret["auto"] / regret["ratio_optimiser"]),
        ),
    )
)
