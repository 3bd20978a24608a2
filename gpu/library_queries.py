"""Regions of space as numpy arrays to the primitives in them: what a structure of `raygrove.build` and
`raygrove.build_spheres` answers besides rays. docs/queries.md is the page for users.

Questions are numpy arrays, answered in parts that fit into the target's memory, in arrays that nobody else writes to.
Who has arrays on the target asks `on_target` instead, without copies.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .errors import Error
from .hierarchy.base import Hierarchy
from .query.questions import FLOAT_MAX, Boxes, Places, upload_boxes
from .target.base import Target

if TYPE_CHECKING:  # imported by the first question: trees that are only traced need none of it
    from .query.lists import ListedPrimitives
    from .query.query import Queries
    from .query.touching import Touching

MOST_AT_ONCE = 1 << 24
"""Questions of one launch."""

_QUESTION_BYTES = 64
"""Of a question and its answer, without its list."""

_Answer = TypeVar("_Answer")
_Asked = ParamSpec("_Asked")
_Self = TypeVar("_Self", bound="RegionQueries")


class QuestionError(Error, ValueError):
    """Arrays that ask nothing: their shape, their type, or what is in them."""


def one_at_a_time(
    method: Callable[Concatenate[_Self, _Asked], _Answer],
) -> Callable[Concatenate[_Self, _Asked], _Answer]:
    """A method that has the structure's device for its length: other threads, and processes that were forked, are told
    so, instead of working in the same memory."""

    @functools.wraps(method)
    def alone(self: _Self, /, *arguments: _Asked.args, **named: _Asked.kwargs) -> _Answer:
        with self._used(f"Structure.{method.__name__}"):
            return method(self, *arguments, **named)

    return alone


@dataclasses.dataclass(frozen=True, eq=False)
class Nearest:
    """What is nearest to each of N points, in their order: `prim_id` (N,) int32, the row of the triangle or sphere, -1
    where nothing is so near; `distance` (N,) float32, inf there; `points` (N, 3) float32, the nearest point of the
    primitive, NaN there."""

    prim_id: Any
    distance: Any
    points: Any

    def __len__(self) -> int:
        return len(self.prim_id)


@dataclasses.dataclass(frozen=True, eq=False)
class Neighbours:
    """The k primitives nearest to each of N points, nearest first, of equals the smaller row first: `prim_ids` (N, k)
    int32, -1 where there are no more; `distances` (N, k) float32, inf there."""

    prim_ids: Any
    distances: Any

    def __len__(self) -> int:
        return len(self.prim_ids)


@dataclasses.dataclass(frozen=True, eq=False)
class PrimitiveLists:
    """A list of primitives for each of N questions, as compressed rows: `prim_ids` int32, those of question i from
    `first[i]` to `first[i + 1]`, ascending; `first` (N + 1,) int64. `lists[i]` is the i-th list, `counts` (N,) their
    lengths."""

    prim_ids: np.ndarray
    first: np.ndarray

    @property
    def counts(self) -> np.ndarray:
        """How long each list is, (N,) int64."""
        return np.diff(self.first)

    def __len__(self) -> int:
        return len(self.first) - 1

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> np.ndarray:
        place = range(len(self))[i]
        return self.prim_ids[self.first[place] : self.first[place + 1]]


@dataclasses.dataclass(frozen=True, eq=False)
class FoundLeaves:
    """The leaf that holds each of N points: `leaf_id` (N,) int32, which numbers the leaves of this structure (not the
    rows of `nodes()`), -1 outside of all; `reference_count` (N,) int32, how many primitives it lists; `lower` and
    `upper` (N, 3) float32, its cell."""

    leaf_id: np.ndarray
    reference_count: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class RegionQueries:
    """The methods of a structure that are about regions. Points and boxes are in the units of what was built, (N, 3) or
    (3,) for one. A point that is not finite finds nothing. `of` says what distances are measured to: `surfaces` (the
    nearest point of a triangle or ball; what a ball contains is at no distance from it) or, among spheres, `centres`.
    `periodic` is a box that repeats, as three lengths along x, y, z or three edges (3, 3); distances are then those to
    the nearest images of centres, and `of` need not be said. Each method waits for the target, and raises ValueError
    where the arrays are no questions, HierarchyError where `k`, `of` or `periodic` cannot be, or this structure has no
    such query.
    """

    target: Target
    _hierarchy: Hierarchy

    def _used(self, where: str) -> AbstractContextManager[Target]:
        """The target for the length of a call `where`; Error where the structure is closed, or in other hands."""
        raise NotImplementedError

    @one_at_a_time
    def on_target(self, of: str = "surfaces") -> Queries:
        """The same queries for arrays that are on the target already: `raygrove.Places` and `raygrove.Boxes`, used
        where they lie, in and out without copies. Everything runs on the target's stream (`target.stream_pointer` on
        CUDA): let it wait for what wrote the arrays, or write them there."""
        from .query.query import Queries

        return Queries(self._hierarchy, of)

    @one_at_a_time
    def nearest(self, points: ArrayLike, radius: ArrayLike = np.inf, of: str = "surfaces") -> Nearest:
        """The primitive nearest to each point, at most `radius` away, (N,) or one for all; of equals the smallest
        row."""
        queries, target = self.on_target(of), self.target
        columns: tuple[list[np.ndarray], ...] = ([], [], [])
        for places in self._parts(points, radius, None, None):
            found = queries.nearest(places)
            for column, array in zip(columns, (found.prim_id, found.distance, found.points), strict=True):
                column.append(np.array(target.download(array)))
        prim_id, distance, nearest = (np.concatenate(column) for column in columns)
        return Nearest(prim_id, distance, nearest)

    @one_at_a_time
    def k_nearest(
        self,
        points: ArrayLike,
        k: int = 8,
        radius: ArrayLike = np.inf,
        *,
        exclude: ArrayLike | None = None,
        of: str = "surfaces",
        periodic: ArrayLike | None = None,
    ) -> Neighbours:
        """The `k` primitives, 1 to 128, nearest to each point, at most `radius` away, (N,) or one for all. `exclude`
        (N,): a row that is not found, for points that are primitives themselves: `np.arange(N)`."""
        queries, target = self.on_target("centres" if periodic is not None else of), self.target
        prim_ids, distances = [], []
        count = checked_count(k)
        for places in self._parts(points, radius, exclude, periodic, 16 * max(1, count)):
            found = queries.k_nearest(places, count)
            prim_ids.append(np.array(target.download(found.prim_ids)))
            distances.append(np.array(target.download(found.distances)))
        return Neighbours(np.concatenate(prim_ids), np.concatenate(distances))

    @one_at_a_time
    def in_box(self, lower: ArrayLike, upper: ArrayLike) -> PrimitiveLists:
        """The primitives that have a point in common with each box, itself and not its bounds; touching counts. An
        inverted box, or one with NaN, holds nothing."""
        queries = self.on_target()
        return self._listed(self._boxes(lower, upper), lambda boxes: queries.in_boxes(boxes, ascending=True))

    @one_at_a_time
    def in_ball(
        self,
        points: ArrayLike,
        radius: ArrayLike,
        *,
        exclude: ArrayLike | None = None,
        of: str = "surfaces",
        periodic: ArrayLike | None = None,
    ) -> PrimitiveLists:
        """The primitives that are at most `radius` from each point, (N,) or one for all; `exclude` as in k_nearest."""
        queries = self.on_target("centres" if periodic is not None else of)
        parts = self._parts(points, radius, exclude, periodic)
        return self._listed(parts, lambda places: queries.in_balls(places, ascending=True))

    @one_at_a_time
    def containing(self, points: ArrayLike) -> PrimitiveLists:
        """The primitives that contain each point: the spheres around it, and triangles that it lies on."""
        return self.in_ball(points, 0.0)

    @one_at_a_time
    def leaf(self, points: ArrayLike) -> FoundLeaves:
        """The leaf that holds each point, of structures whose leaves divide space (kd-trees, grids, octrees)."""
        queries, target = self.on_target(), self.target
        columns: tuple[list[np.ndarray], ...] = ([], [], [])
        for places in self._parts(points, np.inf, None, None):
            found = queries.leaves(places)
            for column, array in zip(columns, (found.leaf_ids, found.reference_counts, found.cells), strict=True):
                column.append(np.array(target.download(array)))
        leaf_id, counts, cells = (np.concatenate(column) for column in columns)
        return FoundLeaves(leaf_id, counts, cells[:, 0], cells[:, 1])

    @one_at_a_time
    def pairs(self, radius: float, periodic: ArrayLike | None = None) -> np.ndarray:
        """All pairs of spheres whose centres are at most `radius` from each other, (M, 2) int32, each once: the smaller
        row first, and in the order of rows."""
        centres = self._hierarchy.last_built().keep_alive[0]
        queries, count = self.on_target("centres"), len(centres)
        own, edges = np.arange(count, dtype=np.int32), _edges(periodic)
        most = float(checked_radius(radius, 1)[0])

        def parts() -> Iterator[Places]:
            for first, last in _chunks(self.target, count, _QUESTION_BYTES):
                numbers = self.target.upload(own[first:last], "queries")
                yield Places(centres[first:last], None, most, numbers, "later", edges)

        lists = self._listed(parts(), lambda places: queries.in_balls(places, ascending=True))
        return np.stack([np.repeat(own, lists.counts), lists.prim_ids], axis=1)

    @one_at_a_time
    def touching(self, other: RegionQueries | None = None) -> PrimitiveLists:
        """For each primitive of `other`, a structure on the same target, the primitives of this one that it has a point
        in common with: triangles and spheres by themselves, not by their bounds. None: of this structure's own, each
        pair once, in the list of the smaller row; triangles that share a corner touch. ValueError where `other` is on
        another target."""
        from .query.touching import Touching

        queries, asked = self.on_target(), self if other is None else other
        with asked._used("Structure.touching"):
            if asked.target is not self.target:
                raise QuestionError(
                    "Both structures are to be on one target", remedy="build them with the same device or `target`"
                )
            others = Touching(asked._hierarchy.last_built(), asked is self)

        def parts() -> Iterator[Touching]:
            for first, last in _chunks(self.target, len(others), _QUESTION_BYTES):
                yield others.part(slice(first, last))

        return self._listed(parts(), lambda some: queries.touching(some, ascending=True))

    # -- arrays to questions ------------------------------------------------------------------------------------------
    def _parts(
        self,
        points: ArrayLike,
        radius: ArrayLike,
        exclude: ArrayLike | None,
        periodic: ArrayLike | None,
        answer_bytes: int = 0,
    ) -> Iterator[Places]:
        rows = checked_points("points", points)
        most, skipped, edges = checked_radius(radius, len(rows)), checked_rows(exclude, len(rows)), _edges(periodic)
        upload = self.target.upload
        for first, last in _chunks(self.target, len(rows), _QUESTION_BYTES + answer_bytes):
            yield Places(
                upload(rows[first:last], "queries"),
                upload(most[first:last], "queries") if len(most) != 1 else None,
                float(most[0]) if len(most) == 1 else FLOAT_MAX,
                upload(skipped[first:last], "queries") if skipped is not None else None,
                periodic=edges,
            )

    def _boxes(self, lower: ArrayLike, upper: ArrayLike) -> Iterator[Boxes]:
        sides = checked_points("lower", lower), checked_points("upper", upper)
        if len(sides[0]) != len(sides[1]):
            raise QuestionError(f"There are {len(sides[0])} lower and {len(sides[1])} upper corners: a box has both.")
        for first, last in _chunks(self.target, len(sides[0]), _QUESTION_BYTES):
            yield upload_boxes(self.target, sides[0][first:last], sides[1][first:last])

    def _listed(self, parts: Iterator[Any], ask: Callable[[Any], ListedPrimitives]) -> PrimitiveLists:
        from .query.lists import in_halves

        ids, counts = [], []
        for part in parts:
            for found in in_halves(part, ask):
                ids.append(np.array(self.target.download(found.prim_ids)))
                counts.append(np.array(self.target.download(found.counts)))
        first = np.concatenate([[0], np.cumsum(np.concatenate(counts), dtype=np.int64)])
        return PrimitiveLists(np.concatenate(ids), first)


def _chunks(target: Target, count: int, question_bytes: int) -> Iterator[tuple[int, int]]:
    """Ranges of questions for a quarter of the memory that is free; one, of none, where there are none."""
    step = min(max(1, target.free_bytes() // 4 // question_bytes), MOST_AT_ONCE)
    for first in range(0, max(1, count), step):
        yield first, min(first + step, count)


def _edges(periodic: ArrayLike | None) -> np.ndarray | None:
    if periodic is None:
        return None
    from .query.cell import edges_of

    return edges_of(periodic)


def checked_points(name: str, points: ArrayLike) -> np.ndarray:
    """Points (N, 3) float32; QuestionError, a ValueError, where they are none."""
    rows = np.asarray(points)
    if rows.ndim not in (1, 2) or rows.shape[-1] != 3 or rows.dtype.kind not in "fiu":
        raise QuestionError(
            f"{name} are rows of three numbers, (N, 3), or one; these are {rows.shape} of {rows.dtype}."
        )
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(rows.reshape(-1, 3), np.float32)


def checked_count(k: Any) -> int:
    """How many neighbours; QuestionError where it is no whole number."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise QuestionError(f"k is a whole number of neighbours; it is {k!r}", remedy="give one from 1 to 128")
    return int(k)


def checked_radius(radius: ArrayLike, count: int) -> np.ndarray:
    """Radii, one or (count,), float32; QuestionError where they are none."""
    rows = np.asarray(radius)
    if rows.ndim > 1 or (rows.ndim == 1 and len(rows) != count) or rows.dtype.kind not in "fiu":
        raise QuestionError(f"radius is one number, or one for each of the {count} points; it is {rows.shape}.")
    with np.errstate(over="ignore"):
        return np.atleast_1d(rows).astype(np.float32)


def checked_rows(exclude: ArrayLike | None, count: int) -> np.ndarray | None:
    """Rows (count,) int32, or None; QuestionError where they are none."""
    if exclude is None:
        return None
    rows = np.asarray(exclude)
    if rows.shape != (count,) or rows.dtype.kind not in "iu":
        raise QuestionError(
            f"exclude is a row for each of the {count} points, whole numbers; it is {rows.shape} of {rows.dtype}."
        )
    bound = np.iinfo(np.int32)
    if count and not (bound.min <= int(rows.min()) and int(rows.max()) <= bound.max):
        raise QuestionError(f"exclude has rows between {rows.min()} and {rows.max()}, which no structure has.")
    return np.ascontiguousarray(rows, np.int32)
