"""Bars of spheres by the million, read from the newest file of `bench particles`: of casts the slower of random and
Morton order, each by the fastest of the arrangements that the bar names."""

from __future__ import annotations

from collections.abc import Callable, Collection

from .particle_casts import FRONT_TO_BACK, IN_TILES, ORDERS
from .saved import Content, OfOthers

COMMAND = "python -m raygrove.bench particles bigbox.gro.bz2"
Read = Callable[[Content], float | None]


def _casts(scene: str, arrangements: Collection[str], field: str = "figure") -> Read:
    """Milliseconds of the fastest of them, in the order in which that is slower; None before both were measured."""

    def read(content: Content) -> float | None:
        best = {order: _least(content, scene, order, arrangements, field) for order in ORDERS}
        found = [figure for figure in best.values() if figure is not None]
        return max(found) if len(found) == len(ORDERS) else None

    return read


def _least(
    content: Content, scene: str, order: str, arrangements: Collection[str], field: str = "figure"
) -> float | None:
    rows = [row for row in content["results"] if row["what"] == scene and row.get("order") == order]
    return min((row[field] for row in rows if row["by"] in arrangements), default=None)


def _auto(content: Content) -> float | None:
    """By how much `auto` is slower than the fastest of all arrangements, where that is worst."""
    found = []
    for scene, order in sorted({(row["what"], row["order"]) for row in content["results"] if "by" in row}):
        others = {row["by"] for row in content["results"] if row["what"] == scene and "by" in row} - {"auto"}
        auto, best = (_least(content, scene, order, names) for names in (("auto",), others))
        if auto is not None and best:
            found.append(auto / best)
    return max(found, default=None)


def _figure(what: str, at_most: bool) -> Read:
    """The worst row of a name: of the radii of spheres in tiles."""

    def read(content: Content) -> float | None:
        rows = [row["figure"] for row in content["results"] if row["what"] == what and row["figure"] is not None]
        return (max if at_most else min)(rows, default=None)

    return read


def _best(what: str) -> Read:
    """Of the ways to find the first hits."""
    return lambda content: max(
        (row["figure"] for row in content["results"] if row["what"] == what and row["figure"] is not None), default=None
    )


BIG = "1024x1024"
BARS: tuple[tuple[str, str, float, str, Read, bool], ...] = (
    *(
        ("cuda", f"{what}, {BIG}", bar, "ms", _casts(f"{scene}, {BIG}", by, field), True)
        for what, scene, bar, by, field in (
            ("1M spheres of 3 px by auto", "1M spheres of 3 px", 0.25, ("auto",), "figure"),
            ("1M spheres of 3 px by the best in tiles", "1M spheres of 3 px", 0.6, IN_TILES, "figure"),
            ("1M spheres of 12 px in tiles front to back", "1M spheres of 12 px", 0.9, (FRONT_TO_BACK,), "figure"),
            ("kernel of sorted v4, 1M spheres of 3 px", "1M spheres of 3 px", 4.0, ("v4",), "kernel_ms"),
            ("kernel of v1, 1M spheres of 12 px", "1M spheres of 12 px", 44.0, ("v1",), "kernel_ms"),
            ("100M spheres of 1 px by auto", "100M spheres of 1 px", 3.0, ("auto",), "figure"),
            ("100M spheres of 3 px by auto", "100M spheres of 3 px", 9.0, ("auto",), "figure"),
        )
    ),
    ("cuda", "auto over the fastest arrangement of spheres", 1.05, "times", _auto, True),
    *(
        ("cuda", what, bar, unit, _figure(what, at_most), at_most)
        for what, bar, unit, at_most in (
            ("memory of a sphere in tiles", 32.0, "bytes", True),
            ("memory of 100M spheres with a structure", 24.0, "GB", True),
            ("rebuild of 1M moving spheres", 0.3, "ms", True),
            (f"primary rays at 1M moving spheres, {BIG}", 2.5, "GRays/s", False),
        )
    ),
    ("cuda", f"bigbox drawn, {BIG}", 700.0, "frames/s", _best(f"bigbox drawn, {BIG}"), False),
    (
        "host",
        "100K spheres of 3 px drawn, 512x512",
        50.0,
        "frames/s",
        _best("100K spheres of 3 px drawn, 512x512"),
        False,
    ),
    ("host", "XTC of 100,000 atoms read", 1.0, "s", _figure("XTC of 100,000 atoms read", True), True),
)
PARTICLES = tuple(
    OfOthers(kind, what, bar, unit, "particles", COMMAND, read, at_most)
    for kind, what, bar, unit, read, at_most in BARS
)
