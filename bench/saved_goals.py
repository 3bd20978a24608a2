"""Bars that other commands measure, because they need a window, a display or minutes: each is read from the newest file
saved of its command."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence

from .build_tables import build_goals
from .goal import Goal
from .laboratory_goals import LABORATORY
from .model_bars import PATHS
from .octree_goals import OCTREES
from .particle_goals import PARTICLES
from .policy_bars import POLICIES
from .ray_goals import ray_goals
from .ray_tables import nothing_of
from .reliability_goals import RELIABILITY
from .saved import DEVICES, RESULTS, Content, OfOthers, SavedResult, newest_policy, saved
from .store_goals import SWEEPS
from .unread_goals import UNREAD
from .window_goals import WINDOW_GOALS


def _first(values: Iterable[float]) -> float | None:
    return next(iter(values), None)


def _alone(*names: str) -> Callable[[Content], float | None]:
    """The median of a figure, or of the sum of some, in the runs of the window that shows `orbit` and nothing beside
    it."""

    def read(content: Content) -> float | None:
        return _median([sum(run[name] for name in names) for run in _window_runs(content, alone=True)])

    return read


def _docked(content: Content) -> float | None:
    return _median(window_rates(content, alone=False))


def _of_goals(what: str) -> Callable[[Content], float | None]:
    """The figure of a goal in a run of all of them: another bar of the same."""

    def read(content: Content) -> float | None:
        return _first(goal["measured"] for goal in content["goals"] if goal["what"] == what)

    return read


def window_rates(content: Content, alone: bool) -> list[float]:
    """Frames per second of `orbit` in the window as the program opens it, alone or with its docks: one per run."""
    return [run["frames_per_second"] for run in _window_runs(content, alone)]


def _window_runs(content: Content, alone: bool) -> list[Content]:
    """Runs whose command names the scene and chooses nothing else. The first saved file has no commands."""
    return [
        run
        for run in content["runs"]
        if re.search(r"--demo orbit\b", run.get("command", ""))
        and "--set" not in run["command"]
        and ("--alone" in run["command"]) == alone
        and run["drawn"] == [1024, 768]
    ]


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _light(hierarchy: str) -> Callable[[Content], float | None]:
    """Billions of ambient-occlusion rays of 5 % a second, by one structure or the best."""

    def read(content: Content) -> float | None:
        rows = [row for row in content["results"] if row["rays"] == "ao 5 %" and row["scene"].startswith("sponza")]
        return max((row["mrays_per_s"] / 1e3 for row in rows if hierarchy in ("", row["hierarchy"])), default=None)

    return read


def _recursive(hierarchy: str, triangles: int) -> Callable[[Content], float | None]:
    """Frames of recursive rays per second: the case with a goal."""

    def read(content: Content) -> float | None:
        rows = [
            row
            for row in content["results"]
            if row["hierarchy"] == hierarchy and row["goal"] and row["triangles"] // 1000 == triangles
        ]
        return _first(row["frames_per_s"] for row in rows)

    return read


def _noise(scene: str, field: str) -> Callable[[Content], float | None]:
    """The least of what is measured in linear light and as shown."""

    def read(content: Content) -> float | None:
        return min(
            (row[field] for row in content["errors"] if row["scene"] == scene and row[field] is not None), default=None
        )

    return read


def _named(field: str, name: str) -> Callable[[Content], float | None]:
    def read(content: Content) -> float | None:
        return _first(row[field] for row in content["results"] if row["what"] == name)

    return read


WINDOW = "python -m raygrove.bench window --demo orbit --size 1024x768 --frames 900 --view gl --device cuda --alone"
LIGHT = "python -m raygrove.bench light sponza.obj --size 1920x1080"
NOISE = "python -m raygrove.bench noise sponza.obj"
RECURSIVE = "python -m raygrove.bench recursive"
RAYS = ("rays", "python -m raygrove.bench rays FILE ...")
BUILDS = ("builds", "python -m raygrove.bench builds FILE ...")

OTHERS = (
    OfOthers(
        "cuda",
        "orbit alone in the window, 1024x768, under a virtual X server",
        300.0,
        "frames/s",
        "window",
        WINDOW,
        _alone("frames_per_second"),
        False,
    ),
    OfOthers(
        "cuda",
        "orbit in the window with its docks, 1024x768, under a virtual X server",
        300.0,
        "frames/s",
        "window",
        WINDOW.replace(" --alone", ""),
        _docked,
        False,
    ),
    OfOthers(
        "cuda",
        f"{PATHS}, ahead of peers",
        100.0,
        "frames/s",
        "goals",
        "python -m raygrove.bench goals sponza.obj",
        _of_goals(PATHS),
        False,
    ),
    OfOthers(
        "cuda",
        "render thread and painting, orbit alone in the window",
        2.0,
        "ms",
        "window",
        WINDOW,
        _alone("render_thread_ms", "paint_ms"),
    ),
    OfOthers(
        "cuda", "ao rays of 5 %, Crytek Sponza, 1920x1080, lbvh", 0.75, "GRays/s", "light", LIGHT, _light("lbvh"), False
    ),
    OfOthers(
        "cuda",
        "ao rays of 5 %, Crytek Sponza, 1920x1080, the best structure",
        1.2,
        "GRays/s",
        "light",
        LIGHT,
        _light(""),
        False,
    ),
    OfOthers(
        "cuda",
        "orbit by recursive rays, rebuilt, 1024x768, lbvh",
        300.0,
        "frames/s",
        "recursive",
        RECURSIVE,
        _recursive("lbvh", 100),
        False,
    ),
    OfOthers(
        "cuda",
        "orbit by recursive rays, rebuilt, 1024x768, sah_events",
        100.0,
        "frames/s",
        "recursive",
        RECURSIVE,
        _recursive("sah_events", 100),
        False,
    ),
    OfOthers(
        "cuda",
        "orbit of 335,000 triangles by recursive rays, rebuilt, 1024x1024, median_sah (Chang's frame)",
        100.0,
        "frames/s",
        "recursive",
        RECURSIVE,
        _recursive("median_sah", 335),
        False,
    ),
    OfOthers(
        "cuda",
        "filter of paths, 1920x1080",
        2.0,
        "ms",
        "textured-noise",
        NOISE,
        lambda content: max(row["filter_ms"] for row in content["times"]),
    ),
    OfOthers(
        "cuda",
        "squared error less by the filter at once, Crytek Sponza",
        10.0,
        "times",
        "noise",
        NOISE,
        _noise("sponza", "less_at_once"),
        False,
    ),
    OfOthers(
        "cuda",
        "squared error less by the filter, orbit that moves",
        10.0,
        "times",
        "room-noise",
        "python -m raygrove.bench noise",
        _noise("orbit", "less"),
        False,
    ),
    OfOthers(
        "host",
        "orbit by recursive rays, rebuilt, 512x384, lbvh",
        15.0,
        "frames/s",
        "recursive",
        RECURSIVE,
        _recursive("lbvh", 100),
        False,
    ),
    OfOthers(
        "host",
        "first picture of ao, orbit, 512x384",
        60.0,
        "ms",
        "light",
        "python -m raygrove.bench light --size 512x384",
        lambda content: _median(content["first_picture"]["ms"]),
    ),
    *WINDOW_GOALS,
    OfOthers(
        "host",
        "an import in its sandbox over one without, beyond 20 ms",
        1.05,
        "times",
        "sandbox",
        "python -m raygrove.bench sandbox",
        lambda content: max(row["figure"] for row in content["results"]),
    ),
)
MOST_AUTO = 1.05
"""Of the better of always rebuilding and always refitting."""
POLICY_SCENES = ("explode", "walker", "cloth", "0001.obj and 47 more")
"""As the table names them; the last is the horse's gallop."""


