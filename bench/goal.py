"""A promise and what was measured of it, and a run's report of all of them."""

from __future__ import annotations

import dataclasses
from typing import Any

from .rows import Row
from .table import aligned, build_table, frame_table, trace_table

WORDS = {True: "reached", False: "MISSED", None: "not measured"}
HERE = "this run"


@dataclasses.dataclass(frozen=True)
class Goal:
    """One promise: what, the bar, the figure measured (None: not measured, `note` says why). `at_most` or else at
    least. `how` it was measured: in the run of `bench goals` itself, or by another command, in the file saved of that.
    A withdrawn bar is no promise any more; `why` says why it is missed or withdrawn, as far as that is known."""

    what: str
    bar: float
    measured: float | None
    unit: str
    at_most: bool = True
    note: str = ""
    how: str = HERE
    is_withdrawn: bool = False

    @property
    def is_reached(self) -> bool | None:
        """Whether the bar was met; None where there is no figure, and where it is withdrawn."""
        if self.measured is None or self.is_withdrawn:
            return None
        return self.measured <= self.bar if self.at_most else self.measured >= self.bar

    @property
    def state(self) -> str:
        """Reached, MISSED, not measured or withdrawn."""
        return "withdrawn" if self.is_withdrawn else WORDS[self.is_reached]

    @property
    def why(self) -> str:
        """Why it is missed or withdrawn; empty where it is neither."""
        if self.is_reached is not False and not self.is_withdrawn:
            return ""
        return next((sentence for what, sentence in WHY.items() if what in self.what), "not known")

    @property
    def words(self) -> str:
        """The bar as it is written."""
        return ("<= " if self.at_most else ">= ") + f"{self.bar:g}"

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**dataclasses.asdict(self), "is_reached": self.is_reached, "why": self.why}


