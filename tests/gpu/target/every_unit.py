"""Every unit of the project, found by running it, or by what is kept of that (kept_jobs.py), and which of them are
compiled for which NVIDIA architecture.

Units of one kernel file and one set of headers, a traversal through one layout say, are alike: one of them is compiled
for one architecture, and architectures take turns; what builds trees is compiled for the most kinds of primitives that
it is used with. Whose turn it is, a kernel file and its headers say, so that a new unit changes no other one's.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import zlib
from collections.abc import Callable, Iterable

from raygrove.gpu.hierarchy.primitives import KINDS
from raygrove.gpu.target.base import Target, UnitSource
from raygrove.gpu.target.nvrtc import ARCHITECTURES
from tests.gpu.sanitizers import kept_jobs
from tests.gpu.sanitizers.frames import draw_spheres, pictures, run_frames
from tests.gpu.sanitizers.kept_jobs import Followed, Launched, Outcome, read, to_run, today
from tests.gpu.sanitizers.queries import run_region_queries
from tests.gpu.sanitizers.scenario import everything, name_of

from .every_kernel import tracing
from .recording import RecordingTarget

Job = tuple[UnitSource, int]
"""A unit and the architecture that it is compiled for."""

USE = "units"
"""What these jobs are kept under (kept_jobs.py)."""

PLACES = {
    header: place
    for place, kind in enumerate(KINDS.values())
    for header in (kind.header, kind.query_header, kind.clip_header, *(header for header, _ in kind.tests))
}
"""What a unit includes of each kind of primitives, in their order: the later ones are those before and more."""


@functools.cache
def jobs() -> dict[str, tuple[Callable[[Target], None], bool]]:
    """What is run to find them, by its name, and whether it is run dry: what only launches (frames, traversals) does so
    without running, as its units are the same and are not compiled for the host then."""
    dry: list[Callable[[Target], None]] = [*tracing()]
    dry += [functools.partial(draw_spheres, names=("flat",), glyphs=glyphs) for glyphs in (False, True)]
    dry += [functools.partial(run_frames, **chosen, is_dry=True) for chosen in pictures() + pictures("units")]
    found: dict[str, tuple[Callable[[Target], None], bool]] = {}
    found |= {name_of(job): (job, False) for job in everything("units")}
    return found | {f"dry {name_of(job)}": (job, True) for job in dry}


def outcomes(names: Iterable[str], is_followed: bool = False) -> dict[str, Outcome]:
    """Run some of them, and what each came to; what they read where they are `is_followed`, which takes them twice as
    long."""
    targets, found = (RecordingTarget(), RecordingTarget(is_dry=True)), {}
    every = jobs()
    for name in names:
        job, is_dry = every[name]
        target = targets[is_dry]
        target.launched = {}
        with Followed() if is_followed else contextlib.nullcontext() as read_by:
            job(target)
        found[name] = Outcome(target.launched, read_by.files if read_by else ())
    for target in targets:
        target.close()
    return found


@functools.cache
def valid() -> dict[str, Outcome]:
    """What is kept of these jobs and still counts."""
    return {name: outcome for name, (_, outcome) in read().valid(USE, USE).items() if name in jobs()}


@functools.cache
def found_anew() -> dict[str, Outcome]:
    """The jobs of which nothing is kept, and some by turns, run."""
    return outcomes(to_run(jobs(), read().valid(USE, USE), today()))


def keep() -> None:
    """Run the jobs of which nothing is kept, and keep what they came to."""
    new = [name for name in jobs() if name not in valid()]
    edited = kept_jobs.keep(USE, USE, jobs(), outcomes(new, is_followed=True))
    valid.cache_clear()
    print(f"{len(jobs()) - len(edited)} jobs are kept, {len(new) - len(edited)} of them run anew.")


def launched() -> Launched:
    """Every unit that the project uses."""
    every: Launched = {}
    for outcome in (valid() | found_anew()).values():
        every = together(every, outcome.launched)
    return every


def with_every_query(found: Launched) -> Launched:
    """Those, and every query of every visit, of each kind of primitives."""
    target = RecordingTarget()
    run_region_queries(target, "all")
    target.close()
    return together(found, target.launched)


def together(one: Launched, other: Launched) -> Launched:
    """The units of both, and what ran of each in either."""
    return {unit: one.get(unit, set()) | other.get(unit, set()) for unit in one | other}


def alike(units: Iterable[UnitSource]) -> list[list[UnitSource]]:
    """Units of one kernel file and one set of headers: a traversal through one layout, say."""
    found: dict[tuple[str, tuple[str, ...]], list[UnitSource]] = collections.defaultdict(list)
    for unit in units:
        found[unit.path, unit.headers].append(unit)
    return list(found.values())


def of_most_kinds(units: Iterable[UnitSource]) -> list[list[UnitSource]]:
    """Those, but of the units that build over different kinds of primitives only those over the most of them: they take
    the most registers."""
    found: dict[tuple[str, tuple[str, ...]], dict[int, list[UnitSource]]] = {}
    for members in alike(units):
        path, headers = members[0].path, members[0].headers
        builds = path.startswith("gpu/hierarchy/")
        others = tuple(header for header in headers if not builds or header not in PLACES)
        kinds = max((PLACES.get(header, 0) for header in headers), default=0)
        found.setdefault((path, others), {}).setdefault(kinds if builds else 0, []).extend(members)
    return [by_kinds[max(by_kinds)] for by_kinds in found.values()]


def words(unit: UnitSource) -> set[str]:
    """What a unit is made of: files, and types by name."""
    return {unit.path, *unit.headers, *(name for _, name in unit.aliases)}


def turn_of(unit: UnitSource) -> int:
    """A number that stays while a unit's kernel file and headers are called what they are."""
    return zlib.crc32("\0".join((unit.path, *unit.headers)).encode())


def usual_jobs(units: Iterable[UnitSource]) -> list[Job]:
    """One unit of those that are alike (`of_most_kinds`) for one architecture; and whatever is made of something that
    none of these has."""
    groups = of_most_kinds(sorted(units, key=repr))
    chosen = [members[turn_of(members[0]) % len(members)] for members in groups]
    met = {word for unit in chosen for word in words(unit)}
    for unit in sorted(units, key=repr):
        if not words(unit) <= met:
            chosen.append(unit)
            met |= words(unit)
    return [(unit, ARCHITECTURES[turn_of(unit) // 7 % len(ARCHITECTURES)]) for unit in chosen]


def all_jobs(units: Iterable[UnitSource]) -> list[Job]:
    """The architectures of each unit. Units that are alike share them out: one or two have all three among them, many
    have one each, and the next begin with another one."""
    return [
        (members[place % len(members)], ARCHITECTURES[(place + turn) % len(ARCHITECTURES)])
        for turn, members in enumerate(alike(units))
        for place in range(max(len(members), len(ARCHITECTURES)))
    ]
