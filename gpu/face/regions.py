"""What is nearest to points that a caller has on the tree's device, answered in arrays of the same library: nothing is
copied to the host, and nothing waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..library_queries import Nearest, Neighbours, RegionQueries, checked_count
from ..query.questions import FLOAT_MAX, Places
from ..target.base import Array, Target
from ..target.foreign import as_library, library_of, stream_of
from . import arrays


class NearestToArrays(RegionQueries):
    """`nearest` and `k_nearest` for arrays of CuPy, PyTorch, JAX, Warp and whatever else has DLPack, beside those for
    NumPy's that RegionQueries has."""

    def nearest(self, points: Any, radius: Any = np.inf, of: str = "surfaces", *, stream: Any = None) -> Nearest:
        """The primitive nearest to each point, at most `radius` away, (N,) or one for all; of equals the smallest row.
        Arrays of another library than NumPy's are answered in its own kind; those of a GPU where they lie, on the
        caller's stream or `stream`, and nothing waits."""
        library = library_of(points)
        if library in ("", "numpy"):
            return super().nearest(points, radius, of)
        with self._asked("Structure.nearest", points, radius, None, stream) as places:
            found = self.on_target(of).nearest(places)
        return Nearest(*(as_library(column, library) for column in (found.prim_id, found.distance, found.points)))

    def k_nearest(
        self,
        points: Any,
        k: int = 8,
        radius: Any = np.inf,
        *,
        exclude: Any = None,
        of: str = "surfaces",
        periodic: ArrayLike | None = None,
        stream: Any = None,
    ) -> Neighbours:
        """The `k` primitives, 1 to 128, nearest to each point, at most `radius` away, (N,) or one for all. `exclude`
        (N,): a row that is not found, for points that are primitives themselves: `np.arange(N)`. Arrays as in
        `nearest`; with `periodic` they are NumPy's."""
        library = library_of(points)
        if library in ("", "numpy") or periodic is not None:
            return super().k_nearest(points, k, radius, exclude=exclude, of=of, periodic=periodic)
        with self._asked("Structure.k_nearest", points, radius, exclude, stream) as places:
            found = self.on_target(of).k_nearest(places, checked_count(k))
        return Neighbours(as_library(found.prim_ids, library), as_library(found.distances, library))

    @contextmanager
    def _asked(self, where: str, points: Any, radius: Any, exclude: Any, stream: Any) -> Iterator[Places]:
        """The places that arrays name, while the target's stream follows the caller's."""
        with self._used(where) as target, target.between(stream_of(target, (points, radius, exclude), stream)):
            rows = arrays.taken(target, points, "points", (None, 3))
            radii = None if _is_one(radius) else arrays.taken(target, radius, "radius", (len(rows),))
            own = None if exclude is None else _rows(target, exclude, len(rows))
            yield Places(rows, radii, FLOAT_MAX if radii is not None else float(radius), own)


def _is_one(radius: Any) -> bool:
    return isinstance(radius, int | float | np.number) or (isinstance(radius, np.ndarray) and radius.ndim == 0)


def _rows(target: Target, exclude: Any, count: int) -> Array:
    return arrays.taken(target, exclude, "exclude", (count,), arrays.WHOLE)
