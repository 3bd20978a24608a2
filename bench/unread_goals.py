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
RELIABILITY: Rows = (
    ("100,000 meshes, channels, clips or instances opened", 5.0, "s", True, "python -m raygrove.bench many"),
    ("planted faults that tests find", 0.95, "share", False, "python -m raygrove.bench mutants"),
    ("crashes, hangs and wrong outcomes in 6,000 damaged files", 0.0, "files", True, ""),
    ("memory after an hour's soak over that after a minute", 1.02, "times", True, ""),
    ("memory that a hostile file takes beyond its honest reading", 1.0, "GiB", True, ""),
)
HOST_SWEEPS: Rows = (("results lost or wrong after 50 kills", 0.0, "results", True, "python -m tests.campaign.kills"),)


def _unread(rows: Rows, note: str) -> tuple[Goal, ...]:
    return tuple(Goal(what, bar, None, unit, at_most, note, command) for what, bar, unit, at_most, command in rows)


UNREAD = {
    "cuda": (),
    "host": (
        *_unread(TESTS, NOT_SAVED),
        *_unread(RELIABILITY, NOT_SAVED),
        *_unread(HOST_SWEEPS, NOT_SAVED),
    ),
}
"""By the kind of target."""
