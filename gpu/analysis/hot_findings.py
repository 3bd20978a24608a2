"""What hot spots mean, in words: what a picture pays for, and what may help, as a configuration that can be built and
measured."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ..brief import percent
from ..configuration import Configuration, Part, parse
from ..hierarchy.registry import structures
from .diagnosis import Finding
from .divergence import Divergence
from .hot_spots import HotSpots

LONG, LONG_TESTS, LONG_COUNT = 8.0, 0.15, 0.25
"""Longer than the median edge so many times is long; a finding from this share of tests on, where they are no more
than this share of the triangles."""
OVERLAPPING, OVERLAP_SHARE = 0.5, 0.25
ROOT_SIZED, ROOT_SHARE = 0.9, 0.1
MISSED, MISSED_TESTS = 0.85, 0.2
DOMINATING, FEW_TRIANGLES = 0.5, 0.3
DEEP, DEEP_SHARE = 2.0, 0.05
BY_SAH = ("binned_sah", "hlbvh_sah", "hploc_sah", "median_sah", "sah_events", "sah_lauterbach", "sbvh", "sweep_sah")
CUT = ("cut their references where boxes are split: sbvh", "sbvh", "")
SPLIT = ("split by SAH instead of by place: binned_sah", "binned_sah", "")
MOVE = ("move subtrees to where they grow boxes least: the optimiser reinsertion", "", "reinsertion")
NOTHING = "nothing that is built in: it has what usually helps"
IDLE, LAST = 0.5, 0.5
REFITTED, WORN = "refitted", 1.1
"""The code of the finding that a tree was refitted, and how many times its cost when new is told."""


@dataclasses.dataclass(frozen=True)
class HotFinding(Finding):
    """One thing that a picture pays for. `configuration` is what the remedy is built by, empty where that is none;
    `nodes` (rows of the table) and `primitives` are those it is about. `gain`: how many times less the same rays cost
    with it, counted; None: not measured."""

    configuration: str = ""
    nodes: tuple[int, ...] = ()
    primitives: tuple[int, ...] = ()

    @property
    def is_told(self) -> bool:
        """Whether it matters as far as is known: of refits, where a new tree was counted to be cheaper, or by SAH cost
        until one is counted."""
        if self.code != REFITTED:
            return True
        worn = self.evidence["cost_ratio"] if self.gain is None else self.gain
        return worn is not None and worn >= WORN


def findings_of(
    found: HotSpots,
    corners: np.ndarray | None = None,
    divergence: Divergence | None = None,
    refits: int = 0,
    cost_ratio: float | None = None,
) -> tuple[HotFinding, ...]:
    """Of counted rays, those too that are not told before their gain is counted; `corners` (P, 3, 3) are those of the
    triangles, where they are known, `refits` how many the tree has had since it was built, and `cost_ratio` its SAH
    cost over what that was then, where it is known. The dearest first within each kind."""
    if found.total_cost <= 0.0:
        return ()
    parts = (_refitted(found, refits, cost_ratio), _long_triangles(found, corners), _overlaps(found),
             _root_sized(found), _missed(found), _object(found), _deep(found), _warps(found, divergence))  # fmt: skip
    return tuple(one for part in parts for one in part)


def _refitted(found: HotSpots, refits: int, cost_ratio: float | None) -> list[HotFinding]:
    """First of all, as each other remedy is a new tree, too, and saves what a rebuild does besides its own."""
    if refits < 1 or not found.configuration:
        return []
    said = f"The tree was refitted in {refits:,} frame{'s' * (refits != 1)} since it was built."
    anew, words = str(dataclasses.replace(parse(found.configuration), policy=Part("rebuild"))), "build it now and then"
    evidence = {"refits": refits, "cost_ratio": cost_ratio}
    return [HotFinding(REFITTED, "advice", said, evidence, words, configuration=anew)]


def remedy(configuration: str, builder: str = "", optimiser: str = "", layout: str = "") -> str:
    """A configuration with another builder, optimiser or layout, all else as it is spelt; empty where it has that
    already, or cannot have it."""
    now = dataclasses.replace(parse(configuration), policy=None) if configuration else None
    if now is None and not builder:
        return ""
    first = Part(builder) if now is None or builder not in ("", now.builder.name) else now.builder
    kind = structures().get(first.name)
    if kind is None or (optimiser and optimiser not in kind.optimisers()) or (layout and layout not in kind.layouts()):
        return ""
    improved = None if now is None or builder else now.optimiser
    if optimiser and (improved is None or improved.name != optimiser):
        improved = Part(optimiser)
    then = Configuration(first, improved, Part(layout) if layout else None)
    if now is not None and not layout and now.layout is not None and now.layout.name in kind.layouts():
        then = dataclasses.replace(then, layout=now.layout, traversal=now.traversal)
    return "" if then == now else str(then)


def helps(configuration: str, *choices: tuple[str, str, str]) -> tuple[str, str]:
    """The first of remedies (in words, by a builder, by an optimiser) that this configuration has not, in words and as
    a configuration."""
    builder = parse(configuration).builder.name if configuration else ""
    for words, other, optimiser in choices:
        changed = remedy(configuration, other, optimiser)
        has_it = other == builder or (other == "binned_sah" and builder in BY_SAH)
        if changed and not has_it:
            return words, changed
    return NOTHING, ""


def _long_triangles(found: HotSpots, corners: np.ndarray | None) -> list[HotFinding]:
    tests = found.counts.primitive_tests
    if corners is None or not tests.sum() or len(corners) < 32:
        return []
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    edges = np.where(np.isfinite(edges), edges, 0.0)
    is_long = edges > LONG * max(float(np.median(edges)), 1e-30)
    counted = tests[: len(edges)]
    share, count = float(counted[is_long].sum() / tests.sum()), int(is_long.sum())
    if share < LONG_TESTS or not 0 < count <= LONG_COUNT * len(edges):
        return []
    cause = "long triangles" if count > 1 else "long triangle"
    said = f"{count:,} {cause} of {len(edges):,} {'cause' if count > 1 else 'causes'} {percent(share)} of the tests."
    worst = np.flatnonzero(is_long)[np.argsort(-counted[is_long], kind="stable")]
    evidence = {
        "triangles": count,
        "share_of_tests": share,
        "hits": int(found.counts.primitive_hits[: len(edges)][is_long].sum()),
    }
    words, better = helps(found.configuration, CUT)
    return [HotFinding("long_triangles", "warning", said, evidence, words, configuration=better,
                       primitives=_some(worst))]  # fmt: skip


def _some(numbers: np.ndarray) -> tuple[int, ...]:
    """As many as are shown."""
    return tuple(numbers[:1000].tolist())


def _areas(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    x, y, z = np.maximum(upper.astype(np.float64) - lower, 0.0).T
    return np.asarray(2.0 * (x * y + y * z + z * x))


def _overlaps(found: HotSpots) -> list[HotFinding]:
    """Binary siblings whose boxes share much of their parent."""
    table = found.table
    child = np.flatnonzero(table.parent >= 0)
    if found.counts.width == 0 or len(child) < 2:
        return []
    child = child[np.argsort(table.parent[child], kind="stable")]
    left, right = child[::2], child[1::2]
    if len(left) != len(right) or (table.parent[left] != table.parent[right]).any():
        return []
    above = table.parent[left]
    lower, upper = np.maximum(table.lower[left], table.lower[right]), np.minimum(table.upper[left], table.upper[right])
    shared = np.where((upper > lower).all(axis=1), _areas(lower, upper), 0.0)
    part = shared / np.maximum(_areas(table.lower[above], table.upper[above]), 1e-300)
    # Where a wide node holds both, the visits are those of the node that has their parent's children.
    visits = np.maximum(found.visits[left], found.visits[right])
    bad = above[(part > OVERLAPPING) & (visits > 0)]
    share = float(found.share[np.isin(np.arange(len(table)), bad)].sum())
    if share < OVERLAP_SHARE:
        return []
    worst = bad[np.argsort(-found.share[bad], kind="stable")]
    said = (f"{percent(share)} of the cost is spent at {len(bad):,} nodes whose two children share more than "
            f"{percent(OVERLAPPING)} of their surface: rays have to go into both.")  # fmt: skip
    words, better = helps(found.configuration, MOVE, CUT)
    return [HotFinding("overlapping_siblings", "warning", said, {"nodes": len(bad), "share": share}, words,
                       configuration=better, nodes=_some(worst))]  # fmt: skip


def _root_sized(found: HotSpots) -> list[HotFinding]:
    table = found.table
    if found.counts.width == 0 or len(table) < 8:
        return []
    area = _areas(table.lower, table.upper)
    rows = np.flatnonzero((area > ROOT_SIZED * area[0]) & (table.depth > 1) & (found.visits > 0))
    share = float(found.share[rows].sum())
    if share < ROOT_SHARE:
        return []
    part = percent(share)
    said = f"{len(rows):,} nodes below the root's children are as large as the root, and take {part} of the cost."
    words, better = helps(found.configuration, SPLIT, CUT, MOVE)
    return [HotFinding("root_sized", "warning", said, {"nodes": len(rows), "share": share}, words,
                       configuration=better, nodes=_some(rows))]  # fmt: skip


def _missed(found: HotSpots) -> list[HotFinding]:
    leaves = np.flatnonzero(found.table.is_leaf & (found.visits > 0))
    visits = found.visits[leaves]
    if not len(leaves):
        return []
    missed = float((found.missed[leaves] * visits).sum() / visits.sum())
    share = float(found.share[leaves].sum())
    if missed < MISSED or share < MISSED_TESTS:
        return []
    order = leaves[np.argsort(-(found.missed * found.tests)[leaves], kind="stable")]
    part = percent(share)
    said = f"{percent(missed)} of the rays that enter a leaf leave it empty-handed; their tests are {part} of the cost."
    words, better = helps(found.configuration, ("make boxes tighter: reinsertion", "", "reinsertion"), CUT)
    return [HotFinding("empty_handed", "advice", said, {"missed": missed, "share": share, "visits": int(visits.sum())},
                       words, configuration=better, nodes=_some(order))]  # fmt: skip


def _object(found: HotSpots) -> list[HotFinding]:
    if found.owners is None or len(found.owners.object_names) < 2:
        return []
    first, whole = found.top(1, "object")[0], len(found.owners.objects)
    of_all = first.size / max(whole, 1)
    if first.share < DOMINATING or of_all > FEW_TRIANGLES:
        return []
    said = f"The object {first.name} has {percent(of_all)} of the triangles and {percent(first.share)} of the cost."
    those = _some(np.flatnonzero(found.owners.objects == first.number))
    figures = {"object": first.number, "share": first.share, "of_all": of_all}
    own = ("give it a tree of its own, which stays good while others move: two_level", "two_level", "")
    words, better = helps(found.configuration, own)
    return [HotFinding("dominating_object", "advice", said, figures, words, configuration=better,
                       primitives=those)]  # fmt: skip


def _deep(found: HotSpots) -> list[HotFinding]:
    table = found.table
    leaves = int(table.is_leaf.sum())
    usual = DEEP * math.log2(max(leaves, 2))
    rows = np.flatnonzero((table.depth > usual) & (found.visits > 0))
    share = float(found.share[rows].sum())
    if share < DEEP_SHARE:
        return []
    depth = int(table.depth[rows].max())
    said = (f"{percent(share)} of the cost is spent deeper than {usual:.0f}, twice what {leaves:,} leaves need; "
            f"the deepest node that a ray entered is {depth} below the root.")  # fmt: skip
    order = rows[np.argsort(-found.share[rows], kind="stable")]
    by_sah = ("choose a builder that splits by SAH: binned_sah", "binned_sah", "")
    words, better = helps(found.configuration, by_sah, MOVE)
    return [HotFinding("deep_path", "warning", said, {"depth": depth, "share": share, "leaves": leaves}, words,
                       nodes=_some(order), configuration=better)]  # fmt: skip


def _warps(found: HotSpots, divergence: Divergence | None) -> list[HotFinding]:
    if divergence is None or divergence.longest == 0:
        return []
    parts = []
    if divergence.idle >= IDLE:
        said = (f"{percent(divergence.idle)} of the lanes of warps are idle: {percent(divergence.idle_at_nodes)} "
                f"while others are at nodes, {percent(divergence.idle_at_primitives)} while others test "
                "primitives.")  # fmt: skip
        figures = {name: getattr(divergence, name) for name in ("idle", "idle_at_nodes", "idle_at_primitives", "mean")}
        has_it = parse(found.configuration).layout == Part("bvh2") if found.configuration else False
        what = NOTHING if has_it else "on a GPU, take a node or a primitive a step: the layout bvh2"
        parts.append(HotFinding("idle_lanes", "advice", said, figures, what))
    last = divergence.last()
    if last > LAST * divergence.longest:
        said = (f"When 99 % of the warps have ended, the longest goes on for {last:,} of its {divergence.longest:,} "
                "steps: on a GPU the picture waits for it.")  # fmt: skip
        figures = {"last": last, "longest": divergence.longest, "mean": divergence.mean}
        cuts = ("a builder that cuts references, sbvh, makes the ways along rims shorter", "sbvh", "")
        what, better = helps(found.configuration, cuts)
        parts.append(HotFinding("long_warps", "advice", said, figures, what, configuration=better))
    return parts
