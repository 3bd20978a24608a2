"""The contract of an update policy: what is done to a structure before a frame of a scene that has moved.

A policy holds nothing of a structure; what it decides by is the structure's UpdateHistory. What no policy can choose is
decided here: without a tree, or with other triangles, one is built, and what nothing happened to is left alone.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Container
from typing import Any, ClassVar

from ..hierarchy.base import CannotRefitError, Hierarchy, Primitives, StructureChoice
from .history import Decision, UpdateHistory


class UpdatePolicy(abc.ABC):
    """See the module. `name` is the command line's, `title` the menu's, `sentence` says what it does."""

    name: ClassVar[str]
    title: ClassVar[str]
    sentence: ClassVar[str]
    refits: ClassVar[bool] = True
    """Whether it is of use only to structures that can be refitted."""
    is_fixed: ClassVar[bool] = False
    """Whether it always does the same: then no reason is shown."""
    needs_times: ClassVar[bool] = False
    """Whether it decides by how long the phases of every frame took."""

    optimiser: ClassVar[str] = ""
    """What has to improve a structure after its refits for this policy; "": nothing."""

    def fitted(self, choice: StructureChoice, known: Container[str]) -> StructureChoice:
        """How a structure is made that follows by this policy: as chosen, and by `optimiser` where it is among those
        `known` to the structure and none was chosen."""
        if not self.optimiser or choice.optimiser != "none" or self.optimiser not in known:
            return choice
        return dataclasses.replace(choice, optimiser=self.optimiser)

    def decide(self, history: UpdateHistory, hierarchy: Hierarchy, primitives: Primitives, options: Any) -> Decision:
        """What to do before this frame is traced. Raises what `choose` raises."""
        if history.is_new:
            return Decision("rebuild", "there was no tree yet")
        history.take_cost(hierarchy)
        if history.has_other_triangles(primitives):
            return Decision("rebuild", "the topology changed")
        if not history.has_moved(primitives) and not options.always:
            return self.at_rest(history)
        return self.choose(history, hierarchy, options)

    def at_rest(self, history: UpdateHistory) -> Decision:
        """What to do where nothing has moved."""
        return Decision("nothing", "nothing moved")

    @abc.abstractmethod
    def choose(self, history: UpdateHistory, hierarchy: Hierarchy, options: Any) -> Decision:
        """Refit or rebuild, of a tree whose primitives have moved; `options` are UpdateOptions. Raises CannotRefitError
        where the structure cannot do what was asked for."""


def check_refits(hierarchy: Hierarchy) -> None:
    """Raise CannotRefitError where the structure has no refit."""
    if not hierarchy.capabilities.refit:
        raise CannotRefitError(
            f"{hierarchy.title} cannot be refitted: choose update rebuild or auto, or another structure."
        )


def by_cost_ratio(history: UpdateHistory, limit: float) -> Decision:
    """Rebuild where the tree's SAH cost has grown to `limit` times that of the last build, as far as that is known."""
    if not history.has_base:
        return Decision("rebuild", "no SAH cost has been measured since the last build")
    ratio = history.cost_ratio
    if ratio is None:
        return Decision("refit", "its SAH cost since the last build is not known yet")
    return Decision(
        "rebuild" if ratio >= limit else "refit",
        f"its SAH cost is {ratio:.2f} times that of the last build, the limit is {limit:g}",
    )
