"""What a campaign feeds with changed files, and the files it begins with."""

from __future__ import annotations

import base64
import dataclasses
import io
import json
import math
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from raygrove.app.document import saved_state
from raygrove.app.document.state import SceneReference, State
from raygrove.app.export.images import save_png
from raygrove.app.scene_io import ImportLimits, SceneError, importer, load, load_environment, load_picture, load_rays
from raygrove.app.scene_io.gltf_texts import parts_of
from raygrove.app.settings.file import SettingsError, leaves, load_settings, to_table
from raygrove.app.settings.meister_env import load_environment as load_meister
from raygrove.app.settings.settings import Settings
from raygrove.app.user_files import bookmarks, key_bindings
from raygrove.app.user_files.bookmarks import BookmarksError
from raygrove.app.user_files.key_bindings import KeysError
from raygrove.gpu.analysis.tree_files import TreeFileError
from raygrove.gpu.hierarchy.bvh.own.tree import TreeError
from tests.app.scene_io import writers
from tests.app.scene_io.test_environments import radiance
from tests.campaign import scene_targets
from tests.data import data_folder

REAL_TREES = Path(__file__).parents[1] / "app" / "scene_io" / "trees" / "real_trees.tar.xz"
LARGE, REAL_FILES = 300_000, 6
"""Bytes of a file that is too large to be changed and read by the thousand; files of a kind from a folder."""
ALONE = ("ply", "stl", "glb", "dae", "fbx", "off", "pdb", "xyz")
"""Kinds of which a file is all that is read: others name files that would lie beside it."""
LIMITS = ImportLimits(seconds=20.0, memory_mib=4096)
SENTENCES = (SceneError, SettingsError, BookmarksError, KeysError, TreeFileError, TreeError)
Reader = Callable[[Path], object]


@dataclasses.dataclass(frozen=True)
class Target:
    """A kind of file: how it is read, and files that are right."""

    name: str
    ending: str
    read: Reader
    seeds: tuple[bytes, ...]
    beside: tuple[tuple[str, bytes], ...] = ()


def read_model(path: Path) -> object:
    """A scene that kernels may trust; the exchange has checked it, so that only its box is looked at."""
    scene = load([path], LIMITS)
    if not all(math.isfinite(value) for value in (*scene.lower, *scene.upper)):
        raise AssertionError("the scene's box is not finite")
    return scene


def read_run(path: Path) -> object:
    """A sequence whose second file is changed."""
    first = path.with_name("first.obj")
    first.write_bytes(_ball_text())
    return load([first, path], LIMITS)


def read_state(path: Path) -> object:
    """A picture with its state."""
    texts, _, _ = load_picture(str(path), LIMITS)
    return saved_state.state_of(texts, str(path))


def read_tree_of(format_name: str) -> Reader:
    """A tree in another program's file."""
    return lambda path: importer.read_tree(str(path), format_name, LIMITS)


def read_settings(path: Path) -> object:
    """Settings that a person wrote."""
    return load_settings(path)


def read_bookmarks(path: Path) -> object:
    """Bookmarks of a file."""
    return bookmarks.read(path)


def read_sky(path: Path) -> object:
    """A picture of all directions."""
    return load_environment(str(path), LIMITS)


def read_rays(path: Path) -> object:
    """Rays that are measured."""
    return load_rays(str(path), LIMITS)


