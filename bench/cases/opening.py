"""How long opening takes, from the command to the first painted picture.

Opens 200,000 triangles as OBJ, GLB and PLY and 100,000 atoms as XTC (files that it writes itself, the last where
chemfiles is installed), and the kitchen where its file is given, in a real window; starts the window on its welcome
page, and asks for help. Medians; goals beside them. Needs a display (xvfb-run).
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import struct
import subprocess
import tempfile
import time
from typing import Any

import numpy as np

from raygrove.program import COMMAND

from ..arguments import DEVICE, OUT, argument, repeat, size
from ..measured_window import ask_window, print_and_keep
from ..table import aligned

COLUMNS, ROWS = 400, 250
ATOMS = 100_000
GOALS = {"xtc": 1.0, "obj": 2.0, "glb": 1.0, "ply": 1.0, "gltf": 8.0, "start": 1.5, "help": 0.3}
"""Seconds: to the first picture of each kind of file, to the window, to the end of --help."""


def waves() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, normals and triangles of a wavy sheet of 200,000 triangles."""
    x, y = np.meshgrid(np.linspace(-2, 2, COLUMNS + 1), np.linspace(-2, 2, ROWS + 1))
    z = 0.2 * np.sin(3 * x) * np.cos(4 * y)
    slope_x, slope_y = 0.6 * np.cos(3 * x) * np.cos(4 * y), -0.8 * np.sin(3 * x) * np.sin(4 * y)
    normals = np.stack([-slope_x, -slope_y, np.ones_like(x)], axis=-1).reshape(-1, 3)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    corner = (np.arange(ROWS)[:, None] * (COLUMNS + 1) + np.arange(COLUMNS)).reshape(-1)
    quads = np.stack([corner, corner + 1, corner + COLUMNS + 2, corner + COLUMNS + 1], axis=1)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return (
        np.stack([x, y, z], axis=-1).reshape(-1, 3).astype(np.float32),
        normals.astype(np.float32),
        triangles.astype(np.uint32),
    )


def write_files(folder: pathlib.Path) -> list[str]:
    """The sheet as waves.obj, waves.glb and waves.ply."""
    positions, normals, triangles = waves()
    paths = [folder / f"waves.{ending}" for ending in ("obj", "glb", "ply")]
    with paths[0].open("w") as file:
        file.writelines(f"v {x:.6f} {y:.6f} {z:.6f}\n" for x, y, z in positions)
        file.writelines(f"vn {x:.5f} {y:.5f} {z:.5f}\n" for x, y, z in normals)
        file.writelines(f"f {a}//{a} {b}//{b} {c}//{c}\n" for a, b, c in triangles + 1)
    paths[1].write_bytes(_glb(positions, normals, triangles))
    header = f"ply\nformat binary_little_endian 1.0\nelement vertex {len(positions)}\n"
    header += "".join(f"property float {name}\n" for name in ("x", "y", "z", "nx", "ny", "nz"))
    header += f"element face {len(triangles)}\nproperty list uchar int vertex_indices\nend_header\n"
    faces = np.zeros(len(triangles), [("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, triangles
    paths[2].write_bytes(header.encode() + np.concatenate([positions, normals], axis=1).tobytes() + faces.tobytes())
    return [str(path) for path in paths]


def write_atoms(folder: pathlib.Path) -> list[str]:
    """One frame of atoms on a disturbed lattice as atoms.xtc; nothing without chemfiles."""
    try:
        import chemfiles
    except ImportError:
        return []
    side = -int(-(ATOMS ** (1.0 / 3.0)) // 1)
    lattice = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3)[:ATOMS]
    frame = chemfiles.Frame()
    frame.resize(ATOMS)
    frame.cell = chemfiles.UnitCell([3.1 * side] * 3)
    frame.positions[:] = 3.1 * lattice + np.random.default_rng(0).normal(0.0, 0.3, lattice.shape)
    path = folder / "atoms.xtc"
    with chemfiles.Trajectory(str(path), "w") as trajectory:
        trajectory.write(frame)
    return [str(path)]


def _glb(positions: np.ndarray, normals: np.ndarray, triangles: np.ndarray) -> bytes:
    parts = [positions.tobytes(), normals.tobytes(), triangles.tobytes()]
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    views = [
        {"buffer": 0, "byteOffset": start, "byteLength": len(part)} for start, part in zip(starts, parts, strict=False)
    ]
    vectors = [{"bufferView": i, "componentType": 5126, "count": len(positions), "type": "VEC3"} for i in range(2)]
    vectors[0] |= {"min": positions.min(axis=0).tolist(), "max": positions.max(axis=0).tolist()}
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1}, "indices": 2}]}],
        "buffers": [{"byteLength": starts[-1]}], "bufferViews": views,
        "accessors": [*vectors, {"bufferView": 2, "componentType": 5125, "count": triangles.size, "type": "SCALAR"}],
    }  # fmt: skip
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    data = b"".join(parts)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks


