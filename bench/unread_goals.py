"""Bars that are promised, and of which nothing is read from a saved file: each with the command that shows it, where
there is one."""

from __future__ import annotations

from .goal import Goal

NOT_SAVED = "no command saves it yet"
OCTREES_ON_GPUS: tuple[tuple[str, float, str, bool, str], ...] = (
    ("a bounce of radiosity, 150K points, what is seen known", 15.0, "ms", True, ""),
    ("a bounce of radiosity, 150K points, what is seen found", 40.0, "ms", True, ""),
)
UNREAD = {
    kind: tuple(Goal(what, bar, None, unit, at_most, NOT_SAVED, command) for what, bar, unit, at_most, command in rows)
    for kind, rows in (("cuda", OCTREES_ON_GPUS), ("host", ()))
}
"""By the kind of target."""
