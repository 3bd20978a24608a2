"""In the workspace Race the pipeline is that of one contestant: what it is changed to, the contestant becomes, and what
the contestant is, it shows."""

from __future__ import annotations

import dataclasses

from raygrove.app.document.state import State
from raygrove.app.settings.chosen_configuration import can_be, spelling_of, with_configuration, with_contestants
from raygrove.app.settings.race_options import RACE, contestants_of, edited_place
from raygrove.app.settings.settings import Settings


def followed(before: State, after: State) -> State:
    """`after`, a change of settings, with what goes with it: in one step of undo."""
    old, new = before.settings, after.settings
    if old is new:
        return after
    is_entered = new.window.workspace == RACE != old.window.workspace
    made = with_contestants(new) if is_entered else new
    made = _followed(old, made) if made.race.edited else made
    return after if made is new else dataclasses.replace(after, settings=made)


def _followed(old: Settings, new: Settings) -> Settings:
    place = edited_place(new.race)
    if new.window.workspace != RACE or place < 0:
        return dataclasses.replace(new, race=dataclasses.replace(new.race, edited=""))
    texts = list(contestants_of(new.race))
    if place != edited_place(old.race) or texts[place] != contestants_of(old.race)[place]:
        return with_configuration(new, texts[place])
    spelt = spelling_of(new)
    if spelt == spelling_of(old) or not can_be(spelt):
        return new
    texts[place] = spelt
    return dataclasses.replace(new, race=dataclasses.replace(new.race, contestants=", ".join(texts)))
