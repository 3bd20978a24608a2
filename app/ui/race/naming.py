"""What people are shown of a configuration that takes part: its update policy."""

from __future__ import annotations

from raygrove.app.settings import titles
from raygrove.app.ui.pipeline.faces import update_word
from raygrove.gpu.configuration import parse


def policy_title(configuration: str) -> str:
    """The update policy in a word, as its chip says it, in lower case: "adaptive", "every n-th n=7"."""
    spelt = parse(configuration)
    if spelt.policy is None:
        return update_word("rebuild").lower()
    return update_word(spelt.policy.name).lower() + titles.options_of(spelt.policy)
