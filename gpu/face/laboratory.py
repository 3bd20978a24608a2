"""The laboratory's functions of the library."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Sequence
from typing import Any

from ..analysis.advice import Advice
from ..analysis.advice import advise as advise_rig
from ..analysis.alternatives import Maker, usual
from ..analysis.rig import Rig, camera_rays
from ..analysis.rotated import RotatedMaker, rotated_rig
from ..analysis.workload import Workload
from ..configuration import Configuration
from ..errors import Error
from ..hierarchy.base import StructureChoice
from ..scene import Moment
from ..scene import Scene as PlainScene
from ..target.base import Target
from .clips import Clip, numbers_of, seen_by
from .configured import Configured, configured
from .devices import device_of
from .rays import RaySet
from .sensors import HungSensor, SensorRays
from .workloads import workload_of

MOST_RAYS, MOST_FRAMES = 1 << 16, 1000


def advise(
    clip: Clip,
    configuration: str = "hploc",
    rays: RaySet | SensorRays | HungSensor | str | None = None,
    *,
    frames: range | None = None,
    size: tuple[int, int] = (1024, 768),
    device: str = "auto",
    exact: bool = False,
    beside: Sequence[str | Configuration] | None = None,
) -> Advice:
    """When to rebuild in a clip: plays it, measures a rebuild, a refit and tracing by the age of the tree, and gives
    the schedule that costs least, what each update policy would cost beside it (`left_out` says why
    `refit_rotations` is not among them where it cannot be), and a `sentence` for one's own engine.
    Waits, for seconds.

    `frames` are numbers of the clip's frames (all of one run). `rays` are those of every frame, as `rg.race` takes
    them, a sensor on a node too; without, those of a camera that sees all of it, of `size`. At most 65,536 of them are
    traced, and times are scaled to all. Some frames get a tree, which is measured at the ages 0, 1, 2, 4, 8 ...; the
    rest is interpolated (`interpolation_error`). With `exact` trees of every frame are measured at every age. The
    configuration's own policy is not used: all are compared. `beside` are configurations that are measured, too, to
    tell whether they would pay and from how many rays on (`alternatives`): without, other builders, layouts and an
    optimiser; () for none.

    Raises Error where the structure cannot be refitted, or the clip has one frame alone; ConfigurationError.

    >>> import raygrove as rg
    >>> advice = rg.advise(rg.open("walker"), "lbvh", frames=range(4), size=(32, 24), device="cpu")
    >>> advice.frames, advice.schedule[0], {"rebuild", "refit_rotations"} < {one.policy for one in advice.policies}
    (4, True, True)
    """
    _check_words(clip, configuration)
    made, scene = configured(configuration), clip.to_plain()
    rate, numbers = scene.fps or clip.fps, numbers_of(clip, frames, "rg.advise")
    if not 2 <= len(numbers) <= MOST_FRAMES:
        what = f"schedules have 2 to {MOST_FRAMES} frames, and these are {len(numbers)}"
        raise Error(what, "rg.advise", "give a clip that moves, and frames=range(...) of it")
    with device_of(device).used("rg.advise") as target:
        seen = seen_by(scene, None, size, "rg.advise")
        taken: Workload = camera_rays(seen, *size) if rays is None else workload_of(rays, scene, "rg.advise")
        traced = taken if exact else taken.at_most(MOST_RAYS)
        rig = Rig(target, scene, made.name, made.choice, traced)
        try:
            if not rig.hierarchy.capabilities.refit:
                raise Error(f"{rig.hierarchy.title} cannot be refitted", "rg.advise", "rebuild it in every frame")
            moments = [Moment(number / rate) for number in numbers]
            others = usual(made.text, rig.hierarchy.layout_name) if beside is None else beside
            makers = rig_makers(target, scene, others, traced)
            rotated = rotated_maker(target, scene, made.name, made.choice, traced)
            return advise_rig(rig, made.text, moments, rate, len(taken), exact=exact, rotated=rotated, beside=makers)
        finally:
            rig.close()


def rig_makers(
    target: Target, scene: PlainScene, configurations: Iterable[str | Configuration], rays: Workload
) -> list[Maker]:
    """What makes the rigs of configurations over the same scene and rays. ConfigurationError where one is none."""
    made = [configured(one) for one in configurations]
    return [(one.text, functools.partial(_opened, target, scene, one, rays)) for one in made]


def rotated_maker(
    target: Target, scene: PlainScene, name: str, choice: StructureChoice, rays: Workload
) -> RotatedMaker:
    """What makes the rig of a structure that refits and rotations follow (policy refit_rotations)."""
    return lambda: contextlib.closing(rotated_rig(target, scene, name, choice, rays))


def _opened(
    target: Target, scene: PlainScene, made: Configured, rays: Workload
) -> contextlib.AbstractContextManager[Rig]:
    return contextlib.closing(Rig(target, scene, made.name, made.choice, rays))


def _check_words(clip: Any, configuration: Any) -> None:
    if not isinstance(clip, Clip):
        what = f"a clip is a rg.Clip, of arrays or by rg.open, and this is {type(clip).__name__}"
        raise Error(what, "rg.advise", "call rg.advise(clip, 'hploc', rays)")
    if not isinstance(configuration, str | Configuration):
        what = f"a configuration is a text like 'hploc/bvh4', and this is {type(configuration).__name__}"
        raise Error(what, "rg.advise", "call rg.advise(clip, 'hploc', rays)")
