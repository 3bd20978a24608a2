"""What a reference structure would cost at an instant: binned SAH, built once on a target of its own, beside the
window's pictures."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable

from raygrove.app.document.jobs import Job
from raygrove.app.document.state import State
from raygrove.app.frames.headless import render_frames
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.scene import Scene
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target

REFERENCE = "binned_sah"
SIDE = 8
"""Pixels of each side of the picture that makes the structure be built."""

CHOSEN = {
    "render.hierarchy": REFERENCE, "render.optimiser": "none", "render.layout": "auto", "render.traversal": "auto",
    "render.primary": "structure", "render.ray_type": "flat", "render.samples": 1, "render.width": SIDE,
    "render.height": SIDE, "update.mode": "rebuild", "display.spheres": "rays", "statistics.quality": False,
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The SAH cost of a structure and that of the reference, both of the same instant (seconds)."""

    cost: float
    reference: float
    time: float

    @property
    def share(self) -> float:
        """By what share of the reference's cost the structure's is above it; below 0 where it is less."""
        return self.cost / self.reference - 1.0


def reference_cost(
    job: Job, state: State, scene: Scene, time: float, make_target: Callable[[State], Target] | None = None
) -> float:
    """The SAH cost of binned SAH with its own options over what the state shows of the scene at `time` (seconds).
    Raises what building raises, Cancelled."""
    chosen = reference_state(state)
    with contextlib.closing((make_target or _own_target)(chosen)) as target:
        job.check()
        frames = render_frames(target, scene, chosen, [(0, time)], check=lambda share: job.check())
        with contextlib.closing(frames) as drawn:
            structure = next(drawn).statistics[-1].views[0].structure
    if not structure.sah_cost:
        raise HierarchyError("Binned SAH has no SAH cost here: there is nothing that it could be built over.")
    return structure.sah_cost


def reference_state(state: State) -> State:
    """A state that builds the reference over what this one shows."""
    settings: Settings = dataclasses.replace(
        state.settings,
        hierarchy={name: options for name, options in state.settings.hierarchy.items() if name != REFERENCE},
    )
    for key, value in CHOSEN.items():
        settings = set_option(settings, key, value)
    view = dataclasses.replace(state.views[0], hierarchy="", optimiser="", layout="", traversal="", ray_type="")
    return dataclasses.replace(state, settings=settings, views=(view,))


def _own_target(state: State) -> Target:
    return choose(state.settings.render.device, state.settings.device)
