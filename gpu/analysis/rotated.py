"""What refits cost over a clip that are followed by rotations (`refit_rotations`).

Which subtrees have been exchanged by frame t follows from all frames before it, so there are no trees by frame and age
to look up: the clip is played once from its first frame's tree. Refits are timed as they come, rays at some frames; in
between they cost what a fresh tree costs there, which the clip's costs have, times how much this one has worn out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numpy as np

from ..hierarchy.base import CannotRefitError, StructureChoice
from ..hierarchy.registry import structures
from ..scene import Moment, Scene
from ..target.base import Target
from ..update.history import UpdateHistory
from ..update.options import UpdateOptions
from ..update.registry import policy
from .clip_costs import TREES, ages_of, over_frames, trace_ms, warm_up
from .rig import Rig
from .schedules import ClipCosts
from .workload import Workload

ROTATED = "refit_rotations"
PLAYED = 256
"""Longer clips are played in even steps, so many at most: a refit then mends what several frames have moved."""

RotatedMaker = Callable[[], AbstractContextManager[Rig]]


def rotated_rig(target: Target, scene: Scene, name: str, choice: StructureChoice, rays: Workload) -> Rig:
    """A structure as the policy has it made: with rotations, where it has them and was given no other optimiser."""
    return Rig(target, scene, name, policy(ROTATED).fitted(choice, structures()[name].optimisers()), rays)


def rotated_ms(
    rig: Rig,
    costs: ClipCosts,
    moments: Sequence[Moment],
    *,
    exact: bool = False,
    scale: float = 1.0,
    say: Callable[[float], None] = lambda share: None,
) -> float:
    """Milliseconds of the whole clip, traces times `scale`; every frame is refitted and traced where that is `exact`.
    `costs` are those of the structure as it was chosen. Raises CannotRefitError where the structure is not mended by
    rotations."""
    policy(ROTATED).choose(UpdateHistory(), rig.hierarchy, UpdateOptions(ROTATED))
    count = len(moments)
    played = list(range(count)) if exact else steps_of(count)
    traced = set(played if exact else traced_of(played))
    warm_up(rig, moments[:1], can_refit=True)
    refits, worn = dict[int, float](), dict[int, float]()
    built = 0.0
    for place, frame in enumerate(played):
        say(place / len(played))
        rig.show(moments[frame])
        if frame == 0:
            built = rig.build()
        else:
            refits[frame] = rig.refit()
        if frame in traced:
            worn[frame] = scale * trace_ms(rig) / max(float(costs.trace_ms[frame, 0]), 1e-30)
    growth = over_frames(worn, count)
    return built + float(over_frames(refits, count)[1:].sum()) + float((growth * costs.trace_ms[:, 0]).sum())


def steps_of(count: int) -> list[int]:
    """The frames that are played: from the first to the last, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, PLAYED)).round().astype(int)).tolist()


def traced_of(played: Sequence[int]) -> list[int]:
    """Those of them that are traced: as other trees are, more at the beginning, and evenly spread."""
    last = len(played) - 1
    spread = np.linspace(0, last, min(len(played), TREES)).round().astype(int).tolist()
    return sorted({played[place] for place in (*ages_of(len(played)), *spread)})


def why_not(error: CannotRefitError) -> str:
    """Why the policy is not judged."""
    return str(error).partition(": ")[0]
