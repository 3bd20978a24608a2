"""Bars of octrees, grids, their queries, light and gravity: each is of the worst that was measured of clouds of points,
kinds of query, and scenes."""

from __future__ import annotations

from collections.abc import Callable

from .saved import Content, OfOthers


def _worst(what: str, bar: float, at_most: bool, scenes: int = 1) -> Callable[[Content], float | None]:
    """Of all rows of a name in a file of `bench octrees`; with fewer than `scenes` it is known only where it misses."""

    def read(content: Content) -> float | None:
        found = [row["figure"] for row in content["results"] if row["what"] == what and row["figure"] is not None]
        worst = (max if at_most else min)(found, default=None)
        is_missed = worst is not None and (worst > bar if at_most else worst < bar)
        return worst if is_missed or len(found) >= scenes else None

    return read


def _worst_error(content: Content) -> float | None:
    """Of bounces with nothing in the way, beside the sum over all pairs."""
    rows = [row for row in content["results"] if row["what"].endswith("points, nothing in the way")]
    return max((row["error"] for row in rows if row["error"] is not None), default=None)


def _forces(bodies: int, most_error: float) -> Callable[[Content], float | None]:
    """Milliseconds of the fastest way to find forces as exact as that."""

    def read(content: Content) -> float | None:
        forces = [row for row in content["results"] if "rms_error" in row]
        rows = [row for row in forces if row["bodies"] == bodies and row["rms_error"] <= most_error]
        return min((row["ms"] for row in rows), default=None)

    return read


SCENES = 3
"""Rays are judged on the built-in blob, Crytek Sponza and the kitchen."""
OCTREE_FIGURES = (
    ("cuda", "octree of 10M points, direct form", 2.5, "ms", True),
    ("cuda", "octree of 10M points, the paper's form, 63 bits", 10.0, "ms", True),
    ("cuda", "octree of 10M points, the paper's form, 30 bits", 6.0, "ms", True),
    ("cuda", "octree of 10M points, top down in parallel", 12.0, "ms", True),
    ("cuda", "queries of cells by their codes, of copy bandwidth", 0.7, "share", False),
    ("cuda", "places found in an octree, sorted", 5.0, "G/s", False),
    ("cuda", "places found in an octree, random", 2.0, "G/s", False),
    ("cuda", "neighbours of octree cells by faces", 1.0, "G/s", False),
    ("cuda", "8 nearest of 10M points for each, in code order", 50.0, "ms", True),
    ("cuda", "8 nearest of 10M points for each, random", 120.0, "ms", True),
    ("cuda", "rebuild of grid", 0.3, "ms", True),
    ("cuda", "primary rays of grid, of lbvh's", 0.3, "times", False),
    ("cuda", "primary rays of grid_two_level, of lbvh's", 0.5, "times", False),
    ("cuda", "primary rays of the best octree, of lbvh's", 0.4, "times", False),
    ("cuda", "a bounce of radiosity, 150K points, nothing in the way", 2.5, "ms", True),
    ("cuda", "the same over the sum of all pairs, 150K points", 8.0, "times", False),
    ("cuda", "the same over the sum of all pairs, 1M points", 100.0, "times", False),
    ("cuda", "radiosity's time a point, 1M over 100K points", 1.3, "times", True),
    ("cuda", "a bounce of radiosity, 150K points, what is seen known", 15.0, "ms", True),
    ("cuda", "a bounce of radiosity, 150K points, what is seen found", 40.0, "ms", True),
    ("cuda", "error of a bounce of radiosity, 150K points, over rays to all others", 0.03, "share", True),
    ("host", "octree of 125K points, direct form", 6.0, "ms", True),
    ("host", "8 nearest of 100K points, of cKDTree's by two workers", 1.0, "times", False),
)
OCTREES = (
    *(
        OfOthers(
            kind,
            f"{what}, the worst case",
            bar,
            unit,
            "octrees",
            "python -m raygrove.bench octrees FILE ...",
            _worst(what, bar, at_most, SCENES if what.startswith("primary rays") else 1),
            at_most,
        )
        for kind, what, bar, unit, at_most in OCTREE_FIGURES
    ),
    OfOthers(
        "cuda",
        "error of a bounce of radiosity, nothing in the way, the worst case",
        0.01,
        "share",
        "octrees",
        "python -m raygrove.bench octrees FILE ...",
        _worst_error,
    ),
    OfOthers(
        "cuda",
        "forces between 1M bodies to 1e-3",
        30.0,
        "ms",
        "gravity",
        "python -m raygrove.bench gravity --counts 1000000",
        _forces(1_000_000, 1e-3),
    ),
    *(
        OfOthers(
            kind,
            "drift of galaxy's energy in 1,000 steps",
            1e-3,
            "share",
            "gravity",
            "python -m raygrove.bench gravity",
            lambda content: next((row["drift"] for row in content["results"] if row.get("steps") == 1000), None),
        )
        for kind in ("cuda", "host")
    ),
)
