"""Many worlds in one tree, moved and traced every step; what the library costs a call, and its first call.

A world is a body of triangles in a place of its own group; all worlds lie in one place, so that only the group keeps
their rays apart. `groups` has a tree for each group (two_level/bvh2), `filter` one tree over all worlds and a test at
each primitive; that one is measured with fewer worlds. Steps are those of a simulator: new transforms on the device,
`update()`, `trace()` of every world's rays into the same hits; milliseconds are wall times of many steps with one wait
at the end, medians.

`warp` is the same by Warp's grouped BVH, where `warp-lang` is installed, with as many worlds as `groups`; else a
sentence. Its tree is refitted, as ours is, and its hits are counted beside ours.

`face` compares calls of the library with the engine's own launches: microseconds of the host a call with hardly any
rays, and the time of --rays buffered rays in a caller's arrays over that of the tracer's own buffers.

`first` is the library's first call with a warm cache: seconds from the start of a program that imports it, builds a
tree over arrays and traces, to its hits.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from raygrove.gpu.face import sensors
from raygrove.gpu.face.building import build
from raygrove.gpu.face.rays import RaySet
from raygrove.gpu.face.scenes import Scene
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer, upload_rays

from ..arguments import DEVICE, OUT, UsageError, argument, at_least_one, chosen, repeat
from ..context import context
from ..first_call import first_call_row
from ..peers.warp_worlds import PeerAbsentError, WarpWorlds
from ..saved import keep

MOST_FILTERED = 64
"""Worlds that a ray goes through in the tree over all of them."""

STAND, T_MAX = (-4.0, 0.0, 0.0), 50.0
"""Where each world's sensor is, and how far its rays go."""

PARTS = ("worlds", "face", "first")