def measure_files(paths: list[str], names: argparse.Namespace) -> dict[str, Any]:
    """What the window says of opening these files."""
    job = {"files": paths, "repeat": names.repeat, "device": names.device, "size": names.size}
    return ask_window("opening", job)


def measure_start(names: argparse.Namespace) -> list[float]:
    """Seconds from starting the program to its painted window, once more than asked for: the first warms the caches."""
    found = []
    for _ in range(names.repeat + 1):
        begin = time.time()
        found.append(measure_files([], names)["shown_at"] - begin)
    return found[1:]


def measure_help(repeat: int) -> list[float]:
    """Seconds of `python -m raygrove --help`."""
    found = []
    for _ in range(repeat + 1):
        begin = time.perf_counter()
        subprocess.run([*COMMAND, "--help"], stdout=subprocess.DEVNULL, check=True)
        found.append(time.perf_counter() - begin)
    return found[1:]


ARGUMENTS = (
    argument("--kitchen", default="", metavar="FILE", help="country-kitchen.gltf, its .bin unpacked beside it"),
    repeat(5),
    DEVICE,
    size("1024x768"),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, keep; 0 when everything was measured."""
    samples: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(pathlib.Path(folder)) + write_atoms(pathlib.Path(folder))
        paths += [names.kitchen] if names.kitchen else []
        answer = measure_files(paths, names)
    samples |= {pathlib.Path(path).name: seconds for path, seconds in answer["seconds"].items()}
    samples |= {"start to window": measure_start(names), "--help": measure_help(names.repeat)}
    triangles = {pathlib.Path(path).name: count for path, count in answer["triangles"].items()}
    pauses = {pathlib.Path(path).name: pause for path, pause in answer["pauses"].items()}
    results = []
    for name, seconds in samples.items():
        goal = GOALS[{"start to window": "start", "--help": "help"}.get(name, name.rpartition(".")[2])]
        median, pause = statistics.median(seconds), pauses.get(name, {})
        row = {
            "what": name,
            "triangles": triangles.get(name),
            "median_s": median,
            "goal_s": goal,
            "is_reached": median < goal,
            "samples_s": seconds,
        }
        results.append({**row, "longest_pause_ms": pause.get("wall_ms"), "of_it_computing_ms": pause.get("cpu_ms")})
    header = ("what", "triangles", "median s", "goal s", "", "longest pause ms", "of it computing ms")
    keys = ("what", "triangles", "median_s", "goal_s", "is_reached", "longest_pause_ms", "of_it_computing_ms")
    lines = [
        tuple("reached" if row[key] is True else "MISSED" if row[key] is False else row[key] for key in keys)
        for row in results
    ]
    text = (
        f"Opening, from the command to the first painted picture ({answer['view']} view)\n\n{aligned(header, lines)}\n"
    )
    print_and_keep(names, text, view=answer["view"], results=results)
    return 0
