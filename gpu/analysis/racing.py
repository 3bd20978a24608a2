"""Running a race: several configurations over the frames of one scene, by the engine that draws pictures.

All show the same instants by the same camera at one size and with the same rays. One after another draws each instant,
in an order that rotates by one place from frame to frame, so that nobody is always first or always behind the same
neighbour. A first pass compiles and is not counted; `repeat` passes are timed; a last one, not timed, compares hits and
measures trees by one pair of SAH constants.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from ..camera import Camera
from ..engine import Engine, View, ViewSettings
from ..errors import Error
from ..scene import Moment, Scene
from ..stats import ViewStatistics
from ..target.base import Array, Target
from .contestant_figures import contestant_of
from .hit_proof import HitProof, compared
from .intervals import LEAST_SAMPLES
from .race import LETTERS, Contestant, Race, judged

Say = Callable[[float, str], None]
"""Hears which share of all is done, and what is done now."""

Acted = TypeVar("Acted")
"""What a contestant did in a frame, as figures."""

WARM_FRAMES = 3
"""Frames of each configuration before time counts, at least: the third is captured where frames are replayed."""
WARP = (4, 8)
"""Rows and columns of the pixels that a warp traces."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """Who takes part: its spelling, what its view is set to, and what is to be known of it."""

    configuration: str
    settings: ViewSettings
    note: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Course:
    """What all run: the instants, and the camera of each of them."""

    moments: Sequence[Moment]
    cameras: Sequence[Camera]
    size: tuple[int, int]
    repeat: int = 7


class RacePixels:
    """A picture in the target's memory."""

    def __init__(self, target: Target, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.array = target.empty((height, width, 4), np.uint8, "display")

    @contextlib.contextmanager
    def map(self) -> Iterator[Array]:
        """The array for one frame."""
        yield self.array


def turns(count: int, number: int) -> list[int]:
    """Who comes first, second ... in the frame of that number: another one begins each time."""
    return [(place + number) % count for place in range(count)]


def run(
    target: Target,
    scene: Scene,
    entries: Sequence[Entry],
    course: Course,
    *,
    against: Entry | None = None,
    prepare: Callable[[Engine], None] = lambda engine: None,
    say: Say = lambda share, sentence: None,
) -> Race:
    """Race. `against` is another one whose hits all are compared with, and which is not timed. `prepare` may hide
    objects or change materials of the engine, `say` hears how far it is. Raises Error for what cannot be raced, and
    what drawing raises."""
    check(entries, course)
    pixels = RacePixels(target, *course.size)
    settings = [as_raced(entry.settings) for entry in entries]
    with contextlib.closing(Engine(target, scene)) as engine:
        prepare(engine)
        lanes = [_Lane(engine, LETTERS[place], one, pixels) for place, one in enumerate(settings)]
        told = Told(course, say)
        timed = timed_passes(
            len(lanes), course, lambda place, n: lanes[place].draw(course.moments[n], course.cameras[n]), told
        )
        if against is None:
            final = _Proof(lanes, oracle_of([entry.configuration for entry in entries]))
        else:
            beside = _Lane(engine, against.configuration, as_raced(against.settings), pixels)
            final = _Proof([*lanes, beside], len(lanes))
        final.play(course, told)
        made = [_contestant(lane, entry, rows, final) for lane, entry, rows in zip(lanes, entries, timed, strict=True)]
    frames = tuple(moment.frame_id for moment in course.moments)
    about = (course.size, entries[0].settings.ray_type, course.repeat, target.device_name, target.name)
    return Race(scene.name, scene.triangle_count, frames, *about, final.against, judged(made), final.pictures,
                final.wrong)  # fmt: skip


def check(entries: Sequence[object], course: Course) -> None:
    """Raise Error where there is nothing to race, or not often enough."""
    if not 1 <= len(entries) <= len(LETTERS):
        what = f"a race has 1 to {len(LETTERS)} configurations, and these are {len(entries)}"
        raise Error(what, "race", "leave some out")
    if course.repeat < LEAST_SAMPLES:
        what = f"an interval of 95 % takes {LEAST_SAMPLES} passes or more, and these are {course.repeat}"
        raise Error(what, "race", f"repeat {LEAST_SAMPLES} times or more")
    if not course.moments:
        raise Error("a race has one frame or more", "race", "name some frames")


def as_raced(settings: ViewSettings) -> ViewSettings:
    """What a contestant's view is set to: every frame is updated, also where the same instant comes again. Over a scene
    that stands still a structure is made once, but by the policy `rebuild`, by which builds are measured."""
    update = dataclasses.replace(settings.update, always=True)
    return dataclasses.replace(settings, samples=1, update=update, rests=update.mode != "rebuild")


class _Lane:
    """One configuration in the engine that all share."""

    def __init__(self, engine: Engine, letter: str, settings: ViewSettings, pixels: RacePixels) -> None:
        self._engine = engine
        self.pixels = pixels
        self.view = View(settings, Camera(), pixels, letter)

    def draw(self, moment: Moment, camera: Camera, **statistics_options: Any) -> ViewStatistics:
        """One frame; waits. Drawn again where the structure or the ray type had too little room."""
        settings = self.view.settings
        if statistics_options:
            judged_by = dataclasses.replace(settings.statistics, **statistics_options)
            settings = dataclasses.replace(settings, statistics=judged_by)
        self.view = dataclasses.replace(self.view, settings=settings, camera=camera)
        while True:
            self._engine.render_frame(moment, [self.view])
            found = self._engine.flush()
            if not found.is_behind:
                return found.views[0]

    def buffers(self) -> dict[str, np.ndarray]:
        """What the rays of the last frame found."""
        return self._engine.buffers(self.view, shaded=False)

    def picture(self) -> np.ndarray:
        """Of the last frame; other lanes draw into the same pixels."""
        return np.array(self._engine.target.download(self.pixels.array))


class Told:
    """Tells `say` how far a race is, before each frame: of passes that warm up, that are timed, and the one that
    compares."""

    def __init__(self, course: Course, say: Say) -> None:
        self.frames = len(course.moments)
        self.warming = -(-WARM_FRAMES // self.frames)
        self._all, self._done, self._say = (self.warming + course.repeat + 1) * self.frames, 0, say

    def __call__(self, sentence: str) -> None:
        """A frame begins."""
        self._say(self._done / self._all, sentence)
        self._done += 1


def timed_passes(count: int, course: Course, act: Callable[[int, int], Acted], told: Told) -> list[list[list[Acted]]]:
    """What `act(place, number)` gives, of so many contestants in turn in each frame: by contestant, pass and frame. The
    first frames warm up, and are not among them."""

    def one_pass(first: int, sentence: str) -> list[list[Acted]]:
        found: list[list[Acted]] = [[] for _ in range(count)]
        for number in range(told.frames):
            told(sentence)
            for place in turns(count, first + number):
                found[place].append(act(place, number))
        return found

    for number in range(told.warming):
        one_pass(0, f"Warming up, pass {number + 1}.")
    timed: list[list[list[Acted]]] = [[] for _ in range(count)]
    for turn in range(course.repeat):
        found = one_pass(turn * told.frames, f"Pass {turn + 1} of {course.repeat}.")
        for one, kept in zip(found, timed, strict=True):
            kept.append(one)
    return timed


class _Proof:
    """The pass that is not timed: hits beside those of one of the lanes, the oracle."""

    def __init__(self, lanes: Sequence[_Lane], oracle: int) -> None:
        self._lanes = lanes
        self.against = lanes[oracle].view.name
        self._order = [oracle, *(place for place in range(len(lanes)) if place != oracle)]
        self.proofs = {lane.view.name: HitProof() for lane in lanes}
        self.pictures: dict[str, np.ndarray] = {}
        self.wrong: dict[str, np.ndarray] = {}
        self.trees: dict[str, ViewStatistics] = {}
        self.steps: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def play(self, course: Course, told: Told) -> None:
        """Draw all frames once more."""
        for moment, camera in zip(course.moments, course.cameras, strict=True):
            told("Comparing hits.")
            true: dict[str, np.ndarray] = {}
            for place in self._order:
                lane, is_last = self._lanes[place], moment is course.moments[-1]
                name = lane.view.name
                drawn = lane.draw(moment, camera, **({"quality": True} if is_last else {}))
                buffers = lane.buffers()
                true = true or buffers
                ours, theirs = ((one["depth"], one["prim_id"]) for one in (buffers, true))
                proof, mask = compared(*ours, *theirs, frame=moment.frame_id)
                self.proofs[name] += proof
                if is_last:
                    self.trees[name], self.pictures[name], self.wrong[name] = drawn, lane.picture(), mask
                    self.steps[name] = buffers["steps"], buffers["tests"]


def oracle_of(configurations: Sequence[str]) -> int:
    """Whose hits all others are compared with: brute force where it takes part, else the first."""
    return next((place for place, text in enumerate(configurations) if text.startswith("brute_force")), 0)


def _contestant(lane: _Lane, entry: Entry, rows: Sequence[Sequence[ViewStatistics]], final: _Proof) -> Contestant:
    name = lane.view.name
    tree, (visits, tests) = final.trees[name].structure, final.steps[name]
    warps = warp_steps(visits + tests)
    return dataclasses.replace(
        contestant_of(name, entry.configuration, rows, final.proofs[name]),
        layout=final.trees[name].layout,
        sah_cost=tree.sah_cost,
        end_point_overlap=tree.end_point_overlap,
        leaf_variability=tree.leaf_variability,
        depth=tree.depth,
        bytes=tree.bytes,
        mean_warp=float(warps.mean()),
        longest_warp=int(warps.max()),
        mean_visits=float(visits.mean()),
        mean_tests=float(tests.mean()),
        note=entry.note,
    )


def warp_steps(steps: np.ndarray) -> np.ndarray:
    """Steps (H, W) of rays as those of their warps: the most of each 8 x 4 pixels; at the edge of those there are."""
    rows, columns = WARP
    height, width = steps.shape
    padded = np.zeros((-(-height // rows) * rows, -(-width // columns) * columns), np.int64)
    padded[:height, :width] = steps
    tiles = padded.reshape(len(padded) // rows, rows, -1, columns)
    return np.asarray(tiles.max(axis=(1, 3)))
