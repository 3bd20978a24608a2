"""Settings that older versions wrote, and what they are called today.

Files, pictures and command lines keep their words for years. What they say of an option that is gone is put into today's words before it is used,
and a sentence tells; saving writes today's words alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from app.settings import Settings
from gpu.settings import fields_of

TOP, CLIMB, SWEPT = "hierarchy.hploc.top", "hploc", "hploc_sah"
"""hploc built what lies above its chunks in two ways; the one from above is a structure of its own today."""

GONE = (TOP,)
"""Keys of options that are no longer there."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """A setting as it is said: its dotted key, and the value or its text. `place`: what to name it by, where its key is another one today."""

    key: str
    value: Any
    place: Any


@dataclasses.dataclass(frozen=True)
class Renewed:
    """Entries in today's words, the settings that they change; a sentence, with the place, about each that had to be put otherwise; and what
    structures that were named beside them are called."""

    settings: Settings
    entries: tuple[Entry, ...]
    remarks: tuple[tuple[Any, str], ...] = ()
    structures: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Older:
    """What was said in words of older versions, gathered for whoever shows it: `sentences`, and structures by their names then, and now."""

    sentences: list[str] = dataclasses.field(default_factory=list)
    structures: dict[str, str] = dataclasses.field(default_factory=dict)


def renewed(settings: Settings, entries: Sequence[Entry]) -> Renewed:
    """What entries for `settings` say today. A value that the option never took stays, to be refused as any unknown key is."""
    said = next((entry for entry in reversed(entries) if entry.key == TOP), None)
    if said is None or said.value not in ("sah", "climb"):
        return Renewed(settings, tuple(entries))
    others = tuple(entry for entry in entries if entry.key != TOP)
    if said.value == "climb":
        return Renewed(settings, others, ((said.place, f"{TOP} is no option any more: what climb built is what {CLIMB} builds."),))
    what = f"{TOP} is no option any more: what sah built is the structure {SWEPT} now, which takes the place of {CLIMB} and the options said for it."
    return Renewed(_swept(settings), tuple(_swept_entry(entry) for entry in others), ((said.place, what),), {CLIMB: SWEPT})


def structure_then(name: str, options: Mapping[str, Any]) -> str:
    """What the structure is called today that a measured row names, by the options that it had then."""
    return SWEPT if name == CLIMB and options.get(TOP) == "sah" else name


def _swept(settings: Settings) -> Settings:
    """The settings with hploc_sah where they have hploc, and with its changed options."""
    table: Mapping[str, Any] = settings.hierarchy
    if CLIMB in table:
        of_climb, built_in = table[CLIMB], type(table[CLIMB])()
        changed = {field.name: getattr(of_climb, field.name) for field in fields_of(of_climb)}
        changed = {name: value for name, value in changed.items() if value != getattr(built_in, name)}
        table = {**table, SWEPT: dataclasses.replace(settings.hierarchy_options(SWEPT), **changed)}
    render = settings.render if settings.render.hierarchy != CLIMB else dataclasses.replace(settings.render, hierarchy=SWEPT)
    return dataclasses.replace(settings, hierarchy=table, render=render)


def _swept_entry(entry: Entry) -> Entry:
    if entry.key == "render.hierarchy" and entry.value == CLIMB:
        return dataclasses.replace(entry, value=SWEPT)
    prefix = f"hierarchy.{CLIMB}."
    return dataclasses.replace(entry, key=f"hierarchy.{SWEPT}.{entry.key.removeprefix(prefix)}") if entry.key.startswith(prefix) else entry
