"""What a sheet offers, as data: groups of members with a sentence each, rows of a few values, and other ways on.

Everything is chosen through the document, so that menus, palette and undo know of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from raygrove.app.ui.session.notices import Way


@dataclasses.dataclass(frozen=True)
class Offer:
    """One member: what settings call it, its title and a sentence. `refusal` says why it cannot be chosen now, "" where
    it can. `notes` stand at its right: what it costs, measured or predicted."""

    value: str
    title: str
    sentence: str = ""
    refusal: str = ""
    notes: tuple[str, ...] = ()

    @property
    def searched(self) -> str:
        """What typed letters are looked for in."""
        return f"{self.title} {self.value} {self.sentence}".lower()


@dataclasses.dataclass(frozen=True)
class Group:
    """Members that belong together, under a title and an icon."""

    title: str
    icon: str
    offers: tuple[Offer, ...]


@dataclasses.dataclass(frozen=True)
class Row:
    """A choice among a few values that stands below the members."""

    name: str
    title: str
    offers: Callable[[], Sequence[Offer]]
    current: Callable[[], str]
    choose: Callable[[str], object]


@dataclasses.dataclass(frozen=True)
class SheetContent:
    """A whole sheet. Where `is_tried`, arrow keys choose at once and Esc takes back; else Return or a click chooses, as
    what takes its time to open."""

    name: str
    title: str
    groups: Callable[[], Sequence[Group]] = lambda: ()
    current: Callable[[], str] = lambda: ""
    choose: Callable[[str], object] = lambda value: None
    rows: tuple[Row, ...] = ()
    ways: tuple[Way, ...] = ()
    is_tried: bool = True