OFF = b"OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n"
RAW = b"first\n0.5 0.25 0 0 0 0 0 1 0 1 0 0\nsecond\n0 0 0 0 1 0 1 0 3\n"
XYZ = b"3\ntwo\nO 0 0 0\nH 1 0 0\nH 0 1 0\n3\nthree\nO 0 0 0.1\nH 1 0 0\nH 0 1 0\n"
PDB = b"".join(
    b"ATOM  %5d  CA  ALA A%4d    %8.3f%8.3f%8.3f  1.00  0.00           C\n" % (i, i, i, 0.5 * i, 0.0)
    for i in range(1, 9)
)
FACET = b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
STL = b"solid one\n" + FACET * 3 + b"endsolid one\n"
CAMERAS = b'[[bookmark]]\nscene = "x"\nname = "a"\neye = [0.0, 1.0, 2.0]\nlook_at = [0.0, 0.0, 0.0]\nseconds = 1.0\n'
KEYS = b"[keys]\n'camera.fit' = ['Ctrl+J', 'Home']\n'edit.undo' = []\n'fly.up' = ['PgUp']\n"
MEISTER = (
    b"Scene {\n filename one.obj\n scale 0.5\n}\nRenderer {\n numberOfSamples 16\n rayType aoRays\n}\nBvh {\n"
    b" mortonCodeBits 60\n splitMethod sah\n}\nCamera {\n position (1, -2.5, 3e1)\n fieldOfView 60\n}\n"
)
SKY = np.arange(16 * 8 * 4, dtype=np.uint8).reshape(8, 16, 4)
MTL = (("quarters.mtl", b"newmtl a\nKd 1 0 0\nmap_Kd quarters.png\n"),)


def _ball_text() -> bytes:
    positions, triangles = writers.sphere(4, 5)
    lines = [f"v {x:.4f} {y:.4f} {z:.4f}" for x, y, z in positions]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in triangles]
    return ("mtllib quarters.mtl\nusemtl a\n" + "\n".join(lines) + "\n").encode()


