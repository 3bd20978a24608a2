"""Races over given rays in place of a camera's: each structure follows the clip by its policy and traces the same rays
in every frame. Turns, passes and what is counted are those of races of pictures (racing.py)."""

from __future__ import annotations

import contextlib
import dataclasses
import statistics
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from ..errors import Error
from ..scene import Scene
from ..target.base import Target
from .hit_proof import HitProof, compared
from .intervals import measured
from .race import LETTERS, Contestant, Race, judged
from .racing import Course, Entry, Say, Told, check, oracle_of, timed_passes
from .ray_lanes import Frame, Lane, StructureLane
from .rig import camera_rays
from .rivals.known import Rival, rival_lane
from .workload import Rays, Workload

ROUNDINGS = 4.0
"""Of the largest coordinate of a ray's origin, that distances may differ by."""
PRIMARY_ALONE = (
    "All are raced by the camera's primary rays alone, without shading and pictures: other programs have neither here."
)


def run(
    target: Target,
    scene: Scene,
    entries: Sequence[Entry | Rival],
    course: Course,
    rays: Workload,
    *,
    hidden: Collection[int] = (),
    against: Entry | Rival | None = None,
    say: Say = lambda share, sentence: None,
) -> Race:
    """Race over rays; of the course only instants and passes count, and what they are called stands for the
    ray type. Objects that are `hidden`, by number, are left out.
    `against` is another one whose hits all are compared with, and which is not timed. Raises Error for what cannot be
    raced."""
    check(entries, course)
    beside = () if against is None else (against,)
    with _lanes(target, scene, (*entries, *beside), rays, hidden) as lanes:
        told = Told(course, say)
        timed = timed_passes(len(entries), course, lambda place, n: lanes[place].play(course.moments[n]), told)
        oracle = _oracle(entries) if against is None else len(entries)
        proofs = _proved(lanes, course, oracle, rays, told)
        made = [_contestant(LETTERS[place], entry, lanes[place], timed[place], proofs[place])
                for place, entry in enumerate(entries)]  # fmt: skip
    frames = tuple(moment.frame_id for moment in course.moments)
    compared_with = LETTERS[oracle] if against is None else against.configuration
    about = ((len(rays), 1), rays.said, course.repeat, target.device_name, target.name, compared_with)
    return Race(scene.name, scene.triangle_count, frames, *about, judged(made))


def run_by_camera(
    target: Target,
    scene: Scene,
    entries: Sequence[Entry | Rival],
    course: Course,
    *,
    hidden: Collection[int] = (),
    say: Say = lambda share, sentence: None,
) -> Race:
    """Race, other programs among them, over the rays through the pixels of the course's camera. Raises Error where
    that moves, and what `run` raises."""
    camera = course.cameras[0]
    if any(one != camera for one in course.cameras):
        what = "other programs trace the same rays in every frame here, and this camera moves"
        raise Error(what, "race", "give a camera that stands, or rays in place of one")
    width, height = course.size
    rays = dataclasses.replace(camera_rays(camera, *course.size), said=f"camera rays of {width} x {height} pixels")
    found = run(target, scene, entries, course, rays, hidden=hidden, say=say)
    return dataclasses.replace(found, remarks=(*found.remarks, PRIMARY_ALONE))


def _oracle(entries: Sequence[Entry | Rival]) -> int:
    """Whose hits all others are compared with: those of racing.oracle_of, of our own where one takes part, so that
    another program's rounding is not held against them."""
    ours = [place for place, one in enumerate(entries) if isinstance(one, Entry)] or range(len(entries))
    return ours[oracle_of([entries[place].configuration for place in ours])]


def lane_of(target: Target, scene: Scene, entry: Entry | Rival, rays: Workload, hidden: Collection[int] = ()) -> Lane:
    """Who takes part, ready to play. Raises what structures raise, and Error where another program is not there, or
    cannot trace rays that move or some of the scene."""
    if isinstance(entry, Rival):
        return rival_lane(target, scene, entry, rays, hidden)
    return StructureLane(target, scene, entry.settings, rays, hidden)


@contextlib.contextmanager
def _lanes(
    target: Target, scene: Scene, entries: Sequence[Entry | Rival], rays: Workload, hidden: Collection[int]
) -> Iterator[list[Lane]]:
    with contextlib.ExitStack() as stack:
        lanes: list[Lane] = []
        for entry in entries:
            lanes.append(lane_of(target, scene, entry, rays, hidden))
            stack.callback(lanes[-1].close)
        yield lanes


def _proved(lanes: Sequence[Lane], course: Course, oracle: int, rays: Workload, told: Told) -> list[HitProof]:
    """The pass that is not timed: all hits beside those of one contestant."""
    proofs = [HitProof() for _ in lanes]
    for moment in course.moments:
        told("Comparing hits.")
        slack = slack_of(rays.at(moment))
        found: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for place, lane in enumerate(lanes):
            lane.play(moment)
            t, prim_id = lane.hits()
            found[place] = (t[None], prim_id[None])
        for place, ours in found.items():
            proofs[place] += compared(*ours, *found[oracle], frame=moment.frame_id, slack=slack)[0]
    return proofs


def slack_of(rays: Rays) -> np.ndarray:
    """What the distance along each ray may differ by, (1, N): some roundings of the coordinates of its origin."""
    lengths = np.linalg.norm(rays.directions.astype(np.float64), axis=1)
    largest = np.abs(rays.origins.astype(np.float64)).max(axis=1)
    found: np.ndarray = (ROUNDINGS * np.finfo(np.float32).eps * largest / np.maximum(lengths, 1e-30))[None]
    return found


def _contestant(
    letter: str, entry: Entry | Rival, lane: Lane, passes: Sequence[Sequence[Frame]], proof: HitProof
) -> Contestant:
    def samples(part: Callable[[Frame], float]) -> list[float]:
        return [statistics.fmean(part(one) for one in frames) for frames in passes]

    update, trace = samples(lambda one: one.update_ms), samples(lambda one: one.trace_ms)
    everything, tree = [one for frames in passes for one in frames], lane.statistics()
    columns, (mean_warp, longest_warp, mean_visits, mean_tests) = zip(*passes, strict=True), _steps_of(lane)
    return Contestant(
        letter, entry.configuration, lane.layout,
        measured([a + b for a, b in zip(update, trace, strict=True)]), measured(update), measured(trace),
        measured([0.0] * len(update)),
        tuple(statistics.median(one.update_ms + one.trace_ms for one in column) for column in columns),
        sum(one.update == "rebuild" for one in everything), sum(one.update == "refit" for one in everything),
        lane.ray_count, lane.ray_count / max(statistics.median(trace), 1e-9) / 1000.0, proof,
        *((None,) * 4 if tree is None else (tree.sah_cost, tree.end_point_overlap, tree.leaf_variability, tree.depth)),
        None if tree is None else tree.bytes, mean_warp, longest_warp, mean_visits, mean_tests,
        note=entry.note if isinstance(entry, Entry) else lane.note, is_rival=not isinstance(entry, Entry),
    )  # fmt: skip


def _steps_of(lane: Lane) -> tuple[float, int, None, float] | tuple[None, None, None, None]:
    """Of warps the mean and the longest; primitives tested by a ray, without its nodes: warps do not tell their leaves.
    None each where nobody knows."""
    warps = lane.warps()
    if warps is None:
        return None, None, None, None
    return warps.mean, warps.longest, None, int(warps.primitives.sum()) / max(lane.ray_count, 1)
