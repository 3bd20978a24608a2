"""What Assimp's own Python binding, pyassimp, makes of a file beside what app/scene_io/assimp.py makes of it: the
evidence of docs/decisions/assimp-binding.md, as a table: python -m tests.app.scene_io.binding_check [--python PYTHON]
[--library FOLDER] [FILE ...].

pyassimp runs in a process of its own, because it may crash, and may be another Python's (`--python`, or
RAYGROVE_PYASSIMP). It looks for libassimp in LD_LIBRARY_PATH, which is the folder of this program's own unless
`--library` names another. Both post-process alike.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from raygrove.app.scene_io import assimp
from raygrove.app.scene_io.assimp_file import AssimpFile, vectors
from tests.app.scene_io import writers
from tests.waiting import PROCESS_S

FLAGS = assimp.TRIANGULATE | assimp.SORT_BY_TYPE
TOLERANCE = 1e-6

READER = """
import json, os, sys
import pyassimp
from pyassimp import core

def rows(values): return [[float(x) for x in value] for value in values]
def keys(values): return [[key.time, *(float(x) for x in key.value)] for key in values]
def text(name): return (name if isinstance(name, str) else bytes(name.data).decode())
def node(source, found):
    found[source.name] = rows(source.transformation)
    for child in source.children: node(child, found)

def bone(source):
    return {"offset": rows(source.offsetmatrix), "weights": [[one.vertexid, one.weight] for one in source.weights]}
def mesh(source):
    return {
        "positions": rows(source.vertices), "normals": rows(source.normals),
        "triangles": [[int(x) for x in face] for face in source.faces],
        "bones": {one.name: bone(one) for one in source.bones},
        "targets": [rows(one.vertices) for one in source.animmeshes],
    }

def morph_key(source):
    both = zip(source.mValues[: source.mNumValuesAndWeights], source.mWeights[: source.mNumValuesAndWeights])
    return [source.time, *(float(x) for pair in both for x in pair)]
def clip(source):
    moved = {
        text(one.nodename): {
            "translation": keys(one.positionkeys), "rotation": keys(one.rotationkeys), "scale": keys(one.scalingkeys)
        }
        for one in source.channels
    }
    return {"duration": source.duration, "rate": source.tickspersecond, "nodes": moved,
            "morphs": {one.name: [morph_key(key) for key in one.keys] for one in source.morphmeshchannels}}

library = core._assimp_lib.dll
version = [library.aiGetVersionMajor(), library.aiGetVersionMinor(), library.aiGetVersionPatch()]
nodes = {}
with pyassimp.load(sys.argv[1], processing=int(sys.argv[2])) as scene:
    node(scene.rootnode, nodes)
    meshes, clips = [mesh(one) for one in scene.meshes], [clip(one) for one in scene.animations]
    found = {"nodes": nodes, "meshes": meshes, "clips": clips}