def _made(folder: Path) -> dict[str, list[bytes]]:
    """Seeds that are written here."""
    positions, triangles = writers.sphere(4, 5)
    plys = [
        writers.write_ply(folder / f"{form}.ply", positions, triangles, form).read_bytes()
        for form in ("ascii", "binary_little_endian", "binary_big_endian")
    ]
    records = np.zeros(len(triangles), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    records["corners"] = positions[triangles]
    binary_stl = bytes(80) + np.uint32(len(records)).tobytes() + records.tobytes()
    glbs = [writers.write_animated_glb(folder / "a.glb"), writers.write_skinned_glb(folder / "s.glb")]
    np.savez(folder / "clip.npz", vertices=np.stack([positions, positions * 1.1]), triangles=triangles)
    save_png(
        folder / "state.png",
        np.zeros((4, 4, 4), np.uint8),
        saved_state.texts_of(State(scene=SceneReference("demo", ("orbit",)))),
    )
    rays = io.BytesIO()
    np.savez(
        rays, origins=positions, directions=positions[::-1], t_min=np.float32(0.1), t_max=np.full(len(positions), 9.0)
    )
    every = leaves(to_table(Settings(), everything=True))
    settings = "".join(f"{key} = {json.dumps(value)}\n" for key, value in every).encode()
    return {
        "ply": plys, "stl": [STL, binary_stl], "glb": [path.read_bytes() for path in glbs], "obj": [_ball_text()],
        "3ds": [writers.write_3ds(folder / "two.3ds", *[(positions, triangles)] * 2).read_bytes()],
        "npz": [(folder / "clip.npz").read_bytes()], "png": [(folder / "state.png").read_bytes()],
        "settings": [settings], "rays": [rays.getvalue()],
    }  # fmt: skip


def _real(*names: str) -> list[bytes]:
    """Small real models, where they are."""
    return [path.read_bytes() for name in names if (path := data_folder() / name).exists()]


def all_targets(folder: Path) -> list[Target]:
    """Every kind of file that there is a seed for."""
    folder.mkdir(parents=True, exist_ok=True)
    made = _made(folder)
    gltfs = [_as_gltf(data) for data in made["glb"]]
    models = {
        "obj": made["obj"], "ply": made["ply"], "stl": made["stl"], "gltf": gltfs,
        "glb": [*made["glb"], *_real("animated/Fox.glb", "static/CornellBox.glb")],
        "off": [OFF], "3ds": made["3ds"], "raw": [RAW], "xyz": [XYZ], "pdb": [PDB],
        "dae": _real("animated/box_nested_animation.dae"),
        "fbx": _real("animated/cubes_with_mirroring_and_pivot.fbx", "animated/animation_with_skeleton.fbx"),
        "npz": made["npz"],
    }  # fmt: skip
    found = [Target(name, name, read_model, tuple(seeds), MTL) for name, seeds in models.items() if seeds]
    found.append(Target("sequence", "obj", read_run, tuple(made["obj"])))
    found.append(Target("state", "png", read_state, tuple(made["png"])))
    found.append(Target("settings", "toml", read_settings, tuple(made["settings"])))
    found.append(Target("cameras", "toml", read_bookmarks, (CAMERAS,)))
    found.append(Target("keys", "toml", key_bindings.load, (KEYS,)))
    found.append(Target("meister", "env", load_meister, (MEISTER,)))
    found.append(Target("sky", "hdr", read_sky, (radiance(SKY, True), radiance(SKY, False))))
    found.append(Target("rays", "npz", read_rays, tuple(made["rays"])))
    for name, seeds in scene_targets.scenes(folder).items():
        found.append(Target(name, name.rpartition("-")[2], read_model, tuple(seeds)))
    own, arrays = scene_targets.trees(folder).values()
    found.append(Target("rgtree", "rgtree", scene_targets.read_own_tree, tuple(own)))
    found.append(Target("tree-npz", "npz", read_tree_of("npz"), tuple(arrays)))
    return [*found, *tree_targets(), *_of_folder(found)]


def _of_folder(found: list[Target]) -> list[Target]:
    """The same readers with small files of the folder of real models (RAYGROVE_DATA), of each kind a few."""
    targets = []
    for target in found:
        files = sorted(data_folder().rglob(f"*.{target.ending}"), key=lambda path: (path.stat().st_size, path.name))
        small = tuple(path.read_bytes() for path in files[:REAL_FILES] if path.stat().st_size < LARGE)
        if small and target.name in ALONE:
            targets.append(dataclasses.replace(target, name=f"real-{target.name}", seeds=small))
    return targets


TREES = {
    ".save.bin": "tinybvh-save",
    ".blocks.bin": "tinybvh-bvh4gpu",
    ".stream.bin": "madmann91",
    ".json": "three-mesh-bvh",
    ".tree.bin": "embree",
}
"""Files of other programs, by their endings in the archive of real ones."""
TEXTS = ("two-sah.", "soup-sah.")
"""Those of three-mesh-bvh that are taken, with the arrays beside them that they name."""


def tree_targets() -> list[Target]:
    """Trees that other programs wrote, the small ones of each format, and one that is saved here."""
    seeds: dict[str, list[bytes]] = {}
    beside: dict[str, list[tuple[str, bytes]]] = {}
    with tarfile.open(REAL_TREES) as archive:
        for entry in archive.getmembers():
            name = Path(entry.name).name
            ending = next((ending for ending in TREES if name.endswith(ending)), "")
            is_text_of = entry.name.startswith("./three-mesh-bvh/") and name.startswith(TEXTS)
            is_other = "damaged" in entry.name or "cwbvh.save" in name  # of a format of its own
            if entry.size > LARGE or is_other or (ending in ("", ".json") and not is_text_of):
                continue
            if (file := archive.extractfile(entry)) and ending:
                seeds.setdefault(ending, []).append(file.read())
            elif file:
                beside.setdefault(".json", []).append((name, file.read()))
    return [
        Target(
            TREES[ending], "json" if ending == ".json" else "bin", read_tree_of(TREES[ending]), tuple(some),
            tuple(beside.get(ending, ())),
        )
        for ending, some in sorted(seeds.items())
    ]  # fmt: skip


def _as_gltf(data: bytes) -> bytes:
    """A GLB as one text."""
    text, body = parts_of(data)
    document = json.loads(text or b"")
    document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(body).decode()
    return json.dumps(document).encode()
