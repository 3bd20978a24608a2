"""Races of configurations as the library has them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.race import Race
from ..analysis.racing import Course, Entry, run
from ..analysis.ray_racing import run as race_rays
from ..analysis.ray_racing import run_by_camera
from ..analysis.rivals.known import name_of, rival_of
from ..analysis.survey import Survey, every_structure, survey
from ..camera import Camera
from ..errors import Error
from ..hierarchy.bvh.own.tree import Tree
from ..scene import Moment
from ..settings import OptionError, checked
from ..shade.registry import ray_types
from ..view import ViewSettings
from .clips import Clip, numbers_of, seen_by
from .configured import configured
from .devices import device_of
from .given_trees import given_trees
from .named_trees import note_of
from .rays import RaySet
from .sensors import HungSensor, SensorRays
from .workloads import workload_of

MOST_FRAMES = 10_000
_NO_MESH = (np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32))


def race(
    scene: Clip,
    contestants: Sequence[str],
    *,
    trees: Mapping[str, Tree | str | os.PathLike[str]] | None = None,
    frames: range | None = None,
    camera: Camera | None = None,
    ray_type: str = "smooth",
    ray_type_options: dict[str, Any] | None = None,
    size: tuple[int, int] = (512, 384),
    rays: RaySet | SensorRays | HungSensor | str | None = None,
    repeat: int = 7,
    seed: int = 0,
    device: str = "auto",
) -> Race:
    """Up to 8 configurations over the same frames, by one camera, one size and one kind of rays: what each costs a
    frame, its rank and why, and whether all found the same hits. Waits: each frame is drawn `repeat` + 2 times by all.

    `contestants` are spelt `builder[+optimiser][/layout[/traversal]][@policy]`, each name with `:option=value`; without
    a policy every frame rebuilds. `trees` are files of trees or rg.Tree, made over the scene as it is in the first of
    the frames, under the names by which they take part (`theirs@refit`). `frames` are numbers of the clip's frames (all
    of one run). Without a camera one that sees all of the clip is taken. `ray_type` is one of the program's (`flat`
    has primary rays alone), its options by name.

    With `rays`, a set, those of sensors, a sensor on a node (`Sensor.on`), or a text as `raygrove race --rays` takes it
    ("lidar:rows=32:node=head"), all trace these in every frame, in place of a picture's; camera, ray type and size are
    not used then, and there are no pictures. Embree takes part where `embreex` or libembree is installed:
    `embree:quality=low` (medium, high, dynamic; `robust=yes`: no ray passes between neighbours) with `@rebuild` or
    `@refit`, on the CPU; and Warp where `warp-lang` is: `warp:builder=lbvh` (sah, median) with `@rebuild` or `@refit`,
    on the device. Beside them, without `rays`, all trace the primary rays of the camera's pixels, without pictures.

    All act in turn, in an order that rotates from frame to frame; compiling is not counted. A sample is the mean of one
    pass through the frames: a median of `repeat` samples (6 or more) has an interval of 95 % by order statistics.
    Contestants whose intervals overlap show no difference. Hits are compared ray by ray with those of `brute_force`
    where it takes part, else with those of the first that is our own; `mismatches` are those that differ, `faults`
    the same without another program's where they are 1 % of its rays or fewer. Trees are judged by one pair of SAH
    constants.

    Raises Error for what cannot be raced, ConfigurationError and OptionError for a spelling.

    >>> import raygrove as rg
    >>> found = rg.race(rg.open("walker"), ["lbvh@refit", "hploc"], frames=range(2), size=(32, 24), device="cpu")
    >>> found.mismatches, [one.letter for one in found.contestants], sorted(one.rank for one in found.ranking)[0]
    (0, ['A', 'B'], 1)
    """
    _check_words(scene, contestants, "rg.race")
    plain, course = scene.to_plain(), _course(scene, frames, camera, size, repeat, "rg.race")
    shared = _shared(ray_type, ray_type_options, seed)
    with device_of(device).used("rg.race") as target, given_trees(trees or {}, _first_mesh(scene, course, trees)):
        some = [rival_of(text) or entry_of(text, shared) for text in contestants]
        if rays is not None:
            return race_rays(target, plain, some, course, workload_of(rays, plain, "rg.race"))
        ours = [one for one in some if isinstance(one, Entry)]
        if len(ours) < len(some):
            return run_by_camera(target, plain, some, course)
        return run(target, plain, ours, course)


def correlate(
    scene: Clip,
    contestants: Sequence[str] | None = None,
    *,
    trees: Mapping[str, Tree | str | os.PathLike[str]] | None = None,
    frames: range | None = None,
    camera: Camera | None = None,
    ray_type: str = "smooth",
    ray_type_options: dict[str, Any] | None = None,
    size: tuple[int, int] = (512, 384),
    rays: RaySet | SensorRays | HungSensor | str | None = None,
    repeat: int = 7,
    seed: int = 0,
    device: str = "auto",
) -> Survey:
    """Which figures of a tree go with the speed of its rays, over all structures of this scene: SAH cost, end-point
    overlap, leaf-count variability, depth, bytes, the mean and the longest warp, each by its rank correlation with
    measured rays a second, outliers named. Waits: each frame is drawn `repeat` + 2 times by all.

    `contestants` are any number of configurations, without them every structure but brute force; all else is said as
    for `rg.race`, `rays` in place of a camera's too. They race in heats of eight, and the hits of all are compared with
    those of one (`against`): `brute_force` where it takes part, else the first. What cannot be raced on this scene is
    `left_out`, with the reason. Of fewer than four there is no correlation, and a sentence says why.

    Raises Error where none can be raced, ConfigurationError and OptionError for a spelling.

    >>> import raygrove as rg
    >>> four = ["lbvh", "hploc", "binned_sah", "lbvh/bvh2"]
    >>> found = rg.correlate(rg.open("walker"), four, frames=range(1), size=(32, 24), device="cpu")
    >>> found.mismatches, found.against, len(found.contestants)
    (0, 'lbvh', 4)
    >>> all(-1.0 <= one.rho <= 1.0 for one in found.correlations)
    True
    """
    _check_words(scene, contestants, "rg.correlate")
    plain, course = scene.to_plain(), _course(scene, frames, camera, size, repeat, "rg.correlate")
    shared = _shared(ray_type, ray_type_options, seed)
    with device_of(device).used("rg.correlate") as target, given_trees(trees or {}, _first_mesh(scene, course, trees)):
        texts = every_structure() if contestants is None else contestants
        workload = None if rays is None else workload_of(rays, plain, "rg.correlate")
        return survey(target, plain, [entry_of(text, shared) for text in texts], course, rays=workload)


def _course(
    scene: Clip, frames: range | None, camera: Camera | None, size: tuple[int, int], repeat: int, where: str
) -> Course:
    """The instants and the camera of a race. Raises Error."""
    plain = scene.to_plain()
    rate, numbers = plain.fps or scene.fps, numbers_of(scene, frames, where)
    if not 1 <= len(numbers) <= MOST_FRAMES:
        what = f"a race has 1 to {MOST_FRAMES:,} frames, and these are {len(numbers)}"
        raise Error(what, where, "give frames=range(...) of the clip")
    moments = [Moment(number / rate, frame_id=number) for number in numbers]
    return Course(moments, [seen_by(plain, camera, size, where)] * len(moments), size, repeat)


def _shared(ray_type: str, ray_type_options: dict[str, Any] | None, seed: int) -> ViewSettings:
    """What all contestants' views have. Raises OptionError."""
    if ray_type not in ray_types():
        raise OptionError("ray_type", ray_type, "one of " + ", ".join(ray_types()))
    options: Any = checked(ray_types()[ray_type].Options, ray_type_options or {}, f"{ray_type}.")
    return ViewSettings(ray_type=ray_type, ray_type_options=options, seed=seed)