def _newest_figure(
    files: Sequence[SavedResult], read: Callable[[Content], float | None]
) -> tuple[SavedResult | None, float | None]:
    """The newest of these files, newest first, that has the figure: a run may measure some parts alone. The newest of
    all and None where none has it."""
    for file in files:
        figure = read(file.content)
        if figure is not None:
            return file, figure
    return next(iter(files), None), None


def saved_goals(kind: str, folder: pathlib.Path = RESULTS) -> Iterator[Goal]:
    """Every such bar of a kind of target, with the newest figure or the sentence what is missing."""
    for one in (*OTHERS, *PARTICLES, *OCTREES, *LABORATORY, *POLICIES, *RELIABILITY, *SWEEPS):
        if one.kind == kind:
            file, figure = _newest_figure(saved(DEVICES[kind], one.file, folder), one.read)
            yield _goal(one.what, one.bar, one.unit, one.at_most, file, one.command, figure)
    for what, command, read in ((*RAYS, ray_goals), (*BUILDS, build_goals)):
        yield from _goals_of_runs(saved(DEVICES[kind], what, folder), command, read, nothing_of(kind))
    if kind == "cuda":
        table = newest_policy(DEVICES[kind], folder)
        for scene in POLICY_SCENES:
            ratio = None if table is None else table.content["ratios"].get(scene)
            what = f"auto over the better of rebuild and refit, {scene.replace('0001.obj and 47 more', 'horse-gallop')}"
            yield _goal(what, MOST_AUTO, "times", True, table, "python -m raygrove.bench policy", ratio)
    yield from UNREAD[kind]


def _goals_of_runs(
    files: Sequence[SavedResult], command: str, read: Callable[[Content], Iterable[Goal]], nothing: Content
) -> Iterator[Goal]:
    """The goals that `read` judges by a whole run, each by the newest of these files, newest first, that measured it: a
    run may leave out a scene."""
    if not files:
        for goal in read(nothing):
            yield dataclasses.replace(goal, how=command, note="no file of it is saved")
        return
    runs = [(file, {goal.what: goal for goal in read(file.content)}) for file in files]
    for what in runs[0][1]:
        measured = [(file, goals[what]) for file, goals in runs if what in goals and goals[what].measured is not None]
        file, goal = measured[0] if measured else (runs[0][0], runs[0][1][what])
        yield dataclasses.replace(goal, how=f"{command}: {file.place}")


def _goal(
    what: str, bar: float, unit: str, at_most: bool, file: SavedResult | None, command: str, figure: float | None
) -> Goal:
    note = "" if figure is not None else "no file of it is saved" if file is None else f"{file.name} has no such figure"
    return Goal(what, bar, figure, unit, at_most, note, command if file is None else f"{command}: {file.place}")
