"""What goes with speed over all structures on a scene: a race in heats of as many as one holds, all over the same
frames and the same rays, of a camera or of a set, with all hits compared with those of one; and the rank correlation of
each figure of their trees with measured rays per second."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
from collections.abc import Callable, Collection, Sequence
from typing import Any

from ..brief import brief
from ..engine import Engine
from ..errors import Error
from ..hierarchy.registry import structures
from ..scene import Scene
from ..target.base import Target
from .race import LETTERS, METRICS, Contestant, Correlation, Race, correlations_of, few_sentence, finite, verdict_of
from .racing import Course, Entry, Say, oracle_of, run
from .ray_racing import run as race_rays
from .whole_file import whole_file
from .workload import Workload


@dataclasses.dataclass(frozen=True)
class Survey:
    """What `rg.correlate` found: `contestants` by their configurations (which are their letters, too), fastest rays
    first; `left_out` those that could not be raced here, with the reason. `against` is the one that all hits are
    compared with."""

    scene: str
    triangles: int
    frames: tuple[int, ...]
    rays_said: str
    device: str
    contestants: tuple[Contestant, ...]
    left_out: tuple[tuple[str, str], ...]
    against: str = ""
    repeat: int = 0

    @property
    def correlations(self) -> tuple[Correlation, ...]:
        """Of each metric that four structures or more have, the strongest first; outliers are configurations."""
        found = correlations_of(self.contestants)
        return tuple(sorted(found, key=lambda one: -abs(one.rho)))

    @property
    def mismatches(self) -> int:
        """Rays that found something else than those of `against`."""
        return sum(one.proof.mismatches for one in self.contestants)

    @property
    def verdict(self) -> str:
        """Whether the hits of all are equal, as a sentence."""
        return verdict_of(self.contestants, self.against)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of structures, of those that were left out, and of correlations of few."""
        said = (f"{one.configuration}: {one.note}" for one in self.contestants if one.note)
        absent = (f"{name}: left out, {why}." for name, why in self.left_out)
        few = few_sentence(len(self.contestants))
        return (*said, *absent, *((few,) if few else ()))

    def as_json(self) -> dict[str, Any]:
        """All of it, and the correlations, as plain values; numbers that are not finite are None."""
        plain: dict[str, Any] = dataclasses.asdict(self)
        plain["correlations"] = [dataclasses.asdict(one) for one in self.correlations]
        said = {"mismatches": self.mismatches, "verdict": self.verdict, "notes": self.notes}
        return dict(finite({**plain, **said}))

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """`as_json` as text, also written to `path` where there is one; so do the others. Files appear whole or not at
        all. Raises OSError where one cannot be written."""
        return _written(json.dumps(self.as_json(), indent=2) + "\n", path)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """A line a structure; what one has not is empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = ("mrays_per_s", *METRICS)
        writer.writerow(["configuration", "layout", "update_ms", "trace_ms", *names, "ties", "mismatches", "note"])
        for one in self.contestants:
            figures = (getattr(one, name) for name in names)
            row = [one.configuration, one.layout, one.update_ms.median, one.trace_ms.median, *figures,
                   one.proof.ties, one.proof.mismatches, one.note]  # fmt: skip
            writer.writerow(["" if value is None else value for value in row])
        return _written(text.getvalue(), path)

    def to_html(self, path: str | os.PathLike[str] | None = None, command: str = "") -> str:
        """The report: one page with a plot, the correlations and all figures, which loads nothing. `command` is the one
        that measures it again."""
        from .survey_page import page_of

        return _written(page_of(self, command), path)

    def __str__(self) -> str:
        width = max((len(one.configuration) for one in self.contestants), default=0)
        lines = [f"{self.scene}, {self.triangles:,} triangles, {self.rays_said}, {self.device}", ""]
        lines += [
            f"{one.configuration:<{width}}  {one.mrays_per_s:9.2f} Mrays/s  SAH cost {_shown(one.sah_cost)}  "
            f"depth {_shown(one.depth)}  mean warp {_shown(one.mean_warp)}"
            for one in self.contestants
        ]
        lines += [self.verdict, *self.notes, ""]
        for one in self.correlations:
            outliers = f"; outliers {', '.join(one.outliers)}" if one.outliers else ""
            chance = f", as far by chance in {brief(100.0 * one.p, 2)} % of orders"
            lines.append(
                f"{METRICS[one.metric]}: rank correlation {one.rho:+.2f} with rays per second, of {one.count} "
                f"structures{chance}{outliers}"
            )
        return "\n".join(lines).rstrip()


def every_structure() -> tuple[str, ...]:
    """The names of all structures but brute force, which has no tree."""
    return tuple(name for name, kind in structures().items() if kind.family != "brute_force")


def survey(
    target: Target,
    scene: Scene,
    entries: Sequence[Entry],
    course: Course,
    *,
    rays: Workload | None = None,
    hidden: Collection[int] = (),
    prepare: Callable[[Engine], None] = lambda engine: None,
    say: Say = lambda share, sentence: None,
) -> Survey:
    """Race all in heats, and compare the hits of all with those of brute force where it takes part, else of the first
    that could be raced. Where one cannot be, those of its heat race one by one, and it is left out. With `rays` these
    are traced in every frame in place of a camera's, without the objects that are `hidden`, and `prepare` is not used.
    Raises Error where none can be raced."""
    races: list[Race] = []
    left_out: list[tuple[str, str]] = []
    first = oracle_of([one.configuration for one in entries]) if entries else 0
    ordered = [*entries[first : first + 1], *entries[:first], *entries[first + 1 :]]
    against: Entry | None = None

    def raced(some: Sequence[Entry], first: int, title: str) -> Race:
        def told(share: float, sentence: str) -> None:
            say((first + share * len(some)) / len(ordered), f"{title}{sentence}")

        if rays is None:
            return run(target, scene, some, course, against=against, prepare=prepare, say=told)
        return race_rays(target, scene, some, course, rays, hidden=hidden, against=against, say=told)

    heats = -(-len(ordered) // len(LETTERS))
    for start in range(0, len(ordered), len(LETTERS)):
        heat = ordered[start : start + len(LETTERS)]
        title = f"Heat {start // len(LETTERS) + 1} of {heats}: " if heats > 1 else ""
        say(start / len(ordered), f"{title}{', '.join(one.configuration for one in heat)}.")
        try:
            races.append(raced(heat, start, title))
            against = against or heat[0]
            continue
        except Error as error:
            say(start / len(ordered), f"One by one: {error}")
        for place, one in enumerate(heat, start):
            try:
                races.append(raced([one], place, f"{one.configuration}: "))
                against = against or one
            except Error as error:
                left_out.append((one.configuration, str(error).rstrip(".")))
    if against is None:
        raise Error("no structure can be raced here", "survey", left_out[0][1] if left_out else "name some")
    named = [dataclasses.replace(one, letter=one.configuration) for race in races for one in race.contestants]
    by_speed = tuple(sorted(named, key=lambda one: -one.mrays_per_s))
    race = races[0]
    about = (race.scene, race.triangles, race.frames, race.rays_said, race.device)
    return Survey(*about, by_speed, tuple(left_out), against.configuration, course.repeat)


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        with whole_file(path) as file:
            file.write(text.encode())
    return text


def _shown(value: float | None) -> str:
    return f"{'-':>8}" if value is None else f"{value:8.4g}"