json.dump({"library": library._name, "version": version, "read": found}, open(sys.argv[3], "w"))
sys.stdout.flush()
os._exit(0)  # what it frees at its end is not asked here
"""


def ours(path: Path) -> dict[str, Any]:
    """A file as this program's own view of Assimp's memory has it."""
    nodes: dict[str, Any] = {}

    def walk(node: assimp.Node) -> None:
        nodes[node.name.text] = assimp.matrix(node.transformation)
        for index in range(node.child_count):
            walk(node.children[index].contents)

    with AssimpFile(str(path), None, path.suffix[1:]) as file:
        file.process(FLAGS)
        walk(file.scene.root.contents)
        meshes = [_mesh(mesh) for mesh in file.meshes()]
        clips = [_clip(file.scene.animations[index].contents) for index in range(file.scene.animation_count)]
    return {"nodes": nodes, "meshes": meshes, "clips": clips}


def _mesh(source: assimp.Mesh) -> dict[str, Any]:
    bones = [source.bones[index].contents for index in range(source.bone_count)]
    targets = [source.anim_meshes[index].contents for index in range(source.anim_mesh_count)]
    normals = vectors(source.normals, source.vertex_count)
    return {
        "positions": vectors(source.vertices, source.vertex_count),
        "normals": np.zeros((0, 3)) if normals is None else normals,
        "triangles": assimp.triangles_of(source),
        "bones": {bone.name.text: {"offset": assimp.matrix(bone.offset), "weights": _weights(bone)} for bone in bones},
        "targets": [vectors(target.vertices, target.vertex_count) for target in targets],
    }


def _weights(bone: assimp.Bone) -> np.ndarray:
    pairs = assimp.view(bone.weights, assimp.VERTEX_WEIGHT, (bone.count,))
    return np.stack([pairs["vertex"].astype(np.float64), pairs["weight"].astype(np.float64)], axis=1)


def _keys(address: int | None, dtype: np.dtype, count: int) -> np.ndarray:
    keys = assimp.view(address, dtype, (count,))
    return np.concatenate([keys["time"][:, None], keys["value"].astype(np.float64)], axis=1)


def _clip(source: assimp.Animation) -> dict[str, Any]:
    nodes, morphs = {}, {}
    for index in range(source.channel_count):
        channel = source.channels[index].contents
        nodes[channel.name.text] = {
            "translation": _keys(channel.positions, assimp.VECTOR_KEY, channel.position_count),
            "rotation": _keys(channel.rotations, assimp.QUATERNION_KEY, channel.rotation_count),
            "scale": _keys(channel.scalings, assimp.VECTOR_KEY, channel.scaling_count),
        }
    for index in range(source.morph_channel_count):
        channel = source.morph_channels[index].contents
        rows = []
        for key in (channel.keys[number] for number in range(channel.key_count)):
            both = np.stack(
                [assimp.view(key.values, np.uint32, (key.count,)), assimp.view(key.weights, np.float64, (key.count,))],
                axis=1,
            )
            rows.append([key.time, *both.reshape(-1).tolist()])
        morphs[channel.name.text] = rows
    return {"duration": source.duration, "rate": source.ticks_per_second, "nodes": nodes, "morphs": morphs}


def theirs(path: Path, python: str = sys.executable, library: Path | None = None) -> tuple[str, dict[str, Any] | str]:
    """The library that pyassimp found, and a file as pyassimp has it, or how its process ended."""
    folder = library or assimp.library_path().parent
    with tempfile.TemporaryDirectory() as empty:  # it looks for libraries in the current folder, too
        answer = Path(empty) / "answer.json"
        command = [python, "-W", "ignore", "-c", READER, str(path.resolve()), str(FLAGS), str(answer)]
        environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
        done = subprocess.run(
            command, cwd=empty, env=environment, capture_output=True, text=True, timeout=PROCESS_S, check=False
        )
        if done.returncode or not answer.exists():
            last = [line for line in done.stderr.splitlines() if line.strip()]
            return "", last[-1][:200] if last else f"ended with status {done.returncode}"
        found = json.loads(answer.read_text())
    return f"{'.'.join(str(part) for part in found['version'])} at {found['library']}", found["read"]


def differences(mine: Any, other: Any, place: str = "") -> list[str]:
    """Where two readings differ by more than TOLERANCE of what is there; an empty list where they agree."""
    if isinstance(other, str):
        return [other]
    if isinstance(mine, dict):
        found = (
            [f"{place}: {sorted(set(mine) ^ set(other))[:4]} are on one side alone"] if set(mine) != set(other) else []
        )
        return found + [
            one for key in mine if key in other for one in differences(mine[key], other[key], f"{place}/{key}")
        ]
    if isinstance(mine, list) and mine and not isinstance(mine[0], float):
        if len(mine) != len(other):
            return [f"{place}: {len(mine)} here, {len(other)} there"]
        return [
            one
            for index, pair in enumerate(zip(mine, other, strict=True))
            for one in differences(*pair, f"{place}/{index}")
        ]
    first, second = np.asarray(mine, np.float64), np.asarray(other, np.float64)
    if first.size == second.size == 0:
        return []
    if first.shape != second.shape:
        return [f"{place}: shape {first.shape} here, {second.shape} there"]
    wrong = ~(np.abs(first - second) <= TOLERANCE * np.maximum(1.0, np.abs(first)))
    return [f"{place}: {np.count_nonzero(wrong)} of {wrong.size} numbers differ"] if wrong.any() else []


def own_models(folder: Path) -> list[Path]:
    """Two small models that need no download: one skinned and morphing, one of nodes that turn."""
    return [writers.write_skinned_glb(folder / "skinned.glb"), writers.write_animated_glb(folder / "turning.glb")]


def main() -> int:
    """A line a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--python", default=os.environ.get("RAYGROVE_PYASSIMP") or sys.executable, help="the Python that has pyassimp"
    )
    parser.add_argument("--library", type=Path, help="folder of another libassimp")
    parser.add_argument("files", nargs="*", type=Path, help="models; two small ones where none is named")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for path in options.files or own_models(Path(folder)):
            library, reading = theirs(path, options.python, options.library)
            found = differences(ours(path), reading)
            outcome = f"{len(found)} differences; first: {found[0]}" if found else "agrees"
            print(f"{path.name:24} {outcome}{f'  (libassimp {library})' if library else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
