"""What goes with speed over all structures on a scene: a race in heats of as many as one holds, all over the same
frames, camera and rays, and the rank correlation of each figure of their trees with measured rays a second."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from ..engine import Engine
from ..errors import Error
from ..hierarchy.registry import structures
from ..scene import Scene
from ..target.base import Target
from .race import LETTERS, METRICS, Contestant, Correlation, Race, correlations_of, finite
from .racing import Course, Entry, run


@dataclasses.dataclass(frozen=True)
class Survey:
    """What was found: `contestants` by their configurations (which are their letters, too), fastest rays first;
    `left_out` those that could not be raced here, with the reason."""

    scene: str
    triangles: int
    frames: tuple[int, ...]
    rays_said: str
    device: str
    contestants: tuple[Contestant, ...]
    left_out: tuple[tuple[str, str], ...]

    @property
    def correlations(self) -> tuple[Correlation, ...]:
        """Of each metric that three structures or more have, the strongest first; outliers are configurations."""
        found = correlations_of(self.contestants)
        return tuple(sorted(found, key=lambda one: -abs(one.rho)))

    @property
    def mismatches(self) -> int:
        """Rays that found something else than those of the first structure of their heat."""
        return sum(one.proof.mismatches for one in self.contestants)

    def to_json(self) -> str:
        """All of it, and the correlations; numbers that are not finite are null."""
        plain: dict[str, Any] = dataclasses.asdict(self)
        plain["correlations"] = [dataclasses.asdict(one) for one in self.correlations]
        return json.dumps(finite({**plain, "mismatches": self.mismatches}), indent=2, default=str)

    def to_csv(self) -> str:
        """A line a structure; what one has not is empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = ("mrays_per_s", *METRICS)
        writer.writerow(["configuration", "layout", "update_ms", "trace_ms", *names])
        for one in self.contestants:
            figures = (getattr(one, name) for name in names)
            row = [one.configuration, one.layout, one.update_ms.median, one.trace_ms.median, *figures]
            writer.writerow(["" if value is None else value for value in row])
        return text.getvalue()

    def __str__(self) -> str:
        width = max((len(one.configuration) for one in self.contestants), default=0)
        lines = [f"{self.scene}, {self.triangles:,} triangles, {self.rays_said}, {self.device}", ""]
        lines += [
            f"{one.configuration:<{width}}  {one.mrays_per_s:9.2f} Mrays/s  SAH cost {_shown(one.sah_cost)}  "
            f"depth {_shown(one.depth)}  mean warp {_shown(one.mean_warp)}"
            for one in self.contestants
        ]
        lines += [f"{name}: left out, {why}" for name, why in self.left_out] + [""]
        for one in self.correlations:
            outliers = f"; outliers {', '.join(one.outliers)}" if one.outliers else ""
            lines.append(
                f"{METRICS[one.metric]}: {one.rho:+.2f} with rays a second, of {one.count} structures{outliers}"
            )
        return "\n".join(lines)


def every_structure() -> tuple[str, ...]:
    """The names of all structures but brute force, which has no tree."""
    return tuple(name for name, kind in structures().items() if kind.family != "brute_force")


def survey(
    target: Target,
    scene: Scene,
    entries: Sequence[Entry],
    course: Course,
    *,
    prepare: Callable[[Engine], None] = lambda engine: None,
    say: Callable[[str], None] = lambda sentence: None,
) -> Survey:
    """Race all in heats. Where one cannot be raced, those of its heat race one by one, and it
    is left out. Raises Error where none can be."""
    races: list[Race] = []
    left_out: list[tuple[str, str]] = []
    for first in range(0, len(entries), len(LETTERS)):
        heat = entries[first : first + len(LETTERS)]
        say(f"Heat {first // len(LETTERS) + 1}: {', '.join(one.configuration for one in heat)}.")
        try:
            races.append(run(target, scene, heat, course, prepare=prepare))
            continue
        except Error as error:
            say(f"One by one: {error}")
        for one in heat:
            try:
                races.append(run(target, scene, [one], course, prepare=prepare))
            except Error as error:
                left_out.append((one.configuration, str(error).rstrip(".")))
    if not races:
        raise Error("no structure can be raced here", "survey", left_out[0][1] if left_out else "name some")
    named = [dataclasses.replace(one, letter=one.configuration) for race in races for one in race.contestants]
    by_speed = tuple(sorted(named, key=lambda one: -one.mrays_per_s))
    race = races[0]
    return Survey(race.scene, race.triangles, race.frames, race.rays_said, race.device, by_speed, tuple(left_out))


def _shown(value: float | None) -> str:
    return f"{'-':>8}" if value is None else f"{value:8.4g}"
