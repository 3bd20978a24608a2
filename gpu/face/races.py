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
from ..analysis.rivals.embree_lane import rival_of
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
from .ray_files import rig_rays
from .rays import RaySet
from .sensors import SensorRays

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
    rays: RaySet | SensorRays | None = None,
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

    With `rays`, a set or those of sensors, all trace these in every frame, in place of a picture's; camera, ray type
    and size are not used then, and there are no pictures. Embree takes part in them where `embreex` or
    libembree is installed: `embree:quality=low` (medium, high, dynamic) with `@rebuild` or `@refit`, on the CPU.

    All act in turn, in an order that rotates from frame to frame; compiling is not counted. A sample is the mean of one
    pass through the frames: a median of `repeat` samples (6 or more) has an interval of 95 % by order statistics.
    Contestants whose intervals overlap show no difference. Hits are compared ray by ray with those of `brute_force`
    where it takes part, else with those of the first; trees are judged by one pair of SAH constants.

    Raises Error for what cannot be raced, ConfigurationError and OptionError for a spelling.

    >>> import raygrove as rg
    >>> found = rg.race(rg.open("walker"), ["lbvh@refit", "hploc"], frames=range(2), size=(32, 24), device="cpu")
    >>> found.mismatches, [one.letter for one in found.contestants], sorted(one.rank for one in found.ranking)[0]
    (0, ['A', 'B'], 1)
    """
    _check_words(scene, contestants)
    plain = scene.to_plain()
    rate, numbers = plain.fps or scene.fps, numbers_of(scene, frames, "rg.race")
    if not 1 <= len(numbers) <= MOST_FRAMES:
        what = f"a race has 1 to {MOST_FRAMES:,} frames, and these are {len(numbers)}"
        raise Error(what, "rg.race", "give frames=range(...) of the clip")
    if ray_type not in ray_types():
        raise OptionError("ray_type", ray_type, "one of " + ", ".join(ray_types()))
    options: Any = checked(ray_types()[ray_type].Options, ray_type_options or {}, f"{ray_type}.")
    seen = seen_by(plain, camera, size, "rg.race")
    moments = [Moment(number / rate, frame_id=number) for number in numbers]
    shared = ViewSettings(ray_type=ray_type, ray_type_options=options, seed=seed)
    first = scene.at(moments[0].time) if trees else _NO_MESH
    with device_of(device).used("rg.race") as target, given_trees(trees or {}, first):
        course = Course(moments, [seen] * len(moments), size, repeat)
        if rays is not None:
            some = [rival_of(text) or entry_of(text, shared) for text in contestants]
            return race_rays(target, plain, some, course, rig_rays(rays))
        return run(target, plain, [entry_of(text, shared) for text in contestants], course)


def _check_words(scene: Any, contestants: Any) -> None:
    if not isinstance(scene, Clip):
        what = f"a race is over a rg.Clip, of arrays or by rg.open, and this is {type(scene).__name__}"
        raise Error(what, "rg.race", "call rg.race(clip, ['lbvh', 'hploc'])")
    if isinstance(contestants, str):
        raise Error("contestants are a list of texts, and this is one", "rg.race", "call rg.race(clip, ['lbvh'])")


def entry_of(configuration: str, shared: ViewSettings) -> Entry:
    """Who takes part by a spelling; all but the structure and its updates is `shared`. Raises ConfigurationError and
    OptionError."""
    if rival_of(configuration) is not None:
        raise Error(
            "Embree takes part in races over given rays", configuration, "give rays=, on the command line --rays"
        )
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
    return Entry(made.text, settings)
