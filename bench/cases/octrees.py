"""What octrees, grids and their queries cost by the million, against what was promised.

Octrees over points drawn evenly in a cube and over points on surfaces (a model in a Cornell room), without chains;
queries of cells by their codes, as a share of what a plain copy of the same bytes takes; places found, neighbours, 8
nearest; grids over triangles; primary rays through grids and octrees beside lbvh's on the built-in blob and the models
given; a bounce of light between points beside the sum over all pairs, and where they hide one another. 8 nearest on
the host stand beside scipy's
cKDTree with two workers, where scipy is installed. A row is one figure; a bar is judged by the worst row of its name.
Milliseconds of the target's own clock, medians; those of light as the caller waits.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from raygrove.app.scene_io import load
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.octree import cell_queries
from raygrove.gpu.hierarchy.octree.node_queries import NodeQueries
from raygrove.gpu.hierarchy.octree.point_tree import NODES, PointTreeOptions, build_point_tree
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.hierarchy.registry import make_structure, structures
from raygrove.gpu.query.query import Queries
from raygrove.gpu.query.questions import Places
from raygrove.gpu.radiosity.hierarchical import HierarchicalOptions
from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import Array, Target

from ..arguments import DEVICE, OUT, UsageError, argument, chosen, repeat
from ..context import context, heading
from ..measure import Task, median, profiled, timed
from ..model_goals import MODELS, known_models
from ..replay import build_as_graph
from ..saved import keep
from ..suites.octree_builds import build
from ..suites.octree_clouds import BUNNY, Cloud, in_a_room
from ..suites.octree_queries import in_z_order
from ..suites.octree_sums import ALL_PAIRS, light_rows, sight_row
from ..suites.scenes import SceneAbsentError, SceneSource
from ..table import aligned
from ..trace import run_trace

BUILD_POINTS = {"cuda": 10_000_000, "host": 125_000}
QUERIES = {"cuda": 10_000_000, "host": 100_000}
LIGHT_POINTS = {"cuda": (100_000, 150_000, 1_000_000), "host": (8_192, 32_768)}
GRID_TRIANGLES = {"cuda": 512_000, "host": 100_000}
SEARCHED, LEAF_POINTS, NEIGHBOURS = "lbvh", 8, 8
WARMUP = 3
WAYS = {
    "direct form": PointTreeOptions(),
    "the paper's form, 63 bits": PointTreeOptions(method="paper"),
    "the paper's form, 30 bits": PointTreeOptions(method="paper", bits="10"),
    "top down in parallel": PointTreeOptions(method="top_down", work="parallel"),
}

Row = dict[str, Any]
Say = Callable[[Row], None]


def millions(count: int) -> str:
    """10M, 125K."""
    return f"{count // 1_000_000}M" if count >= 1_000_000 else f"{count // 1_000}K"


def ms_of(target: Target, body: Callable[[], object], runs: int) -> float:
    """The median of a body that launches only, as frames of its own; below a millisecond ten of them in a frame."""

    def frame(times: int) -> Callable[[], None]:
        def work() -> None:
            with target.phase("work"):
                for _ in range(times):
                    body()

        return work

    once = median(timed(target, frame(1), max(1, runs // 3), WARMUP).spans_ms)
    return once if once >= 1.0 else median(timed(target, frame(10), runs, 1).spans_ms) / 10.0


def kernel_ms(target: Target, kernel: str, body: Callable[[], object], runs: int) -> float:
    """The median of a kernel that a body launches once, by itself: a slow host takes longer to launch one that makes
    arrays for its answers than a GPU to run it."""

    def work() -> None:
        body()

    return profiled(target, work, runs, WARMUP).medians()[f"launch.{kernel}"]


def copy_ms(target: Target, size: int, runs: int) -> float:
    """Of a plain copy that reads and writes `size` bytes in all."""
    source = target.zeros(max(1, size // 2), np.uint8, "bench")
    out = target.zeros(len(source), np.uint8, "bench")
    times = []
    for _ in range(WARMUP + runs):
        target.synchronize()
        began = time.perf_counter()
        for _ in range(10):
            out[...] = source
        if target.kind == "cuda":
            out.device.synchronize()
        times.append((time.perf_counter() - began) * 1e2)
    return median(times[WARMUP:])


# -- what is measured -------------------------------------------------------------------------------------------------
def builds(target: Target, clouds: dict[str, np.ndarray], runs: int, say: Say) -> None:
    """Every way to build without chains, captured as a graph."""
    for name, points in clouds.items():
        for way, options in WAYS.items():
            row = build(target, points, options, runs)
            what = f"octree of {millions(len(points))} points, {way}"
            kept = {key: row[key] for key in ("phases_ms", "nodes", "tree_bytes", "scratch_bytes")}
            say({"what": what, "on": name, "figure": row["ms"], "unit": "ms", **kept})


def cells(target: Target, name: str, points: np.ndarray, runs: int, say: Say) -> None:
    """Queries of cells by their codes, of nodes, and of places."""
    tree = build_point_tree(target, target.upload(points, "points"), leaf_points=LEAF_POINTS)
    asked, nodes, count = NodeQueries(target, tree), int(target.download(tree.counts)[NODES]), QUERIES[target.kind]
    random = np.random.default_rng(7)
    chosen_nodes = [target.upload(random.integers(0, nodes, count).astype(np.int32), "queries") for _ in range(2)]
    octant = target.upload(random.integers(0, 8, count).astype(np.int32), "queries")
    first, second = (asked.cells(one) for one in chosen_nodes)
    inner = asked.cells_of_places(target.upload(points[:count], "queries"))
    cell, flag = 12, 4
    ask = cell_queries
    by_codes: dict[str, tuple[str, Callable[[], object], int]] = {
        "parent": ("find_parents", lambda: ask.parents(target, first), 2 * cell),
        "child": ("find_children", lambda: ask.children(target, first, octant), 2 * cell + flag),
        "containment": ("test_containment", lambda: ask.contains(target, first, second), 2 * cell + flag),
        "common ancestor": ("find_common_ancestors", lambda: ask.common_ancestors(target, first, second), 3 * cell),
        "child that holds a cell": (
            "find_children_holding", lambda: ask.children_holding(target, first, inner), 3 * cell,
        ),
    }  # fmt: skip
    for kind, (kernel, body, size) in by_codes.items():
        ms, copied = kernel_ms(target, kernel, body, runs), copy_ms(target, size * count, runs)
        note = {"kind": kind, "ms": ms, "copy_ms": copied, "queries": count}
        say(
            {
                "what": "queries of cells by their codes, of copy bandwidth",
                "on": f"{name}, {kind}",
                "figure": copied / ms if ms else None,
                "unit": "share",
                **note,
            }
        )
    orders = {"sorted": in_z_order(points[:count]), "random": random.permutation(points[:count])}
    for order, rows in orders.items():
        at = target.upload(rows, "queries")
        ms = ms_of(target, functools.partial(asked.nodes_of_places, at), runs)
        say(_rate(f"places found in an octree, {order}", name, len(rows), ms))
    ms = ms_of(target, lambda: asked.neighbours(chosen_nodes[0]), runs)
    say(_rate("neighbours of octree cells by faces", f"{name}, of nodes", 6 * count, ms))
    ms = ms_of(target, lambda: cell_queries.neighbours(target, first, "face"), runs)
    say(_rate("neighbours of cells by their codes", name, 6 * count, ms))


def _rate(what: str, on: str, count: int, ms: float) -> Row:
    figure = count / ms / 1e6 if ms else None
    return {"what": what, "on": on, "figure": figure, "unit": "G/s", "ms": ms, "queries": count}


def nearest(target: Target, name: str, points: np.ndarray, runs: int, say: Say) -> None:
    """8 nearest of all points by all points, by the faster of the structures that answer; on the host beside scipy."""
    count = min(QUERIES[target.kind], len(points))
    points = points[:count]
    orders = {"in code order": in_z_order(points), "random": np.random.default_rng(11).permutation(points)}
    centres = target.upload(points, "points")
    primitives = sphere_primitives(centres, target.zeros(count, np.float32, "points"))
    for order, rows in orders.items():
        at, found = Places(target.upload(rows, "queries")), {}
        for builder in (SEARCHED, "octree_bottom_up"):
            with contextlib.closing(make_structure(target, builder)) as structure:
                structure.build(primitives)
                body = functools.partial(Queries(structure, "centres").k_nearest, at, NEIGHBOURS)
                found[builder] = ms_of(target, body, max(1, runs // 3))
        best = min(found, key=lambda builder: found[builder])
        what = f"8 nearest of {millions(count)} points for each, {order}"
        say({"what": what, "on": f"{name}, {best}", "figure": found[best], "unit": "ms", "ms": found})
        if target.kind == "host":
            _beside_scipy(name, order, points, rows, found[best], say)


def _beside_scipy(name: str, order: str, points: np.ndarray, rows: np.ndarray, ms: float, say: Say) -> None:
    try:
        from scipy.spatial import cKDTree
    except ImportError:
        print("scipy is not installed: 8 nearest are not compared with its cKDTree.", file=sys.stderr)
        return
    times = []
    tree = cKDTree(points)
    for _ in range(3):
        began = time.perf_counter()
        tree.query(rows, NEIGHBOURS, workers=2)
        times.append((time.perf_counter() - began) * 1e3)
    what, peer = f"8 nearest of {millions(len(points))} points, of cKDTree's by two workers", median(times)
    say({"what": what, "on": f"{name}, {order}", "figure": peer / ms, "unit": "times", "ms": ms, "peer_ms": peer})


def grids(target: Target, scenes: Sequence[Scene], runs: int, say: Say) -> None:
    """What grids take to build, as frames replay it, and primary rays through grids and octrees over lbvh's."""
    blob = make_demo("blob", GRID_TRIANGLES[target.kind])
    for builder in ("grid", "grid_two_level"):
        built = build_as_graph(target, blob, ViewSettings(builder), runs)
        what, on = f"rebuild of {builder}", f"blob of {blob.triangle_count:,} triangles"
        say({"what": what, "on": on, "figure": built.spent_ms, "unit": "ms", "phases_ms": built.phases_ms})
    octrees = [name for name, kind in structures().items() if kind.family == "octree"]
    cameras = {model.triangles: model.camera for model in MODELS}
    for scene in (blob, *scenes):
        rates = {}
        for name in ("lbvh", "grid", "grid_two_level", *octrees):
            task = Task(scene, ViewSettings(name), repeat=runs, camera=cameras.get(scene.triangle_count))
            rates[name] = run_trace(target, task, kinds=("primary",))[0].mrays_per_s or 0.0
        octree = max(octrees, key=lambda name: rates[name])
        named = {"grid": "grid", "grid_two_level": "grid_two_level", "the best octree": octree}
        for words, name in named.items():
            what, share = f"primary rays of {words}, of lbvh's", rates[name] / rates["lbvh"] if rates["lbvh"] else None
            say({"what": what, "on": f"{scene.name}, {name}", "figure": share, "unit": "times", "mrays_per_s": rates})


