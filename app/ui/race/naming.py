"""What people are shown for a configuration: titles instead of the names in its spelling."""

from __future__ import annotations

from raygrove.app.settings import titles
from raygrove.gpu.configuration import Part, parse

ORDINALS = ("1st", "2nd", "3rd")


def structure_title(configuration: str, layout: str = "") -> str:
    """The structure: "H-PLOC + Reinsertion / BVH4"; `layout` is what `auto` has become."""
    spelt = parse(configuration)
    text = titles.short_title("hierarchy", spelt.builder.name) + _options(spelt.builder)
    if spelt.optimiser is not None and spelt.optimiser.name != "none":
        text += f" + {titles.short_title('optimiser', spelt.optimiser.name)}{_options(spelt.optimiser)}"
    shown = spelt.layout.name if spelt.layout is not None and spelt.layout.name != "auto" else layout
    return f"{text} / {titles.brief_layout(shown)}" if shown else text


def policy_title(configuration: str) -> str:
    """The update policy, in lower case: "adaptive", "every n-th n=7"."""
    spelt = parse(configuration)
    if spelt.policy is None:
        return titles.short_title("update.mode", "rebuild").lower()
    return titles.short_title("update.mode", spelt.policy.name).lower() + _options(spelt.policy)


def ordinal(rank: int) -> str:
    """1st, 2nd ..."""
    return ORDINALS[rank - 1] if rank <= len(ORDINALS) else f"{rank}th"


def _options(part: Part) -> str:
    return "".join(f" {name}={value}" for name, value in part.options)