ARGUMENTS = (
    DEVICE,
    repeat(20),
    argument("--parts", default=",".join(PARTS), help="what is measured, by commas (default: %(default)s)"),
    argument("--worlds", type=at_least_one, default=4096, metavar="N", help="how many (default: %(default)s)"),
    argument("--triangles", type=at_least_one, default=2000, metavar="N", help="of each (default: %(default)s)"),
    argument("--rays-a-world", type=at_least_one, default=1024, metavar="N", help="default: %(default)s"),
    argument("--rays", type=at_least_one, default=1 << 20, metavar="N", help="of the face's tests (default: 2^20)"),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print as it comes, and keep where asked for."""
    parts = [part for part in names.parts.split(",") if part]
    if unknown := sorted(set(parts) - set(PARTS)):
        raise UsageError(f"--parts knows {', '.join(PARTS)}, not {', '.join(unknown)}.")
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    rows: list[dict[str, Any]] = []
    with chosen(names.device) as target:
        about = context(target, command=names.command)
        say(target.device_name)
        if "worlds" in parts:
            rows += all_worlds(target, names, say)
        if "face" in parts:
            rows.append(face_row(target, names, say))
        if "first" in parts:
            rows.append(first_call_row(target, names.repeat, say))
    keep(names.out, {"context": about, "results": rows}, "\n".join(lines))
    return 0


def all_worlds(target: Target, names: argparse.Namespace, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """All of them by a tree for each group and by Warp, and a few by both of our ways."""
    rows = [worlds_row(target, names, "groups", "two_level/bvh2@refit", names.worlds, say)]
    rows.append(warp_row(target, names, names.worlds, say))
    few = min(names.worlds, MOST_FILTERED)
    rows += [
        worlds_row(target, names, mode, spelt, few, say)
        for mode, spelt in (("groups", "two_level/bvh2@refit"), ("filter", "two_level/bvh4@refit"))
    ]
    return rows


def body_of(triangles: int) -> tuple[np.ndarray, np.ndarray]:
    """A ball of about so many triangles, radius 1."""
    columns = max(3, round((triangles / 2) ** 0.5) * 2)
    rows = max(2, triangles // (2 * columns) + 1)
    up, around = np.meshgrid(np.linspace(0, np.pi, rows + 1), np.linspace(0, 2 * np.pi, columns + 1), indexing="ij")
    vertices = np.stack([np.sin(up) * np.cos(around), np.cos(up), np.sin(up) * np.sin(around)], axis=-1)
    corner = (np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)).reshape(-1)
    first = np.stack([corner, corner + columns + 1, corner + 1], axis=1)
    second = np.stack([corner + 1, corner + columns + 1, corner + columns + 2], axis=1)
    return vertices.reshape(-1, 3).astype(np.float32), np.concatenate([first, second]).astype(np.int32)[:triangles]


def worlds_row(
    target: Target, names: argparse.Namespace, mode: str, spelt: str, worlds: int, say: Callable[[str], None]
) -> dict[str, Any]:
    """Steps of so many worlds by one configuration."""
    vertices, triangles = body_of(names.triangles)
    group = np.arange(worlds, dtype=np.int32)
    moved = [target.upload(poses, "bench") for poses in steps_of(worlds)]
    lidar = lidar_of(names)
    places = np.zeros((worlds, 3, 4), np.float32)
    places[:, :, :3], places[:, :, 3] = np.eye(3), STAND
    stands, groups = target.upload(places, "bench"), target.upload(group, "bench")
    scene = Scene(target=target)
    robots = scene.add_mesh(vertices, triangles, transforms=moved[0], groups=group)
    with build(scene, spelt) as tree:
        hits = tree.empty_hits(worlds * lidar.count, ("t", "prim_id"))
        seen = lidar.rays(stands, groups=groups)

        def step(number: int) -> None:
            robots.transforms = moved[number % len(moved)]
            tree.update()
            tree.trace(seen, out=hits)

        def update(number: int) -> None:
            robots.transforms = moved[number % len(moved)]
            tree.update()

        step(0)
        times = {
            "step_ms": per_call(target, step, names.repeat),
            "update_ms": per_call(target, update, names.repeat),
            "trace_ms": per_call(target, lambda number: tree.trace(seen, out=hits), names.repeat),
        }
        step(0)
        hit = int((target.download(hits.prim_id) >= 0).sum())
    row = {"case": mode, "configuration": spelt, "worlds": worlds, "triangles": len(triangles), "rays": len(seen)}
    say(
        f"{mode:8} {spelt:24} {worlds:6,} worlds x {len(triangles):,} triangles, {len(seen):,} rays, {hit:,} hits: "
        + ", ".join(f"{name.removesuffix('_ms')} {value:.3f} ms" for name, value in times.items())
    )
    return {**row, "hits": hit, **times}


def warp_row(target: Target, names: argparse.Namespace, worlds: int, say: Callable[[str], None]) -> dict[str, Any]:
    """The same steps by Warp, or what is missing."""
    vertices, triangles = body_of(names.triangles)
    row = {"case": "warp", "configuration": "wp.Mesh with groups, refitted", "worlds": worlds}
    try:
        theirs = WarpWorlds(target, vertices, triangles, steps_of(worlds), lidar_of(names).beams, STAND, T_MAX)
    except PeerAbsentError as error:
        say(f"warp     {error}")
        return {**row, "absent": str(error)}
    theirs.step(0)
    calls = {"step_ms": theirs.step, "update_ms": theirs.update, "trace_ms": lambda _: theirs.trace()}
    times = {name: per_call(theirs, call, names.repeat) for name, call in calls.items()}
    theirs.step(0)
    hit = theirs.hits()
    say(
        f"warp     {'Warp ' + theirs.version:24} {worlds:6,} worlds x {len(triangles):,} triangles, "
        f"{theirs.rays:,} rays, {hit:,} hits: "
        + ", ".join(f"{name.removesuffix('_ms')} {value:.3f} ms" for name, value in times.items())
    )
    about = {"triangles": len(triangles), "rays": theirs.rays, "version": theirs.version, "hits": hit}
    return {**row, **about, **times}


def lidar_of(names: argparse.Namespace) -> sensors.Sensor:
    """The sensor of each world."""
    side = max(1, int(names.rays_a_world**0.5))
    return sensors.lidar(side, names.rays_a_world // side, (-25.0, 25.0), turn=(25.0, -25.0), t_max=T_MAX)


def steps_of(worlds: int) -> list[np.ndarray]:
    """Where the bodies are in four steps, (worlds, 3, 4) each."""
    random = np.random.default_rng(7)
    return [poses_of(random, worlds) for _ in range(4)]


def poses_of(random: np.random.Generator, count: int) -> np.ndarray:
    """Somewhere near, turned somehow."""
    turn = np.linalg.qr(random.normal(size=(count, 3, 3)))[0]
    return np.concatenate([turn, random.uniform(-1.0, 1.0, (count, 3, 1))], axis=2).astype(np.float32)


def per_call(target: Target | WarpWorlds, call: Callable[[int], Any], repeat_count: int, calls: int = 10) -> float:
    """Milliseconds a call: the median over batches, each waited for once."""
    found = []
    for _ in range(max(3, repeat_count // 4)):
        target.synchronize()
        began = time.perf_counter()
        for number in range(calls):
            call(number)
        target.synchronize()
        found.append((time.perf_counter() - began) * 1000.0 / calls)
    return statistics.median(found)


def face_row(target: Target, names: argparse.Namespace, say: Callable[[str], None]) -> dict[str, Any]:
    """Calls of the face beside launches of the engine, on the same tree and rays."""
    random, count = np.random.default_rng(3), names.rays
    vertices, triangles = body_of(100_000)
    origins = (random.normal(size=(count, 3)) * 3).astype(np.float32)
    directions = (random.normal(size=(count, 3)) * 0.5 - origins).astype(np.float32)
    with build((vertices, triangles), "hploc", target=target) as tree:
        mine = RaySet(target.upload(origins, "bench"), target.upload(directions, "bench"))
        few = RaySet(target.upload(origins[:64], "bench"), target.upload(directions[:64], "bench"))
        hits, few_hits = tree.empty_hits(count), tree.empty_hits(64)
        theirs, their_few = (upload_rays(target, origins[:n], directions[:n]) for n in (count, 64))
        tracer = Tracer(target, tree._hierarchy.traversal())
        pairs = {
            "call": (lambda _: tree.trace(few, out=few_hits), lambda _: tracer.trace(their_few)),
            "rays": (lambda _: tree.trace(mine, out=hits), lambda _: tracer.trace(theirs)),
        }
        found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in pairs}
        for name, bodies in pairs.items():
            calls = 200 if name == "call" else 1 if target.kind == "host" else 10
            for _ in range(max(3, names.repeat // 4)):  # in turn, so that a busy machine is fair to both
                for times, body in zip(found[name], bodies, strict=True):
                    times.append(per_call(target, body, 1, calls))
    call, rays = ([statistics.median(times) for times in found[name]] for name in ("call", "rays"))
    row = {
        "case": "face",
        "call_us": 1000.0 * call[0],
        "engine_us": 1000.0 * call[1],
        "rays": count,
        "ms": rays[0],
        "engine_ms": rays[1],
        "ratio": rays[1] / rays[0],
    }
    say(
        f"face     64 rays: {row['call_us']:.1f} us a call, the engine's own {row['engine_us']:.1f} us; "
        f"{count:,} rays: {rays[0]:.3f} ms, the tracer's own {rays[1]:.3f} ms: {row['ratio']:.3f} of its speed"
    )
    return row