def light(target: Target, runs: int, say: Say) -> None:
    """A bounce between points of a Cornell room with a model in it, nothing in the way."""
    found = {}
    for count in LIGHT_POINTS[target.kind]:
        cloud = room(target, count)
        rows = {row["by"]: row for row in light_rows(target, cloud, count, max(1, runs // 3))}
        told = {"on": cloud.ours, "points": count}
        pairs = rows.pop(ALL_PAIRS, None)
        (tree,) = rows.values()
        found[count] = tree["ms"]
        told |= {"placing_ms": tree["placing_ms"], "error": tree["error"]}
        what = f"a bounce of radiosity, {millions(count)} points, nothing in the way"
        say({"what": what, **told, "figure": tree["ms"], "unit": "ms"})
        if pairs is not None:
            times = pairs["ms"] / tree["ms"] if tree["ms"] else None
            what = f"the same over the sum of all pairs, {millions(count)} points"
            say({"what": what, **told, "figure": times, "unit": "times", "all_pairs_ms": pairs["ms"]})
    least, most = min(found), max(found)
    ratio = found[most] / most / (found[least] / least) if found[least] else None
    what = f"radiosity's time a point, {millions(most)} over {millions(least)} points"
    say({"what": what, "on": "the same rooms", "figure": ratio, "unit": "times"})


def light_in_sight(target: Target, runs: int, say: Say) -> None:
    """The same where walls and model hide points from each other; one model size."""
    count = LIGHT_POINTS[target.kind][-2]
    cloud = room(target, count)
    row = sight_row(target, cloud, count, max(1, runs // 3))
    what, told = f"a bounce of radiosity, {millions(count)} points", {"on": cloud.ours, "points": count}
    say({"what": f"{what}, what is seen known", **told, "figure": row["ms"], "unit": "ms"})
    say({"what": f"{what}, what is seen found", **told, "figure": row["cold_ms"], "unit": "ms"})
    error = {"figure": row["error"], "unit": "share", "asked": row["asked"]}
    say({"what": f"error of {what}, over rays to all others", **told, **error})


def light_options(target: Target, runs: int, say: Say) -> None:
    """The same by orders, angles and points of a leaf; one model size."""
    count = LIGHT_POINTS[target.kind][-2]
    cloud = room(target, count)
    for order, angle, leaf in LIGHT_OPTIONS:
        options = HierarchicalOptions(order, angle, leaf)
        rows = {row["by"]: row for row in light_rows(target, cloud, count, max(1, runs // 3), options)}
        rows.pop(ALL_PAIRS, None)
        (tree,) = rows.values()
        on = f"order {order}, angle {angle}, {leaf} points of a leaf"
        told = {"placing_ms": tree["placing_ms"], "error": tree["error"]}
        say(
            {
                "what": f"a bounce of {millions(count)} points by options",
                "on": on,
                "figure": tree["ms"],
                "unit": "ms",
                **told,
            }
        )


def room(target: Target, count: int) -> Cloud:
    """A Cornell room with the built-in blob in it."""

    def built_in(source: SceneSource) -> Scene:
        if source.file:
            raise SceneAbsentError(source.file)
        return make_demo(source.demo, source.triangles)

    return in_a_room(target, built_in, (BUNNY,), count)


# -- the case ---------------------------------------------------------------------------------------------------------
PARTS = ("builds", "cells", "nearest", "grids", "light", "sight")
LIGHT_OPTIONS = tuple(
    (order, angle, leaf)
    for order, angles in ((2, (0.33, 0.4)), (3, (0.5, 0.7)))
    for leaf in (8, 16, 32)
    for angle in angles
)
ASIDE = ("options",)
"""Parts that have no bars: measured where they are asked for."""
ARGUMENTS = (
    argument("files", nargs="*", metavar="FILE", help="models through which rays are cast"),
    DEVICE,
    repeat(9),
    argument(
        "--parts",
        default=",".join(PARTS),
        help="what is measured, separated by commas; options, of light, is measured where it is asked for "
        "(default: %(default)s)",
    ),
    OUT,
)


def table(rows: Sequence[Row]) -> str:
    """A line each."""
    lines = [(row["what"], row["on"], row["figure"], row["unit"]) for row in rows]
    return aligned(("what", "on", "measured", "unit"), lines)


def measure(target: Target, parts: Sequence[str], scenes: Sequence[Scene], runs: int, say: Say) -> None:
    """The parts asked for, in order."""
    count = BUILD_POINTS[target.kind]
    clouds: dict[str, np.ndarray] = {}
    if {"builds", "cells", "nearest"} & set(parts):
        surface: Array = room(target, count).positions
        clouds = {"cube": np.random.default_rng(2008).random((count, 3), np.float32), "surfaces": surface}
    if "builds" in parts:
        builds(target, clouds, runs, say)
    for name, points in clouds.items():
        if "cells" in parts:
            cells(target, name, points, runs, say)
        if "nearest" in parts:
            nearest(target, name, points, runs, say)
    if "grids" in parts:
        grids(target, scenes, runs, say)
    if "light" in parts:
        light(target, runs, say)
    if "sight" in parts:
        light_in_sight(target, runs, say)
    if "options" in parts:
        light_options(target, runs, say)


def run(names: argparse.Namespace) -> int:
    """Measure, print as it comes, and keep where asked for."""
    parts = [part for part in names.parts.split(",") if part]
    if unknown := sorted(set(parts) - {*PARTS, *ASIDE}):
        raise UsageError(f"--parts knows {', '.join((*PARTS, *ASIDE))}, not {', '.join(unknown)}.")
    try:
        scenes = known_models([load([file]) for file in names.files])
    except ValueError as error:
        raise UsageError(str(error)) from error
    rows: list[Row] = []
    with chosen(names.device) as target:
        about = context(target, command=names.command)

        def page() -> str:
            return "\n".join([*heading(about), "", table(rows)])

        def say(row: Row) -> None:
            rows.append(row)
            figure = "-" if row["figure"] is None else f"{row['figure']:.4g}"
            print(f"{row['what']}; {row['on']}: {figure} {row['unit']}", flush=True)
            keep(names.out, {"context": about, "results": rows}, page())

        measure(target, parts, scenes, names.repeat, say)
    print(page())
    return 0
