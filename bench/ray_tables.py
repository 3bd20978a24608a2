"""What the bench of record found, as tables for people and figures for goals: a table a quantity, with ours, peers, and
the worst ratio over the scenes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .saved import Content
from .suites.published import published
from .table import aligned

PEERS_FILE = "peers2026"
OURS = "ours"


@dataclasses.dataclass(frozen=True)
class Ratio:
    """Ours over theirs in one place: where, and both rates."""

    scene: str
    view: str
    what: str
    ours: float
    theirs: float
    of: str = ""

    @property
    def ratio(self) -> float:
        """Above 1: ours is faster."""
        return self.ours / self.theirs

    @property
    def words(self) -> str:
        """Where it is and what it is made of."""
        return f"{self.scene} {self.view}, {self.what}: {self.ours:.2f} over {self.theirs:.2f}" + (
            f" of {self.of}" if self.of else ""
        )


def worst(ratios: Iterable[Ratio]) -> Ratio | None:
    """The least of them."""
    return min(ratios, key=lambda one: one.ratio, default=None)


def quantity(row: Content) -> str:
    """What a row is of: kind and size."""
    return f"{row['rays']} {row['size'][0]}x{row['size'][1]}"


def nothing_of(target_kind: str) -> Content:
    """What a file holds in which nothing was measured."""
    return {"context": {"target": target_kind, "device": ""}, "parts": {}, "missing": []}


def is_host(content: Content) -> bool:
    """Whether it is of the processor: then rates are of one processor's second, else of the device's."""
    return content["context"]["target"] == "host"


def rate_of(content: Content, row: Content) -> float:
    """Billions of rays per second on a device, millions per second of one processor on the host."""
    return row["mrays_per_processor_s"] if is_host(content) else row["mrays_per_s"] / 1e3


def places(content: Content) -> dict[tuple[str, str, str], list[Content]]:
    """Rows by scene, view and quantity, of scenes of their whole size."""
    found: dict[tuple[str, str, str], list[Content]] = {}
    for name, part in content["parts"].items():
        for row in part["rows"]:
            found.setdefault((name, row["view"], quantity(row)), []).append(row)
    return found


def measured_earlier(scene: str, view_number: int, what: str) -> dict[str, float]:
    """What peers reached on one H200 in the first view of a scene, GRays/s by program; nothing where the scene was
    another one of the same name."""
    held = published(PEERS_FILE)
    if view_number or scene in held["not_alike"]:
        return {}
    return {name: figures[scene] for name, figures in held.get(what, {}).items() if scene in figures}


def peers_of(content: Content, place: tuple[str, str, str], rows: Sequence[Content]) -> dict[str, float]:
    """Other programs' rates in a place: of the same run on the host, measured earlier on a GPU."""
    if is_host(content):
        return {f"{row['by']} {row['tree']}": rate_of(content, row) for row in rows if row["by"] != OURS}
    views = list(dict.fromkeys(row["view"] for row in content["parts"][place[0]]["rows"]))
    is_h200 = "h200" in str(content["context"]["device"]).lower()
    return measured_earlier(place[0], views.index(place[1]), place[2]) if is_h200 else {}


def ours_of(content: Content, rows: Sequence[Content]) -> dict[str, float]:
    """Our rates by tree."""
    return {row["tree"]: rate_of(content, row) for row in rows if row["by"] == OURS}


def ratios(
    content: Content,
    mine: Callable[[str, dict[str, float]], float | None],
    theirs: Callable[[str, dict[str, float]], tuple[str, float] | None],
    whats: Callable[[str], bool] = lambda what: True,
) -> list[Ratio]:
    """Ours over theirs in every place that has both; the two are given the scene and the rates there. A scene that is
    smaller than its name says counts nowhere."""
    found = []
    for place, rows in places(content).items():
        if not whats(place[2]) or not content["parts"][place[0]]["is_whole"]:
            continue
        one, other = mine(place[0], ours_of(content, rows)), theirs(place[0], peers_of(content, place, rows))
        if one and other and other[1]:
            found.append(Ratio(*place, one, other[1], other[0]))
    return found


def best_of(rates: dict[str, float]) -> tuple[str, float] | None:
    """The fastest."""
    return max(rates.items(), key=lambda item: item[1], default=None)


def rays_page(content: Content) -> str:
    """All tables: rates, then trees, then what differs and what was not measured."""
    unit = "MRays/s of one processor" if is_host(content) else "GRays/s"
    whats = list(dict.fromkeys(place[2] for place in places(content)))
    parts = [f"{what}, {unit}\n{_table(content, what)}" for what in whats]
    parts += [_trees(content)] if content["parts"] else []
    notes = [f"{name}: {note}" for name, part in content["parts"].items() for note in part["not_measured"]]
    notes += [
        f"{name}: {part['triangles']:,} triangles, fewer than its name says; counts in no goal."
        for name, part in content["parts"].items()
        if not part["is_whole"]
    ]
    return "\n\n".join([*parts, "\n".join([*differing(content), *notes])]).rstrip()


def _table(content: Content, what: str) -> str:
    trees = list(dict.fromkeys(tree for part in content["parts"].values() for tree in part["trees"]))
    lines: list[tuple[Any, ...]] = []
    for place, rows in places(content).items():
        if place[2] != what:
            continue
        mine, peer = ours_of(content, rows), best_of(peers_of(content, place, rows))
        most = best_of(mine)
        ratio = most[1] / peer[1] if most and peer and peer[1] else None
        lines.append((place[0], place[1], *(mine.get(tree) for tree in trees), *(peer or ("-", None)), ratio))
    least = min((line[-1] for line in lines if line[-1] is not None), default=None)
    table = aligned(("scene", "view", *trees, "best peer", "theirs", "our best / theirs"), lines)
    return table + (f"\nworst: {least:.3f}" if least is not None else "")


def _trees(content: Content) -> str:
    lines = [
        (
            name,
            part["triangles"],
            tree,
            about["layout"],
            about["build_ms"],
            about["sah_cost"],
            about["depth"],
            (about["bytes"] or 0) / part["triangles"],
        )
        for name, part in content["parts"].items()
        for tree, about in part["trees"].items()
    ]
    return aligned(("scene", "triangles", "tree", "layout", "build ms", "SAH cost", "depth", "bytes/tri"), lines)


def differing(content: Content) -> list[str]:
    """Sentences where programs disagree on what is hit: ours to a ray, peers by more than one ray in a thousand."""
    found = []
    for place, rows in places(content).items():
        mine = {row["tree"]: row["hits"] for row in rows if row["by"] == OURS}
        if len(set(mine.values())) > 1:
            found.append(f"{', '.join(place)}: our trees differ in their hits: {mine}.")
        expected = next(iter(mine.values()), 0)
        far = {
            f"{row['by']} {row['tree']}": row["hits"]
            for row in rows
            if row["by"] != OURS and abs(row["hits"] - expected) > 2 + row["count"] // 1000
        }
        if far:
            found.append(f"{', '.join(place)}: hits of others, beside {expected:,} of ours: {far}.")
    return found