def _first_mesh(scene: Clip, course: Course, trees: object) -> tuple[np.ndarray, np.ndarray]:
    """What trees of files are over."""
    return scene.at(course.moments[0].time) if trees else _NO_MESH


def _check_words(scene: Any, contestants: Any, where: str) -> None:
    if not isinstance(scene, Clip):
        what = f"a race is over a rg.Clip, of arrays or by rg.open, and this is {type(scene).__name__}"
        raise Error(what, where, f"call {where}(clip, ['lbvh', 'hploc'])")
    if isinstance(contestants, str):
        raise Error("contestants are a list of texts, and this is one", where, f"call {where}(clip, ['lbvh'])")


def entry_of(configuration: str, shared: ViewSettings) -> Entry:
    """Who takes part by a spelling; all but the structure and its updates is `shared`. Raises ConfigurationError and
    OptionError."""
    rival = rival_of(configuration)
    if rival is not None:
        what = f"{name_of(rival)} takes part in races by rg.race and on the command line alone"
        raise Error(what, configuration, "name a structure here")
    made = configured(configuration)
    choice = made.choice
    settings = dataclasses.replace(
        shared,
        hierarchy=made.name,
        optimiser=choice.optimiser,
        layout=choice.layout,
        traversal=choice.traversal,
        triangle_test=choice.triangle_test,
        update=made.update,
        hierarchy_options=choice.options,
        optimiser_options=choice.optimiser_options,
    )
    return Entry(made.text, settings, note_of(made.name))