WHY = {
    "kernels of that graph": (
        "14 on 2026-11-22 with NVIDIA's sort, which is not installed on the machine of 2026-11-24; 15 there with "
        "Raygrove's own"
    ),
    "collapse to cwbvh over the bvh2 of lbvh, 12,800,000": (
        "0.53 on 2026-11-27, when lbvh took 2.14 ms: it takes 1.75 since its climb goes in rounds, and collapsing 1.13 "
        "as before"
    ),
    "host work of that graph": (
        "0.009 on 2026-11-22; 0.011 to 0.022 on 2026-11-24 on another host, and 0.021 to 0.061 an hour later on a "
        "third; what these hosts differ in is not known"
    ),
    "LBVH rebuild, 512,000": (
        "launched one by one: the host takes longer than the device; 0.183 on 2026-11-22 on a quieter host with "
        "NVIDIA's sort"
    ),
    "live, launched one by one": (
        "the host takes longer to issue the launches than the device to run them, and hosts differ by half and more "
        "(8.9, 5.7 and 3.7 ms for the primitives of median_sah on three days); 2.9 where frames are replayed, as they "
        "are in the window"
    ),
    "orbit, 1024x768: host work": (
        "0.36 on a slow host, 0.02 in a run twenty minutes before on another; 0.03 and 0.29 on two others: what these "
        "hosts differ in is not known"
    ),
    "first picture after start, warm cache": "the same imports, the engine's, the scene and loading its kernels",
    "first picture after start, empty cache": "a dozen units are compiled, two at a time, after the same imports",
    "over Embree's best, the worst scene": (
        "ahead in 41 of 44 cases of views and rays; behind for camera rays in the second kitchen, shadow rays inside "
        "Crytek's Sponza and diffuse rays inside the room, by 4 to 6 % (docs/performance/rays.md)"
    ),
    "over Embree's medium tree, the worst scene": "its tree costs less SAH (docs/performance/rays.md)",
    "primary rays of": (
        "in the kitchen a ray passes 233 cells of the grid and 73 of two levels, of lbvh's nodes 19; skipping empty "
        "cells was slower elsewhere, and long lists, which a warp tests together, take little now "
        "(docs/performance/octrees.md)"
    ),
    "race of 4": (
        "measured before references were sorted without branches that are chance: 125 CPU ms a frame since, not 149 "
        "(docs/performance/kd-trees.md)"
    ),
    "lbvh rebuild, blob of 512,000": (
        "0.184 before the climb went in rounds; it takes 0.080 and the sort 0.055 (docs/performance/refit-and-lbvh.md)"
    ),
    "lbvh rebuild, blob of 12.8M": (
        "2.14 before the climb went in rounds; it takes 1.06 and the sort 0.54 (docs/performance/refit-and-lbvh.md)"
    ),
    "NexusBVH's rebuild over hploc's": (
        "1.25 with 49 Sponzas, 1.37 in one; merges, two thirds of a build, are bound by instructions at 30 % of the "
        "warps (docs/performance/clusters.md); no change of them was tried since"
    ),
    "lbvh refit": (
        "half of it is memory, the rest waits at barriers and for L2; nodes of 16 bytes less made it 5 to 10 % longer "
        "(docs/performance/refit-and-lbvh.md)"
    ),
    "sbvh rebuild": "55.9 before large sets were split by many blocks (docs/performance/from-the-top.md)",
    "hploc's rebuild as a wide tree": "collapsing is a pass of its own, not fused with the climb",
    "memory of sah_events": "513 while room that was too small doubled (docs/performance/kd-trees.md)",
    "over NexusBVH's": "in Crytek Sponza from within; docs/performance/rays.md says what was tried",
    "over those of": (
        "in the kitchen at 1024x768, whose longest warps are what is waited for; 1.09 at 1920x1080 "
        "(docs/performance/rays.md)"
    ),
    "the best tree built in 10 ms": (
        "diffuse rays above 49 Sponzas, beside cuBQL, and in Crytek Sponza; docs/performance/rays.md says what was "
        "tried"
    ),
    "primary rays at blob of 12.8M": (
        "they wait for memory; a node by three loads instead of four gave 2 %, nodes 48 bytes apart 4 % "
        "(docs/performance/rays.md)"
    ),
    "diffuse rays in Crytek Sponza": (
        "L1 gives what it can; three loads a node instead of four gave 4 %, nodes 48 bytes apart 7; rays are not "
        "sorted (docs/performance/rays.md)"
    ),
    "'s rays over binned_sah's": (
        "diffuse and shadow rays; those in the room to its light pass 28.6 nodes and 3.7 tests of sah_events and 10.2 "
        "and 0.4 of binned_sah; "
        "leaves of 1 to 16 changed it by 1 to 15 %, a node or a primitive a step by - 10 to + 15 %; two levels in a "
        "fetch come to 0.55 by count, and were not built (docs/performance/kd-trees.md)"
    ),
    "hlbvh_sah over hlbvh_median": (
        "0.60 is the thesis' 269 over 484; our medians cost 1.7 times less than its at like weights, and the best "
        "tree of whole triangles that is "
        "known here is at 0.61 of them (docs/performance/work-queues.md)"
    ),
    "orbit in the window with its docks": (
        "a frame takes the render thread 1.8 ms and the window's own 0.3; the virtual X server copies the whole window "
        "each frame, and its host was slower than that of 2026-11-22, which had 164 (docs/performance/window.md)"
    ),
    "orbit alone in the window": (
        "the virtual X server copies the window each frame, 5.7 ms of them: the render thread took 1.5 and painting "
        "0.2, the device 0.52; 276 on another host on 2026-11-22 (docs/performance/window.md)"
    ),
    "diffuse rays through hploc over those through hploc_sah, dragon": (
        "0.959 and 0.935 in two runs of 2026-11-22: hploc's rays stayed at 1.04 GRays/s, hploc_sah's went from 1.08 to "
        "1.12, each within 2 % in its run; its tree costs 2.5 % less SAH there, and why the runs differ was not "
        "examined"
    ),
    "SAH cost of hlbvh_sah over binned_sah, dragon": (
        "1.113 with clusters of 18 bits, as on a GPU; on a CPU they take longer than rays gain "
        "(docs/performance/work-queues.md)"
    ),
    "SAH cost of hploc_sah over binned_sah": (
        "a thing of smooth meshes: spans, groups and radii of other sizes brought nothing "
        "(docs/performance/clusters.md)"
    ),
    "rays through hploc,": (
        "the bar is another program's H-PLOC on the same view; a node by three loads instead of four gave 8 % since "
        "(docs/performance/rays.md)"
    ),
    "SAH cost of hploc over binned_sah": "the published climb pairs neighbours along the curve alone "
    "(docs/performance/clusters.md)",
}
"""Why bars are missed or withdrawn, by a part of what they are of."""


@dataclasses.dataclass
class Report:
    """All goals and rows of a run."""

    goals: list[Goal] = dataclasses.field(default_factory=list)
    builds: list[Row] = dataclasses.field(default_factory=list)
    traces: list[Row] = dataclasses.field(default_factory=list)
    frames: list[Row] = dataclasses.field(default_factory=list)

    def text(self) -> str:
        """The tables for people: goals first, then what is missed or withdrawn, and why."""
        lines = [(g.what, g.words, g.measured, g.unit, g.state, g.note, g.how) for g in self.goals]
        parts = [aligned(("goal", "bar", "measured", "unit", "", "note", "measured by"), lines)]
        whys = [f"{goal.what}: {goal.state}: {goal.why}." for goal in self.goals if goal.why]
        parts += ["\n".join(whys)] if whys else []
        tables = ((build_table, self.builds), (trace_table, self.traces), (frame_table, self.frames))
        return "\n\n".join(parts + [table(rows) for table, rows in tables if rows])

    def as_json(self, about: dict[str, Any]) -> dict[str, Any]:
        """`context` and `results` as `bench --json` has them, and `goals`."""
        rows = (*self.builds, *self.traces, *self.frames)
        return {
            "context": about,
            "goals": [goal.as_json() for goal in self.goals],
            "results": [row.as_json() for row in rows],
        }
