"""How long a glTF of very many things takes to open: processor seconds of its child and the program.

Writes files of --count meshes, primitives, instances, channels and clips, a tetrahedron each, and opens each --repeat
times as the window does, up to the scene that kernels get (not its picture). Prints the least of each; the goal is 5 s
for 100,000. The exit status is 1 where one takes longer.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import pathlib
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from raygrove.app.scene_io import ImportLimits, load

from ..arguments import OUT, argument, at_least_one, repeat
from ..context import context_of, heading
from ..saved import keep
from ..table import aligned

GOAL_S = 5.0
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "<f4")
FACES = np.array([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3], "<u2")
KEYS = np.array([0, 1, 0, 0, 0, 1, 0, 0], "<f4")
Document = dict[str, Any]


def base() -> Document:
    """A glTF of one tetrahedron, and keys that move it along x."""
    data = CORNERS.tobytes() + FACES.tobytes() + KEYS.tobytes()
    views = [(0, 48), (48, 24), (72, 8), (80, 24)]
    return {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
            {"bufferView": 2, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [1]},
            {"bufferView": 3, "componentType": 5126, "count": 2, "type": "VEC3"},
        ],
        "bufferViews": [{"buffer": 0, "byteOffset": start, "byteLength": length} for start, length in views],
        "buffers": [
            {
                "byteLength": len(data),
                "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode(),
            }
        ],
    }  # fmt: skip


def instances(count: int) -> Document:
    """Nodes in rows that show one mesh."""
    document = base()
    document["nodes"] = [{"mesh": 0, "name": f"n{i}", "translation": [2.0 * i, 0, 0]} for i in range(count)]
    document["scenes"] = [{"nodes": list(range(count))}]
    return document


def meshes(count: int) -> Document:
    """Nodes in rows, a mesh each."""
    document = instances(count)
    document["nodes"] = [{**node, "mesh": i} for i, node in enumerate(document["nodes"])]
    document["meshes"] = [{**base()["meshes"][0], "name": f"m{i}"} for i in range(count)]
    return document


def primitives(count: int) -> Document:
    """One mesh of that many primitives."""
    document = base()
    document["meshes"][0]["primitives"] *= count
    return document


def channels(count: int) -> Document:
    """Nodes in rows, each moved by a channel of one clip."""
    document = instances(count)
    moved = [{"sampler": 0, "target": {"node": i, "path": "translation"}} for i in range(count)]
    document["animations"] = [{"name": "move", "samplers": [{"input": 2, "output": 3}], "channels": moved}]
    return document


def clips(count: int) -> Document:
    """One node that each clip moves by a channel."""
    document = base()
    channel = {"sampler": 0, "target": {"node": 0, "path": "translation"}}
    document["animations"] = [
        {"name": f"c{i}", "samplers": [{"input": 2, "output": 3}], "channels": [channel]} for i in range(count)
    ]
    return document


KINDS: dict[str, Callable[[int], Document]] = {
    "meshes": meshes, "primitives": primitives, "instances": instances, "channels": channels, "clips": clips,
}  # fmt: skip


def opened(path: pathlib.Path) -> dict[str, float]:
    """Seconds of the child's processor time, of this process', and of the clock, until the scene is there."""
    wall, own = time.perf_counter(), time.process_time()
    before = os.times()
    load([path], ImportLimits())
    after = os.times()
    child = after.children_user + after.children_system - before.children_user - before.children_system
    return {"child": child, "program": time.process_time() - own, "clock": time.perf_counter() - wall}


ARGUMENTS = (
    argument("--count", type=at_least_one, default=100_000, help="how many of each (100,000)"),
    argument("--only", choices=KINDS, help="one kind alone"),
    repeat(3),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure and print; 1 where the goal is missed."""
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="raygrove-many-") as folder:
        for kind in [names.only] if names.only else KINDS:
            path = pathlib.Path(folder, f"{kind}.gltf")
            path.write_text(json.dumps(KINDS[kind](names.count)), encoding="utf-8")
            found = [opened(path) for _ in range(names.repeat)]
            least = {key: min(one[key] for one in found) for key in found[0]}
            results.append({"what": kind, "count": names.count, **least, "both": least["child"] + least["program"]})
            path.unlink()
    heads = (f"{names.count:,}", "child CPU s", "program CPU s", "both", "clock s", "within 5 s")
    rows = [
        (row["what"], row["child"], row["program"], row["both"], row["clock"], row["both"] <= GOAL_S) for row in results
    ]
    table = aligned(heads, rows)
    print(table)
    if names.out:
        about = context_of("host", names.command)
        keep(names.out, {"context": about, "results": results}, "\n".join([*heading(about), "", table]))
    return int(any(row["both"] > GOAL_S for row in results))
