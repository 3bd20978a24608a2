"""Bars of the window that `bench opening`, `panels`, `first_use` and `reactions` measure, on two cores."""

from __future__ import annotations

from collections.abc import Callable

from .saved import Content, OfOthers

OPENING = {
    "atoms.xtc": 1.0,
    "waves.obj": 2.0,
    "waves.glb": 1.0,
    "waves.ply": 1.0,
    "country-kitchen.gltf": 8.0,
    "start to window": 1.5,
    "--help": 0.3,
}
PANELS = (
    ("panels, share of a frame at 60 a second", 0.05, ""),
    ("panels, share of a frame at 60 a second", 0.03, ", the window as a product"),
    ("paused, share of a core", 0.02, ""),
    ("paused, share of a core", 0.005, ", the window as a product"),
)
"""Figures of `bench panels`, their bars, and what tells a later bar of the same."""
REACTIONS = {
    "a structure whose kernels are cached drawn after the click": 50.0,
    "refining a still picture stopped by a drag": 50.0,
    "99 of 100 pauses of the window in the whole tour, both cores busy": 50.0,
    "longest pause of the window in the whole tour, both cores busy": 150.0,
}
"""Milliseconds."""


def _named(field: str, name: str) -> Callable[[Content], float | None]:
    def read(content: Content) -> float | None:
        return next((row[field] for row in content["results"] if row["what"] == name), None)

    return read


def _longest_pause(content: Content) -> float | None:
    pauses = (row["figure"] for row in content["results"] if row["what"].startswith("longest pause"))
    return max(pauses, default=None)


def _first_use(content: Content) -> float | None:
    """Of a run of all structures: of some alone it says nothing of the others."""
    if "--structures" in content["context"]["command"]:
        return None
    rows = content["results"]
    return next((row["seconds"] for row in rows if row["what"].startswith("first use, median")), None)


FIRST_USE: tuple[tuple[str, float, Callable[[Content], float | None]], ...] = (
    ("first picture after start, warm cache", 1.0, _named("seconds", "first picture")),
    ("welcome page after start, warm cache", 0.7, _named("seconds", "first page")),
    ("first picture after start, empty cache", 4.0, _named("seconds", "first picture, empty cache")),
    ("first use of a structure, median over all", 4.0, _first_use),
)


def _of(what: str, bar: float, unit: str, command: str, read: Callable[[Content], float | None]) -> OfOthers:
    """A bar of two cores; files of a command are called as it is, and its own arguments."""
    file = command.split()[0].replace("_", "-")
    return OfOthers("host", what, bar, unit, file, f"python -m raygrove.bench {command}", read)


WINDOW_GOALS = (
    *(
        _of(f"opening, {what}" if "." in what else what, bar, "s", "opening --kitchen FILE", _named("median_s", what))
        for what, bar in OPENING.items()
    ),
    *(_of(what + later, bar, "times", "panels", _named("figure", what)) for what, bar, later in PANELS),
    _of("longest pause of the window in all that was tried", 100.0, "ms", "panels", _longest_pause),
    *(_of(what, bar, "s", "first_use", read) for what, bar, read in FIRST_USE),
    *(_of(what, bar, "ms", "reactions", _named("ms", what)) for what, bar in REACTIONS.items()),
)
