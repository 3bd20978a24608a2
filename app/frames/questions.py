"""What is asked of the engine between two frames, about the newest picture.

Asked in the thread that draws; each question waits for the target."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from raygrove.app.frames.cell_neighbours import Neighbours, neighbours_of
from raygrove.app.frames.hot_questions import HotQuestions
from raygrove.app.frames.node_path import PathNode, path_to
from raygrove.app.frames.race_hits import ComparedHits, StepDifference, compared_hits, step_difference
from raygrove.gpu.analysis.followed_ray import FollowedRay
from raygrove.gpu.engine import Hit
from raygrove.gpu.errors import Error
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.in_sight import in_sight
from raygrove.gpu.inspector import Inspector
from raygrove.gpu.quantise.palette import quantise
from raygrove.gpu.stats import AttributeCounts, RaySteps, Reading, Surroundings
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.stopping import NotCompiled

T = TypeVar("T")


@contextlib.contextmanager
def without_compiling(target: Target) -> Iterator[None]:
    """Within it NotCompiled is raised before a unit is compiled that is not in the cache."""
    check = target.check

    def refuse() -> None:
        raise NotCompiled

    target.check = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        target.check = check  # type: ignore[method-assign]


@dataclasses.dataclass(frozen=True)
class Picked:
    """What lies under a place of the picture: the hit, None for the background, and the nodes from the root to its leaf
    where they were asked for; then also the leaf's neighbours, where the structure's leaves divide space."""

    hit: Hit | None
    path: tuple[PathNode, ...] = ()
    neighbours: Neighbours | None = None


class Questions(HotQuestions):
    """The questions of a FrameMaker. Places are from 0 to 1 of a view's width and height; the answer is None before the
    first picture, and where there is no such view."""

    def pick(self, across: float, down: float, view: int = 0, *, with_path: bool = False) -> Picked | None:
        """What lies at a place. `with_path` also reads the structure back, which takes longer the larger it is."""
        shown = self._shown(view)
        if shown is None:
            return None
        hit = self._engine.pick(shown, across * shown.pixels.width, down * shown.pixels.height)
        if hit is None or not with_path:
            return Picked(hit)
        table = self._engine.nodes(shown)
        path = path_to(table, hit.prim_id, hit.position)
        divides_space = len(path) > 0 and self._engine.capabilities(shown).splits_space
        return Picked(hit, path, neighbours_of(table, path[-1].node_id) if divides_space else None)

    def follow_ray(self, across: float, down: float, view: int = 0) -> FollowedRay | None:
        """What the ray at a place did, event by event."""
        shown = self._shown(view)
        if shown is None:
            return None
        place = (across * shown.pixels.width, down * shown.pixels.height)
        found: FollowedRay = self._engine.inspector(shown).follow(*place)
        return found

    def ask_of_tree(self, question: Callable[[Inspector], T], view: int = 0) -> T | str | None:
        """The answer to a question to what looks into the structure; a sentence where the structure cannot say."""
        shown = self._shown(view)
        if shown is None:
            return None
        try:
            return question(self._engine.inspector(shown))
        except HierarchyError as error:
            return str(error)

    def in_sight(self, view: int = 0) -> str | None:
        """Whether the newest picture shows anything of the scene (gpu/in_sight.py); None where that is not known, or
        not without compiling something."""
        shown = self._shown(view)
        if shown is None:
            return None
        with without_compiling(self._engine.target), contextlib.suppress(NotCompiled, Error):
            return in_sight(self._engine.drawn_slot(shown))
        return None

    def near(self, hit: Hit, count: int, view: int = 0) -> Surroundings | str | None:
        """The `count` primitives nearest to what was picked; a sentence where the structure cannot say."""
        shown = self._shown(view)
        if shown is None:
            return None
        try:
            found: Surroundings = self._engine.near(shown, hit, count)
        except HierarchyError as error:
            return str(error)
        return found

    def steps(self, across: float, down: float, view: int = 0) -> RaySteps | None:
        """What the ray at a place visits and is tested against."""
        shown = self._shown(view)
        if shown is None:
            return None
        found: RaySteps = self._engine.steps(shown, across * shown.pixels.width, down * shown.pixels.height)
        return found

    def reading(self, across: float, down: float, view: int = 0) -> Reading | None:
        """What the colour at a place stands for; None for plain colours."""
        shown = self._shown(view)
        if shown is None:
            return None
        found: Reading | None = self._engine.reading(shown, across * shown.pixels.width, down * shown.pixels.height)
        return found

    def attribute_counts(self) -> AttributeCounts | None:
        """How many spheres have how much of an attribute; None where nothing is done by one."""
        found: AttributeCounts | None = self._engine.attribute_counts() if self._engine is not None else None
        return found

    def hits_compared(self) -> ComparedHits | None:
        """Whether all contestants of a race find the same hits, at the instant of the newest picture; None where there
        is nothing to compare."""
        if self._engine is None or len(self._views) < 2:
            return None
        of_rays = self._measured.compared(self._engine, self._views)
        return of_rays or compared_hits([self._engine.buffers(view, shaded=False) for view in self._views], self._views)

    def step_difference(self, first: int, second: int) -> StepDifference | None:
        """How many steps more the rays of one contestant take than those of another."""
        views = [self._shown(place) for place in (first, second)]
        if None in views or first == second:
            return None
        return step_difference(*(self._engine.buffers(view, shaded=False) for view in views))

    def in_few_colours(self, pixels: np.ndarray, colours: int) -> tuple[np.ndarray, np.ndarray]:
        """A palette (K, 3) of at most so many colours for a picture (H, W, 4) on the host, and numbers in it (H, W),
        all uint8; found on the target. Waits."""
        if self._target is None:
            raise HierarchyError("No picture has been drawn yet whose colours could be chosen.")
        found = quantise(self._target, pixels, colours)
        return found.palette, found.indices
