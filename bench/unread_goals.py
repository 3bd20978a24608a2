"""Bars that are promised, and of which nothing is read from a saved file: each with the command that shows it, where
there is one, or the reason why there is none."""

from __future__ import annotations

from .goal import Goal

Rows = tuple[tuple[str, float, str, bool, str], ...]
"""What, the bar, its unit, whether it is the most, and the command, where there is one that tells but does not save."""

NOT_SAVED = "no command saves it yet"

TESTS: Rows = (
    ("all tests with an empty cache, two quiet cores", 480.0, "s", True, "make test"),
    ("all tests with a warm cache, two quiet cores", 180.0, "s", True, "make test"),
    ("tests of the inner loop", 60.0, "s", True, "make quick"),
)


def _unread(rows: Rows, note: str) -> tuple[Goal, ...]:
    return tuple(Goal(what, bar, None, unit, at_most, note, command) for what, bar, unit, at_most, command in rows)


UNREAD = {
    "cuda": (),
    "host": _unread(TESTS, NOT_SAVED),
}
"""By the kind of target."""
