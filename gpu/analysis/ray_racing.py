"""Races over given rays in place of a camera's: each structure follows the clip by its policy and traces the same rays
in every frame. Turns, passes and what is counted are those of races of pictures (racing.py)."""

from __future__ import annotations

import contextlib
import dataclasses
import statistics
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..hierarchy.registry import structure
from ..scene import Moment, Scene
from ..stats import HierarchyStatistics
from ..target.base import Target
from ..update.history import UpdateHistory
from ..update.options import UpdateOptions
from ..update.registry import policy
from ..view import ViewSettings
from .hit_proof import HitProof, compared
from .intervals import measured
from .race import LETTERS, Contestant, Race, judged
from .racing import WARM_FRAMES, Course, Entry, check, turns
from .rig import Rays, Rig

SAID = "rays of a set"
"""What stands for the ray type."""


@dataclasses.dataclass(frozen=True)
class _Frame:
    """What one contestant did in a frame, in milliseconds."""

    update: str
    update_ms: float
    trace_ms: float


class _Lane:
    """One configuration, and how it follows what moves."""

    def __init__(self, target: Target, scene: Scene, settings: ViewSettings, rays: Rays) -> None:
        self._policy = policy(settings.update.mode)
        self._options: UpdateOptions = dataclasses.replace(settings.update, always=True)
        known = structure(settings.hierarchy).optimisers()
        choice = self._policy.fitted(settings.structure_choice, known)
        self.rig = Rig(target, scene, settings.hierarchy, choice, rays)
        self._history = UpdateHistory()

    def play(self, moment: Moment) -> _Frame:
        """One frame; waits."""
        rig, history = self.rig, self._history
        rig.show(moment)
        primitives = rig.surface.primitives
        decision = self._policy.decide(history, rig.hierarchy, primitives, self._options)
        if decision.update == "refit":
            rig.hierarchy.check_refit(primitives)
        update_ms = rig.build() if decision.update == "rebuild" else rig.refit()
        history.note(decision, primitives)
        ticket = history.ticket
        trace_ms = rig.trace()
        history.learn(ticket, update_ms, trace_ms, len(rig.rays))
        if self._policy.needs_times and history.take_measurement_turn():
            rig.hierarchy.measure()
        return _Frame(decision.update, update_ms, trace_ms)

    def statistics(self) -> HierarchyStatistics:
        """Of the tree as it is."""
        hierarchy = self.rig.hierarchy
        hierarchy.measure()
        hierarchy.measure_quality()
        self.rig.target.synchronize()
        return hierarchy.stats()


def run(
    target: Target,
    scene: Scene,
    entries: Sequence[Entry],
    course: Course,
    rays: Rays,
    *,
    say: Callable[[str], None] = lambda sentence: None,
) -> Race:
    """Race over rays; of the course only instants and passes count. Raises Error for what cannot be raced."""
    check(entries, course)
    with _lanes(target, scene, entries, rays) as lanes:
        for number in range(-(-WARM_FRAMES // len(course.moments))):
            say(f"Warming up, pass {number + 1}.")
            _pass(lanes, course, 0)
        timed: list[list[list[_Frame]]] = [[] for _ in lanes]
        for turn in range(course.repeat):
            say(f"Pass {turn + 1} of {course.repeat}.")
            for found, kept in zip(_pass(lanes, course, turn * len(course.moments)), timed, strict=True):
                kept.append(found)
        say("Comparing hits.")
        oracle = next((k for k, one in enumerate(entries) if one.configuration.startswith("brute_force")), 0)
        proofs = _proved(lanes, course, oracle)
        made = [_contestant(LETTERS[place], entry, lanes[place], timed[place], proofs[place])
                for place, entry in enumerate(entries)]  # fmt: skip
    frames = tuple(moment.frame_id for moment in course.moments)
    about = ((len(rays), 1), SAID, course.repeat, target.device_name, target.name, LETTERS[oracle])
    return Race(scene.name, scene.triangle_count, frames, *about, judged(made))


@contextlib.contextmanager
def _lanes(target: Target, scene: Scene, entries: Sequence[Entry], rays: Rays) -> Iterator[list[_Lane]]:
    with contextlib.ExitStack() as stack:
        lanes = []
        for entry in entries:
            lanes.append(_Lane(target, scene, entry.settings, rays))
            stack.callback(lanes[-1].rig.close)
        yield lanes


def _pass(lanes: Sequence[_Lane], course: Course, first: int) -> list[list[_Frame]]:
    """One pass through the frames; what each did."""
    found: list[list[_Frame]] = [[] for _ in lanes]
    for number, moment in enumerate(course.moments):
        for place in turns(len(lanes), first + number):
            found[place].append(lanes[place].play(moment))
    return found


def _proved(lanes: Sequence[_Lane], course: Course, oracle: int) -> list[HitProof]:
    """The pass that is not timed: all hits beside those of one contestant."""
    proofs = [HitProof() for _ in lanes]
    for moment in course.moments:
        found: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for place, lane in enumerate(lanes):
            lane.play(moment)
            prim_id, t = lane.rig.hits()
            found[place] = (np.array(t)[None], np.array(prim_id)[None])
        for place, ours in found.items():
            proofs[place] += compared(*ours, *found[oracle], frame=moment.frame_id)[0]
    return proofs


def _contestant(
    letter: str, entry: Entry, lane: _Lane, passes: Sequence[Sequence[_Frame]], proof: HitProof
) -> Contestant:
    def samples(part: Callable[[_Frame], float]) -> list[float]:
        return [statistics.fmean(part(one) for one in frames) for frames in passes]

    update, trace = samples(lambda one: one.update_ms), samples(lambda one: one.trace_ms)
    everything, tree = [one for frames in passes for one in frames], lane.statistics()
    columns = zip(*passes, strict=True)
    rays = len(lane.rig.rays)
    return Contestant(
        letter, entry.configuration, lane.rig.hierarchy.layout_name,
        measured([a + b for a, b in zip(update, trace, strict=True)]), measured(update), measured(trace),
        measured([0.0] * len(update)),
        tuple(statistics.median(one.update_ms + one.trace_ms for one in column) for column in columns),
        sum(one.update == "rebuild" for one in everything), sum(one.update == "refit" for one in everything),
        rays, rays / max(statistics.median(trace), 1e-9) / 1000.0, proof,
        tree.sah_cost, tree.end_point_overlap, tree.leaf_variability, tree.depth, tree.bytes, None, None,
    )  # fmt: skip
