"""Builds and refits that the bench of record measured, as tables and goals: each bar is of one scene, or of the worst
of those that peers were measured on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from .goal import Goal
from .ray_goals import KD_TREES, Figure
from .ray_tables import PEERS_FILE, is_host
from .saved import Content
from .suites.published import published
from .table import aligned

QUANTITIES = (("build_ms", "build, ms"), ("refit_ms", "refit, ms"), ("sah_cost", "SAH cost"), ("depth", "depth"))


@dataclasses.dataclass(frozen=True)
class BuildBar:
    """A bar and how its figure is read from a file of `bench builds`."""

    kinds: tuple[str, ...]
    what: str
    bar: float
    unit: str
    read: Callable[[Content], Figure]
    at_most: bool = True

    def goal(self, content: Content) -> Goal:
        """The bar with its figure."""
        figure, note = self.read(content)
        return Goal(self.what, self.bar, figure, self.unit, at_most=self.at_most, note=note)


def _of(content: Content, scene: str, tree: str) -> dict[str, Any] | None:
    """The row of a tree on a scene of its whole size."""
    part = content["parts"].get(scene)
    if part is None or not part["is_whole"]:
        return None
    return next((row for row in part["rows"] if row["tree"] == tree), None)


def _figure(scene: str, tree: str, field: str) -> Callable[[Content], Figure]:
    def read(content: Content) -> Figure:
        row = _of(content, scene, tree)
        return (row[field], row["layout"]) if row else (None, f"{tree} on {scene} was not measured")

    return read


def _over_peer(tree: str, peer: str) -> Callable[[Content], Figure]:
    """The faster of the peers whose names begin so, over ours: the worst scene of those they were measured on."""
    held = published(PEERS_FILE)

    def read(content: Content) -> Figure:
        found = []
        for scene in content["parts"]:
            row = _of(content, scene, tree)
            theirs = min(
                (ms[scene] for name, ms in held["build_ms"].items() if name.startswith(peer) and scene in ms),
                default=None,
            )
            if row and theirs and scene not in held["not_alike"]:
                found.append((theirs / row["build_ms"], f"{scene}: {theirs:.3f} over {row['build_ms']:.3f} ms"))
        return min(found) if found else (None, f"{tree} on a scene where {peer} was measured")

    return read


def _wide_over_narrow(content: Content) -> Figure:
    found = []
    for scene in content["parts"]:
        wide, narrow = _of(content, scene, "hploc+cwbvh"), _of(content, scene, "hploc")
        if wide and narrow:
            found.append((wide["build_ms"] / narrow["build_ms"], scene))
    return max(found) if found else (None, "hploc and hploc+cwbvh in one run")


def _kd_bytes(tree: str) -> Callable[[Content], Figure]:
    """All that the tree and its build hold, for a triangle."""

    def read(content: Content) -> Figure:
        found = []
        for scene, part in content["parts"].items():
            row = _of(content, scene, tree)
            if row:
                whole = (row["bytes"] or 0) + (row["scratch_bytes"] or 0)
                tree_bytes = (row["bytes"] or 0) / part["triangles"]
                found.append((whole / part["triangles"], f"{scene}, {tree_bytes:.0f} of it the tree"))
        return max(found) if found else (None, f"{tree} was not measured")

    return read


BOTH = ("cuda", "host")
BARS = (
    BuildBar(("cuda",), "lbvh rebuild, blob of 512,000 triangles", 0.13, "ms", _figure("blob", "lbvh", "build_ms")),
    BuildBar(("cuda",), "lbvh rebuild, blob of 12.8M triangles", 1.5, "ms", _figure("blob-12.8M", "lbvh", "build_ms")),
    BuildBar(
        ("cuda",),
        "NexusBVH's rebuild over hploc's, the worst scene",
        1.5,
        "times",
        _over_peer("hploc", "NexusBVH"),
        at_most=False,
    ),
    BuildBar(("cuda",), "lbvh refit, blob of 512,000 triangles", 0.040, "ms", _figure("blob", "lbvh", "refit_ms")),
    BuildBar(("cuda",), "lbvh refit, blob of 12.8M triangles", 0.55, "ms", _figure("blob-12.8M", "lbvh", "refit_ms")),
    BuildBar(
        ("cuda",),
        "lbvh refit with rotations, blob of 512,000 triangles",
        0.25,
        "ms",
        _figure("blob", "lbvh+rotations", "refit_ms"),
    ),
    BuildBar(("cuda",), "sbvh rebuild, Crytek Sponza", 5.0, "ms", _figure("crytek-sponza", "sbvh", "build_ms")),
    BuildBar(("cuda",), "sbvh rebuild, country-kitchen", 20.0, "ms", _figure("country-kitchen", "sbvh", "build_ms")),
    BuildBar(
        ("cuda",), "hploc's rebuild as a wide tree over that as bvh2, the worst scene", 1.15, "times", _wide_over_narrow
    ),
    *(
        BuildBar(
            BOTH,
            f"memory of {tree} with its own options, all in all, the worst scene",
            400.0,
            "bytes/triangle",
            _kd_bytes(tree),
        )
        for tree in KD_TREES
    ),
)


def build_goals(content: Content) -> list[Goal]:
    """Every bar of the kind of target that was measured."""
    kind = "host" if is_host(content) else "cuda"
    return [bar.goal(content) for bar in BARS if kind in bar.kinds]


def builds_page(content: Content) -> str:
    """A table a quantity, peers' figures under it, then what was not measured."""
    trees = list(dict.fromkeys(row["tree"] for part in content["parts"].values() for row in part["rows"]))
    parts = [f"{words}\n{_table(content, trees, lambda row, field=field: row[field])}" for field, words in QUANTITIES]
    parts += [
        f"{words}, bytes a triangle\n"
        + _table(content, trees, lambda row, field=field: row[field] or 0, lambda part: part["triangles"])
        for field, words in (("bytes", "tree"), ("scratch_bytes", "scratch memory"))
    ]
    parts += [_peers(content)]
    notes = [f"{name}: {note}" for name, part in content["parts"].items() for note in part["not_measured"]]
    return "\n\n".join([*(part for part in parts if part), "\n".join(notes)]).rstrip()


def _table(
    content: Content,
    trees: list[str],
    read: Callable[..., Any],
    each: Callable[[Content], int] = lambda part: 1,
) -> str:
    lines = []
    for name, part in content["parts"].items():
        rows = {row["tree"]: row for row in part["rows"]}
        cells = [read(rows[tree]) if tree in rows else None for tree in trees]
        lines.append((name, part["triangles"], *(None if one is None else one / each(part) for one in cells)))
    return aligned(("scene", "triangles", *trees), lines)


def _peers(content: Content) -> str:
    """What peers took on one H200, where a GPU was measured."""
    if is_host(content):
        return ""
    held = published(PEERS_FILE)
    lines = [(name, *(figures.get(scene) for scene in content["parts"])) for name, figures in held["build_ms"].items()]
    return f"builds by others on one {held['device']}, {held['date']}, ms\n" + aligned(
        ("program", *content["parts"]), lines
    )
