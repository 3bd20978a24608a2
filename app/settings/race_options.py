"""The race in the window: who takes part, and how the pictures stand."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from raygrove.gpu.configuration import apart, parse
from raygrove.gpu.settings import OptionError, option

CONTESTANTS = "race.contestants"
PAIR = "race.pair"
EDITED = "race.edited"
RACE = "race"
"""The workspace."""
LETTERS = "ABCDEFGH"
MOST = 4
"""Configurations that the window races at most; without it there may be more."""
UNSAID = "@rebuild"
"""The policy of a configuration that names none."""


@dataclasses.dataclass(frozen=True)
class RaceOptions:
    """Who races in the window (the workspace Race), and how the pictures stand."""

    contestants: str = option(
        "lbvh@refit, hploc@auto",
        "Up to four configurations with commas between them: "
        "builder[+optimiser][/layout[/traversal]][@policy], each name with :option=value.",
    )
    mode: str = option(
        "grid",
        "All pictures side by side; two of them with a line between that can be dragged; or how many steps more or "
        "less the rays of one take than those of the other.",
        choices=("grid", "split", "difference"),
    )
    pair: str = option("AB", "The letters of the two that split and difference show.")
    edited: str = option(
        "",
        "The letter of the one whose configuration the row above the pictures shows and changes; empty for none.",
    )
    lines: str = option(
        "total",
        "What each costs over the clip, drawn below the pictures: a frame in total, what its update takes, its rays, "
        "or nothing.",
        choices=("total", "update", "trace", "off"),
    )
    split: float = option(0.5, "Where the line of split stands, from the left.", minimum=0.0, maximum=1.0)


def contestants_of(options: RaceOptions) -> tuple[str, ...]:
    """The configurations that race."""
    return apart(options.contestants)


def raced_as(options: RaceOptions, configuration: str) -> str:
    """The chosen contestant that is this structure, by whichever policy; "" where none is. Layout and traversal that
    it does not say are the ones that it gets."""
    own = parse(configuration)
    for text in contestants_of(options) if options.contestants != RaceOptions().contestants else ():
        one = parse(text)
        is_it = (one.builder, one.optimiser) == (own.builder, own.optimiser)
        if is_it and one.layout in (None, own.layout) and one.traversal in (None, own.traversal):
            return text
    return ""


def joined(options: RaceOptions, texts: Sequence[str]) -> list[str]:
    """The configurations that race when these join. Who was there keeps the place, but for the two of a race that
    nobody chose; where there is no room for all, the first of them leave."""
    is_chosen = options.contestants != RaceOptions().contestants
    named = dict.fromkeys(configured_text(one).removesuffix(UNSAID) for one in texts)
    there = [one.removesuffix(UNSAID) for one in contestants_of(options)]
    others = [one for one in there if is_chosen and one not in named]
    leaving = others[: max(len(others) + len(named) - MOST, 0)]
    there = [one for one in there if (is_chosen or one in named) and one not in leaving]
    return there + [one for one in named if one not in there]


def pair_of(options: RaceOptions) -> tuple[int, int]:
    """The places of the two that are compared; the first two where the setting names one that does not race."""
    count = len(contestants_of(options))
    first, second = (ord(letter) - ord("A") for letter in options.pair)
    return (first, second) if max(first, second) < count else (0, min(1, count - 1))


def checked_contestants(text: str) -> str:
    """Configurations as settings keep them, each in its shortest spelling. Raises OptionError for what cannot be
    raced."""
    try:
        named = apart(text)
    except ValueError as error:
        raise OptionError(CONTESTANTS, text, f"{error}".partition(": ")[2]) from error
    if len(named) > MOST:
        raise OptionError(CONTESTANTS, text, f"up to {MOST} configurations; raygrove race takes more")
    return ", ".join(configured_text(one) for one in named)


def configured_text(text: str) -> str:
    """The shortest spelling of a configuration. Raises OptionError."""
    from raygrove.gpu.face.configured import configured  # with the first race, not with the program

    return configured(text).text


def checked_pair(text: str) -> str:
    """Two letters. Raises OptionError."""
    letters = text.upper()
    known = LETTERS[:MOST]
    if len(letters) != 2 or not set(letters) <= set(known) or letters[0] == letters[1]:
        raise OptionError(PAIR, text, f"two different letters of {known}, as AB")
    return letters


def checked_letter(text: str) -> str:
    """A letter, or none. Raises OptionError."""
    known = LETTERS[:MOST]
    if text and text.upper() not in tuple(known):
        raise OptionError(EDITED, text, f"a letter of {known}, or nothing")
    return text.upper()


def edited_place(options: RaceOptions) -> int:
    """The place of the one that is edited; -1 for none."""
    place = LETTERS.index(options.edited) if options.edited else -1
    return place if place < len(contestants_of(options)) else -1


CHECKS = {CONTESTANTS: checked_contestants, PAIR: checked_pair, EDITED: checked_letter}
"""What the types of options do not say, by their keys."""
