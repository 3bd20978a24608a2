"""A plan: tables of a TOML file as many jobs, which are made one after another and never held together.

[fixed]                       # what all have
measure = "frame"
[axes]                        # every combination of these values
scene = ["walker", "cloth"]
configuration = ["lbvh@refit", "hploc"]
[[jobs]]                      # and of each of these tables with them
ray_type = "ao"
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from raygrove.gpu.errors import Error

TABLES = ("fixed", "axes", "jobs")


class PlanError(Error):
    """A plan that cannot be meant: the file, what is wrong, what to do."""

    def __init__(self, what: str, path: object, remedy: str) -> None:
        super().__init__(what, str(path), remedy)


@dataclasses.dataclass(frozen=True)
class Plan:
    """Values by dotted keys: of all jobs, the lists to combine, and tables that each take part in every combination."""

    fixed: Mapping[str, Any]
    axes: Mapping[str, Sequence[Any]]
    jobs: Sequence[Mapping[str, Any]] = ({},)

    def __len__(self) -> int:
        return len(self.jobs) * math.prod(len(values) for values in self.axes.values())

    def points(self) -> Iterator[dict[str, Any]]:
        """The values of each job, the first axis changing last."""
        names = tuple(self.axes)
        for job in self.jobs:
            common = {**self.fixed, **job}
            for values in itertools.product(*self.axes.values()):
                yield {**common, **dict(zip(names, values, strict=True))}


def plan_of(table: Mapping[str, Any], path: object = "plan") -> Plan:
    """A plan from its tables. Raises PlanError, which speaks of `path`."""
    strange = next((name for name in table if name not in TABLES), None)
    if strange is not None:
        raise PlanError(f"it has no table [{strange}]", path, "a plan has [fixed], [axes] and [[jobs]]")
    fixed, axes, jobs = table.get("fixed", {}), table.get("axes", {}), table.get("jobs", [])
    is_list = isinstance(jobs, list) and all(isinstance(job, Mapping) for job in jobs)
    if not isinstance(fixed, Mapping) or not isinstance(axes, Mapping) or not is_list:
        raise PlanError("a table is missing", path, "a plan has [fixed], [axes] and, with double brackets, [[jobs]]")
    plan = Plan(dict(flat(fixed)), dict(flat(axes)), [dict(flat(job)) for job in jobs] or [{}])
    for key, values in plan.axes.items():
        if not isinstance(values, list) or not values:
            raise PlanError(f"the axis {key} is no list of values", path, f"write {key} = [ONE, ANOTHER]")
        if len({repr(value) for value in values}) < len(values):
            raise PlanError(f"the axis {key} names a value twice", path, "say each once")
        twice = key in plan.fixed or any(key in job for job in plan.jobs)
        if twice:
            raise PlanError(f"{key} is an axis, and is said elsewhere, too", path, "say it in one place")
    return plan


def flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables as dotted keys."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


@dataclasses.dataclass(frozen=True)
class Shard:
    """One part of `count`, from 1 on: every `count`-th job."""

    number: int = 1
    count: int = 1

    def takes(self, index: int) -> bool:
        """Whether the job of that place in the plan belongs to it."""
        return index % self.count == self.number - 1
