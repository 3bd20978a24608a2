"""What schedules of rebuilds and refits cost over a clip: the best there could have been, fixed ones, and policies.

`ClipCosts` are measured; everything here is arithmetic on them. A schedule is a row of T truths: whether frame t is
rebuilt; the first always is. All schedules have the same builder and the same two actions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..hierarchy.base import Capabilities, Primitives, StructureChoice
from ..stats import HierarchyStatistics
from ..update.history import UpdateHistory
from ..update.options import UpdateOptions
from ..update.registry import policy

LATENCY = 2
"""Frames after which the times of one are known to policies, as on a GPU."""

Schedule = tuple[bool, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class ClipCosts:
    """A clip of T frames, in milliseconds: `rebuild_ms` and `refit_ms` (T,), and `trace_ms` (T, T), tracing frame t
    through a tree that was built `age` frames before it; what lies before the clip (age > t) is not read. `sah` (T, T)
    are SAH costs of the same trees, None where the structure has none. A rebuild that follows a refit costs
    `rebuild_after_refit_ms` more, a refit that follows a rebuild `refit_after_rebuild_ms`: what switching costs."""

    rebuild_ms: np.ndarray
    refit_ms: np.ndarray
    trace_ms: np.ndarray
    sah: np.ndarray | None = None
    rebuild_after_refit_ms: float = 0.0
    refit_after_rebuild_ms: float = 0.0

    def __len__(self) -> int:
        return len(self.rebuild_ms)

    def update_ms(self, frame: int, is_rebuild: bool, age_before: int) -> float:
        """What is done before a frame is traced; `age_before` is the tree's in the frame before, -1 without one."""
        if is_rebuild:
            return float(self.rebuild_ms[frame]) + (self.rebuild_after_refit_ms if age_before > 0 else 0.0)
        return float(self.refit_ms[frame]) + (self.refit_after_rebuild_ms if age_before == 0 else 0.0)


def cost_of(costs: ClipCosts, schedule: Sequence[bool]) -> float:
    """Milliseconds of a whole clip by a schedule. ValueError where it is none of this clip."""
    if len(schedule) != len(costs) or not schedule[0]:
        raise ValueError(f"A schedule of this clip has {len(costs)} frames, of which the first is a rebuild.")
    age, total = -1, 0.0
    for frame, is_rebuild in enumerate(schedule):
        total += costs.update_ms(frame, is_rebuild, age)
        age = 0 if is_rebuild else age + 1
        total += float(costs.trace_ms[frame, age])
    return total


def every_nth(costs: ClipCosts, n: int) -> Schedule:
    """Rebuild every n-th frame."""
    return tuple(frame % n == 0 for frame in range(len(costs)))


def offline_optimum(costs: ClipCosts) -> Schedule:
    """The schedule that costs least: by dynamic programming over frames, with the tree's age as the state."""
    count = len(costs)
    best = np.full((count, count), np.inf)
    came_from = np.zeros(count, np.int64)  # of age 0: the age in the frame before
    best[0, 0] = costs.update_ms(0, True, -1) + costs.trace_ms[0, 0]
    for frame in range(1, count):
        before = best[frame - 1, :frame]
        arriving = before + np.where(np.arange(frame) > 0, costs.rebuild_after_refit_ms, 0.0)
        came_from[frame] = int(np.argmin(arriving))
        best[frame, 0] = arriving[came_from[frame]] + costs.rebuild_ms[frame] + costs.trace_ms[frame, 0]
        switching = np.where(np.arange(frame) == 0, costs.refit_after_rebuild_ms, 0.0)
        best[frame, 1 : frame + 1] = before + switching + costs.refit_ms[frame] + costs.trace_ms[frame, 1 : frame + 1]
    age, found = int(np.argmin(best[-1])), [False] * count
    for frame in range(count - 1, -1, -1):
        found[frame] = age == 0
        age = int(came_from[frame]) if age == 0 else age - 1
    return tuple(found)


# -- policies ---------------------------------------------------------------------------------------------------------
class _Tree:
    """What policies ask of a structure; its SAH cost is the one that was measured last."""

    title = "The structure"
    capabilities = Capabilities()
    choice = StructureChoice(optimiser="none")

    def __init__(self) -> None:
        self.measured: float | None = None

    def stats(self) -> HierarchyStatistics:
        """As last measured."""
        return HierarchyStatistics(sah_cost=self.measured)


def played(costs: ClipCosts, options: UpdateOptions, fps: float, rays: int) -> Schedule:
    """What a policy does in the clip's frames, `fps` a second, told their measured times LATENCY frames late and the
    SAH cost ten times a second. It knows nothing at the start."""
    clock = [0.0]
    history, tree, chosen = UpdateHistory(lambda: clock[0]), _Tree(), policy(options.mode)
    late: list[tuple[Any, float, float]] = []
    found: list[bool] = []
    age = -1
    for frame in range(len(costs)):
        clock[0] = frame / fps
        primitives = Primitives("triangle", "", "", np.zeros(()), 1, topology_version=1, shape_version=frame)
        decision = chosen.decide(history, tree, primitives, options)  # type: ignore[arg-type]
        is_rebuild = decision.update == "rebuild"
        update_ms = costs.update_ms(frame, is_rebuild, age)
        age = 0 if is_rebuild else age + 1
        history.note(decision, primitives)
        if history.take_measurement_turn() and costs.sah is not None:
            tree.measured = float(costs.sah[frame, age])
        late.append((history.ticket, update_ms, float(costs.trace_ms[frame, age])))
        if len(late) > LATENCY:
            history.learn(*late.pop(0), rays)
        found.append(is_rebuild)
    return tuple(found)
