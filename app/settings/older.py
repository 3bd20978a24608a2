"""Settings that older versions wrote, and what they are called today.

Files, pictures and command lines keep their words for years. What they say of an option that is gone is put into
today's words before it is used, and a sentence tells; saving writes today's words alone.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from raygrove.app.settings.settings import Settings
from raygrove.gpu.settings import fields_of

TOP, CLIMB, SWEPT = "hierarchy.hploc.top", "hploc", "hploc_sah"
"""hploc built what lies above its chunks in two ways; the one from above is a structure of its own today."""

RENAMED = (
    (r"render\.target", "render.device"),
    (r"target\.(\w+)", r"device.\1"),
    (r"ray_type\.(\w+)\.organisation", r"ray_type.\1.strategy"),
)
"""Keys as they were, and what they are today."""

RENAMED_VALUES = (
    (r"render\.device", {"host": "cpu"}),
    (r"ray_type\.\w+\.queue", {"as_they_come": "unsorted"}),
    (r"hierarchy\.sah_events\.boxes", {"together": "aos", "apart": "soa"}),
    (r"ray_type\.ids\.show", {"triangle": "primitive"}),
)
"""Today's keys, and values that they took by other names."""

GONE = {"tiles.warp_each": "splat shares the pixels of each sphere out by its size"}
"""Keys that are none today, and why nothing has to be said in their place."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """A setting as it is said: its dotted key, and the value or its text. `place`: what to name it by, where its key is
    another one today."""

    key: str
    value: Any
    place: Any


@dataclasses.dataclass(frozen=True)
class Renewed:
    """Entries in today's words, the settings that they change; a sentence, with the place, about each that had to be
    put otherwise; and what structures that were named beside them are called."""

    settings: Settings
    entries: tuple[Entry, ...]
    remarks: tuple[tuple[Any, str], ...] = ()
    structures: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Older:
    """What was said in words of older versions, gathered for whoever shows it: `sentences`, and structures by their
    names then, and now."""

    sentences: list[str] = dataclasses.field(default_factory=list)
    structures: dict[str, str] = dataclasses.field(default_factory=dict)


def renewed(settings: Settings, entries: Sequence[Entry]) -> Renewed:
    """What entries for `settings` say today. A value that the option never took stays, to be refused as any unknown key
    is."""
    entries, remarks = _in_todays_words(entries)
    found = _without_top(settings, entries)
    return dataclasses.replace(found, remarks=(*remarks, *found.remarks))


def was_option(key: str) -> bool:
    """Whether a dotted key was an option of an older version, and is none today."""
    return key == TOP or key in GONE or _key_today(key) != key


def _key_today(key: str) -> str:
    for old, new in RENAMED:
        if match := re.fullmatch(old, key):
            return match.expand(new)
    return key


def _in_todays_words(entries: Sequence[Entry]) -> tuple[list[Entry], list[tuple[Any, str]]]:
    found, remarks = [], []
    for entry in entries:
        if entry.key in GONE:
            remarks.append((entry.place, f"{entry.key} is no option any more: {GONE[entry.key]}."))
            continue
        key, value = _key_today(entry.key), entry.value
        for pattern, names in RENAMED_VALUES:
            if isinstance(value, str) and re.fullmatch(pattern, key):
                value = names.get(value, value)
        if (key, value) != (entry.key, entry.value):
            now = f"{key} = {value}" if value != entry.value else key
            remarks.append((entry.place, f"{entry.key} = {entry.value} is called {now} today."))
        found.append(dataclasses.replace(entry, key=key, value=value))
    return found, remarks


def _without_top(settings: Settings, entries: Sequence[Entry]) -> Renewed:
    said = next((entry for entry in reversed(entries) if entry.key == TOP), None)
    if said is None or said.value not in ("sah", "climb"):
        return Renewed(settings, tuple(entries))
    others = tuple(entry for entry in entries if entry.key != TOP)
    if said.value == "climb":
        return Renewed(
            settings, others, ((said.place, f"{TOP} is no option any more: what climb built is what {CLIMB} builds."),)
        )
    what = (
        f"{TOP} is no option any more: what sah built is the structure {SWEPT} now, which takes the place of "
        f"{CLIMB} and the options said for it."
    )
    return Renewed(
        _swept(settings), tuple(_swept_entry(entry) for entry in others), ((said.place, what),), {CLIMB: SWEPT}
    )


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
    render = (
        settings.render if settings.render.hierarchy != CLIMB else dataclasses.replace(settings.render, hierarchy=SWEPT)
    )
    return dataclasses.replace(settings, hierarchy=table, render=render)


def _swept_entry(entry: Entry) -> Entry:
    if entry.key == "render.hierarchy" and entry.value == CLIMB:
        return dataclasses.replace(entry, value=SWEPT)
    prefix = f"hierarchy.{CLIMB}."
    return (
        dataclasses.replace(entry, key=f"hierarchy.{SWEPT}.{entry.key.removeprefix(prefix)}")
        if entry.key.startswith(prefix)
        else entry
    )
